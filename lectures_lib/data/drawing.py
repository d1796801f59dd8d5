"""A digit drawn with a finger or a mouse, as the data set of handwritten digits would hold it."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

Stroke = Sequence[Sequence[float]]  # points (x, y)
SIDE, BLOCK, RADIUS = 32, 4, 2.4  # pixels of the fine picture, of a block, half a pen's width


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
    room = SIDE - 2 * RADIUS
    scale = room / max(float((high - low).max()), 1e-9)
    segments = torch.tensor(
        [
            [*a, *b]
            for stroke in strokes
            for a, b in zip(stroke, stroke[1:] or stroke, strict=False)
        ],
        dtype=torch.float64,
    )
    middle = ((low + high) / 2).repeat(2)
    a, b = ((segments - middle) * scale + SIDE / 2).split(2, dim=1)  # (n_segments, 2) each
    centres = torch.arange(SIDE, dtype=torch.float64) + 0.5
    y, x = torch.meshgrid(centres, centres, indexing="ij")
    pixels = torch.stack([x, y], dim=-1).reshape(-1, 1, 2)
    along, towards = b - a, pixels - a
    share = (towards * along).sum(dim=-1) / (along * along).sum(dim=-1).clamp(min=1e-12)
    nearest = a + share.clamp(0, 1)[..., None] * along
    black = ((pixels - nearest).norm(dim=-1) <= RADIUS).any(dim=1).double()
    blocks = black.reshape(SIDE // BLOCK, BLOCK, SIDE // BLOCK, BLOCK)
    return blocks.mean(dim=(1, 3))[None].float()
