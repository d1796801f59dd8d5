"""Question 2: softmax over the keys that may be attended to."""

import math
from functools import partial

import torch
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import mixed_mask, normal, sizes
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

HIDES = "hidden keys get no weight, and the allowed ones share all of it"
FITS = "a mask with fewer dimensions, or with some of size 1, is meant for all that it fits"
EMPTY = "a query without an allowed key gets zeros"
LARGE = "large scores, and scores far apart, leave the weights right"


def _softmax_cases(g: Generator) -> list[Case]:
    n_query, n_key = sizes(g, 2, 4, 8)
    batch, heads = sizes(g, 2, 2, 4)
    shape = (batch, heads, n_query, n_key)
    size = f"{batch} sentences, {heads} heads, {n_query} queries, {n_key} keys"

    one_for_all = mixed_mask(g, n_query, n_key)
    with_empty_row = mixed_mask(g, batch, 1, n_query, n_key)
    others = mixed_mask(g, n_query - 1, n_key)
    empty_query = int(torch.randint(n_query, (), generator=g))
    with_empty_row[-1, 0] = torch.cat(
        [others[:empty_query], torch.zeros(1, n_key, dtype=torch.bool), others[empty_query:]]
    )
    deep = mixed_mask(g, *shape)
    of_each_head = mixed_mask(g, batch, heads, n_query, n_key)
    of_each_head[-1, -1, empty_query] = False
    above = mixed_mask(g, *shape)
    far_apart = -300 * torch.arange(n_query)[:, None] + 3 * normal(g, *shape)
    padding = (
        torch.arange(n_key) < torch.tensor([n_key - 1, 0, *[2] * (batch - 2)])[:, None, None, None]
    )
    cases = [
        Case(
            (2 * normal(g, *shape), one_for_all),
            shows=f"{size}; one mask (n_query, n_key) for all of them",
            demands=(FITS,),
        ),
        Case(
            (2 * normal(g, *shape), with_empty_row),
            shows=(
                f"{size}; a mask (batch, 1, n_query, n_key) in which query {empty_query} of the "
                f"last sentence may attend to nothing"
            ),
            demands=(FITS, EMPTY),
        ),
        Case(
            (2 * normal(g, *shape), of_each_head),
            shows=(
                f"{size}; a mask for each head, in which query {empty_query} of the last head and "
                f"sentence may attend to nothing"
            ),
            demands=(EMPTY,),
        ),
        Case(
            (300 + 3 * normal(g, *shape), mixed_mask(g, *shape)),
            shows=f"{size}; large scores, around 300",
            demands=(LARGE,),
        ),
        # The hidden scores are all 0, so that adding a penalty to them and replacing them by it
        # come to the same.
        Case(
            (torch.where(deep, -11_000 + 3 * normal(g, *shape), 0.0), deep),
            shows=f"{size}; the allowed scores around -11,000, the hidden ones 0",
            demands=(LARGE,),
        ),
        Case(
            (torch.where(above, 2 * normal(g, *shape), 300 + normal(g, *shape)), above),
            shows=f"{size}; the allowed scores around 0, the hidden ones around 300",
            demands=(LARGE,),
        ),
        Case(
            (far_apart, mixed_mask(g, *shape)),
            shows=f"{size}; query 0's scores around 0, query 1's around -300, and so on",
            demands=(LARGE,),
        ),
        Case(
            (2 * normal(g, *shape), padding),
            shows=(
                f"{size}; a mask (batch, 1, 1, n_key), in which sentence 1 is nothing but padding"
            ),
            demands=(FITS, EMPTY),
        ),
        Case(
            (normal(g, 1, 1, 1, n_key), mixed_mask(g, 2, n_key)[:1]),
            shows=f"one sentence, one head, one query, {n_key} keys",
            demands=(FITS,),
        ),
        Case(
            (normal(g, 1, heads, n_query, 1), torch.arange(n_query)[:, None] > 0),
            shows=(
                f"one sentence, {heads} heads, {n_query} queries and a single key; query 0 may not "
                f"attend to it"
            ),
            demands=(FITS, EMPTY),
        ),
    ]
    plain = Case(
        (2 * normal(g, *shape), mixed_mask(g, *shape)),
        shows=f"{size}; a mask of its own for each head of each sentence",
        demands=(HIDES,),
    )
    return [plain, *cases, _allowed_scores_that_cancel(g, n_key)]


def _allowed_scores_that_cancel(g: Generator, n_key: int) -> Case:
    """Query 0 may attend to one key, with score 0, query 1 to two, whose scores add up to 0: no sum
    of scores tells who may attend to nothing, as query 2 may.
    """
    scores, mask = 2 * normal(g, 1, 1, 3, n_key), torch.zeros(3, n_key, dtype=torch.bool)
    one, other = torch.randperm(n_key, generator=g)[:2].tolist()
    mask[0, one] = mask[1, one] = mask[1, other] = True
    scores[..., 0, one], scores[..., 1, one] = 0.0, -scores[..., 1, other]
    return Case(
        (scores, mask),
        shows=f"one sentence, one head, 3 queries, {n_key} keys; the allowed scores of queries 0 "
        f"and 1 add up to 0, and query 2 may attend to nothing",
        demands=(EMPTY,),
    )


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the allowed keys; zeros for a query that has none."""
    weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)
    return weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


def _empty_rows_to_zero(weights: Tensor, mask: Tensor) -> Tensor:
    return torch.where(mask.any(dim=-1, keepdim=True), weights, 0.0)


_NAN = (
    "Your weights are NaN. Where a mask of zeros and ones is multiplied by -∞, every 0 in it "
    "becomes NaN, for 0 · ∞ is no number: masked_fill(~mask, -math.inf) sets the hidden scores and "
    "leaves the others alone."
)


def _infinity_times_mask(scores: Tensor, mask: Tensor, zero: bool = False) -> Tensor:
    weights = (scores + (~mask).float() * -math.inf).softmax(dim=-1)
    return _empty_rows_to_zero(weights, mask) if zero else weights


def _zero_where_the_scores_cancel(scores: Tensor, mask: Tensor) -> Tensor:
    total = (scores * mask).sum(dim=-1, keepdim=True)
    return masked_softmax(scores, mask).masked_fill(total == 0, 0.0)


def _filled_softmax(
    scores: Tensor,
    mask: Tensor,
    fill: float = -math.inf,
    inverted: bool = False,
    zero: bool = False,
    cut: bool = False,
    dim: int = -1,
) -> Tensor:
    weights = scores.masked_fill(mask if inverted else ~mask, fill).softmax(dim)
    weights = weights * mask if cut else weights
    return _empty_rows_to_zero(weights, mask) if zero else weights


def _penalised_softmax(
    scores: Tensor, mask: Tensor, penalty: float = -10_000.0, zero: bool = False
) -> Tensor:
    weights = (scores + penalty * ~mask).softmax(dim=-1)
    return _empty_rows_to_zero(weights, mask) if zero else weights


def _softmax_of_product(scores: Tensor, mask: Tensor, zero: bool = False) -> Tensor:
    weights = (scores * mask).softmax(dim=-1)
    return _empty_rows_to_zero(weights, mask) if zero else weights


def _softmax_of_sum(scores: Tensor, mask: Tensor, zero: bool = False) -> Tensor:
    weights = (scores + mask).softmax(dim=-1)
    return _empty_rows_to_zero(weights, mask) if zero else weights


def _mask_after_softmax(scores: Tensor, mask: Tensor, renormalise: str = "not") -> Tensor:
    weights = scores.softmax(dim=-1) * mask
    if renormalise == "not":
        return weights
    if renormalise == "over everything":
        return weights / weights.sum()
    total = weights.sum(dim=-1, keepdim=True)
    return weights / (total.clamp(min=1e-12) if renormalise == "rows, guarded" else total)


_WHERE = "where the sum is positive"


def _plain_exponentials(
    scores: Tensor, mask: Tensor, product: bool = True, guarded: bool | str = False
) -> Tensor:
    powers = scores.exp() * mask if product else scores.exp().masked_fill(~mask, 0.0)
    total = powers.sum(dim=-1, keepdim=True)
    if guarded == _WHERE:
        return torch.where(total > 0, powers / total, 0.0)
    return powers / (total.clamp(min=1e-12) if guarded else total)


def _one_maximum_for_all(
    scores: Tensor, mask: Tensor, hidden_too: bool = False, guarded: bool = True
) -> Tensor:
    """Exponentials that cannot overflow, but underflow in rows that lie far below the highest."""
    hidden = scores.masked_fill(~mask, -math.inf)
    powers = (hidden - (scores if hidden_too else hidden).max()).exp()
    total = powers.sum(dim=-1, keepdim=True)
    return powers / (total.clamp(min=1e-38) if guarded else total)


def _clamped(scores: Tensor, mask: Tensor, least: float = 1e-37) -> Tensor:
    powers = scores.clamp(-80, 80).exp() * mask
    return powers / powers.sum(dim=-1, keepdim=True).clamp(min=least)


def _enlarged(weights: Tensor, room: float) -> Tensor:
    """Divided by their sum and a little more."""
    return weights / (weights.sum(dim=-1, keepdim=True) + room)


def _sum_enlarged(scores: Tensor, mask: Tensor, room: float = 1e-3) -> Tensor:
    hidden = scores.masked_fill(~mask, -math.inf)
    top = hidden.amax(dim=-1, keepdim=True).clamp(min=torch.finfo(scores.dtype).min)
    return _enlarged((hidden - top).exp(), room)


def _divided_once_more(scores: Tensor, mask: Tensor) -> Tensor:
    return _enlarged(masked_softmax(scores, mask), 0.01)


def _axes_in_second_place(scores: Tensor, mask: Tensor) -> Tensor:
    """The mask is brought to as many dimensions as the scores have by unsqueeze(1)."""
    while mask.dim() < scores.dim():
        mask = mask.unsqueeze(1)
    return masked_softmax(scores, mask)


def _partly_hidden_to_zero(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.where(mask.all(dim=-1, keepdim=True), masked_softmax(scores, mask), 0.0)


_INVERTED = (
    "Your mask works the wrong way round: True hides. In this course True means *may attend*, so "
    "it is the keys where the mask is False that must get -∞ (masked_fill(~mask, …))."
)
_ZERO = (
    "A hidden key has the score 0 in your softmax, or a number next to it (1e-9 is not -1e9; a "
    "product with the mask is 0), and e⁰ = 1 still counts. Set hidden scores to -∞, whose "
    "exponential is 0."
)
_ADDED = (
    "You add the mask itself to the scores: an allowed key gains 1 and a hidden one keeps its "
    "score. Hide a key by giving it the score -∞ before the softmax."
)
_FINITE = (
    "You hide keys with a number that is negative but not negative enough: where the allowed "
    "scores are lower still, the hidden keys win. Only -∞ is below every score."
)
_OVERFLOW = (
    "Your exponentials leave the range of float32: e^300 is infinite, e^-11000 is 0, and ∞/∞ and "
    "0/0 are NaN. Set hidden scores to -∞ and let torch.softmax do it, or subtract the largest "
    "allowed score of each row first; the result is the same, since numerator and denominator "
    "shrink alike."
)
_COLUMNS = (
    "Your columns sum to 1, not your rows: the softmax ran over the queries. Each query shares its "
    "attention among the keys: dim=-1."
)
_ONE_MAXIMUM = (
    "You subtract one number from all scores, the largest of the whole tensor. Rows whose scores "
    "lie far below it then have only exponentials that are rounded to 0. Subtract from each row "
    "its own largest allowed score: amax(dim=-1, keepdim=True)."
)
_CLAMPED = (
    "You cut the scores off at a limit before the exponential: scores beyond it all become equal, "
    "and so do their weights. Subtract the largest allowed score of each row instead; that changes "
    "no weight."
)
_LATE = (
    "The hidden keys take part until their weights are set to 0: in the softmax, or in what is "
    "subtracted from the scores before exp. On paper that is right; but when a hidden key has by "
    "far the highest score, what is left has been rounded to 0. Hide the scores first."
)
_ENLARGED = (
    "Your rows sum to a little less than 1: you add a small number to what you divide by, so that "
    "it is never 0, and a number such as 0.001 is not small enough. The sum is 0 only where no key "
    "is allowed: clamp(min=1e-12) changes no other, and mask.any(dim=-1, keepdim=True) finds these "
    "rows."
)


def _rows_of_nothing_to_zero(
    scores: Tensor, mask: Tensor, inverted: bool = False, dim: int = -1
) -> Tensor:
    return _filled_softmax(scores, mask, inverted=inverted, dim=dim).nan_to_num(0.0)


def _mask_as_index(scores: Tensor, mask: Tensor) -> Tensor:
    hidden = scores.clone()
    hidden[~mask] = -math.inf
    return hidden.softmax(dim=-1).nan_to_num(0.0)


SOFTMAX = Question(
    name="hw1.masked_softmax",
    title="A softmax that respects a mask",
    points=3,
    minutes=20,
    difficulty=2,
    chapter="02_self_attention#masks-what-must-not-be-seen",
    cases=_softmax_cases,
    reference=masked_softmax,
    trained=True,
    misconceptions=(
        Misconception("mask_inverted", _INVERTED, partial(_filled_softmax, inverted=True)),
        Misconception(
            "mask_inverted", _INVERTED, partial(_filled_softmax, inverted=True, zero=True)
        ),
        Misconception("hidden_scores_are_zero", _ZERO, _softmax_of_product),
        Misconception("hidden_scores_are_zero", _ZERO, partial(_softmax_of_product, zero=True)),
        Misconception("mask_added", _ADDED, _softmax_of_sum),
        Misconception("mask_added", _ADDED, partial(_softmax_of_sum, zero=True)),
        Misconception(
            "masked_after_softmax",
            "Your rows do not sum to 1: the softmax shared the attention among all keys, and the "
            "share of the hidden ones was then thrown away. Hide the scores (with -∞) before the "
            "softmax, and the allowed keys share all of it.",
            _mask_after_softmax,
        ),
        Misconception(
            "renormalised_over_everything",
            "You divide by the sum of all weights, of every query, head and sentence together. "
            "Each query has its own sum: sum(dim=-1, keepdim=True).",
            partial(_mask_after_softmax, renormalise="over everything"),
        ),
        Misconception(
            "renormalised_after_softmax", _LATE, partial(_mask_after_softmax, renormalise="rows")
        ),
        Misconception(
            "renormalised_after_softmax",
            _LATE,
            partial(_mask_after_softmax, renormalise="rows, guarded"),
        ),
        Misconception("one_maximum_for_all_rows", _ONE_MAXIMUM, _one_maximum_for_all),
        Misconception(
            "one_maximum_for_all_rows", _ONE_MAXIMUM, partial(_one_maximum_for_all, guarded=False)
        ),
        Misconception(
            "one_maximum_for_all_rows", _ONE_MAXIMUM, partial(_one_maximum_for_all, hidden_too=True)
        ),
        Misconception(
            "one_maximum_for_all_rows",
            _ONE_MAXIMUM,
            partial(_one_maximum_for_all, hidden_too=True, guarded=False),
        ),
        Misconception("scores_clamped", _CLAMPED, _clamped),
        Misconception("scores_clamped", _CLAMPED, partial(_clamped, least=1e-12)),
        Misconception("scores_clamped", _CLAMPED, partial(_clamped, least=0.0)),
        Misconception("exponentials_overflow", _OVERFLOW, _plain_exponentials),
        Misconception(
            "exponentials_overflow", _OVERFLOW, partial(_plain_exponentials, guarded=True)
        ),
        Misconception(
            "exponentials_overflow", _OVERFLOW, partial(_plain_exponentials, product=False)
        ),
        Misconception(
            "exponentials_overflow",
            _OVERFLOW,
            partial(_plain_exponentials, product=False, guarded=True),
        ),
        Misconception(
            "exponentials_overflow", _OVERFLOW, partial(_plain_exponentials, guarded=_WHERE)
        ),
        Misconception(
            "partly_hidden_rows_zeroed",
            "A query with any hidden key gets zeros: mask.all asks whether *all* keys are allowed. "
            "Zeros are for a query with no allowed key: ~mask.any(dim=-1, keepdim=True).",
            _partly_hidden_to_zero,
        ),
        Misconception(
            "nan_without_allowed_keys",
            "A query with no key to attend to gets NaN: its softmax is 0/0. Such a row should be "
            "zeros; look for it with mask.any(dim=-1, keepdim=True), because one NaN spoils every "
            "layer above.",
            _filled_softmax,
        ),
        Misconception(
            "uniform_without_allowed_keys",
            "A query with no key to attend to spreads its weight evenly over the hidden keys: when "
            "all scores are the same large negative number, none is hidden. Such a row should be "
            "zeros.",
            partial(_filled_softmax, fill=-1e9),
        ),
        Misconception(
            "finite_number_for_minus_infinity", _FINITE, partial(_filled_softmax, fill=-1e4)
        ),
        Misconception(
            "finite_number_for_minus_infinity",
            _FINITE,
            partial(_filled_softmax, fill=-1e4, zero=True),
        ),
        Misconception(
            "finite_number_for_minus_infinity",
            _FINITE,
            partial(_filled_softmax, fill=-1e4, cut=True),
        ),
        Misconception("finite_number_for_minus_infinity", _FINITE, _penalised_softmax),
        Misconception(
            "finite_number_for_minus_infinity", _FINITE, partial(_filled_softmax, fill=-100.0)
        ),
        Misconception(
            "finite_number_for_minus_infinity", _FINITE, partial(_filled_softmax, fill=-10.0)
        ),
        Misconception(
            "finite_number_for_minus_infinity", _FINITE, partial(_filled_softmax, fill=-1.0)
        ),
        Misconception(
            "softmax_over_queries",
            _COLUMNS,
            partial(_filled_softmax, dim=-2),
        ),
        Misconception("softmax_over_queries", _COLUMNS, partial(_rows_of_nothing_to_zero, dim=-2)),
        Misconception(
            "softmax_over_queries", _COLUMNS, partial(_filled_softmax, dim=-2, zero=True)
        ),
        Misconception("mask_inverted", _INVERTED, partial(_rows_of_nothing_to_zero, inverted=True)),
        Misconception(
            "mask_as_index",
            "You use the mask as an index, scores[~mask]: an index is not broadcast, and this only "
            "goes well where the mask has the shape of the scores. masked_fill(~mask, …) and "
            "torch.where broadcast a mask (n_query, n_key) or (batch, 1, 1, n_key).",
            _mask_as_index,
        ),
        Misconception(
            "axes_added_in_second_place",
            "You give a mask the axes that it lacks in second place, with unsqueeze(1): the "
            "queries of a mask (n_query, n_key) then meet the sentences. Broadcasting adds what is "
            "missing in *front*, by itself: leave the mask as it is.",
            _axes_in_second_place,
        ),
        Misconception(
            "minus_infinity_times_a_mask",
            _NAN,
            _infinity_times_mask,
        ),
        Misconception(
            "minus_infinity_times_a_mask",
            _NAN,
            partial(_infinity_times_mask, zero=True),
        ),
        Misconception(
            "emptiness_told_by_the_scores",
            "You take a query for one without an allowed key where its allowed scores add up to 0. "
            "So may those of a query that has some: ask the mask, mask.any(dim=-1, keepdim=True).",
            _zero_where_the_scores_cancel,
        ),
        Misconception("rows_sum_to_less_than_1", _ENLARGED, _sum_enlarged),
        Misconception("rows_sum_to_less_than_1", _ENLARGED, partial(_sum_enlarged, room=0.01)),
        Misconception("rows_sum_to_less_than_1", _ENLARGED, _divided_once_more),
    ),
    # At -11,000 float32 goes in steps of a thousandth. The logarithm of a sum that is subtracted
    # there is off by half a step, and so are the weights; 0.001 added to a sum of 1 is more.
    rtol=8e-4,
    atol=1e-6,
    demands=(Demand(HIDES, 1), Demand(FITS, 0.5), Demand(EMPTY, 1), Demand(LARGE, 0.5)),
)
