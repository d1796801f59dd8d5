"""Self-attention (chapter 2)."""

import math
from random import Random

import torch

from lectures_lib.blocks.attention import causal_mask
from lectures_lib.exam.question import Drawn, Question, asked_in, row

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=2)


@_asked("Attention by hand", points=8)
def attention_by_hand(chance: Random) -> Drawn:
    """Three keys, one query, d_k = 4."""
    q = torch.tensor([2.0, 0.0, 2.0, 0.0])
    K = torch.tensor([[chance.choice([0.0, 1.0, 2.0]) for _ in range(4)] for _ in range(3)])
    V = torch.tensor([[4.0, 0.0], [0.0, 4.0], [chance.choice([4.0, 8.0]), 4.0]])
    scores = K @ q / math.sqrt(4)
    weights = scores.softmax(dim=-1)
    keys = ", ".join(row(k, 0) for k in K)
    return Drawn(
        f"A query is {row(q, 0)}. The three keys are {keys}, their values "
        f"{', '.join(row(v, 0) for v in V)}. Compute the scaled scores, the weights and the "
        f"output. What changes if 5 is added to all three scores?",
        f"Scores, divided by √4 = 2: {row(scores)}. Weights: {row(weights)}. Output: the "
        f"weighted mean of the values, {row(weights @ V)}. Adding 5 changes nothing: $e^5$ is a "
        f"factor of every term, above and below.",
    )


@_asked("What may be seen", points=6)
def what_may_be_seen(chance: Random) -> Drawn:
    """A causal mask joined with padding."""
    n = chance.choice([4, 5])
    length = n - chance.choice([1, 2])
    mask = causal_mask(n) & (torch.arange(n) < length)
    table = "; ".join("".join(str(int(x)) for x in row) for row in mask)
    return Drawn(
        f"A decoder reads a sentence of {length} words that is filled up to {n}. Write the mask "
        f"(1 = may be looked at) that joins causality and padding, rows for queries. How many "
        f"ones has it? The scores are all equal: what weights has the last row?",
        f"{table}. It has {int(mask.sum())} ones. In the last row {length} keys are open, each "
        f"with the weight 1/{length} = {1 / length:.2f}. (It belongs to a padded place; nobody "
        f"should read its output.)",
    )


@_asked("A mask that comes too late", points=6)
def mask_too_late(chance: Random) -> Drawn:
    """Masking after the softmax loses what the hidden keys took."""
    scores = torch.tensor([1.0, 2.0, float(chance.choice([3, 4]))])
    late = scores.softmax(dim=-1) * torch.tensor([1.0, 1.0, 0.0])
    right = torch.cat([scores[:2].softmax(dim=-1), torch.zeros(1)])
    return Drawn(
        f"Three scores are {row(scores, 0)}, and the third key must not be looked at. One program "
        f"sets its score to minus infinity, another sets its *weight* to zero after the softmax. "
        f"Give both results and say what is wrong with the second.",
        f"Before: {row(right)}, which sums to 1. After: {row(late)}, which sums to "
        f"{late.sum():.2f}: what the hidden key had taken is lost, and the output becomes shorter "
        f"by this factor. The ratio of the first two is right in both.",
    )
