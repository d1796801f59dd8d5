"""Random inputs, for the questions of all homework: no shape is square by accident, and every mask
shows and hides something.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Generator, Tensor

from lectures_lib.homework.questions import Case


def pick(g: Generator, things: Sequence[Any], count: int) -> list[Any]:
    """`count` different ones of these things, in random order."""
    return [things[i] for i in torch.randperm(len(things), generator=g)[:count].tolist()]


def whole(g: Generator, low: int, high: int) -> int:
    """A whole number from low … high."""
    return int(torch.randint(low, high + 1, (), generator=g))


def sizes(g: Generator, count: int, low: int, high: int) -> list[int]:
    """`count` different sizes from low … high, so that no shape is square by accident and no root
    is right by accident.
    """
    return (torch.randperm(high - low + 1, generator=g)[:count] + low).tolist()


def normal(g: Generator, *shape: int) -> Tensor:
    """Standard normal numbers."""
    return torch.randn(*shape, generator=g)


def mixed_mask(g: Generator, *shape: int) -> Tensor:
    """A random mask in which every row and every column both shows and hides something."""
    *batch, rows, columns = shape
    masks = [_mixed(g, rows, columns) for _ in range(math.prod(batch))]
    return torch.stack(masks).view(shape)


def _mixed(g: Generator, rows: int, columns: int) -> Tensor:
    while True:
        mask = torch.rand(rows, columns, generator=g) < 0.5
        if all(part.any(dim).all() for part in (mask, ~mask) for dim in (-1, -2)):
            return mask


def also_as_large(g: Generator, case: Case) -> Case:
    """The same object once more, with another input of the first one's sizes: nothing may be kept
    that fits it.
    """
    return replace(case, again=((normal(g, *case.args[0].shape),), *case.again))
