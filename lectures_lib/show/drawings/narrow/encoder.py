"""The encoder (chapter 5), for a narrow page."""

from lectures_lib.show.drawings import encoder
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside


def residual_stream() -> Canvas:
    """Two lines, attention in the upper one; the stream goes on in the lower."""
    said = {
        "runs from left to right and carries": "runs from left to right, in two lines, and carries"
    }
    drawing = beside(encoder.residual_stream(), 616, said)
    halves = (
        (180, ["multi-head", "attention"], "words mix", "around attention"),
        (466, ["feed-", "forward"], "each word by itself", "around feed-forward"),
    )
    drawing.text(22, 156, "*x*", size=19)
    x, wide, plus, norm = 46, 112, 210, 238
    for y, name, does, around in halves:
        high = y - 118
        drawing.line([(14 if y == 180 else 30, y), (plus - 14, y)], "residual", 5)
        drawing.line([(plus + 14, y), (norm, y)], "residual", 5)
        drawing.arrow([(x, y), (x, high), (x + 22, high)], "residual", 2.5)
        drawing.box(x + 24, high - 32, wide, 64, name, "encoder")
        drawing.text(x + 24 + wide / 2, high - 48, does, "encoder", size=14)
        drawing.arrow([(x + 24 + wide, high), (plus, high), (plus, y - 15)], "encoder", 2.5)
        drawing.circle(plus, y, 14, "+", "encoder", size=19)
        drawing.box(norm, y - 20, 88, 40, "LayerNorm", "neutral", size=14)
        drawing.text(plus, y + 36, "Add", bold=True, size=14)
        drawing.text(norm + 44, y + 36, "Norm", bold=True, size=14)
        drawing.bracket(x, y + 54, norm + 88 - x, around, size=14)
    (above, *_), (below, *_) = halves
    way = [(norm + 88, above), (350, above), (350, 274), (14, 274), (14, below), (30, below)]
    drawing.line(way, "residual", 5)
    drawing.arrow([(norm + 88, below), (364, below)], "residual", 5)
    drawing.text(188, 588, "everywhere on the stream: *n* × *d*_{model}", "neutral", size=14)
    return drawing


def words_through_a_block() -> Canvas:
    """As wide, with narrower columns; what stands at the left there stands below."""
    drawing = beside(encoder.words_through_a_block(), 846)
    centres = {"dog": 80, "bites": 194, "man": 308}
    name = ["self-", "attention"]
    drawing.box(34, 498, 332, 48, name, "encoder", size=14)
    for i, (word, x) in enumerate(centres.items(), start=1):
        side = x - 56
        drawing.text(x, 676, word, bold=True, size=17)
        for low, high, plus in ((600, 548, 458), (356, 302, 208)):
            drawing.arrow([(x, low), (x, high)], "residual", 2.5)
            drawing.arrow([(x, low - 10), (side, low - 10), (side, plus)], "residual", 4)
        vector = drawing.matrix(x - 36, 630, [[""] * 4], (18, 24), "encoder")
        drawing.line([(x, vector.y - 2), (x, 600)], "residual", 2.5)
        drawing.text(vector.right + 14, vector.middle[1], f"*x*_{i}", size=16)
        drawing.arrow([(x, 497), (x, 458)], "encoder", 2.5)
        drawing.box(x - 61, 408, 105, 48)
        drawing.lines(x - 8, 432, ["LayerNorm", "(*x* + *a*)"], 18, size=14)
        drawing.line([(x, 408), (x, 396)], "residual", 2.5)
        drawing.matrix(x - 36, 372, [[""] * 4], (18, 24), "encoder")
        drawing.text(x + 50, 384, f"*z*_{i}", size=16)
        drawing.line([(x, 370), (x, 356)], "residual", 2.5)
        drawing.box(x - 38, 252, 82, 48, ["feed-", "forward"], "encoder", size=14)
        drawing.arrow([(x, 250), (x, 208)], "encoder", 2.5)
        drawing.box(x - 61, 158, 105, 48)
        drawing.lines(x - 8, 182, ["LayerNorm", "(*z* + *f*)"], 18, size=14)
        drawing.line([(x, 158), (x, 144)], "residual", 2.5)
        drawing.matrix(x - 36, 120, [[""] * 4], (18, 24), "encoder")
        drawing.arrow([(x, 118), (x, 76)], "residual", 2.5)
        drawing.text(x + 12, 478, f"*a*_{i}", size=16, anchor="start")
        drawing.text(x + 12, 230, f"*f*_{i}", size=16, anchor="start")
    drawing.box(24, 30, 342, 44, "the next block", "neutral", dashed=True, size=14)
    for i, (what, does, colour) in enumerate(
        (
            ("self-attention:", "words mix", "encoder"),
            ("feed-forward:", "each word by itself,", "encoder"),
            ("", "same weights", "encoder"),
            ("LayerNorm(…):", "Add & Norm", "ink"),
            ("three vectors:", "*n* × *d*_{model}", "neutral"),
        )
    ):
        y = 720 + 25 * i
        if what:
            drawing.text(24, y, what, colour, 14, "start", bold=colour != "neutral")
        drawing.text(160, y, does, colour, 14, "start")
    return drawing


def pre_and_post_norm() -> Canvas:
    """As wide, with narrower boxes."""
    drawing = beside(encoder.pre_and_post_norm(), 620)
    for x, title, formula in (
        (52, "post-norm", "LayerNorm(*x* + *f*(*x*))"),
        (242, "pre-norm", "*x* + *f*(LayerNorm(*x*))"),
    ):
        post = title == "post-norm"
        drawing.text(x - 42, 26, title, bold=True, size=17, anchor="start")
        drawing.text(x - 42, 52, formula, size=14, anchor="start")
        drawing.text(x, 600, "*x*", size=19)
        for y, name in ((560, ["attention"]), (350, ["feed-", "forward"])):
            middle, plus = x + 86, y - (130 if post else 178)
            drawing.line([(x, y + 22 if y == 560 else y + 8), (x, plus + 14)], "residual", 5)
            drawing.line([(x, plus - 14), (x, y - 210 + 8)], "residual", 5)
            top = y - 94 if post else y - 148
            drawing.box(middle - 42, top, 84, 46, name, "encoder", size=14)
            if post:
                drawing.arrow([(x, y - 12), (middle, y - 12), (middle, y - 46)], "residual", 2.5)
                drawing.box(x - 44, y - 196, 88, 38, "LayerNorm", "neutral", size=14)
            else:
                drawing.arrow([(x, y - 12), (middle, y - 12), (middle, y - 34)], "residual", 2.5)
                drawing.box(middle - 44, y - 72, 88, 38, "LayerNorm", "neutral", size=14)
                drawing.arrow([(middle, y - 74), (middle, y - 100)], "residual", 2.5)
            drawing.arrow([(middle, top), (middle, plus), (x + 15, plus)], "encoder", 2.5)
            drawing.circle(x, plus, 14, "+", "encoder", size=19)
        if post:
            drawing.arrow([(x, 148), (x, 80)], "residual", 5)
        else:
            drawing.line([(x, 148), (x, 142)], "residual", 5)
            drawing.box(x - 44, 110, 88, 34, "LayerNorm", dashed=True, size=14)
            drawing.arrow([(x, 110), (x, 76)], "residual", 5)
            says = ["once, after", "the last", "block"]
            drawing.lines(x + 50, 118, says, size=13, anchor="start", step=17)
    drawing.line([(191, 20), (191, 600)], "neutral", 1)
    return drawing
