"""Looking on while a model computes: every layer's output and every head's weights, under stable
names (chapters 5, 12 and 16).

    with record(model) as seen:
        model(tokens)
    seen["encoder.blocks.0.self_attention.weights"]   (batch, n_heads, n, n)
    seen["encoder.blocks.0"]                          what the first block gives

The names are those of the model's parts, as in `model.named_modules()` and in its state dict; the
model's own code knows nothing of it.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import partial
from inspect import signature
from typing import Any

from torch import Tensor, nn

from lectures_lib.blocks.attention import DotProductAttention, attention_weights


class Recorded(dict[str, Any]):
    """What each part of a model gave, by its name; "" is the model itself. A part that ran several
    times has its last result here.

    Args:
        calls: for each name, all results in the order in which they came.
    """

    def __init__(self):
        super().__init__()
        self.calls: dict[str, list[Any]] = defaultdict(list)

    def note(self, name: str, result: Any) -> None:
        """Keep a result."""
        self[name] = result
        self.calls[name].append(result)

    def each(self, name: str) -> list[Any]:
        """All results of a part that ran several times. Raises KeyError where it did not run."""
        # the second names what there is
        return self.calls[name] if name in self.calls else self[name]

    def all(self, pattern: str) -> list[Any]:
        """What all parts gave whose names match, such as "encoder.blocks.*.self_attention.weights",
        in the order in which they first gave something.

        A star stands for one part of the name: "encoder.blocks.*" means the blocks, and not what is
        in them.

        Raises:
            KeyError: where none matches.
        """
        found = [result for name, result in self.items() if _matches(name, pattern)]
        return found if found else [self[pattern]]

    def __missing__(self, name: str) -> Any:
        near = get_close_matches(name, self, n=3, cutoff=0.3)
        what = (
            f"the nearest names are {', '.join(near)}"
            if near
            else "nothing has run in it yet"
            if not self
            else "no name is near"
        )
        raise KeyError(f"nothing was recorded under {name!r}: {what}")


@contextmanager
def record(model: nn.Module, only: str | None = None) -> Iterator[Recorded]:
    """Record what the parts of a model give while the block runs; for each attention also its
    weights, before dropout.

    The weights are computed from the same queries and keys once more, by the formula: the model's
    own path may be a fused kernel that never stores them.

    Args:
        model: what is looked at. Outside the block it is as it was before.
        only: a pattern that names must match to be kept, as in `Recorded.all`; None: everything is.
    """
    seen, hooks = Recorded(), []
    try:
        for name, part in model.named_modules():
            if isinstance(part, DotProductAttention):
                name, hook = f"{name.removesuffix('attention')}weights", _note_weights
            else:
                hook = _note_output
            if only is None or _matches(name, only):
                noting = partial(hook, seen, name)
                hooks.append(part.register_forward_hook(noting, with_kwargs=True))
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def _note_output(
    seen: Recorded,
    name: str,
    part: nn.Module,
    inputs: tuple[Any, ...],
    named: dict[str, Any],
    output: Any,
) -> None:
    seen.note(name, output)


def _note_weights(
    seen: Recorded,
    name: str,
    part: DotProductAttention,
    inputs: tuple[Any, ...],
    named: dict[str, Any],
    output: Tensor,
) -> None:
    given = signature(part.forward).bind(*inputs, **named).arguments
    seen.note(name, attention_weights(given["Q"], given["K"], given.get("mask")))


def _matches(name: str, pattern: str) -> bool:
    parts, wanted = name.split("."), pattern.split(".")
    return len(parts) == len(wanted) and all(
        fnmatchcase(p, w) for p, w in zip(parts, wanted, strict=True)
    )
