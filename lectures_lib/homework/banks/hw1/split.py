"""Question 5: cutting vectors into heads."""

import math

import torch
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import sizes
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

BATCH = "the vectors of a batch of sentences are cut into heads"
MORE = "so are vectors with any dimensions in front"


def _split_cases(g: Generator) -> list[Case]:
    cases = []
    for leading in (1, 2):
        n_heads, d_head, n, *batch = sizes(g, 3 + leading, 2, 6 + leading)
        x = torch.arange(math.prod(batch) * n * n_heads * d_head, dtype=torch.float32).view(
            *batch, n, n_heads * d_head
        )
        cases.append(
            Case(
                (x, n_heads),
                shows=f"x of shape {tuple(x.shape)}, counting 0, 1, 2, …, cut into {n_heads} heads",
                demands=(BATCH if leading == 1 else MORE,),
            )
        )
    width = n_heads * d_head
    for heads, shape in (
        (1, (2, n, width)),
        (width, (2, n, width)),
        (n_heads, (1, 1, width)),
        (n_heads, (2, 1, n, width)),
    ):
        x = torch.arange(math.prod(shape), dtype=torch.float32).view(shape)
        cases.append(
            Case(
                (x, heads),
                shows=(
                    f"x of shape {shape}, counting 0, 1, 2, …, cut into {heads} heads of "
                    f"{width // heads}"
                ),
                demands=(BATCH if len(shape) == 3 else MORE,),
            )
        )
    return cases


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """(…, n, width) → (…, n_heads, n, width / n_heads)."""
    return x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)


def _split_view(x: Tensor, n_heads: int) -> Tensor:
    return x.reshape(*x.shape[:-2], n_heads, x.shape[-2], -1)


def _split_view_of_three(x: Tensor, n_heads: int) -> Tensor:
    batch, n, width = x.shape
    return x.reshape(batch, n_heads, n, width // n_heads)


def _split_interleaved(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (-1, n_heads)).movedim(-1, -3)


def _split_untransposed(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (n_heads, -1))


def _split_last_two(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (n_heads, -1)).transpose(-2, -1)


def _split_from_the_front(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def _split_by_width(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (-1, n_heads)).transpose(-3, -2)


def _split_keys_transposed(x: Tensor, n_heads: int) -> Tensor:
    return split_heads(x, n_heads).transpose(-2, -1)


def _split_stacked_at_1(x: Tensor, n_heads: int) -> Tensor:
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


def _split_stacked_at_0(x: Tensor, n_heads: int) -> Tensor:
    return torch.stack(x.chunk(n_heads, dim=-1))


def _split_list(x: Tensor, n_heads: int) -> list[Tensor]:
    return list(x.chunk(n_heads, dim=-1))


def _split_three_dimensions(x: Tensor, n_heads: int) -> Tensor:
    batch, n, width = x.shape
    return x.view(batch, n, n_heads, width // n_heads).transpose(1, 2)


def _split_second_axis_squeezed(x: Tensor, n_heads: int) -> Tensor:
    """Of four dimensions, the second is lost where its size is 1."""
    heads = split_heads(x, n_heads)
    return heads.squeeze(1) if x.dim() == 4 else heads


SPLIT = Question(
    name="hw1.split_heads",
    title="Cutting vectors into heads",
    points=2,
    minutes=15,
    difficulty=2,
    chapter="03_multi_head_attention#the-trap-view-without-transpose",
    cases=_split_cases,
    reference=split_heads,
    trained=True,
    misconceptions=(
        Misconception(
            "view_without_transpose",
            "The shape is right but the numbers are mixed: you viewed x as (…, n_heads, n, d_head) "
            "at once, which hands whole *positions* to a head. View only cuts, (…, n, n_heads, "
            "d_head); then transpose n and n_heads.",
            _split_view,
        ),
        Misconception(
            "view_without_transpose",
            "The shape is right but the numbers are mixed: you viewed x as (…, n_heads, n, d_head) "
            "at once, which hands whole *positions* to a head. View only cuts, (…, n, n_heads, "
            "d_head); then transpose n and n_heads.",
            _split_view_of_three,
        ),
        Misconception(
            "interleaved",
            "Your heads are interleaved: head 0 gets every n_heads-th number. Head 0 owns the "
            "first d_head numbers of each vector, head 1 the next: cut the last dimension as "
            "(n_heads, d_head), in this order.",
            _split_interleaved,
        ),
        Misconception(
            "not_transposed",
            "Your result is (…, n, n_heads, d_head): positions still come before heads. Attention "
            "multiplies the last two dimensions, which must be n and d_head: transpose the "
            "positions and the heads.",
            _split_untransposed,
        ),
        Misconception(
            "wrong_pair_transposed",
            "You transposed the last two dimensions, heads and numbers. It is positions and heads "
            "that change places: transpose(-3, -2).",
            _split_last_two,
        ),
        Misconception(
            "counted_from_the_front",
            "Right for three dimensions, wrong for four: you transpose dimensions 1 and 2, which "
            "are no longer positions and heads when there is one more in front. Count from the "
            "end: transpose(-3, -2).",
            _split_from_the_front,
        ),
        Misconception(
            "heads_at_dimension_1",
            "Right for three dimensions, wrong for four: your heads are dimension 1, which comes "
            "before the second dimension of the batch. They belong right before the positions: "
            "count from the end, dim=-3.",
            _split_stacked_at_1,
        ),
        Misconception(
            "heads_first",
            "Your heads are the very first dimension, before the batch. They belong right before "
            "the positions: (…, n_heads, n, d_head).",
            _split_stacked_at_0,
        ),
        Misconception(
            "heads_and_width_confused",
            "Your heads are n_heads numbers wide, and there are width / n_heads of them: the two "
            "are confused. There are n_heads heads, each width / n_heads wide.",
            _split_by_width,
        ),
        Misconception(
            "keys_transposed",
            "Your result is (…, n_heads, d_head, n), right for the keys in Q Kᵀ only. Here each "
            "head keeps one row for each position: (…, n_heads, n, d_head).",
            _split_keys_transposed,
        ),
        Misconception(
            "list_of_heads",
            "You return a list with one tensor for each head. The heads are right; stack them into "
            "one tensor, with a dimension for the heads right before the positions: "
            "torch.stack(heads, dim=-3).",
            _split_list,
        ),
        Misconception(
            "three_dimensions_only",
            "Right for three dimensions, an error for four: you unpack x.shape into three names, "
            "and there may be more than one dimension before the positions. Name only the last "
            "two, *leading, n, width = x.shape, or use unflatten(-1, …).",
            _split_three_dimensions,
        ),
        Misconception(
            "second_of_two_leading_dimensions_lost",
            "Right for three dimensions. With one more in front, you lose it where its size is 1, "
            "as squeeze(1) does. All dimensions before the positions stay: name them *leading, and "
            "reshape to (*leading, …).",
            _split_second_axis_squeezed,
        ),
    ),
    demands=(Demand(BATCH, 1), Demand(MORE, 1)),
)
