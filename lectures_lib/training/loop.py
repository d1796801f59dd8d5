"""One training loop for every model of the book, from one CPU to several machines (chapter 8).

It is the loop that the chapter writes in plain PyTorch (forward, backward, clip, step). It knows no
model: a function that it is given computes the loss. What several devices, interruptions and wrong
arguments ask for stands in `run`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from lectures_lib.checks import check_numbers
from lectures_lib.modes import evaluating, modes_of, set_modes
from lectures_lib.training.run import Run, check_parts, one_number, progress_bar
from lectures_lib.training.stream import Epochs, Named


def plain_step(
    model: nn.Module,
    batch: Any,
    loss: Callable[[nn.Module, Any], Tensor],
    optimizer: torch.optim.Optimizer,
    scheduler: torch.optim.lr_scheduler.LRScheduler | None = None,
    clip: float = math.inf,
) -> float:
    """A step as one would explain it, with one batch on one device; returns the batch's loss.
    `training_step` takes the same, with several batches, devices and half precision.
    """
    model.train()
    optimizer.zero_grad()
    value = loss(model, batch)
    value.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    if scheduler is not None:
        scheduler.step()
    return value.item()


def training_step(
    run: Run, loss: Callable[[nn.Module, Any], Tensor], micro_batches: list[Named], clip: float
) -> float:
    """One step of `fit`: forward, backward, clip, step. It returns the loss, the mean over all
    targets of the batches.

    Args:
        run: the model, its optimizer and schedule, and what notes the numbers.
        loss: of a batch.  micro_batches: whose gradients are added up.
        clip: the longest gradient allowed.

    Raises:
        FloatingPointError: when the loss or the gradient is NaN or infinite.
    """
    run.model.train()
    run.optimizer.zero_grad()
    parts = []
    for named, weight in run.weighted(micro_batches):
        with run.exchange(last=named is micro_batches[-1]):
            part = weight * one_number(loss(run.model, run.to_device(named.batch)))
            run.accelerator.backward(part)
        parts.append(part.item())
    value = run.mean_over_processes(sum(parts))
    norm = run.clip(clip)
    run.check_finite(value, norm, micro_batches, parts)
    run.history.note(value, float(run.optimizer.param_groups[0]["lr"]), norm)
    run.step()
    return value


def fit(
    model: nn.Module,
    batches: Epochs,
    loss: Callable[[nn.Module, Any], Tensor],
    optimizer: torch.optim.Optimizer,
    scheduler: torch.optim.lr_scheduler.LRScheduler | None = None,
    *,
    steps: int,
    accumulate: int = 1,
    clip: float = math.inf,
    mixed_precision: str | None = None,
    checkpoint: str | Path | None = None,
    save_every: int = 500,
    resume: bool = False,
    evaluate: Callable[[nn.Module], dict[str, float]] | None = None,
    evaluate_every: int = 500,
    progress: bool = True,
) -> "History":
    """Train a model. It is changed in place; afterwards it is back on its device, and its parts in
    their modes (`train`, `eval`).

    Started by `accelerate launch` in several processes, each takes batches of its own at every
    step, and the step is the one that a single process would take on all of them at once.

    Args:
        model: what to train. It trains on the device that `accelerate` finds: a GPU if there is
            one.
        batches: the data, `epoch` after `epoch`.
        loss: the mean loss of a batch, from the model and the batch.
        optimizer: made with the model's parameters. LBFGS, which computes the loss several times a
            step, cannot be used here.
        scheduler: sets the learning rate, such as `LambdaLR(optimizer, transformer_schedule(512))`;
            not ReduceLROnPlateau, which asks for a measure at every step.
        steps: how many steps to take in all, those before a checkpoint included.
        accumulate: how many batches make one step, as if they were one large batch.
        clip: the longest gradient allowed; a longer one is shortened to this length.
        mixed_precision: "no", "fp16" or "bf16"; None: what `accelerate launch` was told, else "no".
        checkpoint: a file to save to, every `save_every` steps and at the end; None: nothing is
            saved.
        resume: go on from that file if it is there, to the same weights, bit for bit, as without
            the interruption.
        evaluate: called every `evaluate_every` steps and at the end, with the model in evaluation
            mode; its numbers are kept.
        progress: show a progress bar.

    Raises:
        TypeError: for batches that are no `Epochs`, or a loss that does not give a tensor.
        ValueError: for numbers below 1, `resume` without a file to resume from, an epoch without
            batches, a loss of several numbers, an optimizer of another model's parameters, or one
            that needs what `fit` does not give (see above).
        FloatingPointError: when the loss or the gradient is NaN or infinite. The message names the
            step and the batch. The weights are those before the step; the last checkpoint stays.
        CheckpointError: for a checkpoint that is damaged or another run's; before training, for
            what cannot be saved.
    """
    check_numbers(
        steps=steps,
        accumulate=accumulate,
        save_every=save_every,
        evaluate_every=evaluate_every,
        clip=clip,
    )
    if resume and checkpoint is None:
        raise ValueError("resume=True needs checkpoint=…, the file to resume from")
    check_parts(model, batches, optimizer, scheduler, checkpoint)
    home, modes, history = next(model.parameters()).device, modes_of(model), History()
    parts = (model, optimizer, scheduler, batches)
    run = Run(*parts, history, accumulate, mixed_precision, checkpoint)
    if resume:
        run.load()
    bar = progress_bar(history.step, steps, progress and run.accelerator.is_main_process)
    try:
        while history.step < steps:
            micro_batches = [run.stream.next() for _ in range(accumulate)]
            value = training_step(run, loss, micro_batches, clip)
            bar.set_postfix_str(f"loss {value:.3f}", refresh=False)
            bar.update()
            last = history.step == steps
            if evaluate is not None and (last or history.step % evaluate_every == 0):
                with evaluating(model):
                    history.evaluations[history.step] = evaluate(model)
            if checkpoint is not None and (last or history.step % save_every == 0):
                run.save()
    finally:
        bar.close()
        run.finish()
        model.to(home)
        set_modes(modes)
    return history


@dataclass
class History:
    """What happened: one number for each step, and what was evaluated after which step."""

    losses: list[float] = field(default_factory=list)
    learning_rates: list[float] = field(default_factory=list)
    gradient_norms: list[float] = field(default_factory=list)
    evaluations: dict[int, dict[str, float]] = field(default_factory=dict)

    @property
    def step(self) -> int:
        """How many steps were taken."""
        return len(self.losses)

    def note(self, loss: float, learning_rate: float, gradient_norm: float) -> None:
        """Keep the numbers of one more step."""
        self.losses.append(loss)
        self.learning_rates.append(learning_rate)
        self.gradient_norms.append(gradient_norm)
