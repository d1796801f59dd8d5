"""Two processes on two cores, against one process with one thread and with two."""

import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from new_process import job
from torch import Tensor, nn
from turns import BATCH, N, classifier, random_batch

from lectures_lib import results, training


class RandomBatches:
    """Endless random sentences, as `training.fit` reads them."""

    def epoch(self, number: int) -> Iterator[tuple[Tensor, Tensor]]:
        """The batches of an epoch."""
        torch.manual_seed(number)
        for _ in range(1_000):
            tokens, labels = random_batch()
            yield tokens.cpu(), labels.cpu()


class Classifier(nn.Module):
    """Body and head in one module, as processes want to share it."""

    def __init__(self):
        super().__init__()
        self.bert, self.head, _ = classifier()

    def forward(self, tokens: Tensor) -> Tensor:
        """The scores of two classes."""
        return self.head(self.bert(tokens).pooled)


def processes_job(threads: str, n_steps: str) -> None:
    """Train as one of several processes; the first prints the tokens a second of all."""
    torch.set_num_threads(int(threads))
    model = Classifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)

    def loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
        return F.cross_entropy(model(batch[0]), batch[1])

    def train(n: int) -> float:
        start = time.perf_counter()
        training.fit(model, RandomBatches(), loss, optimizer, steps=n, progress=False)
        return time.perf_counter() - start

    train(2)
    # What fit does around its steps is the same for few and for many: the difference of two runs is
    # steps alone.
    short, long = train(1), train(1 + int(n_steps))
    n_processes = int(os.environ.get("WORLD_SIZE", "1"))
    if int(os.environ.get("RANK", "0")) == 0:
        print(n_processes * int(n_steps) * BATCH * N / (long - short))
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def processes(rounds: int, n_steps: int) -> dict[str, Any]:
    """Two processes on two cores, against one process with one thread and with two. Each launch
    takes its turn.
    """
    one, two = (
        [sys.executable],
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"],
    )
    jobs = {"one": (one, "1"), "one_with_two_threads": (one, "2"), "two": (two, "1")}
    speeds = [
        {
            name: job(launcher, __file__, threads, str(n_steps))
            for name, (launcher, threads) in jobs.items()
        }
        for _ in range(rounds)
    ]
    return {
        f"two_over_{name}": results.spread([s["two"] / s[name] for s in speeds])
        for name in jobs
        if name != "two"
    } | {
        "two_threads_over_one": results.spread(
            [s["one_with_two_threads"] / s["one"] for s in speeds]
        )
    }


if __name__ == "__main__":
    processes_job(*sys.argv[1:])
