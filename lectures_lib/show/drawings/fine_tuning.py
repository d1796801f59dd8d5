"""Fine-tuning (chapter 14): which vectors a head reads, what its gradient asks of them, and the
small difference beside a large matrix.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from lectures_lib.show.drawings.attention import numbers
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Grid, Number


@dataclass(frozen=True)
class Head:
    """A task: what goes in, which vectors are read, and what is said of them."""

    name: str
    asks: str
    text: str
    read: tuple[int, ...]
    says: tuple[str, ...]  # one for each that is read, or one for all of them
    note: tuple[str, ...]


HEADS = (
    Head(
        "a sentence",
        "praise?",
        "[CLS] a lovely film [SEP]",
        (0,),
        ("a class",),
        ("classes compete", "in a softmax"),
    ),
    Head(
        "a pair",
        "does it follow?",
        "[CLS] it rains [SEP] it is wet [SEP]",
        (0,),
        ("a class",),
        ("or one number:", "how alike?"),
    ),
    Head(
        "a choice",
        "which ending?",
        "[CLS] she sang [SEP] and bowed [SEP]",
        (0,),
        ("a score",),
        ("for each ending;", "scores compete"),
    ),
    Head(
        "tagging",
        "who is named?",
        "[CLS] Ida met Lind ##quist [SEP]",
        (1, 2, 3),
        ("person", "–", "person"),
        ("a class for", "each word"),
    ),
    Head(
        "a span",
        "where is the answer?",
        "[CLS] whom ? [SEP] Ida met Ben [SEP]",
        (4, 5, 6),
        ("begins? ends?",),
        ("two scores for", "each word"),
    ),
)
N_BLOCKS = 12  # of the body, in BERT base
# "One layer", by hand: the pooled vector, the head, and the class that is right.
X = torch.tensor([0.5, -1.0, 0.0, 1.0])
W = torch.tensor([[2.0, 0.0, 1.0, -1.0], [0.0, -1.0, 2.0, 1.0]])
Y = torch.tensor([1.0, 0.0])
FOLLOWED = 2  # the number of x that the chapter asks about
# Low rank: a matrix of MiniLM's, and two thin ones beside it.
WIDTH, RANK, SCALE = 384, 8, 2


def answers(head: Head) -> list[str]:
    """What a head says, a line for each vector that it speaks of by itself."""
    if len(head.says) == 1:
        return [*head.says]
    read = [head.text.split()[i] for i in head.read]
    return [f"{word}: {says}" for word, says in zip(read, head.says, strict=True)]


def blocks(
    drawing: Canvas, x: Number, y: Number, width: Number, height: Number, across: bool
) -> None:
    """The body's blocks as thin stripes on each other, or side by side where the way goes across the
    page.
    """
    step = (width if across else height) / N_BLOCKS
    for k in range(N_BLOCKS):
        if across:
            drawing.ground(x + k * step, y, step - 2, height, "encoder", 1, deep=True)
        else:
            drawing.ground(x, y + k * step, width, step - 3, "encoder", 2, deep=True)


def five_heads() -> Canvas:
    """Five heads upon one body; the vectors that each of them reads, and what it says of them."""
    said = " ".join(
        f"{head.name.capitalize()} ({head.asks}): {head.text}; read are the vectors of "
        f"{', '.join(head.text.split()[i] for i in head.read)}; said of them: "
        f"{', '.join('nobody' if says == '–' else says for says in head.says)} "
        f"({' '.join(head.note)})."
        for head in HEADS
    )
    drawing = Canvas(
        "five_heads",
        720,
        494,
        "Five heads on one body: which vectors each of them reads",
        f"Read from below. Five texts, cut into tokens, go into one body, a stack of {N_BLOCKS} "
        "blocks; a vector for every token comes out. Upon the body stand five heads, side by side; "
        f"from the framed vectors arrows lead to what the head says. {said}",
        "One body, five heads. The body gives a vector for every token. A head is one linear layer "
        "on the framed ones (for [CLS], on its pooled vector). A span may also be none: then [CLS] "
        "is what begins and ends.",
    )
    for i, head in enumerate(HEADS):
        left, middle = 16 + 138 * i, 84 + 138 * i
        drawing.text(middle, 26, head.name, bold=True, size=16)
        drawing.text(middle, 47, head.asks, size=13)
        drawing.lines(middle, 81, head.note, 17, colour="neutral", size=13)
        tokens, says = head.text.split(), answers(head)
        high = 12 + 20 * len(says)
        drawing.box(left + 2, 180 - high, 132, high, "", "prediction")
        drawing.lines(middle, 180 - high / 2, says, 20, size=14)
        first = middle - 15 * len(tokens) / 2
        for j in range(len(tokens)):
            read = j in head.read
            x = first + 15 * j
            drawing.matrix(x + 1, 214, [[""]] * 3, (12, 9), "encoder")
            drawing.line([(x + 7, 262), (x + 7, 243)], "residual", 1.5)
            if read:
                drawing.frame(x, 213, 14, 29, "ink", 2)
                drawing.arrow([(x + 7, 211), (x + 7, 182)], "encoder", 2.5)
        for k, line in enumerate(lines(head)):
            drawing.text(middle, 458 + 18 * k, line, size=13)
        drawing.arrow([(middle, 446), (middle, 424)], "residual", 2.5)
    drawing.box(16, 262, 688, 160, colour="encoder", radius=10)
    blocks(drawing, 24, 270, 672, 123, across=False)
    drawing.text(360, 409, f"BERT’s body: {N_BLOCKS} blocks, the same for all five", bold=True)
    return drawing


def lines(head: Head) -> list[str]:
    """A head's text in two lines, cut where a second part begins, or near the middle."""
    tokens = head.text.split()
    cut = 4 if head.name in ("a pair", "a choice", "a span") else 3
    return [" ".join(tokens[:cut]), " ".join(tokens[cut:])]


def back() -> dict[str, Tensor]:
    """What `one_layer_and_back` shows: scores, shares, the error, and what it asks of x."""
    scores = W @ X
    shares = scores.softmax(dim=0)
    return {"scores": scores, "p": shares, "error": shares - Y, "gradient": W.T @ (shares - Y)}


def column(values: Tensor, spec: str = "") -> list[list[str]]:
    """A vector's numbers below each other."""
    return numbers(values[:, None], spec)


def framed_row(drawing: Canvas, grid: Grid, row: int) -> None:
    """A frame around one row of a matrix."""
    drawing.frame(grid.x, grid.y + row * grid.cell[1], grid.width, grid.cell[1])


def framed_column(drawing: Canvas, grid: Grid, place: int) -> None:
    """A frame around one column of a matrix."""
    drawing.frame(grid.x + place * grid.cell[0], grid.y, grid.cell[0], grid.height)


def one_layer_and_back() -> Canvas:
    """Forward: scores and shares. Back: the error, sent through the same weights."""
    made = back()
    said = {name: ", ".join(numbers(made[name][None], ".2f")[0]) for name in made}
    w = "; ".join(", ".join(row) for row in numbers(W))
    drawing = Canvas(
        "one_layer_and_back",
        720,
        412,
        "One layer, forward and back, with numbers",
        f"Above, forward. The head W has a row for each class: {w}. It is multiplied by x: "
        f"{', '.join(numbers(X[None])[0])}. That gives the scores {said['scores']}, and softmax "
        f"the shares p: {said['p']}. Wanted is y: 1, 0. The error p minus y: {said['error']}. "
        "Below, back. W transposed, whose rows are the columns of W, times the error gives the "
        f"gradient of x: {said['gradient']}. A frame follows the third number of x, which is 0: "
        "its column of W becomes a row, and this row and the error give its gradient, 0.88.",
        "Forward, the 0 in the third place of x has no say. Back, it is the third column of W that "
        "counts, and that is not 0.",
    )
    cell, wide = (40, 30), (56, 30)
    top, low = 66, 258
    drawing.text(24, 34, "forward", bold=True, anchor="start", size=16)
    grid = drawing.matrix(60, top + 30, numbers(W), cell)
    drawing.text(grid.x - 14, grid.middle[1], "*W*", size=18, anchor="end")
    framed_column(drawing, grid, FOLLOWED)
    drawing.text(236, top + 60, "·", size=24, bold=True)
    x = drawing.matrix(254, top, column(X), (46, 30), "encoder")
    drawing.text(x.middle[0], x.y - 16, "*x*", size=18)
    framed_row(drawing, x, FOLLOWED)
    drawing.text(320, top + 60, "=", size=20)
    shown = (
        (340, made["scores"], "", "neutral", "scores"),
        (460, made["p"], ".2f", "prediction", "*p*"),
        (544, Y, "", "neutral", "wanted *y*"),
        (628, made["error"], ".2f", "error", "*p* − *y*"),
    )
    for left, values, spec, colour, name in shown:
        drawing.matrix(left, top + 30, column(values, spec), wide, colour)
        drawing.text(left + 28, top + 14, name, size=15)
    drawing.arrow([(400, top + 60), (456, top + 60)], thick=2.5)
    drawing.text(427, top + 42, "softmax", size=13)
    drawing.text(530, top + 60, "−", size=20)
    drawing.text(614, top + 60, "=", size=20)

    drawing.text(24, low - 30, "back", bold=True, anchor="start", size=16)
    drawing.arrow([(656, top + 96), (656, low + 24)], "error", 3)
    drawing.matrix(628, low + 30, column(made["error"], ".2f"), wide, "error")
    drawing.text(612, low + 60, "·", size=24, bold=True)
    turned = drawing.matrix(518, low, numbers(W.T), cell)
    drawing.text(turned.middle[0], turned.y - 16, "*W*^⊤", size=18)
    framed_row(drawing, turned, FOLLOWED)
    gradient = drawing.matrix(398, low, column(made["gradient"], ".2f"), wide, "error")
    drawing.text(gradient.middle[0], gradient.y - 16, "gradient of *x*", size=15)
    framed_row(drawing, gradient, FOLLOWED)
    drawing.text(486, low + 60, "=", size=20)
    drawing.arrow([(390, low + 60), (330, low + 60)], "error", 3)
    says = ["into the body:", "above 0, less of this;", "below 0, more of it"]
    drawing.lines(318, low + 60, says, 22, anchor="end", size=15)
    return drawing


def parameters() -> tuple[int, int]:
    """How many numbers W has, and how many A and B have together."""
    return WIDTH * WIDTH, 2 * RANK * WIDTH


def thin_pair(drawing: Canvas, x: Number, y: Number, side: Number) -> None:
    """B, narrow and high, and A, wide and flat, to the scale of a square of that side; where the
    lines of the one cross those of the other, their product, its upper left corner at x, y.
    """
    thin = side * RANK / WIDTH
    drawing.box(x, y, side, side, ["*BA*", "as large as *W*"], dashed=True, radius=2)
    drawing.line([(x - 14, y), (x - 14, y + side)], "ink", thin)
    drawing.line([(x, y - 14), (x + side, y - 14)], "ink", thin)
    drawing.text(x - 26, y + 40, "*B*:", size=15, anchor="end")
    drawing.text(x + side / 2, y - 34, f"*A*: {RANK} × {WIDTH}", size=15)
    drawing.text(x - 26, y + 60, f"{WIDTH} × {RANK}", size=14, anchor="end")


def low_rank() -> Canvas:
    """A square and two lines, to scale."""
    many, few = parameters()
    drawing = Canvas(
        "low_rank",
        720,
        360,
        "A matrix of MiniLM's and the two thin ones that learn in its place, drawn to scale",
        f"Drawn to scale. On the left a square, the matrix W of {WIDTH} by {WIDTH}: {many:,} "
        "numbers, which stay as they are. Plus alpha over r, here 2, times two thin matrices: B, "
        f"{WIDTH} by {RANK}, as high as the square and hardly wider than a line; and A, {RANK} by "
        f"{WIDTH}, as wide as the square and hardly higher than a line. Together {few:,} numbers "
        "learn. They stand along two edges of a dashed square, their product, which is as large as "
        "W and is added to it in the end.",
        "Drawn to scale: what stays, and the two thin matrices that learn. Their product is as "
        "large as W, so that it can be added to it in the end.",
    )
    side, top = 240, 68
    drawing.box(36, top, side, side, colour="encoder", radius=2)
    drawing.text(156, top - 34, f"*W*: {WIDTH} × {WIDTH}", size=15)
    drawing.text(156, top + 120, "stays as it is", bold=True)
    drawing.text(296, top + 120, "+ *α*/*r* ·", size=20, anchor="start")
    thin_pair(drawing, 446, top, side)
    drawing.text(156, top + side + 26, f"{many:,} numbers", bold=True)
    drawing.text(548, top + side + 26, f"{few:,} numbers: only *A* and *B* learn", bold=True)
    return drawing
