"""The drawing of a probe and its control task shows what the chapter draws."""

import re
from pathlib import Path

from lectures_lib.show.drawings import draw, probing

CHAPTER = (Path(__file__).parents[2] / "notebooks/16b_probing.py").read_text(encoding="utf-8")


def test_words_tags_and_drawn_labels_are_the_chapters():
    assert re.search(r'words = (\["a", .*\])', CHAPTER)[1] == repr(probing.WORDS).replace("'", '"')
    assert re.search(r"names = (\[.*\])", CHAPTER)[1] == repr(probing.NAMES).replace("'", '"')
    assert re.search(r"real = torch.tensor\((.*)\)", CHAPTER)[1] == str(probing.TAGS)
    assert f"control_labels(words, real, seed={probing.SEED})" in CHAPTER


def test_a_type_has_one_drawn_label_and_it_is_none_of_its_tags():
    real, drawn = probing.labels()
    of_type = {}
    for word, label in zip(probing.WORDS, drawn, strict=True):
        assert of_type.setdefault(word, label) == label
    assert len(set(drawn)) > 2 and all(a != b for a, b in zip(real, drawn, strict=True))


def test_the_word_with_two_tags_is_framed_in_both_tasks():
    assert [probing.WORDS[place] for place in probing.twice()] == ["light", "light"]
    for narrow in (False, True):
        thick = re.findall(r'class="s-ink" fill="none" stroke-width="2.5"', draw_svg(narrow))
        assert len(thick) == 4


def draw_svg(narrow: bool) -> str:
    """The drawing."""
    return draw("probe_and_control", narrow).svg()
