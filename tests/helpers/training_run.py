"""A small run for test_training.py, which also starts it as a program: to kill it, and in two
processes at once.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from lectures_lib.training import bert_schedule, fit


class Sample(NamedTuple):
    """Some inputs and what they should give; batches of different sizes, so that their means must
    be weighed.
    """

    x: Tensor
    y: Tensor

    @property
    def n_targets(self) -> int:
        return len(self.x)


class Samples:
    """Batches of 2, 3, 4, 5, 6 rows, other numbers in every epoch; `joined` of them at a time made
    into one.
    """

    def __init__(self, joined: int = 1):
        self.joined = joined

    def epoch(self, number):
        generator = torch.Generator().manual_seed(number)
        rows = [torch.randn(n, 4, generator=generator) for n in (2, 3, 4, 5, 6, 2)]
        for i in range(0, len(rows), self.joined):
            x = torch.cat(rows[i : i + self.joined])
            yield Sample(x, x.square().sum(-1))


def squared_error(model, batch):
    return F.mse_loss(model(batch.x)[:, 0], batch.y)


def start(dropout=0.3):
    """A model whose dropout draws random numbers, Adam with its moments, and a schedule."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(dropout), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    return model, optimizer, LambdaLR(optimizer, bert_schedule(5, 100))


def train(model, optimizer, scheduler, batches=None, loss=squared_error, **options):
    options = {"steps": 40, "progress": False} | options
    return fit(model, batches or Samples(), loss, optimizer, scheduler, **options)


def run_until_killed(checkpoint):
    """Train, saying each step as it begins, until the one who started this has heard enough."""

    def telling(model, batch):
        print("step", flush=True)
        return squared_error(model, batch)

    train(*start(), loss=telling, checkpoint=checkpoint, save_every=3)


def run_in_processes(folder):
    """As one of several processes: a run, and the same with an interruption; the first process
    writes what came out.
    """
    folder = Path(folder)
    whole, plain = start(), start(dropout=0.0)
    train(*whole, steps=8)
    train(*start(), steps=5, checkpoint=folder / "checkpoint", save_every=2)
    resumed = start()
    train(*resumed, steps=8, checkpoint=folder / "checkpoint", save_every=2, resume=True)
    history = train(*plain, steps=8)
    same = [
        torch.equal(a, b)
        for a, b in zip(whole[0].parameters(), resumed[0].parameters(), strict=True)
    ]
    process = torch.distributed.get_rank()
    results = dict(plain[0].state_dict()) | {"same": torch.tensor(all(same))}
    results |= {name: torch.tensor(getattr(history, name)) for name in ("losses", "gradient_norms")}
    save_file(results, folder / f"process_{process}.safetensors")
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    torch.set_num_threads(1)
    {"until_killed": run_until_killed, "in_processes": run_in_processes}[sys.argv[1]](sys.argv[2])
