"""Measures of answers that are quoted from a text: exact match and F1 of words (chapter 14b;
Rajpurkar et al. 2016 and 2018).

The definitions are those of the evaluation script of SQuAD 2.0. Where all questions have answers,
and something is left of each after normalisation, it gives what the script of SQuAD 1.1 gives.
"""

import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from lectures_lib.metrics.pairs import check_pairs, check_texts

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)


class AnswerScores(NamedTuple):
    """Means over all questions, as shares (papers print them times 100).

    Args:
        exact_match: how many answers are one of the right ones.  f1: how much of a right one they
            share.
    """

    exact_match: float
    f1: float


def normalise_answer(text: str) -> str:
    """An answer without what should not matter, in the official order: small letters, no
    punctuation (ASCII's), no English articles, single spaces.
    """
    return " ".join(ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split())


def exact_answer(predicted: str, right: Sequence[str]) -> float:
    """1.0 if the answer is one of the right ones after normalisation, else 0.0. No right ones: only
    no answer ("") is right.

    Raises:
        TypeError: for an answer that is no text.
        ValueError: for one string in place of the list of right answers.
    """
    check_texts([predicted], "answer")
    return max(float(normalise_answer(predicted) == answer) for answer in _normalised(right))


def answer_f1(predicted: str, right: Sequence[str]) -> float:
    """F1 of the words that the answer shares with a right one, of the best such; words count as
    often as they stand there.

    Where one of the two is empty, 1.0 if both are, else 0.0. What is refused: as in `exact_answer`.
    """
    check_texts([predicted], "answer")
    return max(
        _word_f1(normalise_answer(predicted).split(), answer.split())
        for answer in _normalised(right)
    )


def answer_scores(predicted: Sequence[str], right: Sequence[Sequence[str]]) -> AnswerScores:
    """Both measures over a list of questions.

    Args:
        predicted: an answer for each question, "" for none.
        right: for each question the answers that count as right; an empty list where there is none
            in the text.

    Raises:
        ValueError: for no questions, not one list of answers for each, or one string in place of
            such a list.
    """
    check_pairs(predicted, right)
    check_texts(predicted, "answer")
    if (
        i := next((i for i, answers in enumerate(right) if isinstance(answers, str)), None)
    ) is not None:
        raise ValueError(
            f"the right answers of question {i} must be a list of strings, got the string "
            f"{right[i]!r}"
        )
    pairs = list(zip(predicted, right, strict=True))
    return AnswerScores(
        *(
            sum(measure(p, r) for p, r in pairs) / len(pairs)
            for measure in (exact_answer, answer_f1)
        )
    )


def _normalised(right: Sequence[str]) -> list[str]:
    """The right answers, without those of which nothing is left; the empty answer if none is."""
    if isinstance(right, str):
        raise ValueError(
            f"the right answers must be a list of strings, got the string {right!r}: write "
            f"[{right!r}]"
        )
    check_texts(right, "right answer")
    return [answer for text in right if (answer := normalise_answer(text))] or [""]


def _word_f1(predicted: list[str], right: list[str]) -> float:
    if not predicted or not right:
        return float(predicted == right)
    shared = (Counter(predicted) & Counter(right)).total()
    return 2 * shared / (len(predicted) + len(right))
