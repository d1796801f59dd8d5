"""What the text calls a heat map's colours is true in the light theme and in the dark one, where
the strongest squares are pale and zero is as dark as the page (`book/_ext/heat_maps.py`).
"""

import re
from pathlib import Path

import jupytext
import pytest

CHAPTERS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("[0-9]*.py"))
# of one theme alone; a brown or an orange needs its name in the other one
OF_ONE_THEME = re.compile(
    r"\b(?:white|black|blues?|(?:dark|pale|light)(?:er|est)?|whiter|bluer)\b", re.IGNORECASE
)
BROWN = re.compile(r"\bbrown\b(?! \(light orange in the dark theme\))", re.IGNORECASE)
IN_BOTH = "light orange in the dark theme"
# a strength that has a hue, anywhere in the text
STRONG_HUE = re.compile(
    r"\b(?:strong(?:er|est)?|dark(?:er|est)?) (?:the )?(?:blue|brown|violet)",
    re.IGNORECASE,
)


def words_of_one_theme(text):
    """The colours in what is said of a heat map that it has in one theme only."""
    brown = [found[0] for found in BROWN.finditer(text)]
    return brown + OF_ONE_THEME.findall(text.replace(IN_BOTH, ""))


def said_of_heat_maps(chapter):
    """Alternative texts and captions of the cells that draw one."""
    for cell in jupytext.read(chapter).cells:
        if cell.cell_type == "code" and "heatmap(" in cell.source:
            told = cell.metadata.get("mystnb", {})
            yield told.get("image", {}).get("alt", "")
            yield told.get("figure", {}).get("caption", "")


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_a_heat_map_is_told_in_words_that_hold_in_both_themes(chapter):
    wrong = {
        text: found for text in said_of_heat_maps(chapter) if (found := words_of_one_theme(text))
    }
    assert not wrong
    for cell in jupytext.read(chapter).cells:
        if cell.cell_type == "markdown":
            assert not STRONG_HUE.findall(" ".join(cell.source.split()))


def test_what_holds_in_one_theme_is_found():
    assert words_of_one_theme("Brown is +1, white 0.") == ["Brown", "white"]
    assert not words_of_one_theme("brown (light orange in the dark theme) is +1, no colour 0")
    assert STRONG_HUE.search("Strong blue means that two vectors point the same way.")
    assert any(text for one in CHAPTERS for text in said_of_heat_maps(one))
