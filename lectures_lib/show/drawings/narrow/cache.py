"""Writing with a cache (chapter 9b), for a narrow page."""

from lectures_lib.show.drawings import cache
from lectures_lib.show.drawings.attention import numbers
from lectures_lib.show.drawings.cache import AGAIN, CACHED, COME, END, FRESH, NEWEST, READ
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside


def read_again() -> Canvas:
    """As wide; a row is named after its newest word, and the others are empty squares."""
    drawing = beside(cache.read_again(), 402)
    fresh, again = cache.computed()
    x, y, side = 78, 50, 25
    drawing.text(x - 9, 26, "newest", bold=True, anchor="end", size=14)
    drawing.text(x, 26, "computes", bold=True, anchor="start", size=14)
    drawing.text(300, 26, "writes", bold=True, anchor="start", size=14)
    for i, writes in enumerate([*READ[1:], END]):
        row = drawing.matrix(
            x,
            y + i * 33,
            [[""] * (i + 1)],
            (side, 25),
            [["mask"] * i + ["decoder"]],
            rows=[READ[i]],
            size=14,
        )
        middle = row.middle[1]
        drawing.arrow([(row.right + 5, middle), (298, middle)], "prediction", 2)
        drawing.text(304, middle, writes, "prediction", 14, "start", bold=True)
    for top, number, colour, says in ((326, fresh, "decoder", FRESH), (358, again, "mask", AGAIN)):
        drawing.matrix(16, top, [[""]], (32, 24), colour)
        drawing.text(32, top + 12, str(number), size=13)
        drawing.text(58, top + 12, says, anchor="start", size=14)
    return drawing


def step_with_cache() -> Canvas:
    """As wide, with the rows' names above them."""
    drawing = beside(cache.step_with_cache(), 486)
    made = cache.step_numbers()
    weights, output = (numbers(made[name], ".2f")[0] for name in ("weights", "output"))
    x, cell = [16, 91, 166, 287], (36, 32)
    drawing.box(8, 126, 238, 130, colour="residual", radius=9)
    drawing.box(16, 82, 222, 32, "not needed any more", dashed=True, size=14, radius=0)
    for y, name, colour in (
        (64, "queries", "query"),
        (142, "keys", "key"),
        (202, "values", "value"),
    ):
        drawing.text(16, y, name, colour, 14, "start", bold=True)
    cache.columns(drawing, x, cell, (82, 156, 216), 40)
    drawing.frame(279, 72, 88, 184)
    drawing.arrow([(277, 191), (250, 191)], thick=2.5)
    drawing.text(366, 16, "computed now", size=13, anchor="end")
    drawing.text(127, 272, "the cache", bold=True)
    drawing.arrow([(322, 262), (322, 308)], thick=2.5)
    drawing.text(308, 296, "softmax(*q* · *K*^⊤ / √*d*_k)", size=15, anchor="end")
    cache.weigh(drawing, x, 2 * cell[0], 322, weights)
    drawing.text(16, 374, "weights", bold=True, size=14, anchor="start")
    drawing.arrow([(322, 364), (322, 424)], thick=2.5)
    drawing.text(308, 398, "· *V*", size=15, anchor="end")
    drawing.matrix(281, 432, [output], (42, 32), "value", size=14)
    drawing.text(270, 448, f"new vector of {READ[NEWEST]}", anchor="end", bold=True, size=14)
    return drawing


def rows_of_the_mask() -> Canvas:
    """As wide, with the words below."""
    n = CACHED + COME
    drawing = beside(cache.rows_of_the_mask(), 386)
    cache.mask(drawing, 84, 84, (55, 40))
    drawing.text(84, 308, f"come together: causal_mask({n})[{CACHED}:]", anchor="start", size=14)
    drawing.matrix(84, 336, [[""]], (30, 22), hidden=[[True]])
    drawing.text(124, 347, "later words: hidden", size=14, anchor="start")
    return drawing
