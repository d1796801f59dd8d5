"""Question 2: the patch embedding as a convolution."""

from functools import partial

import torch.nn.functional as F
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import normal, pick, sizes
from lectures_lib.homework.banks.mistakes import squeezing
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

GREY = "grey images of any height and width"
COLOURED = "images with channels, each with its part of a row of the weight"
SINGLE = "one image that is a single patch keeps its dimensions"


def _convolution_cases(g: Generator) -> list[Case]:
    cases = []
    # no fixed size of patches is right
    for p, kind in zip(pick(g, (2, 3, 4, 5), 3), ("grey", "coloured", "alone"), strict=True):
        rows, columns, channels = [size for size in sizes(g, 4, 2, 5) if size != p]
        batch, extra = sizes(g, 2, 2, 4)
        channels = channels if kind == "coloured" else 1
        batch, rows, columns = (1, 1, 1) if kind == "alone" else (batch, rows, columns)
        d_model = 1 if kind == "alone" else rows * columns + extra
        images, weight, bias = (
            normal(g, batch, channels, rows * p, columns * p),
            normal(g, d_model, channels * p * p),
            normal(g, d_model),
        )
        shows = f"images of shape {tuple(images.shape)}, patch_size = {p}, d_model = {d_model}"
        demand = {"grey": GREY, "coloured": COLOURED, "alone": SINGLE}[kind]
        cases.append(Case((images, weight, bias, p), shows=shows, demands=(demand,)))
    return cases


def embed_by_convolution(images: Tensor, weight: Tensor, bias: Tensor, patch_size: int) -> Tensor:
    """(batch, channels, height, width) → (batch, n, d_model)."""
    return _embed(images, weight, bias, patch_size)


def _kernel(images, weight, p):
    return weight.reshape(-1, images.shape[1], p, p)


def _embed(images, weight, bias, p, kernel=_kernel, finish=lambda x: x.flatten(2).mT, **options):
    """The convolution; the wrong answers have another kernel, other options, or another end."""
    return finish(F.conv2d(images, kernel(images, weight, p), bias, **{"stride": p} | options))


def _stride_one(images, weight, bias, patch_size):
    return _embed(images, weight, bias, patch_size, stride=1)


def _padded(images, weight, bias, patch_size):
    return _embed(images, weight, bias, patch_size, padding=patch_size // 2)


def _no_bias(images, weight, bias, patch_size):
    return _embed(images, weight, None, patch_size)


def _bias_twice(images, weight, bias, patch_size):
    return _embed(images, weight, 2 * bias, patch_size)


def _channels_last(images, weight, bias, patch_size):
    def kernel(images, weight, p):
        return weight.reshape(len(weight), p, p, -1).permute(0, 3, 1, 2)

    return _embed(images, weight, bias, patch_size, kernel)


def _kernel_transposed(images, weight, bias, patch_size):
    return _embed(images, weight, bias, patch_size, lambda *args: _kernel(*args).mT)


def _kernel_flipped(images, weight, bias, patch_size):
    return _embed(images, weight, bias, patch_size, lambda *args: _kernel(*args).flip(-1, -2))


def _matrix_transposed(images, weight, bias, patch_size):
    return _embed(
        images,
        weight,
        bias,
        patch_size,
        lambda images, weight, p: weight.T.reshape(len(weight), -1, p, p),
    )


def _not_transposed(images, weight, bias, patch_size):
    return _embed(images, weight, bias, patch_size, finish=lambda x: x.flatten(2))


def _reshaped(images, weight, bias, patch_size):
    return _embed(
        images, weight, bias, patch_size, finish=lambda x: x.reshape(len(x), -1, x.shape[1])
    )


def _by_column(images, weight, bias, patch_size):
    return _embed(images, weight, bias, patch_size, finish=lambda x: x.mT.flatten(2).mT)


def _not_flattened(images, weight, bias, patch_size):
    return _embed(images, weight, bias, patch_size, finish=lambda x: x)


def _no_convolution(images, weight, bias, patch_size):
    return F.linear(F.unfold(images, patch_size, stride=patch_size).mT, weight, bias)


def _grid_kept(images, weight, bias, patch_size):
    return _embed(images, weight, bias, patch_size, finish=lambda x: x.permute(0, 2, 3, 1))


def _padded_by(images, weight, bias, patch_size, by=1):
    return _embed(images, weight, bias, patch_size, padding=by or patch_size)


_PADDED = (
    "You pad the image, as convolutional networks do to keep its size. Then the first patch begins "
    "outside the image, and no place fits a patch. Patches fill the image exactly: no padding."
)

CONVOLUTION = Question(
    name="hw4.embed_by_convolution",
    title="The same as a convolution",
    points=3,
    minutes=20,
    difficulty=2,
    chapter="11_vision_transformer#a-patch-becomes-a-vector",
    cases=_convolution_cases,
    reference=embed_by_convolution,
    required=("F.conv2d", "torch.conv2d"),
    trained=True,
    misconceptions=(
        Misconception(
            "stride_1",
            "Your kernel moves by one pixel, which is the default, so that there are far too many "
            "places, and they overlap. Patches lie side by side: stride=patch_size.",
            _stride_one,
        ),
        Misconception(
            "padded",
            _PADDED,
            _padded,
        ),
        Misconception(
            "bias_forgotten",
            "The products are right, the bias is missing: a linear layer adds it to each vector, "
            "and so does a convolution if you hand it on.",
            _no_bias,
        ),
        Misconception(
            "bias_twice",
            "You add the bias twice: the convolution adds what it gets as bias, and nothing is to "
            "be added afterwards.",
            _bias_twice,
        ),
        Misconception(
            "kernel_channels_last",
            "Right for grey images. You read the rows of the matrix as (p, p, channels); they are "
            "written channel by channel, so that the kernel is weight.reshape(d_model, channels, "
            "p, p).",
            _channels_last,
        ),
        Misconception(
            "kernel_transposed",
            "In each of your kernels height and width have changed places. Rows of pixels come "
            "first, in the matrix and in the kernel: a reshape is enough, with nothing to "
            "transpose.",
            _kernel_transposed,
        ),
        Misconception(
            "kernel_flipped",
            "You turn the kernels round, as the convolution of mathematics does. What deep "
            "learning calls by that name does not: it lays the kernel on the image as it is, "
            "multiplies and adds.",
            _kernel_flipped,
        ),
        Misconception(
            "matrix_transposed",
            "You transpose the matrix before you cut it up, so that each kernel gets numbers of "
            "many rows. In `nn.Linear` one *row* of the matrix makes one number of the result: one "
            "row is one kernel.",
            _matrix_transposed,
        ),
        Misconception(
            "features_before_patches",
            "Your result is (batch, d_model, n). A convolution puts its channels before the "
            "places; a Transformer wants one row for each patch: transpose the last two "
            "dimensions.",
            _not_transposed,
        ),
        Misconception(
            "reshaped_instead_of_transposed",
            "The shape is right, the numbers are mixed: reshape keeps the order in memory, which "
            "is feature after feature. Flatten to (batch, d_model, n), then transpose.",
            _reshaped,
        ),
        Misconception(
            "patches_by_column",
            "Your vectors are right, but they come down the columns of the image. Patches are read "
            "like text, row by row; flatten does so by itself.",
            _by_column,
        ),
        Misconception(
            "map_not_flattened",
            "Your result is still a picture, (batch, d_model, rows, columns). Make a sequence of "
            "it, (batch, n, d_model): flatten rows and columns, then transpose.",
            _not_flattened,
        ),
        Misconception(
            "grid_not_flattened",
            "The vectors are right, but they still stand in rows and columns. A Transformer reads "
            "a sequence: flatten the two into one.",
            _grid_kept,
        ),
        squeezing(embed_by_convolution),
        Misconception(
            "no_convolution",
            "The vectors are right, but no convolution has made them. The point of this question "
            "is that one call of F.conv2d does: make its kernel of the matrix.",
            _no_convolution,
        ),
        Misconception("padded", _PADDED, partial(_padded_by, by=1)),
        Misconception("padded", _PADDED, partial(_padded_by, by=0)),
    ),
    demands=(Demand(GREY, 1.5), Demand(COLOURED, 1), Demand(SINGLE, 0.5)),
)
