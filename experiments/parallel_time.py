"""How long one layer takes: self-attention against a GRU and a convolution, over the length of the
text (chapter 5).

    python experiments/parallel_time.py
        about two minutes on two cores; writes book/results/parallel_time.json

All three map `(batch, n, 256)` to `(batch, n, 256)`. Rounds are interleaved (each length and layer
in turn, again and again), and a ratio is taken within a round, so that a busy moment of the machine
hits both sides of it.
"""

import time

import torch
from torch import Tensor, nn

from lectures_lib import results
from lectures_lib.blocks.attention import MultiHeadAttention

D_MODEL, N_HEADS, KERNEL = 256, 4, 3
LENGTHS = (32, 128, 512, 2048)
BATCHES = (1, 16)
ROUNDS = 25


class Convolution(nn.Module):
    """A convolution over positions, batch-first like the other two."""

    def __init__(self, d_model: int, kernel: int):
        super().__init__()
        self.convolution = nn.Conv1d(d_model, d_model, kernel, padding=kernel // 2)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, n, d_model) to the same."""
        return self.convolution(x.transpose(1, 2)).transpose(1, 2)


class Recurrence(nn.Module):
    """A GRU that hands on all its states."""

    def __init__(self, d_model: int):
        super().__init__()
        self.gru = nn.GRU(d_model, d_model, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, n, d_model) to the same."""
        return self.gru(x)[0]


def seconds(layer: nn.Module, x: Tensor, backward: bool) -> float:
    """Time of one forward pass, or of one forward and backward pass."""
    start = time.perf_counter()
    if backward:
        layer(x).sum().backward()
    else:
        with torch.no_grad():
            layer(x)
    return time.perf_counter() - start


def main() -> None:
    """Every layer at every length, forward alone and with the backward pass."""
    torch.set_num_threads(2)
    torch.manual_seed(0)
    layers = {
        "attention": MultiHeadAttention(D_MODEL, N_HEADS),
        "gru": Recurrence(D_MODEL),
        "convolution": Convolution(D_MODEL, KERNEL),
    }
    measured = {}
    for kind, backward in {"forward": False, "training": True}.items():
        measured[kind] = {}
        for batch in BATCHES:
            inputs = {n: torch.randn(batch, n, D_MODEL) for n in LENGTHS if batch * n <= 8192}
            times = {name: {n: [] for n in inputs} for name in layers}
            for round_ in range(ROUNDS + 1):
                for n, x in inputs.items():
                    for name, layer in layers.items():
                        taken = seconds(layer, x, backward)
                        if round_:  # the first round warms up
                            times[name][n].append(taken)
            measured[kind][f"batch_{batch}"] = {
                f"{name}_over_attention": {
                    str(n): results.spread(
                        [a / b for a, b in zip(times[name][n], times["attention"][n], strict=True)]
                    )
                    for n in inputs
                }
                for name in ("gru", "convolution")
            }
            for name, lengths in measured[kind][f"batch_{batch}"].items():
                print(
                    kind,
                    batch,
                    name,
                    {n: f"{ratio['median']:.2f}" for n, ratio in lengths.items()},
                    flush=True,
                )
    title = (
        f"Time of one layer of width {D_MODEL} over the length of the text, as a multiple of "
        f"self-attention's"
    )
    results.save("parallel_time", measured, title, [])


if __name__ == "__main__":
    main()
