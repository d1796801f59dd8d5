"""Training a Transformer (chapter 8)."""

import math
from random import Random

import torch

from lectures_lib.exam.question import Drawn, Question, asked_in

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=8)


@_asked("Smoothed labels", points=6)
def smoothed_labels(chance: Random) -> Drawn:
    """The loss with label smoothing, spread over all words."""
    n, epsilon = chance.choice([4, 5]), 0.1
    p = torch.tensor([0.7] + [0.3 / (n - 1)] * (n - 1))
    target = torch.full((n,), epsilon / n)
    target[0] += 1 - epsilon
    plain, smooth = -p[0].log(), -(target * p.log()).sum()
    return Drawn(
        f"Of {n} words a model gives the right one 0.7 and the others equal shares. Compute the "
        f"cross-entropy, and the one with label smoothing ε = 0.1 (spread over all {n} words). "
        f"What share for the right word makes the smoothed loss smallest?",
        f"−ln 0.7 = {plain:.3f}. The wanted shares are {target[0]:.3f} and {target[1]:.3f}, the "
        f"loss {smooth:.3f}. It is smallest where the model gives the wanted shares: "
        f"{target[0]:.3f}, not 1.",
        marks=(
            (2, "the plain loss"),
            (3, "the wanted shares and the smoothed loss"),
            (1, "where it is smallest"),
        ),
        wrong="ε is taken from the right word and shared among the others only.",
        reveals="A variant that exists; here the share ε / n goes to every word, the right one "
        "too, as in PyTorch.",
    )


@_asked("Warming up", points=5)
def warming_up(chance: Random) -> Drawn:
    """The paper's schedule at three steps."""
    d, warm = chance.choice([256, 512]), 4000

    def rate(step):
        return d**-0.5 * min(step**-0.5, step * warm**-1.5)

    late = chance.choice([16_000, 36_000])
    return Drawn(
        f"The paper's rate is d^(−1/2) · min(step^(−1/2), step · {warm}^(−3/2)), with d = {d}. "
        f"How large is it at step 1,000, at its top, and at step {late:,}?",
        f"{rate(1000):.2e}; at step {warm:,} {rate(warm):.2e}, four times as much; "
        f"{rate(late):.2e}, the top divided by √({late}/{warm}) = {math.sqrt(late / warm):g}.",
        marks=(
            (2, "during the warm-up"),
            (2, "at the top"),
            (1, "after it"),
        ),
        wrong="The rate at the top is lr = 1.",
        reveals="The schedule is taken for a factor; here it is the rate itself, and d sets its"
        " size.",
    )
