"""The drawings of chapter 8b count as the chapter's functions and sacrebleu do."""

import pytest

from lectures_lib import metrics
from lectures_lib.show.drawings import bleu, draw
from tests.helpers.drawn import texts
from tests.helpers.page_code import defined

PAGE = defined("08b_judging", "HUMAN", "MODEL", "n_grams", "reference", "hypothesis")
PAIRS = [(bleu.HYPOTHESIS, bleu.REFERENCE), *zip(bleu.MODEL, bleu.HUMAN, strict=True)]


def test_sentences_are_the_pages():
    assert (list(bleu.HUMAN), list(bleu.MODEL)) == (PAGE["HUMAN"], PAGE["MODEL"])
    assert (bleu.REFERENCE, bleu.HYPOTHESIS) == (PAGE["reference"], PAGE["hypothesis"])


@pytest.mark.parametrize(("said", "wanted"), [*PAIRS, ("a a b a a a", "a a a b")])
@pytest.mark.parametrize("n", bleu.SIZES)
def test_hits_are_the_pages_clipped_counts(said, wanted, n):
    found, there = (PAGE["n_grams"](text.split(), n) for text in (said, wanted))
    hits = bleu.hits(said, wanted, n)
    assert (sum(hits), len(hits)) == ((found & there).total(), found.total())


def test_words_are_matched_once_and_with_themselves():
    links = bleu.links(bleu.HYPOTHESIS, bleu.REFERENCE)
    words, wanted = bleu.HYPOTHESIS.split(), bleu.REFERENCE.split()
    assert all(words[i] == wanted[j] for i, j in links)
    assert len({j for _, j in links}) == len(links) == bleu.shares()[0][0] == 6
    assert [i for i, _ in links] == [
        i for i, hit in enumerate(bleu.hits(bleu.HYPOTHESIS, bleu.REFERENCE, 1)) if hit
    ]


def test_scores_are_sacrebleus():
    for i, (said, wanted) in enumerate(PAIRS[1:]):
        theirs = metrics.bleu([said], [wanted], tokenize="none").score
        assert bleu.score(i) == f"{theirs:.0f}"
        assert bleu.score(i) in texts(draw("two_scores").svg())
    theirs = metrics.bleu([bleu.HYPOTHESIS], [bleu.REFERENCE], tokenize="none").score
    assert bleu.result() == f"⁴√(6/7 · 4/6 · 3/5 · 2/4) = {theirs / 100:.3f}"


@pytest.mark.parametrize("narrow", [False, True])
def test_every_piece_is_a_bar(narrow):
    svg = draw("clipped_counts", narrow).svg()
    n_hits, n_all = (sum(column) for column in zip(*bleu.shares(), strict=True))
    bars = [line for line in svg.splitlines() if line.startswith("<rect") and 'rx="2"' in line]
    assert len(bars) == n_all == 22
    assert sum("f-prediction" in bar for bar in bars) == n_hits == 15
    lines = draw("two_scores", narrow).svg().count('stroke-width="4"')
    assert lines == sum(sum(bleu.hits(said, wanted, 4)) for said, wanted in PAIRS[1:]) == 4
