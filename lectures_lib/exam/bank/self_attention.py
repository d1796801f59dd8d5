"""Self-attention (chapter 2)."""

import math
from random import Random

import torch

from lectures_lib.blocks.attention import causal_mask
from lectures_lib.exam import pictures
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
        f"Scores, divided by √4 = 2: {row(scores)}. Weights: {row(weights, 3)}. Output: the "
        f"weighted mean of the values, {row(weights @ V)}. Adding 5 changes nothing: "
        f"e<sup>5</sup> is a factor of every term, above and below.",
        marks=(
            (2, "the three scores, scaled"),
            (2, "the weights, summing to 1 but for rounding"),
            (2, "the output as the weighted mean of the values"),
            (2, "5 cancels, with the reason"),
        ),
        wrong="The weights are multiplied with the keys.",
        reveals="Keys and values are not told apart: keys decide how much, values are what is "
        "taken.",
    )


@_asked("What may be seen", points=6)
def what_may_be_seen(chance: Random) -> Drawn:
    """A causal mask joined with padding."""
    n = chance.choice([4, 5])
    length = n - chance.choice([1, 2])
    mask = causal_mask(n) & (torch.arange(n) < length)
    places = [str(i + 1) if i < length else "PAD" for i in range(n)]
    table = "; ".join("".join(str(int(x)) for x in row) for row in mask)
    return Drawn(
        f"A decoder reads a sentence of {length} words that is filled up to {n}. Write the mask "
        f"(1 = may be looked at) that joins causality and padding, rows for queries. How many "
        f"ones has it? The scores are all equal: what weights has the last row?",
        f"{table}. It has {int(mask.sum())} ones. In the last row {length} keys are open, each "
        f"with the weight 1/{length} = {1 / length:.2f}. (It belongs to a padded place; nobody "
        f"should read its output.)",
        picture=pictures.mask("what_may_be_seen", "An empty mask", places, places),
        solved=pictures.mask(
            "what_may_be_seen_solved", "Causality and padding", places, places, (~mask).tolist()
        ),
        marks=(
            (3, "the mask, row by row"),
            (1, "its ones"),
            (2, "equal weights over the open keys"),
        ),
        wrong="The padded rows are set to zero throughout.",
        reveals="Padding is hidden as a key; a query without any key would be a softmax over "
        "nothing.",
    )


@_asked("A mask that comes too late", points=6, kind="predict")
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
        marks=(
            (2, "the weights with the score masked"),
            (2, "the weights cut afterwards"),
            (2, "the sum is below 1, so the output shrinks"),
        ),
        wrong="Both are the same, since the third weight is zero in both.",
        reveals="The normaliser is forgotten: a hidden key must leave the sum below the "
        "fraction, too.",
    )


@_asked("Runs, and is wrong", points=6, kind="find the bug")
def softmax_along_what(chance: Random) -> Drawn:
    """Attention with the wrong axis or the wrong scale, one line wrong."""
    axis = chance.random() < 0.5
    scale, weigh = "math.sqrt(Q.shape[-1])", "scores.softmax(dim=-1)"
    if axis:
        weigh = "scores.softmax(dim=-2)"
    else:
        scale = "math.sqrt(Q.shape[-2])"
    code = "\n".join(
        [
            "import math",
            "",
            "def attention(Q, K, V, mask):",
            '    """Q, K, V: (batch, n, d_k); mask True = may look."""',
            "    scores = Q @ K.transpose(-2, -1)",
            f"    scores = scores / {scale}",
            "    scores = scores.masked_fill(~mask, -math.inf)",
            f"    weights = {weigh}",
            "    return weights @ V",
        ]
    )
    if axis:
        line, mended = 8, "    weights = scores.softmax(dim=-1)"
        says = (
            "Each *column* sums to 1: every key is shared out among the queries. With the right "
            "axis each query shares out one unit among its keys, so each *row* sums to 1. No error "
            "is raised, because the shape of the weights is the same. With padding, the column of "
            "a hidden key is nothing but minus infinity, and every output is not a number."
        )
        check = "values that are all 1, under a causal mask: every output must be 1, and is not"
    else:
        line, mended = 6, "    scores = scores / math.sqrt(Q.shape[-1])"
        says = (
            "The scores are divided by the root of the sentence's length n in place of √dₖ. The "
            "weights still sum to 1 and no error is raised, but a word's output now "
            "depends on how long the sentence is filled up to, even if the padding is masked."
        )
        check = "the output of a sentence before and after it is padded (and masked)"
    return Drawn(
        "The code runs and gives an output of the right shape, but one line is wrong. Which? Write "
        "it as it should be, say what goes wrong without an error, and name a test that finds it.",
        f"{says} A test: {check}.",
        marks=((2, "the line"), (1, "mended"), (2, "what goes wrong"), (1, "a test that sees it")),
        wrong="Line 7: masked places should get 0.",
        reveals="Scores and weights are confused: a score of 0 still gets its share, "
        "e<sup>0</sup> = 1; only minus infinity becomes a weight of 0.",
        code=code, line=line, mended=mended,
    )  # fmt: skip


@_asked("A row to be completed", points=5)
def a_row_to_be_completed(chance: Random) -> Drawn:
    """Weights that are ratios of powers of two, from a table of scores in units of ln 2."""
    steps = chance.choice([(0, 1, 2), (0, 0, 1), (1, 2, 2), (0, 2, 2), (0, 1, 1)])
    order = chance.sample(steps, 3)
    known = torch.tensor([2.0**s for s in order])
    weights = known / known.sum()
    table = torch.stack([torch.tensor([1.0, 0.0, 0.0]), torch.tensor([0.5, 0.5, 0.0]), weights])
    words = ["the", "cat", "sleeps"]
    hidden = tuple((2, j) for j in range(3))
    draws = dict(rows=words, columns=words)
    title = "Weights of a causal self-attention over three words"
    scores = ", ".join(f"{s} · ln 2" if s else "0" for s in order)
    shares = ", ".join(f"{int(k)}/{int(known.sum())}" for k in known)
    return Drawn(
        f"The weights of a causal self-attention; the scores of the third word are ({scores}), "
        f"already scaled. Fill in its row. Which scores must be equal for the second row, and why "
        f"does the first say nothing about the scores?",
        f"e to the scores is {', '.join(f'{int(k)}' for k in known)}, so the row is {shares}. In "
        f"the second the scores of *the* and *cat* are equal. The first word sees only itself, and "
        f"a softmax over one score is 1 whatever the score is.",
        marks=((3, "the row"), (1, "equal scores in the second"), (1, "one score always gives 1")),
        wrong="The scores themselves divided by their sum.",
        reveals="Softmax is taken for division by the sum; the powers of e are missing, and with "
        "negative scores the result would be no share at all.",
        picture=pictures.heat("a_row_to_be_completed", title, table, unknown=hidden, **draws),
        solved=pictures.heat("a_row_to_be_completed_solved", title, table, **draws),
    )
