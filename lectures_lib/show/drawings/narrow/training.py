"""Training (chapter 8), for a narrow page."""

from lectures_lib.show.drawings import training
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside
from lectures_lib.show.drawings.training import (
    batches,
    draw_batches,
    draw_gradients,
    models_say,
    padding,
    parts_of_a_step,
    plain,
    targets,
    way_back,
)


def training_step() -> Canvas:
    """The numbers below each part, and beside them the words."""
    drawing = beside(training.training_step(), 606)
    parts = parts_of_a_step()
    y, step, left = 56, 94, 46
    for number, part in enumerate(parts, start=1):
        drawing.step(left, y, number, part.name)
        drawing.text(364, y, part.code, "neutral", 14, "end")
        cells = drawing.matrix(78, y + 19, [part.numbers], (48, 36), part.colour, size=14)
        drawing.lines(cells.right + 8, y + 37, part.says, 17, size=12, anchor="start")
        if number < len(parts):
            drawing.arrow([(left + 12, y + 16), (left + 12, y + step - 16)])
        y += step
    way_back(drawing, left, 56, y - step, 20)
    return drawing


def smoothed_targets() -> Canvas:
    """A table for each model: its probabilities, and each target's gradient below the target."""
    said = {"A table. Its columns are": "Two columns:", "Its rows are what": "Below, what"}
    drawing = beside(training.smoothed_targets(), 472, said)
    cell, xs = (53, 30), (18, 199)
    for x, (name, target) in zip(xs, targets().items(), strict=True):
        drawing.text(x + 80, 26, f"target, {name}", bold=True, size=14)
        drawing.matrix(x, 44, [plain(target, ".3f")], cell, shares=[target.tolist()])
    ys = (188, 376)
    for y, (name, says) in zip(ys, models_say().items(), strict=True):
        drawing.text(188, y - 86, f"a model that is {name}", bold=True, size=14)
        drawing.matrix(
            108, y - 72, [plain(says, ".3f")], cell, "prediction", shares=[says.tolist()]
        )
        drawing.text(188, y - 24, "− target =", size=14)
    draw_gradients(drawing, xs, ys, cell, 13)
    return drawing


def batches_by_length() -> Canvas:
    """One way below the other."""
    drawing = beside(training.batches_by_length(), 878, {"Two columns of": "Two times"})
    for y, (name, cut) in zip((30, 458), batches().items(), strict=True):
        drawing.text(16, y, name, bold=True, anchor="start", size=16)
        drawing.text(360, y, f"{100 * padding(cut):.0f} % padding", anchor="end")
        draw_batches(drawing, 16, y + 22, cut, 13.6)
    return drawing
