"""Homework 1: attention (chapters 2 to 4). Eight questions, 20 points, about two and a half hours.

Each wrong answer below is the right one with one thing changed, so that what a mistake does can be read off its one line.
Where students reach the same mistake by routes that return different values (NaN here, zeros there), the routes share its name.
"""

import math
from functools import partial

import torch
from torch import Generator, Tensor, nn

from lectures_lib.homework.questions import Case, Homework, Misconception, Question
from lectures_lib.positions import sinusoidal_positions as published_positions

# ---------------------------------------------------------------------------------------------------------------- inputs


def _sizes(g: Generator, count: int, low: int, high: int) -> list[int]:
    """`count` different sizes from low … high, so that no shape is square by accident and no root is right by accident."""
    return (torch.randperm(high - low + 1, generator=g)[:count] + low).tolist()


def _normal(g: Generator, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=g)


def _mixed_mask(g: Generator, *shape: int) -> Tensor:
    """A random mask in which every row and every column both shows and hides something."""
    while True:
        mask = torch.rand(*shape, generator=g) < 0.5
        if all(part.any(dim).all() for part in (mask, ~mask) for dim in (-1, -2)):
            return mask


def _restless_permutation(g: Generator, n: int) -> Tensor:
    """A permutation in which nobody keeps a seat, and which done twice is not undone."""
    seats = torch.arange(n)
    while True:
        permutation = torch.randperm(n, generator=g)
        if (permutation != seats).all() and (permutation[permutation] != seats).any():
            return permutation


# --------------------------------------------------------------------------------------- 1: scaled_dot_product_attention


def _attention_cases(g: Generator) -> list[Case]:
    cases = []
    for leading in (1, 2):
        n_query, n_key, d_k, d_v = _sizes(g, 4, 3, 11)
        batch = _sizes(g, leading, 2, 4)
        Q, K, V = _normal(g, *batch, n_query, d_k), _normal(g, *batch, n_key, d_k), _normal(g, *batch, n_key, d_v)
        where = f"a batch of {batch[0]}" + (f" with {batch[1]} heads each" if leading == 2 else "")
        cases.append(Case((Q, K, V), shows=f"{where}: {n_query} queries, {n_key} keys, d_k = {d_k}, d_v = {d_v}"))
    return cases


def scaled_dot_product_attention(Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
    """softmax(Q Kᵀ / √d_k) V, the softmax over the keys."""
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
    return scores.softmax(dim=-1) @ V


def _attention(Q: Tensor, K: Tensor, V: Tensor, divisor: str = "root_d_k", dim: int = -1, after: bool = False) -> Tensor:
    n_key, d_k, d_v = K.shape[-2], K.shape[-1], V.shape[-1]
    divide_by = {"root_d_k": d_k**0.5, "one": 1, "d_k": d_k, "inverse": d_k**-0.5, "root_n_key": n_key**0.5, "root_d_v": d_v**0.5}[divisor]
    scores = Q @ K.transpose(-2, -1)
    weights = scores.softmax(dim) / divide_by if after else (scores / divide_by).softmax(dim)
    return weights @ V


def _attention_keys_from_the_front(Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
    return (Q @ K.transpose(1, 2) / math.sqrt(Q.shape[-1])).softmax(dim=-1) @ V


def _attention_keys_reversed(Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
    return (Q @ K.permute(*range(K.dim())[::-1]) / math.sqrt(Q.shape[-1])).softmax(dim=-1) @ V  # what K.T does


def _attention_without_softmax(Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
    return Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1]) @ V


ATTENTION = Question(
    name="hw1.scaled_dot_product_attention",
    title="Scaled dot-product attention",
    points=2,
    minutes=10,
    difficulty=1,
    chapter="02_self_attention#why-divide-by-d_k",
    cases=_attention_cases,
    reference=scaled_dot_product_attention,
    misconceptions=(
        Misconception(
            "unscaled",
            "Your scores are not divided by √d_k: they grow with the width of the vectors, and the softmax puts nearly all weight on one "
            "key. Divide Q Kᵀ by √d_k before the softmax.",
            partial(_attention, divisor="one"),
        ),
        Misconception(
            "divided_by_d_k",
            "Your scores are divided by d_k, not by its square root, which makes the weights too even. A sum of d_k products has variance "
            "d_k, so its standard deviation is √d_k: divide by that, once.",
            partial(_attention, divisor="d_k"),
        ),
        Misconception(
            "multiplied_by_root_d_k",
            "Your scores are multiplied by √d_k: that makes large scores larger still. Divide by √d_k, to bring them back to variance 1.",
            partial(_attention, divisor="inverse"),
        ),
        Misconception(
            "scaled_by_number_of_keys",
            "You divide by the square root of the number of keys. A score is a sum over the d_k entries of one query and one key, however "
            "many keys there are: divide by √d_k, with d_k = Q.shape[-1].",
            partial(_attention, divisor="root_n_key"),
        ),
        Misconception(
            "scaled_by_root_d_v",
            "You divide by √d_v, but the values play no part in the scores. The width that counts is that of queries and keys: d_k = "
            "K.shape[-1].",
            partial(_attention, divisor="root_d_v"),
        ),
        Misconception(
            "scaled_after_softmax",
            "You divide by √d_k after the softmax, so each query's weights sum to 1/√d_k. Scale the scores first; the softmax comes last "
            "and its rows then sum to 1.",
            partial(_attention, after=True),
        ),
        Misconception(
            "softmax_over_queries",
            "Your rows do not sum to 1: the softmax ran over the queries. Each query shares its attention among the keys, so use the last "
            "dimension, dim=-1.",
            partial(_attention, dim=-2),
        ),
        Misconception(
            "softmax_over_dim_1",
            "Your softmax runs over dim=1: the queries in a batch (batch, n_query, n_key), and the heads where there are heads too. The "
            "keys are always the last dimension: dim=-1.",
            partial(_attention, dim=1),
        ),
        Misconception(
            "softmax_over_dim_2",
            "Your softmax runs over dim=2. Those are the keys in (batch, n_query, n_key), but the queries as soon as there are heads: "
            "(batch, n_heads, n_query, n_key). Count from the end: dim=-1.",
            partial(_attention, dim=2),
        ),
        Misconception(
            "softmax_over_batch",
            "Your softmax runs over dim=0, the batch: the sentences of a batch compete with each other, though they should not know of "
            "each other. Let the keys compete: dim=-1.",
            partial(_attention, dim=0),
        ),
        Misconception(
            "no_softmax",
            "Your scores are used as weights directly. Without the softmax they can be negative and do not sum to 1, so the output is no "
            "average of the values: apply softmax(dim=-1) to the scores first.",
            _attention_without_softmax,
        ),
        Misconception(
            "keys_transposed_from_the_front",
            "Right without heads, an error with them: K.transpose(1, 2) exchanges heads and keys in (batch, n_heads, n_key, d_k). Count "
            "from the end: transpose(-2, -1).",
            _attention_keys_from_the_front,
        ),
        Misconception(
            "keys_transposed_altogether",
            "K.T reverses *all* dimensions, the batch included; Q Kᵀ in the formula means the last two. Write K.transpose(-2, -1), or "
            "K.mT.",
            _attention_keys_reversed,
        ),
    ),
)

# ----------------------------------------------------------------------------------------------------- 2: masked_softmax


def _softmax_cases(g: Generator) -> list[Case]:
    n_query, n_key = _sizes(g, 2, 4, 8)
    batch, heads = _sizes(g, 2, 2, 4)
    shape = (batch, heads, n_query, n_key)
    size = f"{batch} sentences, {heads} heads, {n_query} queries, {n_key} keys"

    one_for_all = _mixed_mask(g, n_query, n_key)
    with_empty_row = _mixed_mask(g, batch, 1, n_query, n_key)
    others = _mixed_mask(g, n_query - 1, n_key)
    empty_query = int(torch.randint(n_query, (), generator=g))
    with_empty_row[-1, 0] = torch.cat([others[:empty_query], torch.zeros(1, n_key, dtype=torch.bool), others[empty_query:]])
    deep = _mixed_mask(g, n_query, n_key)
    return [
        Case((2 * _normal(g, *shape), one_for_all), shows=f"{size}; one mask (n_query, n_key) for all of them"),
        Case(
            (2 * _normal(g, *shape), with_empty_row),
            shows=f"{size}; a mask (batch, 1, n_query, n_key) in which query {empty_query} of the last sentence may attend to nothing",
        ),
        Case((300 + 3 * _normal(g, *shape), _mixed_mask(g, n_query, n_key)), shows=f"{size}; large scores, around 300"),
        # The hidden scores are all 0, so that adding a penalty to them and replacing them by it come to the same.
        Case(
            (torch.where(deep, -11_000 + 3 * _normal(g, *shape), 0.0), deep),
            shows=f"{size}; the allowed scores around -11,000, the hidden ones 0",
        ),
    ]


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the allowed keys; zeros for a query that has none."""
    weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)
    return weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


def _empty_rows_to_zero(weights: Tensor, mask: Tensor) -> Tensor:
    return torch.where(mask.any(dim=-1, keepdim=True), weights, 0.0)


def _filled_softmax(
    scores: Tensor, mask: Tensor, fill: float = -math.inf, inverted: bool = False, zero: bool = False, dim: int = -1
) -> Tensor:
    weights = scores.masked_fill(mask if inverted else ~mask, fill).softmax(dim)
    return _empty_rows_to_zero(weights, mask) if zero else weights


def _penalised_softmax(scores: Tensor, mask: Tensor, penalty: float = -10_000.0, zero: bool = False) -> Tensor:
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


def _plain_exponentials(scores: Tensor, mask: Tensor, product: bool = True, guarded: bool = False) -> Tensor:
    powers = scores.exp() * mask if product else scores.exp().masked_fill(~mask, 0.0)
    total = powers.sum(dim=-1, keepdim=True)
    return powers / (total.clamp(min=1e-12) if guarded else total)


_INVERTED = (
    "Your mask works the wrong way round: True hides. In this course True means *may attend*, so it is the keys where the mask is False "
    "that must get -∞ (masked_fill(~mask, …))."
)
_MULTIPLIED = (
    "You multiply the scores by the mask, which gives a hidden key the score 0, not no weight: e⁰ = 1 still counts. Set hidden scores to "
    "-∞, whose exponential is 0."
)
_ADDED = (
    "You add the mask itself to the scores: an allowed key gains 1 and a hidden one keeps its score. Hide a key by giving it the score -∞ "
    "before the softmax."
)
_FINITE = (
    "You hide keys with a number that is negative but not negative enough: where the allowed scores are lower still, the hidden keys win. "
    "Only -∞ is below every score."
)
_OVERFLOW = (
    "Your exponentials leave the range of float32: e^300 is infinite, e^-11000 is 0, and ∞/∞ and 0/0 are NaN. Set hidden scores to -∞ and "
    "let torch.softmax do it, or subtract the largest allowed score of each row first; the result is the same, since numerator and "
    "denominator shrink alike."
)
_LATE = (
    "You take the softmax over all keys, set the hidden ones to 0 and divide by what is left. On paper that is right; but when a hidden "
    "key has by far the highest score, what is left has been rounded to 0. Hide the scores before the softmax."
)

SOFTMAX = Question(
    name="hw1.masked_softmax",
    title="A softmax that respects a mask",
    points=3,
    minutes=20,
    difficulty=2,
    chapter="02_self_attention#masks-what-must-not-be-seen",
    cases=_softmax_cases,
    reference=masked_softmax,
    misconceptions=(
        Misconception("mask_inverted", _INVERTED, partial(_filled_softmax, inverted=True)),
        Misconception("mask_inverted", _INVERTED, partial(_filled_softmax, inverted=True, zero=True)),
        Misconception("scores_multiplied_by_mask", _MULTIPLIED, _softmax_of_product),
        Misconception("scores_multiplied_by_mask", _MULTIPLIED, partial(_softmax_of_product, zero=True)),
        Misconception("mask_added", _ADDED, _softmax_of_sum),
        Misconception("mask_added", _ADDED, partial(_softmax_of_sum, zero=True)),
        Misconception(
            "masked_after_softmax",
            "Your rows do not sum to 1: the softmax shared the attention among all keys, and the share of the hidden ones was then thrown "
            "away. Hide the scores (with -∞) before the softmax, and the allowed keys share all of it.",
            _mask_after_softmax,
        ),
        Misconception(
            "renormalised_over_everything",
            "You divide by the sum of all weights, of every query, head and sentence together. Each query has its own sum: sum(dim=-1, "
            "keepdim=True).",
            partial(_mask_after_softmax, renormalise="over everything"),
        ),
        Misconception("renormalised_after_softmax", _LATE, partial(_mask_after_softmax, renormalise="rows")),
        Misconception("renormalised_after_softmax", _LATE, partial(_mask_after_softmax, renormalise="rows, guarded")),
        Misconception("exponentials_overflow", _OVERFLOW, _plain_exponentials),
        Misconception("exponentials_overflow", _OVERFLOW, partial(_plain_exponentials, guarded=True)),
        Misconception("exponentials_overflow", _OVERFLOW, partial(_plain_exponentials, product=False)),
        Misconception("exponentials_overflow", _OVERFLOW, partial(_plain_exponentials, product=False, guarded=True)),
        Misconception(
            "nan_without_allowed_keys",
            "A query with no key to attend to gets NaN: its softmax is 0/0. Such a row should be zeros; look for it with mask.any(dim=-1, "
            "keepdim=True), because one NaN spoils every layer above.",
            _filled_softmax,
        ),
        Misconception(
            "uniform_without_allowed_keys",
            "A query with no key to attend to spreads its weight evenly over the hidden keys: when all scores are the same large negative "
            "number, none is hidden. Such a row should be zeros.",
            partial(_filled_softmax, fill=-1e9),
        ),
        Misconception("finite_number_for_minus_infinity", _FINITE, partial(_filled_softmax, fill=-1e4)),
        Misconception("finite_number_for_minus_infinity", _FINITE, partial(_filled_softmax, fill=-1e4, zero=True)),
        Misconception("finite_number_for_minus_infinity", _FINITE, _penalised_softmax),
        Misconception("finite_number_for_minus_infinity", _FINITE, partial(_filled_softmax, fill=-10.0)),
        Misconception("finite_number_for_minus_infinity", _FINITE, partial(_filled_softmax, fill=-1.0)),
        Misconception(
            "softmax_over_queries",
            "Your columns sum to 1, not your rows: the softmax ran over the queries. Each query shares its attention among the keys: "
            "dim=-1.",
            partial(_filled_softmax, dim=-2),
        ),
    ),
    # A score of -11,000 is only known to a thousandth in float32, and so is e to the power of a difference of two.
    rtol=1e-3,
    atol=1e-6,
)

# -------------------------------------------------------------------------------------------------------- 3: causal_mask


def _causal_cases(g: Generator) -> list[Case]:
    n, later, n_past = _sizes(g, 3, 3, 8)
    return [
        Case((n,), shows=f"{n} tokens, nothing before them"),
        Case((later, n_past), shows=f"{later} new tokens after {n_past} earlier ones"),
        Case((1, n_past), shows=f"one new token after {n_past} earlier ones"),
    ]


def causal_mask(n: int, n_past: int = 0) -> Tensor:
    """(n, n_past + n), boolean: the i-th new token sees all n_past earlier tokens and the new ones 0 … i."""
    return torch.ones(n, n_past + n, dtype=torch.bool).tril(diagonal=n_past)


def _causal(n: int, n_past: int = 0, diagonal: int = 0) -> Tensor:
    return torch.ones(n, n_past + n, dtype=torch.bool).tril(diagonal=n_past + diagonal)


def _causal_inverted(n: int, n_past: int = 0) -> Tensor:
    return ~causal_mask(n, n_past)


def _causal_future(n: int, n_past: int = 0) -> Tensor:
    return torch.ones(n, n_past + n, dtype=torch.bool).triu(diagonal=n_past)


def _causal_top_left(n: int, n_past: int = 0) -> Tensor:
    return torch.ones(n, n_past + n, dtype=torch.bool).tril()


def _causal_square(n: int, n_past: int = 0) -> Tensor:
    return causal_mask(n)


def _causal_past_on_the_right(n: int, n_past: int = 0) -> Tensor:
    return torch.cat([causal_mask(n), torch.ones(n, n_past, dtype=torch.bool)], dim=1)


def _causal_past_hidden(n: int, n_past: int = 0) -> Tensor:
    return torch.cat([torch.zeros(n, n_past, dtype=torch.bool), causal_mask(n)], dim=1)


def _causal_big_square(n: int, n_past: int = 0) -> Tensor:
    return causal_mask(n_past + n)


def _causal_additive(n: int, n_past: int = 0) -> Tensor:
    return torch.zeros(n, n_past + n).masked_fill(~causal_mask(n, n_past), -math.inf)


CAUSAL = Question(
    name="hw1.causal_mask",
    title="Not looking ahead",
    points=2,
    minutes=15,
    difficulty=1,
    chapter="02_self_attention#masks-what-must-not-be-seen",
    cases=_causal_cases,
    reference=causal_mask,
    misconceptions=(
        Misconception(
            "cannot_see_itself",
            "In your mask a token may not see itself; the first token of a text would see nothing at all. Position i may attend to "
            "positions up to and including i: move your diagonal by one.",
            partial(_causal, diagonal=-1),
        ),
        Misconception(
            "sees_the_next_token",
            "In your mask each token sees one too many: the token that comes next, which is the one the model has to predict. Stop at the "
            "token itself: move your diagonal by one.",
            partial(_causal, diagonal=1),
        ),
        Misconception(
            "sees_the_future",
            "Your mask is turned over: each token sees itself and what comes after it. Rows are queries, columns are keys, and a query "
            "sees the keys to its left: the lower triangle (tril).",
            _causal_future,
        ),
        Misconception(
            "inverted",
            "Your mask says True where a token may *not* look. In this course True means *may attend*: negate it.",
            _causal_inverted,
        ),
        Misconception(
            "aligned_at_the_first_token",
            "Your triangle starts at key 0, but the first new token stands at position n_past: it sees n_past + 1 keys, not one. Move the "
            "diagonal by n_past.",
            _causal_top_left,
        ),
        Misconception(
            "past_left_out",
            "Your mask is n × n, with no columns for the n_past earlier tokens. They are keys too: the shape is (n, n_past + n).",
            _causal_square,
        ),
        Misconception(
            "past_also_asks",
            "Your mask has rows for the n_past earlier tokens. They are keys but no longer queries, their outputs being known: keep the "
            "last n rows, shape (n, n_past + n).",
            _causal_big_square,
        ),
        Misconception(
            "past_on_the_right",
            "Your columns for the earlier tokens stand to the right of the new ones. Keys come in reading order: the n_past earlier "
            "tokens first.",
            _causal_past_on_the_right,
        ),
        Misconception(
            "past_hidden",
            "Your mask hides the earlier tokens from the new ones. They have been read already, so every new token may attend to all of "
            "them: True.",
            _causal_past_hidden,
        ),
        Misconception(
            "additive",
            "Your mask holds 0 and -∞, to be added to the scores. Here a mask is boolean, True = may attend: return the comparison itself.",
            _causal_additive,
        ),
    ),
)

# ------------------------------------------------------------------------------------------------------- 4: padding_mask


def _padding_cases(g: Generator) -> list[Case]:
    cases = []
    for side in ("right", "left"):
        batch, n = _sizes(g, 2, 3, 8)
        lengths = torch.randint(1, n, (batch,), generator=g)
        lengths[int(torch.randint(batch, (), generator=g))] = n  # the longest sequence has no padding
        args = (lengths, n) if side == "right" else (lengths, n, side)
        cases.append(Case(args, shows=f"lengths {lengths.tolist()}, padded to {n} on the {side}"))
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


def _padding_side_ignored(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return padding_mask(lengths, n)


def _padding_first_n_minus_length(lengths: Tensor, n: int, side: str = "right") -> Tensor:
    return padding_mask(lengths, n) if side == "right" else ~padding_mask(lengths, n, side)


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


PADDING = Question(
    name="hw1.padding_mask",
    title="Not looking at padding",
    points=2,
    minutes=15,
    difficulty=1,
    chapter="02_self_attention#masks-what-must-not-be-seen",
    cases=_padding_cases,
    reference=padding_mask,
    misconceptions=(
        Misconception(
            "inverted",
            "Your mask says True on the padding. In this course True means *may attend*: the words are True, the padding is False.",
            _padding_inverted,
        ),
        Misconception(
            "one_too_many",
            "Your mask lets one padding token through. A sequence of length 3 has the words 0, 1, 2: compare with <, not with <=.",
            _padding_longer,
        ),
        Misconception(
            "one_too_few",
            "Your mask hides one word of each sequence. A sequence of length 3 shows three keys; count them.",
            _padding_shorter,
        ),
        Misconception(
            "one_too_few_on_the_left",
            "With padding on the left, your mask hides the first word. The first n - length places are padding, numbers 0 … n - length - "
            "1, so the words start *at* n - length: compare with >=.",
            _padding_left_shorter,
        ),
        Misconception(
            "side_ignored",
            "Your mask is right for padding on the right, but padding on the left gives the same. With side = 'left' the words are the "
            "*last* lengths[b] keys.",
            _padding_side_ignored,
        ),
        Misconception(
            "left_inverted",
            "With padding on the left, your mask shows the padding and hides the words: the first n - length keys are the padding.",
            _padding_first_n_minus_length,
        ),
        Misconception(
            "hides_queries",
            "Your mask hides queries, not keys: its shape is (batch, 1, n, 1). Nobody may look *at* padding, so the sequence must run "
            "along the last dimension, the keys: (batch, 1, 1, n).",
            _padding_queries,
        ),
        Misconception(
            "hides_queries_too",
            "Your mask also hides the padding's own rows, shape (batch, 1, n, n). What a padding token asks does no harm, since nobody "
            "looks at it, and a row with nothing to see is asking for NaN: mask the keys only, (batch, 1, 1, n).",
            _padding_both,
        ),
        Misconception(
            "no_dimension_for_heads",
            "Your mask has three dimensions, (batch, 1, n). Broadcasting lines shapes up from the right, so your batch would meet the "
            "heads: add a dimension for them, (batch, 1, 1, n).",
            _padding_without_heads,
        ),
        Misconception(
            "no_dimensions_for_heads_and_queries",
            "Your mask has two dimensions, (batch, n). Broadcasting lines shapes up from the right, so your batch would meet the queries: "
            "add two dimensions of size 1 between them, (batch, 1, 1, n).",
            _padding_two_dimensions,
        ),
        Misconception(
            "additive",
            "Your mask holds 0 and -∞, to be added to the scores. Here a mask is boolean, True = may attend: return the comparison itself.",
            _padding_additive,
        ),
    ),
)

# -------------------------------------------------------------------------------------------------------- 5: split_heads


def _split_cases(g: Generator) -> list[Case]:
    cases = []
    for leading in (1, 2):
        n_heads, d_head, n = _sizes(g, 3, 2, 6)
        batch = _sizes(g, leading, 2, 4)
        x = torch.arange(math.prod(batch) * n * n_heads * d_head, dtype=torch.float32).view(*batch, n, n_heads * d_head)
        cases.append(Case((x, n_heads), shows=f"x of shape {tuple(x.shape)}, counting 0, 1, 2, …, cut into {n_heads} heads"))
    return cases


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """(…, n, width) → (…, n_heads, n, width / n_heads)."""
    return x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)


def _split_view(x: Tensor, n_heads: int) -> Tensor:
    return x.reshape(*x.shape[:-2], n_heads, x.shape[-2], -1)


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


SPLIT = Question(
    name="hw1.split_heads",
    title="Cutting vectors into heads",
    points=2,
    minutes=15,
    difficulty=2,
    chapter="03_multi_head_attention#the-trap-view-without-transpose",
    cases=_split_cases,
    reference=split_heads,
    misconceptions=(
        Misconception(
            "view_without_transpose",
            "The shape is right but the numbers are mixed: you viewed x as (…, n_heads, n, d_head) at once, which hands whole *positions* "
            "to a head. View only cuts, (…, n, n_heads, d_head); then transpose n and n_heads.",
            _split_view,
        ),
        Misconception(
            "interleaved",
            "Your heads are interleaved: head 0 gets every n_heads-th number. Head 0 owns the first d_head numbers of each vector, head 1 "
            "the next: cut the last dimension as (n_heads, d_head), in this order.",
            _split_interleaved,
        ),
        Misconception(
            "not_transposed",
            "Your result is (…, n, n_heads, d_head): positions still come before heads. Attention multiplies the last two dimensions, "
            "which must be n and d_head: transpose the positions and the heads.",
            _split_untransposed,
        ),
        Misconception(
            "wrong_pair_transposed",
            "You transposed the last two dimensions, heads and numbers. It is positions and heads that change places: transpose(-3, -2).",
            _split_last_two,
        ),
        Misconception(
            "counted_from_the_front",
            "Right for three dimensions, wrong for four: you transpose dimensions 1 and 2, which are no longer positions and heads when "
            "there is one more in front. Count from the end: transpose(-3, -2).",
            _split_from_the_front,
        ),
        Misconception(
            "heads_and_width_confused",
            "Your heads are n_heads numbers wide, and there are width / n_heads of them: the two are confused. There are n_heads heads, "
            "each width / n_heads wide.",
            _split_by_width,
        ),
        Misconception(
            "keys_transposed",
            "Your result is (…, n_heads, d_head, n), right for the keys in Q Kᵀ only. Here each head keeps one row for each position: (…, "
            "n_heads, n, d_head).",
            _split_keys_transposed,
        ),
    ),
)

# ------------------------------------------------------------------------------------------------- 6: MultiHeadAttention


def _heads_cases(g: Generator) -> list[Case]:
    cases = []
    for kind in ("no mask", "one mask (n, n) for all", "a mask (batch, 1, 1, n) that hides padding"):
        while True:
            batch, n, n_heads, d_head = _sizes(g, 4, 2, 7)
            d_model = int(torch.randint(5, 12, (), generator=g))
            if n > 2 and d_model not in (batch, n, n_heads, d_head, n_heads * d_head):
                break
        inner = n_heads * d_head
        # Spread out so that the scores, and with them the mistakes, are far from even.
        state = {f"W_{name}.weight": 1.5 * _normal(g, inner, d_model) / d_model**0.5 for name in "QKV"}
        state["W_O.weight"] = _normal(g, d_model, inner) / inner**0.5
        mask = None
        if kind.startswith("one"):
            mask = _mixed_mask(g, n, n)
        elif kind.startswith("a mask"):
            mask = padding_mask(torch.randint(1, n, (batch,), generator=g), n)
        x = _normal(g, batch, n, d_model)
        cases.append(
            Case(
                (x,) if mask is None else (x, mask),
                init={"d_model": d_model, "n_heads": n_heads, "d_head": d_head},
                state=state,
                shows=f"x of shape {tuple(x.shape)}, {n_heads} heads of {d_head} numbers, {kind}",
            )
        )
    return cases


class MultiHeadAttention(nn.Module):
    """Self-attention with n_heads heads of d_head numbers each; the wrong answers below change one of its small steps."""

    def __init__(self, d_model: int, n_heads: int, d_head: int):
        super().__init__()
        self.d_model, self.n_heads, self.d_head = d_model, n_heads, d_head
        self.W_Q = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_K = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_V = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.W_O = nn.Linear(n_heads * d_head, d_model, bias=False)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """(batch, n, d_model) → (batch, n, d_model)."""
        Q, K, V = (self.split(projected) for projected in self.project(x))
        scores = self.hide(Q @ K.transpose(-2, -1) / self.divisor(), mask)
        return self.mix(self.merge(self.normalise(scores) @ V))

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of all heads, still side by side."""
        return self.W_Q(x), self.W_K(x), self.W_V(x)

    def split(self, x: Tensor) -> Tensor:
        """(batch, n, n_heads · d_head) → (batch, n_heads, n, d_head)."""
        return x.unflatten(-1, (self.n_heads, self.d_head)).transpose(1, 2)

    def divisor(self) -> float:
        """What the scores are divided by."""
        return math.sqrt(self.d_head)

    def hide(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        """The scores, -∞ where the mask is False."""
        return scores if mask is None else scores.masked_fill(~mask, -math.inf)

    def normalise(self, scores: Tensor) -> Tensor:
        """Each query's weights."""
        return scores.softmax(dim=-1)

    def merge(self, x: Tensor) -> Tensor:
        """(batch, n_heads, n, d_head) → (batch, n, n_heads · d_head)."""
        return x.transpose(1, 2).flatten(start_dim=2)

    def mix(self, x: Tensor) -> Tensor:
        """W_O on the concatenated heads."""
        return self.W_O(x)


class _Unscaled(MultiHeadAttention):
    def divisor(self):
        return 1.0


class _ScaledByDModel(MultiHeadAttention):
    def divisor(self):
        return math.sqrt(self.d_model)


class _ScaledByAllHeads(MultiHeadAttention):
    def divisor(self):
        return math.sqrt(self.n_heads * self.d_head)


class _WithoutWO(MultiHeadAttention):
    def mix(self, x):
        return x


class _MergedWithoutTranspose(MultiHeadAttention):
    def merge(self, x):
        batch, _, n, _ = x.shape
        return x.reshape(batch, n, -1)


class _SplitWithoutTranspose(MultiHeadAttention):
    def split(self, x):
        return x.reshape(x.shape[0], self.n_heads, -1, self.d_head)


class _NeverTransposed(_SplitWithoutTranspose, _MergedWithoutTranspose):
    pass


class _HeadsBesidePositions(MultiHeadAttention):
    """Scores between the heads of one position: attention that never leaves its position. Only possible without a mask."""

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, self.d_head))

    def hide(self, scores, mask):
        return scores

    def merge(self, x):
        return x.flatten(start_dim=2)


class _Interleaved(MultiHeadAttention):
    def split(self, x):
        return x.unflatten(-1, (self.d_head, self.n_heads)).movedim(-1, 1)

    def merge(self, x):
        return x.movedim(1, -1).flatten(start_dim=2)


class _OneHead(MultiHeadAttention):
    def split(self, x):
        return x[:, None]

    def divisor(self):
        return math.sqrt(self.n_heads * self.d_head)


class _MaskIgnored(MultiHeadAttention):
    def hide(self, scores, mask):
        return scores


class _MaskInverted(MultiHeadAttention):
    def hide(self, scores, mask):
        return scores if mask is None else scores.masked_fill(mask, -math.inf)


class _MaskMultiplied(MultiHeadAttention):
    def hide(self, scores, mask):
        return scores if mask is None else scores * mask


class _KeysAndValuesSwapped(MultiHeadAttention):
    def project(self, x):
        return self.W_Q(x), self.W_V(x), self.W_K(x)


class _QueriesAndKeysSwapped(MultiHeadAttention):
    def project(self, x):
        return self.W_K(x), self.W_Q(x), self.W_V(x)


class _KeysForValues(MultiHeadAttention):
    def project(self, x):
        return self.W_Q(x), self.W_K(x), self.W_K(x)


class _QueriesForKeys(MultiHeadAttention):
    def project(self, x):
        return self.W_Q(x), self.W_Q(x), self.W_V(x)


class _SoftmaxOverQueries(MultiHeadAttention):
    def normalise(self, scores):
        return scores.softmax(dim=-2).nan_to_num(0.0)


class _SoftmaxOverQueriesNaN(MultiHeadAttention):
    def normalise(self, scores):
        return scores.softmax(dim=-2)


class _SoftmaxOverHeads(MultiHeadAttention):
    def normalise(self, scores):
        return scores.softmax(dim=1).nan_to_num(0.0)


_OVER_QUERIES = (
    "Your softmax runs over the queries, so a query's weights do not sum to 1. Each query shares its attention among the keys, the last "
    "dimension: dim=-1."
)

HEADS = Question(
    name="hw1.MultiHeadAttention",
    title="Multi-head attention",
    points=4,
    minutes=35,
    difficulty=3,
    chapter="03_multi_head_attention#all-heads-at-once",
    cases=_heads_cases,
    reference=MultiHeadAttention,
    misconceptions=(
        Misconception(
            "scaled_by_root_d_model",
            "You divide the scores by √d_model. Each score is a sum over one head's d_head products, so √d_head is what brings it back to "
            "variance 1.",
            _ScaledByDModel,
        ),
        Misconception(
            "scaled_by_all_heads",
            "You divide the scores by √(n_heads · d_head), the width of all heads together. Each head takes its dot products over its own "
            "d_head numbers: divide by √d_head.",
            _ScaledByAllHeads,
        ),
        Misconception(
            "unscaled",
            "Your scores are not divided by √d_head, so each head's softmax is too sharp. Divide them before the softmax.",
            _Unscaled,
        ),
        Misconception(
            "w_o_forgotten",
            "You return the concatenated heads without W_O. The heads have worked separately; W_O mixes them and brings n_heads · d_head "
            "numbers back to d_model.",
            _WithoutWO,
        ),
        Misconception(
            "merged_without_transpose",
            "The heads are right, but they are merged by reshape alone, which strings one head's positions together. First transpose to "
            "(batch, n, n_heads, d_head), then flatten the last two dimensions.",
            _MergedWithoutTranspose,
        ),
        Misconception(
            "split_without_transpose",
            "You view the projections as (batch, n_heads, n, d_head) at once, which mixes the positions. View them as (batch, n, n_heads, "
            "d_head), then transpose(1, 2).",
            _SplitWithoutTranspose,
        ),
        Misconception(
            "never_transposed",
            'You split and merge the heads by view or reshape alone. The shapes fit, but a "head" then holds pieces of several positions: '
            "going in, view as (batch, n, n_heads, d_head) and transpose(1, 2); coming out, transpose(1, 2) and flatten.",
            _NeverTransposed,
        ),
        Misconception(
            "heads_attend_to_heads",
            "Your queries and keys are (batch, n, n_heads, d_head), so the *heads* of one position attend to each other and no word sees "
            "another. transpose(1, 2) before the dot products.",
            _HeadsBesidePositions,
        ),
        Misconception(
            "interleaved",
            "Your heads are interleaved: head 0 takes every n_heads-th number of a projection. It owns the first d_head of them: cut the "
            "last dimension as (n_heads, d_head), in this order.",
            _Interleaved,
        ),
        Misconception(
            "one_wide_head",
            "You attend once with all n_heads · d_head numbers: that is one wide head. Split queries, keys and values into n_heads heads "
            "first, each with its own softmax.",
            _OneHead,
        ),
        Misconception(
            "mask_ignored",
            "Right without a mask, but a mask changes nothing in your answer. Set the scores where it is False to -∞ before the softmax.",
            _MaskIgnored,
        ),
        Misconception(
            "mask_inverted",
            "Your mask works the wrong way round: True hides. True means *may attend*: fill the scores with -∞ where the mask is False.",
            _MaskInverted,
        ),
        Misconception(
            "scores_multiplied_by_mask",
            "You multiply the scores by the mask, which leaves a hidden key the score 0, and e⁰ = 1 still counts. Give it -∞.",
            _MaskMultiplied,
        ),
        Misconception(
            "keys_and_values_swapped",
            "Keys and values have changed places: W_K's output is averaged and W_V's is matched with the queries. Match with W_K x, "
            "average W_V x.",
            _KeysAndValuesSwapped,
        ),
        Misconception(
            "queries_and_keys_swapped",
            "Queries and keys have changed places, so your scores are transposed: W_Q makes the rows (who asks), W_K the columns (who is "
            "asked).",
            _QueriesAndKeysSwapped,
        ),
        Misconception(
            "keys_used_as_values",
            "You average the keys: W_V is never used. What a word is matched by (W_K x) and what it passes on (W_V x) are separate "
            "projections.",
            _KeysForValues,
        ),
        Misconception(
            "queries_used_as_keys",
            'Your keys are made with W_Q: W_K is never used. Then a word\'s score with another is the same both ways, and "it" asking '
            'about "cat" is "cat" asking about "it". Use W_K for the keys.',
            _QueriesForKeys,
        ),
        Misconception("softmax_over_queries", _OVER_QUERIES, _SoftmaxOverQueriesNaN),
        Misconception("softmax_over_queries", _OVER_QUERIES, _SoftmaxOverQueries),
        Misconception(
            "softmax_over_heads",
            "Your softmax runs over dim=1, the heads: they compete for each pair of words. Heads work independently; let the keys "
            "compete, dim=-1.",
            _SoftmaxOverHeads,
        ),
    ),
)

# ----------------------------------------------------------------------------------------------- 7: sinusoidal_positions


def _positions_cases(g: Generator) -> list[Case]:
    n, later = _sizes(g, 2, 4, 9)
    even, odd = (int(torch.randint(3, 6, (), generator=g)) * 2 for _ in range(2))
    start = int(torch.randint(5, 60, (), generator=g))
    return [
        Case((n, even), shows=f"{n} positions from 0, d_model = {even}"),
        Case((later, odd + 1), shows=f"{later} positions from 0, an odd d_model = {odd + 1}"),
        Case((later, even, start), shows=f"{later} positions from {start}, d_model = {even}"),
    ]


def sinusoidal_positions(n: int, d_model: int, start: int = 0) -> Tensor:
    """(n, d_model): the position vectors of start … start + n - 1, sines in the even columns and cosines in the odd ones."""
    positions = torch.arange(start, start + n, dtype=torch.float64)[:, None]
    angles = positions / 10_000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    # One (sine, cosine) for each frequency, side by side; an odd d_model has no room for the last cosine.
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(start_dim=1)[:, :d_model].float()


def _positions(n: int, d_model: int, start: int = 0, base: float = 10_000.0, exponent: float = 2.0, swapped: bool = False) -> Tensor:
    pairs = torch.arange((d_model + 1) // 2, dtype=torch.float64)
    angles = torch.arange(start, start + n, dtype=torch.float64)[:, None] * base ** (-exponent * pairs / d_model)
    both = [angles.cos(), angles.sin()] if swapped else [angles.sin(), angles.cos()]
    return torch.stack(both, dim=-1).flatten(start_dim=1)[:, :d_model].float()


def _positions_in_halves(n: int, d_model: int, start: int = 0) -> Tensor:
    both = sinusoidal_positions(n, d_model, start)
    return torch.cat([both[:, 0::2], both[:, 1::2]], dim=1)


def _positions_by_column(n: int, d_model: int, start: int = 0, exponent: float = 1.0) -> Tensor:
    columns = torch.arange(d_model, dtype=torch.float64)
    angles = torch.arange(start, start + n, dtype=torch.float64)[:, None] * 10_000 ** (-exponent * columns / d_model)
    return torch.where(columns % 2 == 0, angles.sin(), angles.cos()).float()


def _positions_from_one(n: int, d_model: int, start: int = 0) -> Tensor:
    return sinusoidal_positions(n, d_model, start + 1)


def _positions_start_ignored(n: int, d_model: int, start: int = 0) -> Tensor:
    return sinusoidal_positions(n, d_model)


def _positions_up_to_n(n: int, d_model: int, start: int = 0) -> Tensor:
    return sinusoidal_positions(n, d_model, start)[: max(n - start, 0)]


def _positions_sines_only(n: int, d_model: int, start: int = 0) -> Tensor:
    angles = torch.arange(start, start + n, dtype=torch.float64)[:, None] / 10_000 ** (
        torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    )
    return angles.sin().repeat_interleave(2, dim=1)[:, :d_model].float()


def _positions_odd_width_raises(n: int, d_model: int, start: int = 0) -> Tensor:
    angles = torch.arange(start, start + n, dtype=torch.float64)[:, None] / 10_000 ** (torch.arange(0, d_model, 2) / d_model)
    table = torch.zeros(n, d_model)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles.cos()
    return table


def _positions_odd_width_uncut(n: int, d_model: int, start: int = 0) -> Tensor:
    angles = torch.arange(start, start + n, dtype=torch.float64)[:, None] / 10_000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(start_dim=1).float()


def _positions_multiplied(n: int, d_model: int, start: int = 0) -> Tensor:
    # In float32, as it is usually written: these angles are so large that float64 gives other sines.
    angles = torch.arange(start, start + n)[:, None] * 10_000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(start_dim=1)[:, :d_model]


_ODD_WIDTH = (
    "Right for an even d_model, but an odd one has a sine more than it has cosines: 0, 2, 4 are sines and 1, 3 cosines when d_model = 5. "
    "Keep only the first d_model // 2 cosines."
)

POSITIONS = Question(
    name="hw1.sinusoidal_positions",
    title="Sinusoidal positions",
    points=3,
    minutes=20,
    difficulty=2,
    chapter="04_order#clocks",
    cases=_positions_cases,
    reference=sinusoidal_positions,
    misconceptions=(
        Misconception(
            "base_1000",
            "Your slowest wave is too fast: your base is 1000. The paper's is 10000 (some lectures drop a zero).",
            partial(_positions, base=1000.0),
        ),
        Misconception(
            "sines_then_cosines",
            "You put all sines in the first half and all cosines in the second. Some libraries do, and a model can learn from that as "
            "well; the formula asked for here alternates: sines in columns 0, 2, 4, …, cosines in 1, 3, 5, ….",
            _positions_in_halves,
        ),
        Misconception(
            "exponent_halved",
            "Your exponent is i / d_model, with i counting pairs. The formula has 2i / d_model, so that the wavelengths reach (almost) "
            "10000 · 2π: use torch.arange(0, d_model, 2) / d_model.",
            partial(_positions, exponent=1.0),
        ),
        Misconception(
            "exponent_doubled",
            "Your exponent is twice as large as it should be. If your i already counts 0, 2, 4, … (columns), it is the formula's 2i: "
            "divide by d_model and do not double it again.",
            partial(_positions, exponent=4.0),
        ),
        Misconception(
            "own_frequency_for_each_column",
            "The sine and the cosine of a pair turn at different speeds: your exponent is column / d_model. Columns 2i and 2i + 1 share "
            "the exponent 2i / d_model; only so are they the two coordinates of one clock hand.",
            _positions_by_column,
        ),
        Misconception(
            "own_frequency_for_each_column_doubled",
            "Your exponent is 2 · column / d_model: i in the formula counts *pairs* of columns. Columns 2i and 2i + 1 share the exponent "
            "2i / d_model.",
            partial(_positions_by_column, exponent=2.0),
        ),
        Misconception(
            "sine_and_cosine_swapped",
            "Sine and cosine have changed places: sines go into the even columns, counted from 0. Position 0 is 0, 1, 0, 1, ….",
            partial(_positions, swapped=True),
        ),
        Misconception(
            "sines_only",
            "Both columns of each pair hold the sine. The odd columns take the cosine: without it, positions on either side of a wave's "
            "top look alike.",
            _positions_sines_only,
        ),
        Misconception(
            "counted_from_one",
            "Your positions are one too large: the first is `start`, and 0 when no start is given. Position 0 is 0, 1, 0, 1, ….",
            _positions_from_one,
        ),
        Misconception(
            "start_ignored",
            "Right from position 0, but `start` changes nothing in your answer. The rows are the positions start … start + n - 1.",
            _positions_start_ignored,
        ),
        Misconception(
            "stops_at_n",
            "You take the positions from start up to n; n is how *many* rows are wanted: torch.arange(start, start + n).",
            _positions_up_to_n,
        ),
        Misconception(
            "multiplied_by_power",
            "You multiply the position by 10000^(2i / d_model); divide by it. Later pairs turn ever more slowly, like the hour hand after "
            "the minute hand.",
            _positions_multiplied,
        ),
        Misconception("odd_width_forgotten", _ODD_WIDTH, _positions_odd_width_raises),
        Misconception("odd_width_forgotten", _ODD_WIDTH, _positions_odd_width_uncut),
    ),
    atol=1e-4,
)

# ------------------------------------------------------------------------------------------------------- 8: order_effect


def _order_cases(g: Generator) -> list[Case]:
    cases = []
    for kind in ("no positions", "sinusoidal positions", "learned positions"):
        n, d = _sizes(g, 2, 4, 8)
        X, permutation = _normal(g, n, d), _restless_permutation(g, n)
        positions = {"no positions": None, "sinusoidal positions": published_positions(n, d), "learned positions": _normal(g, n, d)}[kind]
        args = (X, permutation) if positions is None else (X, permutation, positions)
        cases.append(Case(args, shows=f"{n} words of {d} numbers, shuffled to {permutation.tolist()}, {kind}"))
    return cases


def _attend(X: Tensor) -> Tensor:
    return (X @ X.T / X.shape[-1] ** 0.5).softmax(dim=-1) @ X


def order_effect(X: Tensor, permutation: Tensor, positions: Tensor | None = None) -> Tensor:
    """(n, d): row i is what shuffling the sentence changes in the output of word i."""
    positions = torch.zeros_like(X) if positions is None else positions
    in_order = _attend(X + positions)
    shuffled = _attend(X[permutation] + positions)
    return shuffled[permutation.argsort()] - in_order


def _order(X: Tensor, permutation: Tensor, positions: Tensor | None = None, undo: str = "inverse", where: str = "seats") -> Tensor:
    P = torch.zeros_like(X) if positions is None else positions
    if where == "seats":
        in_order, shuffled = _attend(X + P), _attend(X[permutation] + P)
    elif where == "words":
        in_order, shuffled = _attend(X + P), _attend((X + P)[permutation])
    elif where == "in order only":
        in_order, shuffled = _attend(X + P), _attend(X[permutation])
    elif where == "shuffled only":
        in_order, shuffled = _attend(X), _attend(X[permutation] + P)
    else:
        in_order, shuffled = _attend(X) + P, _attend(X[permutation]) + P
    back = {"inverse": permutation.argsort(), "not": torch.arange(len(X)), "twice": permutation}[undo]
    return shuffled[back] - in_order


def _order_sign_flipped(X: Tensor, permutation: Tensor, positions: Tensor | None = None) -> Tensor:
    return -order_effect(X, permutation, positions)


def _order_absolute(X: Tensor, permutation: Tensor, positions: Tensor | None = None) -> Tensor:
    return order_effect(X, permutation, positions).abs()


def _order_by_seat(X: Tensor, permutation: Tensor, positions: Tensor | None = None) -> Tensor:
    return order_effect(X, permutation, positions)[permutation]


ORDER = Question(
    name="hw1.order_effect",
    title="What order changes",
    points=2,
    minutes=20,
    difficulty=2,
    chapter="04_order#what-the-model-without-positions-knows",
    cases=_order_cases,
    reference=order_effect,
    misconceptions=(
        Misconception(
            "positions_move_with_the_words",
            "Your answer is 0 whatever the positions: they are left out, or shuffled along with the words. Positions belong to the seats: "
            "shuffle X, then add positions as they are.",
            partial(_order, where="words"),
        ),
        Misconception(
            "shuffle_not_undone",
            "You subtract seat by seat, so different words are compared with each other. Self-attention moves its outputs along with its "
            "inputs: bring the shuffled outputs back to the words' order first, with [permutation.argsort()].",
            partial(_order, undo="not"),
        ),
        Misconception(
            "shuffled_twice",
            "You index with permutation a second time, which shuffles again and does not undo. Seat i holds word permutation[i]; the seat "
            "of word i is permutation.argsort()[i].",
            partial(_order, undo="twice"),
        ),
        Misconception(
            "rows_by_seat",
            "Your differences are right, but row i belongs to the word in seat i of the shuffled sentence. Wanted is word i of the "
            "original: undo the shuffle with [permutation.argsort()] on the shuffled outputs.",
            _order_by_seat,
        ),
        Misconception(
            "sign_flipped",
            "Your sign is the other way round: wanted is the shuffled output minus the original one.",
            _order_sign_flipped,
        ),
        Misconception(
            "absolute_value",
            "You return absolute values; leave the sign: the shuffled output minus the original one.",
            _order_absolute,
        ),
        Misconception(
            "positions_on_the_original_only",
            "You add positions to the sentence in order but not to the shuffled one. Both readings have the same seats: add them to both.",
            partial(_order, where="in order only"),
        ),
        Misconception(
            "positions_on_the_shuffled_only",
            "You add positions to the shuffled sentence but not to the one in order. Both readings have the same seats: add them to both.",
            partial(_order, where="shuffled only"),
        ),
        Misconception(
            "positions_added_after_attention",
            "You add positions to the output of attention, where they can no longer influence who attends to whom. Add them to the words, "
            "before attend.",
            partial(_order, where="outputs"),
        ),
    ),
)

HOMEWORK = Homework(
    name="hw1",
    title="Attention",
    questions=(ATTENTION, SOFTMAX, CAUSAL, PADDING, SPLIT, HEADS, POSITIONS, ORDER),
)
