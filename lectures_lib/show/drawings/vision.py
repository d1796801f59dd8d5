"""Images (chapters 11 and 11b): how a picture becomes a sentence, what `view` alone cuts, and what a
convolution knows of a stroke that moves.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from lectures_lib.show.drawings.attention import blank, numbers
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Grid, Number

# The first zero and the first three of the chapters' test images, a pixel from 0 to 16 as
# scikit-learn's file has it; the chapters divide by 16.
ZERO = """
 0  0 10 16 14  2  0  0
 0  3 16  9  8 14  0  0
 0  5 16  3  2 15  6  0
 0  5 16  3  0 12 10  0
 0  7 14  0  0 12 11  0
 0  7 16  1  3 16  5  0
 0  4 16  7 12 11  1  0
 0  0 10 16 14  3  0  0
"""
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
FOLLOWED = 1  # the patch of the zero that is framed and followed
STROKE, KERNEL = (0.0, 0.0, 3.0, 5.0, 0.0, 0.0), (-1.0, 1.0)
OWNERS = "head_1", "head_2", "head_3", "neutral"  # the colours of four patches


def pixels(digit: str) -> Tensor:
    """A digit as an image: 8 × 8 numbers from 0 to 1."""
    return torch.tensor([int(number) for number in digit.split()]).view(8, 8) / 16


def cut(image: Tensor, size: int) -> Tensor:
    """Its patches, (patches, size, size), as chapter 11 cuts them."""
    across = len(image) // size
    return image.reshape(across, size, across, size).transpose(1, 2).reshape(-1, size, size)


def moved(image: Tensor) -> Tensor:
    """The image one pixel further right, a column of 0 at its left."""
    return F.pad(image, (1, 0))[:, :-1]


def halftone(drawing: Canvas, x: Number, y: Number, image: Tensor, cell: Number) -> Grid:
    """An image of numbers from 0 to 1: each a square in its cell, the larger the darker."""
    grid, path = Grid(x, y, *image.shape, (cell, cell)), []
    for i, row in enumerate(image.tolist()):
        for j, value in enumerate(row):
            side = cell * value**0.5
            left, top = grid.centre(i, j)
            if side > 0.5:
                start = f"M{left - side / 2:.4g} {top - side / 2:.4g}"
                path.append(f"{start}h{side:.3g}v{side:.3g}h-{side:.3g}z")
    drawing.parts.append(f'<path d="{"".join(path)}" class="l-{drawing._use("neutral")}"/>')
    drawing.frame(x, y, grid.width, grid.height, "encoder", thick=1, radius=0)
    return grid


def rulers(drawing: Canvas, grid: Grid, size: int) -> None:
    """The lines along which an image is cut."""
    step = size * grid.cell[0]
    for i in range(1, grid.rows // size):
        at = i * step
        drawing.line([(grid.x + at, grid.y), (grid.x + at, grid.bottom)], "encoder", 1.5)
        drawing.line([(grid.x, grid.y + at), (grid.right, grid.y + at)], "encoder", 1.5)


def image_to_class() -> Canvas:
    """A digit of 8 × 8 pixels, its 16 patches as words, and the way to its class."""
    patches = cut(pixels(ZERO), 2)
    said = ", ".join(numbers(patches[FOLLOWED].flatten()[None], ".2f")[0])
    drawing = Canvas(
        "image_to_class",
        720,
        580,
        "A Vision Transformer, from an image to its class",
        "Read from above. A handwritten zero of 8 by 8 pixels is cut into 16 squares of 2 by 2. The "
        f"second of them is framed, and its four numbers are shown: {said}; flattened they stand in "
        "one row. Below, the 16 patches stand side by side, each flattened to four numbers; the "
        "same linear layer makes a vector of each. In front of the 16 vectors stands one more, the "
        "class token. To each of the 17 a position's vector is added, numbered from 0 to 16. All "
        "go through the encoder. Of the 17 vectors that come out, only the first is read: a linear "
        "layer makes ten scores of it, and the highest is that of a zero.",
        "An image becomes a sentence of 16 words, read row by row like a page, with one more word "
        "in front. Follow the framed patch; the answer is read at the class token's place.",
    )
    digit = halftone(drawing, 34, 22, pixels(ZERO), 14)
    rulers(drawing, digit, 2)
    drawing.frame(digit.x + 28 * FOLLOWED, digit.y, 28, 28, thick=3)
    four = numbers(patches[FOLLOWED], ".2f")
    drawing.arrow([(digit.right + 10, digit.y + 40), (208, digit.y + 40)])
    zoom = drawing.matrix(214, digit.y + 8, four, (50, 32), "neutral")
    drawing.frame(zoom.x, zoom.y, zoom.width, zoom.height, thick=3)
    drawing.arrow([(zoom.right + 8, zoom.middle[1]), (zoom.right + 36, zoom.middle[1])])
    flat = drawing.matrix(
        zoom.right + 42, zoom.middle[1] - 16, [four[0] + four[1]], (50, 32), "neutral"
    )
    drawing.text(flat.middle[0], flat.bottom + 20, "flattened", size=14)
    drawing.text(digit.right + 12, digit.bottom - 8, "16 patches of 2 × 2", size=14, anchor="start")
    left, wide = 42, 38
    for j in range(17):
        x = left + (j + 0.5) * wide
        if j:
            small = halftone(drawing, x - 12, 164, patches[j - 1], 12)
            drawing.line([(x, small.bottom + 2), (x, 202)], "residual", 1.5)
            halftone(drawing, x - 16, 204, patches[j - 1].reshape(1, 4), 8)
            drawing.line([(x, 214), (x, 230)], "residual", 1.5)
            drawing.arrow([(x, 262), (x, 280)], "residual", 1.5)
        through(drawing, x, j)
    followed = left + (FOLLOWED + 1.5) * wide
    drawing.frame(followed - 19, 158, 38, 60, thick=3)
    drawing.box(
        left + wide + 2, 232, 16 * wide - 4, 28, "the same linear layer for each patch", size=14
    )
    cls = left + wide / 2
    drawing.lines(cls - 6, 248, ["class", "token"], 17, size=13, bold=True)
    drawing.box(left - 20, 376, 17 * wide + 28, 46, "encoder", "encoder", bold=True)
    drawing.frame(cls - 18, 446, 36, 24, thick=3)
    drawing.arrow([(cls, 472), (cls, 500)], "ink", 2.5)
    drawing.box(left - 20, 502, 140, 38, "linear layer", bold=True)
    drawing.text(left + 50, 558, "10 scores", size=14)
    drawing.arrow([(left + 122, 521), (left + 158, 521)], "ink", 2.5)
    drawing.box(left + 162, 502, 90, 38, "a zero", "prediction", bold=True)
    return drawing


def through(drawing: Canvas, x: Number, j: int) -> None:
    """One of the 17 vectors, its position, and its way through the encoder."""
    colour = "residual" if j else "prediction"
    drawing.matrix(x - 15, 282, blank(1, 3), (10, 20), colour)
    drawing.text(x, 312, "+", size=15)
    drawing.box(x - 16, 322, 32, 24, str(j), "position", size=13, radius=4)
    drawing.arrow([(x, 348), (x, 374)], "residual", 1.5)
    drawing.line([(x, 424), (x, 446)], "residual", 1.5)
    drawing.matrix(x - 15, 448, blank(1, 3), (10, 20), colour)


def patch_cells() -> dict[str, Tensor]:
    """Sixteen numbered pixels cut into four patches, with `permute` and with `view` alone."""
    image = torch.tensor([[10 * r + c for c in range(1, 5)] for r in range(1, 5)])
    return {"image": image, "right": cut(image, 2).flatten(1), "wrong": image.view(4, 4)}


def runs(name: str) -> list[tuple[int, int]]:
    """Where in memory the first patch's numbers stand: each run's start and length."""
    made = patch_cells()
    line, found = made["image"].flatten().tolist(), []
    for place in (line.index(number) for number in made[name][0].tolist()):
        if found and place == sum(found[-1]):
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((place, 1))
    return found


def patch_trap() -> Canvas:
    """Which pixels share a patch: cut rightly, and by `view` alone."""
    made = patch_cells()
    first = {k: ", ".join(map(str, made[k][0].tolist())) for k in ("right", "wrong")}
    drawing = Canvas(
        "patch_trap",
        720,
        470,
        "The same sixteen pixels cut into four patches, rightly and by view alone",
        "Twice an image of 4 by 4 pixels with the numbers 11 to 44, below it the same sixteen in one "
        "line, as they stand in memory, and below that the four patches, a row each. Left, with "
        "reshape, permute, reshape: the patches are the four squares of 2 by 2; the first is framed "
        f"and holds {first['right']}, which in memory do not stand side by side. Right, with view "
        f"alone: the patches are the four rows of the image; the first holds {first['wrong']}, the "
        "first four in memory.",
        "Which pixels share a patch. In memory the pixels stand in one line, row after row; view "
        "alone cuts that line into pieces. Both results have the same shape.",
    )
    sides = (
        (186, "right", "✓", "reshape, permute, reshape"),
        (540, "wrong", "✗", "view(1, 4, 4) alone"),
    )
    for middle, name, sign, code in sides:
        colour = "error" if name == "wrong" else "neutral"
        drawing.circle(middle - 120, 34, 13, sign, colour, size=16)
        drawing.text(middle - 98, 34, code, anchor="start", bold=True, size=14)
        cut_image(drawing, middle, 66, name, 20)
    drawing.line([(363, 24), (363, 446)], "neutral", 1)
    return drawing


def cut_image(drawing: Canvas, middle: Number, top: Number, name: str, thin: Number) -> None:
    """One side of `patch_trap`: the image, its line in memory in cells of width `thin`, and the four
    patches.
    """
    made = patch_cells()
    owner = {number: i for i, patch in enumerate(made[name].tolist()) for number in patch}
    image = _owned(drawing, middle - 76, top, made["image"].tolist(), owner, (38, 30))
    size = (76, 60) if name == "right" else (152, 30)
    drawing.frame(image.x, image.y, *size, thick=3)
    drawing.text(middle, image.bottom + 28, "in memory", "neutral", 14)
    line = [made["image"].flatten().tolist()]
    memory = _owned(drawing, middle - 8 * thin, image.bottom + 42, line, owner, (thin, 26), 12)
    for start, long in runs(name):
        drawing.frame(memory.x + start * thin, memory.y, long * thin, 26, thick=3)
    drawing.arrow([(middle, memory.bottom + 6), (middle, memory.bottom + 30)])
    rows = [f"patch {i}" for i in range(4)]
    below = (middle - 76 + 20, memory.bottom + 36)
    result = _owned(drawing, *below, made[name].tolist(), owner, (38, 30), rows=rows)
    drawing.frame(result.x, result.y, result.width, 30, thick=3)


def _owned(
    drawing: Canvas,
    x: Number,
    y: Number,
    values: Sequence[Sequence[int]],
    owner: dict[int, int],
    cell: tuple[Number, Number],
    size: Number = 14,
    rows: Sequence[str] = (),
) -> Grid:
    """Numbers, each in the colour of the patch that it falls into."""
    texts = [[str(number) for number in row] for row in values]
    colours = [[OWNERS[owner[number]] for number in row] for row in values]
    return drawing.matrix(x, y, texts, cell, colours, rows=rows, size=size)


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
        ("as it is", pixels(THREE), 36),
        ("moved", moved(pixels(THREE)), 182),
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


def stretched() -> dict[str, Tensor]:
    """One of the d_model numbers of 16 learned positions, laid out as an image (here: made up, darker
    towards the lower right), and the same enlarged to 6 × 6.
    """
    step = torch.arange(4.0)
    small = (step[:, None] + step) / 6
    large = F.interpolate(small[None, None], size=(6, 6), mode="bicubic", align_corners=False)
    return {"small": small, "large": large[0, 0].clamp(0, 1)}


def stretched_positions() -> Canvas:
    """Seventeen positions become 37: the class token's is taken off, the others are an image."""
    drawing = Canvas(
        "stretched_positions",
        720,
        316,
        "Seventeen learned positions stretched for an image with 36 patches",
        "From left to right. A list of 17 rows, numbered from 0 to 16 from above: row 0 is the class "
        "token's. Row 0 goes along the top, untouched, to the result. The other 16, row by row, are "
        "laid out as a small image of 4 by 4; one of their numbers is shown, the darker the larger, "
        "with made-up values that grow towards the lower right. "
        "The image is enlarged to 6 by 6 by interpolation: dark stays at the lower right. Read row "
        "by row, the 36 values follow row 0 again: a list of 37 rows.",
        "Positions for a larger image. The class token's row is no place: it is taken off before "
        "the others are enlarged as an image, and put back in front. (Made-up values.)",
    )
    made = stretched()
    before = position_list(drawing, (60, 34, 40, 17), made["small"])
    after = position_list(drawing, (620, 34, 40, 37), made["large"])
    y, middle = before.y + 8, 174
    drawing.arrow([(before.right + 10, y), (after.x - 8, y)], "prediction", 2.5)
    drawing.text(360, y - 16, "the class token’s row, as it is", size=14)
    small = halftone(drawing, 188, middle - 60, made["small"], 30)
    large = halftone(drawing, 404, middle - 81, made["large"], 27)
    drawing.arrow([(before.right + 10, middle), (small.x - 8, middle)])
    drawing.arrow([(small.right + 10, middle), (large.x - 8, middle)], thick=2.5)
    drawing.arrow([(large.right + 10, middle), (after.x - 8, middle)])
    drawing.text(small.middle[0], small.bottom + 18, "4 × 4", size=14)
    drawing.text(large.middle[0], large.bottom + 18, "6 × 6", size=14)
    drawing.text((small.right + large.x) / 2, middle - 18, "enlarge", size=14, bold=True)
    says = "one of the *d*_{model} numbers of each position"
    drawing.text(360, 296, says, "neutral", 14)
    return drawing


def position_list(
    drawing: Canvas, place: tuple[Number, Number, Number, int], image: Tensor
) -> Grid:
    """A list of positions at (x, y, width, rows): row 0 the class token's, the others the image read
    row by row.
    """
    x, y, wide, rows = place
    tall = 234 / rows
    drawing._rect(x, y, wide, tall, "prediction", "prediction", thick=1)
    bars = []
    for i, value in enumerate(image.flatten().tolist(), start=1):
        if value > 0:
            bars.append(f"M{x} {y + (i + 0.1) * tall:.4g}h{wide * value:.3g}v{0.8 * tall:.3g}H{x}z")
    drawing.parts.append(f'<path d="{"".join(bars)}" class="l-{drawing._use("neutral")}"/>')
    drawing.frame(x, y + tall, wide, 234 - tall, "encoder", thick=1, radius=0)
    grid = Grid(x, y, rows, 1, (wide, tall))
    drawing.text(grid.middle[0], grid.bottom + 18, f"{rows} rows", size=14)
    return grid
