"""Question 8: the other pairs of the batch are the wrong answers, unless they are right ones, too."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from lectures_lib.homework.hw1.inputs import normal, sizes
from lectures_lib.homework.hw3.inputs import telling, whole
from lectures_lib.homework.questions import Case, Misconception, Question


def _draw(g: Generator) -> list[Case]:
    cases = []
    for twice in (False, True):
        batch, d_model = sizes(g, 2, 6, 10)
        text, v = torch.randperm(batch, generator=g), normal(g, batch, d_model) * (0.5 + torch.rand(batch, 1, generator=g))
        if twice:
            one, two, three, four = torch.randperm(batch, generator=g)[:4].tolist()
            text[one], text[three] = text[two], text[four]
            v[one], v[three] = v[two], v[four]
        u = normal(g, batch, d_model) + 0.7 * v
        scale = [float(whole(g, 3, 6))] if twice else []
        shows = f"{batch} pairs of vectors of {d_model} numbers, {'two texts occur' if twice else 'no text occurs'} twice, "
        cases.append(Case((u, v, text, *scale), shows=shows + (f"scale = {scale[0]:g}" if scale else "scale not given")))
    return cases


def ranking_loss(u: Tensor, v: Tensor, text: Tensor, scale: float = 20.0) -> Tensor:
    """The mean over i of -log p, p the share of v[i] among all v that are no other copy of it."""
    return _loss(u, v, text, scale)


def _cosines(u: Tensor, v: Tensor) -> Tensor:
    return F.normalize(u, dim=-1) @ F.normalize(v, dim=-1).T


def _copies(text: Tensor) -> Tensor:
    """True where another pair has the same second text."""
    return (text[:, None] == text) & ~torch.eye(len(text), dtype=torch.bool)


def _own(scores: Tensor, reduction: str = "mean") -> Tensor:
    return F.cross_entropy(scores, torch.arange(len(scores)), reduction=reduction)


def _loss(u, v, text, scale=20.0, similarity=_cosines, hidden=_copies, loss=_own, factor=None):
    scores = similarity(u, v) * (scale if factor is None else factor(scale))
    return loss(scores.masked_fill(hidden(text), -torch.inf))


def _nothing(text: Tensor) -> Tensor:
    return torch.zeros(len(text), len(text), dtype=torch.bool)


def _dots(u: Tensor, v: Tensor) -> Tensor:
    return u @ v.T


def _both_ways(scores: Tensor) -> Tensor:
    return (_own(scores) + _own(scores.T)) / 2


def _copies_count_zero(u, v, text, scale=20.0):
    return _own((_cosines(u, v) * scale).masked_fill(_copies(text), 0.0))


def _copies_are_right(u, v, text, scale=20.0):
    """Every copy of the right text is right, and its probability is added."""
    p = (_cosines(u, v) * scale).softmax(dim=-1)
    return -(p * (text[:, None] == text)).sum(dim=-1).log().mean()


def _rows_with_copies_left_out(u, v, text, scale=20.0):
    losses = _own(_cosines(u, v) * scale, "none")
    return losses[~_copies(text).any(dim=-1)].mean()


def _first_of_each_text(u, v, text, scale=20.0):
    """Only the first pair of each text stays in the batch."""
    rows = [i for i, t in enumerate(text.tolist()) if t not in text[:i].tolist()]
    return _own(_cosines(u[rows], v[rows]) * scale)


def _text_as_target(u, v, text, scale=20.0):
    return F.cross_entropy((_cosines(u, v) * scale).masked_fill(_copies(text), -torch.inf), text)


def _negatives_only(scores: Tensor) -> Tensor:
    others = scores.masked_fill(torch.eye(len(scores), dtype=torch.bool), -torch.inf)
    return (others.logsumexp(dim=-1) - scores.diagonal()).mean()


def _pulled_only(u, v, text, scale=20.0):
    return (1 - F.cosine_similarity(u, v)).mean()


_COPIES = (
    "Right where no text occurs twice. A copy of the right answer must be neither a wrong one nor a second right one: set its score "
    "to -∞ before the softmax, and keep everything else."
)
_DROPPED = (
    "Right where no text occurs twice. Where one does, you drop whole pairs from the loss. Every u keeps its row; only the copy of its "
    "own text is left out of that row."
)
_ONE_SIDE = "You bring only u, or only v, to length 1. A cosine is the dot product of two vectors of length 1."
_ALL_MASKED = (
    "Your loss is infinite or no number: with the copies you have also taken out the right answer itself. Where text[i] == text[j], only "
    "j ≠ i is left out."
)

_MISTAKES = (
    Misconception(
        "copies_are_wrong_answers",
        "Right where no text occurs twice. Where one does, its copy counts as a wrong answer, and the model is told to push away the "
        "very text it should find. Leave out other pairs with the same text.",
        partial(_loss, hidden=_nothing),
    ),
    Misconception("copies_not_left_out_properly", _COPIES, _copies_count_zero),
    Misconception("copies_not_left_out_properly", _COPIES, _copies_are_right),
    Misconception("pairs_thrown_away", _DROPPED, _rows_with_copies_left_out),
    Misconception("pairs_thrown_away", _DROPPED, _first_of_each_text),
    Misconception(
        "right_answer_left_out",
        _ALL_MASKED,
        partial(_loss, hidden=lambda text: text[:, None] == text),
    ),
    Misconception(
        "only_wrong_answers_below",
        "In the denominator of your softmax stand the wrong answers only. The right one stands there, too: the shares of all sum to 1.",
        partial(_loss, loss=_negatives_only),
    ),
    Misconception(
        "text_taken_for_the_place",
        "You take `text` for the right answers' places. text[i] is the name of a text; the right answer to u[i] is v[i], at place i.",
        _text_as_target,
    ),
    Misconception(
        "dot_products",
        "You compare by dot products. A cosine is the dot product of vectors of length 1: divide u and v by their lengths first.",
        partial(_loss, similarity=_dots),
    ),
    Misconception(
        "one_side_normalised",
        _ONE_SIDE,
        partial(_loss, similarity=lambda u, v: F.normalize(u, dim=-1) @ v.T),
    ),
    Misconception(
        "one_side_normalised",
        _ONE_SIDE,
        partial(_loss, similarity=lambda u, v: u @ F.normalize(v, dim=-1).T),
    ),
    Misconception(
        "normalised_along_the_batch",
        "You normalise along dimension 0: each *feature* over the batch. A vector's length is taken along its d_model numbers, dim=-1.",
        partial(_loss, similarity=lambda u, v: F.normalize(u, dim=0) @ F.normalize(v, dim=0).T),
    ),
    Misconception(
        "distances",
        "You compare by minus the distance. Asked for is the cosine.",
        partial(_loss, similarity=lambda u, v: -torch.cdist(u, v)),
    ),
    Misconception(
        "scale_forgotten",
        "Your cosines are not scaled. They lie between -1 and 1, and a softmax of such numbers is nearly flat, however well the model "
        "does: multiply by `scale`.",
        partial(_loss, factor=lambda scale: 1.0),
    ),
    Misconception(
        "divided_by_the_scale",
        "You divide by `scale`. It is one over the temperature: multiply by it.",
        partial(_loss, factor=lambda scale: 1 / scale),
    ),
    Misconception(
        "always_20",
        "You multiply by 20 whatever `scale` says.",
        partial(_loss, factor=lambda scale: 20.0),
    ),
    Misconception(
        "columns_instead_of_rows",
        "Your softmax runs over the u: which of them belongs to this v? Asked for is the other question, which v belongs to this u; "
        "row i of the scores is for u[i].",
        partial(_loss, loss=lambda scores: _own(scores.T)),
    ),
    Misconception(
        "both_ways",
        "You average both questions, which v belongs to this u and which u to this v. Some models are trained like this (CLIP is); "
        "here only the first is asked for.",
        partial(_loss, loss=_both_ways),
    ),
    Misconception(
        "softmax_twice",
        "You take the softmax and hand its result to a function that takes it again (F.cross_entropy does). Hand over the scores.",
        partial(_loss, loss=lambda scores: _own(scores.softmax(dim=-1))),
    ),
    Misconception(
        "summed",
        "You return the sum over the pairs; the mean is asked for, so that the loss does not grow with the batch.",
        partial(_loss, loss=lambda scores: _own(scores, "sum")),
    ),
    Misconception(
        "not_averaged",
        "You return a loss for each pair. Training needs one number, their mean.",
        partial(_loss, loss=lambda scores: _own(scores, "none")),
    ),
    Misconception(
        "mean_of_the_probabilities",
        "You take the mean of the probabilities and then its logarithm. Each pair has its own -log p; average those.",
        partial(_loss, loss=lambda scores: -scores.softmax(dim=-1).diagonal().mean().log()),
    ),
    Misconception(
        "sign_flipped",
        "Your loss has the wrong sign: a model that minimised it would learn to be wrong.",
        partial(_loss, loss=lambda scores: -_own(scores)),
    ),
    Misconception(
        "only_pulled_together",
        "You bring u[i] and v[i] together and push nothing apart. The cheapest answer to that is one vector for all sentences. The "
        "other v of the batch have to be in the softmax.",
        _pulled_only,
    ),
)

RANKING = Question(
    name="hw7.ranking_loss",
    title="The others are the wrong answers",
    points=3,
    minutes=20,
    difficulty=2,
    chapter="17_sentence_bert#a-partner-in-batch-negatives",
    cases=lambda g: telling(g, _draw, ranking_loss, [mistake.answer for mistake in _MISTAKES]),
    reference=ranking_loss,
    misconceptions=_MISTAKES,
)
