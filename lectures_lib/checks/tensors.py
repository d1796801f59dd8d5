"""Tensors, and whole numbers in them."""

from collections.abc import Iterable
from operator import index
from typing import Any

import torch
from torch import Tensor


def check_tensor(name: str, given: Any, optional: bool = False) -> None:
    """Refuse what is no tensor."""
    if not isinstance(given, Tensor) and not (optional and given is None):
        raise TypeError(
            f"{name} must be a tensor, got a {type(given).__name__}: write torch.tensor(…)"
        )


def check_whole_numbers(name: str, values: Any) -> None:
    """Refuse what is no tensor of whole numbers, such as a list, a mask, or numbers with a
    fraction.

    Raises:
        TypeError: for what is no tensor.
        ValueError: for a tensor of another type of numbers.
    """
    if not isinstance(values, Tensor):
        raise TypeError(
            f"{name} must be a tensor of whole numbers, got a {type(values).__name__}: write "
            f"torch.tensor(…)"
        )
    if values.dtype == torch.bool or values.is_floating_point() or values.is_complex():
        raise ValueError(
            f"{name} must be whole numbers, got {values.dtype} of shape {tuple(values.shape)}"
        )


def whole_numbers(ids: Iterable[int] | Tensor) -> list[int]:
    """Ids as Python's numbers, from a list, an array or a tensor with one dimension.

    Raises:
        TypeError: for text, whose characters could be taken for numbers, or an id that is no whole
            number.
    """
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise TypeError(f"token ids are needed, in a row; got a {type(ids).__name__}: {ids!r:.60}")
    found = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    try:
        return [index(i) for i in ([found] if isinstance(found, int) else found)]
    except TypeError:
        raise TypeError(f"token ids are whole numbers in a row, got {found!r:.60}") from None
