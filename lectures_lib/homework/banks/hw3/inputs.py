"""Random inputs on which mistakes show."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Generator

from lectures_lib.homework.compare.values import difference
from lectures_lib.homework.questions import Case


def pick(g: Generator, things: Sequence[Any], count: int) -> list[Any]:
    """`count` different ones of these things, in random order."""
    return [things[i] for i in torch.randperm(len(things), generator=g)[:count].tolist()]


def whole(g: Generator, low: int, high: int) -> int:
    """A whole number from low … high."""
    return int(torch.randint(low, high + 1, (), generator=g))


def telling(
    g: Generator,
    draw: Callable[[Generator], list[Case]],
    right: Callable,
    wrong: Sequence[Callable],
    slips: Sequence[Callable] = (),
) -> list[Case]:
    """Cases from `draw`, drawn again until no two of all these functions, the right one and the
    wrong ones, do the same on them.

    `slips` are wrong in ways that have no name; they must differ from the right one alone.
    """
    while True:
        cases = draw(g)
        expected = [_result(right, case) for case in cases]
        if any(
            all(
                _same(_result(slip, case), result)
                for case, result in zip(cases, expected, strict=True)
            )
            for slip in slips
        ):
            continue
        done: list[list[Any]] = []
        for answer in (right, *wrong):
            results = [_result(answer, case) for case in cases]
            if any(all(map(_same, results, others)) for others in done):
                break
            done.append(results)
        else:
            return cases


def _result(answer: Callable, case: Case) -> Any:
    """What it returns, or the exception. A plain call: `diagnosis.run`, which guards against
    strangers, takes many times as long.
    """
    try:
        return answer(*case.args)
    except (ValueError, LookupError, ZeroDivisionError, RuntimeError) as error:
        return error


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Exception) or isinstance(other, Exception):
        return repr(one) == repr(other)
    return difference(one, other) is None
