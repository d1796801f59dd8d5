"""How sure is a measured number, and a difference of two? (Chapter 13b.)

Three tools: the scatter of a share, and two ways to compare systems that answered the same
examples (Efron 1979, the bootstrap; Dietterich 1998, which test for which question).
"""

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from lectures_lib.checks.door import at_the_door
from lectures_lib.metrics.classification import Numbers
from lectures_lib.metrics.pairs import listed


def _check_share(share: Any, n: Any) -> None:
    if not isinstance(share, Real) or not 0 <= share <= 1:
        raise ValueError(f"a share lies between 0 and 1, got {share!r}")
    if not isinstance(n, Integral) or n < 1:
        raise ValueError(f"a share is of 1 example or more, got n = {n!r}")


def _check_counts(only_first: Any, only_second: Any) -> None:
    for count in (only_first, only_second):
        if not isinstance(count, Integral) or count < 0:
            raise ValueError(f"a number of examples is 0 or more and whole, got {count!r}")


def _check_scores(first: Any, second: Any, draws: Any = 1, seed: int = 0) -> None:
    listed(first, second)
    if not isinstance(draws, Integral) or draws < 1:
        raise ValueError(f"1 draw or more is needed, got {draws!r}")


@at_the_door(_check_share)
def standard_error(share: float, n: int) -> float:
    """How far a share of n independent examples scatters: the standard deviation over test sets.

    Args:
        share: the share that is right, between 0 and 1.
        n: how many examples it was counted on.

    Raises:
        ValueError: for a share beyond 0 to 1, or no example.
    """
    return math.sqrt(share * (1 - share) / n)


@at_the_door(_check_counts)
def sign_test(only_first: int, only_second: int) -> float:
    """How often fair coins would divide so many disagreements at least as unevenly, either way.

    This is McNemar's test in its exact form. Examples on which both are right, or both wrong, have
    no part in it.

    Args:
        only_first: examples that only the first system has right.
        only_second: examples that only the second has right.

    Returns:
        A probability; 1.0 where nothing, or as much on either side, speaks for a difference. The
        whole numbers are exact: thousands of disagreements take seconds.

    Raises:
        ValueError: for a count that is no whole number of 0 or more.
    """
    n, more = only_first + only_second, max(only_first, only_second)
    as_uneven = sum(math.comb(n, heads) for heads in range(more, n + 1))
    return min(1.0, 2 * as_uneven / 2**n)


@at_the_door(_check_scores)
def bootstrap_difference(
    first: Numbers, second: Numbers, draws: int = 10_000, seed: int = 0
) -> tuple[float, float]:
    """Where the difference of two means lies in 95 % of the test sets that are drawn from this one.

    Each drawn set has as many examples as this one, some of them twice; an example brings both
    systems' scores with it. So the comparison is paired.

    Args:
        first, second: each system's score on every example, in the same order: 1 and 0 for right
            and wrong, or any number whose mean is reported.
        draws: how many sets are drawn.
        seed: of the draws.

    Returns:
        The 2.5 % and 97.5 % quantiles of the mean of first minus second.

    Raises:
        ValueError: for rows of different lengths, empty ones, or no draw.
    """
    rng = np.random.default_rng(seed)
    gains = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    means = [rng.choice(gains, len(gains)).mean() for _ in range(draws)]
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)
