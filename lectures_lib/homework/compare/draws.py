"""Results that are drawn: their mean and their spread over many calls, and which of their numbers
vary together.
"""

from typing import Any

import torch
from torch import Tensor

from lectures_lib.homework.compare.values import Difference, difference

TOGETHER = 1.45  # what the spread of a sum may be off by, over 200 draws or more
APART = 6.0  # standard deviations that a correlation may be off by: there are a thousand pairs


def draws_differ(yours: Any, expected: dict, n: int) -> Difference | None:
    """What is wrong with the mean and the spread of results over n draws, or with what varies
    together; None where all may be those of the right answer.

    Args:
        yours, expected: {"mean": [tensor, …], "spread": […], "together": […], "pairs": […]}.
        n: the number of draws.
    """
    found = _draws_shaped(yours, expected)
    if found:
        return found
    for i, spread in enumerate(expected["spread"]):
        where = "The result" if len(expected["spread"]) == 1 else f"Tensor {i} of the result"
        theirs, fixed = yours["spread"][i], spread < 1e-6
        often = f"over {n} calls in training mode"
        # a NaN, too, is neither small nor large
        if not ((theirs[fixed] <= 1e-5).all() and (theirs[~fixed] >= 1e-6).all()):
            some, other = (
                (spread > 1e-6).double().mean().item(),
                (theirs > 1e-6).double().mean().item(),
            )
            text = f"{other:.0%} of its values change from call to call; expected {some:.0%}"
            return Difference(
                "values",
                f"{where} differs {often}: "
                f"{text if round(some, 2) != round(other, 2) else 'other values change'}.",
            )
        if not fixed.all():
            ratio, ratios = (
                (theirs[~fixed].mean() / spread[~fixed].mean()).item(),
                theirs[~fixed] / spread[~fixed],
            )
            if not 0.75 < ratio < 1.33:
                return Difference(
                    "values", f"{where} spreads {ratio:.2g} times as much as it should {often}."
                )
            if not ((ratios > 0.55) & (ratios < 1.8)).all():
                return Difference(
                    "values",
                    f"{where} spreads otherwise than it should {often}: some values more, some "
                    f"less.",
                )
        noise = (
            7 * torch.maximum(theirs, spread) * (2 / n) ** 0.5
            + 1e-4 * expected["mean"][i].abs()
            + 1e-4
        )
        if not ((yours["mean"][i] - expected["mean"][i]).abs() <= noise).all():
            return Difference("values", f"{where} has another mean than it should {often}.")
        found = _together_differ(yours["together"][i], expected["together"][i])
        found = found or _pairs_differ(yours["pairs"][i], expected["pairs"][i], n)
        if found:
            return Difference("values", f"{where} {found} {often}.")
    return None


def _together_differ(yours: Tensor, expected: Tensor) -> str:
    """Whether a sum spreads as it should; it spreads more where entries vary together that should
    vary each by itself. Of n draws such a ratio is off by 1/√n or so.
    """
    if expected < 1e-6:
        return ""
    ratio = (yours / expected).item()
    if 1 / TOGETHER < ratio < TOGETHER:
        return ""
    why = ": its numbers vary together" if ratio > TOGETHER else ""
    return f"has a sum that spreads {ratio:.2g} times as much as it should{why},"


def _pairs_differ(yours: Tensor, expected: Tensor, n: int) -> str:
    """Whether any two entries vary together that should not, or otherwise: also two of which one
    falls when the other rises. Of n draws a correlation is off by 1/√n, their difference by √(2/n).
    """
    apart = (yours - expected).abs()
    if (apart <= APART * (2 / n) ** 0.5).all():
        return ""
    mine, right = (t.flatten()[apart.argmax()].abs() for t in (yours, expected))
    return (
        "holds numbers that vary together, though each should vary by itself,"
        if mine > right
        else "holds numbers that should vary together, and vary each by itself,"
    )


def _draws_shaped(yours: Any, expected: dict) -> Difference | None:
    """Whether these are means and spreads of the same shapes."""
    if not isinstance(yours, dict) or yours.keys() != expected.keys():
        return Difference("type", "The result holds no tensors that could be compared.")
    for key in ("spread", "mean", "together", "pairs"):
        if not isinstance(yours[key], list) or any(not _measured(each) for each in yours[key]):
            return Difference("type", "What came back could not be read.")
        empty = ([torch.zeros_like(t) for t in each[key]] for each in (yours, expected))
        if found := difference(*empty):
            return found
    return None


def _measured(value: Any) -> bool:
    """Whether it can be a mean or a spread: `inside.looking` sends them in this precision."""
    return isinstance(value, Tensor) and value.dtype == torch.float64
