"""The encoder (chapter 5)."""

from random import Random

import torch

from lectures_lib.exam.pictures import block
from lectures_lib.exam.question import Drawn, Question, asked_in, power_of_ten, row

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=5)


@_asked("A row, normalised", points=6)
def a_row_normalised(chance: Random) -> Drawn:
    """LayerNorm of four numbers."""
    step = chance.choice([1.0, 2.0, 3.0])
    x = torch.tensor([-3.0, -1.0, 1.0, 3.0]) * step + chance.choice([2.0, 5.0])
    y = torch.nn.functional.layer_norm(x, (4,))
    variance = x.var(unbiased=False)
    return Drawn(
        f"Normalise {row(x, 0)} as LayerNorm does (ε left out, scale 1, shift 0). What comes out "
        f"for ten times these numbers? Which numbers would BatchNorm have taken the mean of?",
        f"Mean {x.mean():g}, variance {variance:g}, so {row(y)}; the same for ten times the "
        f"numbers. BatchNorm takes the mean of one feature over all words of the batch, not of "
        f"one word over its features.",
        marks=(
            (3, "mean, variance, the row"),
            (1, "ten times the numbers: the same"),
            (2, "BatchNorm's axis"),
        ),
        wrong="The variance is divided by three.",
        reveals="The unbiased variance of statistics; LayerNorm divides by the number of features.",
    )


@_asked("A block, counted", points=6)
def a_block_counted(chance: Random) -> Drawn:
    """The parameters of an encoder block."""
    d = chance.choice([128, 256, 512])
    attention, feed_forward, norms = 4 * d * d, 8 * d * d + 5 * d, 4 * d
    return Drawn(
        f"How many parameters has an encoder block with d_model = {d} and d_ff = {4 * d}? "
        f"Attention without biases, feed-forward with, two LayerNorms. Which share has "
        f"feed-forward?",
        f"Attention 4 · {d}² = {attention:,}; feed-forward 2 · {d} · {4 * d} + {4 * d} + {d} = "
        f"{feed_forward:,}; norms 2 · 2 · {d} = {norms:,}; together "
        f"{attention + feed_forward + norms:,}. Feed-forward has "
        f"{feed_forward / (attention + feed_forward + norms):.0%}.",
        marks=(
            (2, "attention"),
            (2, "feed-forward with its biases"),
            (1, "norms"),
            (1, "the share"),
        ),
        wrong="One matrix of 4 d² numbers more, for the heads.",
        reveals="The number of heads is thought to cost parameters.",
    )


@_asked("Gradients through a stack", points=5, kind="predict")
def gradients_through_a_stack(chance: Random) -> Drawn:
    """A product of derivatives with and without the plus sign."""
    depth, slope = chance.choice([10, 12, 20]), chance.choice([0.2, 0.5])
    return Drawn(
        f"Each of {depth} layers computes f(x) = {slope} x. How large is the derivative of the "
        f"output by the input? And with x + f(x)? Which problem does each have, and what does the "
        f"norm on the branch do about the second?",
        f"{slope}<sup>{depth}</sup> = {power_of_ten(slope**depth, 1)}: it vanishes. "
        f"{1 + slope:g}<sup>{depth}</sup> = "
        f"{(1 + slope) ** depth:.1f}: it grows with depth. A norm divides by the standard "
        f"deviation of the stream's vector: the larger its numbers have become, the less a layer "
        f"adds in proportion.",
        marks=(
            (2, "both powers"),
            (2, "vanishing, growing"),
            (1, "what the norm does"),
        ),
        wrong="With x + f(x) it is 1 plus the first number.",
        reveals="The 1 is added once for the stack, not in each layer: the product is of (1 + "
        "slope).",
    )


BLOCK_MISTAKES = {
    "branch": (
        "the way around begins behind the norm",
        "What is added is norm(x) in place of x: the stream itself is lost, each sublayer begins "
        "with normalised numbers, and the gradient has no way on which nothing is done to it",
    ),
    "missing": (
        "there is no way around",
        "x is replaced by f(norm(x)): after this sublayer only what it computed is left, and the "
        "gradient is multiplied by its derivative alone",
    ),
    "late": (
        "its norm stands behind the plus, while the other sublayer has it on the branch",
        "This sublayer is post-norm, the other pre-norm: the stream itself is normalised behind "
        "this sublayer, so the way around does not lead through the stack unchanged",
    ),
}


@_asked("A block with a mistake", points=6, kind="find the bug")
def a_block_with_a_mistake(chance: Random) -> Drawn:
    """A pre-norm block drawn with one thing wrong."""
    mistake, at = chance.choice(list(BLOCK_MISTAKES)), chance.randrange(2)
    names = ["attention", "feed-forward"]
    sublayers = [["norm", name, "+"] for name in names]
    skips = ["stream", "stream"]
    if mistake == "late":
        sublayers[at] = [names[at], "+", "norm"]
    else:
        skips[at] = "norm" if mistake == "branch" else "none"
    if mistake == "missing":
        sublayers[at] = ["norm", names[at]]
    where, why = BLOCK_MISTAKES[mistake]
    return Drawn(
        "This was meant to be a pre-norm encoder block, x + f(norm(x)) twice. One thing is drawn "
        "wrong. Which? What does it do to the stream or the gradient? Which of the two sublayers "
        "lets a word hear of another one?",
        f"At {names[at]}, {where}. {why}. Only attention moves anything from word to word; "
        f"feed-forward works on each word by itself.",
        marks=((2, "the mistake, and where"), (3, "what it does"), (1, "attention alone")),
        wrong="A softmax is missing at the end.",
        reveals="A block is taken for a model: it hands on vectors of the width it was given.",
        picture=block("a_block_with_a_mistake", sublayers, skips),
    )
