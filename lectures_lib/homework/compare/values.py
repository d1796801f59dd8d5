"""How a value differs from the right one: a number, a text, a tensor, or a list or dictionary of
them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from lectures_lib.homework.compare.words import SHOWN, kind_of, listed, shown, subject
from lectures_lib.homework.inside.values import Foreign

LISTED = 8  # a list of so many numbers and words is shown whole
PARTS = 4  # so many elements are tried, where one of them was asked for
PLAIN = (bool, int, float, str)
FOREIGN_HINTS = {
    "a generator": " A function with `yield` gives one; `list(…)` makes a list of it.",
    "a coroutine": " An `async def` gives one when it is called; write `def`.",
    "a map": " `list(…)` makes a list of it.",
    "a zip": " `list(…)` makes a list of it.",
}


@dataclass(frozen=True)
class Difference:
    """How a value differs from the expected one.

    Attributes:
        kind: "type", "length", "shape", "dtype", "nan", "values" or "gradient".
        words: a sentence or two to the student, or what makes them: an answer is compared with
            every known mistake, and mostly nobody asks how it differs.
        mistake: its name, where the difference itself says which mistake it is.
    """

    kind: str
    words: str | Callable[[], str]
    mistake: str = ""

    @property
    def message(self) -> str:
        """The words themselves."""
        return self.words() if callable(self.words) else self.words


def difference(
    yours: Any, expected: Any, rtol: float = 1e-4, atol: float = 1e-5, where: str = ""
) -> Difference | None:
    """What is wrong with `yours`, or None where it is right.

    Right values count whatever carries them: a list for a tuple, float64 for float32, int32 for
    int64, a tensor of no axes for a number, True for a 1. The other way round a 1 is no True (`~`
    and `masked_fill` do not do with it what they do with a mask), and a tensor of floating-point
    numbers is none of whole ones.

    Args:
        yours, expected: plain values.
        rtol, atol: as in `torch.testing.assert_close`.
        where: which part of the answer this is ("[0]['a']"); for values inside lists and
            dictionaries.
    """
    if type(yours) is Tensor and yours.dim() == 0 and type(expected) in (bool, int, float):
        yours = yours.item()
    if isinstance(expected, Tensor):
        return (
            _tensors(yours, expected, rtol, atol, where)
            if type(yours) is Tensor
            else _type(yours, expected, where)
        )
    if isinstance(expected, list | tuple):
        return (
            _sequences(yours, expected, rtol, atol, where)
            if isinstance(yours, list | tuple)
            else _type(yours, expected, where)
        )
    if isinstance(expected, dict):
        return (
            _dictionaries(yours, expected, rtol, atol, where)
            if type(yours) is dict
            else _type(yours, expected, where)
        )
    number = type(expected) in (int, float) and type(yours) in (bool, int, float)
    if type(yours) is not type(expected) and not number:
        return _type(yours, expected, where)
    same = _close(yours, expected, rtol, atol) if number else yours == expected
    if same:
        return None
    if yours in (math.inf, -math.inf) or yours != yours:
        return Difference("nan", f"{subject(where)} is {yours}, not a finite number.")
    return Difference("values", f"{subject(where)} is {shown(yours)}; expected {shown(expected)}.")


def _type(yours: Any, expected: Any, where: str) -> Difference:
    hint = ""
    if yours is None:
        hint = " A function without `return` gives None."
    elif isinstance(expected, int | float) and isinstance(yours, Tensor) and yours.numel() == 1:
        hint = " `.item()` takes the number out of such a tensor."
    elif isinstance(expected, Tensor) and isinstance(yours, Foreign) and "ndarray" in yours.kind:
        hint = " `torch.from_numpy` makes a tensor of it; better, stay with torch throughout."
    elif isinstance(expected, Tensor) and type(yours) in (int, float) and not expected.dim():
        hint = " Leave out the `.item()` or `float()` that has made a number of it."
    elif type(expected) is list and type(yours) is Tensor and not _tensors_in(expected):
        hint = " `.tolist()` makes a list of it."
    elif type(expected) is tuple and type(yours) is Tensor and not _tensors_in(expected):
        hint = " `tuple(t.tolist())` makes one of a tensor t."
    elif isinstance(expected, Tensor) and isinstance(yours, list | tuple):
        right = [i for i, part in enumerate(yours[:PARTS]) if difference(part, expected) is None]
        hint = f" Element {right[0]} of it is right: return that one alone." if right else ""
    elif isinstance(expected, list | tuple) and isinstance(yours, Tensor):
        right = [i for i, part in enumerate(expected) if difference(yours, part) is None]
        hint = f" It is element {right[0]} of these." if right else ""
    elif isinstance(yours, Foreign):
        hint = FOREIGN_HINTS.get(yours.kind, "")
    return Difference(
        "type",
        f"{subject(where)} is {kind_of(yours)}; expected {kind_of(expected)}.{hint}",
        "nothing_returned" if yours is None and not where else "",
    )


def _tensors_in(values: list | tuple) -> bool:
    return any(isinstance(value, Tensor) for value in values)


def _sequences(
    yours: list | tuple, expected: list | tuple, rtol: float, atol: float, where: str
) -> Difference | None:
    if len(yours) != len(expected):
        both = (
            f": {listed(yours)} instead of {listed(expected)}"
            if _few_values(expected) and _few_values(yours)
            else ""
        )
        return Difference(
            "length",
            f"{subject(where)} has {len(yours)} elements; expected {len(expected)}{both}.",
        )
    for i, (mine, right) in enumerate(zip(yours, expected, strict=True)):
        if type(mine) is type(right) and type(right) in PLAIN and mine == right:
            continue  # so are most, in a long list of words
        found = difference(mine, right, rtol, atol, f"{where}[{i}]")
        if found and found.kind == "values" and _few_values(expected) and _few_values(yours):
            return Difference(
                "values", f"{subject(where)} is {listed(yours)}; expected {listed(expected)}."
            )
        if found:
            return found
    return None


def _few_values(expected: list | tuple) -> bool:
    """Whether it can be shown whole, as an edge of a tree or a span can."""
    return len(expected) <= LISTED and all(
        isinstance(value, bool | int | float | str) for value in expected
    )


def _dictionaries(
    yours: dict, expected: dict, rtol: float, atol: float, where: str
) -> Difference | None:
    missing = [key for key in expected if key not in yours]
    extra = [key for key in yours if key not in expected]
    if missing or extra:
        parts = [
            f"lacks the key {shown(missing[0])}" if missing else "",
            f"has the key {shown(extra[0])}, not asked for" if extra else "",
        ]
        return Difference("length", f"{subject(where)} {' and '.join(filter(None, parts))}.")
    for key, right in expected.items():
        found = difference(yours[key], right, rtol, atol, f"{where}[{shown(key)}]")
        if found:
            return found
    return None


def _tensors(
    yours: Tensor, expected: Tensor, rtol: float, atol: float, where: str
) -> Difference | None:
    if yours.shape != expected.shape:
        transposed = sorted(yours.shape) == sorted(expected.shape)
        hint = " Those are the same sizes in another order." if transposed else ""
        text = (
            f"{subject(where)} has shape {tuple(yours.shape)}; expected "
            f"{tuple(expected.shape)}.{hint}"
        )
        return Difference("shape", text)
    if not _same_kind(yours, expected):
        text = f"{subject(where)} has dtype {_dtype(yours)}; expected {_dtype(expected)}."
        return Difference("dtype", text)
    if expected.is_floating_point() or expected.is_complex():
        wide = torch.promote_types(yours.dtype, expected.dtype)
        wrong = ~torch.isclose(
            yours.to(wide), expected.to(wide), rtol=rtol, atol=atol, equal_nan=True
        )
    else:
        wrong = yours != expected
    if not wrong.any():
        return None
    return _not_finite(yours, expected, where) or Difference(
        "values", partial(_values_differ, yours, expected, wrong, rtol, atol, where)
    )


def _same_kind(yours: Tensor, expected: Tensor) -> bool:
    """Whether both hold truth values, whole numbers or numbers; whole numbers will do for numbers,
    and truth values for either.
    """
    if expected.dtype == torch.bool:
        return yours.dtype == torch.bool
    return not (yours.is_complex() and not expected.is_complex()) and (
        expected.is_floating_point() or not yours.is_floating_point()
    )


def _not_finite(yours: Tensor, expected: Tensor, where: str) -> Difference | None:
    """NaN or infinity where a finite number belongs."""
    bad = ~torch.isfinite(yours) & torch.isfinite(expected)
    if not bad.any():
        return None
    what = "NaN" if yours[bad].isnan().any() else "infinite"
    hint = " 0/0, ∞ - ∞ and a softmax over nothing but -∞ give NaN." if what == "NaN" else ""
    places = (
        f" in {int(bad.sum())} of {bad.numel()} places, first at {bad.nonzero()[0].tolist()}"
        if bad.numel() > 1
        else ""
    )
    text = f"{subject(where)} is {what}{places}.{hint}"
    return Difference("nan", text)


def _values_differ(
    yours: Tensor, expected: Tensor, wrong: Tensor, rtol: float, atol: float, where: str
) -> str:
    """Which entries differ, and by how much."""
    square = yours.dim() >= 2 and yours.shape[-1] == yours.shape[-2]
    if square and torch.allclose(
        yours.mT.double(), expected.double(), rtol=rtol, atol=atol, equal_nan=True
    ):
        return f"{subject(where)} is the transpose of what it should be."
    examples = [
        f"[{', '.join(map(str, index))}] is {shown(yours[tuple(index)].item())}, expected "
        f"{shown(expected[tuple(index)].item())}"
        for index in wrong.nonzero()[:SHOWN].tolist()
    ]
    count, total = int(wrong.sum()), wrong.numel()
    if total == 1:
        return f"{subject(where)} is {shown(yours.item())}; expected {shown(expected.item())}."
    largest = ""
    if expected.is_floating_point():
        gaps = (yours.double() - expected.double()).abs()
        largest = (
            f", by up to {gaps[gaps.isfinite()].max().item():.3g}" if gaps.isfinite().any() else ""
        )
    return (
        f"{subject(where)} differs in {count} of {total} values{largest}: "
        f"{'; '.join(examples)}{' …' if count > SHOWN else '.'}"
    )


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _close(yours: int | float, expected: int | float, rtol: float, atol: float) -> bool:
    if yours == expected or (yours != yours and expected != expected):
        return True
    if math.inf in (abs(yours), abs(expected)):
        return False
    try:
        return abs(yours - expected) <= atol + rtol * abs(expected)
    except OverflowError:  # an integer too large for a float
        return False
