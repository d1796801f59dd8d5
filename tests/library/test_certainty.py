"""How sure a number is: equal to scipy and to simulation, and refusing what is no count."""

import numpy as np
import pytest
import torch
from scipy import stats

from lectures_lib.metrics import bootstrap_difference, sign_test, standard_error

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(("share", "n"), [(0.5, 1), (0.86, 80), (0.89, 872), (0.0, 5), (1.0, 5)])
def test_the_standard_error_is_the_deviation_of_counted_shares(share, n):
    assert standard_error(share, n) == pytest.approx(stats.binom(n, share).std() / n)
    assert standard_error(share, n) == pytest.approx(
        (RNG.binomial(n, share, 50_000) / n).std(), rel=0.03
    )


def test_the_sign_test_equals_scipy_for_all_small_counts():
    for first in range(13):
        for second in range(13):
            if first + second:
                theirs = stats.binomtest(first, first + second).pvalue
                assert sign_test(first, second) == pytest.approx(theirs), (first, second)


def test_the_sign_test_of_many_and_of_no_disagreements():
    assert sign_test(600, 700) == pytest.approx(stats.binomtest(600, 1_300).pvalue)
    assert sign_test(0, 0) == 1.0


def test_the_sign_test_raises_a_false_alarm_no_more_often_than_it_says():
    """Of pairs of equally good systems, at most one in twenty gets a p of 0.05 or less."""
    heads = RNG.binomial(20, 0.5, 4_000)
    alarms = np.mean([sign_test(int(k), 20 - int(k)) <= 0.05 for k in heads])
    assert 0.03 < alarms <= 0.05


@pytest.mark.parametrize("n", [46, 80, 400])
def test_the_bootstrap_equals_scipy_s(n):
    first, second = (RNG.random(n) < 0.8).astype(int), (RNG.random(n) < 0.7).astype(int)
    theirs = stats.bootstrap(
        (first, second),
        lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis),
        paired=True,
        vectorized=True,
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    # quantiles of counts lie on a grid of 1/n
    assert bootstrap_difference(first, second) == pytest.approx(tuple(theirs), abs=1.01 / n)


def test_the_interval_holds_the_true_difference_nearly_as_often_as_it_says():
    held = 0
    for trial in range(100):
        drawn = RNG.choice([1, 0, -1], size=150, p=[0.2, 0.7, 0.1])  # truly ahead by 0.1
        low, high = bootstrap_difference(drawn, np.zeros(150), draws=400, seed=trial)
        held += low <= 0.1 <= high
    assert 0.87 <= held / 100 <= 1


def test_pairs_stay_together_and_whatever_holds_the_scores():
    scores = [1, 0, 1, 1, 0, 1]
    assert bootstrap_difference(scores, scores) == (0.0, 0.0)
    better = [1, 1, 1, 1, 0, 1]
    expected = bootstrap_difference(better, scores, draws=100)
    assert expected[1] > 0 and all(isinstance(bound, float) for bound in expected)
    for hold in (tuple, np.array, torch.tensor, lambda x: torch.tensor(x).bool()):
        assert bootstrap_difference(hold(better), hold(scores), draws=100) == expected
    assert bootstrap_difference(better, scores, draws=100, seed=1) is not None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: standard_error(86, 80), "between 0 and 1, got 86"),
        (lambda: standard_error(0.5, 0), "1 example or more, got n = 0"),
        (lambda: sign_test(-1, 3), "got -1"),
        (lambda: sign_test(0.5, 3), "whole, got 0.5"),
        (lambda: bootstrap_difference([1, 0], [1]), "got 2 and 1"),
        (lambda: bootstrap_difference([], []), "got 0 and 0"),
        (lambda: bootstrap_difference([1], [0], draws=0), "got 0"),
    ],
)
def test_what_is_no_count_is_refused(call, message, shapes_unchecked):
    with pytest.raises(ValueError, match=message):
        call()
