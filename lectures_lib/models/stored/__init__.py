"""Models that were trained for hours, once, and come with the package: no network, no waiting (a card beside each file tells how).

    model, tokenizer = stored.fill_mask()      # MiniLM, with a head that fills holes (chapter 13)

What began with published weights is kept as differences to them, in a few bits each: small, and of no use without those weights.
"""

from dataclasses import replace
from functools import cache
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert, BertForPreTraining, read_checkpoint
from lectures_lib.models.stored.differences import added, packed
from lectures_lib.tokenization import WordPiece

FOLDER = Path(__file__).parent


def minilm_with_head(seed: int = 0) -> BertForPreTraining:
    """MiniLM's body below BERT's two heads, which are fresh; without dropout. Here the further training begins."""
    config, _ = read_checkpoint(minilm.checkpoint())
    generator_state = torch.get_rng_state()
    torch.manual_seed(seed)
    model = BertForPreTraining(replace(config, dropout=0.0))
    torch.set_rng_state(generator_state)
    model.bert.load_state_dict(Bert.from_pretrained(minilm.checkpoint(), dropout=0.0).state_dict())
    return model


@cache
def fill_mask(path: Path = FOLDER / "fill_mask.safetensors") -> tuple[BertForPreTraining, WordPiece]:
    """A small BERT that is worth asking, and its word pieces: MiniLM, trained further to fill holes (`experiments/fill_mask.py`).

    Read once, shared by all who ask: copy it before you train it. Its second head, for the next sentence, was not trained.

    Raises:
        FileNotFoundError: where MiniLM's package is not installed; the message says how to get it.
        ValueError: for a file that is damaged.
    """
    model, tokenizer = minilm_with_head(), WordPiece.load(minilm.checkpoint() / "vocab.txt")
    try:
        model.load_state_dict(added(model.state_dict(), load_file(path)))
    except (SafetensorError, KeyError, RuntimeError) as error:
        raise ValueError(f"{path} is damaged ({error}): install the package again") from error
    return model.eval(), tokenizer


__all__ = ["FOLDER", "added", "fill_mask", "minilm_with_head", "packed"]
