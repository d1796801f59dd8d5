"""A model in a file of its own: its numbers in half precision, or its matrices in 8 bits, and its
sizes beside them.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from lectures_lib.files import written_whole
from lectures_lib.stored.differences import added, packed

FOLDER = Path(__file__).parent
DAMAGED = (SafetensorError, KeyError, RuntimeError, TypeError, ValueError)


def save_halves(model: nn.Module, path: Path) -> None:
    """Write a model's numbers in half precision, and its sizes beside them."""
    halves = {name: tensor.half().cpu().contiguous() for name, tensor in model.state_dict().items()}
    with written_whole(path) as draft:
        save_file(halves, draft, metadata={"config": json.dumps(asdict(model.config))})


def load_halves(
    path: Path, config: Callable[..., Any], model: Callable[[Any], nn.Module]
) -> nn.Module:
    """The model that `save_halves` wrote, in single precision and in evaluation mode.

    Args:
        path: the file.
        config: the class of its sizes.  model: makes the model of them.

    Raises:
        FileNotFoundError: where there is no such file.
        ValueError: for a file that is damaged.
    """
    return filled(path, config, model, lambda _, kept: {name: kept[name].float() for name in kept})


def save_eight_bits(model: nn.Module, path: Path) -> None:
    """Write a model's matrices in 8 bits, a scale for each row, the rest in half precision, and its
    sizes beside them: half of what `save_halves` takes. A page of the site fetches such a file.
    """
    state = {name: tensor.detach().cpu() for name, tensor in model.state_dict().items()}
    kept = packed(zeros(state), state, {name: 8 for name in state if state[name].dim() == 2})
    with written_whole(path) as draft:
        save_file(kept, draft, metadata={"config": json.dumps(asdict(model.config))})


def load_eight_bits(
    path: Path, config: Callable[..., Any], model: Callable[[Any], nn.Module]
) -> nn.Module:
    """The model that `save_eight_bits` wrote, in single precision and in evaluation mode: what the
    page computes with. Arguments and errors are those of `load_halves`.
    """
    return filled(path, config, model, lambda state, kept: added(zeros(state), kept))


def filled(
    path: Path,
    config: Callable[..., Any],
    model: Callable[[Any], nn.Module],
    numbers: Callable[[dict[str, Tensor], dict[str, Tensor]], dict[str, Tensor]],
) -> nn.Module:
    """A model of the sizes in a file, with the numbers that `numbers` makes of the model's own
    state and what the file holds. The other arguments and the errors are those of `load_halves`.
    """
    try:
        with safe_open(path, "pt") as file:
            sizes = json.loads(file.metadata()["config"])
        # None is what a size is by itself, and older files name one that is no more
        sizes = config(**{name: size for name, size in sizes.items() if size is not None})
        with torch.random.fork_rng(devices=[]):
            made = model(sizes)
        made.load_state_dict(numbers(made.state_dict(), load_file(path)))
    except DAMAGED as error:
        raise ValueError(f"{path} is damaged ({error}): install the package again") from error
    return made.eval()


def zeros(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Zeros of these shapes: a difference to them is the number itself."""
    return {name: torch.zeros_like(tensor) for name, tensor in state.items()}
