"""Losses of words: cross-entropy with label smoothing, a translator's (chapters 6 and 8), and a
student's, taught by a larger model (chapter 18b).
"""

import math
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lectures_lib.checks.door import at_the_door
from lectures_lib.checks.tensors import check_tensor


def label_smoothed_cross_entropy(
    logits: Float[Tensor, "*batch vocab"],
    targets: Int[Tensor, "*batch"],
    smoothing: float = 0.0,
    pad_id: int = 0,
) -> Float[Tensor, ""]:
    """Cross-entropy with a target that gives `smoothing` of its probability to all words alike
    (Szegedy et al. 2016, section 7).

    The mean is over the targets that are no padding. Equal to `F.cross_entropy` with
    `label_smoothing` and `ignore_index`, but for a batch of padding only, whose loss is 0 here and
    NaN there.

    Raises:
        ValueError: for a smoothing below 0 or above 1, not one target for each row of logits, or a
            target that is no word.
    """
    real = _real_targets(logits, targets, smoothing, pad_id)
    # In float32 at least: the sum of some thousand losses is more than float16 holds.
    log_probs = logits.log_softmax(dim=-1, dtype=torch.promote_types(logits.dtype, torch.float32))
    losses = -log_probs.gather(-1, targets.masked_fill(~real, 0)[..., None])[..., 0]
    if smoothing:  # else a word of probability 0 would count: 0 times an infinite loss is NaN
        losses = (1 - smoothing) * losses - smoothing * log_probs.mean(dim=-1)
    # a batch of padding only has a loss of 0
    return losses.masked_fill(~real, 0.0).sum() / real.sum().clamp(min=1)


def _real_targets(logits: Tensor, targets: Tensor, smoothing: float, pad_id: int) -> Tensor:
    """Which targets are no padding, once all is known to fit."""
    check_tensor("logits", logits)
    check_tensor("targets", targets)
    if not 0 <= smoothing <= 1:
        raise ValueError(f"label smoothing is a share between 0 and 1, got {smoothing}")
    if targets.shape != logits.shape[:-1]:
        raise ValueError(
            f"one target for each row of logits is needed: logits are {tuple(logits.shape)}, "
            f"targets {tuple(targets.shape)}"
        )
    if targets.dtype != torch.long:
        raise ValueError(
            f"targets are numbers of words, of type torch.int64 (.long()); got {targets.dtype}"
        )
    real = targets != pad_id
    strange = targets[real & ((targets < 0) | (targets >= logits.shape[-1]))]
    if len(strange):
        raise ValueError(
            f"target {strange[0]} is none of the {logits.shape[-1]} words, 0 … "
            f"{logits.shape[-1] - 1}, nor pad_id = {pad_id}"
        )
    return real


def translation_loss(model: nn.Module, batch: Any, smoothing: float = 0.0) -> Float[Tensor, ""]:
    """The loss of a translator on a `data.PairBatch`: each next token, given the right ones before
    it (teacher forcing). Padding, which is token 0 there, does not count.
    """
    logits = model(batch.source, batch.read, batch.source_lengths)
    return label_smoothed_cross_entropy(logits, batch.predicted, smoothing)


def _check_both_scores(scores: Tensor, teacher_scores: Tensor, temperature: float = 1.0) -> None:
    check_tensor("scores", scores)
    check_tensor("teacher_scores", teacher_scores)
    if not 0 < temperature < math.inf:
        raise ValueError(f"a temperature is above 0, got {temperature}")
    if scores.shape != teacher_scores.shape:
        raise ValueError(
            f"student and teacher score the same words at the same positions: scores are "
            f"{tuple(scores.shape)}, teacher_scores {tuple(teacher_scores.shape)}"
        )


@at_the_door(_check_both_scores)
def distillation_loss(
    scores: Float[Tensor, "*batch vocab"],
    teacher_scores: Float[Tensor, "*batch vocab"],
    temperature: float = 1.0,
) -> Float[Tensor, ""]:
    """T² · KL(teacher's distribution ‖ student's), the scores of both divided by the temperature T
    (Hinton, Vinyals & Dean 2015, arXiv 1503.02531; chapter 18b). The mean over all positions; 0
    where there is none.

    The gradient of the divergence shrinks like 1/T² as T grows: the scores are divided by T once,
    and the two softened distributions differ by 1/T of what they did. The factor makes up for it,
    so that the loss can be added to a cross-entropy whatever T is. The teacher gets no gradient.

    Args:
        scores: the student's, before softmax.
        teacher_scores: the teacher's, of the same words at the same positions; finite.
        temperature: T; 1 leaves the distributions as they are.

    Raises:
        TypeError: for scores that are no tensor.
        ValueError: for scores of two shapes, or a temperature that is not above 0.
    """
    teacher = (teacher_scores.detach() / temperature).log_softmax(dim=-1)
    student = (scores / temperature).log_softmax(dim=-1)
    divergence = (teacher.exp() * (teacher - student)).sum(dim=-1)
    return temperature**2 * divergence.sum() / max(divergence.numel(), 1)
