"""Fine-tuning (chapter 14), for a narrow page."""

from lectures_lib.show.drawings import fine_tuning
from lectures_lib.show.drawings.attention import numbers
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.fine_tuning import (
    FOLLOWED,
    HEADS,
    N_BLOCKS,
    WIDTH,
    W,
    X,
    Y,
    answers,
    blocks,
    column,
    framed_column,
    framed_row,
    thin_pair,
)
from lectures_lib.show.drawings.narrow.sheet import beside


def five_heads() -> Canvas:
    """From left to right, a row for each token."""
    said = {
        "Read from below.": "Read from the left.",
        "a stack of": "side by side its",
        "Upon the body stand five heads, side by side;": "Behind the body stand five heads, below each other;",
    }
    step, gap = 18, 56
    rows = [len(head.text.split()) for head in HEADS]
    high = step * sum(rows) + gap * len(rows)
    drawing = beside(fine_tuning.five_heads(), high + 46, said)
    drawing.box(84, 38, 68, high - 4, colour="encoder", radius=10)
    blocks(drawing, 92, 46, 55, high - 20, across=True)
    drawing.text(
        16,
        20,
        f"BERT’s body: {N_BLOCKS} blocks, the same for all five",
        bold=True,
        size=13,
        anchor="start",
    )
    y = 38
    for head, n in zip(HEADS, rows, strict=True):
        drawing.text(164, y + 16, head.name, bold=True, anchor="start")
        drawing.text(366, y + 16, head.asks, anchor="end", size=13)
        y += 38
        for j, token in enumerate(head.text.split()):
            middle, read = y + step * (j + 0.5), j in head.read
            drawing.text(66, middle, token, size=13, anchor="end")
            drawing.arrow([(69, middle), (83, middle)], "residual", 1.5)
            drawing.line([(153, middle), (164, middle)], "residual", 1.5)
            drawing.matrix(165, middle - 6, [[""] * 3], (9, 12), "encoder")
            if read:
                drawing.frame(164, middle - 7, 29, 14, "ink", 2)
                drawing.arrow([(195, middle), (226, middle)], "encoder", 2.5)
        says = answers(head)
        high = max(26, 20 * len(says) + 8)
        middle = y + step * (head.read[0] + head.read[-1] + 1) / 2
        top = max(y - 2, middle - high / 2)
        drawing.box(228, top, 138, high, "", "prediction")
        drawing.lines(297, top + high / 2, says, 20, size=14)
        drawing.lines(297, top + high + 22, head.note, 17, colour="neutral", size=13)
        y += step * n + gap - 38
    return drawing


def one_layer_and_back() -> Canvas:
    """Scores below x, shares below the scores, and the way back below that."""
    made = fine_tuning.back()
    drawing = beside(fine_tuning.one_layer_and_back(), 612)
    cell, wide = (38, 30), (56, 30)
    drawing.text(16, 24, "forward", bold=True, anchor="start", size=16)
    grid = drawing.matrix(50, 92, numbers(W), cell)
    drawing.text(40, grid.middle[1], "*W*", size=18, anchor="end")
    framed_column(drawing, grid, FOLLOWED)
    drawing.text(216, grid.middle[1], "·", size=24, bold=True)
    x = drawing.matrix(232, 62, column(X), (46, 30), "encoder")
    drawing.text(x.middle[0], 46, "*x*", size=18)
    framed_row(drawing, x, FOLLOWED)
    drawing.text(292, grid.middle[1], "=", size=20)
    drawing.matrix(306, 92, column(made["scores"]), wide)
    drawing.text(334, 76, "scores", size=14)
    drawing.arrow([(334, 156), (334, 206), (104, 206), (104, 264)], thick=2.5)
    drawing.text(220, 192, "softmax", size=14)
    shown = (
        (76, made["p"], ".2f", "prediction", "*p*"),
        (170, Y, "", "neutral", "wanted *y*"),
        (264, made["error"], ".2f", "error", "*p* − *y*"),
    )
    for left, values, spec, colour, name in shown:
        drawing.matrix(left, 270, column(values, spec), wide, colour)
        if name != "*p*":
            drawing.text(left + 28, 256, name, size=14)
    drawing.text(62, 300, "*p*", size=16, anchor="end")
    drawing.text(151, 300, "−", size=20)
    drawing.text(245, 300, "=", size=20)

    drawing.text(16, 372, "back", bold=True, anchor="start", size=16)
    drawing.arrow([(292, 336), (292, 444)], "error", 3)
    drawing.matrix(264, 450, column(made["error"], ".2f"), wide, "error")
    drawing.text(248, 480, "·", size=24, bold=True)
    turned = drawing.matrix(158, 420, numbers(W.T), cell)
    drawing.text(turned.middle[0], 404, "*W*^⊤", size=18)
    framed_row(drawing, turned, FOLLOWED)
    drawing.text(140, 480, "=", size=20)
    gradient = drawing.matrix(68, 420, column(made["gradient"], ".2f"), wide, "error")
    drawing.text(84, 404, "gradient of *x*", size=14)
    framed_row(drawing, gradient, FOLLOWED)
    drawing.arrow([(60, 480), (28, 480), (28, 560)], "error", 3)
    says = ["into the body: above 0, less of this;", "below 0, more of it"]
    drawing.lines(44, 566, says, 20, anchor="start", size=14)
    return drawing


def low_rank() -> Canvas:
    """The thin pair below the square."""
    many, few = fine_tuning.parameters()
    said = {"On the left a square": "Above, a square"}
    drawing = beside(fine_tuning.low_rank(), 690, said)
    side, left = 240, 100
    drawing.box(left, 44, side, side, colour="encoder", radius=2)
    drawing.text(left + 120, 24, f"*W*: {WIDTH} × {WIDTH}", size=15)
    drawing.text(left + 120, 164, "stays as it is", bold=True)
    drawing.text(left + 120, 304, f"{many:,} numbers", bold=True)
    drawing.text(left + 120, 336, "+ *α*/*r* ·", size=20)
    thin_pair(drawing, left, 402, side)
    drawing.text(188, 664, f"{few:,} numbers: only *A* and *B* learn", bold=True)
    return drawing
