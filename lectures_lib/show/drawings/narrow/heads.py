"""Heads (chapter 3), for a narrow page."""

from lectures_lib.show.drawings import heads
from lectures_lib.show.drawings.attention import WORDS, blank
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside


def split_heads_drawing() -> Canvas:
    """From top to bottom, the heads side by side."""
    said = {"On the left Q": "At the top Q"}
    drawing = beside(heads.split_heads_drawing(), 580, said)
    made, cell, n = heads.split_and_merge(), (24, 24), len(WORDS)
    q = drawing.matrix(106, 64, blank(n, 6), cell, heads.colours(made["matrix"]), rows=WORDS)
    joined = drawing.matrix(106, 456, blank(n, 6), cell, heads.colours(made["joined"]))
    drawing.text(q.middle[0], 22, "*Q*", size=19)
    drawing.text(q.right + 10, 86, "split_heads", bold=True, anchor="start", size=14)
    drawing.lines(q.right + 10, 114, ["view, then", "transpose"], 18, size=14, anchor="start")
    drawing.text(q.right + 10, 141, "*n* × *d*_{model}", "neutral", 14, "start")
    for i, rows in enumerate(made["cut"]):
        middle, name = 68 + 120 * i, f"head_{i + 1}"
        start = q.x + 48 * i + 24
        for y in (q.y - 14, joined.bottom + 14):
            drawing.text(start, y, str(i), name, size=14, bold=True)
        bend = [] if start == middle else [(start, 160), (middle, 160)]
        drawing.arrow([(start, q.bottom + 5), *bend, (middle, 200)], name, 2.5)
        drawing.text(middle + 9, 182, f"head {i}", name, bold=True, size=14, anchor="start")
        before = drawing.matrix(middle - 24, 204, blank(n, 2), cell, heads.colours(rows))
        drawing.arrow([(middle, before.bottom + 4), (middle, 300)], name, 2.5)
        drawing.box(middle - 44, 302, 88, 34, "attention", size=14)
        drawing.arrow([(middle, 338), (middle, 352)], name, 2.5)
        after = drawing.matrix(middle - 24, 356, blank(n, 2), cell, heads.colours(rows))
        bend = [] if start == middle else [(middle, 443), (start, 443)]
        drawing.arrow([(middle, after.bottom + 4), *bend, (start, joined.y - 4)], name, 2.5)
    for x in (128, 248):
        for y in (252, 404):
            drawing.text(x, y, "*n* × *d*_{head}", "neutral", size=14)
    drawing.text(q.right + 10, 478, "merge_heads", bold=True, anchor="start", size=14)
    drawing.lines(q.right + 10, 506, ["transpose,", "then flatten"], 18, size=14, anchor="start")
    drawing.text(54, joined.middle[1], "side by side", size=14)
    drawing.text(q.middle[0], 562, "*n* × (*h* · *d*_{head})", "neutral", size=14)
    return drawing


def multi_head_drawing() -> Canvas:
    """As wide, with less between the heads."""
    drawing = beside(heads.multi_head_drawing(), 688)
    n, d_model, small, cell = len(WORDS), 6, (13, 13), (20, 20)
    x = drawing.matrix(128, 20, blank(n, d_model), cell, rows=WORDS)
    drawing.text(x.right + 14, x.middle[1] - 10, "*X*", size=19, anchor="start")
    drawing.text(x.right + 14, x.middle[1] + 14, "*n* × *d*_{model}", "neutral", 14, "start")
    joined_x, joined_y, tiny = 14, 566, (16, 16)
    for i in range(3):
        middle, name = 64 + 124 * i, f"head_{i + 1}"
        start = x.x + 40 * i + 20
        bend = [] if start == middle else [(start, 104), (middle, 104)]
        drawing.arrow([(start, x.bottom + 4), *bend, (middle, 125)], name, 2.5)
        drawing.line([(middle - 53, 128), (middle + 53, 128)], name, 2.5)  # over all three
        place, anchor = ((7, "start"), (middle + 9, "start"), (middle - 8, "end"))[i]
        drawing.text(place, 116, f"head {i}", name, 13, anchor, bold=True)
        for j, letter in enumerate("QKV"):
            left = middle - 53 + 40 * j
            drawing.text(left + 13, 142, f"*W*_{{{i}}}^{letter}", size=14)
            w = drawing.matrix(left, 160, blank(d_model, 2), small, name)
            drawing.arrow([(left + 13, w.bottom + 3), (left + 13, 268)], name)
            drawing.text(left + 13, 280, f"*{letter}*_{i}", size=15)
            out = drawing.matrix(left, 296, blank(n, 2), small, name)
            drawing.arrow([(left + 13, out.bottom + 3), (left + 13, 362)], name)
        drawing.box(middle - 54, 364, 108, 36, "attention")
        drawing.arrow([(middle, 402), (middle, 422)], name, 2.5)
        head = drawing.matrix(middle - 34, 424, blank(n, 2), cell, name)
        drawing.text(head.right + 6, head.middle[1], f"*head*_{i}", name, 14, "start")
        foot, from_ = joined_x + 32 * i + 16, middle - 14
        level = 504 + 14 * i
        drawing.arrow(
            [(from_, head.bottom + 4), (from_, level), (foot, level), (foot, joined_y - 3)],
            name,
            2.5,
        )
    both = [[f"head_{j // 2 + 1}" for j in range(d_model)]]
    joined = drawing.matrix(joined_x, joined_y, blank(n, d_model), tiny, both * n)
    drawing.text(joined.middle[0], joined.bottom + 20, "*n* × (*h* · *d*_v)", "neutral", 14)
    drawing.text(124, joined.middle[1], "×", size=20)
    rows = [[f"head_{k // 2 + 1}"] * d_model for k in range(d_model)]
    w = drawing.matrix(138, joined.middle[1] - 36, blank(d_model, d_model), tiny, rows)
    drawing.text(w.middle[0], w.bottom + 16, "*W*^O", size=17)
    drawing.text(250, joined.middle[1], "=", size=20)
    z = drawing.matrix(266, joined_y, blank(n, d_model), tiny)
    drawing.text(z.middle[0], z.y - 17, "*Z*", size=19)
    drawing.text(z.middle[0], z.bottom + 20, "*n* × *d*_{model}", "neutral", 14)
    return drawing


def view_trap() -> Canvas:
    """The right way above, the wrong one below it."""
    said = {"Left, cut": "Above, cut", "Right, cut": "Below, cut"}
    drawing = beside(heads.view_trap(), 960, said)
    for top, side in zip((0, 478), heads.SIDES, strict=True):
        heads.cut(drawing, 192, top, 30, *side)
    drawing.line([(24, 479), (352, 479)], "neutral", 1)
    return drawing
