"""Explicit against fused attention: what the n × n table of weights costs, in time, as a ratio
within one run.

    python benchmarks/attention.py            writes book/results/attention_speed.json
    … on a GPU                                attention_speed_gpu.json, with longer texts

The two take turns, so that a machine that slows down slows both; each ratio is one pair of
neighbouring runs.
"""

import torch
from device import DEVICE, ON_A_GPU, now  # beside this file

from lectures_lib import results
from lectures_lib.blocks.attention import fused_attention, scaled_dot_product_attention

LENGTHS = (32, 64, 128, 256, 512, 1024) + ((2048, 4096) if ON_A_GPU else ())
BATCH, N_HEADS, D_HEAD = 8, 8, 64  # the base Transformer's heads
PAIRS = 15


def seconds(Q: torch.Tensor, explicit: bool) -> float:
    """One forward pass, repeated until it takes long enough to be timed."""
    repeats = max(1, 2048 // Q.shape[-2])
    start = now()
    for _ in range(repeats):
        scaled_dot_product_attention(Q, Q, Q) if explicit else fused_attention(Q, Q, Q)
    return (now() - start) / repeats


@torch.inference_mode()
def ratios(n: int) -> list[float]:
    """Explicit over fused, pair by pair, after a warm-up of each."""
    Q = torch.randn(BATCH, N_HEADS, n, D_HEAD, device=DEVICE)
    seconds(Q, True), seconds(Q, False)
    return [seconds(Q, True) / seconds(Q, False) for _ in range(PAIRS)]


def main() -> None:
    """Measure every length and write the file."""
    torch.manual_seed(0)
    torch.set_num_threads(2)
    measured = {str(n): results.spread(ratios(n)) for n in LENGTHS}
    for n, ratio in measured.items():
        print(
            f"{n:>5} tokens: explicit takes {ratio['median']:.2f} times as long "
            f"({ratio['min']:.2f} to {ratio['max']:.2f})"
        )
    title = (
        f"Explicit over fused attention: time of a forward pass (batch {BATCH}, {N_HEADS} heads of "
        f"{D_HEAD}, float32)"
    )
    results.save("attention_speed" + ON_A_GPU, {"explicit_over_fused": measured}, title, seeds=[])


if __name__ == "__main__":
    main()
