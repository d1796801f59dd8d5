"""Question 1: scaled dot-product attention, without a mask."""

import math
from functools import partial

import torch
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import normal, sizes
from lectures_lib.homework.questions import Case, Demand, Misconception, Question, Varied

# Ready-made attention, nn.MultiheadAttention included: out of bounds in all of homework 1.
READY_MADE = ("F.scaled_dot_product_attention", "F.multi_head_attention_forward")
BATCH = "a batch of sentences: each query gets the mean of the values that fits it"
HEADS = "with heads, or any other dimensions in front, it does the same"


def _attention_cases(g: Generator) -> list[Case]:
    cases = []
    for leading in (1, 2):
        n_query, n_key, d_k, d_v = _sizes(g)
        batch = sizes(g, leading, 2, 4)
        while leading == 2 and batch[1] in (n_query, d_k):  # all are divided by, wrongly or not
            batch = sizes(g, leading, 2, 4)
        Q, K, V = (
            normal(g, *batch, n_query, d_k),
            normal(g, *batch, n_key, d_k),
            normal(g, *batch, n_key, d_v),
        )
        where = f"a batch of {batch[0]}" + (f" with {batch[1]} heads each" if leading == 2 else "")
        cases.append(
            Case(
                (Q, K, V),
                shows=f"{where}: {n_query} queries, {n_key} keys, d_k = {d_k}, d_v = {d_v}",
                demands=(BATCH if leading == 1 else HEADS,),
            )
        )
    n_query, n_key, d_k, d_v = _sizes(g)
    for one in ("a single query", "a single key", "a single number in each value"):
        shape = {
            "a single query": (1, n_key, d_v),
            "a single key": (n_query, 1, d_v),
            "a single number in each value": (n_query, n_key, 1),
        }
        n, m, width = shape[one]
        Q, K, V = normal(g, 1, n, d_k), normal(g, 1, m, d_k), normal(g, 1, m, width)
        cases.append(
            Case(
                (Q, K, V),
                shows=f"a batch of 1: {n} queries, {m} keys, d_k = {d_k}, d_v = {width}: {one}",
            )
        )
    return cases


def _sizes(g: Generator) -> list[int]:
    """n_query, n_key, d_k, d_v, for which everything that scores are wrongly divided by differs: 4
    / 2 is √4.
    """
    while True:
        n_query, n_key, d_k, d_v = sizes(g, 4, 3, 11)
        divisors = [
            d_k**0.5,
            1,
            d_k,
            d_k**-0.5,
            n_query**0.5,
            n_key**0.5,
            d_v**0.5,
            d_k / 2,
            d_k * 2,
            int(d_k**0.5),
        ]
        if len({round(divisor, 6) for divisor in divisors}) == len(divisors):
            return [n_query, n_key, d_k, d_v]


def scaled_dot_product_attention(
    Q: Tensor, K: Tensor, V: Tensor, *, temperature: float = 1.0
) -> Tensor:
    """softmax(Q Kᵀ / √d_k) V, the softmax over the keys."""
    scores = Q @ K.transpose(-2, -1) / (temperature * math.sqrt(Q.shape[-1]))
    return scores.softmax(dim=-1) @ V


def _attention(
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    divisor: str = "root_d_k",
    dim: int = -1,
    after: bool = False,
    *,
    temperature: float = 1.0,
) -> Tensor:
    n_key, d_k, d_v = K.shape[-2], K.shape[-1], V.shape[-1]
    divisors = {
        "root_d_k": d_k**0.5,
        "one": 1,
        "d_k": d_k,
        "inverse": d_k**-0.5,
        "root_n_query": Q.shape[-2] ** 0.5,
        "root_n_key": n_key**0.5,
        "root_d_v": d_v**0.5,
        "root_of_dimension_1": Q.shape[1] ** 0.5,
        "root_of_dimension_2": K.shape[2] ** 0.5,
    }
    divide_by = (divisors | {"half_d_k": d_k / 2, "twice_d_k": d_k * 2, "cut_root": int(d_k**0.5)})[
        divisor
    ] * temperature
    scores = Q @ K.transpose(-2, -1)
    weights = scores.softmax(dim) / divide_by if after else (scores / divide_by).softmax(dim)
    return weights @ V


def _attention_keys_from_the_front(
    Q: Tensor, K: Tensor, V: Tensor, *, temperature: float = 1.0
) -> Tensor:
    scores = Q @ K.transpose(1, 2) / (temperature * math.sqrt(Q.shape[-1]))
    return scores.softmax(dim=-1) @ V


def _attention_keys_reversed(
    Q: Tensor, K: Tensor, V: Tensor, *, temperature: float = 1.0
) -> Tensor:
    # what K.T does
    scores = Q @ K.permute(*range(K.dim())[::-1]) / (temperature * math.sqrt(Q.shape[-1]))
    return scores.softmax(dim=-1) @ V


def _attention_without_softmax(
    Q: Tensor, K: Tensor, V: Tensor, *, temperature: float = 1.0
) -> Tensor:
    return Q @ K.transpose(-2, -1) / (temperature * math.sqrt(Q.shape[-1])) @ V


_HALF = (
    "Your scores are divided by d_k / 2 or by 2 · d_k. In Python d_k ** 1/2 is (d_k ** 1) / 2, and "
    "scores / d_k ** 1/2 divides by d_k and then by 2: powers come before divisions. Write d_k ** "
    "0.5, or math.sqrt(d_k)."
)


def _wording(temperature: float) -> dict[str, str]:
    """The formula and the small case, whose second score is 0."""
    score = 1 / temperature
    weight = 1 / (1 + math.exp(-score))
    t = f"{temperature:g}"
    return {
        "The formula of the whole course:": f"The formula of the whole course, with one addition. "
        f"Scores are also divided by a *temperature*, here always T = {t}:",
        r"Q K^\top}{\sqrt{d_k}}": rf"Q K^\top}}{{{t}\,\sqrt{{d_k}}}}",
        "since $d_k = 4$, the scores are 1 and 0": f"since $d_k = 4$, the scores are 2 / ({t} · 2) "
        f"= {score:.2f} and 0",
        "makes 0.73 and 0.27 of them": f"makes {weight:.2f} and {1 - weight:.2f} of them",
        "the output is 7.3": f"the output is {10 * weight:.1f}",
        "softmax(Q Kᵀ / √d_k) V": f"softmax(Q Kᵀ / ({t} √d_k)) V",
    }


def _attention_by_bmm(Q: Tensor, K: Tensor, V: Tensor, *, temperature: float = 1.0) -> Tensor:
    scores = torch.bmm(Q, K.transpose(-2, -1)) / (temperature * math.sqrt(Q.shape[-1]))
    return torch.bmm(scores.softmax(dim=-1), V)


def _attention_and_weights(
    Q: Tensor, K: Tensor, V: Tensor, *, temperature: float = 1.0
) -> tuple[Tensor, Tensor]:
    scores = Q @ K.transpose(-2, -1) / (temperature * math.sqrt(Q.shape[-1]))
    weights = scores.softmax(dim=-1)
    return weights @ V, weights


def _attention_keys_reshaped(
    Q: Tensor, K: Tensor, V: Tensor, *, temperature: float = 1.0
) -> Tensor:
    columns = K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2])
    scores = Q @ columns / (temperature * math.sqrt(Q.shape[-1]))
    return scores.softmax(dim=-1) @ V


def _attention_of_exponentials(
    Q: Tensor, K: Tensor, V: Tensor, *, temperature: float = 1.0
) -> Tensor:
    scores = Q @ K.transpose(-2, -1) / (temperature * math.sqrt(Q.shape[-1]))
    return scores.exp() @ V


def _attention_of_logarithms(
    Q: Tensor, K: Tensor, V: Tensor, *, temperature: float = 1.0
) -> Tensor:
    scores = Q @ K.transpose(-2, -1) / (temperature * math.sqrt(Q.shape[-1]))
    return scores.log_softmax(dim=-1) @ V


def _attention_scaled_twice(Q: Tensor, K: Tensor, V: Tensor, *, temperature: float = 1.0) -> Tensor:
    attended = scaled_dot_product_attention(Q, K, V, temperature=temperature)
    return attended / (temperature * math.sqrt(Q.shape[-1]))


def _attention_by_cosines(
    Q: Tensor, K: Tensor, V: Tensor, divided: bool = False, *, temperature: float = 1.0
) -> Tensor:
    Q, K = (each / each.norm(dim=-1, keepdim=True) for each in (Q, K))
    divisor = math.sqrt(Q.shape[-1]) if divided else 1
    return (Q @ K.transpose(-2, -1) / (temperature * divisor)).softmax(dim=-1) @ V


_COSINES = (
    "Your scores are cosines: you divide queries and keys by their lengths. A score is the dot "
    "product Q Kᵀ itself, divided by √d_k, the same number for all."
)

ATTENTION = Question(
    name="hw1.scaled_dot_product_attention",
    title="Scaled dot-product attention",
    points=2,
    minutes=10,
    difficulty=1,
    chapter="02_self_attention#why-divide-by-d_k",
    cases=_attention_cases,
    reference=scaled_dot_product_attention,
    forbidden=READY_MADE,
    trained=True,
    misconceptions=(
        Misconception(
            "d_k_from_dimension_2",
            "Right without heads. With them you divide by the root of the number of keys: "
            "dimension 2 is d_k in (batch, n, d_k), and n in (batch, n_heads, n, d_k). Count from "
            "the end: K.shape[-1].",
            partial(_attention, divisor="root_of_dimension_2"),
        ),
        Misconception(
            "unscaled",
            "Your scores are not divided by √d_k: they grow with the width of the vectors, and the "
            "softmax puts nearly all weight on one key. Divide Q Kᵀ by √d_k before the softmax.",
            partial(_attention, divisor="one"),
        ),
        Misconception(
            "divided_by_d_k",
            "Your scores are divided by d_k, not by its square root, which makes the weights too "
            "even. A sum of d_k products has variance d_k, so its standard deviation is √d_k: "
            "divide by that, once.",
            partial(_attention, divisor="d_k"),
        ),
        Misconception("half_for_the_root", _HALF, partial(_attention, divisor="half_d_k")),
        Misconception("half_for_the_root", _HALF, partial(_attention, divisor="twice_d_k")),
        Misconception(
            "root_cut_to_a_whole_number",
            "You divide by the root of d_k without what stands behind its point: int(…), `//` and "
            "math.isqrt cut it off. Divide by math.sqrt(d_k) as it is.",
            partial(_attention, divisor="cut_root"),
        ),
        Misconception(
            "multiplied_by_root_d_k",
            "Your scores are multiplied by √d_k: that makes large scores larger still. Divide by "
            "√d_k, to bring them back to variance 1.",
            partial(_attention, divisor="inverse"),
        ),
        Misconception(
            "scaled_by_number_of_keys",
            "You divide by the square root of the number of keys. A score is a sum over the d_k "
            "entries of one query and one key, however many keys there are: divide by √d_k, with "
            "d_k = Q.shape[-1].",
            partial(_attention, divisor="root_n_key"),
        ),
        Misconception(
            "scaled_by_number_of_queries",
            "You divide by the square root of the number of queries, the length of the sentence: "
            "Q.shape[-2]. A score is a sum over the d_k entries of one query and one key, however "
            "long the sentence is: divide by √d_k, with d_k = Q.shape[-1].",
            partial(_attention, divisor="root_n_query"),
        ),
        Misconception(
            "d_k_from_dimension_1",
            "You take d_k from dimension 1: those are the queries in (batch, n_query, d_k), and "
            "the heads where there are heads too. Count from the end: d_k = Q.shape[-1].",
            partial(_attention, divisor="root_of_dimension_1"),
        ),
        Misconception("cosines_for_dot_products", _COSINES, _attention_by_cosines),
        Misconception(
            "cosines_for_dot_products", _COSINES, partial(_attention_by_cosines, divided=True)
        ),
        Misconception(
            "scaled_by_root_d_v",
            "You divide by √d_v, but the values play no part in the scores. The width that counts "
            "is that of queries and keys: d_k = K.shape[-1].",
            partial(_attention, divisor="root_d_v"),
        ),
        Misconception(
            "scaled_after_softmax",
            "You divide by √d_k after the softmax, so each query's weights sum to 1/√d_k. Scale "
            "the scores first; the softmax comes last and its rows then sum to 1.",
            partial(_attention, after=True),
        ),
        Misconception(
            "softmax_over_queries",
            "Your rows do not sum to 1: the softmax ran over the queries. Each query shares its "
            "attention among the keys, so use the last dimension, dim=-1.",
            partial(_attention, dim=-2),
        ),
        Misconception(
            "softmax_over_dim_1",
            "Your softmax runs over dim=1: the queries in a batch (batch, n_query, n_key), and the "
            "heads where there are heads too. The keys are always the last dimension: dim=-1.",
            partial(_attention, dim=1),
        ),
        Misconception(
            "softmax_over_dim_2",
            "Your softmax runs over dim=2. Those are the keys in (batch, n_query, n_key), but the "
            "queries as soon as there are heads: (batch, n_heads, n_query, n_key). Count from the "
            "end: dim=-1.",
            partial(_attention, dim=2),
        ),
        Misconception(
            "softmax_over_batch",
            "Your softmax runs over dim=0, the batch: the sentences of a batch compete with each "
            "other, though they should not know of each other. Let the keys compete: dim=-1.",
            partial(_attention, dim=0),
        ),
        Misconception(
            "no_softmax",
            "Your scores are used as weights directly. Without the softmax they can be negative "
            "and do not sum to 1, so the output is no average of the values: apply softmax(dim=-1) "
            "to the scores first.",
            _attention_without_softmax,
        ),
        Misconception(
            "keys_transposed_from_the_front",
            "Right without heads, an error with them: K.transpose(1, 2) exchanges heads and keys "
            "in (batch, n_heads, n_key, d_k). Count from the end: transpose(-2, -1).",
            _attention_keys_from_the_front,
        ),
        Misconception(
            "keys_transposed_altogether",
            "K.T reverses *all* dimensions, the batch included; Q Kᵀ in the formula means the last "
            "two. Write K.transpose(-2, -1), or K.mT.",
            _attention_keys_reversed,
        ),
        Misconception(
            "bmm_knows_no_heads",
            "Right without heads, an error with them: torch.bmm multiplies (batch, n, m) by "
            "(batch, m, k) and takes no other number of dimensions. `@` and torch.matmul multiply "
            "the last two, however many stand before them.",
            _attention_by_bmm,
        ),
        Misconception(
            "keys_reshaped",
            "You reshape the keys to (…, d_k, n_key), which only moves the brackets: a column then "
            "holds numbers of several keys. Kᵀ has each key as a column: transpose(-2, -1).",
            _attention_keys_reshaped,
        ),
        Misconception(
            "not_divided_by_the_sum",
            "Your weights are the exponentials of the scores, and do not sum to 1. The softmax "
            "divides them by their sum over the keys.",
            _attention_of_exponentials,
        ),
        Misconception(
            "log_softmax_for_softmax",
            "Your weights are the logarithms of the right ones (log_softmax). Values are averaged "
            "with weights that are positive and sum to 1: softmax.",
            _attention_of_logarithms,
        ),
        Misconception(
            "scaled_twice",
            "You divide by √d_k before the softmax and once more after it. The weights sum to 1 "
            "as they come out of the softmax: leave them so.",
            _attention_scaled_twice,
        ),
        Misconception(
            "weights_returned_too",
            "You return a pair, the output and the weights. The output is right; return it alone.",
            _attention_and_weights,
        ),
    ),
    varied=Varied(
        "temperature",
        (1.0, 1.3, 0.7, 1.7),  # no ratio of two is the root of a width, or twice one
        says=lambda t: f"scores are divided by {t:g} · √d_k",
        wording=_wording,
    ),
    demands=(Demand(BATCH, 1), Demand(HEADS, 1)),
)
