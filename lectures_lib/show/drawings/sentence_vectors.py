"""Sentence vectors (chapters 17 and 17b): two ways to compare sentences, pooling, the table of a
contrastive batch, and a search.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from lectures_lib.show.drawings.attention import numbers
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Number

MANY = 10_000  # sentences, to be compared each with each
A, B = ("The guitarist", "performs a song."), ("Someone makes", "music.")
# Three tokens, [CLS] and [SEP] among them, with vectors of two numbers, and what BERT made of the padding behind them.
HIDDEN = torch.tensor([[1.0, 4.0], [3.0, 0.0], [2.0, 2.0], [6.0, 6.0]])
LENGTH = 3
ROWS = ("[CLS]", "token", "[SEP]", "padding")
# A batch of pairs that belong together, as short as they fit.
PAIRS = (
    (("A man plays", "a guitar."), ("The guitarist", "performs.")),
    (("The market", "fell today."), ("Share prices", "dropped.")),
    (("She slices", "an onion."), ("A woman cuts", "vegetables.")),
)


def passes() -> tuple[int, int]:
    """How often BERT runs for all pairs, and for all sentences."""
    return MANY * (MANY - 1) // 2, MANY


def sentences(drawing: Canvas, x: Number, y: Number) -> None:
    """Sentences A and B side by side."""
    for left, name, (first, second) in ((x, "A", A), (x + 168, "B", B)):
        drawing.box(left, y, 148, 50, (f"{name}: {first}", second), size=14)


def cross(drawing: Canvas, x: Number, y: Number) -> None:
    """A cross-encoder, 316 wide and 400 high, read from below."""
    drawing.text(x, y, "Cross-encoder", bold=True, anchor="start", size=16)
    drawing.box(x + 88, y + 26, 140, 40, "score", "prediction", bold=True)
    drawing.arrow([(x + 158, y + 200), (x + 158, y + 70)], "encoder", 2.5)
    drawing.box(x, y + 200, 316, 64, "BERT", "encoder", note="words of A look at words of B")
    for middle in (x + 74, x + 242):
        drawing.arrow([(middle, y + 308), (middle, y + 268)], "encoder", 2.5)
    sentences(drawing, x, y + 308)
    drawing.text(x + 158, y + 386, f"{passes()[0]:,} passes for all pairs", bold=True)
    drawing.text(x + 158, y + 408, f"of {MANY:,} sentences", size=14)


def bi(drawing: Canvas, x: Number, y: Number) -> None:
    """A bi-encoder, 316 wide and 400 high, read from below."""
    drawing.text(x, y, "Bi-encoder", bold=True, anchor="start", size=16)
    drawing.box(x + 88, y + 26, 140, 40, "cosine", "prediction", bold=True)
    for left, letter in ((x, "u"), (x + 168, "v")):
        middle, inner = left + 74, x + 158 + (-30 if letter == "u" else 30)
        drawing.arrow([(middle, y + 308), (middle, y + 268)], "encoder", 2.5)
        drawing.box(left + (0 if letter == "u" else 12), y + 212, 136, 52, "BERT", "encoder")
        drawing.arrow([(middle, y + 212), (middle, y + 148)], "encoder", 2.5)
        aside, anchor = (-10, "end") if letter == "u" else (10, "start")
        drawing.text(middle + aside, y + 180, "pooling", anchor=anchor, size=14)
        drawing.matrix(middle - 50, y + 114, [[""] * 5], (20, 28), "encoder")
        drawing.frame(middle - 50, y + 114, 100, 28)
        drawing.text(middle + (-64 if letter == "u" else 64), y + 128, f"*{letter}*", size=18)
        drawing.arrow([(middle, y + 112), (middle, y + 90), (inner, y + 90), (inner, y + 69)])
    drawing.text(x + 158, y + 238, "=", size=22, bold=True)
    drawing.text(x + 158, y + 198, "the same BERT", size=14)
    drawing.text(x + 158, y + 128, "kept", bold=True, size=14)
    sentences(drawing, x, y + 308)
    drawing.text(x + 158, y + 386, f"{passes()[1]:,} passes for all sentences,", bold=True)
    drawing.text(x + 158, y + 408, "then only dot products", size=14)


def two_encoders() -> Canvas:
    """Both sentences through one network, or each through it alone."""
    pairs, alone = passes()
    drawing = Canvas(
        "two_encoders",
        720,
        456,
        "Two ways to compare two sentences: a cross-encoder and a bi-encoder",
        f"Two drawings, each read from below. Left, the cross-encoder: sentence A, "
        f"{' '.join(A)} and sentence B, {' '.join(B)} go into one BERT, in which the words of A "
        f"look at the words of B; out comes a score. To compare {MANY:,} sentences each with each "
        f"it takes {pairs:,} passes. Right, the bi-encoder: A goes through BERT alone and is "
        "pooled to a vector u, B through the same BERT, alone, to a vector v; an equals sign "
        "stands between the two. Frames mark u and v: they can be kept. Their cosine is the "
        f"result. That takes {alone:,} passes, and dot products.",
        "In a cross-encoder nothing can be computed before both sentences are known. In a "
        "bi-encoder u and v are made once and kept; the price is that the words of A never see "
        "those of B.",
    )
    cross(drawing, 24, 30)
    drawing.line([(360, 20), (360, 436)], "neutral", 1)
    bi(drawing, 380, 30)
    return drawing


def pooled() -> dict[str, Tensor]:
    """The vector that each way of pooling makes of the tokens; the last lets padding count."""
    real = HIDDEN[:LENGTH]
    return {
        "mean": real.mean(dim=0),
        "[CLS]": real[0],
        "max": real.amax(dim=0),
        "everything": HIDDEN.mean(dim=0),
    }


def counted(way: str) -> list[list[bool]]:
    """Which numbers a way of pooling looks at."""
    most = HIDDEN[:LENGTH].argmax(dim=0).tolist()
    kinds: dict[str, Callable[[int, int], bool]] = {
        "mean": lambda i, j: i < LENGTH,
        "[CLS]": lambda i, j: i == 0,
        "max": lambda i, j: most[j] == i,
        "everything": lambda i, j: True,
    }
    return [[kinds[way](i, j) for j in range(2)] for i in range(len(HIDDEN))]


def one_pooling(drawing: Canvas, x: Number, y: Number, way: str) -> None:
    """Four rows of two numbers, those that count coloured, and what becomes of them; 92 wide."""
    seen, wrong = counted(way), way == "everything"
    name = {"mean": "mean", "[CLS]": "[CLS]", "max": "max", "everything": "mean of all"}[way]
    drawing.text(x + 46, y - 20, name, "error" if wrong else "ink", bold=True)
    values = numbers(HIDDEN)
    colours = [
        ["error" if wrong and i >= LENGTH else "encoder" if looks else "neutral" for looks in row]
        for i, row in enumerate(seen)
    ]
    hidden = [[i >= LENGTH and not wrong] * 2 for i in range(len(HIDDEN))]
    drawing.matrix(x, y, values, (46, 32), colours, hidden=hidden, size=15)
    for i, row in enumerate(seen):
        for j, looks in enumerate(row):
            if looks and way == "max":
                drawing.frame(x + 46 * j, y + 32 * i, 46, 32)
    if way == "[CLS]":
        drawing.frame(x, y, 92, 32)
    drawing.arrow([(x + 46, y + 132), (x + 46, y + 162)], "error" if wrong else "encoder", 2.5)
    colour = "error" if wrong else "encoder"
    drawing.matrix(x, y + 168, numbers(pooled()[way][None]), (46, 34), colour, size=16)


def pooling() -> Canvas:
    """Four ways to make one vector of three, one of them wrong."""
    made = pooled()
    said = "; ".join(f"{way}: {', '.join(numbers(v[None])[0])}" for way, v in made.items())
    rows = "; ".join(", ".join(row) for row in numbers(HIDDEN))
    drawing = Canvas(
        "pooling",
        720,
        304,
        "Three ways to make one vector of a sentence's three, and a wrong one",
        f"Four times the same four rows of two numbers: {rows}. They are those of [CLS], of a token, "
        "of [SEP], and of padding. Coloured are the numbers that count. The mean takes three rows, [CLS] "
        "the first, the maximum in each column the largest number, which come from two different "
        f"rows; the last, a mean of all four rows, counts the padding. What comes out: {said}.",
        "What counts has a colour. The first three leave the padding out; hidden.mean(dim=1) does "
        "not.",
    )
    for i, text in enumerate(ROWS):
        drawing.text(98, 74 + 32 * i, text, anchor="end", size=14)
    drawing.text(98, 243, "the vector", anchor="end", bold=True, size=14)
    for i, way in enumerate(made):
        one_pooling(drawing, 114 + 154 * i, 58, way)
    return drawing


def table_of_pairs(
    drawing: Canvas, x: Number, y: Number, cell: tuple[int, int], size: Number = 14
) -> None:
    """Every u with every v, the right ones on the diagonal, the upper left corner at x, y."""
    n = len(PAIRS)
    values = [["right" if i == j else "wrong" for j in range(n)] for i in range(n)]
    colours = [["prediction" if i == j else "error" for j in range(n)] for i in range(n)]
    grid = drawing.matrix(x, y, values, cell, colours, size=size)
    for i, (u, v) in enumerate(PAIRS):
        drawing.lines(x - 10, grid.centre(i, 0)[1], u, 17, size=size, anchor="end")
        drawing.lines(grid.centre(0, i)[0], y - 24, v, 17, size=size)
    drawing.frame(x, y + cell[1], grid.width, cell[1])


def in_batch() -> Canvas:
    """A batch of pairs as a table, in which each row is a question with one right answer."""
    drawing = Canvas(
        "in_batch",
        720,
        302,
        "A batch of three pairs: every first sentence with every second one",
        "A table of three rows and three columns. A row belongs to the first sentence of a pair, "
        "u: "
        + "; ".join(" ".join(u) for u, _ in PAIRS)
        + " A column belongs to a second one, v: "
        + "; ".join(" ".join(v) for _, v in PAIRS)
        + " Each cell is a cosine. On the diagonal, where both belong to the same pair, it says "
        "right, everywhere else wrong. A frame is around the second row: a softmax over its three "
        "cells, of which one is right.",
        "Nobody labelled anything but the pairs: the other pairs' partners are the wrong answers.",
    )
    cell = (124, 58)
    table_of_pairs(drawing, 142, 104, cell)
    drawing.text(132, 40, "first: *u*", anchor="end", size=14)
    drawing.text(328, 36, "second: *v*", size=14)
    drawing.lines(
        532,
        191,
        ["one exercise: softmax", "over the row's cosines,", "each times 20"],
        20,
        size=14,
        anchor="start",
    )
    return drawing


QUESTION = ("Why does the most probable", "translation come out too short?")
SECTIONS = ("Beam search", "The length penalty", "Label smoothing", "…")
NEAREST = 1


def encoded(
    drawing: Canvas, x: Number, y: Number, wide: Number, gap: Number, text: str | tuple[str, ...]
) -> Number:
    """A text, MiniLM, and the text's vector, in a row from x on; where the vector begins."""
    high = 26 if isinstance(text, str) else 46
    drawing.box(x, y - high / 2, wide, high, text, size=13, radius=4)
    drawing.arrow([(x + wide + 2, y), (x + wide + gap - 12, y)], "encoder")  # up to a frame
    left = x + wide + gap
    colour = "encoder" if isinstance(text, str) else "query"
    drawing.matrix(left, y - 11, [[""] * 5], (16, 22), colour)
    return left


def searching() -> Canvas:
    """The book is encoded once, a question when it comes."""
    asked = " ".join(QUESTION)
    drawing = Canvas(
        "searching",
        720,
        318,
        "A search: the book is encoded once, the question when it comes",
        f"Two parts. Above, done once: the book's sections, {', '.join(SECTIONS[:-1])} and so on, "
        f"go through MiniLM, and each becomes a vector; the vectors are kept in a frame, one below "
        f"the other. Below, done when a question comes: {asked} It goes through the same MiniLM "
        "and becomes one vector. An arrow leads from it to the kept ones: a dot product with each. "
        f"The largest is that of the section {SECTIONS[NEAREST]}, which is marked as found.",
        "What is in the frame is computed once and kept. A question costs one pass through MiniLM, "
        "and a dot product with every row.",
    )
    drawing.text(24, 34, "once", bold=True, anchor="start", size=16)
    for k, title in enumerate(SECTIONS):
        left = encoded(drawing, 104, 64 + 36 * k, 176, 130, title)
    drawing.box(294, 44, 84, 148, "MiniLM", "encoder")
    drawing.frame(left - 8, 44, 96, 148)
    drawing.text(left + 40, 30, "kept", bold=True, size=14)
    drawing.line([(24, 216), (696, 216)], "neutral", 1)
    drawing.lines(16, 264, ["when a", "question", "comes"], bold=True, anchor="start", size=15)
    left = encoded(drawing, 104, 264, 230, 112, QUESTION)
    drawing.box(344, 240, 72, 48, "MiniLM", "encoder", size=14)
    drawing.arrow(
        [(left + 84, 264), (left + 136, 264), (left + 136, 118), (506, 118)], "query", 2.5
    )
    drawing.lines(590, 184, ["a dot product", "with each row"], 18, size=14, anchor="start")
    found = 64 + 36 * NEAREST
    drawing.text(516, found - 20, "largest: found", "prediction", 14, "start", True)
    drawing.frame(410, found - 13, 80, 26, "prediction", thick=3.5)
    return drawing
