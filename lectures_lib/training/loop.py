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

from lectures_lib.checks.sizes import check_numbers
from lectures_lib.modes import evaluating
from lectures_lib.training.run import Run, check_parts, named_numbers, one_number
from lectures_lib.training.stream import Epochs, Placed


def plain_step(
    model: nn.Module,
    batch: Any,
    loss: Callable[[nn.Module, Any], Tensor],
    optimizer: torch.optim.Optimizer,
    scheduler: torch.optim.lr_scheduler.LRScheduler | None = None,
    clip: float = math.inf,
) -> float:
    """A step as one would explain it, with one batch on one device; returns the batch's loss.

    `training_step`, which `fit` uses, is the same step for several batches, several devices and
    half precision.

    Args:
        loss: runs the model on the batch and says how wrong it is, as one number; for instance
            `lambda model, batch: F.mse_loss(model(batch.x), batch.y)`.
        clip: the longest gradient allowed; infinity shortens none.
    """
    model.train()
    optimizer.zero_grad()
    batch_loss = loss(model, batch)  # forward
    batch_loss.backward()  # backward: a gradient for every weight
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()  # every weight moves
    if scheduler is not None:
        scheduler.step()  # the learning rate of the next step
    return batch_loss.item()


def training_step(
    run: Run, loss: Callable[[nn.Module, Any], Tensor], micro_batches: list[Placed], clip: float
) -> float:
    """One step of `fit`: forward, backward, clip, step. It returns the loss, the mean over all
    targets of the batches. On the right stands what a line comes to with one batch and one process.

    A batch's loss is the mean over its own targets. So that all targets count the same, each batch
    is weighted by its part of them: with two batches of 30 and 10 words, 0.75 and 0.25.

    Args:
        run: the model, its optimizer and schedule, and what notes the numbers.
        loss: as in `plain_step`.
        micro_batches: the batches whose gradients are added up, each with its place in the data
            (`Placed`), by which a message can name it.
        clip: the longest gradient allowed.

    Raises:
        FloatingPointError: when the loss or the gradient is NaN or infinite.
    """
    run.model.train()
    run.optimizer.zero_grad()
    shares = []  # what each batch adds to the loss of the step
    for placed, weight in run.weighted(micro_batches):  # weight = 1
        with run.exchange(last=placed is micro_batches[-1]):  # nobody to exchange gradients with
            batch = run.to_device(placed.batch)
            share = weight * one_number(loss(run.model, batch))  # batch_loss = loss(model, batch)
            run.accelerator.backward(share)  # batch_loss.backward()
        shares.append(share.item())
    step_loss = run.mean_over_processes(sum(shares))  # sum(shares)
    norm = run.clip_gradient(clip)  # clip_grad_norm_(model.parameters(), clip)
    run.check_and_note(step_loss, norm, micro_batches, shares)  # NaN ends it
    run.step()  # optimizer.step(), then scheduler.step()
    return step_loss


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
        model: what to train, on a GPU if `accelerate` finds one.
        batches: the data, `epoch` after `epoch`.
        loss: the mean loss of a batch, from the model and the batch (see `plain_step`).
        optimizer: made with the model's parameters; not LBFGS.
        scheduler: sets the learning rate, such as `LambdaLR(optimizer, transformer_schedule(512))`;
            not ReduceLROnPlateau.
        steps: how many steps to take in all, those before a checkpoint included.
        accumulate: how many batches make one step, as if they were one large batch.
        clip: the longest gradient allowed; a longer one is shortened to this length.
        mixed_precision: "no", "fp16" or "bf16"; None: what `accelerate launch` was told, else "no".
        checkpoint: a file to save to, every `save_every` steps and at the end; None: nothing is
            saved.
        resume: go on from that file if it is there, to the same weights as without the
            interruption, bit for bit.
        evaluate: called with the model, dropout off, every `evaluate_every` steps and at the end;
            its numbers are kept, by their names: of a dictionary, or of a named tuple.
        progress: show a progress bar.

    Raises:
        TypeError, ValueError: for arguments that training cannot use, an epoch without batches, a
            loss that is not one number, an evaluation without names, or a checkpoint of more than
            `steps` steps; the message says which.
        FloatingPointError: when the loss or the gradient is NaN or infinite; the weights are those
            before the step.
        CheckpointError: for a checkpoint that is damaged or another run's, and for what cannot be
            saved.
    """
    check_numbers(
        steps=steps,
        accumulate=accumulate,
        save_every=save_every,
        evaluate_every=evaluate_every,
    )
    if not clip > 0:
        raise ValueError(f"the longest gradient allowed is above 0, got clip = {clip}")
    if resume and checkpoint is None:
        raise ValueError("resume=True needs checkpoint=…, the file to resume from")
    check_parts(model, batches, optimizer, scheduler, checkpoint)
    history = History()
    run = Run(
        model,
        optimizer,
        scheduler,
        batches=batches,
        history=history,
        accumulate=accumulate,
        mixed_precision=mixed_precision,
        checkpoint=checkpoint,
    )
    try:
        if resume:
            run.load(steps)
        with run.progress_bar(steps, progress) as bar:
            while history.step < steps:
                micro_batches = [run.stream.next() for _ in range(accumulate)]
                step_loss = training_step(run, loss, micro_batches, clip)
                bar.set_postfix_str(f"loss {step_loss:.3f}", refresh=False)
                bar.update()
                last = history.step == steps  # counts the step that was just taken
                if evaluate is not None and (last or history.step % evaluate_every == 0):
                    with evaluating(model):
                        history.evaluations[history.step] = named_numbers(evaluate(model))
                if checkpoint is not None and (last or history.step % save_every == 0):
                    run.save()
    finally:
        run.finish()
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
