"""What stands around the training loop: devices and processes, checkpoints, messages.

The loop itself is in `loop`; a reader of it needs nothing from here but the names.
"""

import math
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict
from inspect import signature
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from lectures_lib.modes import modes_of, set_modes
from lectures_lib.training import checkpoints
from lectures_lib.training.stream import Epochs, Placed, Stream


class Run:
    """A run of `fit`: what its processes share, what is saved of it, and what it says when the
    numbers break.

    Args:
        model, optimizer, scheduler: as `fit` was given them: these are saved.
        batches: the data.
        history: where numbers are noted.
        accumulate: how many batches make a step.
        mixed_precision: as `fit` has it.
        checkpoint: where to; None: nothing is saved.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        scheduler: Any,
        batches: Epochs,
        history: Any,
        accumulate: int,
        mixed_precision: str | None,
        checkpoint: str | Path | None,
    ):
        self.accelerator = make_accelerator(mixed_precision)
        processes = (self.accelerator.process_index, self.accelerator.num_processes)
        self.stream = Stream(batches, *processes)
        self.history, self.scheduler, self.accumulate = history, scheduler, accumulate
        self.checkpoint = None if checkpoint is None else Path(checkpoint)
        self.saved = (model, optimizer, scheduler)
        self.home, self.modes = next(model.parameters()).device, modes_of(model)
        self.own_forward = vars(model).get("forward")  # None: that of its class
        # The same model and optimizer, on their device and shared with the other processes.
        self.model, self.optimizer = self.accelerator.prepare(model, optimizer)

    def weighted(self, micro_batches: list[Placed]) -> list[tuple[Placed, float]]:
        """Each batch with its weight in the step's mean: as many targets as it has, of all. Several
        processes average their gradients, so the count of all is a mean over processes, too. Where
        there are no targets at all, all batches count the same: BERT's masked words are one of two
        losses.
        """
        n_targets = [getattr(placed.batch, "n_targets", 1) for placed in micro_batches]
        together = self.mean_over_processes(sum(n_targets))
        if not together:
            n_targets, together = [1] * len(n_targets), len(n_targets)
        return [(placed, n / together) for placed, n in zip(micro_batches, n_targets, strict=True)]

    def exchange(self, last: bool) -> Any:
        """Processes average their gradients once a step, in the last of its backward passes; the
        earlier ones run within `no_sync`. A single process has nothing to exchange.
        """
        return nullcontext() if last else self.accelerator.no_sync(self.model)

    def clip_gradient(self, longest: float) -> float:
        """Shorten the gradient if it is longer; returns the length that it had."""
        return float(self.accelerator.clip_grad_norm_(self.model.parameters(), longest))

    def check_and_note(
        self, loss: float, norm: float, micro_batches: list[Placed], shares: list[float]
    ) -> None:
        """Note the loss, the learning rate and the gradient's length; refuse a loss or a gradient
        that is NaN or infinite. In fp16 a gradient may overflow: accelerate then leaves the step
        out, and scales the next loss down.
        """
        broken = not math.isfinite(norm) and self.accelerator.scaler is None
        if broken or not math.isfinite(loss):
            raise FloatingPointError(
                what_broke(self.history.step, loss, norm, micro_batches, shares, self.checkpoint)
            )
        self.history.note(loss, float(self.optimizer.param_groups[0]["lr"]), norm)

    def step(self) -> None:
        """The optimizer's step, and the schedule's."""
        self.optimizer.step()
        if self.scheduler is not None and not self.optimizer.step_was_skipped:
            self.scheduler.step()

    def mean_over_processes(self, number: float | int) -> float | int:
        """The mean of a number that each process has."""
        if self.accelerator.num_processes == 1:
            return number
        tensor = torch.tensor(number, dtype=torch.float64, device=self.accelerator.device)
        return self.accelerator.reduce(tensor, "mean").item()

    def to_device(self, batch: Any) -> Any:
        """The batch where the model is."""
        from accelerate.utils import send_to_device

        return send_to_device(batch, self.accelerator.device)

    def save(self) -> None:
        """Write the checkpoint."""
        from accelerate.utils import gather_object

        # a list with one entry for each process
        generators = gather_object([checkpoints.random_state()])
        if self.accelerator.is_main_process:
            place = {
                "epoch": self.stream.epoch,
                "index": self.stream.index,
                "accumulate": self.accumulate,
            }
            scaler = self.accelerator.scaler and self.accelerator.scaler.state_dict()
            checkpoints.save(
                self.checkpoint,
                *self.saved,
                generators,
                {"history": asdict(self.history), "scaler": scaler, **place},
            )
        self.accelerator.wait_for_everyone()

    def load(self, steps: int) -> None:
        """Go on from the checkpoint, if it is there, to a step that is not behind it."""
        if not self.checkpoint.exists():
            return

        def check(facts: dict[str, Any], n_processes: int) -> None:
            then = (n_processes, facts["accumulate"])
            now = (self.accelerator.num_processes, self.accumulate)
            if then != now:
                raise checkpoints.CheckpointError(
                    f"{self.checkpoint} was written with (processes, accumulate) = {then}; this "
                    f"run has {now}"
                )
            taken = len(facts["history"]["losses"])
            if taken > steps:
                raise ValueError(
                    f"{self.checkpoint} is that of step {taken}, and this run ends at step {steps}"
                )

        facts, _ = checkpoints.load(
            self.checkpoint, *self.saved, self.accelerator.process_index, check
        )
        if self.accelerator.scaler is not None and facts["scaler"]:
            self.accelerator.scaler.load_state_dict(facts["scaler"])
        for name, kept in facts["history"].items():
            setattr(self.history, name, kept)
        self.history.evaluations = {
            int(step): numbers for step, numbers in self.history.evaluations.items()
        }
        self.stream.go_to(facts["epoch"], facts["index"])

    def finish(self) -> None:
        """Take the mixed precision off the model again, and put it back on its device, with what
        the optimizer keeps, and its parts into their modes.
        """
        self.accelerator.unwrap_model(self.model, keep_fp32_wrapper=False)
        model, optimizer, _ = self.saved
        # what accelerate puts back is a forward pass without what stands around it (`at_the_door`)
        vars(model).pop("forward", None)
        if self.own_forward is not None:
            model.forward = self.own_forward
        # with this mark, the next run's `prepare` neither moves it nor gives it its precision
        model.__dict__.pop("_is_accelerate_prepared", None)
        model.to(self.home)
        bring_home(optimizer)
        set_modes(self.modes)

    def progress_bar(self, steps: int, wanted: bool) -> Any:
        """A progress bar of all steps, those of before included; one process of several shows
        it.
        """
        from tqdm.auto import tqdm

        shown = wanted and self.accelerator.is_main_process
        return tqdm(
            initial=self.history.step,
            total=steps,
            disable=not shown,
            unit="step",
            mininterval=1.0,
        )


def make_accelerator(mixed_precision: str | None) -> Any:
    """What puts model and data on the devices there are."""
    try:
        from accelerate import Accelerator
        from accelerate.state import AcceleratorState
    except ModuleNotFoundError:
        raise ImportError(
            "training uses the package accelerate, which is not installed here: pip install "
            "accelerate"
        ) from None
    # accelerate keeps one precision for the life of the process; a notebook may want to try
    # several.
    AcceleratorState._reset_state()
    return Accelerator(mixed_precision=mixed_precision)


def n_processes() -> int:
    """How many processes train together, as `accelerate launch` started them."""
    return make_accelerator(None).num_processes


def bring_home(optimizer: torch.optim.Optimizer) -> None:
    """Put what an optimizer keeps of its parameters where they are. What is on the CPU stays there:
    Adam counts its steps on it, wherever the parameters are.
    """
    for parameter, state in optimizer.state.items():
        for name, kept in state.items():
            if isinstance(kept, Tensor) and kept.device.type != "cpu":
                state[name] = kept.to(parameter.device)


def check_parts(
    model: nn.Module, batches: Any, optimizer: Any, scheduler: Any, checkpoint: str | Path | None
) -> None:
    """Refuse what would train nothing, or fail in the middle of a run: the message says what
    came.
    """
    if not isinstance(batches, Epochs):
        raise TypeError(
            f"batches need a method epoch(number) that gives an epoch's batches, as data.Batches "
            f"has it; got a {type(batches).__name__}"
        )
    own = {id(parameter) for parameter in model.parameters()}
    if not any(
        id(parameter) in own for group in optimizer.param_groups for parameter in group["params"]
    ):
        raise ValueError(
            "the optimizer holds no parameter of this model, so nothing would be trained: make it "
            "of model.parameters()"
        )
    for thing in (optimizer, *([] if scheduler is None else [scheduler])):
        needed = [
            p.name for p in signature(type(thing).step).parameters.values() if p.default is p.empty
        ][1:]
        if needed:
            raise ValueError(
                f"{type(thing).__name__}.step() must be given {' and '.join(needed)}, which fit "
                f"does not have: choose another"
            )
    if checkpoint is not None:
        checkpoints.check_can_be_saved(optimizer, scheduler)


def one_number(loss: Any) -> Tensor:
    """The loss itself, if a gradient can be taken of it."""
    if not isinstance(loss, Tensor):
        raise TypeError(
            f"the loss must be a tensor, so that it can be differentiated; got a "
            f"{type(loss).__name__}: leave out .item()"
        )
    if loss.numel() != 1:
        raise ValueError(
            f"the loss must be one number, the mean of a batch; got a tensor of shape "
            f"{tuple(loss.shape)}"
        )
    return loss


def named_numbers(evaluation: Any) -> dict[str, float]:
    """What an evaluation found, as a dictionary, which a checkpoint can hold."""
    if hasattr(evaluation, "_asdict"):  # a named tuple
        return evaluation._asdict()
    if not isinstance(evaluation, dict):
        raise TypeError(
            f"evaluate returns a dictionary of numbers by their names, or a named tuple; got a "
            f"{type(evaluation).__name__}"
        )
    return evaluation


def what_broke(
    step: int,
    loss: float,
    norm: float,
    micro_batches: list[Placed],
    shares: list[float],
    checkpoint: str | Path | None,
) -> str:
    """The message: what broke, in which batches, and what is left."""
    what = (
        f"the loss is {loss}"
        if not math.isfinite(loss)
        else f"the loss is {loss:.4g} but its gradient has length {norm}"
    )
    broken = [
        placed
        for placed, share in zip(micro_batches, shares, strict=True)
        if not math.isfinite(share)
    ]
    if not math.isfinite(loss) and not broken:
        names = "Every batch of this process was sound: see the message of another one"
    else:
        names = "; ".join(
            f"Batch {b.index} of epoch {b.epoch} ({shapes(b.batch)})"
            for b in broken or micro_batches
        )
    kept = (
        "none was asked for"
        if checkpoint is None
        else f"see {checkpoint}"
        if Path(checkpoint).exists()
        else "none was written yet"
    )
    return (
        f"stopped at step {step}: {what}. {names}. The weights are those before this step; last "
        f"good checkpoint: {kept}"
    )


def shapes(batch: Any) -> str:
    """What a message says of a batch: the shapes of the tensors in it, whatever holds them."""
    if isinstance(batch, Mapping):
        parts = batch.items()
    elif isinstance(batch, (tuple, list)):
        parts = zip(getattr(batch, "_fields", range(len(batch))), batch, strict=True)
    else:
        parts = [(type(batch).__name__, batch)]
    return ", ".join(
        f"{name}: {'×'.join(map(str, part.shape))}" if isinstance(part, Tensor) else str(name)
        for name, part in parts
    )
