"""Heads (chapter 3): how a matrix is cut into heads and joined again, and what goes wrong when
`view` cuts alone.
"""

import torch
from torch import Tensor

from lectures_lib.blocks.attention import merge_heads, split_heads
from lectures_lib.show.drawings.attention import WORDS, blank
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Grid, Number

# of `view_trap`: which way, its colour and sign, its code, and what comes out
SIDES = (
    (
        "right",
        "neutral",
        "✓",
        "x.view(n, h, d).transpose(0, 1)",
        "each head: half of every query",
    ),
    ("wrong", "error", "✗", "x.view(h, n, d)", "each head: two queries in pieces"),
)


def colours(heads: Tensor) -> list[list[str]]:
    """The colour of each cell, from the number of its head."""
    return [[f"head_{int(head) + 1}" for head in row] for row in heads]


def split_and_merge() -> dict[str, Tensor]:
    """The head of every cell of an (n, d_model) matrix with three heads: as a matrix, cut, and
    joined again.
    """
    matrix = torch.arange(3.0).repeat_interleave(2).expand(len(WORDS), 6)
    cut = split_heads(matrix[None], n_heads=3)
    return {"matrix": matrix, "cut": cut[0], "joined": merge_heads(cut)[0]}


def view_right_and_wrong() -> dict[str, Tensor]:
    """Sixteen numbered cells, four words of width 4, cut into two heads with `view` and
    `transpose`, and with `view` alone.
    """
    x = torch.arange(16).view(4, 4)
    return {"x": x, "right": x.view(4, 2, 2).transpose(0, 1), "wrong": x.view(2, 4, 2)}


def split_heads_drawing() -> Canvas:
    """(n, d_model) cut into heads, attention in each, and joined again."""
    drawing = Canvas(
        "split_heads",
        720,
        440,
        "Cutting a matrix into three heads and joining them again",
        "On the left Q, with three rows for the words dog, bites, man and six columns; columns 1 "
        "and 2 have the colour of head 0, columns 3 and 4 that of head 1, columns 5 and 6 that of "
        "head 2. split_heads cuts it between the heads: three small matrices, each with all three "
        "rows and two of the columns; shape h by n by d head. Each head does attention by itself "
        "and gives a matrix of the same shape. merge_heads puts the three beside each other again, "
        "row by row: n rows, h times d head columns.",
        "Every head gets every word. Of the word's query it gets only a slice, but each number in it "
        "was made from all numbers of the word. K and V are cut in the same way; what the heads "
        "found is put side by side again.",
    )
    made, cell, n = split_and_merge(), (24, 26), len(WORDS)
    middle = 216
    q = drawing.matrix(
        66,
        middle - 39,
        blank(n, 6),
        cell,
        colours(made["matrix"]),
        shape="*n* × *d*_{model}",
        rows=WORDS,
    )
    drawing.text(q.middle[0], q.y - 42, "*Q*", size=19)
    joined = drawing.matrix(
        558,
        middle - 39,
        blank(n, 6),
        cell,
        colours(made["joined"]),
        shape="*n* × (*h* · *d*_{head})",
    )
    drawing.text(joined.middle[0], joined.y - 42, "side by side", size=15)
    for i, rows in enumerate(made["cut"]):
        centre = 84 + 132 * i
        name = f"head_{i + 1}"
        before = drawing.matrix(282, centre - 39, blank(n, 2), cell, colours(rows), size=14)
        drawing.text(before.middle[0], before.y - 15, f"head {i}", name, bold=True, size=14)
        for x in (q.x + 48 * i + 24, joined.x + 48 * i + 24):
            drawing.text(x, q.y - 14, str(i), name, size=14, bold=True)
        drawing.arrow(
            [
                (q.right + 12, middle + 14 * (i - 1)),
                (246, middle + 14 * (i - 1)),
                (246, centre),
                (272, centre),
            ],
            name,
            2.5,
        )
        drawing.arrow([(before.right + 6, centre), (354, centre)], name, 2.5)
        drawing.box(356, centre - 20, 84, 40, "attention", size=14)
        drawing.arrow([(442, centre), (462, centre)], name, 2.5)
        after = drawing.matrix(466, centre - 39, blank(n, 2), cell, colours(rows))
        end = middle + 14 * (i - 1)
        drawing.arrow([(after.right + 8, centre), (532, centre), (532, end), (549, end)], name, 2.5)
    drawing.text(306, 416, "*h* × *n* × *d*_{head}", "neutral", size=14)
    drawing.text(490, 416, "*h* × *n* × *d*_{head}", "neutral", size=14)
    drawing.text(138, 356, "split_heads", bold=True)
    drawing.lines(138, 388, ["view,", "then transpose"], size=14)
    drawing.text(630, 356, "merge_heads", bold=True)
    drawing.lines(630, 388, ["transpose,", "then flatten"], size=14)
    return drawing


def multi_head_drawing() -> Canvas:
    """The whole layer: X, each head's three projections, its attention, and W_O."""
    drawing = Canvas(
        "multi_head",
        720,
        672,
        "Multi-head attention from X to Z, with three heads",
        "Read from top to bottom. X has a row for each of the words dog, bites, man and six "
        "columns. It goes to three heads side by side. Each head has three narrow matrices of its "
        "own, W Q, W K and W V, six rows by two columns. X times these gives the head's Q, K and V, "
        "three rows by two columns. Attention makes of them the head's output, three rows by two "
        "columns. The three outputs are put side by side: three rows by six columns, in the "
        "colours of the heads. This is multiplied by W O, six by six, whose first two rows belong "
        "to head 0, the next two to head 1, the last two to head 2. The result, Z, has the shape "
        "of X, and each of its numbers is mixed from all heads.",
        "The whole layer. Each head reads all of X and makes its own narrow Q, K and V; the "
        "outputs stand side by side, and the last matrix mixes them. Its rows have the colour of "
        "the head whose output they meet.",
    )
    n, d_model, small, cell = len(WORDS), 6, (14, 14), (20, 20)
    x = drawing.matrix(300, 20, blank(n, d_model), cell, rows=WORDS)
    drawing.text(x.right + 14, x.middle[1] - 10, "*X*", size=19, anchor="start")
    drawing.text(x.right + 14, x.middle[1] + 14, "*n* × *d*_{model}", "neutral", 14, "start")
    joined_x, joined_y = 114, 566
    for i in range(3):
        middle, name = 134 + 226 * i, f"head_{i + 1}"
        start = x.x + 40 * i + 20
        bend = [] if start == middle else [(start, 104), (middle, 104)]
        drawing.arrow([(start, x.bottom + 4), *bend, (middle, 125)], name, 2.5)
        drawing.line([(middle - 72, 128), (middle + 72, 128)], name, 2.5)  # over all three
        drawing.text(middle - 84, 114, f"head {i}", name, bold=True, size=14)
        for j, letter in enumerate("QKV"):
            left = middle - 72 + 58 * j
            drawing.text(left + 14, 142, f"*W*_{{{i}}}^{letter}", size=15)
            w = drawing.matrix(left, 160, blank(d_model, 2), small, name)
            drawing.arrow([(left + 14, w.bottom + 3), (left + 14, 272)], name, 2)
            drawing.text(left + 14, 284, f"*{letter}*_{i}", size=15)
            out = drawing.matrix(left, 298, blank(n, 2), small, name)
            drawing.arrow([(left + 14, out.bottom + 3), (left + 14, 362)], name, 2)
        drawing.box(middle - 78, 364, 156, 36, "attention")
        drawing.arrow([(middle, 402), (middle, 422)], name, 2.5)
        head = drawing.matrix(middle - 20, 424, blank(n, 2), cell, name)
        drawing.text(head.right + 10, head.middle[1], f"*head*_{i}", name, 15, "start")
        foot = joined_x + 40 * i + 20
        level = 504 + 12 * (1 if i == 0 else i - 1)
        drawing.arrow(
            [(middle, head.bottom + 4), (middle, level), (foot, level), (foot, joined_y - 3)],
            name,
            2.5,
        )
    both = [[f"head_{j // 2 + 1}" for j in range(d_model)]]
    joined = drawing.matrix(joined_x, joined_y, blank(n, d_model), cell, both * n)
    drawing.text(joined.middle[0], joined.bottom + 17, "*n* × (*h* · *d*_v)", "neutral", 14)
    drawing.text(264, joined.middle[1], "×", size=20)
    rows = [[f"head_{k // 2 + 1}"] * d_model for k in range(d_model)]
    w = drawing.matrix(298, joined.middle[1] - 60, blank(d_model, d_model), cell, rows)
    drawing.text(w.right + 24, w.y + 14, "*W*^O", size=19)
    drawing.text(450, joined.middle[1], "=", size=20)
    z = drawing.matrix(486, joined_y, blank(n, d_model), cell)
    drawing.text(z.right + 14, z.middle[1] - 10, "*Z*", size=19, anchor="start")
    drawing.text(z.right + 14, z.middle[1] + 14, "*n* × *d*_{model}", "neutral", 14, "start")
    return drawing


def view_trap() -> Canvas:
    """The same sixteen cells cut rightly and wrongly."""
    made = view_right_and_wrong()
    heads = {
        name: ", ".join(str(int(v)) for v in made[name][0].flatten()) for name in ("right", "wrong")
    }
    drawing = Canvas(
        "view_trap",
        720,
        526,
        "The same sixteen cells cut into two heads, rightly and wrongly",
        "Twice the same matrix Q: the queries of four words, a row each, with the numbers 0 to 3, 4 to 7, 8 to 11, "
        "12 to 15. Left, cut with view(n, h, "
        f"d).transpose(0, 1): head 0 holds {heads['right']}, the first half of every query, row by "
        f"row; head 1 the second halves. Right, cut with view(h, n, d): head 0 holds "
        f"{heads['wrong']}, all of words 0 and 1 in pieces, and nothing of words 2 and 3; "
        "head 1 holds words 2 and 3. Both results have the shape 2 by 4 by 2.",
        "A row is a word's query. The same cells, the same shape in the end, different heads: view "
        "never moves a number; alone, it deals out whole rows, so head 0 never hears of words 2 and 3.",
    )
    for middle, side in zip((200, 556), SIDES, strict=True):
        cut(drawing, middle, 0, 34, *side)
    drawing.line([(366, 24), (366, 502)], "neutral", 1)
    return drawing


def cut(
    drawing: Canvas,
    middle: Number,
    top: Number,
    high: Number,
    name: str,
    colour: str,
    sign: str,
    code: str,
    says: str,
) -> None:
    """One side of `view_trap`, around x = middle and from y = top on; its cells are `high`."""
    made = view_right_and_wrong()
    owner = torch.empty(16, dtype=torch.long)
    for head in (0, 1):
        owner[made[name][head].flatten()] = head
    words = [f"word {i}" for i in range(4)]
    drawing.circle(middle - 161, top + 38, 13, sign, colour, size=16)
    drawing.text(middle - 138, top + 38, code, "ink", anchor="start", bold=True, size=14)
    whole = _numbered(drawing, middle - 84, top + 76, high, made["x"], owner.view(4, 4), words)
    for head, side in enumerate((-1, 1)):
        part = made[name][head]
        rows = [f"word {int(row[0]) // 4}" for row in part]
        owners = torch.full((4, 2), head)
        x, y = middle + 79 * side - 42, whole.bottom + 88
        grid = _numbered(drawing, x, y, high, part, owners, rows)
        drawing.text(grid.middle[0], grid.y - 18, f"head {head}", f"head_{head + 1}", bold=True)
        drawing.arrow(
            [(middle + 36 * side, whole.bottom + 10), (grid.middle[0] - 8 * side, grid.y - 36)],
            f"head_{head + 1}",
            2.5,
        )
    foot = grid.bottom + 32
    drawing.text(middle, foot, says, colour if colour == "error" else "ink", bold=True)
    drawing.text(middle, foot + 25, f"shape {tuple(made[name].shape)}", "neutral", size=14)


def _numbered(
    drawing: Canvas,
    x: Number,
    y: Number,
    high: Number,
    cells: Tensor,
    heads: Tensor,
    rows: list[str],
) -> Grid:
    values = [[str(int(v)) for v in row] for row in cells]
    return drawing.matrix(x, y, values, (42, high), colours(heads), rows=rows)
