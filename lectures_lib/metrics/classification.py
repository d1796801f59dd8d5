"""Measures of classes and of scores, as the benchmark GLUE takes them (chapter 14; Wang et al.
2019).

All of them compare what was predicted with what is right, one number for each example: lists,
arrays or tensors with one dimension. All of them are shares or correlations: papers print them
times 100.
"""

import math
import warnings
from collections import Counter
from typing import Any, NamedTuple

from lectures_lib.metrics.pairs import listed, plain

Numbers = Any  # a sequence of numbers: list, tuple, array or tensor


class Counts(NamedTuple):
    """Two classes, and the four things that can happen.

    Args:
        true_positive: predicted and right.  false_positive: predicted, but wrong.
        false_negative: missed.  true_negative: rightly left alone.
    """

    true_positive: int
    false_positive: int
    false_negative: int
    true_negative: int


class Scores(NamedTuple):
    """How well one class is found.

    Args:
        precision: of what was predicted, the share that is right.  recall: of what is right, the
            share that was predicted.
        f1: their harmonic mean.
    """

    precision: float
    recall: float
    f1: float


def accuracy(predicted: Numbers, right: Numbers) -> float:
    """The share that is right.

    Raises:
        ValueError: for nothing to compare, or two different numbers of things.
    """
    predicted, right = _listed(predicted, right)
    return sum(p == r for p, r in zip(predicted, right, strict=True)) / len(right)


def counts(predicted: Numbers, right: Numbers, positive: Any = 1) -> Counts:
    """How often each of the four cases of a question with two answers occurs.

    Args:
        predicted: a class for each example.  right: the true one.
        positive: the class that is looked for; all others count as "not this one".

    Raises:
        ValueError: for nothing to compare, or two different numbers of things.
    """
    predicted, right = _listed(predicted, right)
    positive = plain(positive)
    cases = [(p == positive, r == positive) for p, r in zip(predicted, right, strict=True)]
    return Counts(
        *(
            cases.count(case)
            for case in ((True, True), (True, False), (False, True), (False, False))
        )
    )


def precision_recall_f1(predicted: Numbers, right: Numbers, positive: Any = 1) -> Scores:
    """Precision, recall and F1 of one class. What would be divided by 0 is 0: nothing was found.

    Equal to scikit-learn's `precision_recall_fscore_support(…, average="binary", zero_division=0)`.

    Raises:
        ValueError: for nothing to compare, or two different numbers of things.
    """
    tp, fp, fn, _ = counts(predicted, right, positive)
    return Scores(_share(tp, tp + fp), _share(tp, tp + fn), _share(2 * tp, 2 * tp + fp + fn))


def matthews(predicted: Numbers, right: Numbers, positive: Any = None) -> float:
    """Matthews correlation, from -1 to 1: 0 for whoever always says the same, however frequent that
    class is.

    For two classes it is Pearson's correlation of the zeros and ones (CoLA's measure). For more it
    is Gorodkin's (2004) extension: the correlation of what is predicted with what is right, a one
    in the column of the class, zeros in the others. Equal to scikit-learn's `matthews_corrcoef` for
    any number of classes, which also says 0 where one side holds a single class.

    Args:
        predicted: a class for each example.  right: the true one.
        positive: one class, to be held against all others together; None: every class counts by
            itself.

    Raises:
        ValueError: for nothing to compare, or two different numbers of things.
    """
    predicted, right = _listed(predicted, right)
    if positive is not None:
        positive = plain(positive)
        predicted, right = (
            [bool(one == positive) for one in numbers] for numbers in (predicted, right)
        )
    n, said, true = len(right), Counter(predicted), Counter(right)
    hits = sum(bool(p == r) for p, r in zip(predicted, right, strict=True))
    # n² times the covariance, and n² times both variances, summed over the classes.
    together = n * hits - sum(said[one] * true[one] for one in true)
    spread = (n * n - sum(k * k for k in said.values())) * (
        n * n - sum(k * k for k in true.values())
    )
    return _share(together, math.sqrt(spread))


def pearson(predicted: Numbers, right: Numbers) -> float:
    """Pearson's correlation: 1 where the points lie on a rising line. By scipy.

    NaN where one of the two does not vary, as in scipy (which warns): there is nothing to
    correlate.

    Raises:
        ImportError: without the package `scipy`.
        ValueError: for fewer than two pairs, or two different numbers of things.
    """
    return _correlation("pearsonr", predicted, right)


def spearman(predicted: Numbers, right: Numbers) -> float:
    """Spearman's correlation: Pearson's, of the ranks. 1 where the order is right, whatever the
    distances. By scipy.

    NaN, and what is refused, as in `pearson`.
    """
    return _correlation("spearmanr", predicted, right)


def _correlation(name: str, predicted: Numbers, right: Numbers) -> float:
    predicted, right = _listed(predicted, right)
    if len(right) < 2:
        raise ValueError(f"a correlation needs at least two pairs, got {len(right)}")
    try:
        from scipy import stats
    except ModuleNotFoundError:
        raise ImportError(
            "correlations are computed by scipy, which is not installed here: pip install scipy"
        ) from None
    if strange := [
        x
        for numbers in (predicted, right)
        for x in numbers
        if isinstance(x, (str, bytes)) or x is None
    ]:
        raise TypeError(f"a correlation is of numbers, got {strange[0]!r}")
    # zeros and ones for False and True
    predicted, right = ([float(x) for x in numbers] for numbers in (predicted, right))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.ConstantInputWarning)
        return float(getattr(stats, name)(predicted, right)[0])


def _listed(predicted: Numbers, right: Numbers) -> tuple[list[Any], list[Any]]:
    lists = listed(predicted, right)
    nested = [x for numbers in lists for x in numbers if isinstance(x, list)]
    if nested:
        raise ValueError(
            f"one number for each example is needed, got {nested[0]}: scores of classes are not "
            f"yet a class"
        )
    return lists


def _share(part: float | int, whole: float | int) -> float:
    return part / whole if whole else 0.0
