"""Question 8: the other pairs of the batch are the wrong answers, unless they are right ones,
too.
"""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import normal, sizes, whole
from lectures_lib.homework.banks.telling import telling
from lectures_lib.homework.questions import Case, Demand, Misconception, Question, Varied

OTHERS = "where no text occurs twice, the others of the batch are the wrong answers"
COPIES = "copies of the right answer are no wrong ones, whatever the scale"
SHORT = "vectors may be short"

LEFT_TO_LEARN = 0.01  # the least loss of a case
MARGINS = (0.0, 0.1, 0.2, 0.3)  # taken off the right pair's cosine


def _cases(g: Generator, *, margin: float = 0.0) -> list[Case]:
    wrong = [_bound(mistake.answer, margin) for mistake in _MISTAKES]
    if margin:  # nor may another variant's answer be right
        wrong += [_bound(ranking_loss, other) for other in MARGINS if other != margin]
    return telling(g, partial(_draw, margin=margin), _bound(ranking_loss, margin), wrong)


def _bound(answer: Callable, margin: float) -> Callable:
    return partial(answer, margin=margin)


def _draw(g: Generator, *, margin: float = 0.0) -> list[Case]:
    """Drawn until each case leaves something to learn: where every pair is told from the others
    for certain, its gradient is the rounding of right answers. And until vectors that are not the
    same are not nearly the same, so that both tests for copies, == and a cosine, are one mistake.
    """
    while True:
        cases = _drawn(g)
        left = all(ranking_loss(*case.args, margin=margin) > LEFT_TO_LEARN for case in cases)
        if left and not any(_nearly_the_same(case.args[1]) for case in cases) and _far(cases):
            return cases


def _far(cases: list[Case]) -> bool:
    """Whether the first question's answer is so improbable, where the scale is not given, that it
    shows when a small number was added to its probability.
    """
    plain = [case.args for case in cases if len(case.args) == 3]
    return all(_own(_scores(u, v, 20.0, 0.0), "none")[0] > 24 for u, v, _ in plain)


def _nearly_the_same(v: Tensor) -> bool:
    """Whether two of them, but not exactly."""
    same = (v[:, None] == v).all(dim=-1)
    return bool(((_cosines(v, v) > 0.998) & ~same).any())


def _drawn(g: Generator) -> list[Case]:
    cases = []
    for twice, sharp, short in (
        (False, False, False),
        (True, False, False),
        (True, True, False),
        (False, False, True),
    ):
        batch, d_model = sizes(g, 2, 6, 10)
        text, v = (
            torch.randperm(batch, generator=g),
            normal(g, batch, d_model) * (0.5 + torch.rand(batch, 1, generator=g)),
        )
        if twice:
            one, two, three, four = torch.randperm(batch, generator=g)[:4].tolist()
            text[one], text[three] = text[two], text[four]
            if sharp:  # two texts that are hard to tell apart, or nothing were left to learn
                v[four] = v[two] + 0.1 * normal(g, d_model)
            often, other = [i for i in range(batch) if i not in (one, two, three, four)][:2]
            text[often] = text[two]
            # Which are copies is told by `text` alone: copies have other vectors, as dropout makes
            # them in training, and two texts have the same.
            for copy, of in ((one, two), (three, four), (often, two)):
                v[copy] = v[of] + 0.2 * normal(g, d_model)
            v[other] = v[four]
        # sharp: cosines near 1, and a large scale
        u = (0.05 if sharp else 1) * normal(g, batch, d_model) + (1 if sharp else 0.7) * v
        # one question is far from its answer, which has hardly a probability: sharp, none at all
        if not twice or sharp:
            far = other if sharp else 0
            u[far] = 0.1 * normal(g, d_model) - v[far]
        if short:
            u, v = 1e-3 * u, 1e-3 * v
        scale = [100.0] if sharp else [float(whole(g, 3, 6))] if twice else []
        shows = (
            f"{batch} pairs of vectors of {d_model} numbers, "
            f"{'texts occur two and three times' if twice else 'no text occurs twice'}, "
        )
        shows += "with other vectors each time, and two texts have the same, " if twice else ""
        shows += "vectors as short as 0.002, " if short else ""
        shows += f"scale = {scale[0]:g}" if scale else "scale not given"
        demand = COPIES if twice else SHORT if short else OTHERS
        args = (u, v, text, *scale)
        cases.append(Case(args, shows=shows, gradients="values", demands=(demand,)))
    return cases


def ranking_loss(
    u: Tensor, v: Tensor, text: Tensor, scale: float = 20.0, *, margin: float = 0.0
) -> Tensor:
    """The mean over i of -log p, p the share of v[i] among all v that are no other copy of it, with
    a cosine that is smaller by the margin.
    """
    return _loss(u, v, text, scale, margin=margin)


def _cosines(u: Tensor, v: Tensor) -> Tensor:
    return F.normalize(u, dim=-1) @ F.normalize(v, dim=-1).T


def _divided_pair_by_pair(u: Tensor, v: Tensor) -> Tensor:
    """Column j by the lengths of u[j] and v[j]."""
    return u @ v.T / (u.norm(dim=-1) * v.norm(dim=-1))


def _copies(text: Tensor) -> Tensor:
    """True where another pair has the same second text."""
    return (text[:, None] == text) & ~torch.eye(len(text), dtype=torch.bool)


def _own(scores: Tensor, reduction: str = "mean") -> Tensor:
    return F.cross_entropy(scores, torch.arange(len(scores)), reduction=reduction)


def _scores(u, v, scale, margin, similarity=_cosines):
    return (similarity(u, v) - margin * torch.eye(len(u))) * scale


def _loss(
    u,
    v,
    text,
    scale=20.0,
    similarity=_cosines,
    hidden=_copies,
    loss=_own,
    factor=None,
    *,
    margin=0.0,
):
    scores = _scores(u, v, scale if factor is None else factor(scale), margin, similarity)
    return loss(scores.masked_fill(hidden(text), -torch.inf))


def _nothing(text: Tensor) -> Tensor:
    return torch.zeros(len(text), len(text), dtype=torch.bool)


def _dots(u: Tensor, v: Tensor) -> Tensor:
    return u @ v.T


def _nearly_cosines(u: Tensor, v: Tensor) -> Tensor:
    u, v = (each / (each.norm(dim=-1, keepdim=True) + 1e-6) for each in (u, v))
    return u @ v.T


def _both_ways(scores: Tensor) -> Tensor:
    return (_own(scores) + _own(scores.T)) / 2


def _copies_count_zero(u, v, text, scale=20.0, *, margin=0.0):
    return _own(_scores(u, v, scale, margin).masked_fill(_copies(text), 0.0))


def _copies_at_minus_1(u, v, text, scale=20.0, *, margin=0.0):
    return _own(_scores(u, v, scale, margin).masked_fill(_copies(text), -1.0))


def _copies_lowest(u, v, text, scale=20.0, *, margin=0.0):
    return _own(_scores(u, v, scale, margin).masked_fill(_copies(text), -scale))


def _out_everywhere(later: bool) -> Callable:
    """A text that comes again is left out of all rows: where it stands again, or wherever it
    stands.
    """

    def hidden(text):
        same = text[:, None] == text
        again = (same.tril(-1) if later else _copies(text)).any(dim=1)
        return (same | again) & ~torch.eye(len(text), dtype=torch.bool)

    return hidden


def _by_hand(scores: Tensor) -> Tensor:
    shares = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
    return -shares.diagonal().log().mean()


def _log_of_a_share(scores: Tensor) -> Tensor:
    return -scores.softmax(dim=-1).diagonal().log().mean()


def _copies_are_right(u, v, text, scale=20.0, *, margin=0.0):
    """Every copy of the right text is right, and its probability is added."""
    p = _scores(u, v, scale, margin).softmax(dim=-1)
    return -(p * (text[:, None] == text)).sum(dim=-1).log().mean()


def _copies_share_the_target(u, v, text, scale=20.0, *, margin=0.0):
    """Every copy of the right text is right, and is asked to have its part of the probability."""
    same = (text[:, None] == text).float()
    return F.cross_entropy(_scores(u, v, scale, margin), same / same.sum(dim=1, keepdim=True))


def _one_column_a_text(u, v, text, scale=20.0, *, margin=0.0):
    """All u, and the first v of each text."""
    first = [text.tolist().index(t) for t in text.tolist()]
    kept = sorted(set(first))
    targets = torch.tensor([kept.index(i) for i in first])
    own = F.one_hot(targets, len(kept))
    return F.cross_entropy((_cosines(u, v)[:, kept] - margin * own) * scale, targets)


def _told_by_vectors(u, v, text, scale=20.0, *, margin=0.0):
    """Chapter 17's test for copies: a cosine of nearly 1."""
    same = (_cosines(v, v) > 0.999) & ~torch.eye(len(v), dtype=torch.bool)
    return _own(_scores(u, v, scale, margin).masked_fill(same, -torch.inf))


def _kept_from_0(scores: Tensor, more: float) -> Tensor:
    return -(scores.softmax(dim=-1).diagonal() + more).log().mean()


def _rows_with_copies_left_out(u, v, text, scale=20.0, *, margin=0.0):
    losses = _own(_scores(u, v, scale, margin), "none")
    return losses[~_copies(text).any(dim=-1)].mean()


def _first_of_each_text(u, v, text, scale=20.0, *, margin=0.0):
    """Only the first pair of each text stays in the batch."""
    rows = [i for i, t in enumerate(text.tolist()) if t not in text[:i].tolist()]
    return _own(_scores(u[rows], v[rows], scale, margin))


def _text_as_target(u, v, text, scale=20.0, *, margin=0.0):
    return F.cross_entropy(
        _scores(u, v, scale, margin).masked_fill(_copies(text), -torch.inf), text
    )


def _negatives_only(scores: Tensor) -> Tensor:
    others = scores.masked_fill(torch.eye(len(scores), dtype=torch.bool), -torch.inf)
    return (others.logsumexp(dim=-1) - scores.diagonal()).mean()


def _negatives_by_hand(scores: Tensor) -> Tensor:
    others = scores.masked_fill(torch.eye(len(scores), dtype=torch.bool), -torch.inf)
    return -(scores.diagonal().exp() / others.exp().sum(dim=-1)).log().mean()


def _pulled_only(u, v, text, scale=20.0, *, margin=0.0):
    return (1 + margin - F.cosine_similarity(u, v)).mean()


_COPIES = (
    "Right where no text occurs twice. A copy of the right answer must be neither a wrong one nor "
    "a second right one: set its score to -∞ before the softmax, and keep everything else."
)
_EVERYWHERE = (
    "Right where no text occurs twice. Where one does, you leave its copies out of every row. In "
    "the rows of *other* texts a copy is a wrong answer like all others, and stays: only in row i, "
    "every j ≠ i with text[j] == text[i] is left out."
)
_DROPPED = (
    "Right where no text occurs twice. Where one does, you drop whole pairs from the loss. Every u "
    "keeps its row; only the copy of its own text is left out of that row."
)
_ONE_WAY = (
    "Right where no text occurs twice. Where two places have one text, you leave out the copy in "
    "only one of the two rows: only those further on, or only those before. In row i, every j ≠ i "
    "with the same text is left out, on both sides."
)
_ONE_SIDE = (
    "You bring only u, or only v, to length 1. A cosine is the dot product of two vectors of "
    "length 1."
)
_BELOW = (
    "In the denominator of your softmax stand the wrong answers only. The right one stands there, "
    "too: the shares of all sum to 1."
)
_ALL_MASKED = (
    "Your loss is infinite or no number: with the copies you have also taken out the right answer "
    "itself. Where text[i] == text[j], only j ≠ i is left out."
)


def _with_default(default: float) -> Callable:
    def answer(u, v, text, scale=default, *, margin=0.0):
        return ranking_loss(u, v, text, scale, margin=margin)

    return answer


_MISTAKES = (
    Misconception(
        "copies_are_wrong_answers",
        "Right where no text occurs twice. Where one does, its copy counts as a wrong answer, and "
        "the model is told to push away the very text it should find. Leave out other pairs with "
        "the same text.",
        partial(_loss, hidden=_nothing),
    ),
    Misconception("copies_not_left_out_properly", _COPIES, _copies_count_zero),
    Misconception("copies_not_left_out_properly", _COPIES, _copies_are_right),
    Misconception("copies_not_left_out_properly", _COPIES, _copies_lowest),
    Misconception("copies_not_left_out_properly", _COPIES, _copies_at_minus_1),
    Misconception("copies_not_left_out_properly", _COPIES, _copies_share_the_target),
    Misconception(
        "copies_told_by_their_vectors",
        "Right where no text occurs twice. You take two v for copies where their vectors are the "
        "same, or nearly. In training, dropout gives each copy of a text another vector, and two "
        "texts may have the same one. Which are copies is told by `text`.",
        _told_by_vectors,
    ),
    Misconception(
        "copies_left_out_on_one_side",
        _ONE_WAY,
        partial(_loss, hidden=lambda text: _copies(text).triu()),
    ),
    Misconception(
        "copies_left_out_on_one_side",
        _ONE_WAY,
        partial(_loss, hidden=lambda text: _copies(text).tril()),
    ),
    *(
        Misconception(
            "left_out_of_all_rows",
            _EVERYWHERE,
            partial(_loss, hidden=_out_everywhere(later)),
        )
        for later in (True, False)
    ),
    Misconception("left_out_of_all_rows", _EVERYWHERE, _one_column_a_text),
    Misconception(
        "exponentials_too_large",
        "Right for small scores. Here the scale is 100, exp(100 · cosine) is more than a float32 "
        "can hold, and ∞ divided by ∞ is no number. F.cross_entropy and log_softmax subtract the "
        "largest score first.",
        partial(_loss, loss=_by_hand),
    ),
    Misconception(
        "logarithm_of_0",
        "Your loss is infinite where the model is quite wrong: with a scale of 100 the share of a "
        "right answer may be less than a float32 can hold, which makes it 0, and the logarithm of "
        "0 is -∞. F.cross_entropy and log_softmax take the logarithm without making the share.",
        partial(_loss, loss=_log_of_a_share),
    ),
    *(
        Misconception(
            "probability_kept_from_0",
            "You keep the probability from becoming 0, by adding a small number or by a lower "
            "limit. That also limits the loss: where the model is quite wrong, it should be large. "
            "F.cross_entropy and log_softmax need no such help.",
            partial(_loss, loss=partial(_kept_from_0, more=more)),
        )
        for more in (1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6)
    ),
    Misconception("pairs_thrown_away", _DROPPED, _rows_with_copies_left_out),
    Misconception("pairs_thrown_away", _DROPPED, _first_of_each_text),
    Misconception(
        "right_answer_left_out",
        _ALL_MASKED,
        partial(_loss, hidden=lambda text: text[:, None] == text),
    ),
    Misconception("only_wrong_answers_below", _BELOW, partial(_loss, loss=_negatives_only)),
    Misconception("only_wrong_answers_below", _BELOW, partial(_loss, loss=_negatives_by_hand)),
    Misconception(
        "text_taken_for_the_place",
        "You take `text` for the right answers' places. text[i] is the name of a text; the right "
        "answer to u[i] is v[i], at place i.",
        _text_as_target,
    ),
    Misconception(
        "small_number_added_to_the_lengths",
        "You add a small number to the vectors' lengths before you divide by them. Vectors may be "
        "of any length, and where they are about as short as that number, what you get is no "
        "cosine: take F.normalize or F.cosine_similarity.",
        partial(_loss, similarity=_nearly_cosines),
    ),
    Misconception(
        "dot_products",
        "You compare by dot products. A cosine is the dot product of vectors of length 1: divide u "
        "and v by their lengths first.",
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
        "divided_pair_by_pair",
        "You divide u_i · v_j by the lengths of u_j and v_j. The lengths of u belong to the rows: "
        "u.norm(dim=1)[:, None] has an axis for them, or normalise u and v before you multiply.",
        partial(_loss, similarity=_divided_pair_by_pair),
    ),
    Misconception(
        "normalised_along_the_batch",
        "You normalise along dimension 0: each *feature* over the batch. A vector's length is "
        "taken along its d_model numbers, dim=-1.",
        partial(_loss, similarity=lambda u, v: F.normalize(u, dim=0) @ F.normalize(v, dim=0).T),
    ),
    Misconception(
        "distances",
        "You compare by minus the distance. Asked for is the cosine.",
        partial(_loss, similarity=lambda u, v: -torch.cdist(u, v)),
    ),
    Misconception(
        "scale_forgotten",
        "Your cosines are not scaled. They lie between -1 and 1, and a softmax of such numbers is "
        "nearly flat, however well the model does: multiply by `scale`.",
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
        "Your softmax runs over the u: which of them belongs to this v? Asked for is the other "
        "question, which v belongs to this u; row i of the scores is for u[i].",
        partial(_loss, loss=lambda scores: _own(scores.T)),
    ),
    Misconception(
        "both_ways",
        "You average both questions, which v belongs to this u and which u to this v. Some models "
        "are trained like this (CLIP is); here only the first is asked for.",
        partial(_loss, loss=_both_ways),
    ),
    Misconception(
        "softmax_twice",
        "You take the softmax and hand its result to a function that takes it again "
        "(F.cross_entropy does). Hand over the scores.",
        partial(_loss, loss=lambda scores: _own(scores.softmax(dim=-1))),
    ),
    Misconception(
        "summed",
        "You return the sum over the pairs; the mean is asked for, so that the loss does not grow "
        "with the batch.",
        partial(_loss, loss=lambda scores: _own(scores, "sum")),
    ),
    Misconception(
        "not_averaged",
        "You return a loss for each pair. Training needs one number, their mean.",
        partial(_loss, loss=lambda scores: _own(scores, "none")),
    ),
    Misconception(
        "mean_of_the_probabilities",
        "You take the mean of the probabilities and then its logarithm. Each pair has its own -log "
        "p; average those.",
        partial(_loss, loss=lambda scores: -scores.softmax(dim=-1).diagonal().mean().log()),
    ),
    Misconception(
        "sign_flipped",
        "Your loss has the wrong sign: a model that minimised it would learn to be wrong.",
        partial(_loss, loss=lambda scores: -_own(scores)),
    ),
    Misconception(
        "only_pulled_together",
        "You bring u[i] and v[i] together and push nothing apart. The cheapest answer to that is "
        "one vector for all sentences. The other v of the batch have to be in the softmax.",
        _pulled_only,
    ),
    *(
        Misconception(
            "other_default",
            "Right where `scale` is given. Where it is not, it is 20: leave the first line of the "
            "function as it was.",
            _with_default(default),
        )
        for default in (1.0, 10.0, 100.0)
    ),
)


def _wording(margin: float) -> dict[str, str]:
    """The margin, the formula, and what the table of the small case holds."""
    return {
        "gives the probability of the right one, and the loss is": f"gives the probability of the "
        f"right one. Beforehand the cosine of the right one is made smaller by a *margin*, here "
        f"always m = {margin:g}, so that it has to be ahead by that much. The loss is",
        r"\frac{\exp(\text{scale} \cdot \cos(u_i, v_i))}"
        r"{\sum_{j} \exp(\text{scale} \cdot \cos(u_i, v_j))}": (
            r"\frac{\exp(\text{scale} \cdot c_{ii})}{\sum_{j} \exp(\text{scale} \cdot c_{ij})}, "
            rf"\qquad c_{{ii}} = \cos(u_i, v_i) - {margin:g}, \quad "
            r"c_{ij} = \cos(u_i, v_j) \text{ for } j \ne i"
        ),
        "and scale · cosine is given:": "and scale · $c$ is given, from which the margin is off:",
    }


def _told(margin: float) -> dict[str, str]:
    return {"and ∞ divided by ∞ is no number": "and a share of ∞ is 0 or no number"}


RANKING = Question(
    name="hw7.ranking_loss",
    title="The others are the wrong answers",
    points=3,
    minutes=20,
    difficulty=2,
    chapter="17_sentence_bert#a-partner-in-batch-negatives",
    cases=_cases,
    reference=ranking_loss,
    misconceptions=_MISTAKES,
    varied=Varied(
        "margin",
        MARGINS,
        says=lambda margin: f"a margin of {margin:g} is taken off the right pair's cosine",
        wording=_wording,
        told=_told,
    ),
    demands=(Demand(OTHERS, 1.5), Demand(COPIES, 1), Demand(SHORT, 0.5)),
)
