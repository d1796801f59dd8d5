"""Features from BERT (chapters 15 and 15b): a word's vectors in all layers, what they are asked, and
one vector made of them.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Grid, Number

# of `scalar_mix`: made-up weights of MiniLM's seven states, and a word's vectors, two numbers each
MIX_W = (0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 1.0)
MIX_STATES = tuple((float(i), 6.0 - i) for i in range(7))


# of `word_states`: the pieces of the chapter's sentence, and the senses of its first five sentences
PIECES = [
    "[CLS]",
    "this",
    "racing",
    "bike",
    "is",
    "very",
    "light",
    "for",
    "its",
    "size",
    ".",
    "[SEP]",
]
LIGHT, TAKEN, WIDTH, KNOWN = PIECES.index("light"), 6, 384, 12
SENSES = ("not heavy", "not heavy", "not heavy", "brightness", "brightness")

# of `nearest_by_position`: the meanings, the word's places, and in which cells (meaning, place) two
# sentences stand; the first sentence of the first cell asks
MEANINGS, POSITIONS = ("brightness", "not heavy"), (2, 6)
EVERYWHERE = tuple((m, p) for p in (0, 1) for m in (0, 1))


class Panel(NamedTuple):
    """One of the three: its name, the cells with sentences, and who may be a neighbour."""

    name: str
    cells: tuple[tuple[int, int], ...]
    elsewhere: bool  # only with the word at another position


PANELS = (
    Panel("not matched", ((0, 0), (1, 1)), elsewhere=False),
    Panel("matched", EVERYWHERE, elsewhere=False),
    Panel("other positions only", EVERYWHERE, elsewhere=True),
)


# ------------------------------------------------------------------------------ a word's seven states


def word_states() -> Canvas:
    """A sentence's pieces in all states, and the row of features that is taken from them."""
    drawing = Canvas(
        "word_states",
        720,
        414,
        "From a sentence's hidden states to a row of features",
        f"Left, a grid. Each row is a piece of the sentence, {' '.join(PIECES)}; each column is a "
        f"state, 0 to {TAKEN}. The row of light, place {LIGHT}, is framed, and in it the last "
        f"cell, state {TAKEN}. From there an arrow leads to the first row of a table at the right, "
        f"the features: {KNOWN} rows, one a sentence, each of {WIDTH} numbers, with its label "
        f"beside it: {', '.join(SENSES)} and so on. From the table an arrow leads up to logistic "
        "regression.",
        f"Every cell is a vector of {WIDTH} numbers; the framed row is the seven vectors of “light”. "
        "The classifier gets one cell of each sentence. For a task about whole sentences one would "
        "take a cell of [CLS], or the mean of a column.",
    )
    grid = draw_states(drawing, 96, 72, (34, 26))
    table = draw_features(drawing, 430, grid.centre(LIGHT, 0)[1] - 14, (136, 28), labels_right=True)
    taken = grid.centre(LIGHT, TAKEN)
    drawing.arrow([(grid.right + 4, taken[1]), (table.x - 6, taken[1])], "ink", 2.5)
    drawing.box(table.x, 62, 236, 44, "logistic regression")
    middle = table.middle[0]
    drawing.arrow([(middle, table.y - 48), (middle, 112)], "neutral", 2.5)
    drawing.arrow([(table.right + 52, table.y - 48), (table.right + 52, 112)], "neutral", 2.5)
    return drawing


def draw_states(drawing: Canvas, x: Number, y: Number, cell: tuple[Number, Number]) -> Grid:
    """The grid of pieces and states, the word's row and the cell that is taken framed."""
    colours = [["encoder" if i == LIGHT else "neutral"] * (TAKEN + 1) for i in range(len(PIECES))]
    blank = [[""] * (TAKEN + 1) for _ in PIECES]
    names = [str(i) for i in range(TAKEN + 1)]
    grid = drawing.matrix(x, y, blank, cell, colours, rows=PIECES, columns=names, size=14)
    drawing.text(grid.middle[0], y - 36, "state", bold=True)
    wide, high = cell
    drawing.frame(x - 2, y + LIGHT * high - 1, grid.width + 4, high + 2, thick=2)
    drawing.frame(x + TAKEN * wide, y + LIGHT * high, wide, high, thick=4)
    return grid


def draw_features(
    drawing: Canvas, x: Number, y: Number, cell: tuple[Number, Number], labels_right: bool
) -> Grid:
    """The table of features with its labels at the right or the left; the first row is the word's."""
    rows = len(SENSES)
    colours = [["encoder"], *[["neutral"]] * (rows - 1)]
    values = [[f"{WIDTH} numbers"], *[[""]] * (rows - 1)]
    table = drawing.matrix(x, y, values, cell, colours, size=13)
    at, anchor = (table.right + 10, "start") if labels_right else (x - 10, "end")
    for i, sense in enumerate(SENSES):
        drawing.text(at, table.centre(i, 0)[1], sense, anchor=anchor, size=14)
    for place in (table.middle[0], at + (36 if labels_right else -36)):
        drawing.text(place, table.bottom + 14, "⋮", bold=True)
    drawing.text(table.middle[0], y - 34, "features", bold=True)
    drawing.text(table.middle[0], y - 14, f"{KNOWN} sentences × {WIDTH}", size=13)
    drawing.text(at + (38 if labels_right else -38), y - 34, "labels", bold=True)
    return table


# --------------------------------------------------------------------------------- who is near by place


def marks(panel: Panel) -> dict[tuple[int, int, int], str]:
    """Each sentence (meaning, place, which of the two): "?" asks, "✓" and "✗" are its nearest by
    position, right and wrong.
    """
    asks = (0, 0, 0)
    there = [(*cell, k) for cell in panel.cells for k in (0, 1)]
    may = [one for one in there if one != asks and not (panel.elsewhere and one[1] == asks[1])]
    away = {one: abs(POSITIONS[one[1]] - POSITIONS[asks[1]]) for one in may}
    nearest = [one for one in may if away[one] == min(away.values())]
    signs = {one: "✓" if one[0] == asks[0] else "✗" for one in nearest}
    return {one: "?" if one == asks else signs.get(one, "") for one in there}


def nearest_by_position() -> Canvas:
    """Three sets of sentences, and who is nearest in each."""
    said = "; ".join(f"{panel.name}: {right_of(panel)}" for panel in PANELS)
    drawing = Canvas(
        "nearest_by_position",
        720,
        286,
        "Who is nearest by position alone, in three sets of sentences",
        "Three squares side by side. Columns: the meanings brightness and not heavy. Rows: the word "
        "light at position 2 or at position 6. Discs are sentences, up to two in a cell. One at "
        "the upper left asks, with a question mark. Its nearest by position have a tick where "
        "their meaning is right, and a cross where it is wrong. Not matched: sentences only at the "
        "upper left and the lower right. Matched: two in every cell. Other positions only: the "
        f"same, but the upper row, hatched, may not answer. {said}.",
        "Who is nearest by position alone? Each disc is a sentence. “?” asks; its nearest have a "
        "tick where the meaning is right, a cross where it is wrong. Hatched: may not answer.",
    )
    for i, panel in enumerate(PANELS):
        draw_panel(drawing, 104 + 206 * i, 92, (92, 62), panel, i == 0)
    return drawing


def right_of(panel: Panel) -> str:
    """How many of the nearest have the right meaning."""
    signs = list(marks(panel).values())
    return f"{signs.count('✓')} of {signs.count('✓') + signs.count('✗')} right"


def draw_panel(
    drawing: Canvas,
    x: Number,
    y: Number,
    cell: tuple[Number, Number],
    panel: Panel,
    labelled: bool,
) -> Grid:
    """One square with its sentences and its count."""
    rows = [f"position {p}" for p in POSITIONS] if labelled else []
    hidden = [[panel.elsewhere] * 2, [False] * 2]
    blank = [["", ""], ["", ""]]
    grid = drawing.matrix(x, y, blank, cell, "paper", rows=rows, columns=MEANINGS, hidden=hidden)
    middle = grid.middle
    drawing.line([(x, middle[1]), (grid.right, middle[1])], "neutral", 1)
    drawing.line([(middle[0], y), (middle[0], grid.bottom)], "neutral", 1)
    drawing.text(grid.middle[0], y - 46, panel.name, bold=True, size=16)
    kinds = {"?": "neutral", "✓": "encoder", "✗": "error", "": "neutral"}
    for (meaning, place, k), sign in marks(panel).items():
        cx, cy = grid.centre(place, meaning)
        at = cx + (k - 0.5) * 36
        drawing.circle(at, cy, 14, sign, kinds[sign])
        if sign == "?":
            drawing.frame(at - 15, cy - 15, 30, 30, radius=15)
    drawing.text(grid.middle[0], grid.bottom + 24, right_of(panel), size=16, bold=True)
    return grid


# ------------------------------------------------------------------------------------ the scalar mix


class MixPlaces(NamedTuple):
    """Where the columns of `scalar_mix` begin, from left to right, and how wide their cells are."""

    w: tuple[Number, Number]
    shares: tuple[Number, Number]
    states: tuple[Number, Number]
    mix: tuple[Number, Number]
    top: Number = 92
    high: Number = 34
    vectors: tuple[str, ...] = ("the word's", "vectors")


def mixed() -> tuple[Tensor, Tensor]:
    """The shares of the seven states, and the vector that is mixed of them."""
    shares = torch.tensor(MIX_W).softmax(dim=0)
    return shares, shares @ torch.tensor(MIX_STATES)


def scalar_mix() -> Canvas:
    """Seven states of a word, their shares, and the one vector that they become."""
    shares, mix = mixed()
    rows = "; ".join(
        f"state {i}: {w:g}, {share:.2f}, ({', '.join(f'{x:g}' for x in state)})"
        for i, (w, share, state) in enumerate(zip(MIX_W, shares, MIX_STATES, strict=True))
    )
    drawing = Canvas(
        "scalar_mix",
        720,
        366,
        "A scalar mix: of seven vectors of one word, one is made",
        "Read from left to right. Seven rows, one for each state of a word, state 6 at the top. "
        "Each has a number w, the softmax of the seven numbers gives each a share, and beside the "
        f"share stands the word's vector in that state, here of two numbers. {rows}. From every "
        "vector a line leads to the mix, as thick as the share is large. The mix is gamma times "
        "the sum of share times vector, with gamma 1, which stands below it with a times sign: "
        f"({', '.join(f'{x:.2f}' for x in mix.tolist())}). Framed, because they are learned: the "
        "seven numbers w, and gamma.",
        "A scalar mix. Each of a word's seven vectors gets a share, and their sum, weighted in this "
        "way, is one vector. What is framed is learned together with the task. (Made-up numbers, "
        "two in each vector; MiniLM has 384.)",
    )
    places = MixPlaces(w=(112, 50), shares=(270, 76), states=(392, 46), mix=(584, 54))
    draw_mix(drawing, places)
    middle = places.top + 3.5 * places.high
    drawing.arrow([(172, middle), (260, middle)], "neutral", 2.5)
    drawing.text(216, middle - 18, "softmax", bold=True)
    return drawing


def draw_mix(drawing: Canvas, places: MixPlaces) -> None:
    """The columns of `scalar_mix`, and the lines to the mix."""
    shares, mix = mixed()
    top, high = places.top, places.high
    w, s, x = (
        drawing.matrix(left, top, values[::-1], (wide, high), colour, **more)
        for (left, wide), values, colour, more in (
            (places.w, [[f"{w:g}"] for w in MIX_W], "neutral", {"rows": STATES[::-1]}),
            (
                places.shares,
                [[f"{share:.2f}"] for share in shares],
                "neutral",
                {"shares": [[share] for share in shares.tolist()[::-1]]},
            ),
            (places.states, [[f"{n:g}" for n in state] for state in MIX_STATES], "encoder", {}),
        )
    )
    drawing.frame(w.x - 2, w.y - 2, w.width + 4, w.height + 4)
    left, wide = places.mix
    middle = top + 3.5 * high
    for i, share in enumerate(shares.tolist()[::-1]):
        y = top + (i + 0.5) * high
        drawing.line([(x.right + 3, y), (left - 4, middle)], "encoder", 1 + 12 * share)
    one = [[f"{number:.2f}" for number in mix.tolist()]]
    grid = drawing.matrix(left, middle - high / 2, one, (wide, high), "encoder")
    for column, heads in ((w, ("*w*",)), (s, ("shares",)), (x, places.vectors)):
        drawing.lines(column.middle[0], top - 32, heads, 19, bold=True)
    drawing.text(grid.middle[0], grid.y - 20, "the mix", bold=True)
    drawing.text((s.right + x.x) / 2, middle, "×", size=17, bold=True)
    drawing.text(grid.middle[0], grid.bottom + 15, "×", size=17, bold=True)
    drawing.text(grid.middle[0], grid.bottom + 43, "*γ* = 1", size=16)
    drawing.frame(grid.middle[0] - 34, grid.bottom + 28, 68, 30)


STATES = [f"state {i}" for i in range(7)]
