"""What a convolution knows of a stroke that moves, and a Vision Transformer does not (chapter 11b)."""

import torch
import torch.nn.functional as F
from torch import Tensor

from lectures_lib.show.drawings.attention import numbers
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Number
from lectures_lib.show.drawings.pixels import cut, halftone, rulers

# The first three of the chapters' test images, a pixel from 0 to 16 as scikit-learn's file has it;
# the chapters divide by 16.
THREE = """
 0  2 13 15 10  4  0  0
 0  0  5  4 13 15  2  0
 0  0  0  0 11 16  4  0
 0  0  0  0 16 12  0  0
 0  0  0  0 13 11  0  0
 0  0  0  0  8 13  0  0
 0  1  6  8 14 12  0  0
 0  2 12 14 11  1  0  0
"""
STROKE, KERNEL = (0.0, 0.0, 3.0, 5.0, 0.0, 0.0), (-1.0, 1.0)


def three() -> Tensor:
    """The digit as an image: 8 × 8 numbers from 0 to 1."""
    return torch.tensor([int(number) for number in THREE.split()]).view(8, 8) / 16


def moved(image: Tensor) -> Tensor:
    """The image one pixel further right, a column of 0 at its left."""
    return F.pad(image, (1, 0))[:, :-1]


def moved_digit() -> Canvas:
    """A three in four patches, and the same one pixel further right."""
    drawing = Canvas(
        "moved_digit",
        720,
        316,
        "A digit in four patches, and the same digit one pixel further right",
        "Two rows. In the upper one a handwritten three of 8 by 8 pixels, cut by lines into four "
        "squares, and beside it these four patches of 4 by 4 pixels, numbered from 1 to 4. In the "
        "lower one the same digit, one pixel further right, and its four patches: in each of them "
        "the stroke lies elsewhere, and none is equal to the one above it.",
        "A digit and its four patches; below, the same digit one pixel further right. To a Vision "
        "Transformer these are four other words.",
    )
    for name, image, y in (
        ("as it is", three(), 36),
        ("moved", moved(three()), 182),
    ):
        digit = halftone(drawing, 104, y, image, 13)
        rulers(drawing, digit, 4)
        drawing.text(90, digit.middle[1], name, anchor="end", bold=True)
        drawing.arrow([(digit.right + 14, digit.middle[1]), (digit.right + 52, digit.middle[1])])
        for i, patch in enumerate(cut(image, 4)):
            grid = halftone(drawing, 284 + 106 * i, y + 10, patch, 21)
            if y < 100:
                drawing.text(grid.middle[0], grid.y - 18, f"word {i + 1}", size=14)
    return drawing


def convolved() -> dict[str, dict[str, Tensor]]:
    """The stroke as it is and one pixel further: its pixels, what the kernel makes of them, the same
    after a ReLU, and its patches of two.
    """
    made = {}
    for name, row in (
        ("as it is", torch.tensor(STROKE)),
        ("moved", torch.tensor(STROKE).roll(1)),
    ):
        found = F.conv1d(row.view(1, 1, -1), torch.tensor(KERNEL).view(1, 1, -1)).flatten()
        made[name] = {
            "pixels": row,
            "found": found,
            "relu": found.relu(),
            "patches": row.view(3, 2),
        }
    return made


def same_kernel() -> Canvas:
    """One row of pixels, as it is and moved: a kernel's results, and patches of two."""
    made = convolved()
    said = {
        (name, part): ", ".join(numbers(values[part].view(1, -1), "g")[0])
        for name, values in made.items()
        for part in ("pixels", "found", "relu")
    }
    pairs = {
        name: ", ".join(f"({a:g}, {b:g})" for a, b in values["patches"].tolist())
        for name, values in made.items()
    }
    total = f"{made['moved']['relu'].sum():g}"
    drawing = Canvas(
        "same_kernel",
        720,
        404,
        "A stroke of two pixels, as it is and moved: a kernel's results and patches",
        f"Two rows, as it is and moved. As it is: the pixels {said['as it is', 'pixels']}. The "
        "kernel, minus one and one, takes at each place the right pixel minus the left one: "
        f"{said['as it is', 'found']}; with a ReLU {said['as it is', 'relu']}; their sum is {total}. "
        f"Moved: {said['moved', 'pixels']}, of which the kernel makes {said['moved', 'found']}, with "
        f"a ReLU {said['moved', 'relu']}: the same results, one place further, with the same sum "
        f"{total}. Beside each the same row cut into patches of two: as it is {pairs['as it is']}, "
        f"moved {pairs['moved']}: other words.",
        "The same stroke twice. The kernel's results move along with it, and their sum stays; cut "
        "into patches of two, the stroke has become other words.",
    )
    drawing.text(246, 30, "convolution", bold=True, size=17)
    drawing.text(574, 30, "patches of two", bold=True, size=17)
    for (name, values), y in zip(made.items(), (66, 236), strict=True):
        drawing.text(20, y + 16, name, anchor="start", bold=True)
        stroke_row(drawing, 126, y, values, 40)
        patch_row(drawing, 448, y, values, 40, made["as it is"]["patches"])
    drawing.line([(418, 24), (418, 384)], "neutral", 1)
    drawing.text(574, 378, "the same places hold other words", size=14)
    return drawing


def stroke_row(
    drawing: Canvas, x: Number, y: Number, values: dict[str, Tensor], wide: Number
) -> None:
    """Pixels, the kernel's results below the two that each is made of, and the same after a ReLU."""
    above = drawing.matrix(x, y, numbers(values["pixels"][None], "g"), (wide, 32), "neutral")
    found = drawing.matrix(
        x + wide / 2, y + 64, numbers(values["found"][None], "g"), (wide, 32), "encoder"
    )
    for j in range(found.columns):
        thick = 2.5 if values["relu"][j] > 0 else 1
        tip = x + (j + 1) * wide
        for side in (-1, 1):
            drawing.line([(tip + side * wide / 2, above.bottom), (tip, found.y)], "encoder", thick)
    relu = numbers(values["relu"][None], "g")
    below = drawing.matrix(found.x, found.bottom + 12, relu, (wide, 32), "encoder")
    drawing.text(found.x - 10, found.middle[1], "right − left", anchor="end", size=14)
    drawing.text(below.x - 10, below.middle[1], "ReLU", anchor="end", size=14)
    drawing.text(
        below.right + 8,
        below.middle[1],
        f"Σ {values['relu'].sum():g}",
        anchor="start",
        bold=True,
        size=14,
    )


def patch_row(
    drawing: Canvas, x: Number, y: Number, values: dict[str, Tensor], wide: Number, before: Tensor
) -> None:
    """The same pixels in pairs; those that differ from what stood there before are marked."""
    for i, (pair, old) in enumerate(zip(values["patches"], before, strict=True)):
        colour = "neutral" if torch.equal(pair, old) else "error"
        left = x + i * (2 * wide + 6)
        grid = drawing.matrix(left, y + 64, numbers(pair[None], "g"), (wide, 32), colour)
        drawing.text(grid.middle[0], grid.bottom + 18, f"word {i + 1}", size=14)
    row = drawing.matrix(x + 6, y, numbers(values["pixels"][None], "g"), (wide, 32), "neutral")
    for i in range(3):
        at = row.x + (2 * i + 1) * wide
        drawing.line([(at, row.bottom + 4), (x + i * (2 * wide + 6) + wide, y + 60)], "neutral")
