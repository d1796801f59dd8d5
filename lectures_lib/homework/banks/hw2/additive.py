"""Question 1: one look of a recurrent decoder, with the additive score of Bahdanau et al.
(2015).
"""

import math
from dataclasses import replace
from functools import partial

import torch
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import normal, sizes
from lectures_lib.homework.banks.mistakes import squeezing
from lectures_lib.homework.questions import Case, Demand, Misconception, Question


def some_lengths(g: Generator, batch: int, n: int) -> Tensor:
    """Lengths from 1 to n: one sentence fills the width, the others do not, and no two neighbours
    are alike.
    """
    while True:
        lengths = torch.randint(1, n, (batch,), generator=g)
        lengths[int(torch.randint(batch, (), generator=g))] = n
        if (lengths[1:] != lengths[:-1]).all():
            return lengths


def sizes_of_one(batch: int, n: int, kind: str) -> tuple[int, int]:
    """Batch and width, one of them 1 for the kinds of that name: where a bare `squeeze` takes an
    axis too many.
    """
    return (
        (1, n) if kind == "one sentence" else (batch, 1) if kind == "one word each" else (batch, n)
    )


LOOKS = "without padding, the weights and what is seen with them"
HIDES = "padding gets no weight, however low the scores are"


def _additive_cases(g: Generator) -> list[Case]:
    cases = []
    far_below = "some of them padded, and scores around -40"
    demands = dict.fromkeys(("some of them padded", far_below, "all of them padded"), (HIDES,))
    for kind in (
        "no padding",
        "some of them padded",
        "one sentence",
        "one word each",
        far_below,
        "all of them padded",
    ):
        batch, n, d_query, d_state, d_hidden = sizes(g, 5, 3, 9)
        batch, n = sizes_of_one(batch, n, kind)
        if kind == "one sentence":  # square matrices, which fit either way round
            d_state = d_hidden = d_query
        lengths = (
            some_lengths(g, batch, n)
            if kind.startswith("some of them padded")
            else torch.full((batch,), n)
        )
        if kind == "all of them padded":  # no sentence fills the width
            lengths = torch.randint(1, n, (batch,), generator=g)
        weights = (
            normal(g, d_hidden, d_query) / d_query**0.5,
            normal(g, d_hidden, d_state) / d_state**0.5,
        )
        query, states = normal(g, batch, d_query), 1.5 * normal(g, batch, n, d_state)
        v = 2 * normal(g, d_hidden) / d_hidden**0.5
        if kind == far_below:  # one hidden number is the same for every word, and v makes it large
            W_q, W_k = weights
            query[:, 0], W_q[0], W_k[0] = 1.0, torch.eye(d_query)[0], 0.0
            v[0] = -40 / math.tanh(1)
        cases.append(
            Case(
                (query, states, *weights, v, lengths),
                demands=demands.get(kind, (LOOKS,)),
                shows=(
                    f"{batch} sentences of width {n}, {kind}; d_query = {d_query}, d_state = "
                    f"{d_state}, d_hidden = {d_hidden}"
                ),
            )
        )
    return cases


def additive_attention(
    query: Tensor, states: Tensor, W_q: Tensor, W_k: Tensor, v: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor]:
    """The context vectors (batch, d_state) and the weights (batch, n), scored by v · tanh(W_q q +
    W_k k).
    """
    hidden = torch.tanh((query @ W_q.T)[:, None] + states @ W_k.T)  # (batch, n, d_hidden)
    words = torch.arange(states.shape[1]) < lengths[:, None]
    weights = (hidden @ v).masked_fill(~words, -math.inf).softmax(dim=-1)
    return (weights[:, None] @ states)[:, 0], weights


def _additive(
    query,
    states,
    W_q,
    W_k,
    v,
    lengths,
    score="additive",
    hide="before",
    longer=0,
    inverted=False,
    dim=-1,
    scaled=False,
    fill=-math.inf,
):
    q, k = (query @ W_q.T)[:, None], states @ W_k.T
    scores = {
        "additive": lambda: torch.tanh(q + k) @ v,
        "no tanh": lambda: (q + k) @ v,
        "tanh last": lambda: torch.tanh((q + k) @ v),
        "tanh of each": lambda: (torch.tanh(q) + torch.tanh(k)) @ v,
        "relu": lambda: torch.relu(q + k) @ v,
        "sigmoid": lambda: torch.sigmoid(q + k) @ v,
        "product": lambda: torch.tanh(q * k) @ v,
        "dot": lambda: (q * k).sum(dim=-1),
        "sum": lambda: torch.tanh(q + k).sum(dim=-1),
    }[score]()
    scores = scores / len(v) ** 0.5 if scaled else scores
    words = torch.arange(states.shape[1]) < lengths[:, None] + longer
    words = ~words if inverted else words
    if hide == "before":
        weights = scores.masked_fill(~words, fill).softmax(dim)
    else:
        weights = (scores * words if hide == "zero scores" else scores).softmax(dim)
        weights = weights * words if hide == "after" else weights
    return (weights[:, None] @ states)[:, 0], weights


def _additive_square_untransposed(query, states, W_q, W_k, v, lengths, which="both"):
    """A matrix is transposed only where it would not fit otherwise."""
    W_q = W_q.T if which != "W_k" and len(W_q) == W_q.shape[1] else W_q
    W_k = W_k.T if which != "W_q" and len(W_k) == W_k.shape[1] else W_k
    return additive_attention(query, states, W_q, W_k, v, lengths)


def _additive_cut_to_the_longest(query, states, W_q, W_k, v, lengths):
    return additive_attention(query, states[:, : int(lengths.max())], W_q, W_k, v, lengths)


def _additive_keys_averaged(query, states, W_q, W_k, v, lengths):
    _, weights = additive_attention(query, states, W_q, W_k, v, lengths)
    return (weights[:, None] @ (states @ W_k.T))[:, 0], weights


def _additive_pair_swapped(query, states, W_q, W_k, v, lengths):
    return additive_attention(query, states, W_q, W_k, v, lengths)[::-1]


def _additive_context_only(query, states, W_q, W_k, v, lengths):
    return additive_attention(query, states, W_q, W_k, v, lengths)[0]


_NO_QUERY = (
    "The query has no say in your weights. Without a tanh around the *sum*, v · W_q q is one "
    "number added to all scores of a sentence, and a softmax does not notice what is added to all "
    "of them. The tanh goes around W_q q + W_k k: there the two can meet."
)
_INVERTED = (
    "You look at the padding and at nothing else: the mask works the wrong way round. The first "
    "lengths[b] positions of sentence b are words; all *others* get the score -∞."
)

_SQUARE = (
    "Right but for square matrices, which you do not transpose: they fit either way round, but W_q "
    "q, with the vector upright, is query @ W_q.T for vectors that lie in rows, whatever the shape."
)


def _additive_untransposed(query, states, W_q, W_k, v, lengths, which="W_q"):
    q = query @ (W_q if which != "W_k" else W_q.T)
    k = states @ (W_k if which != "W_q" else W_k.T)
    words = torch.arange(states.shape[1]) < lengths[:, None]
    scores = torch.tanh(q[:, None] + k) @ v
    weights = scores.masked_fill(~words, -math.inf).softmax(dim=-1)
    return (weights[:, None] @ states)[:, 0], weights


def _additive_context_of_three_axes(query, states, W_q, W_k, v, lengths):
    _, weights = additive_attention(query, states, W_q, W_k, v, lengths)
    return weights[:, None] @ states, weights


_UNTRANSPOSED = (
    "You multiply by W_q or W_k as it is, and the sizes do not fit. W_q has the shape (d_hidden, "
    "d_query), and your queries lie in rows: W_q q, with the vector upright, is query @ W_q.T; "
    "likewise states @ W_k.T."
)


def _additive_padding_zeroed(query, states, W_q, W_k, v, lengths):
    """The states of padding are 0, its scores are as they come out."""
    words = torch.arange(states.shape[1]) < lengths[:, None]
    everywhere = torch.full_like(lengths, states.shape[1])
    return additive_attention(query, states * words[..., None], W_q, W_k, v, everywhere)


def _additive_mean(query, states, W_q, W_k, v, lengths):
    context, weights = additive_attention(query, states, W_q, W_k, v, lengths)
    return context / states.shape[1], weights


def _additive_scores_returned(query, states, W_q, W_k, v, lengths, hidden=False):
    context, weights = additive_attention(query, states, W_q, W_k, v, lengths)
    scores = torch.tanh((query @ W_q.T)[:, None] + states @ W_k.T) @ v
    return context, scores.masked_fill(weights == 0, -math.inf) if hidden else scores


def _additive_left(query, states, W_q, W_k, v, lengths):
    n = states.shape[1]
    scores = torch.tanh((query @ W_q.T)[:, None] + states @ W_k.T) @ v
    words = torch.arange(n) >= n - lengths[:, None]
    weights = scores.masked_fill(~words, -math.inf).softmax(dim=-1)
    return (weights[:, None] @ states)[:, 0], weights


def _additive_squeezed(query, states, W_q, W_k, v, lengths, where):
    """A bare squeeze() behind some of the three: the scores, the weights, the context."""
    bare = {name: Tensor.squeeze for name in where}
    kept = lambda x: x  # noqa: E731
    scores = torch.tanh((query @ W_q.T)[:, None] + states @ W_k.T) @ v
    words = torch.arange(states.shape[1]) < lengths[:, None]
    scores = bare.get("scores", kept)(scores).masked_fill(~words, -math.inf)
    weights = scores.softmax(dim=-1)
    context = bare.get("context", kept)((weights[:, None] @ states)[:, 0])
    return context, bare.get("weights", kept)(weights)


_SCORES = (
    "Your contexts are right, but beside them you return the scores. The weights are asked for, "
    "which the softmax makes of them."
)


ADDITIVE = Question(
    name="hw2.additive_attention",
    title="One look back",
    points=3,
    minutes=20,
    difficulty=2,
    chapter="01_bottleneck#looking-back-by-hand",
    cases=_additive_cases,
    reference=additive_attention,
    demands=(Demand(LOOKS, 1.5), Demand(HIDES, 1.5)),
    trained=True,
    misconceptions=(
        Misconception(
            "cut_to_the_longest",
            "You cut the sentences to the longest of them. The states have n places, and so have "
            "the weights, (batch, n): where no sentence fills them, the last ones are 0 for all.",
            _additive_cut_to_the_longest,
        ),
        Misconception("query_has_no_say", _NO_QUERY, partial(_additive, score="no tanh")),
        Misconception("query_has_no_say", _NO_QUERY, partial(_additive, score="tanh of each")),
        Misconception(
            "tanh_after_v",
            "Your tanh comes last, around the finished score: it squeezes every score between -1 "
            "and 1, so no word can stand out. It belongs around the hidden layer, v · tanh(W_q q + "
            "W_k k).",
            partial(_additive, score="tanh last"),
        ),
        Misconception(
            "relu_for_tanh",
            "Your hidden layer uses ReLU, as the Transformer's feed-forward layer does. Bahdanau's "
            "score uses tanh.",
            partial(_additive, score="relu"),
        ),
        Misconception(
            "sigmoid_for_tanh",
            "Your hidden layer uses the sigmoid, which lies between 0 and 1. Bahdanau's score uses "
            "tanh, between -1 and 1.",
            partial(_additive, score="sigmoid"),
        ),
        Misconception(
            "product_for_sum",
            "You multiply W_q q and W_k k entry by entry. This score is called *additive* because "
            "they are added; v then weighs the entries of the tanh.",
            partial(_additive, score="product"),
        ),
        Misconception(
            "dot_for_additive",
            "Your score is the dot product of W_q q and W_k k; v is never used. That is another "
            "kind of attention (chapter 2's). Here the two are added, go through tanh, and v makes "
            "one number of the result.",
            partial(_additive, score="dot"),
        ),
        Misconception(
            "v_never_used",
            "You sum the hidden layer without weighing it: v is never used. The score is the dot "
            "product of v with the tanh.",
            partial(_additive, score="sum"),
        ),
        Misconception(
            "scaled",
            "You divide the scores by √d_hidden. The Transformer scales its dot products; the "
            "additive score is used as it is, for v is learned and can choose the scale.",
            partial(_additive, scaled=True),
        ),
        Misconception(
            "padding_ignored",
            "Right without padding, but padded positions get weight. Positions lengths[b] and "
            "later of sentence b are no words: give them the score -∞ before the softmax.",
            partial(_additive, hide="not"),
        ),
        Misconception(
            "masked_after_softmax",
            "Your weights do not sum to 1 where there is padding: the softmax shared out among all "
            "positions, and padding's share was thrown away. Set the scores of padding to -∞ "
            "*before* the softmax.",
            partial(_additive, hide="after"),
        ),
        Misconception(
            "padding_scores_zero",
            "You give padding the score 0. e⁰ = 1 still counts, often more than a word with a "
            "negative score: use -∞, whose exponential is 0.",
            partial(_additive, hide="zero scores"),
        ),
        Misconception(
            "padding_not_low_enough",
            "You give padding a score that is low, but not low enough, such as -20: here the "
            "words' own scores are around -40, and padding wins. Only -∞ is below every score.",
            partial(_additive, fill=-20.0),
        ),
        Misconception(
            "one_too_many",
            "One padded position too many is looked at. Counting starts at 0, so a sentence of "
            "length 3 has its words at positions 0, 1 and 2: position < length, not ≤.",
            partial(_additive, longer=1),
        ),
        Misconception(
            "one_too_few",
            "The last word of every sentence is hidden. A sentence of length 3 has words at "
            "positions 0, 1 and 2: position < length.",
            partial(_additive, longer=-1),
        ),
        Misconception("mask_inverted", _INVERTED, partial(_additive, inverted=True)),
        Misconception("square_matrices_untransposed", _SQUARE, _additive_square_untransposed),
        Misconception(
            "square_matrices_untransposed",
            _SQUARE,
            partial(_additive_square_untransposed, which="W_q"),
        ),
        Misconception(
            "square_matrices_untransposed",
            _SQUARE,
            partial(_additive_square_untransposed, which="W_k"),
        ),
        Misconception(
            "softmax_over_batch",
            "Your softmax runs over the batch: the sentences compete for each position. The words "
            "of *one* sentence share its attention: dim=-1.",
            partial(_additive, dim=0),
        ),
        Misconception(
            "projected_states_averaged",
            "You average the projected states W_k k. The projection serves the score only; the "
            "context is the weighted mean of the encoder's states themselves, of width d_state.",
            _additive_keys_averaged,
        ),
        Misconception(
            "weights_first",
            "Both parts are right, in the wrong order: return the context first, then the weights.",
            _additive_pair_swapped,
        ),
        Misconception(
            "weights_not_returned",
            "The context is right; the weights are asked for as well: return (context, weights).",
            _additive_context_only,
        ),
        Misconception("matrix_untransposed", _UNTRANSPOSED, _additive_untransposed),
        Misconception(
            "matrix_untransposed", _UNTRANSPOSED, partial(_additive_untransposed, which="W_k")
        ),
        Misconception(
            "context_with_an_axis_too_many",
            "Your context vectors are right but lie in (batch, 1, d_state): the axis of size 1, "
            "for the one query, is left over from the product. Take it out: [:, 0] or squeeze(1).",
            _additive_context_of_three_axes,
        ),
        Misconception(
            "padding_set_to_0",
            "You set the states of padding to 0. The softmax still shares its weights out among "
            "all places: padding takes its part, though it adds nothing to the context. Hide its "
            "scores, before the softmax.",
            _additive_padding_zeroed,
        ),
        Misconception(
            "mean_of_the_weighted_states",
            "Your context is divided by the number of places: a mean of the weighted states. The "
            "weights sum to 1 already; add up.",
            _additive_mean,
        ),
        Misconception(
            "scores_returned",
            _SCORES,
            _additive_scores_returned,
        ),
        Misconception("scores_returned", _SCORES, partial(_additive_scores_returned, hidden=True)),
        Misconception(
            "padding_taken_for_left",
            "You hide the *first* places of the shorter sentences. Here the words of sentence b "
            "stand at its first lengths[b] places, and padding comes behind them.",
            _additive_left,
        ),
        *(
            replace(squeezing(additive_attention), answer=partial(_additive_squeezed, where=where))
            for where in (
                ("scores",),
                ("context",),
                ("weights",),
                ("scores", "context"),
                ("context", "weights"),
            )
        ),
    ),
)
