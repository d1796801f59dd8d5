"""Predictions, of which only a share must be right."""

import math
from dataclasses import replace
from typing import Any

from torch import Tensor

from lectures_lib.homework.compare.values import Difference, difference


def too_few(
    yours: Any, expected: Any, share: float, rtol: float = 1e-4, atol: float = 1e-5
) -> Difference | None:
    """What is wrong with predictions of which only a `share` must be right; None where enough of
    them are.

    Args:
        yours, expected: lists or tensors of predictions, one entry each. What is no such list of
            that length is simply wrong.
        share: from 0 to 1.
        rtol, atol: as in `difference`.
    """
    found = difference(yours, expected, rtol, atol)
    if found is not None and found.kind == "shape" and _are_scores(yours, expected, share):
        text = " These are scores: the largest of each row stands in the right place, and "
        return replace(
            found,
            words=f"{found.message}{text}argmax(dim=-1) makes predictions of them.",
            mistake="scores_returned",
        )
    if found is None or found.kind != "values":
        return found
    right = sum(
        difference(one, other, rtol, atol) is None
        for one, other in zip(yours, expected, strict=True)
    )
    needed = math.ceil(share * len(expected))
    if right >= needed:
        return None
    return Difference(
        "values", f"{right} of {len(expected)} predictions are right; at least {needed} are needed."
    )


def _are_scores(yours: Tensor, expected: Tensor, share: float) -> bool:
    """Whether the largest number of each row tells enough of what is expected."""
    return (
        yours.is_floating_point()
        and not expected.is_floating_point()
        and yours.shape[:-1] == expected.shape
        and yours.numel() > 0
        and (yours.argmax(dim=-1) == expected).double().mean().item() >= share
    )
