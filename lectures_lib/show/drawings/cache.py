"""Writing with a cache (chapter 9b): what is computed again without one, and one step with it."""

import torch
from torch import Tensor

from lectures_lib.blocks.attention import attention_weights, causal_mask
from lectures_lib.show.drawings.attention import numbers
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Number

# what the chapter's decoder reads, and the end token after it
READ = ("<s>", "sieben", "und", "zwanzig", ",", "sechs", "hundert", "achtzig")
END = "</s>"
AGAIN, FRESH = "computed before, with the same result", "computed for the first time"
# of `step_with_cache`: made-up queries, keys and values of the first four words, such that the
# rounded weights give the rounded vector
Q = torch.tensor([[1.0, 2.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
K = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [1.0, 1.0]])
V = torch.tensor([[1.0, 0.0], [0.0, 2.0], [2.0, 0.0], [2.0, 1.0]])
NEWEST = len(Q) - 1
# of `rows_of_the_mask`: so many words are in the cache, so many come together
CACHED, COME = 2, 3


def computed() -> tuple[int, int]:
    """How many positions are computed for the first time, and how many again."""
    n = len(READ)
    return n, int(causal_mask(n).sum()) - n


def read_again() -> Canvas:
    """Each step without a cache, with what it computes."""
    fresh, again = computed()
    told = "; ".join(
        f"step {i + 1} reads {' '.join(READ[: i + 1])} and writes {writes}"
        for i, writes in enumerate([*READ[1:], END])
    )
    drawing = Canvas(
        "read_again",
        720,
        396,
        "What a decoder without a cache computes at each step",
        f"A triangle of {fresh} rows, one for each step: {told}. The last word of each row is new; "
        f"all to its left, grey, were computed in the steps before. New are {fresh} positions, "
        f"computed again {again}.",
        f"Without a cache: each step reads all that is written. Of the {fresh + again} positions "
        f"{again}, the grey ones, were computed before.",
    )
    x, y, wide, high = 78, 56, 63, 34
    drawing.text(x, 32, "reads", bold=True, anchor="start")
    drawing.text(652, 32, "writes", bold=True)
    for i, writes in enumerate([*READ[1:], END]):
        row = drawing.matrix(
            x,
            y + i * high,
            [list(READ[: i + 1])],
            (wide, high),
            [["mask"] * i + ["decoder"]],
            rows=[f"step {i + 1}"],
            size=13,
        )
        middle = row.middle[1]
        drawing.arrow([(row.right + 8, middle), (610, middle)], "prediction", 2)
        drawing.text(622, middle, writes, "prediction", 14, "start", bold=True)
    drawing.matrix(x, 350, [[str(fresh)]], (34, 24), "decoder", size=13)
    drawing.text(x + 44, 362, FRESH, anchor="start", size=14)
    drawing.matrix(x + 262, 350, [[str(again)]], (34, 24), "mask", size=13)
    drawing.text(x + 306, 362, AGAIN, anchor="start", size=14)
    return drawing


def step_numbers() -> dict[str, Tensor]:
    """The newest word's weights over all words, and its new vector."""
    weights = attention_weights(Q[NEWEST:], K)
    return {"weights": weights, "output": weights @ V}


def step_with_cache() -> Canvas:
    """The newest word's query over kept keys and values and its own."""
    made = step_numbers()
    weights, output = numbers(made["weights"], ".2f")[0], numbers(made["output"], ".2f")[0]
    rows = "; ".join(
        f"{word}: key {', '.join(key)}, value {', '.join(value)}, weight {weight}"
        for word, key, value, weight in zip(
            READ, numbers(K, "g"), numbers(V, "g"), weights, strict=False
        )
    )
    drawing = Canvas(
        "step_with_cache",
        720,
        462,
        "One step of self-attention with a cache",
        f"Four columns, one for each word: {', '.join(READ[:NEWEST])} stand in the cache with a "
        f"key and a value each; {READ[NEWEST]} is new, and only for it are a query, "
        f"{', '.join(numbers(Q, 'g')[NEWEST])}, a key and a value computed. Its key and value go "
        "into the cache. The queries of the older words are not needed. The new query with all "
        f"keys gives one row of weights, and the weighted values give its new vector. {rows}; the "
        f"new vector: {', '.join(output)}.",
        f"One step, for the word {READ[NEWEST]}. Of queries, keys and values only what is framed is "
        "computed; its key and value join those in the cache. (Made-up numbers.)",
    )
    x, cell = [130, 238, 346, 494], (50, 32)
    names = ((96, "queries", "query"), (152, "keys", "key"), (206, "values", "value"))
    drawing.box(120, 128, 336, 102, colour="residual", radius=9)
    drawing.box(130, 80, 316, 32, "not needed any more", dashed=True, size=14, radius=0)
    columns(drawing, x, cell, (80, 136, 190), 54)
    for y, name, colour in names:
        drawing.text(106, y, name, colour, anchor="end", bold=True)
    drawing.frame(484, 70, 120, 162)
    drawing.lines(616, 96, ["computed", "now"], 18, size=14, anchor="start")
    drawing.text(288, 248, "the cache", bold=True)
    drawing.arrow([(482, 179), (460, 179)], thick=2.5)
    drawing.arrow([(466, 240), (466, 288)], thick=2.5)
    drawing.text(480, 264, "softmax(*q* · *K*^⊤ / √*d*_k)", size=15, anchor="start")
    grid_y = 302
    weigh(drawing, x, 2 * cell[0], grid_y, weights)
    drawing.text(106, grid_y + 18, "weights", anchor="end", bold=True)
    drawing.arrow([(544, 344), (544, 390)], thick=2.5)
    drawing.text(530, 366, "· *V*", size=15, anchor="end")
    drawing.matrix(494, 398, [output], cell, "value", size=14)
    drawing.text(478, 414, f"new vector of {READ[NEWEST]}", anchor="end", bold=True)
    return drawing


def columns(
    drawing: Canvas,
    x: list[Number],
    cell: tuple[Number, Number],
    tops: tuple[Number, Number, Number],
    head: Number,
) -> None:
    """Keys and values of each word, and the newest one's query; the words stand at height `head`."""
    for i, left in enumerate(x):
        new = i == NEWEST
        drawing.text(left + cell[0], head, READ[i], size=15, bold=new)
        for top, table, colour in zip(tops, (Q, K, V), ("query", "key", "value"), strict=True):
            if new or colour != "query":
                drawing.matrix(left, top, [numbers(table, "g")[i]], cell, colour, size=15)


def weigh(drawing: Canvas, x: list[Number], width: Number, y: Number, weights: list[str]) -> None:
    """The row of weights, each below its word."""
    for left, weight in zip(x, weights, strict=True):
        share = [[float(weight)]]
        drawing.matrix(left, y, [[weight]], (width, 36), "neutral", shares=share, size=15)


def rows_of_the_mask() -> Canvas:
    """A causal mask, of which the rows of the newest words are used."""
    n = CACHED + COME
    hidden = (~causal_mask(n)).tolist()
    told = "; ".join(
        f"word {i} sees " + ", ".join(str(j) for j in range(n) if not hidden[i][j])
        for i in range(CACHED, n)
    )
    drawing = Canvas(
        "rows_of_the_mask",
        720,
        346,
        "The rows of the causal mask for words that come together",
        f"A causal mask of {n} words, a row for each word that asks, a column for each that is "
        f"asked. The keys of the first {CACHED} come from the cache, those of the other {COME} come "
        f"now. The first {CACHED} rows were computed before and have no query any more. Framed are the last {COME} rows, of the words that come now: {told}. The hatched squares in the "
        "frame are what is seen too much without a mask.",
        f"With {CACHED} words in the cache, {COME} that come together need the last {COME} rows of "
        f"the mask of {n}. Without a mask, the hatched squares would be seen.",
    )
    mask(drawing, 130, 84, (66, 40))
    drawing.lines(482, 224, ["come together:", f"causal_mask({n})[{CACHED}:]"], 20, anchor="start")
    drawing.matrix(130, 306, [[""]], (30, 22), hidden=[[True]])
    drawing.text(170, 317, "later words: hidden", size=14, anchor="start")
    return drawing


def mask(drawing: Canvas, x: Number, y: Number, cell: tuple[Number, Number]) -> None:
    """The mask with its two sorts of rows, the second framed."""
    n, (wide, high) = CACHED + COME, cell
    hidden = (~causal_mask(n)).tolist()
    drawing.text(x - 12, y - 14, "asks", "query", anchor="end", bold=True, size=14)
    drawing.text(x - 12, y - 46, "is asked", "key", anchor="end", bold=True, size=14)
    for first, many, says in ((0, CACHED, "from the cache"), (CACHED, COME, "come now")):
        left = x + first * wide + 4
        drawing.bracket(left, y - 28, many * wide - 8, says, "top", "key")
    for j in range(n):
        drawing.text(x + (j + 0.5) * wide, y - 14, str(j), "key", size=14)
    for i in range(CACHED):
        drawing.text(x - 12, y + (i + 0.5) * high, f"word {i}", "neutral", 14, "end")
    known = ["already computed:", "no query any more"]
    drawing.box(x, y + 4, n * wide, CACHED * high - 10, known, dashed=True, size=14)
    drawing.matrix(
        x,
        y + CACHED * high,
        [[""] * n] * COME,
        cell,
        "decoder",
        hidden=hidden[CACHED:],
        rows=[f"word {i}" for i in range(CACHED, n)],
        row_colour="query",
    )
    drawing.frame(x - 2, y + CACHED * high - 2, n * wide + 4, COME * high + 4)
