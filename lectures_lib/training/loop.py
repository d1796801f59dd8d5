"""One training loop for every model of the book, from one CPU to several machines (chapter 8).

It is the loop that the chapter writes in plain PyTorch (forward, backward, clip, step), with
`accelerate` to put it on whatever devices there are, and `checkpoints` to survive their failures.
It knows no model: a function that it is given computes the loss.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from functools import partial
from inspect import signature
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from lectures_lib.checks import check_numbers
from lectures_lib.modes import evaluating, modes_of, set_modes
from lectures_lib.training import checkpoints


@runtime_checkable
class Epochs(Protocol):
    """Data to train on, such as `data.Batches`: any epoch's batches can be made again, in the same
    order.

    A batch is a (named) tuple of tensors. If it has `n_targets`, the number of things its loss is
    the mean of, then larger batches count for more where several make one step; without, all count
    the same.
    """

    def epoch(self, number: int) -> Iterable[Any]:
        """The batches of epoch 0, 1, 2, …"""
        ...


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
) -> History:
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
    _check_parts(model, batches, optimizer, scheduler, checkpoint)
    home, modes = next(model.parameters()).device, modes_of(model)
    accelerator = _accelerator(mixed_precision)
    trained, stepper = accelerator.prepare(model, optimizer)
    stream, history = (
        Stream(batches, accelerator.process_index, accelerator.num_processes),
        History(),
    )
    run = _Run(accelerator, model, optimizer, scheduler, stream, history, accumulate)
    if resume and Path(checkpoint).exists():
        run.load(Path(checkpoint))
    bar = _bar(history.step, steps, progress and accelerator.is_main_process)
    try:
        while history.step < steps:
            trained.train()
            micro_batches = [stream.next() for _ in range(accumulate)]
            value = training_step(run, trained, stepper, loss, micro_batches, clip, checkpoint)
            bar.set_postfix_str(f"loss {value:.3f}", refresh=False)
            bar.update()
            if evaluate is not None and (
                history.step % evaluate_every == 0 or history.step == steps
            ):
                with evaluating(model):
                    history.evaluations[history.step] = evaluate(model)
            if checkpoint is not None and (history.step % save_every == 0 or history.step == steps):
                run.save(Path(checkpoint))
    finally:
        bar.close()
        # take the mixed precision off again
        accelerator.unwrap_model(trained, keep_fp32_wrapper=False)
        model.to(home)
        set_modes(modes)
    return history


def training_step(
    run: "_Run",
    trained: nn.Module,
    stepper: Any,
    loss: Callable[[nn.Module, Any], Tensor],
    micro_batches: "list[Named]",
    clip: float,
    checkpoint: str | Path | None = None,
) -> float:
    """One step of `fit`: forward, backward, clip, step. Its loss, the learning rate and the
    gradient's length go into the history.

    Args:
        run: accelerator, scheduler, history.  trained, stepper: model and optimizer as `accelerate`
            has prepared them.
        loss: of a batch.  micro_batches: whose gradients are added up.
        clip: the longest gradient allowed.  checkpoint: what a message names when the numbers
            break.

    Raises:
        FloatingPointError: when the loss or the gradient is NaN or infinite.
    """
    n_targets = [getattr(named.batch, "n_targets", 1) for named in micro_batches]
    # What a batch would have to have to count for 1. Several processes average their gradients, so
    # that is a mean too.
    ordinary = run.mean_over_processes(sum(n_targets)) or 1
    stepper.zero_grad()
    parts = []
    for named, n in zip(micro_batches, n_targets, strict=True):
        # Processes exchange gradients once a step, in the last of its backward passes.
        with nullcontext() if named is micro_batches[-1] else run.accelerator.no_sync(trained):
            part = _one_number(loss(trained, run.to_device(named.batch))) * (n / ordinary)
            run.accelerator.backward(part)
        parts.append(part.item())
    value = run.mean_over_processes(sum(parts))
    norm = float(run.accelerator.clip_grad_norm_(trained.parameters(), clip))
    # In fp16 a gradient may overflow: accelerate then leaves this step out, and scales the next
    # loss down.
    if not math.isfinite(value) or (not math.isfinite(norm) and run.accelerator.scaler is None):
        raise FloatingPointError(
            _what_broke(run.history.step, value, norm, micro_batches, parts, checkpoint)
        )
    run.history.note(value, float(stepper.param_groups[0]["lr"]), norm)
    stepper.step()
    if run.scheduler is not None and not stepper.step_was_skipped:
        run.scheduler.step()
    return value


class Named(NamedTuple):
    """A batch, and which one it is."""

    epoch: int
    index: int
    batch: Any


class Stream:
    """The batches of epoch after epoch, dealt out to the processes in turn like cards.

    Args:
        batches: the data.
        process: which of the processes this is, from 0.  n_processes: how many there are.
    """

    def __init__(self, batches: Epochs, process: int = 0, n_processes: int = 1):
        self.batches, self.process, self.n_processes = batches, process, n_processes
        self.go_to(0, 0)

    def go_to(self, epoch: int, index: int) -> None:
        """Let this be the next batch."""
        self.epoch, self.index = epoch, index
        self._rest = islice(_makers(self.batches, epoch), index, None)

    def next(self) -> Named:
        """This process's batch of one deal. Those of the others are not made, where the data can
        leave them out.
        """
        epoch, index, make = [self._draw() for _ in range(self.n_processes)][self.process]
        return Named(epoch, index, make())

    def _draw(self) -> tuple[int, int, Callable[[], Any]]:
        for make in self._rest:
            drawn = self.epoch, self.index, make
            self.index += 1
            return drawn
        if self.index == 0:
            raise ValueError(f"epoch {self.epoch} of the data has no batches")
        self.go_to(self.epoch + 1, 0)
        return self._draw()


def _makers(batches: Epochs, epoch: int) -> Iterator[Callable[[], Any]]:
    """For each batch of an epoch a function that makes it; where the data makes them itself, they
    are there already.
    """
    if hasattr(batches, "makers"):
        return iter(batches.makers(epoch))
    return (partial(_itself, batch) for batch in batches.epoch(epoch))


def _itself(batch: Any) -> Any:
    return batch


class _Run:
    """What `fit` shares between processes, and saves."""

    def __init__(self, accelerator, model, optimizer, scheduler, stream, history, accumulate):
        self.accelerator, self.stream, self.history, self.accumulate = (
            accelerator,
            stream,
            history,
            accumulate,
        )
        self.trained, self.scheduler = (model, optimizer, scheduler), scheduler

    def mean_over_processes(self, number: float | int) -> float | int:
        if self.accelerator.num_processes == 1:
            return number
        tensor = torch.tensor(number, dtype=torch.float64, device=self.accelerator.device)
        return self.accelerator.reduce(tensor, "mean").item()

    def to_device(self, batch: Any) -> Any:
        from accelerate.utils import send_to_device

        return send_to_device(batch, self.accelerator.device)

    def save(self, path: Path) -> None:
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
                path,
                *self.trained,
                generators,
                {"history": asdict(self.history), "scaler": scaler, **place},
            )
        self.accelerator.wait_for_everyone()

    def load(self, path: Path) -> None:
        facts, n_processes = checkpoints.load(
            path, *self.trained, process=self.accelerator.process_index
        )
        then, now = (
            (n_processes, facts["accumulate"]),
            (self.accelerator.num_processes, self.accumulate),
        )
        if then != now:
            raise checkpoints.CheckpointError(
                f"{path} was written with (processes, accumulate) = {then}; this run has {now}"
            )
        if self.accelerator.scaler is not None and facts["scaler"]:
            self.accelerator.scaler.load_state_dict(facts["scaler"])
        for name, kept in facts["history"].items():
            setattr(self.history, name, kept)
        self.history.evaluations = {
            int(step): numbers for step, numbers in self.history.evaluations.items()
        }
        self.stream.go_to(facts["epoch"], facts["index"])


def _accelerator(mixed_precision: str | None) -> Any:
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


def _bar(start: int, steps: int, shown: bool) -> Any:
    from tqdm.auto import tqdm

    return tqdm(initial=start, total=steps, disable=not shown, unit="step", mininterval=1.0)


def _check_parts(
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


def _one_number(loss: Any) -> Tensor:
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


def _what_broke(
    step: int,
    loss: float,
    norm: float,
    micro_batches: list[Named],
    parts: list[float],
    checkpoint: str | Path | None,
) -> str:
    what = (
        f"the loss is {loss}"
        if not math.isfinite(loss)
        else f"the loss is {loss:.4g} but its gradient has length {norm}"
    )
    broken = [
        named for named, part in zip(micro_batches, parts, strict=True) if not math.isfinite(part)
    ]
    if not math.isfinite(loss) and not broken:
        names = "Every batch of this process was sound: see the message of another one"
    else:
        names = "; ".join(
            f"Batch {b.index} of epoch {b.epoch} ({_shapes(b.batch)})"
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


def _shapes(batch: Any) -> str:
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
