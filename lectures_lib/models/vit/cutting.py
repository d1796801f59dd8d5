"""Images cut into patches and put together again; positions for another number of patches (chapter
11; Dosovitskiy et al. 2021, sections 3.1 and 3.2).
"""

from math import isqrt, prod
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from lectures_lib.checks.door import at_the_door
from lectures_lib.checks.images import check_images
from lectures_lib.checks.sizes import check_numbers
from lectures_lib.checks.tensors import check_tensor


def grid(height: int, width: int, patch_size: int) -> tuple[int, int]:
    """How many patches fit below and beside each other.

    Raises:
        ValueError: where they do not fill the image.
    """
    if patch_size < 1 or height % patch_size or width % patch_size or not height or not width:
        raise ValueError(
            f"an image of {height} × {width} pixels cannot be cut into patches of {patch_size} × "
            f"{patch_size}"
        )
    return height // patch_size, width // patch_size


@at_the_door(lambda images, patch_size: check_images(images))
def patches(
    images: Float[Tensor, "batch channels height width"], patch_size: int
) -> Float[Tensor, "batch n_patches pixels"]:
    """Each image's patches, row by row from the top left; each as one vector: channel by channel,
    row by row.

    Raises:
        ValueError: where patches do not fill the image.
    """
    batch, channels, height, width = images.shape
    rows, columns = grid(height, width, patch_size)
    x = images.reshape(batch, channels, rows, patch_size, columns, patch_size)
    x = x.permute(0, 2, 4, 1, 3, 5)  # batch, rows, columns, channels, patch_size, patch_size
    return x.reshape(batch, rows * columns, channels * patch_size**2)


def _check_unpatch(x: Any, patch_size: int, height: int, width: int) -> None:
    check_tensor("x", x)
    n = prod(grid(height, width, patch_size))
    if x.dim() != 3 or x.shape[1] != n or x.shape[2] % patch_size**2:
        raise ValueError(
            f"an image of {height} × {width} pixels has {n} patches, (batch, {n}, channels · "
            f"{patch_size}²); got a tensor of shape {tuple(x.shape)}"
        )


@at_the_door(_check_unpatch)
def unpatch(
    x: Float[Tensor, "batch n_patches pixels"], patch_size: int, height: int, width: int
) -> Float[Tensor, "batch c h w"]:
    """The images that these patches were cut from.

    Raises:
        ValueError: for patches that are not as many, or not as large, as the images'.
    """
    rows, columns = grid(height, width, patch_size)
    channels = x.shape[2] // patch_size**2
    x = x.reshape(len(x), rows, columns, channels, patch_size, patch_size).permute(0, 3, 1, 4, 2, 5)
    return x.reshape(len(x), channels, height, width)


def _check_square(positions: Any, rows: int, columns: int) -> None:
    check_tensor("positions", positions)
    check_numbers(rows=rows, columns=columns)
    n = len(positions) - 1 if positions.dim() == 2 else 0
    if n < 1 or isqrt(n) ** 2 != n:
        raise ValueError(
            f"positions are (1 + n, d_model), that of the class token and those of a square of n "
            f"patches; got a tensor of shape {tuple(positions.shape)}"
        )


@at_the_door(_check_square)
def interpolate_positions(
    positions: Float[Tensor, "n d_model"], rows: int, columns: int
) -> Float[Tensor, "n_new d_model"]:
    """Position vectors for another number of patches: seen as an image of d_model channels, and
    scaled like one (section 3.2).

    The class token's stays as it is. The old patches formed a square; scaling is bicubic, as in
    Hugging Face's code (in the authors' own it is linear).

    Raises:
        ValueError: for positions of no square of patches, or fewer than one row or column.
    """
    of_class, of_patches = positions[:1], positions[1:]
    side = round(len(of_patches) ** 0.5)
    image = of_patches.reshape(1, side, side, -1).permute(0, 3, 1, 2)
    scaled = F.interpolate(image, size=(rows, columns), mode="bicubic", align_corners=False)
    return torch.cat([of_class, scaled[0].flatten(1).T])
