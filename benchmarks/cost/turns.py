"""Contestants that take turns: a training step or a forward pass of MiniLM, and their useful tokens
a second.
"""

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lectures_lib import results
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
BATCH, N = 16, 64  # of sentences that are random numbers


class Turn(NamedTuple):
    """One contestant's turn: what it does, and how many useful tokens that is."""

    run: Callable[[], Any]
    tokens: Callable[[Any], int]


def classifier(**changes: Any) -> tuple[Bert, nn.Linear, torch.optim.Optimizer]:
    """MiniLM without dropout, a layer for two classes on its pooled vector, and an optimizer for
    both.
    """
    torch.manual_seed(0)
    pretrained = Bert.from_pretrained(minilm.checkpoint())
    model = Bert(replace(pretrained.config, dropout=0.0, **changes)).to(DEVICE)
    model.load_state_dict(pretrained.state_dict())
    head = nn.Linear(model.config.d_model, 2).to(DEVICE)
    return (
        model.train(),
        head,
        torch.optim.AdamW([*model.parameters(), *head.parameters()], lr=1e-5),
    )


def finish() -> None:
    """Wait until the device has done what it was told."""
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def step(
    pooled: Callable[[], Tensor],
    head: nn.Linear,
    optimizer: torch.optim.Optimizer,
    labels: Tensor,
    autocast: bool = False,
) -> None:
    """One training step."""
    with torch.autocast(DEVICE, torch.bfloat16) if autocast else nullcontext():
        loss = F.cross_entropy(head(pooled()), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def tokens_per_second(turn: Turn) -> float:
    """Useful tokens a second of one turn."""
    finish()
    start = time.perf_counter()
    done = turn.run()
    finish()
    return turn.tokens(done) / (time.perf_counter() - start)


def compared(turns: dict[str, Turn], rounds: int, base: str) -> dict[str, dict]:
    """Each contestant's useful tokens a second over the base's, round by round, after a round to
    warm up.
    """
    speeds = [
        {name: tokens_per_second(turn) for name, turn in turns.items()} for _ in range(rounds + 1)
    ][1:]
    return {
        name: results.spread([s[name] / s[base] for s in speeds]) for name in turns if name != base
    }


def random_batch(batch: int = BATCH, n: int = N) -> tuple[Tensor, Tensor]:
    """Token numbers, all of them useful, and labels."""
    return torch.randint(1_000, 30_000, (batch, n), device=DEVICE), torch.randint(
        0, 2, (batch,), device=DEVICE
    )


def steps(
    model: nn.Module,
    head: nn.Linear,
    optimizer: torch.optim.Optimizer,
    batch: int = BATCH,
    autocast: bool = False,
) -> Turn:
    """A training step on random sentences; of small batches as many as make up for it."""

    def run() -> int:
        repeats = max(1, BATCH // batch)
        for _ in range(repeats):
            tokens, labels = random_batch(batch)
            step(lambda tokens=tokens: model(tokens).pooled, head, optimizer, labels, autocast)
        return repeats * batch * N

    return Turn(run, tokens=lambda done: done)


def reading(model: nn.Module, autocast: bool = False) -> Turn:
    """A forward pass alone."""

    @torch.inference_mode()
    def run() -> int:
        with torch.autocast(DEVICE, torch.bfloat16) if autocast else nullcontext():
            model(random_batch()[0])
        return BATCH * N

    return Turn(run, tokens=lambda done: done)
