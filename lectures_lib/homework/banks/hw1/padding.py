"""Question 4: the mask that hides padding, on either side."""

import math

import torch
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import sizes
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

RIGHT = "padding on the right is hidden, for every query and head alike"
LEFT = "so is padding on the left"


def _padding_cases(g: Generator) -> list[Case]:
    cases = []
    for side, full in (("right", True), ("left", True), ("right", False), ("left", False)):
        batch, n = sizes(g, 2, 3, 8)
        n = max(n, batch + 2 - full)
        # All different, and either one sequence fills its row or none does: n is not always the
        # greatest length.
        lengths = (
            (torch.randperm(n - 1, generator=g) + 1)[:batch]
            if full
            else (torch.randperm(n - 2, generator=g) + 1)[:batch]
        )
        lengths[int(torch.randint(batch, (), generator=g))] = n if full else n - 1
        args = (lengths, n) if side == "right" and full else (lengths, n, side)
        shows = f"lengths {lengths.tolist()}, padded to {n} on the {side}"
        cases.append(Case(args, shows=shows, demands=(RIGHT if side == "right" else LEFT,)))
    shows = "lengths [2], padded to 5 on the left"
    cases.append(Case((torch.tensor([2]), 5, "left"), shows=shows, demands=(LEFT,)))
    cases.append(
        Case(
            (torch.tensor([1, 1]), 1, "left"),
            shows="lengths [1, 1], padded to 1 on the left: no padding",
            demands=(LEFT,),
        )
    )
    return cases


def padding_mask(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    """(batch, 1, 1, n), boolean: True for the lengths[b] keys that are words, False for padding."""
    positions = torch.arange(n)
    real = positions < lengths[:, None] if side == "right" else positions >= n - lengths[:, None]
    return real[:, None, None, :]


def _padding_inverted(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return ~padding_mask(lengths, n, side)


def _padding_longer(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return padding_mask(lengths + 1, n, side)


def _padding_shorter(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return padding_mask(lengths - 1, n, side)


def _padding_left_shorter(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return padding_mask(lengths - int(side == "left"), n, side)


def _padding_right_longer(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return padding_mask(lengths + int(side == "right"), n, side)


def _padding_left_longer(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return padding_mask(lengths + int(side == "left"), n, side)


def _padding_from_1(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return padding_mask(lengths - 1 if side == "right" else lengths + 1, n, side)


def _padding_side_ignored(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return padding_mask(lengths, n)


def _padding_first_n_minus_length(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return padding_mask(lengths, n) if side == "right" else ~padding_mask(lengths, n, side)


def _padding_from_length_on(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return padding_mask(lengths, n) if side == "right" else ~padding_mask(lengths, n)


def _padding_sides_exchanged(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return padding_mask(lengths, n, "left" if side == "right" else "right")


def _padding_batch_flipped(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return padding_mask(lengths if side == "right" else lengths.flip(0), n)


def _padding_flipped_both_ways(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return padding_mask(lengths if side == "right" else lengths.flip(0), n, side)


def _padding_counted_from_the_longest(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return padding_mask(lengths if side == "right" else n - lengths.max() + lengths, n, side)


def _padding_to_the_longest(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return padding_mask(lengths, int(lengths.max()), side)


def _padding_queries(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return padding_mask(lengths, n, side).transpose(-2, -1)


def _padding_both(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    keys = padding_mask(lengths, n, side)
    return keys & keys.transpose(-2, -1)


def _padding_without_heads(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return padding_mask(lengths, n, side)[:, 0]


def _padding_two_dimensions(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return padding_mask(lengths, n, side)[:, 0, 0]


def _padding_additive(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    mask = padding_mask(lengths, n, side)
    return torch.zeros(mask.shape).masked_fill(~mask, -math.inf)


_BATCH = (
    "For padding on the left, your mask turns the batch over: row b shows the words of another "
    "sequence. It is the keys that must be turned over, the last dimension alone: flip(-1)."
)


def _padding_of_numbers(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return padding_mask(lengths, n, side).float()


def _padding_for_each_query(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return padding_mask(lengths, n, side).repeat(1, 1, n, 1)


def _padding_cut_at_minus_zero(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return padding_mask(lengths.where(lengths < n, 0) if side == "right" else lengths, n, side)


def _padding_rolled_alike(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    """On the left, all rows are moved as far as the first."""
    right = padding_mask(lengths, n)
    return right if side == "right" else right.roll(n - int(lengths[0]), dims=-1)


def _padding_left_by_default(lengths: Tensor, n: int, side: str = "left") -> Tensor:
    return padding_mask(lengths, n, side)


_ONE_TOO_MANY = (
    "Your mask lets one padding token through. A sequence of length 3 has the words 0, 1, 2: "
    "compare with <, not with <=."
)

PADDING = Question(
    name="hw1.padding_mask",
    title="Not looking at padding",
    points=2,
    minutes=15,
    difficulty=1,
    chapter="02_self_attention#masks-what-must-not-be-seen",
    cases=_padding_cases,
    reference=padding_mask,
    demands=(Demand(RIGHT, 1), Demand(LEFT, 1)),
    misconceptions=(
        Misconception(
            "inverted",
            "Your mask says True on the padding. In this course True means *may attend*: the words "
            "are True, the padding is False.",
            _padding_inverted,
        ),
        Misconception(
            "one_too_many",
            _ONE_TOO_MANY,
            _padding_longer,
        ),
        Misconception("one_too_many", _ONE_TOO_MANY, _padding_right_longer),
        Misconception(
            "one_too_many_on_the_left",
            "With padding on the left, your mask lets one padding token through. The first n - "
            "length places are padding, numbers 0 … n - length - 1: the words start at n - length.",
            _padding_left_longer,
        ),
        Misconception(
            "places_counted_from_1",
            "You number the places from 1: with padding on the right the last word is hidden, on "
            "the left a padding token shows. The first place has the number 0: torch.arange(n).",
            _padding_from_1,
        ),
        Misconception(
            "one_too_few",
            "Your mask hides one word of each sequence. A sequence of length 3 shows three keys; "
            "count them.",
            _padding_shorter,
        ),
        Misconception(
            "one_too_few_on_the_left",
            "With padding on the left, your mask hides the first word. The first n - length places "
            "are padding, numbers 0 … n - length - 1, so the words start *at* n - length: compare "
            "with >=.",
            _padding_left_shorter,
        ),
        Misconception(
            "side_ignored",
            "Your mask is right for padding on the right, but padding on the left gives the same. "
            "With side = 'left' the words are the *last* lengths[b] keys.",
            _padding_side_ignored,
        ),
        Misconception(
            "left_inverted",
            "With padding on the left, your mask shows the padding and hides the words: the first "
            "n - length keys are the padding.",
            _padding_first_n_minus_length,
        ),
        Misconception(
            "left_from_length_on",
            "With padding on the left, your mask shows the keys from number lengths[b] on. Those "
            "are the last n - lengths[b]; the words are the last lengths[b] keys, so they begin at "
            "n - lengths[b].",
            _padding_from_length_on,
        ),
        Misconception(
            "sides_exchanged",
            "Your two sides have changed places: side says where the *padding* is. With side = "
            "'right' the words stand on the left.",
            _padding_sides_exchanged,
        ),
        Misconception("batch_turned_over", _BATCH, _padding_batch_flipped),
        Misconception("batch_turned_over", _BATCH, _padding_flipped_both_ways),
        Misconception(
            "padding_counted_from_the_longest",
            "With padding on the left, you count the padding from the longest sequence of the "
            "batch, which need not fill its row. There are n places: n - lengths[b] of them are "
            "padding.",
            _padding_counted_from_the_longest,
        ),
        Misconception(
            "padded_to_the_longest",
            "Your mask has as many keys as the longest of these sequences has words; n is the "
            "padded length, and it may be larger. Use n.",
            _padding_to_the_longest,
        ),
        Misconception(
            "hides_queries",
            "Your mask hides queries, not keys: its shape is (batch, 1, n, 1). Nobody may look "
            "*at* padding, so the sequence must run along the last dimension, the keys: (batch, 1, "
            "1, n).",
            _padding_queries,
        ),
        Misconception(
            "hides_queries_too",
            "Your mask also hides the padding's own rows, shape (batch, 1, n, n). What a padding "
            "token asks does no harm, since nobody looks at it, and a row with nothing to see is "
            "asking for NaN: mask the keys only, (batch, 1, 1, n).",
            _padding_both,
        ),
        Misconception(
            "no_dimension_for_heads",
            "Your mask has three dimensions, (batch, 1, n). Broadcasting lines shapes up from the "
            "right, so your batch would meet the heads: add a dimension for them, (batch, 1, 1, "
            "n).",
            _padding_without_heads,
        ),
        Misconception(
            "no_dimensions_for_heads_and_queries",
            "Your mask has two dimensions, (batch, n). Broadcasting lines shapes up from the "
            "right, so your batch would meet the queries: add two dimensions of size 1 between "
            "them, (batch, 1, 1, n).",
            _padding_two_dimensions,
        ),
        Misconception(
            "additive",
            "Your mask holds 0 and -∞, to be added to the scores. Here a mask is boolean, True = "
            "may attend: return the comparison itself.",
            _padding_additive,
        ),
        Misconception(
            "ones_and_zeros",
            "Your mask holds the numbers 1 and 0 in the right places. A mask is boolean here: "
            "masked_fill wants one, and ~ does not negate numbers. Return the comparison itself.",
            _padding_of_numbers,
        ),
        Misconception(
            "repeated_for_each_query",
            "Your mask is right but has a row for each query, (batch, 1, n, n). All of these rows "
            "are the same: keep one, (batch, 1, 1, n), which broadcasts over any number of "
            "queries.",
            _padding_for_each_query,
        ),
        Misconception(
            "all_rows_moved_alike",
            "With padding on the left, you move all rows of the mask by what the *first* sequence "
            "lacks. Each row has padding of its own: the words of sequence b begin at n - "
            "lengths[b].",
            _padding_rolled_alike,
        ),
        Misconception(
            "left_by_default",
            "Right where `side` is given. Where it is not, padding is on the right: leave the "
            "first line of the function as it was, and ask whether side is 'left'.",
            _padding_left_by_default,
        ),
        Misconception(
            "cut_at_minus_zero",
            "With padding on the right, a sequence that fills its row is hidden as a whole. There "
            "n - length is 0, and in Python -0 is 0: the slice [-0:] begins at the beginning. "
            "Count from the front: [length:].",
            _padding_cut_at_minus_zero,
        ),
    ),
)
