"""An instance of a student's class, with the parameters that the question gives it."""

from typing import Any

import torch
from torch import Tensor, nn


class WrongParameters(Exception):
    """The class's parameters are not those that the question names."""


class NotAClass(Exception):
    """The question asks for a class and the answer is something else."""


def build(answer: Any, init: dict[str, Any], state: dict[str, Tensor] | None, train: bool) -> Any:
    """An instance of the student's class that holds the given parameters."""
    if not isinstance(answer, type):
        raise NotAClass(f"a class is asked for, and this is a {type(answer).__name__}")
    model = answer(**init)
    if state is not None:
        _load(model, state)
    return model.train(train) if isinstance(model, nn.Module) else model


def _load(model: Any, state: dict[str, Tensor]) -> None:
    """Copy the given parameters into those of the same names. Buffers, and further names of a
    parameter, are the student's own affair.

    Raises:
        WrongParameters: if a parameter is missing, not asked for, of another shape, or stands under
            two of the names asked for.
    """
    if not isinstance(model, nn.Module):
        raise WrongParameters("the class is not an nn.Module")
    theirs = dict(model.named_parameters(remove_duplicate=False))
    asked = {id(theirs[name]) for name in state if name in theirs}
    own = {
        name: tuple(tensor.shape)
        for name, tensor in theirs.items()
        if name in state or id(tensor) not in asked
    }
    shapes = {name: tuple(tensor.shape) for name, tensor in state.items()}
    if own != shapes:
        buffers = dict(model.named_buffers(remove_duplicate=False))
        raise WrongParameters(
            _parameters_differ(own, shapes, {name for name in shapes if name in buffers})
        )
    if len(asked) < len(state):
        names = [
            name for name in state if sum(theirs[name] is theirs[other] for other in state) > 1
        ]
        raise WrongParameters(
            f"one and the same parameter stands under several names: {', '.join(names)}"
        )
    with torch.no_grad():
        for name, tensor in state.items():
            theirs[name].copy_(tensor)


def _parameters_differ(theirs: dict[str, tuple], asked: dict[str, tuple], buffers: set[str]) -> str:
    """Which parameters are missing, not asked for, or of another shape."""
    missing = [
        f"{name} {asked[name]}" for name in asked if name not in theirs and name not in buffers
    ]
    fixed = [name for name in asked if name not in theirs and name in buffers]
    extra = [f"{name} {theirs[name]}" for name in theirs if name not in asked]
    other = [
        f"{name} is {theirs[name]} instead of {asked[name]}"
        for name in asked
        if name in theirs and theirs[name] != asked[name]
    ]
    parts = [
        f"missing: {', '.join(missing)}" if missing else "",
        f"a buffer, which training does not change, and no nn.Parameter: {', '.join(fixed)}"
        if fixed
        else "",
        f"not asked for: {', '.join(extra)}" if extra else "",
        f"of another shape: {', '.join(other)}" if other else "",
    ]
    return "; ".join(filter(None, parts))
