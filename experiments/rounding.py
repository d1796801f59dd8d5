"""How often a model as it is stored says what it said before it was rounded. (No script; those that
store weights take it from here.)
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from lectures_lib.metrics import exact_match
from lectures_lib.modes import evaluating
from lectures_lib.training.pretraining import PreTrainingBatch


@torch.no_grad()
def words_for_holes(model: nn.Module, asked: Sequence[PreTrainingBatch], mask_id: int) -> list[int]:
    """The likeliest word piece for each [MASK] of these batches."""
    device, found = next(model.parameters()).device, []
    for batch in asked:
        batch = PreTrainingBatch(*(part.to(device) for part in batch))
        hidden = batch.chosen & (batch.tokens == mask_id)
        with evaluating(model):
            words = model(batch.tokens, batch.segments, batch.lengths, at=hidden).words
        found += words.argmax(dim=-1).tolist()
    return found


@torch.no_grad()
def labels(model: nn.Module, images: Tensor, batch_size: int = 500) -> list[int]:
    """The class that each image is taken for."""
    parts = images.split(batch_size)
    return [label for part in parts for label in model(part).argmax(dim=-1).tolist()]


def equal_words(
    trained: nn.Module, kept: nn.Module, asked: Sequence[PreTrainingBatch], mask_id: int
) -> float:
    """The share of the holes for which both have the same likeliest word piece."""
    return exact_match(*(words_for_holes(model, asked, mask_id) for model in (kept, trained)))


def equal_labels(trained: nn.Module, kept: nn.Module, images: Tensor) -> float:
    """The share of the images that both take for the same."""
    return exact_match(*(labels(model, images) for model in (kept, trained)))
