"""What a model costs (chapter 18b), for a narrow page."""

from lectures_lib.show.drawings import cost
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.cost import LENGTHS, ROW
from lectures_lib.show.drawings.narrow.sheet import beside


def padded_and_packed() -> Canvas:
    """The shared rows below the others."""
    alone, shared = cost.titles()
    drawing = beside(
        cost.padded_and_packed(),
        544,
        {"Left, each has": "Above, each has", "Right, the same": "Below, the same"},
    )
    rows = cost.shared_rows()
    for y, title, says in (
        (28, alone, f"{len(LENGTHS)} rows of {max(LENGTHS)}"),
        (436, shared, f"{len(rows)} rows of {ROW}"),
    ):
        cost.heading(drawing, 20, y, title)
        drawing.text(356, y + 5, says, anchor="end", size=14)
    cost.bars(drawing, 20, 60, [[length] for length in LENGTHS], max(LENGTHS), 4.6)
    cost.bars(drawing, 20, 468, rows, ROW, 4.6)
    return drawing


def packed_row() -> Canvas:
    """Smaller cells; whose a block is stands in it."""
    drawing = beside(cost.packed_row(), 378)
    cost.blocks(drawing, 90, 72, 13.8, 22, owners=True)
    drawing.text(228, 26, "position of each token", "position", size=14)
    return drawing


def kept_for_backward() -> Canvas:
    """The names above the bars."""
    drawing = beside(cost.kept_for_backward(), 568)
    step = 44
    for k, (name, _, _) in enumerate(cost.kept()):
        drawing.text(16, 20 + step * k, name, size=13, anchor="start")
    low = cost.kept_bars(drawing, 16, 30, 14.2, step)
    for k, name in enumerate(("fused attention", "by the formula")):
        drawing.text(16, low - 9 + step * k, name, bold=True, size=13, anchor="start")
    total = "8 *d* + 2 *d*_{ff} + 4, and *h* · *n*"
    drawing.text(16, low + step + 44, total, size=15, anchor="start")
    return drawing
