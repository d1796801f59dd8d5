"""Inputs on which mistakes show: drawn again until they do."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from torch import Generator

from lectures_lib.homework.compare.values import difference
from lectures_lib.homework.questions import Case


def telling(
    g: Generator,
    draw: Callable[[Generator], list[Case]],
    right: Callable,
    wrong: Sequence[Callable],
    slips: Sequence[Callable] = (),
    always: Sequence[Case] = (),
    **within: float,
) -> list[Case]:
    """Cases from `draw`, drawn again until no two of all these functions, the right one and the
    wrong ones, do the same on them and on the cases `always`, which follow them.

    `slips` are wrong in ways that have no name; they must differ from the right one alone. `within`
    are tolerances, where the question has its own.
    """
    answers = (right, *wrong)
    pairs = [(one, other) for i, other in enumerate(answers) for one in answers[:i]]
    # Most are told apart by the cases that stay; only the others are asked again with each draw.
    pairs = list(_alike(pairs, always, **within))
    slips = list(_alike([(right, slip) for slip in slips], always, **within))
    while True:
        cases = draw(g)
        if not any(_alike(slips, cases, **within)) and not any(_alike(pairs, cases, **within)):
            return [*cases, *always]


def showing(
    g: Generator,
    draw: Callable[[Generator], list[Case]],
    right: Callable,
    shown: Sequence[Callable],
    hidden: Sequence[Callable] = (),
    **within: float,
) -> list[Case]:
    """Cases from `draw`, drawn again until each of `shown` differs from the right one on some of
    them, and none of `hidden` on any.

    For a question's first demand: who meets it is then the same with every seed.
    """
    while True:
        cases = draw(g)
        if any(_alike([(right, answer) for answer in shown], cases, **within)):
            continue
        if len(list(_alike([(right, each) for each in hidden], cases, **within))) == len(hidden):
            return cases


def _alike(
    pairs: Sequence[tuple[Callable, Callable]], cases: Sequence[Case], **within: float
) -> Iterator[tuple[Callable, Callable]]:
    """Those of the pairs of functions that do the same on all of the cases."""
    result = cache(lambda answer, i: _result(answer, cases[i]))
    for one, other in pairs:
        if all(_same(result(one, i), result(other, i), **within) for i in range(len(cases))):
            yield one, other


def _result(answer: Callable, case: Case) -> Any:
    """What it returns, or the exception. A plain call: `diagnosis.run`, which guards against
    strangers, takes many times as long.
    """
    try:
        return answer(*case.args)
    except (ValueError, LookupError, ZeroDivisionError, RuntimeError) as error:
        return error


def _same(one: Any, other: Any, **within: float) -> bool:
    if isinstance(one, Exception) or isinstance(other, Exception):
        return repr(one) == repr(other)
    return difference(one, other, **within) is None
