"""MiniLM adapted to tasks: what is kept are thin matrices beside its layers (`tasks.low_rank`), and
a head.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from lectures_lib.checks.sizes import check_name
from lectures_lib.files import written_whole
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert
from lectures_lib.stored.whole_models import DAMAGED, FOLDER
from lectures_lib.tasks import low_rank
from lectures_lib.tasks.task_heads import (
    Head,
    SentenceClassifier,
    SentenceRegressor,
    SpanExtractor,
    TokenTagger,
)
from lectures_lib.tokenization import WordPiece

TASKS = ["sentiment", "entities", "answers", "similarity"]
HEADS: dict[str, type[Head]] = {
    head.__name__: head
    for head in (SentenceClassifier, SentenceRegressor, TokenTagger, SpanExtractor)
}


def save_adapted(model: Head, path: Path) -> None:
    """Write what an adapted model (`tasks.low_rank`) has beyond MiniLM's body, in half
    precision.

    Raises:
        ValueError: for a model that was not adapted, or whose α is not 2 r, which the file does
            not hold.
    """
    layers = low_rank.linear_layers(model.bert, low_rank.LowRank)
    if not layers:
        raise ValueError("this model was not adapted: there is nothing to keep beside its body")
    if scales := {getattr(parent, name).scale for parent, name in layers} - {2.0}:
        raise ValueError(f"a model with α = 2 r can be kept, not with α / r = {sorted(scales)}")
    kept = {name: tensor.half().contiguous() for name, tensor in low_rank.learned(model).items()}
    r = next(tensor.shape[0] for name, tensor in kept.items() if name.endswith(".A"))
    facts = {
        "head": type(model).__name__,
        "n_out": model.head.out_features,
        "names": model.names,
        "r": r,
    }
    with written_whole(path) as draft:
        save_file(kept, draft, metadata={"adapted": json.dumps(facts)})


def load_adapted(path: Path, body: Bert | None = None) -> Head:
    """The model that `save_adapted` wrote, its differences merged into MiniLM's layers: in single
    precision and in evaluation mode.

    Args:
        path: the file.
        body: MiniLM's body with other numbers, rounded ones say, which then become the model's;
            without it the published ones.

    Raises:
        FileNotFoundError: where there is no such file, or MiniLM's package is not installed; the
            message says how to get it.
        ValueError: for a file that is damaged.
    """
    body = body or Bert.from_pretrained(minilm.checkpoint(), dropout=0.0)
    try:
        with safe_open(path, "pt") as file:
            facts = json.loads(file.metadata()["adapted"])
        # a model is made with random numbers: the caller's stay as they were
        with torch.random.fork_rng(devices=[]):
            model = HEADS[facts["head"]](body, **_options(facts))
            low_rank.adapt(model, facts["r"])
        kept = {name: tensor.float() for name, tensor in load_file(path).items()}
        if kept.keys() != low_rank.learned(model).keys():
            raise ValueError("other layers are adapted than there are")
        model.load_state_dict(kept, strict=False)
    except DAMAGED as error:
        raise ValueError(f"{path} is damaged ({error}): install the package again") from error
    low_rank.merge(model)
    return model.eval()


def _options(facts: dict[str, Any]) -> dict[str, Any]:
    """What the heads differ in when they are made."""
    if facts["head"] in (SpanExtractor.__name__, SentenceRegressor.__name__):
        return {}
    named = {"names": facts["names"]} if facts["names"] else {}
    return {"n_classes": facts["n_out"]} | named


@cache
def adapted(task: str) -> tuple[Head, WordPiece]:
    """MiniLM adapted to one of the TASKS, and its word pieces (`experiments/low_rank.py`).

    Read once, shared by all who ask: copy the model before you train it.

    Raises:
        FileNotFoundError: where MiniLM's package is not installed; the message says how to get it.
        ValueError: for another task, or a file that is damaged.
    """
    check_name("task", task, TASKS)
    model = load_adapted(FOLDER / f"{task}.safetensors")
    return model, WordPiece.load(minilm.checkpoint() / "vocab.txt")


def sentiment() -> tuple[Head, WordPiece]:
    """Tells praise (1) from complaint (0), learned from phrases of film reviews (SST-2)."""
    return adapted("sentiment")


def entities() -> tuple[Head, WordPiece]:
    """Finds names in short messages (WNUT-17)."""
    return adapted("entities")


def answers() -> tuple[Head, WordPiece]:
    """Points at the answer to a question in a text (SQuAD)."""
    return adapted("answers")


def similarity() -> tuple[Head, WordPiece]:
    """Says from 0 to 5 how much two sentences mean the same (STS-B)."""
    return adapted("similarity")
