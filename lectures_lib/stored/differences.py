"""Weights as differences to others, rounded to a few bits: what further training changed is small,
and so is what rounding costs.

Every row has a scale of its own: its largest difference is the largest whole number that the bits
hold.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Int8, UInt8
from torch import Tensor

SUFFIX = {8: ".8bit", 4: ".4bit"}


def packed(
    before: Mapping[str, Tensor], after: Mapping[str, Tensor], bits: Mapping[str, int]
) -> dict[str, Tensor]:
    """What makes `after` of `before`.

    Args:
        before, after: two state dicts with the same names and shapes.
        bits: for some names, 8 or 4: matrices whose differences are rounded. The other tensors that
            changed are kept in 16 bits.

    Returns:
        under the same names: half-precision differences; whole numbers (`….8bit`, `….4bit`, two in
            a byte), and their scales (`….scale`).
    """
    found = {}
    for name, old in before.items():
        difference = after[name] - old
        if not difference.any():
            continue
        if name not in bits:
            found[name] = difference.half()
            continue
        numbers, scale = rounded(difference, bits[name])
        found[f"{name}{SUFFIX[bits[name]]}"] = numbers if bits[name] == 8 else in_halves(numbers)
        found[f"{name}.scale"] = scale
    return found


def added(before: Mapping[str, Tensor], differences: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """`before` with the differences that `packed` wrote.

    Raises:
        KeyError: for a difference to a tensor that is not there, or one without its scale.
        RuntimeError: for one of another shape.
    """
    found = dict(before)
    for name, stored in differences.items():
        plain, _, kind = name.rpartition(".")
        if kind == "scale":
            continue
        if kind in ("8bit", "4bit"):
            numbers = stored if kind == "8bit" else out_of_halves(stored)
            name, stored = plain, numbers.float() * differences[f"{plain}.scale"].float()
        found[name] = before[name] + stored.float()
    return found


def rounded(
    difference: Float[Tensor, "rows columns"], bits: int
) -> tuple[Int8[Tensor, "rows columns"], Float[Tensor, "rows 1"]]:
    """The nearest whole numbers of so many bits, sign included, and the scale of each row."""
    top = 2 ** (bits - 1) - 1
    scale = (difference.abs().amax(dim=1, keepdim=True) / top).clamp(min=1e-7).half()
    return (difference / scale.float()).round().clamp(-top, top).to(torch.int8), scale


def in_halves(numbers: Int8[Tensor, "rows columns"]) -> UInt8[Tensor, "rows half_columns"]:
    """Two numbers of four bits in a byte, the left one in the lower half.

    Raises:
        ValueError: for an odd number of columns.
    """
    if numbers.shape[1] % 2:
        raise ValueError(
            f"two numbers of four bits fill a byte: an even number of columns, got "
            f"{numbers.shape[1]}"
        )
    nibbles = (numbers + 8).to(torch.uint8)
    return nibbles[:, ::2] | (nibbles[:, 1::2] << 4)


def out_of_halves(stored: UInt8[Tensor, "rows half_columns"]) -> Int8[Tensor, "rows columns"]:
    """The numbers that `in_halves` packed."""
    return torch.stack([stored & 15, stored >> 4], dim=-1).flatten(1).to(torch.int8) - 8
