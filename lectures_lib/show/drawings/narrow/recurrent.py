"""The recurrent translator (chapter 1), for a narrow page."""

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


def bottleneck() -> Canvas:
    """The decoder above the encoder, for one writes above and the other reads below."""
    drawing = beside(recurrent.bottleneck(), 468)
    last = recurrent.states(drawing, 46, 296, recurrent.READ, "encoder", 84, below=True)
    first = recurrent.states(drawing, 40, 92, recurrent.WRITTEN, "decoder", 70, below=False)
    recurrent.one_vector(drawing, last, last.x - 12, "end")
    (begin, end), between = (last.middle[0], first.middle[0]), last.y - 52
    path = [(begin, last.y - 9), (begin, between), (end, between), (end, first.bottom + 5)]
    drawing.arrow(path, thick=2.5)
    drawing.text(16, 452, "the encoder reads", "encoder", anchor="start", bold=True)
    drawing.text(344, 20, "the decoder writes", "decoder", anchor="end", bold=True)
    return drawing


def looking_back() -> Canvas:
    """The decoder's state above the words; what each step is called stands at the left."""
    drawing = beside(recurrent.looking_back(), 442)
    look = recurrent.look()
    made = {name: numbers(value[None], ".2f")[0] for name, value in look.items()}
    x, step, cell = 104, 90, (37, 30)
    asks = drawing.matrix(x + 2 * step, 20, numbers(recurrent.ASKS[None]), cell, "decoder", size=15)
    drawing.text(asks.x - 10, 35, "the decoder's *s*", "decoder", anchor="end", bold=True)
    kept = []
    for j, word in enumerate(recurrent.SOURCE):
        drawing.text(x + j * step + cell[0], 84, word)
        tidy = numbers(recurrent.TIDY[j : j + 1])
        kept.append(drawing.matrix(x + j * step, 98, tidy, cell, "encoder", size=15))
    drawing.lines(x - 12, 113, ["states", "*h*_j"], 18, colour="encoder", anchor="end", bold=True)
    scores = recurrent.number_row(drawing, kept, 186, made["scores"])
    side = asks.right + 11
    drawing.arrow([(asks.right + 4, 35), (side, 35), (side, 203), (scores[-1].right + 3, 203)])
    drawing.text(4, 156, "*v* · tanh(*s* + *h*_j)", size=14, anchor="start")
    weights = recurrent.number_row(drawing, kept, 268, made["weights"], look["weights"].tolist())
    for number, y, name in ((1, 203, "score"), (2, 285, "softmax"), (3, 397, "average")):
        drawing.step(4, y, number, name)
    recurrent.averaged(drawing, kept, scores, weights, 382, (cell[0], 30))
    return drawing
