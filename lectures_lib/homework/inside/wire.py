"""Frames between the grader and the sandbox: structure as JSON, tensors as safetensors, each with
its length in front. Never pickle.

A frame is 8 bytes (two lengths), a JSON text `{"head": ..., "tree": ...}`, and a safetensors blob
with the tensors that the tree names.
"""

import json
import struct
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from .values import DTYPES, Foreign

LENGTHS = struct.Struct(">II")
MAX_JSON = 4 << 20
MAX_BLOB = 72 << 20


class Garbled(Exception):
    """Bytes that are no frame of ours."""


def pack(head: dict, value: Any = None) -> bytes:
    """The frame that carries `head` (JSON) and `value` (made by `values.plain`).

    Raises:
        Garbled: if it would be larger than the other side accepts.
    """
    tensors: dict[str, Tensor] = {}
    text = json.dumps({"head": head, "tree": _tree(value, tensors)}).encode()
    blob = safetensors.torch.save(tensors) if tensors else b""
    if len(text) > MAX_JSON or len(blob) > MAX_BLOB:
        raise Garbled(f"too large to send: {len(text) + len(blob):,} bytes")
    return LENGTHS.pack(len(text), len(blob)) + text + blob


def lengths(header: bytes) -> tuple[int, int]:
    """How many bytes of JSON and of tensors follow this header.

    Raises:
        Garbled: if more than a frame may have.
    """
    text, blob = LENGTHS.unpack(header)
    if text > MAX_JSON or blob > MAX_BLOB:
        raise Garbled(f"a frame of {text + blob:,} bytes")
    return text, blob


def unpack(text: bytes, blob: bytes) -> tuple[dict, Any]:
    """Head and value of a frame. Whatever the bytes are, the outcome is a pair or `Garbled`."""
    try:
        frame = json.loads(text)
        tensors = safetensors.torch.load(blob) if blob else {}
        head = frame["head"]
        if not isinstance(head, dict):
            raise TypeError("the head of a frame is an object")
        return head, _value(frame["tree"], tensors)
    except Exception as error:  # json, safetensors and torch each have their own
        raise Garbled(f"{type(error).__name__}") from None


def _tree(value: Any, tensors: dict[str, Tensor]) -> Any:
    """`value` as JSON: `[kind, content]`, tensors put aside into `tensors`."""
    if isinstance(value, Tensor):
        if value.dtype not in DTYPES:
            return ["foreign", f"a tensor of {value.dtype}"]
        key = str(len(tensors))
        # two inputs may be views of one
        tensors[key] = value.clone(memory_format=torch.contiguous_format)
        return ["tensor", key]
    if isinstance(value, Foreign):
        return ["foreign", value.kind]
    if value is None or isinstance(value, bool | str):
        return ["is", value]
    if isinstance(value, int):
        return ["int", hex(value)]  # any size, and never mistaken for a float
    if isinstance(value, float):
        return ["float", value.hex()]
    if isinstance(value, dict):
        return ["dict", [[_tree(k, tensors), _tree(v, tensors)] for k, v in value.items()]]
    return [
        "tuple" if isinstance(value, tuple) else "list",
        [_tree(item, tensors) for item in value],
    ]


def _value(tree: Any, tensors: dict[str, Tensor]) -> Any:
    """The inverse of `_tree`; raises something on a tree that `_tree` cannot have made."""
    kind, content = tree
    if kind == "tensor":
        if tensors[content].dtype not in DTYPES:
            raise TypeError("a tensor of a kind that is never sent")
        return tensors[content]
    if kind == "is" and (content is None or isinstance(content, bool | str)):
        return content
    if kind == "foreign":
        return Foreign(str(content)[:300])
    if kind == "int":
        return int(content, 16)
    if kind == "float":
        return float.fromhex(content)
    if kind == "dict":
        return {_value(k, tensors): _value(v, tensors) for k, v in content}
    items = [_value(item, tensors) for item in content]
    return {"list": list, "tuple": tuple}[kind](items)
