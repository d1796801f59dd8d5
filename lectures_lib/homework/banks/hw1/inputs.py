"""Random inputs on which mistakes show: no shape is square by accident, no permutation leaves
anything in place.
"""

import math

import torch
from torch import Generator, Tensor

# Ready-made attention, nn.MultiheadAttention included: out of bounds in all of homework 1.
READY_MADE = ("F.scaled_dot_product_attention", "F.multi_head_attention_forward")


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


def restless_permutation(g: Generator, n: int) -> Tensor:
    """A permutation in which nobody keeps a seat, and which done twice is not undone."""
    seats = torch.arange(n)
    while True:
        permutation = torch.randperm(n, generator=g)
        if (permutation != seats).all() and (permutation[permutation] != seats).any():
            return permutation
