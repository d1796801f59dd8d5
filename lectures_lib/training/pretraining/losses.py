"""The losses of the two tasks, and their sum (chapter 13; Devlin et al. 2019, section A.2)."""

from typing import Any

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from lectures_lib.training.pretraining.batches import PreTrainingBatch


def masked_word_loss(
    words: Float[Tensor, "k vocab"], original: Int[Tensor, " k"]
) -> Float[Tensor, ""]:
    """Cross-entropy of the chosen positions, which are all that is given here; 0 where none was
    chosen.

    The other positions' words stand in the input: they have no part in the loss.
    """
    return F.cross_entropy(words, original, reduction="sum") / max(len(original), 1)


def pretraining_loss(model: Any, batch: PreTrainingBatch) -> Float[Tensor, ""]:
    """The sum of both tasks' mean losses (section A.2)."""
    words, following = model(batch.tokens, batch.segments, batch.lengths, at=batch.chosen)
    return masked_word_loss(words, batch.original[batch.chosen]) + F.cross_entropy(
        following, batch.is_random
    )
