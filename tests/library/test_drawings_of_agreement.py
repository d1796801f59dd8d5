"""The drawings of chapter 10b: the chapter's sentence, its rule, and the library's masks."""

import re
from pathlib import Path

import pytest
import torch

from lectures_lib.blocks.attention import causal_mask
from lectures_lib.show.drawings import agreement, draw
from tests.helpers.drawn import holds_in_order, texts

CHAPTER = (Path(__file__).parents[2] / "notebooks" / "10b_agreement.py").read_text()


def test_sentence_is_the_chapters():
    sentence = " ".join(agreement.SENTENCE)
    assert sentence in CHAPTER.replace("*The", "the")
    subject = agreement.SENTENCE[agreement.SUBJECT]
    tempting = [agreement.SENTENCE[i] for i in agreement.TEMPTING]
    assert agreement.is_plural(subject) and not any(map(agreement.is_plural, tempting))


@pytest.mark.parametrize("narrow", [False, True])
def test_arrow_ends_at_the_subject(narrow):
    svg = draw("agreement_arc", narrow).svg()
    tip = float(re.search(r'<polygon points="([\d.]+),', svg)[1])
    places = dict(re.findall(r'<text x="([\d.]+)"[^>]*>([^<]*)</text>', svg))
    assert [word for x, word in places.items() if float(x) == tip] in (["keys"], ["plural"])
    assert "is or are?" in " ".join(texts(svg))
    assert texts(svg).count("singular") == len(agreement.TEMPTING)


def test_rule_is_the_chapters():
    """The chapter's `three_back` on the same nouns, and its own count of what decides."""
    rule = re.search(r"def three_back\(rows\):.*?\n\n", CHAPTER, re.S)[0]
    scope = {"ID": {"keys": 1}}
    exec(rule, scope)
    for nouns, verb in agreement.verbs():
        row = [0, 0]  # the full stop and the article before the first noun
        for noun in nouns:
            row += [int(agreement.is_plural(noun)), 0, 0]
        assert scope["three_back"](torch.tensor([row[:-2]])).item() == (verb == "are")
    before, *after = [verb for _, verb in agreement.verbs()]
    decides = [float(verb != before) for verb in after]
    assert f"assert deciding(three_back, 3) == {decides}" in CHAPTER


@pytest.mark.parametrize("narrow", [False, True])
def test_each_row_is_shown_with_its_verb(narrow):
    drawing = draw("one_noun_at_a_time", narrow)
    for nouns, verb in agreement.verbs():
        assert holds_in_order(texts(drawing.svg()), [*nouns, verb])
    assert drawing.svg().count('class="f-prediction ') == 1  # one change turns the verb


def test_masks_are_the_librarys():
    n, n_source = len(agreement.TARGET), agreement.N_SOURCE
    assert agreement.visible("encoder").all()
    assert torch.equal(agreement.visible("decoder"), causal_mask(n))
    translator = agreement.visible("translator")
    assert translator[:, :n_source].all() and torch.equal(translator[:, n_source:], causal_mask(n))
    assert " ".join(agreement.TARGET) in CHAPTER
    for narrow in (False, True):
        hidden = draw("three_masks", narrow).svg().count('class="f-mask ')
        assert hidden == 2 * int((~causal_mask(n)).sum())
