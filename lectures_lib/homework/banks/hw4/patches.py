"""Question 1: cutting an image into patches."""

import math

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import pick, sizes
from lectures_lib.homework.banks.mistakes import squeezing
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

GREY = "a square grey image is cut into patches, row by row"
COLOUR = "so are images with channels, of any height and width, and one that is a single patch"


def _patch_cases(g: Generator) -> list[Case]:
    # 2² is 2 · 2, and 4² is 2⁴; two sizes, so that no fixed one is right
    p, other = pick(g, (3, 5), 2)
    rows, columns, channels = [size for size in sizes(g, 4, 2, 5) if size != p]
    batch, side = sizes(g, 2, 2, 4)
    cases = []
    for patch_size, shape, kind in (
        (other, (batch, 1, side * other, side * other), "grey and square"),
        (
            p,
            (batch, channels, rows * p, columns * p),
            f"{channels} channels, {rows} × {columns} patches",
        ),
        (p, (1, 1, p, p), "a single grey image that is one patch"),
    ):
        images = torch.arange(math.prod(shape), dtype=torch.float32).view(shape)
        cases.append(
            Case(
                (images, patch_size),
                shows=f"images of shape {shape}, counting 0, 1, 2, … ({kind}), {patch_size = }",
                demands=(GREY if kind == "grey and square" else COLOUR,),
            )
        )
    return cases


def patches(images: Tensor, patch_size: int) -> Tensor:
    """(batch, channels, height, width) → (batch, n, channels · patch_size²)."""
    return _rearranged(images, patch_size, (0, 2, 4, 1, 3, 5)).flatten(3).flatten(1, 2)


def _rearranged(images, p, order, interleaved=False):
    """The image cut into six dimensions (batch, channels, rows, p, columns, p), and these put into
    another order.
    """
    batch, channels, height, width = images.shape
    cut = (
        (batch, channels, p, height // p, p, width // p)
        if interleaved
        else (batch, channels, height // p, p, width // p, p)
    )
    return images.reshape(cut).permute(order)


def _patches_view(images, patch_size):
    return images.reshape(len(images), -1, images.shape[1] * patch_size**2)


def _patches_channels_not_moved(images, patch_size):
    blocks = images.unfold(2, patch_size, patch_size).unfold(3, patch_size, patch_size)
    return blocks.reshape(len(images), -1, images.shape[1] * patch_size**2)


def _patches_images_mixed(images, patch_size):
    """The patches' rows and columns stand before the batch when everything is put in line."""
    batch, channels = images.shape[:2]
    return _rearranged(images, patch_size, (2, 4, 0, 1, 3, 5)).reshape(
        batch, -1, channels * patch_size**2
    )


def _patches_columns_first(images, patch_size):
    return _rearranged(images, patch_size, (0, 4, 2, 1, 3, 5)).flatten(3).flatten(1, 2)


def _patches_channels_last(images, patch_size):
    return _rearranged(images, patch_size, (0, 2, 4, 3, 5, 1)).flatten(3).flatten(1, 2)


def _patches_pixels_by_column(images, patch_size):
    return _rearranged(images, patch_size, (0, 2, 4, 1, 5, 3)).flatten(3).flatten(1, 2)


def _patches_interleaved(images, patch_size):
    return (
        _rearranged(images, patch_size, (0, 3, 5, 1, 2, 4), interleaved=True)
        .flatten(3)
        .flatten(1, 2)
    )


def _patches_per_channel(images, patch_size):
    found = F.unfold(images.flatten(0, 1)[:, None], patch_size, stride=patch_size).mT
    return found.reshape(len(images), -1, patch_size**2)


def _patches_overlapping(images, patch_size):
    return F.unfold(images, patch_size).mT


def _patches_unfold_untransposed(images, patch_size):
    return F.unfold(images, patch_size, stride=patch_size)


def _patches_unfold(images, patch_size):
    return F.unfold(images, patch_size, stride=patch_size).mT


def _patches_not_flattened(images, patch_size):
    return _rearranged(images, patch_size, (0, 2, 4, 1, 3, 5)).flatten(1, 2)


def _patches_grid_kept(images, patch_size):
    return _rearranged(images, patch_size, (0, 2, 4, 1, 3, 5)).flatten(3)


def _patches_square(images, patch_size):
    batch, channels, height, _ = images.shape
    side = height // patch_size
    x = images.reshape(batch, channels, side, patch_size, side, patch_size).permute(
        0, 2, 4, 1, 3, 5
    )
    return x.reshape(batch, side**2, -1)


def _patches_square_in_slices(images, patch_size):
    side = images.shape[2] // patch_size
    places = [slice(i * patch_size, (i + 1) * patch_size) for i in range(side)]
    return torch.stack(
        [images[:, :, row, column].flatten(1) for row in places for column in places], dim=1
    )


def _patches_sides_exchanged(images, patch_size):
    batch, channels, height, width = images.shape
    cut = (batch, channels, width // patch_size, patch_size, height // patch_size, patch_size)
    return images.reshape(cut).permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)


def _patches_channels_between(images, patch_size):
    n = (images.shape[2] // patch_size) * (images.shape[3] // patch_size)
    return _rearranged(images, patch_size, (0, 2, 1, 4, 3, 5)).reshape(len(images), n, -1)


def _patches_row_by_row(images, patch_size):
    return _rearranged(images, patch_size, (0, 2, 4, 3, 1, 5)).flatten(3).flatten(1, 2)


PATCHES = Question(
    name="hw4.patches",
    title="Cutting into patches",
    points=3,
    minutes=20,
    difficulty=2,
    chapter="11_vision_transformer#sixteen-pixels-four-words",
    cases=_patch_cases,
    reference=patches,
    forbidden=("F.unfold",),
    trained=True,
    misconceptions=(
        Misconception(
            "reshaped_only",
            "The shape is right, the pixels are not: a reshape at once hands the first patch the "
            "first pixels in memory, which are whole rows of the image. Cut both sides first, "
            "(batch, channels, rows, p, columns, p); then permute, and only then flatten.",
            _patches_view,
        ),
        Misconception(
            "channels_not_moved",
            "Right for grey images. With several channels your last reshape runs over (channels, "
            "rows, columns, p, p) as it lies in memory, so that a vector holds several patches of "
            "one channel. Move the channels behind rows and columns before you flatten.",
            _patches_channels_not_moved,
        ),
        Misconception(
            "images_mixed",
            "Right for a single image. In a batch, each of your sequences holds patches of several "
            "images: rows and columns stand before the batch when you flatten. The batch stays the "
            "first dimension: permute(0, 2, 4, 1, 3, 5).",
            _patches_images_mixed,
        ),
        Misconception(
            "patches_by_column",
            "You number the patches down the columns. They are read like text: along the first row "
            "of patches, then along the second.",
            _patches_columns_first,
        ),
        Misconception(
            "channels_last",
            "Right for grey images. With colours you write the channels of each pixel side by "
            "side. Here the whole first channel of the patch comes first, then the second. For a "
            "model of one's own either will do; a matrix of a trained model fits only one.",
            _patches_channels_last,
        ),
        Misconception(
            "pixels_by_column",
            "Inside a patch you write the pixels column by column: the two dimensions of size "
            "patch_size have changed places. Each patch is read row by row.",
            _patches_pixels_by_column,
        ),
        Misconception(
            "interleaved",
            "Your first patch takes one pixel in every few, from all over the image: you cut the "
            "height as (patch_size, rows). Neighbours stay together if the *inner* size is "
            "patch_size: (rows, patch_size).",
            _patches_interleaved,
        ),
        Misconception(
            "every_channel_apart",
            "You cut each channel by itself, and have channels times too many patches. A patch "
            "goes through all channels: they lie in one vector.",
            _patches_per_channel,
        ),
        Misconception(
            "overlapping",
            "Your patches overlap: the window moves by one pixel. It moves by patch_size, so that "
            "each pixel belongs to exactly one patch.",
            _patches_overlapping,
        ),
        Misconception(
            "pixels_before_patches",
            "Your result is (batch, pixels, n): the patches stand in columns, as F.unfold leaves "
            "them. Vectors are rows here; swap the last two dimensions.",
            _patches_unfold_untransposed,
        ),
        Misconception(
            "patches_not_flattened",
            "The patches are cut rightly, but each is still a small image, (channels, p, p). Make "
            "one vector of it: flatten the last three dimensions.",
            _patches_not_flattened,
        ),
        Misconception(
            "grid_not_flattened",
            "The patches are right, but they still stand in their rows and columns. A Transformer "
            "reads a sequence: flatten the two dimensions into one.",
            _patches_grid_kept,
        ),
        Misconception(
            "height_and_width_exchanged",
            "Right for square images only: you cut the height as (columns, p) and the width as "
            "(rows, p). The images are (batch, channels, height, width), and it is the height that "
            "makes the rows.",
            _patches_sides_exchanged,
        ),
        Misconception(
            "channels_between_rows_and_columns",
            "Right for grey images. With colours, your channels stand between the rows and the "
            "columns of patches when you flatten. Both come before the channels: permute(0, 2, 4, "
            "1, 3, 5).",
            _patches_channels_between,
        ),
        Misconception(
            "channels_row_by_row",
            "Right for grey images. With colours you write the first row of every channel, then "
            "the second row of every channel. The whole first channel of the patch comes first: "
            "channels before rows, permute(0, 2, 4, 1, 3, 5).",
            _patches_row_by_row,
        ),
        *(
            Misconception(
                "square_assumed",
                "Right for square images only: you use as many columns as there are rows. Take the "
                "number of columns from the width.",
                answer,
            )
            for answer in (_patches_square, _patches_square_in_slices)
        ),
        squeezing(patches),
        Misconception(
            "unfold_called",
            "The patches are right, and F.unfold has cut them. That is what this question asks you "
            "to build: use reshape and permute, or the tensor's own .unfold.",
            _patches_unfold,
        ),
    ),
    demands=(Demand(GREY, 1.5), Demand(COLOUR, 1.5)),
)
