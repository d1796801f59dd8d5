"""Measures of classes, scores, names and quoted answers: equal to scikit-learn, scipy, seqeval and
SQuAD's definition.
"""

import math
import random
import re
import string
import warnings
from collections import Counter

import numpy as np
import pytest
import torch
from scipy import stats
from seqeval.metrics import f1_score, precision_score, recall_score
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    matthews_corrcoef,
    precision_recall_fscore_support,
)

from lectures_lib import metrics

RNG = np.random.default_rng(0)
CLASSES = [
    *[
        (RNG.integers(0, 2, n), (RNG.random(n) < share).astype(int))
        for n in (2, 7, 100)
        for share in (0.1, 0.5, 0.9)
    ],
    ([0, 0, 0], [0, 1, 1]),  # constant predictions
    ([1, 1, 1], [0, 1, 1]),
    ([0, 0, 0], [0, 0, 0]),  # one class only, and right
    ([1, 1, 1], [1, 1, 1]),
    ([0, 1, 0], [1, 1, 1]),
    ([1, 0], [0, 1]),  # all wrong
    ([1], [1]),
]


@pytest.mark.parametrize(("predicted", "right"), CLASSES)
def test_two_classes_equal_scikit_learn(predicted, right):
    tn, fp, fn, tp = confusion_matrix(right, predicted, labels=[0, 1]).ravel()
    assert metrics.counts(predicted, right) == (tp, fp, fn, tn)
    assert metrics.accuracy(predicted, right) == pytest.approx(accuracy_score(right, predicted))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = precision_recall_fscore_support(
            right, predicted, average="binary", zero_division=0
        )[:3]
        assert metrics.matthews(predicted, right) == pytest.approx(
            matthews_corrcoef(right, predicted), abs=1e-12
        )
    assert metrics.precision_recall_f1(predicted, right) == pytest.approx(expected)


MANY = [
    ([0, 1, 2, 2], [0, 1, 2, 1]),
    ([2, 2, 2], [0, 1, 2]),  # constant
    ([0, 1, 2], [1, 1, 1]),
    ([1, 2, 0], [0, 1, 2]),  # all wrong
    ([3, 3, 1], [0, 1, 1]),  # a class that is never right, and one that is never said
    (["neutral", "entailment", "neutral"], ["neutral", "entailment", "contradiction"]),
    (["no", "yes", "no", "yes"], ["no", "yes", "yes", "yes"]),  # two, but not 0 and 1
    ([-1, 1, 1, -1], [-1, 1, -1, -1]),
    *[(RNG.integers(0, k, n), RNG.integers(0, k, n)) for k, n in ((3, 5), (3, 60), (9, 400))],
    *[
        (np.where(RNG.random(80) < 0.7, right, RNG.integers(0, 5, 80)), right)
        for right in [RNG.integers(0, 5, 80)]
    ],
]


@pytest.mark.parametrize(("predicted", "right"), MANY)
def test_matthews_of_many_classes_equals_scikit_learn(predicted, right):
    assert metrics.matthews(predicted, right) == pytest.approx(
        matthews_corrcoef(right, predicted), abs=1e-12
    )
    for one in set(list(right)):
        expected = matthews_corrcoef(np.asarray(right) == one, np.asarray(predicted) == one)
        assert metrics.matthews(predicted, right, positive=one) == pytest.approx(
            expected, abs=1e-12
        )


def test_matthews_takes_tensors_of_any_kind():
    predicted, right = (
        torch.tensor([0, 1, 2, 2], dtype=torch.int32),
        torch.tensor([0.0, 1.0, 2.0, 1.0]),
    )
    assert metrics.matthews(predicted, right) == pytest.approx(0.7)
    assert (
        metrics.matthews([True, False], [1, 0])
        == metrics.matthews(list(np.array([1, 0])), [1, 0])
        == 1.0
    )


def test_another_class_may_be_looked_for():
    """MRPC and QQP ask for 1; entailment is class 0."""
    predicted, right = RNG.integers(0, 3, 50), RNG.integers(0, 3, 50)
    expected = precision_recall_fscore_support(
        right, predicted, labels=[2], average="macro", zero_division=0
    )[:3]
    assert metrics.precision_recall_f1(predicted, right, positive=2) == pytest.approx(expected)


@pytest.mark.parametrize("n", [2, 3, 50])
def test_correlations_equal_scipy(n):
    x = RNG.normal(size=n)
    y = np.round(x + RNG.normal(size=n), 1)  # with ties
    assert metrics.pearson(x, y) == pytest.approx(stats.pearsonr(x, y)[0])
    assert metrics.spearman(x, y) == pytest.approx(stats.spearmanr(x, y)[0])
    assert metrics.spearman(torch.tensor(x), y.tolist()) == metrics.spearman(x, y)


def test_matthews_is_pearsons_of_zeros_and_ones():
    predicted, right = RNG.integers(0, 2, 40), RNG.integers(0, 2, 40)
    assert metrics.matthews(predicted, right) == pytest.approx(metrics.pearson(predicted, right))


@pytest.mark.parametrize("measure", [metrics.pearson, metrics.spearman])
def test_a_constant_correlates_with_nothing(measure):
    assert math.isnan(measure([2.0, 2.0, 2.0], [1.0, 2.0, 3.0]))
    assert math.isnan(measure([1.0, 2.0], [0.0, 0.0]))


LABELS = ["O", "O", "O", "B-person", "I-person", "B-place", "I-place"]


def random_labels(rng, n, well_formed):
    labels = []
    for _ in range(n):
        before = labels[-1] if labels else "O"
        allowed = (
            [x for x in LABELS if not x.startswith("I-") or before[2:] == x[2:]]
            if well_formed
            else LABELS
        )
        labels.append(rng.choice(allowed))
    return labels


@pytest.mark.parametrize("seed", range(20))
def test_names_equal_seqeval(seed):
    rng = random.Random(seed)
    right = [random_labels(rng, rng.randint(1, 9), True) for _ in range(6)]
    predicted = [
        random_labels(rng, len(labels), seed % 2 == 0) if rng.random() < 0.6 else labels
        for labels in right
    ]
    expected = [
        score(right, predicted, zero_division=0)
        for score in (precision_score, recall_score, f1_score)
    ]
    assert metrics.entity_scores(predicted, right) == pytest.approx(expected)
    found = [
        {(i, *e) for i, labels in enumerate(lists) for e in metrics.entities(labels)}
        for lists in (predicted, right)
    ]
    both = len(found[0] & found[1])
    assert metrics.entity_scores(predicted, right).f1 == pytest.approx(
        2 * both / (len(found[0]) + len(found[1]) or 1)
    )


def test_names_by_hand():
    right = [["B-person", "I-person", "O", "B-place"]]
    assert metrics.entities(right[0]) == [("person", 0, 2), ("place", 3, 4)]
    # Three of four labels are right, but only one of two names.
    assert metrics.entity_scores([["B-person", "O", "O", "B-place"]], right) == (0.5, 0.5, 0.5)
    assert metrics.entity_scores([["O"] * 4], right) == (0.0, 0.0, 0.0)
    assert metrics.entity_scores([["O"] * 4], [["O"] * 4]) == (0.0, 0.0, 0.0)
    assert metrics.entities(["I-person", "I-place", "B-place"]) == [
        ("person", 0, 1),
        ("place", 1, 2),
        ("place", 2, 3),
    ]


def test_breaks_of_the_bio_scheme_are_found():
    assert metrics.bio_errors(["B-x", "I-x", "I-x", "O", "B-y", "B-x"]) == []
    assert metrics.bio_errors([]) == []
    assert metrics.bio_errors(["I-x", "B-y", "I-x", "O", "I-y"]) == [
        "label 0 is I-x, but the label before it is missing: it is the first",
        "label 2 is I-x, but the label before it is B-y",
        "label 4 is I-y, but the label before it is O",
    ]


def squad_by_the_book(predicted, right):
    """The paper's words (section 6.1), and the one rule that SQuAD 2.0 adds, written once more and
    apart from the library.
    """

    def words(text):
        text = "".join(c for c in text.lower() if c not in set(string.punctuation))
        return re.sub(r"\b(a|an|the)\b", " ", text).split()

    answers = [words(answer) for answer in right if words(answer)] or [[]]
    exact = any(words(predicted) == answer for answer in answers)
    f1 = 0.0
    for answer in answers:
        if not answer or not words(predicted):
            f1 = max(f1, float(answer == words(predicted)))
            continue
        shared = sum((Counter(answer) & Counter(words(predicted))).values())
        precision, recall = shared / len(words(predicted)), shared / len(answer)
        f1 = max(f1, 2 * precision * recall / (precision + recall) if shared else 0.0)
    return float(exact), f1


ANSWERS = [
    "the Cat",
    "cat!",
    "a cat sat",
    "the",
    "",
    "  An  ",
    "U.S.A.",
    "usa",
    "sat cat cat",
    "theatre",
    "—",
    "İstanbul",
    "10 %",
]


def test_answers_equal_squads_definition():
    rng = random.Random(0)
    cases = [(rng.choice(ANSWERS), rng.sample(ANSWERS, rng.randint(0, 3))) for _ in range(500)]
    expected = [squad_by_the_book(*case) for case in cases]
    for case, (exact, f1) in zip(cases, expected, strict=True):
        assert metrics.exact_answer(*case) == exact, case
        assert metrics.answer_f1(*case) == pytest.approx(f1), case
    total = metrics.answer_scores(*map(list, zip(*cases, strict=True)))
    assert total == pytest.approx(
        [sum(column) / len(cases) for column in zip(*expected, strict=True)]
    )
    assert 0.1 < total.exact_match < total.f1 < 0.9


@pytest.mark.parametrize(
    ("predicted", "right", "exact", "f1"),
    [
        ("The  Cat.", ["cat"], 1, 1),
        ("the black cat", ["cat"], 0, 2 / 3),
        ("cat", ["dog", "black cat"], 0, 2 / 3),  # the better of the two
        ("", [], 1, 1),
        ("cat", [], 0, 0),
        ("", ["cat"], 0, 0),
        ("the", ["a"], 1, 1),  # nothing is left of either
        ("cat cat", ["cat"], 0, 2 / 3),
        ("U.S.", ["us"], 1, 1),
    ],
)
def test_answers_by_hand(predicted, right, exact, f1):
    assert metrics.exact_answer(predicted, right) == exact
    assert metrics.answer_f1(predicted, right) == pytest.approx(f1)


# What SQuAD 2.0's script says, as Hugging Face keeps it: compute_exact and compute_f1 of
# src/transformers/data/metrics/squad_metrics.py (commit 0cbcecb; version 5 has it no longer), of
# the best right answer, [""] where there is none. Values, not our definition again.
BY_THE_SCRIPT = [
    ("The cat's.", ["cats"], 1, 1),
    ("U.S.", ["the US", "America"], 1, 1),
    ("in the theatre", ["theatre", "the at re"], 0, 2 / 3),
    ("the", ["a"], 1, 1),
    ("the", [], 1, 1),
    ("The!", ["cat"], 0, 0),
    ("", ["an"], 1, 1),
    # an answer of which nothing is left does not count where there is another
    ("", ["the", "cat"], 0, 0),
    ("no one", ["", "No-one"], 0, 0),
    ("he–the–she", ["he– –she"], 1, 1),
    ("cat cat", ["cat cat dog"], 0, 0.8),
    ("10,000 men", ["10000", "ten thousand men"], 0, 2 / 3),
    ("$5.50", ["550", "5.50 $"], 1, 1),
    ("“Otto”", ["Otto"], 0, 0),  # only ASCII's punctuation goes
    ("the–cat", ["cat"], 0, 0),
    ("the well-known cat", ["wellknown cat"], 1, 1),
    ("_a_ cat", ["cat"], 1, 1),  # punctuation goes before articles
    ("l'a b", ["la b"], 1, 1),
    ("café", ["cafe"], 0, 0),
    ("cafe\u0301", ["café"], 0, 0),
    ("İstanbul", ["istanbul"], 0, 0),
    ("STRASSE", ["straße"], 0, 0),
    ("１０", ["10"], 0, 0),
    ("a\u00a0cat", ["cat"], 1, 1),
    ("cat cat dog", ["cat dog dog"], 0, 2 / 3),
    ("one two three", ["three two one"], 0, 1),
    ("an hour and a half", ["hour half", "a half hour", "and"], 0, 0.8),
]


@pytest.mark.parametrize(("predicted", "right", "exact", "f1"), BY_THE_SCRIPT)
def test_answers_equal_what_squads_script_said(predicted, right, exact, f1):
    assert metrics.exact_answer(predicted, right) == exact
    assert metrics.answer_f1(predicted, right) == pytest.approx(f1, abs=1e-12)


def test_the_old_names_are_where_they_were():
    from lectures_lib.metrics import bleu, exact_match, perplexity, token_accuracy

    assert all(map(callable, (bleu, perplexity, exact_match, token_accuracy)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.accuracy([], []), "got 0 and 0"),
        (lambda: metrics.accuracy([1], [1, 0]), "got 1 and 2"),
        (lambda: metrics.accuracy([[0.1, 0.9]], [1]), "one number for each example"),
        (lambda: metrics.matthews(torch.tensor([1, 0]), torch.tensor([1])), "got 2 and 1"),
        (lambda: metrics.pearson([1.0], [2.0]), "at least two pairs, got 1"),
        (lambda: metrics.spearman([], []), "got 0 and 0"),
        (lambda: metrics.entity_scores([], []), "got 0 and 0"),
        (
            lambda: metrics.entity_scores([["O"]], [["O", "O"]]),
            "sentence 0 has 2 words, but 1 labels",
        ),
        (
            lambda: metrics.entity_scores([["O", "O"]], [["O", "I-x"]]),
            "right labels of sentence 0 break .* label 1 is I-x",
        ),
        (lambda: metrics.entities(["person"]), "label 0 is 'person'"),
        (lambda: metrics.bio_errors(["O", "B-"]), "label 1 is 'B-'"),
        (lambda: metrics.answer_scores(["a"], ["a"]), "question 0 must be a list"),
        (lambda: metrics.answer_scores([], []), "got 0 and 0"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(call, message):
    with pytest.raises(ValueError, match=message):
        call()
