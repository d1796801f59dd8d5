"""Memory: what one training step needs at its peak, for three models and for two ways to compute
attention (chapters 5 and 8).

    python benchmarks/memory.py          writes book/results/memory.json

Each measurement has a process of its own, which takes one training step; what is reported is its
peak resident memory less that of a process which only imports and builds the model. Memory is what
the operating system says it is: it repeats within some per cent.
"""

import argparse
import subprocess
import sys

import torch
import torch.nn.functional as F
from transformer import MAX_LEN, models

from lectures_lib import results
from lectures_lib.blocks.attention import fused_attention, scaled_dot_product_attention

LENGTHS = (128, 256, 512, 1024)
HEADS, D_HEAD, BATCH = 8, 64, 4
REPETITIONS = 3


def megabytes() -> float:
    """This process's peak so far."""
    return results.peak_memory() / 2**20


def training_step(name: str) -> None:
    """One step of one of transformer.py's models, on its batch."""
    model, ask = models()[name]
    before = megabytes()
    source, target = torch.randint(2, 8_000, (2, 16, 64))
    loss = F.cross_entropy(
        ask(source, target, torch.full((16,), 64)).flatten(0, 1), target.flatten()
    )
    loss.backward()
    assert MAX_LEN >= target.shape[1], "the models have positions for the batch"
    assert all(p.grad is not None for p in model.parameters() if p.requires_grad)
    print(megabytes() - before)


def attention(way: str, n: int) -> None:
    """Forward and backward of one attention over n tokens."""
    Q, K, V = (torch.randn(BATCH, HEADS, n, D_HEAD, requires_grad=True) for _ in range(3))
    before = megabytes()
    attend = scaled_dot_product_attention if way == "explicit" else fused_attention
    attend(Q, K, V).sum().backward()
    print(megabytes() - before)


def measured(*job: object) -> dict:
    """Megabytes of a job, several times, each in a new process."""
    command = [sys.executable, __file__, "--job", *map(str, job)]
    runs = [
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for _ in range(REPETITIONS)
    ]
    return results.spread([float(run.split()[-1]) for run in runs])


def main() -> None:
    """Measure everything and write the file; with --job, one thing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--job", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        torch.manual_seed(0)
        torch.set_num_threads(1)
        name, *n = arguments.job
        attention(name, int(n[0])) if n else training_step(name)
        return
    steps = {name: measured(name) for name in ("ours", "torch", "hugging_face")}
    ways = {way: {str(n): measured(way, n) for n in LENGTHS} for way in ("explicit", "fused")}
    found = {
        "training_step_megabytes": steps,
        "training_step_over_ours": {
            name: steps[name]["median"] / steps["ours"]["median"]
            for name in ("torch", "hugging_face")
        },
        "attention_megabytes": ways,
        "explicit_over_fused": {
            str(n): ways["explicit"][str(n)]["median"] / ways["fused"][str(n)]["median"]
            for n in LENGTHS
        },
    }
    print({name: found[name] for name in ("training_step_over_ours", "explicit_over_fused")})
    heads = f"{HEADS} heads of {D_HEAD}"
    title = (
        f"Peak memory of a training step (batch 16, 64 + 64 tokens), and of attention over n "
        f"tokens (batch {BATCH}, {heads})"
    )
    results.save("memory", found, title, seeds=[0])


if __name__ == "__main__":
    main()
