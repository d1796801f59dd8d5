"""The drawings of chapters 17 and 17b: their numbers are the chapter's and the library's."""

from math import comb

import pytest
import torch

from lectures_lib.data.book import book_sections
from lectures_lib.show.drawings import draw, sentence_vectors
from lectures_lib.tasks.sentence_bert import cls_pooling, max_pooling, mean_pooling
from tests.helpers.drawn import constants, holds_in_order, texts, written


def test_the_passes_are_those_of_the_chapter():
    n = constants("17_sentence_bert")["n"]
    assert sentence_vectors.MANY == n and sentence_vectors.passes() == (comb(n, 2), n)
    shown = texts(draw("two_encoders").svg())
    assert f"{comb(n, 2):,} passes for all pairs" in shown
    assert f"{n:,} passes for all sentences," in shown


@pytest.mark.parametrize("narrow", [False, True])
def test_what_is_pooled_is_the_librarys(narrow):
    hidden = torch.tensor(constants("17_sentence_bert")["hidden"])
    assert torch.equal(hidden[0], sentence_vectors.HIDDEN)
    lengths = torch.tensor([sentence_vectors.LENGTH])
    shown = texts(draw("pooling", narrow).svg())
    for way, vector in (
        ("mean", mean_pooling(hidden, lengths)),
        ("[CLS]", cls_pooling(hidden, lengths)),
        ("max", max_pooling(hidden, lengths)),
        ("everything", hidden.mean(dim=1)),
    ):
        assert torch.equal(sentence_vectors.pooled()[way], vector[0])
        assert holds_in_order(shown, written(hidden) + written(vector))


def test_the_numbers_that_count_make_the_vector():
    for way, vector in sentence_vectors.pooled().items():
        seen = torch.tensor(sentence_vectors.counted(way))
        of = torch.where(seen, sentence_vectors.HIDDEN, 0.0).sum(dim=0) / seen.sum(dim=0)
        assert torch.equal(of, vector)


@pytest.mark.parametrize("narrow", [False, True])
def test_the_right_answers_stand_on_the_diagonal(narrow):
    shown = [text for text in texts(draw("in_batch", narrow).svg()) if text in ("right", "wrong")]
    n = len(sentence_vectors.PAIRS)
    assert len(shown) == n * n
    assert [k for k, text in enumerate(shown) if text == "right"] == [k * (n + 1) for k in range(n)]


def test_the_question_and_its_answer_are_the_books():
    (asked,) = constants("17b_searching")["short"]
    assert asked == " ".join(sentence_vectors.QUESTION)
    titles = {section.title for section in book_sections()}
    assert set(sentence_vectors.SECTIONS) - {"…"} <= titles
    assert sentence_vectors.SECTIONS[sentence_vectors.NEAREST] == "The length penalty"
