"""How an image becomes a sentence (chapter 11): patches as words, what `view` alone cuts, and positions
for more patches than were learned.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from lectures_lib.data.images import GARMENTS, ten_garments
from lectures_lib.show.drawings.attention import blank, numbers
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Grid, Number
from lectures_lib.show.drawings.pixels import cut, halftone, rulers

WORN, SIDE = "pullover", 7  # the picture that is read, and how many pixels wide a patch of it is
FOLLOWED = 5  # the patch that is framed and followed
SHOWN = 7  # how many of its numbers are written out
OWNERS = "head_1", "head_2", "head_3", "neutral"  # the colours of four patches


def garment() -> Tensor:
    """The picture that is read: 28 × 28 numbers, 0 where there is no cloth."""
    return ten_garments()[GARMENTS.index(WORN)]["image"][0]


def first_numbers() -> list[str]:
    """With which numbers the flattened patch begins that is followed."""
    return numbers(cut(garment(), SIDE)[FOLLOWED].flatten()[None, :SHOWN], ".2f")[0]


def image_to_class() -> Canvas:
    """A garment of 28 × 28 pixels, its 16 patches as words, and the way to its class."""
    patches, long = cut(garment(), SIDE), SIDE * SIDE
    drawing = Canvas(
        "image_to_class",
        720,
        676,
        "A Vision Transformer, from an image to its class",
        f"Read from above. A picture of a {WORN}, 28 by 28 grey pixels, is cut into 16 squares of "
        f"{SIDE} by {SIDE}. The second square of the second row is framed; it holds a part of the print "
        f"on the chest. It is shown enlarged, and then flattened: its {long} pixels side by side, "
        f"{long} numbers, which begin {', '.join(first_numbers())}. Below, the 16 patches stand "
        "side by side; the same linear layer makes a vector of each. In front of the 16 "
        "vectors stands one more, the class token. To each of the 17 a position's vector is added, "
        "numbered from 0 to 16. All go through the encoder. Of the 17 vectors that come out, only "
        "the first is read: a linear layer makes ten scores of it, and the highest is that of a "
        f"{WORN}.",
        "An image becomes a sentence of 16 words, read row by row like a page, with one more word "
        "in front. Follow the framed patch; the answer is read at the class token's place.",
    )
    picture = whole(drawing, 34, 24, 196)
    drawing.text(picture.middle[0], picture.bottom + 20, f"16 patches of {SIDE} × {SIDE}", size=14)
    y = 80
    drawing.arrow([(picture.right + 12, y + 42), (picture.right + 48, y + 42)])
    zoom = drawing.picture(picture.right + 56, y, 84, patches[FOLLOWED].tolist())
    drawing.frame(zoom.x, zoom.y, zoom.width, zoom.height, thick=3)
    drawing.arrow([(zoom.right + 10, y + 42), (zoom.right + 38, y + 42)])
    flattened(drawing, zoom.right + 46, y + 42, 276)
    left, wide, top = 42, 38, 268
    for j in range(17):
        x = left + (j + 0.5) * wide
        if j:
            small = drawing.picture(x - 17, top, 34, patches[j - 1].tolist())
            drawing.frame(small.x, small.y, 34, 34, "encoder", thick=1, radius=0)
            drawing.line([(x, small.bottom + 2), (x, top + 50)], "residual", 1.5)
            drawing.arrow([(x, top + 82), (x, top + 100)], "residual", 1.5)
        through(drawing, x, top + 102, j)
    followed = left + (FOLLOWED + 1.5) * wide
    drawing.frame(followed - 19, top - 2, 38, 38, thick=3)
    says = "flattened; the same linear layer for each patch"
    drawing.box(left + wide + 2, top + 52, 16 * wide - 4, 28, says, size=14)
    cls = left + wide / 2
    drawing.lines(cls - 6, top + 68, ["class", "token"], 17, size=13, bold=True)
    drawing.box(left - 20, top + 196, 17 * wide + 28, 46, "encoder", "encoder")
    answer(drawing, cls, left - 20, top + 266)
    return drawing


def whole(drawing: Canvas, x: Number, y: Number, width: Number) -> Grid:
    """The garment, the lines along which it is cut, and the frame of the patch that is followed."""
    picture = drawing.picture(x, y, width, garment().tolist())
    drawing.frame(x, y, width, width, "encoder", thick=1.5, radius=0)
    rulers(drawing, picture, SIDE, "paper", 4)  # on the cloth, lines need an edge
    rulers(drawing, picture, SIDE)
    step = SIDE * picture.cell[0]
    row, column = divmod(FOLLOWED, picture.columns // SIDE)
    for colour, thick in (("paper", 9), ("ink", 4)):
        drawing.frame(x + column * step, y + row * step, step, step, colour, thick)
    return picture


def flattened(drawing: Canvas, x: Number, middle: Number, width: Number) -> None:
    """The followed patch as a row of pixels around that height, and the numbers that it begins with."""
    row = cut(garment(), SIDE)[FOLLOWED].flatten()
    high = 4 * width / len(row)  # each pixel is drawn four times as high as wide
    strip = drawing.picture(x, middle - high / 2, width, row.expand(4, -1).tolist())
    drawing.frame(strip.x, strip.y, strip.width, strip.height, thick=2)
    drawing.text(x, middle - 26, f"flattened: {len(row)} numbers", size=14, anchor="start")
    said = " ".join([*first_numbers(), "…"])
    drawing.text(x, middle + 28, said, size=14, anchor="start")


def through(drawing: Canvas, x: Number, y: Number, j: int) -> None:
    """One of the 17 vectors from the height y on, its position, and its way through the encoder."""
    colour = "encoder" if j else "prediction"
    drawing.matrix(x - 15, y, blank(1, 3), (10, 20), colour)
    drawing.text(x, y + 30, "+", size=15)
    drawing.box(x - 16, y + 40, 32, 24, str(j), "position", size=13, radius=4)
    drawing.arrow([(x, y + 66), (x, y + 92)], "residual", 1.5)
    drawing.line([(x, y + 142), (x, y + 164)], "residual", 1.5)
    drawing.matrix(x - 15, y + 166, blank(1, 3), (10, 20), colour)


def answer(drawing: Canvas, cls: Number, x: Number, y: Number) -> None:
    """From the class token's vector, framed at the height y, to the class; boxes begin at x."""
    drawing.frame(cls - 18, y, 36, 24, thick=3)
    drawing.arrow([(cls, y + 26), (cls, y + 54)], "ink", 2.5)
    drawing.box(x, y + 56, 130, 38, "linear layer")
    drawing.text(x + 65, y + 112, "10 scores", size=14)
    drawing.arrow([(x + 132, y + 75), (x + 168, y + 75)], "ink", 2.5)
    drawing.box(x + 172, y + 56, 110, 38, f"a {WORN}", "prediction", bold=True)


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


def stretched() -> dict[str, Tensor]:
    """One of the d_model numbers of 16 learned positions, laid out as an image (here: made up, larger
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
        "laid out as a small image of 4 by 4; one of their numbers is shown, as a square of its "
        "size, with made-up values that grow towards the lower right. "
        "The image is enlarged to 6 by 6 by interpolation: the large ones stay at the lower right. Read row "
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
    drawing.matrix(x, y, [[""]], (wide, tall), "prediction")
    bars = []
    for i, value in enumerate(image.flatten().tolist(), start=1):
        if value > 0:
            bars.append(f"M{x} {y + (i + 0.1) * tall:.4g}h{wide * value:.3g}v{0.8 * tall:.3g}H{x}z")
    drawing.shape("".join(bars), "neutral")
    drawing.frame(x, y + tall, wide, 234 - tall, "encoder", thick=1, radius=0)
    grid = Grid(x, y, rows, 1, (wide, tall))
    drawing.text(grid.middle[0], grid.bottom + 18, f"{rows} rows", size=14)
    return grid
