"""Blocks that keep their inputs only and compute the rest again: time of a training step, and its
memory.
"""

import sys
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from new_process import job
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint
from turns import DEVICE, classifier, compared, random_batch, steps

from lectures_lib import results
from lectures_lib.models.bert import Bert, BertConfig
from lectures_lib.training import cost

MEMORY_BATCH, MEMORY_N = 16, 256


class Checkpointed(nn.Module):
    """A block that keeps its input only, and computes the rest once more in the backward pass."""

    def __init__(self, block: nn.Module):
        super().__init__()
        self.block = block

    def forward(self, *inputs: Any) -> Tensor:
        """What the block gives."""
        return checkpoint(self.block, *inputs, use_reentrant=False)


def with_checkpoints(model: Bert) -> Bert:
    """The same model, each block checkpointed."""
    model.encoder.blocks = nn.ModuleList(Checkpointed(block) for block in model.encoder.blocks)
    return model


def checkpointing(rounds: int, repetitions: int) -> dict[str, Any]:
    """Time of a training step with checkpoints over without, and the memory of forward and backward
    pass.
    """
    model, head, optimizer = classifier()
    other, other_head, other_optimizer = classifier()
    turns = {
        "all_kept": steps(model, head, optimizer),
        "checkpointed": steps(with_checkpoints(other), other_head, other_optimizer),
    }
    speed = compared(turns, rounds, "all_kept")["checkpointed"]
    ways = {way: megabytes_of(way, repetitions) for way in ("all_kept", "checkpointed")}
    kept = cost.training_bytes(model.config, MEMORY_N, MEMORY_BATCH)
    return {
        "time": results.spread([1 / value for value in speed["values"]]),
        "megabytes": ways,
        "memory": ways["checkpointed"]["median"] / ways["all_kept"]["median"],
        "counted_megabytes": (kept["linear"] + kept["attention"]) / 2**20,
    }


def memory_job(way: str) -> None:
    """Print the peak memory of one forward and backward pass, in megabytes."""
    torch.set_num_threads(1)
    model, head = (
        Bert(replace(BertConfig.MINILM, dropout=0.0)).to(DEVICE),
        nn.Linear(BertConfig.MINILM.d_model, 2).to(DEVICE),
    )
    model = with_checkpoints(model) if way == "checkpointed" else model
    tokens, labels = random_batch(MEMORY_BATCH, MEMORY_N)
    before = peak_megabytes(forget=True)
    F.cross_entropy(head(model(tokens).pooled), labels).backward()
    print(peak_megabytes() - before)


def peak_megabytes(forget: bool = False) -> float:
    """The most memory so far, of the GPU or (Linux) of this process; `forget`: from now on, and
    what is in use now.
    """
    if DEVICE == "cuda":
        if forget:
            torch.cuda.reset_peak_memory_stats()
        return torch.cuda.max_memory_allocated() / 2**20
    return results.peak_memory(forget) / 2**20


def megabytes_of(way: str, repetitions: int) -> dict:
    """The same several times, each in a new process."""
    return results.spread([job([sys.executable], __file__, way) for _ in range(repetitions)])


if __name__ == "__main__":
    memory_job(*sys.argv[1:])
