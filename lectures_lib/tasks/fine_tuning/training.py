"""The training: a head, and the body with it, by AdamW (chapter 14; Devlin et al. 2019, section 4
and appendix A.3).
"""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib import training
from lectures_lib.checks.sizes import check_numbers
from lectures_lib.data import Batches
from lectures_lib.tasks.fine_tuning.batching import Batch
from lectures_lib.tasks.task_heads import Head
from lectures_lib.training.run import n_processes


def fine_tune(
    model: Head,
    batches: Batches,
    *,
    epochs: int = 3,
    rate: float = 5e-5,
    warmup: float = 0.1,
    weight_decay: float = 0.01,
    clip: float = 1.0,
    **options: Any,
) -> training.History:
    """Train the head, and the body with it, by AdamW; the rate rises for the first steps and falls
    to 0 at the last.

    A body none of whose parameters asks for a gradient (`model.bert.requires_grad_(False)`) stays
    as it is, without dropout: its vectors are then features. (Where some of it is trained, all of
    it has dropout, and what is frozen below gives random vectors unless the dropout is 0.)

    Args:
        model: a head from `lectures_lib.tasks.task_heads`, changed in place; in evaluation mode
            afterwards.
        batches: what to learn from.
        epochs: how often to go through them, whatever number of batches makes a step. The paper
            tried 2, 3 and 4.
        rate: the highest learning rate. The paper tried 5e-5, 3e-5 and 2e-5.
        warmup: the share of the steps before it is reached.
        weight_decay: of matrices; biases and LayerNorm are not decayed.  clip: the longest
            gradient.
        options: more of `training.fit`, such as `evaluate` or `checkpoint`.

    Raises:
        ValueError: for labels that are no classes, fewer than one epoch, or nothing to train.
    """
    if epochs < 1:
        raise ValueError(f"at least one epoch is needed, got {epochs}")
    accumulate = options.get("accumulate", 1)
    check_numbers(accumulate=accumulate)
    in_all = sum(len(batches.plan(epoch)) for epoch in range(epochs))
    steps = math.ceil(in_all / (accumulate * n_processes()))
    groups = decayed_and_not(model, weight_decay)
    # Fused: one pass over the parameters in place of several. With few tokens in a
    # batch the step costs as much as the gradient.
    optimizer = torch.optim.AdamW(groups, lr=rate, fused=True)
    scheduler = LambdaLR(optimizer, training.bert_schedule(int(warmup * steps), steps))
    compare = model.loss

    def loss(trained: nn.Module, batch: Batch) -> Tensor:
        scores = trained(batch.tokens, batch.segments, batch.lengths)
        return compare(scores, batch.targets)

    history = training.fit(
        model, batches, loss, optimizer, scheduler, steps=steps, clip=clip, **options
    )
    model.eval()
    return history


def decayed_and_not(model: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """The trainable parameters in two groups: matrices, which are pulled towards 0, and vectors
    (biases, LayerNorm), which are not.

    Raises:
        ValueError: where there is nothing to train.
    """
    trainable = [p for p in model.parameters() if p.requires_grad]
    if not trainable:
        raise ValueError("nothing to train: no parameter asks for a gradient")
    matrices, vectors = [p for p in trainable if p.ndim > 1], [p for p in trainable if p.ndim < 2]
    return [
        {"params": matrices, "weight_decay": weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
