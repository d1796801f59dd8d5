"""Training mode and evaluation mode: switched for a while, and put back part by part.

`model.train()` switches every part on, also one that somebody had frozen with `.eval()`; so what
was is noted, and put back.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn

Modes = list[tuple[nn.Module, bool]]


def modes_of(model: Any) -> Modes:
    """Each part of a model, and whether it is in training mode; nothing for what is no
    `nn.Module`.
    """
    return (
        [(part, part.training) for part in model.modules()] if isinstance(model, nn.Module) else []
    )


def set_modes(modes: Modes) -> None:
    """Put each part back into its mode."""
    for part, training in modes:
        part.training = training


def check_at_rest(model: nn.Module) -> None:
    """Refuse a model that is to be read and is in training mode."""
    if model.training:
        raise ValueError(
            "the model is in training mode, where dropout makes every reading another one: call "
            "model.eval() first"
        )


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """Switch the model's dropout off; afterwards, also after an error, each part is in the mode in
    which it was.
    """
    modes = modes_of(model)
    if modes:
        model.eval()
    try:
        yield
    finally:
        set_modes(modes)
