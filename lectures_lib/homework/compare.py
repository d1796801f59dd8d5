"""Compare what an answer returned with what it should have: pure functions on plain values (see `inside.values`)."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lectures_lib.homework.inside.values import Foreign

SHOWN = 3  # how many differing entries a message names: enough to see a pattern, not the whole answer


@dataclass(frozen=True)
class Difference:
    """How a value differs from the expected one.

    Attributes:
        kind: "type", "length", "shape", "dtype", "nan" or "values".
        message: a sentence or two to the student.
    """

    kind: str
    message: str


def difference(yours: Any, expected: Any, rtol: float = 1e-4, atol: float = 1e-5, where: str = "") -> Difference | None:
    """What is wrong with `yours`, or None where it is right. A list and a tuple of the same things count as equal.

    Args:
        yours, expected: plain values.
        rtol, atol: as in `torch.testing.assert_close`.
        where: which part of the answer this is ("element 0 of the tuple"); for values inside lists and dictionaries.
    """
    if isinstance(expected, Tensor):
        return _tensors(yours, expected, rtol, atol, where) if type(yours) is Tensor else _type(yours, expected, where)
    if isinstance(expected, list | tuple):
        return _sequences(yours, expected, rtol, atol, where) if isinstance(yours, list | tuple) else _type(yours, expected, where)
    if isinstance(expected, dict):
        return _dictionaries(yours, expected, rtol, atol, where) if type(yours) is dict else _type(yours, expected, where)
    number = type(expected) in (int, float) and type(yours) in (int, float)
    if type(yours) is not type(expected) and not number:
        return _type(yours, expected, where)
    same = _close(yours, expected, rtol, atol) if number else yours == expected
    if same:
        return None
    if yours in (math.inf, -math.inf) or yours != yours:
        return Difference("nan", f"{_subject(where)} is {yours}, not a finite number.")
    return Difference("values", f"{_subject(where)} is {shown(yours)}; expected {shown(expected)}.")


def too_few(yours: Any, expected: Any, share: float, rtol: float = 1e-4, atol: float = 1e-5) -> Difference | None:
    """What is wrong with predictions of which only a `share` must be right; None where enough of them are.

    Args:
        yours, expected: lists or tensors of predictions, one entry each. What is no such list of that length is simply wrong.
        share: from 0 to 1.
        rtol, atol: as in `difference`.
    """
    found = difference(yours, expected, rtol, atol)
    if found is None or found.kind != "values":
        return found
    right = sum(difference(one, other, rtol, atol) is None for one, other in zip(yours, expected, strict=True))
    needed = math.ceil(share * len(expected))
    if right >= needed:
        return None
    return Difference("values", f"{right} of {len(expected)} predictions are right; at least {needed} are needed.")


def kind_of(value: Any) -> str:
    """What a value is, in a student's words: "a tensor of shape (2, 3)"."""
    if isinstance(value, Foreign):
        return value.kind
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    names = {type(None): "None", bool: "True or False", int: "an integer", float: "a number", str: "a string"}
    if type(value) in names:
        return names[type(value)]
    names = {list: "a list", tuple: "a tuple", dict: "a dictionary"}
    return f"{names[type(value)]} of {len(value)}"


def shown(value: Any) -> str:
    """A value in a few characters."""
    if isinstance(value, float):
        return f"{value:.5g}"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**15:
        return f"about {float(value):.3g}" if abs(value) < 10**300 else "a very large integer"
    text = repr(value) if value is None or isinstance(value, bool | int | complex | str) else kind_of(value)
    return text if len(text) <= 80 else text[:77] + "…"


def _subject(where: str) -> str:
    return where[:1].upper() + where[1:] if where else "The result"


def _type(yours: Any, expected: Any, where: str) -> Difference:
    hint = ""
    if yours is None:
        hint = " Is a `return` missing?"
    elif isinstance(expected, int | float) and isinstance(yours, Tensor) and yours.numel() == 1:
        hint = " `.item()` takes the number out of such a tensor."
    elif isinstance(expected, Tensor) and isinstance(yours, Foreign) and "ndarray" in yours.kind:
        hint = " `torch.from_numpy` makes a tensor of it; better, stay with torch throughout."
    return Difference("type", f"{_subject(where)} is {kind_of(yours)}; expected {kind_of(expected)}.{hint}")


def _sequences(yours: list | tuple, expected: list | tuple, rtol: float, atol: float, where: str) -> Difference | None:
    name = "tuple" if isinstance(expected, tuple) else "list"
    if len(yours) != len(expected):
        return Difference("length", f"{_subject(where)} has {len(yours)} elements; expected {len(expected)}.")
    for i, (mine, right) in enumerate(zip(yours, expected, strict=True)):
        found = difference(mine, right, rtol, atol, f"element {i} of " + (where or f"the {name}"))
        if found and found.kind == "values" and where and _few_values(expected):
            return Difference("values", f"{_subject(where)} is {_listed(yours)}; expected {_listed(expected)}.")
        if found:
            return found
    return None


def _few_values(expected: list | tuple) -> bool:
    """Whether it can be shown whole, as an edge of a tree or a span can."""
    return len(expected) <= SHOWN and all(isinstance(value, bool | int | float | str) for value in expected)


def _listed(values: list | tuple) -> str:
    inside = ", ".join(map(shown, values))
    return f"({inside})" if isinstance(values, tuple) else f"[{inside}]"


def _dictionaries(yours: dict, expected: dict, rtol: float, atol: float, where: str) -> Difference | None:
    missing = [key for key in expected if key not in yours]
    extra = [key for key in yours if key not in expected]
    if missing or extra:
        parts = [f"lacks the key {shown(missing[0])}" if missing else "", f"has the key {shown(extra[0])}, not asked for" if extra else ""]
        return Difference("length", f"{_subject(where)} {' and '.join(filter(None, parts))}.")
    for key, right in expected.items():
        found = difference(yours[key], right, rtol, atol, f"entry {shown(key)} of " + (where or "the dictionary"))
        if found:
            return found
    return None


def _tensors(yours: Tensor, expected: Tensor, rtol: float, atol: float, where: str) -> Difference | None:
    if yours.shape != expected.shape:
        transposed = sorted(yours.shape) == sorted(expected.shape)
        hint = " The sizes are right, their order is not: is a `transpose` missing, or one too many?" if transposed else ""
        text = f"{_subject(where)} has shape {tuple(yours.shape)}; expected {tuple(expected.shape)}.{hint}"
        return Difference("shape", text)
    if yours.dtype != expected.dtype:
        text = f"{_subject(where)} has dtype {_dtype(yours)}; expected {_dtype(expected)}."
        return Difference("dtype", text)
    if expected.is_floating_point() or expected.is_complex():
        wrong = ~torch.isclose(yours, expected, rtol=rtol, atol=atol, equal_nan=True)
    else:
        wrong = yours != expected
    if not wrong.any():
        return None
    return _not_finite(yours, expected, where) or Difference("values", _values_differ(yours, expected, wrong, rtol, atol, where))


def _not_finite(yours: Tensor, expected: Tensor, where: str) -> Difference | None:
    """NaN or infinity where a finite number belongs."""
    bad = ~torch.isfinite(yours) & torch.isfinite(expected)
    if not bad.any():
        return None
    what = "NaN" if yours[bad].isnan().any() else "infinite"
    hint = " 0/0, ∞ - ∞ and a softmax over nothing but -∞ give NaN." if what == "NaN" else ""
    places = f" in {int(bad.sum())} of {bad.numel()} places, first at {bad.nonzero()[0].tolist()}" if bad.numel() > 1 else ""
    text = f"{_subject(where)} is {what}{places}.{hint}"
    return Difference("nan", text)


def _values_differ(yours: Tensor, expected: Tensor, wrong: Tensor, rtol: float, atol: float, where: str) -> str:
    """Which entries differ, and by how much."""
    square = yours.dim() >= 2 and yours.shape[-1] == yours.shape[-2]
    if square and torch.allclose(yours.mT.double(), expected.double(), rtol=rtol, atol=atol, equal_nan=True):
        return f"{_subject(where)} is the transpose of what it should be."
    examples = [
        f"[{', '.join(map(str, index))}] is {shown(yours[tuple(index)].item())}, expected {shown(expected[tuple(index)].item())}"
        for index in wrong.nonzero()[:SHOWN].tolist()
    ]
    count, total = int(wrong.sum()), wrong.numel()
    if total == 1:
        return f"{_subject(where)} is {shown(yours.item())}; expected {shown(expected.item())}."
    largest = ""
    if expected.is_floating_point():
        gaps = (yours.double() - expected.double()).abs()
        largest = f", by up to {gaps[gaps.isfinite()].max().item():.3g}" if gaps.isfinite().any() else ""
    return f"{_subject(where)} differs in {count} of {total} values{largest}: {'; '.join(examples)}{' …' if count > SHOWN else '.'}"


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
