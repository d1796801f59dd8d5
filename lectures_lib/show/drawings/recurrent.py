"""The recurrent translator (chapter 1): one vector between reading and writing, a gate as a mixer
between the old state and the candidate, and a decoder that looks back at every state.
"""

import torch
from torch import Tensor

from lectures_lib.show.drawings.attention import numbers
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Grid, Number

READ, WRITTEN = ("ninety", "five", ",", "eighteen"), ("fünf", "und", "neunzig", ",", "achtzehn")
STATE = [[""]] * 5  # a state as a column of cells: which numbers are in it does not matter

# The chapter's look by hand: the source, its tidy states, the decoder's state, and v.
SOURCE = ("twenty", "five", ",")
TIDY = torch.tensor([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
ASKS, V = torch.tensor([0.0, 2.0]), torch.tensor([3.0, 3.0])

# Written by hand; the new state is computed.
OLD = torch.tensor([0.9, -0.6, 0.2, 0.8])
CANDIDATE = torch.tensor([-0.4, 0.6, 0.7, -0.9])
GATE = torch.tensor([1.0, 0.75, 0.5, 0.0])


def new_state() -> Tensor:
    """(1 - z) n + z h, as a gated recurrent unit mixes."""
    return (1 - GATE) * CANDIDATE + GATE * OLD


def gate() -> Canvas:
    """Four numbers of a state, each with a slider between old and candidate."""
    rows = {
        name: numbers(v[None], ".2f")
        for name, v in (
            ("old", OLD),
            ("candidate", CANDIDATE),
            ("gate", GATE),
            ("new", new_state()),
        )
    }
    said = {name: ", ".join(row[0]) for name, row in rows.items()}
    drawing = Canvas(
        "gate",
        560,
        440,
        "A gate of a GRU as a row of sliders between the old state and the candidate",
        f"Four numbers of a state. Above, the old state h: {said['old']}. Below, the candidate n: "
        f"{said['candidate']}. Between them a slider for each number, the gate z: {said['gate']}; "
        f"at the upper end z is 1 and the old number is kept, at the lower end z is 0 and the "
        f"candidate is taken. At the bottom the new state, one minus z times n plus z times h: "
        f"{said['new']}.",
        "The update gate of a GRU mixes, number by number. Where its slider stands at the top, the "
        "old number is carried on untouched.",
    )
    x, cell, top, bottom = 134, (74, 38), 98, 244
    drawing.matrix(x, 32, rows["old"], cell, "encoder", size=16)
    drawing.matrix(x, 272, rows["candidate"], cell, "prediction", size=16)
    new = drawing.matrix(x, 370, rows["new"], cell, "residual", size=16)
    for y, name, letter, colour in (
        (51, "old state", "h", "encoder"),
        (291, "candidate", "n", "prediction"),
        (389, "new state", "h′", "ink"),
    ):
        drawing.text(x - 20, y, f"{name} *{letter}*", colour, anchor="end", bold=True)
    drawing.text(x - 20, (top + bottom) / 2, "gate *z*", anchor="end", bold=True)
    for j, z in enumerate(GATE.tolist()):
        middle = x + (j + 0.5) * cell[0]
        drawing.line([(middle, top), (middle, bottom)], "neutral", 4)
        knob = bottom - z * (bottom - top)
        drawing.box(middle - 27, knob - 14, 54, 28, rows["gate"][0][j], radius=14, bold=True)
    side = new.right + 22
    drawing.lines(side, top, ["*z* = 1:", "keep the old"], size=14, anchor="start")
    drawing.lines(side, bottom, ["*z* = 0:", "take the", "candidate"], size=14, anchor="start")
    drawing.arrow([(new.middle[0], 318), (new.middle[0], 360)], thick=2.5)
    drawing.text(new.middle[0] + 18, 338, "(1 − *z*) · *n* + *z* · *h*", size=16, anchor="start")
    return drawing


def bottleneck() -> Canvas:
    """Reading into one vector, and writing from it."""
    drawing = Canvas(
        "bottleneck",
        760,
        286,
        "A translator that reads a sentence into one vector and writes from it",
        f"Below, the English words {', '.join(READ)}. From each an arrow leads up to a state, a "
        f"column of five cells, and from each state one to the next. The last of these states is "
        f"framed and marked: one vector. From it an arrow leads to the first of five states of the "
        f"decoder, and from each of these one to the next, and one up to the word that it writes: "
        f"{', '.join(WRITTEN)}. No other line connects the two sides.",
        "A translator of 2014. Everything that the right side will ever know about the left passes "
        "through the framed vector.",
    )
    last = states(drawing, 42, 104, READ, "encoder", 84, below=True)
    first = states(drawing, 402, 104, WRITTEN, "decoder", 77, below=False)
    one_vector(drawing, last, last.middle[0])
    drawing.arrow([(last.right + 9, last.middle[1]), (first.x - 4, first.middle[1])], thick=2.5)
    drawing.text(16, 271, "the encoder reads", "encoder", anchor="start", bold=True)
    drawing.text(744, 24, "the decoder writes", "decoder", anchor="end", bold=True)
    return drawing


def states(
    drawing: Canvas,
    x: Number,
    y: Number,
    words: tuple[str, ...],
    colour: str,
    step: Number,
    below: bool,
) -> Grid:
    """A chain of states whose upper edges are at y, the first one's middle at x, each with the word
    that it read below or the one that it writes above; the state at the decoder's side.
    """
    made: list[Grid] = []
    for i, word in enumerate(words):
        middle = x + i * step
        grid = drawing.matrix(middle - 14, y, STATE, (28, 18), colour)
        if made:
            gap = 9 if below and i == len(words) - 1 else 4  # the last that is read is framed
            drawing.arrow([(made[-1].right + 4, grid.middle[1]), (grid.x - gap, grid.middle[1])])
        if below:
            drawing.arrow([(middle, grid.bottom + 30), (middle, grid.bottom + 9)])
            drawing.text(middle, grid.bottom + 46, word)
        else:
            drawing.arrow([(middle, y - 5), (middle, y - 26)])
            drawing.text(middle, y - 42, word)
        made.append(grid)
    return made[-1] if below else made[0]


def one_vector(drawing: Canvas, last: Grid, x: Number, anchor: str = "middle") -> None:
    """The frame around the state that the decoder gets, and its name above, at x."""
    drawing.frame(last.x - 5, last.y - 5, last.width + 10, last.height + 10)
    drawing.text(x, last.y - 22, "one vector", bold=True, anchor=anchor)


def look() -> dict[str, Tensor]:
    """Scores, weights and context of additive attention: W_q and W_k are identity matrices."""
    scores = torch.tanh(ASKS + TIDY) @ V
    weights = scores.softmax(dim=-1)
    return {"scores": scores, "weights": weights, "context": weights @ TIDY}


def looking_back() -> Canvas:
    """One look of a decoder at three states, in numbers."""
    made = {name: numbers(value[None], ".2f")[0] for name, value in look().items()}
    drawing = Canvas(
        "looking_back",
        720,
        418,
        "A decoder looks back at the states of three words",
        f"The encoder's states of {', '.join(SOURCE)} are (0, 1), (1, 0) and (0, 0); the decoder's "
        f"state s is (0, 2). Step 1: each state is scored together with s, "
        f"{', '.join(made['scores'])}. Step 2, softmax: the weights {', '.join(made['weights'])}. "
        f"Step 3: the weighted average of the three states is the context, "
        f"({', '.join(made['context'])}), most of it from five.",
        "All states are kept. The decoder's state decides how much of each goes into the context.",
    )
    x, step, cell = 232, 116, (44, 32)
    for j, word in enumerate(SOURCE):
        drawing.text(x + j * step + cell[0], 26, word)
    kept = [
        drawing.matrix(x + j * step, 44, numbers(TIDY[j : j + 1]), cell, "encoder", size=16)
        for j in range(3)
    ]
    drawing.text(x - 20, 60, "states *h*_j", "encoder", anchor="end", bold=True)
    asks = drawing.matrix(594, 44, numbers(ASKS[None]), cell, "decoder", size=16)
    drawing.text(asks.middle[0], 26, "the decoder's *s*", "decoder", bold=True)
    scores = number_row(drawing, kept, 122, made["scores"])
    down, left = asks.middle[0], scores[-1].right + 10
    drawing.arrow([(down, asks.bottom + 5), (down, 139), (left, 139)])
    drawing.text(down, 166, "*v* · tanh(*s* + *h*_j)", size=14)
    weights = number_row(drawing, kept, 216, made["weights"], look()["weights"].tolist())
    for number, y, name in ((1, 139, "score"), (2, 233, "softmax"), (3, 356, "average")):
        drawing.step(24, y, number, name)
    averaged(drawing, kept, scores, weights, 340, cell)
    return drawing


def averaged(
    drawing: Canvas,
    kept: list[Grid],
    scores: list[Grid],
    weights: list[Grid],
    y: Number,
    cell: tuple[Number, Number],
) -> None:
    """The context, its upper edge at y, and the arrows that lead to it: the more weight, the
    thicker.
    """
    made = look()
    context = drawing.matrix(kept[1].x, y, numbers(made["context"][None], ".2f"), cell, "encoder")
    for state, score, weight in zip(kept, scores, weights, strict=True):
        middle = state.middle[0]
        drawing.arrow([(middle, state.bottom + 5), (middle, score.y - 4)])
        drawing.arrow([(middle, score.bottom + 5), (middle, weight.y - 4)])
    for j, weight in enumerate(weights):
        end = context.middle[0] + 26 * (j - 1)
        thick = 1.75 + 4 * made["weights"][j].item()
        drawing.arrow([(weight.middle[0], weight.bottom + 6), (end, context.y - 5)], thick=thick)
    drawing.text(context.right + 16, context.middle[1], "context *c*", anchor="start", bold=True)
    for j, said in enumerate(("unit", "ten")):
        drawing.text(context.centre(0, j)[0], context.bottom + 16, said, "neutral", size=14)


def number_row(
    drawing: Canvas,
    above: list[Grid],
    y: Number,
    texts: list[str],
    shares: list[float] | None = None,
) -> list[Grid]:
    """One number below each of some grids, as wide as they are."""
    return [
        drawing.matrix(
            grid.x, y, [[text]], (grid.width, 34), size=16, shares=shares and [[shares[j]]]
        )
        for j, (grid, text) in enumerate(zip(above, texts, strict=True))
    ]
