"""What is drawn with a finger or a mouse: a digit, as the data set of handwritten digits would hold
it, and strokes of a soft brush on a picture of clothes.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

Stroke = Sequence[Sequence[float]]  # points (x, y)
SIDE, BLOCK, RADIUS = 32, 4, 2.4  # pixels of the fine picture, of a block, half a pen's width
BRUSH, EDGE = 1.3, 1.2  # of the brush, in pixels: half its width, and how wide it fades


def digit_image(strokes: Sequence[Stroke]) -> Float[Tensor, "1 8 8"]:
    """Strokes, each a list of points (x, y) with y growing downwards, as an image of 8 × 8 greys
    between 0 and 1.

    As the data set was made (Alpaydin and Kaynak 1998): the digit fills a picture of 32 × 32 black
    and white pixels, and each grey is the share of black ones in a block of 4 × 4. The pen's width
    is ours, between an eighth and a sixth of the picture, for the data set's mean grey.

    Raises:
        ValueError: without a point.
    """
    points = torch.tensor([point for stroke in strokes for point in stroke], dtype=torch.float64)
    if not len(points):
        raise ValueError("a drawing needs at least one point")
    low, high = points.amin(dim=0), points.amax(dim=0)
    scale = (SIDE - 2 * RADIUS) / max(float((high - low).max()), 1e-9)
    middle = ((low + high) / 2).repeat(2)
    fine = distances((segments(strokes) - middle) * scale + SIDE / 2, SIDE)
    black = (fine <= RADIUS).double()
    blocks = black.reshape(SIDE // BLOCK, BLOCK, SIDE // BLOCK, BLOCK)
    return blocks.mean(dim=(1, 3))[None].float()


def brushed(
    image: Float[Tensor, "1 side side"], stroke: Stroke, grey: float
) -> Float[Tensor, "1 side side"]:
    """The picture with one stroke of a soft brush, its points in pixels from the upper left corner:
    `grey` along the stroke, and less and less of it towards the brush's edge. A grey of 0 rubs out.

    Raises:
        ValueError: without a point.
    """
    if not len(stroke):
        raise ValueError("a stroke needs at least one point")
    far = distances(segments([stroke]), image.shape[-1])
    cover = ((BRUSH + EDGE / 2 - far) / EDGE).clamp(0, 1).float()
    return image + (grey - image) * cover


def displaced(
    images: Float[Tensor, "*batch height width"], right: int, down: int
) -> Float[Tensor, "*batch height width"]:
    """The pictures moved by whole pixels. What leaves is lost, and what comes in is 0."""
    return F.pad(images, (right, -right, down, -down))


def segments(strokes: Sequence[Stroke]) -> Float[Tensor, "n 4"]:
    """What strokes consist of: from (x, y) to (x, y); a stroke of one point is a segment, too."""
    return torch.tensor(
        [
            [*a, *b]
            for stroke in strokes
            for a, b in zip(stroke, stroke[1:] or stroke, strict=False)
        ],
        dtype=torch.float64,
    )


def distances(lines: Float[Tensor, "n 4"], side: int) -> Float[Tensor, "side side"]:
    """From the middle of every pixel of a square picture to the nearest of the segments."""
    a, b = lines.split(2, dim=1)  # (n, 2) each
    centres = torch.arange(side, dtype=torch.float64) + 0.5
    y, x = torch.meshgrid(centres, centres, indexing="ij")
    pixels = torch.stack([x, y], dim=-1)[:, :, None]
    along, towards = b - a, pixels - a
    share = (towards * along).sum(dim=-1) / (along * along).sum(dim=-1).clamp(min=1e-12)
    nearest = a + share.clamp(0, 1)[..., None] * along
    return (pixels - nearest).norm(dim=-1).amin(dim=-1)
