"""Everything a training run needs to go on as if it had never stopped, in one file (chapter 8).

The file is a safetensors file: tensors under names such as `model.<name>` and
`optimizer.<parameter's number>.<name>`, and in its header, as JSON, what is no tensor. What JSON
would change (tuples, numbers as keys) is written with its kind, see `_described`. No pickle:
reading it runs no code. It is written beside the old one and then takes its place in one step, so
that whenever the machine stops, one whole checkpoint is there.
"""

import json
import random
from collections import Counter, OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from lectures_lib.files import written_whole

VERSION = "2"
KIND = "!"  # marks, in the header, what JSON has no word for


class CheckpointError(RuntimeError):
    """A checkpoint that cannot be read, written, or does not belong to this run. The message says
    why.
    """


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
        model, optimizer, scheduler: what is trained, by what, and what sets the learning rate, if
            anything.
        generators: the state of every process's random generators, as `random_state` gives it.
        facts: anything else to keep that JSON can hold: the step, the place in the data, the losses
            so far.

    Raises:
        CheckpointError: if a weight is not finite (a checkpoint must be a place worth going back
            to), or for something that cannot be written without pickle; the message names it.
    """
    weights = _named_once(model.state_dict())
    broken = [
        name
        for name, weight in weights.items()
        if weight.is_floating_point() and not weight.isfinite().all()
    ]
    if broken:
        raise CheckpointError(
            f"not written, and {path} left as it was: there are NaN or infinite numbers in "
            f"{', '.join(broken)}"
        )
    tensors = {f"model.{name}": weight for name, weight in weights.items()}
    header = _header(optimizer, scheduler, tensors)
    header |= {
        "generators": _described(generators, "generators", tensors),
        "facts": _described(facts, "facts", tensors),
    }

    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"version": VERSION, "state": json.dumps(header)}
    with written_whole(path) as draft:
        save_file(_apart(tensors), draft, metadata)


def load(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scheduler: Any | None,
    process: int = 0,
    check: Callable[[dict[str, Any], int], None] = lambda facts, n_processes: None,
) -> tuple[dict[str, Any], int]:
    """Put a checkpoint's state into model, optimizer, scheduler and this process's random
    generators; nothing of it, if the checkpoint is refused.

    Args:
        path: the file.
        model, optimizer, scheduler: as `save` was given them.
        process: which of the processes this is, from 0.
        check: called with what is returned, before anything is put in: raises what it refuses.

    Returns:
        The facts that were kept with it, and the number of processes that trained it.

    Raises:
        FileNotFoundError: where there is no file.
        CheckpointError: if it is damaged, or is that of another model, optimizer or scheduler, or
            of fewer processes.
    """
    if not path.exists():
        raise FileNotFoundError(f"no checkpoint {path}")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no dictionary)
    except SafetensorError as error:
        raise CheckpointError(
            f"{path} is damaged ({error}): delete it and start again, or name another"
        ) from error
    if metadata.get("version") not in ("1", VERSION):
        raise CheckpointError(f"{path} is not a checkpoint of version {VERSION} of this library")
    header = (
        _of_version_1(metadata, tensors)
        if metadata["version"] == "1"
        else _made(json.loads(metadata["state"]), tensors)
    )
    if process >= len(header["generators"]) or (header["scheduler"] is None) != (scheduler is None):
        raise CheckpointError(
            f"{path} was written by {len(header['generators'])} process(es), "
            f"with{'out' * (header['scheduler'] is None)} a scheduler: resume it the same way"
        )
    now = [_kind(optimizer), _kind(scheduler)]
    if header.get("kinds", now) != now:
        raise CheckpointError(
            f"{path} was written with {' and '.join(header['kinds'])}; this run has "
            f"{' and '.join(now)}"
        )
    weights, saved = _named_once(model.state_dict()), _below("model.", tensors)
    _check_weights(path, weights, saved)
    check(header["facts"], len(header["generators"]))
    # before the weights: torch refuses another optimizer's state before it takes any of it
    _load_optimizer(path, optimizer, header["optimizer"], header["param_groups"])
    with torch.no_grad():
        for name, weight in weights.items():
            weight.copy_(saved[name])
    if scheduler is not None:
        scheduler.load_state_dict(header["scheduler"])
    set_random_state(header["generators"][process])
    return header["facts"], len(header["generators"])


def check_can_be_saved(optimizer: torch.optim.Optimizer, scheduler: Any | None) -> None:
    """Refuse, before a long run, an optimizer or a scheduler whose state `save` could not write.

    Raises:
        CheckpointError: the message names what cannot be written, and its type.
    """
    json.dumps(_header(optimizer, scheduler, {}))


def random_state() -> dict[str, Any]:
    """The state of this process's random generators: Python's, NumPy's, torch's, and the GPU's if
    there is one.
    """
    kind, keys, *rest = numpy.random.get_state()
    state = {
        "python": random.getstate(),
        "numpy": [kind, keys.tolist(), *rest],
        "torch": torch.get_rng_state(),
    }
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
    """A state dict without second names: a matrix shared by embedding and output stands in it under
    both their names.
    """
    first_names: dict[tuple, str] = {}
    for name, tensor in state.items():
        first_names.setdefault(
            (tensor.data_ptr(), tuple(tensor.shape)) if tensor.numel() else (name,), name
        )
    return {name: state[name] for name in first_names.values()}


def _below(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }


def _check_weights(path: Path, own: dict[str, Tensor], saved: dict[str, Tensor]) -> None:
    if {name: weight.shape for name, weight in own.items()} != {
        name: weight.shape for name, weight in saved.items()
    }:
        wrong = sorted(
            n
            for n in own.keys() | saved.keys()
            if n not in own or n not in saved or own[n].shape != saved[n].shape
        )
        raise CheckpointError(
            f"{path} is that of another model; {len(wrong)} weights differ in name or shape, the "
            f"first: {wrong[0]}"
        )


def _load_optimizer(
    path: Path,
    optimizer: torch.optim.Optimizer,
    state: dict[int, dict[str, Any]],
    param_groups: list[dict],
) -> None:
    try:
        optimizer.load_state_dict({"state": state, "param_groups": param_groups})
    except ValueError as error:
        raise CheckpointError(f"{path} is that of another optimizer ({error})") from error
    numbers = [number for group in param_groups for number in group["params"]]
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for number, parameter in zip(numbers, parameters, strict=True):
        # torch has put the tensors where they belong, but some of them in the parameter's type
        if number in state:
            optimizer.state[parameter] = _typed_as(state[number], optimizer.state[parameter])


def _typed_as(saved: Any, loaded: Any) -> Any:
    """What was loaded, every tensor of it in the type in which it was saved."""
    if isinstance(saved, Tensor):
        return loaded if loaded.dtype == saved.dtype else saved.to(loaded.device)
    if isinstance(saved, dict):
        return type(saved)((key, _typed_as(value, loaded[key])) for key, value in saved.items())
    if isinstance(saved, (list, tuple)):
        return type(saved)(_typed_as(*pair) for pair in zip(saved, loaded, strict=True))
    return saved


# ------------------------------------------------------------------------- values as JSON, and back


def _header(
    optimizer: torch.optim.Optimizer, scheduler: Any | None, tensors: dict[str, Tensor]
) -> dict[str, Any]:
    """What the header says of optimizer and scheduler; their tensors join `tensors`."""
    state = optimizer.state_dict()
    return {
        "kinds": [_kind(optimizer), _kind(scheduler)],
        "optimizer": _described(state["state"], "optimizer", tensors),
        "param_groups": _described(state["param_groups"], "param_groups", tensors),
        "scheduler": None
        if scheduler is None
        else _described(scheduler.state_dict(), "scheduler", tensors),
    }


def _kind(thing: Any) -> str:
    """The name of its class; of a scheduler made of others, theirs too."""
    parts = getattr(thing, "_schedulers", ())
    return type(thing).__name__ + (f"({', '.join(map(_kind, parts))})" if parts else "")


def _described(value: Any, name: str, tensors: dict[str, Tensor]) -> Any:
    """A value as JSON that `_made` makes the same value of: types and keys come back as they were.

    Args:
        value: numbers, text, None, tensors, NumPy's numbers and arrays, and lists, tuples, sets and
            dictionaries of them.
        name: what to call it in the file.
        tensors: where its tensors are put, under their names.

    Raises:
        CheckpointError: for anything else, by its name and type.
    """
    if value is None or isinstance(value, (bool, str)) or type(value) in (int, float):
        return value
    if isinstance(value, Tensor) and value.layout == torch.strided and not value.is_quantized:
        tensors[name] = value
        return {KIND: "tensor", "name": name}
    if isinstance(value, (numpy.generic, numpy.ndarray)) and value.dtype.kind in "biuf":
        return {
            KIND: "numpy",
            "dtype": str(value.dtype),
            "array": isinstance(value, numpy.ndarray),
            "items": value.tolist(),
        }
    if type(value) in (list, tuple, set, frozenset):
        items = [_described(item, f"{name}.{i}", tensors) for i, item in enumerate(value)]
        return items if isinstance(value, list) else {KIND: type(value).__name__, "items": items}
    if type(value) in (dict, Counter, OrderedDict):
        pairs = [(key, _described(item, f"{name}.{key}", tensors)) for key, item in value.items()]
        if type(value) is dict and all(type(key) is str and key != KIND for key in value):
            return dict(pairs)
        return {
            KIND: type(value).__name__,
            "items": [[_described(key, f"{name}'s keys", {}), item] for key, item in pairs],
        }
    raise CheckpointError(
        f"{name} is a {type(value).__name__}, which a checkpoint cannot hold: it would need "
        f"pickle, which can run any code"
    )


_KINDS = {
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "dict": dict,
    "Counter": Counter,
    "OrderedDict": OrderedDict,
}


def _made(described: Any, tensors: dict[str, Tensor]) -> Any:
    """The value that `_described` described."""
    if isinstance(described, list):
        return [_made(item, tensors) for item in described]
    if not isinstance(described, dict):
        return described
    kind = described.get(KIND)
    if kind is None:
        return {key: _made(item, tensors) for key, item in described.items()}
    if kind == "tensor":
        # where a fresh tensor would lie: sums can depend on how memory is aligned
        return tensors[described["name"]].clone()
    if kind == "numpy":
        array = numpy.array(described["items"], dtype=described["dtype"])
        return array if described["array"] else array[()]
    items = _made(described["items"], tensors)
    return (
        _KINDS[kind](items)
        if kind in ("tuple", "set", "frozenset")
        else _KINDS[kind](dict(map(tuple, items)))
    )


def _of_version_1(metadata: dict[str, str], tensors: dict[str, Tensor]) -> dict[str, Any]:
    """The header of an older checkpoint, in which pairs had become lists, and a schedule's
    milestones text.
    """

    def with_numbers(found: dict[str, Any]) -> dict[Any, Any]:
        return (
            Counter({int(key): n for key, n in found.items()})
            if found and all(key.isdecimal() for key in found)
            else found
        )

    header = json.loads(metadata["state"], object_hook=with_numbers)
    groups = [
        {k: tuple(v) if isinstance(v, list) and k != "params" else v for k, v in group.items()}
        for group in header["param_groups"]
    ]
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in _below("optimizer.", tensors).items():
        number, _, key = name.partition(".")
        state.setdefault(int(number), {})[key] = tensor.clone()
    generators = [
        kept | _below(f"generator.{process}.", tensors)
        for process, kept in enumerate(header["generators"])
    ]
    return header | {"param_groups": groups, "optimizer": state, "generators": generators}


def _apart(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors as a file can hold them: no two of them share memory."""
    apart, seen = {}, set()
    for name, tensor in tensors.items():
        whole = tensor.detach().contiguous()
        place = (whole.device, whole.untyped_storage().data_ptr())
        apart[name] = whole.clone() if place in seen else whole
        seen.add(place)
    return apart
