"""After BERT (chapter 18)."""

from random import Random

from lectures_lib.exam.question import Drawn, Question, asked_in, shuffled

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=18)


@_asked("What training needs", points=5)
def what_training_needs(chance: Random) -> Drawn:
    """Bytes for weights, gradients and Adam."""
    millions = chance.choice([110, 340])
    return Drawn(
        f"A model has {millions} million parameters in four bytes each. How much memory do "
        f"weights, gradients and Adam's two moments take? How much do the weights alone need for "
        f"use, in two bytes and in one?",
        f"16 bytes a parameter: {16 * millions / 1000:.2f} GB. For use {2 * millions} MB in two "
        f"bytes, {millions} MB in one (activations come on top in both cases).",
        marks=(
            (3, "four numbers of four bytes each"),
            (2, "use, in two bytes and in one"),
        ),
        wrong="Weights and gradients only: half of it.",
        reveals="Adam's two moments are forgotten; each is as large as the weights.",
    )


@_asked("One layer, used again and again", points=6, kind="choose and justify")
def one_layer_used_again(chance: Random) -> Drawn:
    """ALBERT's two savings, and what they do not save."""
    d, layers, narrow = chance.choice([(768, 12, 128), (1024, 24, 128), (512, 6, 64)])
    vocab = 30_000
    whole, cut = vocab * d, vocab * narrow + narrow * d
    stack, shared = layers * 12 * d * d, 12 * d * d
    right = "It stores less, and computes about as much"
    return Drawn(
        f"A BERT has d = {d}, {layers} layers of about 12 d² parameters and {vocab:,} tokens. Now "
        f"all layers share their parameters, and the token table is {narrow} wide with a matrix "
        f"{narrow} × d behind it, as in ALBERT. How many parameters have layers and table before "
        f"and after? Which of the options is true, and why?",
        f"Table {whole:,} before, {vocab:,} · {narrow} + {narrow} · {d} = {cut:,} after; layers "
        f"{stack:,} before, {shared:,} after. A shared layer is stored once and "
        f"computed {layers} times.",
        marks=((2, "the table"), (2, "the layers"), (2, "the option, with its reason")),
        wrong=f"It runs {layers} times as fast.",
        reveals="Parameters are taken for work: every layer is still computed.",
        **shuffled(
            chance,
            right,
            "It stores less, and computes less in proportion",
            "It stores as much, and computes less",
            "It stores less, and computes nothing in the layers behind the first",
        ),
    )


@_asked("Eight bits", points=5)
def eight_bits(chance: Random) -> Drawn:
    """A row rounded to whole steps, alone and with a common step."""
    step, low = chance.choice([(0.01, 5), (0.02, 10), (0.05, 4)])
    large = chance.choice([100, 200])
    small = [low * step, -12 * step, 127 * step]
    coarse = large * step  # the step that the large row asks for
    rounded = [round(x / coarse) for x in small]
    bad = ", ".join(str(r) for r in rounded)
    return Drawn(
        f"A weight becomes round(x / s) with s = max|x| / 127. The first row of a matrix is "
        f"({small[0]:g}, {small[1]:g}, {small[2]:g}). Which whole numbers are stored if the row "
        f"has a step of its own? The largest number of the whole matrix is {large} times as "
        f"large as the largest of this row: what is stored with one step for all, and what has "
        f"been lost? By which factor does the matrix shrink, from four bytes a number?",
        f"s = {small[2]:g}/127 = {step:g}: {low}, −12, 127. With one step for all, {coarse:g}: "
        f"{bad}. Nearly all of the row is gone: a few large weights make the step too "
        f"coarse for all the others. One byte in place of four, a quarter (with a step for each "
        f"row, a little more).",
        marks=((2, "the row's own step, and the numbers"), (2, "the common step, and the loss"),
               (1, "a quarter")),
        wrong=f"({low}, −12, 127) both times.",
        reveals="The step is thought to be fixed; it is the largest number that decides.",
    )  # fmt: skip
