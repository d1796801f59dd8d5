"""Everything a training run needs to go on as if it had never stopped, in one file (chapter 8).

The file is a safetensors file: tensors under names such as `model.<name>` and `optimizer.<parameter's number>.<name>`, and in its
header, as JSON, what is no tensor. No pickle: reading it runs no code. It is written beside the old one and then takes its place
in one step, so that whenever the machine stops, one whole checkpoint is there.
"""

import json
import os
import random
from pathlib import Path
from typing import Any

import numpy
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

VERSION = "1"


class CheckpointError(RuntimeError):
    """A checkpoint that cannot be read, written, or does not belong to this run. The message says why."""


def save(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scheduler: Any | None,
    generators: list[dict[str, Any]],
    facts: dict[str, Any],
) -> None:
    """Write a checkpoint; the one that was there stays until the new one is complete.

    Args:
        path: the file.
        model, optimizer, scheduler: what is trained, by what, and what sets the learning rate, if anything.
        generators: the state of every process's random generators, as `random_state` gives it.
        facts: anything else to keep that JSON can hold: the step, the place in the data, the losses so far.

    Raises:
        CheckpointError: if a weight is not finite. A checkpoint must be a place worth going back to.
    """
    weights = _named_once(model.state_dict())
    broken = [name for name, weight in weights.items() if weight.is_floating_point() and not weight.isfinite().all()]
    if broken:
        raise CheckpointError(f"not written, and {path} left as it was: there are NaN or infinite numbers in {', '.join(broken)}")
    tensors = {f"model.{name}": weight for name, weight in weights.items()}
    state = optimizer.state_dict()
    for number, kept in state["state"].items():
        tensors |= {f"optimizer.{number}.{name}": value for name, value in kept.items() if value is not None}
    header = {
        "facts": facts,
        "param_groups": state["param_groups"],
        "scheduler": scheduler.state_dict() if scheduler is not None else None,
        "generators": [{name: value for name, value in g.items() if not isinstance(value, Tensor)} for g in generators],
    }
    for process, generator in enumerate(generators):
        tensors |= {f"generator.{process}.{name}": value for name, value in generator.items() if isinstance(value, Tensor)}

    draft = path.with_name(path.name + ".draft")
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"version": VERSION, "state": json.dumps(header)}
    save_file({name: tensor.detach().contiguous() for name, tensor in tensors.items()}, draft, metadata)
    with open(draft, "rb") as file:
        os.fsync(file.fileno())  # on the disk before the name points to it, else a power cut could leave a name without a file
    os.replace(draft, path)


def load(
    path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, scheduler: Any | None, process: int = 0
) -> tuple[dict[str, Any], int]:
    """Put a checkpoint's state into model, optimizer, scheduler and this process's random generators.

    Returns:
        The facts that were kept with it, and the number of processes that trained it.

    Raises:
        FileNotFoundError: where there is no file.
        CheckpointError: if it is damaged, or is that of another model, optimizer or scheduler, or of fewer processes.
    """
    if not path.exists():
        raise FileNotFoundError(f"no checkpoint {path}")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no dictionary)
    except SafetensorError as error:
        raise CheckpointError(f"{path} is damaged ({error}): delete it and start again, or name another") from error
    if metadata.get("version") != VERSION:
        raise CheckpointError(f"{path} is not a checkpoint of version {VERSION} of this library")
    header = json.loads(metadata["state"])
    if process >= len(header["generators"]) or (header["scheduler"] is None) != (scheduler is None):
        raise CheckpointError(
            f"{path} was written by {len(header['generators'])} process(es), with{'out' * (header['scheduler'] is None)} a scheduler: "
            f"resume it the same way"
        )
    _load_model(path, model, _below("model.", tensors))
    _load_optimizer(path, optimizer, _below("optimizer.", tensors), header["param_groups"])
    if scheduler is not None:
        scheduler.load_state_dict(header["scheduler"])
    set_random_state(header["generators"][process] | _below(f"generator.{process}.", tensors))
    return header["facts"], len(header["generators"])


def random_state() -> dict[str, Any]:
    """The state of this process's random generators: Python's, NumPy's, torch's, and the GPU's if there is one."""
    kind, keys, *rest = numpy.random.get_state()
    state = {"python": random.getstate(), "numpy": [kind, keys.tolist(), *rest], "torch": torch.get_rng_state()}
    if torch.cuda.is_available():
        state["cuda"] = torch.cuda.get_rng_state()
    return state


def set_random_state(state: dict[str, Any]) -> None:
    """Set the generators to what `random_state` gave, before or after it went through JSON."""
    version, numbers, gauss = state["python"]
    random.setstate((version, tuple(numbers), gauss))
    numpy.random.set_state(tuple(state["numpy"]))
    torch.set_rng_state(state["torch"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["cuda"])


def _named_once(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """A state dict without second names: a matrix shared by embedding and output stands in it under both their names."""
    first_names: dict[tuple, str] = {}
    for name, tensor in state.items():
        first_names.setdefault((tensor.data_ptr(), tuple(tensor.shape)) if tensor.numel() else (name,), name)
    return {name: state[name] for name in first_names.values()}


def _below(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _load_model(path: Path, model: nn.Module, saved: dict[str, Tensor]) -> None:
    own = _named_once(model.state_dict())
    if {name: weight.shape for name, weight in own.items()} != {name: weight.shape for name, weight in saved.items()}:
        wrong = sorted(n for n in own.keys() | saved.keys() if n not in own or n not in saved or own[n].shape != saved[n].shape)
        raise CheckpointError(f"{path} is that of another model; {len(wrong)} weights differ in name or shape, the first: {wrong[0]}")
    with torch.no_grad():
        for name, weight in own.items():
            weight.copy_(saved[name])


def _load_optimizer(path: Path, optimizer: torch.optim.Optimizer, saved: dict[str, Tensor], param_groups: list[dict]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in saved.items():
        number, _, key = name.partition(".")
        state.setdefault(int(number), {})[key] = tensor
    try:
        optimizer.load_state_dict({"state": state, "param_groups": param_groups})
    except ValueError as error:
        raise CheckpointError(f"{path} is that of another optimizer ({error})") from error
