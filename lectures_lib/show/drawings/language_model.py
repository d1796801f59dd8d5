"""The left-to-right language model (chapter 10): the chain rule, what stays of the decoder block, and
a sentence as five exercises.
"""

import math
from fractions import Fraction

from lectures_lib.blocks.attention import causal_mask
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Number

# the chapter's sentence with a pencil, and what a model gives each word
SENTENCE = ("the", "keys", "rattle")
FACTORS = (Fraction(1, 4), Fraction(1, 8), Fraction(1, 2))
START = "start"
# and the one that is five exercises
WORDS = ("the", "keys", "to", "the", "cabinet", "are")


def pencil() -> tuple[list[int], Fraction, int, int]:
    """Bits of each word, the sentence's probability, the mean of the bits, and the perplexity."""
    bits = [round(-math.log2(factor)) for factor in FACTORS]
    mean = sum(bits) // len(bits)
    return bits, math.prod(FACTORS), mean, 2**mean


def chain_rule() -> Canvas:
    """Three words, their probabilities and bits, and what becomes of them."""
    bits, product, mean, perplexity = pencil()
    told = "; ".join(
        f"after {' '.join((START, *SENTENCE[:i]))} comes {word}: {factor}, {bit} bits"
        for i, (word, factor, bit) in enumerate(zip(SENTENCE, FACTORS, bits, strict=True))
    )
    drawing = Canvas(
        "chain_rule",
        720,
        324,
        "The probability of a sentence, word by word",
        f"Three rows, one for each word: what is read so far, the word that comes, its probability "
        f"and its bits. {told}. Below the probabilities their product, {product}; below the bits "
        f"their sum, {sum(bits)}. Their mean is {sum(bits)}/{len(bits)} = {mean}. Two to the power of {mean} is {perplexity}, the perplexity.",
        "The chain rule: each word given all before it. Probabilities are multiplied, bits are "
        "added; the perplexity is 2 to the mean of the bits.",
    )
    pencilled(drawing, (36, 344, 484, 600), 84, 60)
    drawing.box(508, 250, 172, 54, to_perplexity(), "error", bold=True)
    drawing.arrow([(632, 222), (632, 244)], "error", 2.5)
    return drawing


def to_perplexity() -> list[str]:
    """The mean of the bits, and two to the power of it."""
    bits, _, mean, perplexity = pencil()
    return [
        f"mean {sum(bits)}/{len(bits)} = {mean}",
        f"perplexity 2{power(mean)} = {perplexity}",
    ]


def power(number: int) -> str:
    """A small number above the line."""
    return "⁰¹²³⁴⁵⁶⁷⁸⁹"[number]


def pencilled(
    drawing: Canvas, places: tuple[Number, ...], wide: Number, top: Number, column: Number = 64
) -> None:
    """The rows, the product and the mean; places: of what is read, the word, P and bits."""
    bits, product, *_ = pencil()
    reads, says, p, bit = places
    high, row = 34, 44
    for i, (word, factor) in enumerate(zip(SENTENCE, FACTORS, strict=True)):
        y = top + i * row
        seen = [[START, *SENTENCE[:i]]]
        grid = drawing.matrix(
            reads, y, seen, (wide, high), [["neutral"] + ["decoder"] * i], size=14
        )
        drawing.arrow([(grid.right + 6, y + 17), (says - 6, y + 17)], "prediction", 2.5)
        drawing.matrix(says, y, [[word]], (wide, high), "prediction", size=14)
        drawing.matrix(p, y, [[str(factor)]], (column, high), "prediction", size=15)
        drawing.matrix(bit, y, [[str(bits[i])]], (column, high), "error", size=15)
    bottom = top + 3 * row
    drawing.text(p + column / 2, bottom + 14, str(product), "prediction", bold=True, size=16)
    drawing.text(bit + column / 2, bottom + 14, f"sum {sum(bits)}", "error", bold=True, size=16)
    drawing.text(says + wide, bottom + 14, "product", anchor="end", size=14)
    for x, text in (
        (says + wide / 2, "then"),
        (p + column / 2, "*P*"),
        (bit + column / 2, "bits"),
    ):
        drawing.text(x, top - 20, text, bold=True)
    drawing.text(reads, top - 20, "reads", bold=True, anchor="start")


def decoder_only() -> Canvas:
    """Chapter 6's block, and what stays of it in a language model."""
    drawing = Canvas(
        "decoder_only",
        720,
        580,
        "What stays of the decoder block when there is no source",
        "Two columns. Left, only the three sublayers of chapter 6's decoder block, from below: masked "
        "self-attention, cross-attention, feed-forward. Cross-attention is dashed: without a "
        "source it falls away. Arrows lead from the other two to the right column, GPT-2, read from "
        "below: tokens, token vectors E plus positions P; then N blocks, each LayerNorm, masked "
        "self-attention, add, LayerNorm, feed-forward, add; LayerNorm; times E transposed: scores "
        "of the next token. A line, marked same E, joins the two places of E.",
        "Left, the block of chapter 6; without a source its middle falls away. Right, what is left: "
        "GPT-2, read from below. The causal mask apart, its block is an encoder's, with LayerNorm "
        "in front. The same E stands at both ends.",
    )
    gone = ["cross-attention", "no source: falls away"]
    old_block(drawing, 44, 220, ["masked self-attention"], gone)
    gpt(drawing, 430, 190, ["masked self-attention"], 700)
    stays(drawing, 262, 426, 14)
    return drawing


def stays(drawing: Canvas, left: Number, right: Number, size: Number) -> None:
    """The arrows from the two sublayers that the language model keeps."""
    for y in (239, 383):
        drawing.arrow([(left, y), (right, y)], "decoder", 2.5)
        drawing.text((left + right) / 2, y - 16, "stays", size=size)


def old_block(drawing: Canvas, x: Number, width: Number, first: list[str], gone: list[str]) -> None:
    """The decoder block of chapter 6, its cross-attention dashed."""
    drawing.box(x, 168, width, 308, colour="decoder", radius=12)
    middle = x + width / 2
    drawing.text(middle, 106, "decoder block", "decoder", bold=True)
    drawing.text(middle, 124, "(sublayers only)", size=14)
    drawing.arrow([(middle, 500), (middle, 138)], "residual", 3)
    for y, name in ((362, first), (290, gone), (218, ["feed-forward"])):
        dropped = name is gone
        colour = "mask" if dropped else "neutral"
        more = 9 if len(name) > 2 else 0  # above and below
        high = 42 + 2 * more
        drawing.box(x + 10, y - more, width - 20, high, colour=colour, dashed=dropped)
        drawing.lines(middle, y + 21, name, 17, size=14)
    drawing.text(middle, 518, "target so far", size=14)


def gpt(drawing: Canvas, x: Number, width: Number, attention: list[str], edge: Number) -> None:
    """The language model, read from below; `edge`: where the line from E to E runs."""
    drawing.box(x - 8, 168, width + 40, 308, colour="decoder", radius=12)
    middle, side = x + width / 2, x + width + 18
    drawing.text(middle, 566, "tokens so far", size=14, bold=True)
    drawing.line([(middle, 552), (middle, 100)], "residual", 3)
    drawing.box(x, 500, width, 40, "*E* + positions *P*", size=14)
    for low, name in ((420, attention), (276, ["feed-forward"])):
        way = [(middle, low + 38), (side, low + 38), (side, low - 82), (middle + 13, low - 82)]
        drawing.arrow(way, "residual")
        drawing.box(x, low, width, 26, "LayerNorm", size=14)
        drawing.box(x, low - 58, width, 42)
        drawing.lines(middle, low - 37, name, 17, size=14)
        drawing.circle(middle, low - 82, 12, "+", "neutral", size=17)
    drawing.text(x + 4, 188, "*N* ×", anchor="start", size=16)
    drawing.text(x - 18, 82, "GPT-2", "decoder", anchor="end", bold=True)
    drawing.box(x, 118, width, 26, "LayerNorm", size=14)
    drawing.box(x, 62, width, 40, "scores: × *E*^⊤", size=14)
    drawing.arrow([(middle, 62), (middle, 40)], "prediction", 3)
    drawing.text(middle, 24, "next token", "prediction", bold=True)
    ends = [(x + width, 520), (edge, 520), (edge, 82), (x + width, 82)]
    drawing.line(ends, "neutral", 1.5)
    size = 14 if edge - x - width > 60 else 12
    drawing.text(edge + 4, 70, "same *E*", anchor="end", size=size)


def five_exercises() -> Canvas:
    """A sentence, unrolled by the causal mask."""
    told = "; ".join(f"{' '.join(WORDS[:i])}, to be said {WORDS[i]}" for i in range(1, len(WORDS)))
    drawing = Canvas(
        "five_exercises",
        720,
        300,
        "One sentence is five exercises",
        f"Five rows with the sentence {' '.join(WORDS)}. In each row some words are seen, the next "
        f"one is hidden by the causal mask and to be said, and the rest, hatched, is hidden: {told}.",
        "Five exercises in one sentence: what is seen, and what the causal mask hides. The first "
        "of the hidden words is the one to be said.",
    )
    unroll(drawing, 30, 34, (110, 36), 15)
    legend(drawing, (30, 178, 394), 250)
    return drawing


def unroll(
    drawing: Canvas, x: Number, y: Number, cell: tuple[Number, Number], size: Number
) -> None:
    """A row for each word to be said."""
    n = len(WORDS)
    seen = causal_mask(n - 1).sum(dim=1).tolist()  # of how many words each row sees
    shown = [[word if j <= k else "" for j, word in enumerate(WORDS)] for k in seen]
    colours = [["decoder" if j < k else "prediction" for j in range(n)] for k in seen]
    hidden = [[j > k for j in range(n)] for k in seen]
    drawing.matrix(x, y, shown, cell, colours, hidden=hidden, size=size)


def legend(drawing: Canvas, places: tuple[Number, ...], y: Number, step: Number = 0) -> None:
    """What the three sorts of squares are; each further one is `step` lower."""
    names = (
        ("decoder", "may be seen"),
        ("prediction", "hidden, and to be said"),
        ("mask", "hidden"),
    )
    for i, (x, (colour, text)) in enumerate(zip(places, names, strict=True)):
        if colour == "mask":
            drawing.matrix(x, y + i * step, [[""]], (30, 22), hidden=[[True]])
        else:  # as pale as the cells above, in which there are words
            drawing.ground(x, y + i * step, 30, 22, colour)
        drawing.text(x + 40, y + i * step + 11, text, anchor="start", size=14)
