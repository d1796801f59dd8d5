"""The recurrent network (chapter 1): a gate as a mixer between the old state and the candidate."""

import torch
from torch import Tensor

from lectures_lib.show.drawings.attention import numbers
from lectures_lib.show.drawings.canvas import Canvas

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
