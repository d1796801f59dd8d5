"""MiniLM trained further, to fill holes: all of it changed, and is kept as differences."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert, BertForPreTraining
from lectures_lib.models.bert.checkpoint import read_checkpoint, todays_name
from lectures_lib.stored.differences import added
from lectures_lib.stored.whole_models import DAMAGED, FOLDER
from lectures_lib.tokenization import WordPiece


def minilm_below_zeros() -> BertForPreTraining:
    """MiniLM's body below BERT's two heads, whose numbers are all 0; without dropout. To it the
    differences are added.
    """
    config, _ = read_checkpoint(minilm.checkpoint())
    # a model is made with random numbers: the caller's stay as they were
    with torch.random.fork_rng(devices=[]):
        model = BertForPreTraining(replace(config, dropout=0.0))
        model.bert.load_state_dict(
            Bert.from_pretrained(minilm.checkpoint(), dropout=0.0).state_dict()
        )
    with torch.no_grad():
        for head in (model.masked_words, model.next_sentence):
            for parameter in head.parameters():
                if parameter is not model.bert.embeddings.tokens.weight:
                    parameter.zero_()
    return model


@cache
def fill_mask(
    path: Path = FOLDER / "fill_mask.safetensors",
) -> tuple[BertForPreTraining, WordPiece]:
    """A small BERT that is worth asking, and its word pieces: MiniLM, trained further to fill holes
    (`experiments/fill_mask.py`).

    Read once, shared by all who ask: copy it before you train it. Its second head, for the next
    sentence, was not trained.

    Raises:
        FileNotFoundError: where MiniLM's package is not installed; the message says how to get it.
        ValueError: for a file that is damaged.
    """
    model, tokenizer = minilm_below_zeros(), WordPiece.load(minilm.checkpoint() / "vocab.txt")
    try:
        model.load_state_dict(added(model.state_dict(), named_anew(load_file(path))))
    except DAMAGED as error:
        raise ValueError(f"{path} is damaged ({error}): install the package again") from error
    return model.eval(), tokenizer


def named_anew(kept: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """A BERT's numbers as a file has them, those under older names under today's."""
    parts = {name: name.partition("embeddings.") for name in kept}
    return {
        before + room + todays_name(own): kept[name] for name, (before, room, own) in parts.items()
    }
