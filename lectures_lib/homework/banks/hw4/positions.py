"""Question 4: positions for images of another size."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import normal, pick, sizes, whole
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

LARGER = "from a square to a larger square, and the class token keeps its position"
OBLONG = "from a square to a grid that is no square"
SMALLER = "to a grid with fewer rows or columns"

# As many patches as before, but in another shape: wider, and higher.
_WIDER, _HIGHER = ((4, 2, 8), (6, 4, 9)), ((4, 8, 2), (6, 9, 4))

# A number of patches and a larger one where a computer makes the first times their quotient a
# little less than the second.
_JUST_BELOW = ((11, 15), (11, 30), (13, 15), (13, 30))


def _position_cases(g: Generator) -> list[Case]:
    side, d_model, more, other = sizes(g, 4, 2, 6)
    grids = [
        (side, side + more, side + more),
        (side, side + more, side + other),
        *pick(g, _WIDER, 1),
        *pick(g, _HIGHER, 1),
    ]
    grids += [(side, side, side + more), (side, side + more, side)]  # one direction stays as it is
    grids += [(5, *pick(g, (2, 3, 4), 2)), (side, 1, other)]  # smaller in both; a single row
    d_models = [d_model] * (len(grids) - 1) + [1]
    side, many = pick(g, _JUST_BELOW, 1)[0]
    few = whole(g, 3, 9)
    grids.append((side, *pick(g, (many, few), 2)))
    d_models.append(2)
    return [
        Case(
            (normal(g, 1 + side**2, d_model), rows, columns),
            shows=(
                f"positions for {side} × {side} patches, d_model = {d_model}, wanted for {rows} × "
                f"{columns}"
            ),
            demands=(
                SMALLER if min(rows, columns) < side else LARGER if rows == columns else OBLONG,
            ),
        )
        for (side, rows, columns), d_model in zip(grids, d_models, strict=True)
    ]


def resize_positions(positions: Tensor, rows: int, columns: int) -> Tensor:
    """(1 + side², d_model) → (1 + rows · columns, d_model)."""
    return _resize(positions, rows, columns)


def _to_image(vectors):
    """(side², d_model) → (1, d_model, side, side)."""
    side = round(len(vectors) ** 0.5)
    return vectors.T.reshape(1, -1, side, side)


def _from_image(image):
    """(1, d_model, rows, columns) → (rows · columns, d_model)."""
    return image[0].flatten(1).T


def _resize(positions, rows, columns, to_image=_to_image, from_image=_from_image, **options):
    """Scaled like an image; the wrong answers have other ways there or back, or other options."""
    options = {"size": (rows, columns), "mode": "bilinear", "align_corners": False} | options
    return torch.cat([positions[:1], from_image(F.interpolate(to_image(positions[1:]), **options))])


def _as_a_sequence(positions, rows, columns):
    of_patches = F.interpolate(positions[1:].T[None], size=rows * columns, mode="linear")
    return torch.cat([positions[:1], of_patches[0].T])


def _all_as_a_sequence(positions, rows, columns):
    return F.interpolate(positions.T[None], size=1 + rows * columns, mode="linear")[0].T


def _class_token_dropped(positions, rows, columns):
    return resize_positions(positions, rows, columns)[1:]


def _class_token_last(positions, rows, columns):
    return resize_positions(positions, rows, columns).roll(-1, dims=0)


def _taken_from_the_end(positions, rows, columns):
    return resize_positions(positions.roll(1, dims=0), rows, columns)


def _class_token_from_the_end(positions, rows, columns):
    return resize_positions(positions.roll(1, dims=0), rows, columns).roll(-1, dims=0)


def _rows_and_columns_swapped(positions, rows, columns):
    return _resize(positions, rows, columns, size=(columns, rows))


def _by_column(positions, rows, columns):
    return _resize(positions, rows, columns, from_image=lambda image: _from_image(image.mT))


def _viewed_there(positions, rows, columns):
    def to_image(vectors):
        side = round(len(vectors) ** 0.5)
        return vectors.reshape(1, -1, side, side)

    return _resize(positions, rows, columns, to_image)


def _viewed_back(positions, rows, columns):
    return _resize(
        positions, rows, columns, from_image=lambda image: image.reshape(rows * columns, -1)
    )


def _viewed_there_and_back(positions, rows, columns):
    side = round((len(positions) - 1) ** 0.5)
    return _resize(
        positions,
        rows,
        columns,
        lambda v: v.reshape(1, -1, side, side),
        lambda image: image.reshape(rows * columns, -1),
    )


def _columns_first_there(positions, rows, columns):
    return _resize(positions, rows, columns, lambda vectors: _to_image(vectors).mT)


def _goes_on_straight(positions, rows, columns):
    """Beyond the outer middles the line through the last two goes on."""

    def stretched(x, new):
        at = (torch.arange(new) + 0.5) * len(x) / new - 0.5
        low = at.floor().long().clamp(0, len(x) - 2)
        return torch.lerp(x[low], x[low + 1], (at - low)[:, None, None])

    side = round((len(positions) - 1) ** 0.5)
    grid = stretched(
        stretched(positions[1:].reshape(side, side, -1), rows).transpose(0, 1), columns
    ).transpose(0, 1)
    return torch.cat([positions[:1], grid.flatten(0, 1)])


def _align_corners(positions, rows, columns):
    return _resize(positions, rows, columns, align_corners=True)


def _bicubic(positions, rows, columns):
    return _resize(positions, rows, columns, mode="bicubic")


def _nearest(positions, rows, columns):
    return _resize(positions, rows, columns, mode="nearest", align_corners=None)


def _antialias(positions, rows, columns):
    return _resize(positions, rows, columns, antialias=True)


def _by_a_factor(positions, rows, columns, **options):
    """The factor times the old size is rounded down."""
    side = round((len(positions) - 1) ** 0.5)
    factors = (rows / side, columns / side)
    return _resize(positions, rows, columns, size=None, scale_factor=factors, **options)


def _numbers_compared(positions, rows, columns):
    if len(positions) == 1 + rows * columns:
        return positions.clone()
    return resize_positions(positions, rows, columns)


def _cut_or_padded(positions, rows, columns):
    missing = 1 + rows * columns - len(positions)
    return torch.cat([positions, torch.zeros(max(missing, 0), positions.shape[1])])


_ONE_LINE = (
    "You stretch the positions as one long line. Then the end of a row is blended with the "
    "beginning of the next, at the other side of the image. Patches have neighbours above and "
    "below as well: make a (side, side) grid, and scale both directions."
)
_FACTOR = (
    "You give F.interpolate a factor, rows / side, and it rounds the factor times the old size "
    "down. For 15 rows out of 11 a computer gets 11 · (15 / 11) = 14.999…, and a row is missing. "
    "Name the size that is wanted instead: size=(rows, columns)."
)
_VIEWED = (
    "The shape is right, but the numbers of different vectors are mixed: F.interpolate wants (1, "
    "d_model, rows, columns), and a reshape does not move d_model to the front or back to the end. "
    "Reshape to (1, side, side, d_model), then permute; and the same on the way back."
)


def _class_token_zero(positions, rows, columns):
    resized = resize_positions(positions, rows, columns)
    return torch.cat([torch.zeros_like(resized[:1]), resized[1:]])


def _cut_where_smaller(positions, rows, columns):
    side = round((len(positions) - 1) ** 0.5)
    if rows > side or columns > side:
        return resize_positions(positions, rows, columns)
    grid = positions[1:].reshape(side, side, -1)[:rows, :columns]
    return torch.cat([positions[:1], grid.flatten(0, 1)])


def _repeated(positions, rows, columns):
    side = round((len(positions) - 1) ** 0.5)
    row, column = torch.arange(rows) % side, torch.arange(columns) % side
    grid = positions[1:].reshape(side, side, -1)[row][:, column]
    return torch.cat([positions[:1], grid.flatten(0, 1)])


def _class_token_in_the_grid(positions, rows, columns):
    """The first side² vectors are the grid."""
    return resize_positions(torch.cat([positions[:1], positions[:-1]]), rows, columns)


def _averaged(positions, rows, columns, everywhere=True):
    """Over the old patches that lie in a new one."""
    side = round((len(positions) - 1) ** 0.5)
    if everywhere or rows < side or columns < side:
        return _resize(positions, rows, columns, mode="area", align_corners=None)
    return resize_positions(positions, rows, columns)


def _one_direction_compared(positions, rows, columns, which="rows"):
    side = round((len(positions) - 1) ** 0.5)
    as_before = {"rows": rows, "columns": columns}[which] == side
    return positions.clone() if as_before else resize_positions(positions, rows, columns)


def _square_and_cut(positions, rows, columns):
    longer = max(rows, columns)
    return _resize(
        positions,
        rows,
        columns,
        from_image=lambda image: _from_image(image[:, :, :rows, :columns]),
        size=(longer, longer),
    )


_AVERAGED = (
    "You average over areas (adaptive_avg_pool2d, or mode='area'), at least where the grid "
    'shrinks. Blend neighbours instead, whatever the size: mode="bilinear".'
)
_ONE_DIRECTION = (
    "If one direction has as many patches as before, you return the positions as they were. The "
    "other one may have changed: compare rows *and* columns, or compare nothing, for scaling to "
    "the same size changes nothing."
)

POSITIONS = Question(
    name="hw4.resize_positions",
    title="A larger image",
    points=4,
    minutes=30,
    difficulty=3,
    chapter="11_vision_transformer#an-image-of-another-size",
    cases=_position_cases,
    reference=resize_positions,
    misconceptions=(
        Misconception("stretched_as_a_line", _ONE_LINE, _as_a_sequence),
        Misconception(
            "class_token_stretched_too",
            "You stretch all positions as one line, the class token's among them, which then "
            "bleeds into its neighbours. Its position is no place in the image: keep it as it is, "
            "and scale the others as a (side, side) grid.",
            _all_as_a_sequence,
        ),
        Misconception(
            "class_token_dropped",
            "The patches' positions are right; the class token's is lost. It is kept as it is and "
            "stands first: torch.cat([positions[:1], …]).",
            _class_token_dropped,
        ),
        Misconception(
            "class_token_last",
            "The positions are right, but the class token's stands at the end. It comes first.",
            _class_token_last,
        ),
        Misconception(
            "class_token_taken_from_the_end",
            "You take the last vector for the class token's. It is the first, positions[:1]; the "
            "patches' are positions[1:].",
            _class_token_from_the_end,
        ),
        Misconception(
            "class_token_taken_from_the_end",
            "You take the last vector for the class token's. It is the first, positions[:1]; the "
            "patches' are positions[1:].",
            _taken_from_the_end,
        ),
        Misconception(
            "rows_and_columns_swapped",
            "Right for square images. For others you scale to (columns, rows): an image is height "
            "first, size=(rows, columns).",
            _rows_and_columns_swapped,
        ),
        Misconception(
            "patches_by_column",
            "The grid is scaled rightly, but you read it out down the columns. Patches are "
            "numbered row by row.",
            _by_column,
        ),
        Misconception(
            "picture_transposed",
            "You write the old positions into the picture column by column, so it is the transpose "
            "of what it should be. Patches are numbered row by row: after reshape(1, side, side, "
            "d_model) comes permute(0, 3, 1, 2).",
            _columns_first_there,
        ),
        Misconception(
            "goes_on_in_a_straight_line",
            "Between the middles of the old patches you are right. Beyond the first and the last, "
            "at the edges of the image, you go on in a straight line; there the outer number "
            "itself is held.",
            _goes_on_straight,
        ),
        Misconception("viewed_instead_of_permuted", _VIEWED, _viewed_there),
        Misconception("viewed_instead_of_permuted", _VIEWED, _viewed_back),
        Misconception("viewed_instead_of_permuted", _VIEWED, _viewed_there_and_back),
        Misconception(
            "corners_aligned",
            "You place the middle of the first patch on the middle of the first, and of the last "
            "on the last (align_corners=True). It is the *edges* of the images that agree here: in "
            "the example, 0, 1, 3, 4 and not 0, 1.33, 2.67, 4.",
            _align_corners,
        ),
        Misconception(
            "bicubic",
            "You scale bicubically, which looks at four neighbours in each direction. The chapter "
            'does so; here it is mode="bilinear".',
            _bicubic,
        ),
        Misconception(
            "nearest",
            "You copy the nearest old vector, as F.interpolate does if no mode is named. Blend the "
            'neighbours: mode="bilinear".',
            _nearest,
        ),
        Misconception(
            "antialiased",
            "Right where the grid grows. Where it shrinks you average over more than the two "
            "neighbours (antialias=True); here it is off.",
            _antialias,
        ),
        Misconception(
            "only_the_number_compared",
            "If there are as many patches as before, you return the positions as they were. But 16 "
            "patches may be 4 × 4 or 2 × 8: compare rows and columns, not their product.",
            _numbers_compared,
        ),
        Misconception(
            "filled_with_zeros",
            "You leave the old positions where they stood and fill up with zeros. The second row "
            "of the larger image does not begin where the second row of the smaller one did: scale "
            "the grid.",
            _cut_or_padded,
        ),
        Misconception(
            "class_token_s_position_set_to_0",
            "The patches' positions are right; the class token's is 0. It was learned as well, and "
            "is kept as it is: positions[:1].",
            _class_token_zero,
        ),
        Misconception(
            "cut_where_smaller",
            "Where the grid shrinks, you cut a corner out of the old one. The image is still the "
            "whole image, of fewer patches: stretch in both directions, also to less.",
            _cut_where_smaller,
        ),
        Misconception(
            "repeated",
            "You repeat the old positions, so that places far apart share a vector. Stretch the "
            "grid as one stretches an image: F.interpolate.",
            _repeated,
        ),
        Misconception(
            "class_token_in_the_grid",
            "The first row is right, but your grid begins with the class token's position too, and "
            "lacks the last patch's. The patches' positions are positions[1:].",
            _class_token_in_the_grid,
        ),
        Misconception("averaged_over_areas", _AVERAGED, _averaged),
        Misconception("averaged_over_areas", _AVERAGED, partial(_averaged, everywhere=False)),
        *(
            Misconception(
                "one_direction_compared",
                _ONE_DIRECTION,
                partial(_one_direction_compared, which=which),
            )
            for which in ("rows", "columns")
        ),
        Misconception(
            "square_cut_to_size",
            "Right for square images. For others you scale to a square and cut off what is too "
            "much. The whole old grid becomes the whole new one, each direction with a scale of "
            "its own: size=(rows, columns).",
            _square_and_cut,
        ),
        Misconception("scaled_by_a_factor", _FACTOR, _by_a_factor),
        Misconception(
            "scaled_by_a_factor", _FACTOR, partial(_by_a_factor, recompute_scale_factor=True)
        ),
    ),
    demands=(Demand(LARGER, 2), Demand(OBLONG, 1), Demand(SMALLER, 1)),
)
