"""How well a model does the two tasks (chapter 13)."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

from lectures_lib.modes import evaluating
from lectures_lib.training.pretraining.batches import PreTrainingBatch


class Scores(NamedTuple):
    """How well a model does both tasks.

    Of the words, only those behind a [MASK] are asked. A tenth of the chosen ones stand in the
    input as they are, and a model that has learned nothing but to repeat what it sees would be
    credited with them.

    Args:
        perplexity: of the words behind a [MASK].  accuracy: the share of them that is told right.
        next_sentence: the share of pairs told right.  n_words, n_pairs: how many were asked.
    """

    perplexity: float
    accuracy: float
    next_sentence: float
    n_words: int
    n_pairs: int


@torch.no_grad()
def evaluate(model: nn.Module, batches: Sequence[PreTrainingBatch], mask_id: int) -> Scores:
    """Both tasks on these batches, with dropout off.

    Args:
        model: the one to be asked, on any device.  batches: what it is asked.
        mask_id: the id of [MASK].

    Raises:
        ValueError: where there is not one [MASK].
    """
    loss, right, following, n_words, n_pairs = 0.0, 0, 0, 0, 0
    device = next((weight.device for weight in model.parameters()), torch.device("cpu"))
    for batch in batches:
        batch = PreTrainingBatch(*(part.to(device) for part in batch))
        hidden = batch.chosen & (batch.tokens == mask_id)
        with evaluating(model):
            words, next_sentence = model(batch.tokens, batch.segments, batch.lengths, at=hidden)
        original = batch.original[hidden]
        loss += F.cross_entropy(words, original, reduction="sum").item()
        right += int((words.argmax(dim=-1) == original).sum())
        following += int((next_sentence.argmax(dim=-1) == batch.is_random).sum())
        n_words, n_pairs = n_words + len(original), n_pairs + len(batch.is_random)
    if n_words == 0:
        raise ValueError(f"there is no [MASK] in {len(batches)} batches: nothing to be right about")
    return Scores(math.exp(loss / n_words), right / n_words, following / n_pairs, n_words, n_pairs)
