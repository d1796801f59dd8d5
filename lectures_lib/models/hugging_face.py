"""Real weights: read a Hugging Face checkpoint and give its tensors our names, and write one
(chapters 8, 11 and 12).

This module knows no model. A model's module holds its key map, a dictionary from names in the
checkpoint to names in our state dict, where `{i}` and the like stand for the part of a name that is
copied: `"layers.{i}.fc1.{kind}": "blocks.{i}.feed_forward.W_1.{kind}"`.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from lectures_lib.files import write_whole, written_whole

# Files that hold weights, the one we would rather read first. A .bin file is read without running
# any code in it.
WEIGHTS = ("model.safetensors", "pytorch_model.bin")


# Hugging Face's names of activations to ours; of several, the first is written.
ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_python": "gelu",
    "relu": "relu",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_new": "gelu_tanh",
    "gelu_tanh": "gelu_tanh",  # as older files of this library have it
    "silu": "swish",
    "swish": "swish",
}


def activation_written(name: str) -> str:
    """Hugging Face's name of one of our activations."""
    return next(theirs for theirs, ours in ACTIVATIONS.items() if ours == name)


def checkpoint_folder(name: str | Path, files: Sequence[str] = ("config.json", WEIGHTS[0])) -> Path:
    """The folder that holds a checkpoint: `name` itself if it is a folder here, else the hub's copy
    of it, fetched once.

    Args:
        name: a folder, or an id on the hub such as "Helsinki-NLP/opus-mt-en-de".
        files: what to fetch. Where the hub has no safetensors, older weights are fetched in their
            place.

    Raises:
        FileNotFoundError: where there is no such folder and the hub cannot be reached or does not
            know the id.
    """
    if Path(name).is_dir():
        return Path(name)
    try:
        from huggingface_hub import snapshot_download

        folder = Path(snapshot_download(str(name), allow_patterns=list(files)))
        if WEIGHTS[0] in files and not (folder / WEIGHTS[0]).exists():
            folder = Path(snapshot_download(str(name), allow_patterns=list(WEIGHTS[1:])))
        return folder
    # no network, offline by choice, not installed, no such id: for the reader it is all the same
    except Exception as error:
        raise FileNotFoundError(
            f"{str(name)!r} is no folder here, and could not be fetched from the hub: {error}"
        ) from error


def read_config(folder: Path) -> dict[str, Any]:
    """The checkpoint's config.json."""
    return json.loads((folder / "config.json").read_text(encoding="utf-8"))


def read_state(folder: Path) -> dict[str, Tensor]:
    """The checkpoint's tensors by name.

    Raises:
        FileNotFoundError: where the folder holds no file of weights.
        ValueError: for a damaged one.
    """
    for name in WEIGHTS:
        if (folder / name).exists():
            path = folder / name
            try:
                return (
                    load_file(path)
                    if path.suffix == ".safetensors"
                    else torch.load(path, map_location="cpu", weights_only=True)
                )
            except (SafetensorError, RuntimeError, EOFError, UnpicklingError) as error:
                size = path.stat().st_size
                raise ValueError(
                    f"{path} ({size:,} bytes) is damaged, or its download was cut off: {error}. "
                    f"Fetch it again"
                ) from error
    raise FileNotFoundError(f"{folder} holds no weights: neither {' nor '.join(WEIGHTS)}")


def label_names(theirs: Mapping[str, Any], n_classes: int) -> list[str] | None:
    """The names of the classes, where a checkpoint's config.json has them; Hugging Face's "LABEL_0"
    … are none.
    """
    named, numbered = theirs.get("id2label") or {}, _numbered(n_classes)
    names = [named.get(str(i), label) for i, label in enumerate(numbered)]
    return None if names == numbered else names


def labels_written(names: Sequence[str] | None, n_classes: int) -> dict[str, Any]:
    """The names of the classes as config.json has them; None: Hugging Face's "LABEL_0" …"""
    names = names or _numbered(n_classes)
    return {
        "id2label": {str(i): name for i, name in enumerate(names)},
        "label2id": {name: i for i, name in enumerate(names)},
    }


def _numbered(n_classes: int) -> list[str]:
    return [f"LABEL_{i}" for i in range(n_classes)]


def rename(
    state: Mapping[str, Tensor], key_map: Mapping[str, str], ignored: Sequence[str] = ()
) -> dict[str, Tensor]:
    """The same tensors under our names.

    Several names may become one of ours (tied weights that were saved more than once) if their
    tensors are equal.

    Args:
        state: the checkpoint's tensors.
        key_map: their names to ours, with `{placeholders}`.
        ignored: names, with placeholders, of tensors that we do not need.

    Raises:
        ValueError: for names that the map does not know, all of them listed; for tied weights that
            differ.
    """
    patterns = [(_pattern(theirs), ours) for theirs, ours in key_map.items()]
    skipped = [_pattern(name) for name in ignored]
    renamed: dict[str, Tensor] = {}
    unknown = []
    for name, tensor in state.items():
        if any(pattern.fullmatch(name) for pattern in skipped):
            continue
        found = next(
            ((match, ours) for pattern, ours in patterns if (match := pattern.fullmatch(name))),
            None,
        )
        if found is None:
            unknown.append(name)
            continue
        match, ours = found
        ours = ours.format(**match.groupdict())
        if ours in renamed and not torch.equal(renamed[ours], tensor):
            raise ValueError(
                f"{name} should equal what else becomes {ours}, but their values differ: these "
                f"weights are not tied"
            )
        renamed[ours] = tensor
    if unknown:
        raise ValueError(
            f"the checkpoint holds {len(unknown)} tensors that the key map does not know: "
            f"{', '.join(sorted(unknown))}"
        )
    return renamed


def rename_back(state: Mapping[str, Tensor], key_map: Mapping[str, str]) -> dict[str, Tensor]:
    """The way back: tensors under our names, given the checkpoint's. Of several names for one of
    ours, the map's first is used.

    Raises:
        ValueError: for names that the map does not lead to, all of them listed.
    """
    backwards: dict[str, str] = {}
    for theirs, ours in key_map.items():
        backwards.setdefault(ours, theirs)
    return rename(state, backwards)


def write_checkpoint(
    folder: str | Path, config: Mapping[str, Any], state: Mapping[str, Tensor]
) -> Path:
    """Write config.json and model.safetensors, the weights first: a folder with a config is whole.
    A config of before goes when the new weights come.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: tensor.detach().clone().contiguous() for name, tensor in state.items()}
    with written_whole(folder / WEIGHTS[0]) as draft:
        save_file(weights, draft, metadata={"format": "pt"})
        (folder / "config.json").unlink(missing_ok=True)
    write_whole(folder / "config.json", json.dumps(dict(config), indent=2) + "\n")
    return folder


def without_init(make: Callable[[], nn.Module]) -> nn.Module:
    """The model that `make` makes, without the time that drawing its first weights would take:
    others are to be loaded into it.

    Its tensors hold whatever was in memory. A buffer that its state dict leaves out must be
    computed anew when the model moves from "meta", as in `SinusoidalPositions`.
    """
    with torch.device("meta"):
        model = make()
    return model.to_empty(device="cpu")


def load_into(model: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Give the model these weights, every one of them.

    Raises:
        ValueError: for weights that are missing, too many, or of another shape: all of them, with
            both shapes.
    """
    own = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    given = {name: tuple(tensor.shape) for name, tensor in state.items()}
    problems = [f"{name} is missing" for name in own if name not in given]
    problems += [f"{name} is not in the model" for name in given if name not in own]
    problems += [
        f"{name} is {given[name]}, the model's {own[name]}"
        for name in own
        if name in given and own[name] != given[name]
    ]
    if problems:
        raise ValueError("the weights do not fit the model: " + "; ".join(problems))
    model.load_state_dict(dict(state))


def _pattern(template: str) -> re.Pattern[str]:
    """A template as a regular expression: each {placeholder} matches one part of a name, up to the
    next dot.
    """
    return re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^.]+)", re.escape(template)))
