"""The gradients that flow back from a result."""

from typing import Any

import torch
from torch import Tensor

from lectures_lib.homework.compare.values import Difference
from lectures_lib.homework.compare.words import SHOWN

NOISE = 1e-5  # of the largest gradient: so much may be left of a 0 (1.03e-6 was seen)


def gradients_differ(
    yours: Any, expected: Any, values: bool = True, rtol: float = 1e-4, atol: float = 1e-5
) -> Difference | None:
    """What is wrong with the gradients of an answer's result; None where nothing is.

    Args:
        yours, expected: {name: gradient}; or a text, where the gradients could not be computed.
        values: whether the numbers count, and not only whether they are all 0.
        rtol, atol: as in `difference`, but relative to the largest number in a gradient.
    """
    if isinstance(yours, str):
        return _no_backpropagation(yours)
    if (
        not isinstance(yours, dict)
        or not isinstance(expected, dict)
        or yours.keys() != expected.keys()
        or any(isinstance(each, Tensor) and not each.is_floating_point() for each in yours.values())
    ):
        return Difference("gradient", "Its gradients could not be read.")
    # mostly it is the same answer, number by number: nothing needs to be measured then
    measured = [name for name in expected if not _identical(yours[name], expected[name])]
    if not measured:
        return None
    # A gradient that should be 0 may come out as noise, which depends on the kernel that computes
    # it. Up to `NOISE` of the largest of all counts as such.
    noise = NOISE * max(map(_largest, expected.values()), default=0.0)
    unlike = {
        name: _gradient_unlike(yours[name], expected[name], values, rtol, atol, noise)
        for name in measured
    }
    cut = [name for name, how in unlike.items() if how == "cut"]
    if cut:
        text = (
            "no gradient at all"
            if not any(_reaches(gradient, noise) for gradient in yours.values())
            else f"no gradient to {_names(cut)}"
        )
        return Difference(
            "gradient",
            f"The result is right, but {text} flows back from it: training would not change what "
            f"stands before.",
            "no_gradient",
        )
    other = [name for name, how in unlike.items() if how]
    if not other:
        return None
    rows = {name: rows_unlike(yours[name], expected[name], rtol, atol) for name in other}
    if all(_rows_cut(yours[name], expected[name], rows[name], noise) for name in other):
        told = " and ".join(f"{_rows(rows[name])} of {name}" for name in other)
        single = all(len(rows[name]) == 1 and name.endswith(".weight") for name in other)
        why = " An nn.Embedding with padding_idx does this to a row." if single else ""
        return Difference(
            "gradient",
            f"The result is right, but no gradient to {told} flows back from it: training would "
            f"not change what stands there.{why}",
            "no_gradient",
        )
    return Difference(
        "gradient",
        f"The result is right, but the gradient that flows back from it to {_names(other)} is not.",
    )


def _no_backpropagation(why: str) -> Difference:
    """What is wrong with a result whose gradients could not be computed."""
    text = (
        "The result is right, but training stops: backpropagation through it fails. "
        + why.partition(" Hint:")[0]
    )
    if "modified by an inplace operation" not in why:
        return Difference("gradient", text)
    return Difference(
        "gradient",
        f"{text} A line such as `w[…] = 0` or `w.relu_()` writes over numbers that backpropagation "
        f"needs: make a new tensor instead, with `masked_fill` or `torch.where`.",
        "written_over",
    )


def _identical(yours: Any, expected: Any) -> bool:
    """Whether both are tensors with the same numbers, and none of them NaN."""
    return (
        isinstance(yours, Tensor)
        and isinstance(expected, Tensor)
        and yours.dtype == expected.dtype
        and torch.equal(yours, expected)
    )


def _gradient_unlike(
    yours: Any, expected: Any, values: bool, rtol: float, atol: float, noise: float
) -> str:
    """How one gradient differs: "cut" where it is 0 and should not be, "other", or "" where it is
    right. What is no larger than `noise` is 0.
    """
    if (
        not isinstance(yours, Tensor)
        or not isinstance(expected, Tensor)
        or yours.shape != expected.shape
    ):
        return "other"
    yours, expected = yours.double(), expected.double()
    reaches, should = (_reaches(gradient, noise) for gradient in (yours, expected))
    if reaches != should:
        return "other" if reaches else "cut"
    alike = not values or torch.allclose(
        yours,
        expected,
        rtol=rtol,
        atol=atol + rtol * _largest(expected),
        equal_nan=True,
    )
    return "" if alike else "other"


def rows_unlike(yours: Any, expected: Any, rtol: float = 1e-4, atol: float = 1e-5) -> list[int]:
    """The numbers of the rows in which a gradient differs from the right one; none where they
    cannot be compared row by row.
    """
    if (
        not isinstance(yours, Tensor)
        or not isinstance(expected, Tensor)
        or yours.shape != expected.shape
        or expected.ndim < 2
    ):
        return []
    tolerance = {"rtol": rtol, "atol": atol + rtol * _largest(expected), "equal_nan": True}
    alike = torch.isclose(yours.double(), expected.double(), **tolerance)
    return (~alike.flatten(1).all(dim=1)).nonzero().flatten().tolist()


def _rows_cut(yours: Any, expected: Any, rows: list[int], noise: float) -> bool:
    """Whether there are such rows, nothing arrives in them, and something should in each."""
    return (
        bool(rows)
        and not _reaches(yours[rows], noise)
        and all(_reaches(row, noise) for row in expected[rows])
    )


def _rows(numbers: list[int]) -> str:
    return f"{'rows' if len(numbers) > 1 else 'row'} {_names(list(map(str, numbers)))}"


def _largest(gradient: Any) -> float:
    """The largest of a gradient's finite numbers, by size."""
    if not isinstance(gradient, Tensor) or not gradient.numel():
        return 0.0
    return gradient.double().abs().nan_to_num(0, 0, 0).max().item()


def _reaches(gradient: Any, noise: float) -> bool:
    """Whether something in a gradient is larger than `noise`, or is no number."""
    return isinstance(gradient, Tensor) and not bool((gradient.double().abs() <= noise).all())


def _names(names: list[str]) -> str:
    return f"{', '.join(names[:SHOWN])}{' …' if len(names) > SHOWN else ''}"
