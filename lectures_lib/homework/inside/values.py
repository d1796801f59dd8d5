"""What an answer may return, reduced to values: nothing of a student's own type survives, so
nothing of theirs is ever called.
"""

from dataclasses import dataclass
from typing import Any

import numpy
import torch
from torch import Tensor, nn

MAX_ITEMS = 100_000  # entries of lists and dictionaries, together
MAX_DEPTH = 30
MAX_TEXT = 1_000_000  # characters of a string
MAX_TENSOR_BYTES = 32 << 20
DTYPES = (
    torch.float64, torch.float32, torch.float16, torch.bfloat16,
    torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool, torch.complex64,
)  # fmt: skip
_NUMPY = {
    kind
    for kind in numpy.sctypeDict.values()
    if issubclass(kind, numpy.bool_ | numpy.integer | numpy.floating)
}


@dataclass(frozen=True)
class Foreign:
    """Stands for a value of a kind that answers do not consist of: all that is kept is a
    description of its type.
    """

    kind: str


def plain(value: Any) -> Any:
    """A copy of `value` made of plain tensors, numbers, strings, None, lists, tuples and
    dictionaries.

    NumPy's own numbers become Python's. Of a named tuple or a Counter the items are kept, read with
    the plain type's own methods. A tensor or number of another type (a tensor that claims to equal
    everything) becomes `Foreign`, and so does what is too large. A GPU's tensors are brought to the
    CPU, gradients are dropped.
    """
    return _plain(value, depth=0, budget=[MAX_ITEMS])


def _plain(value: Any, depth: int, budget: list[int]) -> Any:
    kind = type(value)
    budget[0] -= 1
    if value is None or kind in (bool, float, int):
        return value
    if kind in _NUMPY:
        return (
            bool(value)
            if kind is numpy.bool_
            else int(value)
            if issubclass(kind, numpy.integer)
            else float(value)
        )
    if kind is str:
        return (
            value if len(value) <= MAX_TEXT else Foreign(f"a string of {len(value):,} characters")
        )
    if kind in (Tensor, nn.Parameter):
        return _plain_tensor(value)
    base = next((base for base in (list, tuple, dict) if issubclass(kind, base)), None)
    if base is None:
        return Foreign(_described(value))
    if depth >= MAX_DEPTH or base.__len__(value) > budget[0]:
        return Foreign(f"a {base.__name__} that is too large")
    if base is dict:
        return {_key(k): _plain(v, depth + 1, budget) for k, v in dict.items(value)}
    return base([_plain(item, depth + 1, budget) for item in base.__iter__(value)])


def _key(key: Any) -> Any:
    """A dictionary's key: kept where it is a string or a number."""
    key = _plain(key, MAX_DEPTH, [1]) if type(key) in _NUMPY else key
    return key if type(key) in (str, int, float, bool) or key is None else f"<{type(key).__name__}>"


def _plain_tensor(tensor: Tensor) -> Tensor | Foreign:
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.device.type == "meta":
        return Foreign("a tensor that is not dense")
    if tensor.dtype not in DTYPES:  # torch compares some of them with nothing
        return Foreign(f"a tensor of {tensor.dtype}")
    if tensor.numel() * tensor.element_size() > MAX_TENSOR_BYTES:
        return Foreign(f"a tensor of shape {tuple(tensor.shape)}, too large to be an answer")
    return (
        tensor.detach()
        .cpu()
        .resolve_conj()
        .resolve_neg()
        .clone(memory_format=torch.contiguous_format)
    )


def _described(value: Any) -> str:
    kind = type(value)
    name = str(getattr(kind, "__name__", kind))[:100]
    if isinstance(value, Tensor):
        return f"{name}, a subclass of Tensor"
    if isinstance(value, type):
        return f"the class {str(getattr(value, '__name__', ''))[:100]} itself, not a value"
    module = str(getattr(kind, "__module__", "builtins")).split(".")[0]
    if module not in ("builtins", "__main__"):
        name = f"{module} {name}"
    return f"an {name}" if name[:1].lower() in "aeio" else f"a {name}"
