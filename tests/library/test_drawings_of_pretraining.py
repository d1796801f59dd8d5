"""The drawings of pre-training: what is chosen, read and asked for is what the chapter and the
library make of the same text.
"""

import pytest
import torch

from lectures_lib import stored
from lectures_lib.models import minilm
from lectures_lib.show.drawings import draw, pretraining
from lectures_lib.tokenization import WordPiece
from lectures_lib.training.pretraining import MaskingRates, masked_batch
from lectures_lib.training.pretraining.next_sentence import Pair
from tests.helpers.drawn import constants, holds_in_order, texts

CHAPTER = constants("13_pretraining")


def test_dice_are_the_chapters_and_the_rates_the_librarys():
    assert pretraining.SENTENCE == CHAPTER["SENTENCE"]
    assert list(pretraining.CHANCE) == CHAPTER["chance"]
    assert list(pretraining.FATE) == CHAPTER["fate"]
    rates = MaskingRates()
    assert (pretraining.CHOSEN, pretraining.MASKED) == (rates.chosen, rates.masked)
    assert pretraining.RANDOM == rates.random


def test_fates_are_those_of_the_rule():
    fates = dict(
        zip(zip(pretraining.TOKENS, range(12), strict=True), pretraining.fates(), strict=True)
    )
    chosen = {place: fate for place, fate in fates.items() if fate}
    assert chosen == {("cat", 2): "[MASK]", ("the", 5): "another word", ("was", 9): "itself"}
    read = "[CLS] the [MASK] sat on run mat because it was warm [SEP]"  # asserted in the chapter
    assert " ".join(pretraining.read()) == read
    # column by column: the token, its chance, what is read
    shown = texts(draw("masking_dice").svg())
    assert holds_in_order(shown, ["cat", "0.11", "[MASK]"])
    assert holds_in_order(shown, ["the", "0.07", "run"])
    assert holds_in_order(shown, ["was", "0.14", "was"])


def test_holes_are_helped_from_both_sides():
    for hole, helping in zip(pretraining.HOLES, pretraining.HELP, strict=True):
        assert min(helping) < hole < max(helping)
        assert not set(helping) & set(pretraining.HOLES)


def test_pairs_of_the_paper_are_made_of_the_two_documents():
    wordpiece = WordPiece.load(minilm.checkpoint() / "vocab.txt")
    for (_, _, a, b), second in zip(
        pretraining.READ, (pretraining.B, pretraining.ELSEWHERE), strict=True
    ):
        pair = wordpiece.pair(pretraining.A, second)
        # the published vocabulary has "penguins" in one piece, the paper has "penguin ##s"
        tokens = " ".join(pair.tokens).replace("penguins", "penguin ##s").split()
        shown = f"{a} {b}".split()
        assert len(shown) == len(tokens)
        apart = [i for i, token in enumerate(shown) if token != tokens[i]]
        assert apart and all(shown[i] == "[MASK]" for i in apart)


def test_losses_are_those_of_the_chapters_batch():
    wordpiece = WordPiece.load(minilm.checkpoint() / "vocab.txt")
    pairs = [
        Pair(wordpiece.encode(pretraining.A), wordpiece.encode(second), bool(label))
        for second, label in ((pretraining.B, 0), (pretraining.ELSEWHERE, 1))
    ]
    batch = masked_batch(pairs, wordpiece, MaskingRates(), torch.Generator().manual_seed(3))
    assert tuple(wordpiece.known_tokens(batch.tokens[0].tolist())) == pretraining.BATCH
    places = batch.chosen[0].nonzero()[:, 0].tolist()
    words = wordpiece.known_tokens(batch.original[0, places].tolist())
    assert dict(zip(places, words, strict=True)) == pretraining.ASKED
    assert batch.is_random[0] == 0, "which is IsNext"


@pytest.mark.parametrize("narrow", [False, True])
def test_percentages_are_what_the_stored_model_says_at_the_holes(narrow):
    model, wordpiece = stored.fill_mask()
    tokens = torch.tensor([[wordpiece.token_id(token) for token in pretraining.BATCH]])
    segments = (torch.arange(len(pretraining.BATCH)) > pretraining.BATCH.index("[SEP]")).long()
    at = torch.zeros_like(tokens, dtype=torch.bool)
    at[0, list(pretraining.ASKED)] = True
    with torch.no_grad():
        said = 100 * model(tokens, segments[None], at=at).words.softmax(dim=-1)
    right = [wordpiece.token_id(word) for word in pretraining.ASKED.values()]
    found = dict(
        zip(pretraining.ASKED, said[torch.arange(len(right)), right].tolist(), strict=True)
    )
    assert found == pytest.approx(pretraining.RIGHT, abs=0.6)
    best = said[list(found).index(pretraining.HOLE)].topk(len(pretraining.LIKELIEST))
    words = wordpiece.known_tokens(best.indices.tolist())
    likeliest = dict(zip(words, best.values.tolist(), strict=True))
    assert likeliest == pytest.approx(pretraining.LIKELIEST, abs=0.6)
    shown = texts(draw("two_losses", narrow).svg())
    for word, share in pretraining.with_the_rest().items():
        assert holds_in_order(shown, [word, f"{share} %"])
    assert sum(pretraining.with_the_rest().values()) == 100 and "…" in shown
    assert all(f"{share} %" in shown for share in pretraining.RIGHT.values())
