"""Fine-tuning (chapter 14), for a narrow page."""

from lectures_lib.show.drawings import fine_tuning
from lectures_lib.show.drawings.attention import numbers
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.fine_tuning import (
    FOLLOWED,
    HEADS,
    WIDTH,
    W,
    X,
    Y,
    column,
    framed_column,
    framed_row,
    head_row,
    thin_pair,
)
from lectures_lib.show.drawings.narrow.sheet import beside


def five_heads() -> Canvas:
    """Name and question stand above each row, the note beside what the head says."""
    drawing = beside(fine_tuning.five_heads(), 706)
    for i, head in enumerate(HEADS):
        y = 98 + 140 * i
        drawing.text(16, y - 78, head.name, bold=True, anchor="start")
        drawing.text(360, y - 78, head.asks, anchor="end", size=14)
        row = head_row(drawing, 16, y, head, size=13, pad=8)
        if head.name == "a span":
            left = row[head.read[0]].left - 12
            drawing.lines(left, y - 36, head.note, 17, size=13, anchor="end")
        else:
            right = row[head.read[-1]].right + 14 if len(head.read) > 1 else 114
            drawing.lines(right, y - 36, head.note, 17, size=13, anchor="start")
        if i:
            drawing.line([(16, y - 98), (360, y - 98)], "neutral", 1)
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
