"""Post-norm and pre-norm, with and without warm-up: encoders of two and of six blocks write digits
backwards (chapter 5).

    python experiments/norm_order.py
        three seeds, some minutes on two cores; writes book/results/norm_order.json
    python experiments/norm_order.py --longer
        post-norm alone, six blocks, three times the steps; norm_order_longer.json

The task is chapter 4's: eight random digits, to be written backwards. Six blocks are more than it
needs; that is the point.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lectures_lib import results
from lectures_lib.blocks.layers import Encoder, TokenEmbedding, initialise
from lectures_lib.blocks.positions import SinusoidalPositions

DIGITS, LENGTH, D_MODEL = 10, 8, 64
DEPTHS = (2, 6)
STEPS, WARMUP, BATCH, LEARNING_RATE = 300, 100, 64, 1e-3
SEEDS = [0, 1, 2]
LONGER, LOWER_RATE = 900, 7e-4


class Reader(nn.Module):
    """Reads digits (batch, n) and gives logits (batch, n, 10) for the same string backwards."""

    def __init__(self, n_layers: int, pre_norm: bool):
        super().__init__()
        self.embedding = TokenEmbedding(DIGITS, D_MODEL, scale=D_MODEL**0.5)
        self.positions = SinusoidalPositions(D_MODEL, LENGTH)
        self.encoder = Encoder(n_layers, D_MODEL, 4, 2 * D_MODEL, pre_norm=pre_norm)
        initialise(self)

    def forward(self, digits: Tensor) -> Tensor:
        """The logits."""
        return self.embedding.scores(self.encoder(self.positions(self.embedding(digits))))


def accuracy(reader: nn.Module) -> float:
    """Share of digits that are right on 2,000 fresh strings."""
    digits = torch.randint(DIGITS, (2000, LENGTH))
    with torch.no_grad():
        return (reader(digits).argmax(dim=-1) == digits.flip(1)).float().mean().item()


def train(n_layers: int, pre_norm: bool, warmup: int, seed: int) -> float:
    """Train with Adam, the rate rising in a straight line for `warmup` steps; the accuracy at the
    end.
    """
    torch.manual_seed(seed)
    reader = Reader(n_layers, pre_norm)
    optimizer = torch.optim.Adam(reader.parameters(), lr=LEARNING_RATE)
    for step in range(STEPS):
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * min(1.0, (step + 1) / max(warmup, 1))
        digits = torch.randint(DIGITS, (BATCH, LENGTH))
        loss = F.cross_entropy(reader(digits).flatten(0, 1), digits.flip(1).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return accuracy(reader)


def longer(job: tuple[float, int]) -> dict[str, float]:
    """Six blocks, post-norm, no warm-up, at one rate from one seed: the accuracy by step."""
    rate, seed = job
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    reader = Reader(6, pre_norm=False)
    optimizer = torch.optim.Adam(reader.parameters(), lr=rate)
    accuracies = {}
    for step in range(1, LONGER + 1):
        digits = torch.randint(DIGITS, (BATCH, LENGTH))
        loss = F.cross_entropy(reader(digits).flatten(0, 1), digits.flip(1).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % STEPS == 0:
            accuracies[str(step)] = accuracy(reader)
            print(rate, seed, step, f"{accuracies[str(step)]:.3f}", flush=True)
    return accuracies


def main_longer() -> None:
    """Is it the order, or the 300 steps? The same with more of them, and with a lower rate."""
    rates = {f"rate_{LEARNING_RATE:g}": LEARNING_RATE, f"rate_{LOWER_RATE:g}": LOWER_RATE}
    with ProcessPoolExecutor(6) as pool:
        runs = list(pool.map(longer, product(rates.values(), SEEDS)))
    measured = {}
    for i, name in enumerate(rates):
        of = runs[i * len(SEEDS) : (i + 1) * len(SEEDS)]
        measured[name.replace(".", "_")] = results.spreads(of)
    title = (
        f"Writing {LENGTH} digits backwards, six post-norm blocks without warm-up: share of digits "
        f"that are right, by step"
    )
    results.save("norm_order_longer", {"accuracy": measured}, title, SEEDS)


def main() -> None:
    """Every depth, both orders, both ways to start, every seed."""
    torch.set_num_threads(2)
    accuracies = {}
    for n_layers in DEPTHS:
        for name, pre_norm in {"post_norm": False, "pre_norm": True}.items():
            for start, warmup in {"at_once": 0, "warm_up": WARMUP}.items():
                values = [train(n_layers, pre_norm, warmup, seed) for seed in SEEDS]
                print(n_layers, name, start, [f"{value:.3f}" for value in values], flush=True)
                accuracies.setdefault(f"blocks_{n_layers}", {}).setdefault(name, {})[start] = (
                    results.spread(values)
                )
    title = (
        f"Writing {LENGTH} digits backwards, {STEPS} steps at a rate of {LEARNING_RATE}: share of "
        f"digits that are right"
    )
    results.save("norm_order", {"accuracy": accuracies}, title, SEEDS)


if __name__ == "__main__":
    main_longer() if "--longer" in sys.argv else main()
