"""Batches: labelled examples of similar length, padded (chapters 14 and 14b)."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Int, Shaped
from torch import Tensor

from lectures_lib.data import Batches, pad
from lectures_lib.tasks.fine_tuning.examples import Example
from lectures_lib.tasks.task_heads import UNLABELLED


class Batch(NamedTuple):
    """Several examples, padded.

    Args:
        tokens, segments, lengths: what a head reads; for a multiple choice with an axis for the
            endings behind the first.
        targets: what its `loss` compares with.
    """

    tokens: Int[Tensor, "*batch n"]
    segments: Int[Tensor, "*batch n"]
    lengths: Int[Tensor, "*batch"]
    targets: Shaped[Tensor, "..."]

    @property
    def n_targets(self) -> int:
        """How many things the loss is the mean of: padding and unlabelled pieces are none."""
        if self.targets.is_floating_point():  # numbers: one of them may be -100
            return self.targets.numel()
        return int((self.targets != UNLABELLED).sum())


def collate(examples: Sequence[Example]) -> Batch:
    """Examples of one kind as a batch.

    Raises:
        ValueError: for no examples, or multiple choices with different numbers of endings.
    """
    n_choices = {len(example.reads) for example in examples}
    if len(n_choices) != 1:
        raise ValueError(
            f"a batch needs examples, all with the same number of texts to choose from, got "
            f"{sorted(n_choices)}"
        )
    reads = [read for example in examples for read in example.reads]
    tokens, lengths = pad([read.ids for read in reads])
    segments, _ = pad([read.segments for read in reads])
    targets = [example.target for example in examples]
    if isinstance(targets[0], list):
        targets = pad(targets, UNLABELLED).ids
    shape = (len(examples), n_choices.pop())
    if shape[1] > 1:
        tokens, segments, lengths = (x.unflatten(0, shape) for x in (tokens, segments, lengths))
    return Batch(tokens, segments, lengths, torch.as_tensor(targets))


def batches(
    examples: Sequence[Example],
    *,
    batch_size: int | None = None,
    max_tokens: int | None = None,
    seed: int = 0,
    by_length: bool = True,
) -> Batches:
    """Examples of similar length together, anew for every epoch; see `data.Batches` for the
    arguments.
    """
    lengths = [
        (len(example.reads) * max(len(read.ids) for read in example.reads),) for example in examples
    ]
    return Batches(
        examples,
        collate,
        batch_size=batch_size,
        max_tokens=max_tokens,
        seed=seed,
        by_length=by_length,
        lengths=lengths,
    )
