"""What a model without positions cannot do: write a string of digits backwards (chapter 4).

    python experiments/order.py
        five seeds, about two minutes on two cores; writes book/results/order.json

Three small readers differ in their positions only. The digit at place i depends on the digit at
place 7 - i; without positions the best one can do is to guess the most frequent of the other
digits, and how often that is right can be computed.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lectures_lib import results
from lectures_lib.blocks.attention import MultiHeadAttention
from lectures_lib.blocks.positions import LearnedPositions, SinusoidalPositions

DIGITS, LENGTH, D_MODEL, N_HEADS = 10, 8, 32, 4
STEPS, BATCH, LEARNING_RATE = 400, 64, 3e-3
SEEDS = [0, 1, 2, 3, 4]
OTHER_LENGTHS = (6, 10, 12)


class Reader(nn.Module):
    """Two attention layers with a small feed-forward net between them, over digits with or without
    positions.
    """

    def __init__(self, positions: nn.Module, embedding_std: float = 1.0):
        super().__init__()
        self.embedding = nn.Embedding(DIGITS, D_MODEL)
        nn.init.normal_(self.embedding.weight, std=embedding_std)
        self.positions = positions
        self.first, self.second = (
            MultiHeadAttention(D_MODEL, N_HEADS),
            MultiHeadAttention(D_MODEL, N_HEADS),
        )
        self.feed_forward = nn.Sequential(nn.Linear(D_MODEL, 64), nn.ReLU(), nn.Linear(64, D_MODEL))
        self.output = nn.Linear(D_MODEL, DIGITS)

    def forward(self, digits: Tensor) -> Tensor:
        """Logits (batch, n, 10) for digits (batch, n)."""
        x = self.positions(self.embedding(digits))
        x = x + self.first(x)
        x = x + self.feed_forward(x)
        return self.output(x + self.second(x))


READERS = {
    "no_positions": lambda: Reader(nn.Identity()),
    "sinusoids": lambda: Reader(SinusoidalPositions(D_MODEL, max_len=64)),
    "learned": lambda: Reader(LearnedPositions(D_MODEL, max_len=64), embedding_std=0.02),
    "learned_too_small": lambda: Reader(LearnedPositions(D_MODEL, max_len=64), embedding_std=1.0),
}


def accuracy(reader: nn.Module, n: int = LENGTH) -> float:
    """Share of digits that are right on 2,000 fresh strings of n digits."""
    digits = torch.randint(DIGITS, (2000, n))
    with torch.no_grad():
        return (reader(digits).argmax(dim=-1) == digits.flip(1)).float().mean().item()


def train(reader: nn.Module, steps: int = STEPS, every: int = 20) -> list[float]:
    """Train on fresh random strings; the accuracy before the first step and after every `every`
    steps.
    """
    optimizer = torch.optim.Adam(reader.parameters(), lr=LEARNING_RATE)
    curve = [accuracy(reader)]
    for step in range(1, steps + 1):
        digits = torch.randint(DIGITS, (BATCH, LENGTH))
        loss = F.cross_entropy(reader(digits).flatten(0, 1), digits.flip(1).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % every == 0:
            curve.append(accuracy(reader))
    return curve


def best_guess(n: int = LENGTH, strings: int = 200_000) -> float:
    """How often the most frequent of the other n - 1 digits is right: the ceiling for a reader
    without positions.
    """
    digits = F.one_hot(torch.randint(DIGITS, (strings, n)), DIGITS)
    others = digits.sum(dim=1, keepdim=True) - digits
    return (others.amax(dim=-1) / (n - 1)).float().mean().item()


def main() -> None:
    """Every reader with every seed."""
    torch.set_num_threads(2)
    torch.manual_seed(0)
    measured = {
        "best_guess_without_positions": best_guess(),
        "best_guess_at_other_lengths": {str(n): best_guess(n) for n in OTHER_LENGTHS},
    }
    accuracies = {name: [] for name in READERS}
    elsewhere = {name: {n: [] for n in OTHER_LENGTHS} for name in READERS}
    for name, make in READERS.items():
        for seed in SEEDS:
            torch.manual_seed(seed)
            reader = make()
            accuracies[name].append(train(reader, every=STEPS)[-1])
            for n in OTHER_LENGTHS:
                elsewhere[name][n].append(accuracy(reader, n))
        print(
            name,
            [f"{a:.3f}" for a in accuracies[name]],
            {n: [f"{a:.2f}" for a in v] for n, v in elsewhere[name].items()},
        )
    measured["accuracy"] = {name: results.spread(values) for name, values in accuracies.items()}
    measured["accuracy_at_other_lengths"] = {
        name: {str(n): results.spread(values) for n, values in lengths.items()}
        for name, lengths in elsewhere.items()
    }
    title = f"Writing {LENGTH} digits backwards after {STEPS} steps: share of digits that are right"
    results.save("order", measured, title, SEEDS)


if __name__ == "__main__":
    main()
