"""What is refused at the door, with what came and what is expected: sizes no model can have, lists in place of tensors, and the like."""

from collections.abc import Iterable
from dataclasses import fields
from numbers import Integral, Real
from operator import index
from typing import Any

import torch
from torch import Tensor

SHARES = ("dropout", "attention_dropout")
POSITIVE = ("eps", "init_std")


def check_config(config: Any, activations: Any = ()) -> None:
    """Refuse a configuration that no model can have: fields annotated `int` are sizes of 1 or more, dropouts shares, d_model fits n_heads.

    Args:
        config: a dataclass.
        activations: the names that its `activation` may have.

    Raises:
        TypeError: for a size or a share that is no number of its kind.
        ValueError: for one out of range, an unknown activation, or a d_model that n_heads does not divide.
    """
    for field in fields(config):
        value = getattr(config, field.name)
        if field.type in (int, "int"):
            check_size(field.name, value)
        elif field.name in SHARES and value is not None:
            check_share(field.name, value)
        elif field.name in POSITIVE and not (isinstance(value, Real) and value > 0):
            raise ValueError(f"{field.name} must be a number above 0, got {value!r}")
    activation = getattr(config, "activation", None)
    if activation is not None and activation not in activations:
        raise ValueError(f"no activation named {activation!r}; there are: {', '.join(activations)}")
    if hasattr(config, "n_heads") and config.d_model % config.n_heads:
        raise ValueError(f"d_model = {config.d_model} cannot be divided into n_heads = {config.n_heads} equal heads")


def check_size(name: str, value: Any) -> None:
    """Refuse what is no whole number of at least 1."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number of at least 1, got {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {name} = {value}")


def check_share(name: str, value: Any) -> None:
    """Refuse what is no share between 0 and 1."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} is a share between 0 and 1, got {value!r}")
    if not 0 <= value <= 1:
        raise ValueError(f"{name} is a share between 0 and 1, got {name} = {value}")


def check_whole_numbers(name: str, values: Any) -> None:
    """Refuse what is no tensor of whole numbers, such as a list, a mask, or numbers with a fraction.

    Raises:
        TypeError: for what is no tensor.
        ValueError: for a tensor of another type of numbers.
    """
    if not isinstance(values, Tensor):
        raise TypeError(f"{name} must be a tensor of whole numbers, got a {type(values).__name__}: write torch.tensor(…)")
    if values.dtype == torch.bool or values.is_floating_point() or values.is_complex():
        raise ValueError(f"{name} must be whole numbers, got {values.dtype} of shape {tuple(values.shape)}")


def whole_numbers(ids: Iterable[int]) -> list[int]:
    """Ids as Python's numbers, from a list, an array or a tensor with one dimension.

    Raises:
        TypeError: for text, whose characters could be taken for numbers, or an id that is no whole number.
    """
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise TypeError(f"token ids are needed, in a row; got a {type(ids).__name__}: {ids!r:.60}")
    found = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    try:
        return [index(i) for i in ([found] if isinstance(found, int) else found)]
    except TypeError:
        raise TypeError(f"token ids are whole numbers in a row, got {found!r:.60}") from None
