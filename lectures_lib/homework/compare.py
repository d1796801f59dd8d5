"""Compare what an answer returned with what it should have: pure functions on plain values (see
`inside.values`).
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from lectures_lib.homework.inside.values import Foreign

# how many differing entries a message names: enough to see a pattern, not the whole answer
SHOWN = 3
LISTED = 8  # a list of so many numbers and words is shown whole
FOREIGN_HINTS = {
    "a generator": " A function with `yield` gives one; `list(…)` makes a list of it.",
    "a coroutine": " An `async def` gives one when it is called; write `def`.",
    "a map": " `list(…)` makes a list of it.",
    "a zip": " `list(…)` makes a list of it.",
}
NOISE = 1e-6  # of the largest gradient: so much may be left of a 0
TOGETHER = 1.45  # what the spread of a sum may be off by, over 200 draws or more


@dataclass(frozen=True)
class Difference:
    """How a value differs from the expected one.

    Attributes:
        kind: "type", "length", "shape", "dtype", "nan", "values" or "gradient".
        message: a sentence or two to the student.
        mistake: its name, where the difference itself says which mistake it is.
    """

    kind: str
    message: str
    mistake: str = ""


def difference(
    yours: Any, expected: Any, rtol: float = 1e-4, atol: float = 1e-5, where: str = ""
) -> Difference | None:
    """What is wrong with `yours`, or None where it is right.

    Right values count whatever carries them: a list for a tuple, float64 for float32, int32 for
    int64, a tensor of no axes for a number. Booleans are no numbers, and a tensor of floating-point
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
    number = type(expected) in (int, float) and type(yours) in (int, float)
    if type(yours) is not type(expected) and not number:
        return _type(yours, expected, where)
    same = _close(yours, expected, rtol, atol) if number else yours == expected
    if same:
        return None
    if yours in (math.inf, -math.inf) or yours != yours:
        return Difference("nan", f"{_subject(where)} is {yours}, not a finite number.")
    return Difference("values", f"{_subject(where)} is {shown(yours)}; expected {shown(expected)}.")


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
            message=f"{found.message}{text}argmax(dim=-1) makes predictions of them.",
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


def kind_of(value: Any) -> str:
    """What a value is, in a student's words: "a tensor of shape (2, 3)"."""
    if isinstance(value, Foreign):
        return value.kind
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    names = {
        type(None): "None",
        bool: "True or False",
        int: "an integer",
        float: "a number",
        str: "a string",
    }
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
    text = (
        repr(value)
        if value is None or isinstance(value, bool | int | complex | str)
        else kind_of(value)
    )
    return text if len(text) <= 80 else text[:77] + "…"


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
    ):
        return Difference("gradient", "Its gradients could not be read.")
    # A gradient that should be 0 may come out as noise, which depends on the kernel that computes
    # it. Up to a millionth of the largest of all counts as such.
    noise = NOISE * max(map(_largest, expected.values()), default=0.0)
    unlike = {
        name: _gradient_unlike(yours[name], expected[name], values, rtol, atol, noise)
        for name in expected
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
    reaches, should = (_reaches(gradient, noise) for gradient in (yours, expected))
    if reaches != should:
        return "other" if reaches else "cut"
    alike = torch.allclose(
        yours.double(),
        expected.double(),
        rtol=rtol,
        atol=atol + rtol * _largest(expected),
        equal_nan=True,
    )
    return "" if alike or not values else "other"


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


def draws_differ(yours: dict, expected: dict, n: int) -> Difference | None:
    """What is wrong with the mean and the spread of results over n draws; None where both may be
    those of the right answer.

    Args:
        yours, expected: {"mean": [tensor, …], "spread": [tensor, …], "together": [tensor, …]}.
        n: the number of draws.
    """
    found = _draws_shaped(yours, expected)
    if found:
        return found
    for i, spread in enumerate(expected["spread"]):
        where = "The result" if len(expected["spread"]) == 1 else f"Tensor {i} of the result"
        theirs, fixed = yours["spread"][i], spread < 1e-6
        often = f"over {n} calls in training mode"
        if (theirs[fixed] > 1e-5).any() or (theirs[~fixed] < 1e-6).any():
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
        if ((yours["mean"][i] - expected["mean"][i]).abs() > noise).any():
            return Difference("values", f"{where} has another mean than it should {often}.")
        found = _together_differ(yours["together"][i], expected["together"][i])
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


def _draws_shaped(yours: Any, expected: dict) -> Difference | None:
    """Whether these are means and spreads of the same shapes."""
    if not isinstance(yours, dict) or yours.keys() != expected.keys():
        return Difference("type", "The result holds no tensors that could be compared.")
    found = difference(
        [t * 0 for t in yours["spread"] if isinstance(t, Tensor)],
        [t * 0 for t in expected["spread"]],
    )
    for key in ("mean", "together"):
        found = found or difference(
            [t * 0 for t in yours[key] if isinstance(t, Tensor)], [t * 0 for t in expected[key]]
        )
    return found


def _subject(where: str) -> str:
    return f"`result{where}`" if where else "The result"


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
    elif isinstance(yours, Foreign):
        hint = FOREIGN_HINTS.get(yours.kind, "")
    return Difference(
        "type",
        f"{_subject(where)} is {kind_of(yours)}; expected {kind_of(expected)}.{hint}",
        "nothing_returned" if yours is None and not where else "",
    )


def _tensors_in(values: list | tuple) -> bool:
    return any(isinstance(value, Tensor) for value in values)


def _sequences(
    yours: list | tuple, expected: list | tuple, rtol: float, atol: float, where: str
) -> Difference | None:
    if len(yours) != len(expected):
        both = (
            f": {_listed(yours)} instead of {_listed(expected)}"
            if _few_values(expected) and _few_values(yours)
            else ""
        )
        return Difference(
            "length",
            f"{_subject(where)} has {len(yours)} elements; expected {len(expected)}{both}.",
        )
    for i, (mine, right) in enumerate(zip(yours, expected, strict=True)):
        found = difference(mine, right, rtol, atol, f"{where}[{i}]")
        if found and found.kind == "values" and _few_values(expected) and _few_values(yours):
            return Difference(
                "values", f"{_subject(where)} is {_listed(yours)}; expected {_listed(expected)}."
            )
        if found:
            return found
    return None


def _few_values(expected: list | tuple) -> bool:
    """Whether it can be shown whole, as an edge of a tree or a span can."""
    return len(expected) <= LISTED and all(
        isinstance(value, bool | int | float | str) for value in expected
    )


def _listed(values: list | tuple) -> str:
    inside = ", ".join(map(shown, values))
    return f"({inside})" if isinstance(values, tuple) else f"[{inside}]"


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
        return Difference("length", f"{_subject(where)} {' and '.join(filter(None, parts))}.")
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
            f"{_subject(where)} has shape {tuple(yours.shape)}; expected "
            f"{tuple(expected.shape)}.{hint}"
        )
        return Difference("shape", text)
    if not _same_kind(yours, expected):
        text = f"{_subject(where)} has dtype {_dtype(yours)}; expected {_dtype(expected)}."
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
        "values", _values_differ(yours, expected, wrong, rtol, atol, where)
    )


def _same_kind(yours: Tensor, expected: Tensor) -> bool:
    """Whether both hold truth values, whole numbers or numbers; whole numbers will do for
    numbers.
    """
    if torch.bool in (yours.dtype, expected.dtype):
        return yours.dtype == expected.dtype
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
    text = f"{_subject(where)} is {what}{places}.{hint}"
    return Difference("nan", text)


def _values_differ(
    yours: Tensor, expected: Tensor, wrong: Tensor, rtol: float, atol: float, where: str
) -> str:
    """Which entries differ, and by how much."""
    square = yours.dim() >= 2 and yours.shape[-1] == yours.shape[-2]
    if square and torch.allclose(
        yours.mT.double(), expected.double(), rtol=rtol, atol=atol, equal_nan=True
    ):
        return f"{_subject(where)} is the transpose of what it should be."
    examples = [
        f"[{', '.join(map(str, index))}] is {shown(yours[tuple(index)].item())}, expected "
        f"{shown(expected[tuple(index)].item())}"
        for index in wrong.nonzero()[:SHOWN].tolist()
    ]
    count, total = int(wrong.sum()), wrong.numel()
    if total == 1:
        return f"{_subject(where)} is {shown(yours.item())}; expected {shown(expected.item())}."
    largest = ""
    if expected.is_floating_point():
        gaps = (yours.double() - expected.double()).abs()
        largest = (
            f", by up to {gaps[gaps.isfinite()].max().item():.3g}" if gaps.isfinite().any() else ""
        )
    return (
        f"{_subject(where)} differs in {count} of {total} values{largest}: "
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
