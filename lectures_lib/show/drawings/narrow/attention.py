"""Attention (chapter 2), for a narrow page: what stands side by side on a wide one stands below each
other.
"""

import math

from lectures_lib.show.drawings import attention
from lectures_lib.show.drawings.attention import (
    KINDS,
    PROJECTIONS,
    TOLD,
    WORDS,
    K,
    Q,
    V,
    X,
    numbers,
)
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Number
from lectures_lib.show.drawings.narrow.sheet import beside


def heading(drawing: Canvas, y: Number, number: int, *texts: str) -> None:
    """A step's number at the left edge, and what is done in it."""
    drawing.circle(24, y, 12, str(number), size=14)
    drawing.lines(44, y, texts, 18, anchor="start", bold=True, size=14)


def thinking_machines() -> Canvas:
    """Two columns, with the steps at the left."""
    made = attention.thinking()
    scores, scaled = ([f"{x:g}" for x in made[name]] for name in ("scores", "scaled"))
    weights, output = ([f"{x:.2f}" for x in made[name]] for name in ("weights", "output"))
    drawing = beside(attention.thinking_machines(), 530)
    middles, ys = (194, 302), (72, 154, 226, 304, 396, 490)
    drawing.box(12, ys[0] - 30, 108, 60, ["query of", "Thinking:", "64 ones"], "query", size=14)
    for middle, word, key in zip(middles, ("Thinking", "Machines"), ("1.75", "1.5"), strict=True):
        drawing.text(middle, 24, word, bold=True, size=16)
        drawing.box(middle - 51, ys[0] - 25, 102, 50, ["key: 64", f"times {key}"], "key", size=14)
    heading(drawing, ys[1], 1, "scores:", "query · key")
    heading(drawing, ys[2], 2, "divide by", "√64 = 8")
    heading(drawing, ys[3], 3, "softmax", "over both")
    heading(drawing, ys[4], 4, "weight", "times value")
    heading(drawing, ys[5], 5, "add")
    columns = zip(middles, scores, scaled, weights, ("1, 0", "0, 1"), strict=True)
    for i, (middle, score, smaller, weight, value) in enumerate(columns):
        for above, below in ((ys[0] + 27, ys[1] - 19), (ys[1] + 19, ys[2] - 19)):
            drawing.arrow([(middle, above), (middle, below)])
        drawing.arrow([(middle, ys[2] + 19), (middle, ys[3] - 22)])
        drawing.matrix(middle - 30, ys[1] - 17, [[score]], (60, 34), size=17)
        drawing.matrix(middle - 30, ys[2] - 17, [[smaller]], (60, 34), size=17)
        share = [[made["weights"][i]]]
        drawing.matrix(middle - 38, ys[3] - 20, [[weight]], (76, 40), shares=share, size=17)
        drawing.arrow([(middle, ys[3] + 22), (middle, ys[4] - 20)])
        product = [[weight, "0"] if i == 0 else ["0", weight]]
        drawing.matrix(middle - 48, ys[4] - 18, product, (48, 36), "value", size=16)
        drawing.text(middle + 10, ys[4] - 36, f"× ({value})", "value", anchor="start", size=14)
        foot, bend = (224, 272)[i], ys[5] - 46
        way = [(middle, ys[4] + 20), (middle, bend), (foot, bend), (foot, ys[5] - 20)]
        drawing.arrow(way, "value")
    drawing.line([(middles[0] + 42, ys[3]), (middles[1] - 42, ys[3])], dashed=True)
    drawing.text(sum(middles) / 2, ys[3] - 32, "together 1", "neutral", size=14)
    drawing.matrix(200, ys[5] - 18, [output], (48, 36), "value", size=16)
    drawing.text(190, ys[5], "*z*_1 =", anchor="end", size=17)
    return drawing


def queries_keys_values() -> Canvas:
    """X above, the three products below each other."""
    said = {"On the left the matrix X": "At the top the matrix X"}
    drawing = beside(attention.queries_keys_values(), 726, said)
    cell, high = (56, 24), 24
    x = drawing.matrix(
        92, 70, numbers(X), cell, shape="*n* × *d*_{model}", rows=WORDS, columns=KINDS
    )
    drawing.text(x.middle[0], x.y - 42, "*X*", size=19)
    drawing.frame(x.x, x.y + high, x.width, high)
    for i, (colour, letter, learned, made, width, says, columns) in enumerate(PROJECTIONS):
        middle, side, level = 282 + 174 * i, 32 - 9 * i, 186 - 9 * i
        start = 126 - 10 * i
        way = [(start, x.bottom + 6), (start, level), (side, level), (side, middle), (45, middle)]
        drawing.arrow(way, colour, thick=2.5)
        drawing.circle(59, middle, 12, "×", colour)
        w = drawing.matrix(
            79,
            middle - 2 * high,
            numbers(learned),
            (24, high),
            colour,
            shape=f"*d*_{{model}} × {width}",
        )
        drawing.text(w.middle[0], w.y - 17, f"*W*^{letter}", colour, size=19)
        drawing.text(165, middle, "=", size=20)
        out = drawing.matrix(
            182,
            middle - 1.5 * high,
            numbers(made),
            (54, high),
            colour,
            shape=f"*n* × {width}",
            columns=columns,
        )
        drawing.text(out.right + 18, middle, f"*{letter}*", colour, size=19)
        drawing.frame(out.x, out.y + high, out.width, high)
        drawing.text(182, out.y - 38, colour, colour, bold=True, anchor="start", size=16)
        drawing.text(240, out.y - 38, says, anchor="start", size=14)
    return drawing


def attention_steps() -> Canvas:
    """One matrix below the other, with the steps at the left."""
    made = attention.steps()
    drawing = beside(attention.attention_steps(), 1000)
    words = {"rows": WORDS, "columns": WORDS, "row_colour": "query", "column_colour": "key"}
    left, cell = 206, (52, 28)
    middle = left + 78

    heading(drawing, 28, 1, "scores: every query with every key")
    q = drawing.matrix(
        54,
        78,
        numbers(Q),
        (38, 28),
        "query",
        rows=WORDS,
        row_colour="query",
        shape="*Q*: *n* × *d*_k",
    )
    drawing.text(152, q.middle[1], "·", size=24, bold=True)
    drawing.matrix(
        left,
        92,
        numbers(K.T),
        cell,
        "key",
        shape="*K*^⊤: *d*_k × *n*",
        columns=WORDS,
        column_colour="key",
    )
    shown = (
        (224, made["scores"], "", {}),
        (360, made["scaled"], ".2f", {}),
        (496, made["masked"], ".2f", {"hidden": (made["masked"] == -math.inf).tolist()}),
        (632, made["weights"], ".2f", {"shares": made["weights"].tolist()}),
    )
    for y, matrix, spec, options in shown:
        drawing.matrix(left, y, numbers(matrix, spec), cell, **words, **options)
        if y > 224:
            drawing.arrow([(middle, y - 48), (middle, y - 22)], thick=2.5)
    drawing.lines(90, 266, ["= *QK*^⊤", "*n* × *n*"], 22, colour="neutral", size=14)
    heading(drawing, 402, 2, "divide by", "√*d*_k = 1.41")
    heading(drawing, 520, 3, "mask")
    drawing.lines(44, 556, ["no word sees", "a later one"], 18, size=14, anchor="start")
    heading(drawing, 674, 4, "softmax,", "row by row")

    heading(drawing, 772, 5, "mix the values")
    v = drawing.matrix(
        left, 772, numbers(V), cell, "value", rows=WORDS, columns=TOLD, row_colour="value", size=13
    )
    drawing.text(middle, 736, "·", size=24, bold=True)
    drawing.text(44, v.middle[1] + 2, "*V*: *n* × *d*_v", "neutral", 14, "start")
    out = drawing.matrix(
        left, 900, numbers(made["output"], ".2f"), cell, "value", rows=WORDS, columns=TOLD, size=13
    )
    drawing.text(middle, 868, "=", size=20)
    says = ["new vectors:", "*n* × *d*_v"]
    drawing.lines(44, out.middle[1], says, 20, colour="neutral", size=14, anchor="start")
    return drawing
