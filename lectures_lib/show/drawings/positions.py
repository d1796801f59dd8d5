"""Positions (chapter 4): a position vector as the hands of several clocks, and a step as a turn of
every hand.
"""

import math

import torch
from torch import Tensor

from lectures_lib.blocks.positions import frequencies, sinusoidal_positions
from lectures_lib.show.drawings.attention import numbers
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Number

# of `clocks`: eight positions, four clocks; the position whose numbers are written out
N, D_MODEL, FRAMED = 8, 8, 3
# of `addition`: what the words are, as four numbers each, made up
WORDS = ("dog", "bites", "man")
TOKENS = ((0.6, -0.3, 1.1, 0.2), (-0.8, 0.9, 0.1, -0.5), (0.5, -0.4, 0.9, 0.7))
# of `rotation`: three of the eight clocks that a vector of width 16 has
STARTS, STEP, WIDTH, SHOWN = (1, 5), 3, 16, 3


def hands(n: int, d_model: int) -> Tensor:
    """The tips of all hands, (n, d_model / 2, 2): sine to the right, cosine upwards."""
    return sinusoidal_positions(n, d_model).view(n, -1, 2)


def turned_by(k: int, d_model: int) -> list[float]:
    """The angle, in degrees, by which k steps turn each hand."""
    return [math.degrees(k * omega) for omega in frequencies(d_model).tolist()]


def clocks() -> Canvas:
    """The positions 0 to 7 as columns of clocks."""
    tips = hands(N, D_MODEL)
    vector = ", ".join(f"{v:.2f}".replace("-", "−") for v in tips[FRAMED].flatten().tolist())
    speeds = [f"{omega:g}" for omega in frequencies(D_MODEL).tolist()]
    drawing = Canvas(
        "clocks",
        720,
        452,
        "Positions 0 to 7 as the hands of four clocks of different speed",
        "Eight columns, one for each position from 0 to 7; four rows, one for each clock. At "
        "position 0 all hands point to twelve. "
        f"With each position the hands turn clockwise by {', '.join(speeds)} radians: the first by "
        f"57 degrees, the last too little to see. A frame holds the column of position {FRAMED}: "
        f"its vector is the sine and cosine of its four hands, {vector}.",
        f"A position vector is a column of clock hands, which start at twelve and turn clockwise. Of "
        "each tip it holds how far it lies to the right, the sine, and how far up, the cosine. "
        f"The framed column, written out, is the vector of position {FRAMED}.",
    )
    left, top, wide, high, radius = 122, 62, 73, 76, 27
    drawing.text(26, 26, "position", anchor="start", bold=True)
    for j in range(N):
        drawing.text(left + (j + 0.5) * wide, 26, str(j), bold=True)
    for i, speed in enumerate(speeds):
        y = top + (i + 0.5) * high
        drawing.text(26, y - 10, f"clock {i + 1}", anchor="start", bold=True)
        drawing.text(26, y + 12, f"*ω* = {speed}", anchor="start", size=14)
        for j in range(N):
            clock(drawing, left + (j + 0.5) * wide, y, radius, tips[j, i])
    drawing.frame(left + FRAMED * wide + 4, top - 2, wide - 8, 4 * high + 4, radius=10)
    drawing.text(360, 396, f"*PE*_{FRAMED} = ({vector})", size=15)
    drawing.text(
        360, 424, "sine, cosine of clock 1; sine, cosine of clock 2; …", "neutral", size=14
    )
    return drawing


def summands() -> dict[str, Tensor]:
    """What `addition` shows: the words' vectors, the positions', and their sum."""
    tokens = torch.tensor(TOKENS)
    table = sinusoidal_positions(*tokens.shape)
    return {"tokens": tokens, "positions": table, "sum": tokens + table}


def addition() -> Canvas:
    """Three words' vectors plus the vectors of their places."""
    made = summands()
    said = {
        name: "; ".join(", ".join(row) for row in numbers(matrix, ".2f"))
        for name, matrix in made.items()
    }
    drawing = Canvas(
        "addition",
        720,
        214,
        "Word vectors plus position vectors, in numbers, for dog bites man",
        "Three tables of three rows and four columns, with a plus and an equals sign between them. "
        f"The words' vectors, for dog, bites and man: {said['tokens']}. "
        f"The vectors of the positions 0, 1 and 2: {said['positions']}. "
        f"Their sums, which the first layer reads: {said['sum']}.",
        "Number by number: what the word is, plus where it stands. The table in the middle is the "
        "same for every sentence; the words' numbers are made up.",
    )
    cell = (46, 34)
    x = drawing.matrix(62, 62, numbers(made["tokens"], ".1f"), cell, rows=WORDS)
    p = drawing.matrix(
        312, 62, numbers(made["positions"], ".2f"), cell, "position", rows="012", size=13
    )
    z = drawing.matrix(530, 62, numbers(made["sum"], ".2f"), (44, 34), "residual", size=13)
    for grid, name in ((x, "word"), (p, "position"), (z, "the first layer reads")):
        drawing.text(grid.middle[0], 34, name, bold=True)
    for grid, shape in (
        (x, "(batch, *n*, *d*_{model})"),
        (p, "(*n*, *d*_{model})"),
        (z, "(batch, *n*, *d*_{model})"),
    ):
        drawing.text(grid.middle[0], grid.bottom + 24, shape, "neutral", 14)
    drawing.text(272, x.middle[1], "+", size=20, bold=True)
    drawing.text(513, x.middle[1], "=", size=20, bold=True)
    return drawing


def rotation() -> Canvas:
    """Three steps on, from two places: every hand turns by the same angle."""
    tips = hands(max(STARTS) + STEP + 1, WIDTH)
    angles, speeds = turned_by(STEP, WIDTH)[:SHOWN], frequencies(WIDTH).tolist()[:SHOWN]
    drawing = Canvas(
        "rotation",
        720,
        494,
        f"Moving on by {STEP} positions turns every hand by the same angle, wherever one starts",
        f"Two rows of three clocks. Upper row: from position {STARTS[0]} to position "
        f"{STARTS[0] + STEP}; lower row: from {STARTS[1]} to {STARTS[1] + STEP}. In each clock a "
        f"grey hand shows where it stood, a coloured one where it stands {STEP} positions on, and "
        f"an arrow the turn. The turns are {', '.join(f'{a:.0f}' for a in angles)} degrees in both "
        f"rows: {STEP} times the clock's "
        "speed.",
        f"Grey: the hand before. Coloured: the same hand {STEP} positions on. The two rows start "
        f"at different places; the turns are "
        "the same, so one matrix makes the step from anywhere.",
    )
    radius = 70
    for j, (angle, omega) in enumerate(zip(angles, speeds, strict=True)):
        x = 236 + 184 * j
        drawing.text(x, 32, f"*ω* = {omega:.2g}", size=16)
        for i, start in enumerate(STARTS):
            y = 136 + 198 * i
            clock(drawing, x, y, radius, tips[start, j], "neutral")
            hand(drawing, x, y, radius, tips[start + STEP, j], "position")
            before, turn = start * omega, STEP * omega
            drawing.arc(x, y, radius - 18, before + 0.03, before + turn - 0.03, "ink", 2)
            drawing.text(x, y + radius + 20, f"turned by {angle:.0f}°", "ink", size=14)
    for i, start in enumerate(STARTS):
        y = 136 + 198 * i
        drawing.lines(
            28,
            y,
            [f"from {start}", f"to {start} + {STEP} = {start + STEP}"],
            step=24,
            anchor="start",
            bold=True,
        )
    drawing.text(
        360, 466, f"*PE*_{{pos+{STEP}}} = *M*_{STEP} · *PE*_{{pos}}   for every *pos*", size=16
    )
    return drawing


def clock(
    drawing: Canvas, x: Number, y: Number, radius: Number, tip: Tensor, colour: str = "position"
) -> None:
    """A face with a mark at twelve and one hand."""
    drawing.circle(x, y, radius)
    drawing.line([(x, y - radius), (x, y - radius + 5)], "neutral", 1.5)
    hand(drawing, x, y, radius, tip, colour)


def hand(drawing: Canvas, x: Number, y: Number, radius: Number, tip: Tensor, colour: str) -> None:
    """A hand whose tip (sine, cosine) lies nearly on the rim."""
    sine, cosine = tip.tolist()
    reach = radius - 6
    drawing.line([(x, y), (x + reach * sine, y - reach * cosine)], colour, 3.5)
    left, tip = x + reach * sine - 3.5, y - reach * cosine
    drawing.shape(f"M{left:.4g} {tip:.4g}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z", colour)
