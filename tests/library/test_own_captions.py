"""The captions written for this book, and the rule by which some are shown."""

import random
import re
from pathlib import Path

import nbformat
import pytest

from lectures_lib import data, metrics, results, stored
from tests.helpers.scripts import scripts

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def rule():
    with scripts() as load:
        yield load("own_captions").chosen


def test_they_are_as_many_as_the_datasheet_says_and_none_is_there_twice():
    captions = data.own_captions()
    assert len(captions) == 101
    sheet = (ROOT / "book/datasheet.md").read_text(encoding="utf-8")
    assert "captions.jsonl`, read by `data.own_captions()`: 101 sentences" in sheet
    for side in ("de", "en"):
        texts = [caption[side] for caption in captions]
        assert len(set(texts)) == 101
        assert all(re.fullmatch(r"[A-Z][^\n|]+\.", text) for text in texts)


@pytest.mark.mirror("bentrevett/multi30k")
def test_none_is_one_of_multi30ks():
    ours = [set(side) for side in zip(*(c.values() for c in data.own_captions()), strict=True)]
    for split in data.SPLITS:
        for caption in data.load("translation", split, "real"):
            assert caption["de"] not in ours[0] and caption["en"] not in ours[1]


def test_the_rule_takes_places_and_their_neighbours(rule):
    scores = [float(i) for i in range(101)]
    random.Random(0).shuffle(scores)
    shown = {kind: [scores[i] for i in numbers] for kind, numbers in rule(scores).items()}
    assert shown == {"bad": [4, 5, 6], "typical": [49, 50, 51], "good": [94, 95, 96]}
    assert rule([7.0] * 101)["bad"] == [4, 5, 6]  # of equals the first in the file comes first


def test_the_results_and_the_chapter_show_the_same():
    """What is stored translates so still, and the page has printed these sentences."""
    found = results.load("own_captions")["shown"]["de-en"]
    shown = [i for kind in ("good", "typical", "bad") for i in found[kind]]
    captions = [data.own_captions()[i] for i in shown]
    said = stored.translator("de", "en")([caption["de"] for caption in captions])
    each = [metrics.bleu([s], [c["en"]]).score for s, c in zip(said, captions, strict=True)]
    assert each[::3] == sorted(each[::3], reverse=True)
    cells = nbformat.read(ROOT / "notebooks/08b_judging.ipynb", 4).cells
    outputs = [o.get("text", "") for c in cells if c.cell_type == "code" for o in c.outputs]
    (printed,) = (text for text in outputs if text.startswith("good\n"))
    wanted = [f"{score:.0f}  {s}" for score, s in zip(each, said, strict=True)]
    assert [line.strip() for line in printed.splitlines() if "  " in line.strip()] == wanted
