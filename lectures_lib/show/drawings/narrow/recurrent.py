"""The recurrent network (chapter 1), for a narrow page."""

from lectures_lib.show.drawings import recurrent
from lectures_lib.show.drawings.attention import numbers
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside


def gate() -> Canvas:
    """As wide; what the ends of a slider mean stands at the left."""
    drawing = beside(recurrent.gate(), 440)
    vectors = (recurrent.OLD, recurrent.CANDIDATE, recurrent.GATE, recurrent.new_state())
    old, candidate, shares, new = (numbers(v[None], ".2f") for v in vectors)
    x, cell, top, bottom = 120, (61, 36), 98, 244
    for y, row, colour, name, ink in (
        (32, old, "encoder", "old state *h*", "encoder"),
        (272, candidate, "prediction", "candidate *n*", "prediction"),
        (372, new, "residual", "new state *h′*", "ink"),
    ):
        grid = drawing.matrix(x, y, row, cell, colour, size=15)
        drawing.text(x - 9, y + 18, name, ink, anchor="end", bold=True, size=14)
    drawing.text(x - 9, (top + bottom) / 2, "gate *z*", anchor="end", bold=True, size=14)
    for j, z in enumerate(recurrent.GATE.tolist()):
        middle = x + (j + 0.5) * cell[0]
        drawing.line([(middle, top), (middle, bottom)], "neutral", 4)
        knob = bottom - z * (bottom - top)
        drawing.box(middle - 26, knob - 14, 52, 28, shares[0][j], radius=14, bold=True, size=14)
    drawing.lines(x - 9, top, ["*z* = 1:", "keep the old"], 18, size=14, anchor="end")
    drawing.lines(x - 9, bottom - 9, ["*z* = 0: take", "the candidate"], 18, size=14, anchor="end")
    drawing.arrow([(grid.middle[0], 316), (grid.middle[0], 362)], thick=2.5)
    formula = "(1 − *z*) · *n* + *z* · *h*"
    drawing.text(grid.middle[0] - 14, 338, formula, size=15, anchor="end")
    return drawing
