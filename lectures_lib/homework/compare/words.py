"""A value in a student's words, whole or in a few characters; an argument by its name."""

import re
from typing import Any

from torch import Tensor

from lectures_lib.homework.inside.values import Foreign

# how many differing entries a message names: enough to see a pattern, not the whole answer
SHOWN = 3


def subject(where: str) -> str:
    """What a message speaks of: the result, or the part of it that is named."""
    return f"`result{where}`" if where else "The result"


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
        complex: "a complex number",
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


def listed(values: list | tuple) -> str:
    """A list or tuple with all that is in it."""
    inside = ", ".join(map(shown, values))
    return f"({inside})" if isinstance(values, tuple) else f"[{inside}]"


def by_name(name: str, arguments: tuple[str, ...]) -> str:
    """ "argument 2[0]" → "words[0]", if the second of these arguments is called so. What is no
    argument, or has no name, stays as it is.
    """
    found = re.match(r"argument (\d+)", name)
    if not found or int(found[1]) > len(arguments):
        return name
    return arguments[int(found[1]) - 1] + name[found.end() :]


def keyed_by_name(gradients: Any, arguments: tuple[str, ...]) -> Any:
    """The same gradients, an argument's under its name, unless a parameter is called so. What is no
    dictionary, or has other keys than names, stays as it is.
    """
    if not isinstance(gradients, dict) or not all(isinstance(name, str) for name in gradients):
        return gradients
    return {
        name if (called := by_name(name, arguments)) in gradients else called: gradient
        for name, gradient in gradients.items()
    }
