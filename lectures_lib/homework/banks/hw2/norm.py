"""Question 3: layer normalisation."""

from functools import partial

import torch
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import normal, sizes
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

NORMAL = "each vector gets mean 0 and variance 1, then gain and shift"
EPS = "ε stands below the root, beside the variance"
FAR = "numbers far from 0 are normalised as well as those near it"


def _far_from_zero(g: Generator, *shape: int) -> Tensor:
    """Numbers around 500. No word's lie so close together that their float32 roundings, some
    hundred-thousandths, would show.
    """
    x = normal(g, *shape)
    deviations = x - x.mean(dim=-1, keepdim=True)
    deviations /= deviations.std(dim=-1, correction=0, keepdim=True)
    return (
        500
        + normal(g, *shape[:-1], 1)
        + deviations * (0.6 + torch.rand(*shape[:-1], 1, generator=g))
    )


def _norm_cases(g: Generator) -> list[Case]:
    batch, n, d_model = sizes(g, 3, 3, 8)
    heads = int(torch.randint(2, 4, (), generator=g))
    gamma, beta = 1 + 0.5 * normal(g, d_model), normal(g, d_model)
    x = 3 * normal(g, batch, n, d_model) + 2
    level = x.clone()
    level[0, 0] = 1.25  # all entries of one word are equal
    return [
        Case((x, gamma, beta), shows=f"x of shape {(batch, n, d_model)}"),
        Case(
            (normal(g, n, d_model), gamma, beta, 0.5),
            shows=f"x of shape {(n, d_model)}, a large eps of 0.5",
            demands=(EPS,),
        ),
        Case(
            (level, gamma, beta),
            shows=(
                f"x of shape {(batch, n, d_model)}, one word of which is the same number {d_model} "
                f"times"
            ),
            demands=(EPS,),
        ),
        Case(
            (_far_from_zero(g, batch, heads, n, d_model), gamma, beta),
            shows=f"x of shape {(batch, heads, n, d_model)}, numbers around 500",
            demands=(FAR,),
        ),
        Case((normal(g, 2, 1, d_model), gamma, beta), shows=f"x of shape {(2, 1, d_model)}"),
        Case(
            (normal(g, 2, 1), gamma[:1], beta[:1]),
            shows="x of shape (2, 1): vectors of a single number",
            demands=(EPS,),
        ),
    ]


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float = 1e-5) -> Tensor:
    """Every vector of x (…, d_model) brought to mean 0 and variance 1; then scaled by gamma and
    shifted by beta.
    """
    deviations = x - x.mean(dim=-1, keepdim=True)
    variance = (deviations**2).mean(dim=-1, keepdim=True)
    return gamma * deviations / (variance + eps).sqrt() + beta


def _norm(
    x,
    gamma,
    beta,
    eps=1e-5,
    dim=-1,
    correction=0,
    epsilon="inside",
    gain=True,
    shift=True,
    shift_first=False,
    centred=True,
    power=0.5,
):
    if dim == "all but the first":
        dim = tuple(range(1, x.dim()))
    elif dim == "all but the last":
        dim = tuple(range(x.dim() - 1))
    elif dim == "the last two":
        dim = (-2, -1)
    elif dim == "all":
        dim = tuple(range(x.dim()))
    mean = x.mean(dim=dim, keepdim=True)
    variance = (
        x.var(dim=dim, keepdim=True, correction=correction)
        if centred
        else (x**2).mean(dim=dim, keepdim=True)
    )
    root = {
        "inside": lambda: (variance + eps) ** power,
        "outside": lambda: variance**power + eps,
        "fixed": lambda: (variance + 1e-5) ** power,
        "none": lambda: variance**power,
        "floor": lambda: variance.clamp(min=eps) ** power,
    }[epsilon]()
    y = (x - mean if centred else x) / root
    if shift_first:
        return gamma * (y + beta)
    return (gamma * y if gain else y) + (beta if shift else 0)


def _norm_difference_of_squares(x, gamma, beta, eps=1e-5):
    mean = x.mean(dim=-1, keepdim=True)
    variance = (x**2).mean(dim=-1, keepdim=True) - mean**2
    return gamma * (x - mean) / (variance + eps).sqrt() + beta


_UNBIASED = (
    "Your variance divides by d_model - 1. That is torch's default (`x.var()`, `x.std()`), made "
    "for estimating from a sample; layer normalisation takes the plain mean of the squared "
    "deviations: correction=0."
)


def _norm_of_equals_left(x, gamma, beta, eps=1e-5):
    """A vector of one number, repeated, is not normalised: there is nothing to divide by."""
    variance = x.var(dim=-1, keepdim=True, correction=0)
    normal = (x - x.mean(dim=-1, keepdim=True)) / (variance + eps).sqrt()
    return gamma * torch.where(variance < 1e-10, x, normal) + beta


def _norm_not_moved(x, gamma, beta, eps=1e-5):
    variance = x.var(dim=-1, keepdim=True, correction=0)
    return gamma * x / (variance + eps).sqrt() + beta


def _norm_of_the_sum(x, gamma, beta, eps=1e-5):
    deviations = x - x.mean(dim=-1, keepdim=True)
    return gamma * deviations / ((deviations**2).sum(dim=-1, keepdim=True) + eps).sqrt() + beta


def _norm_exchanged(x, gamma, beta, eps=1e-5):
    return layer_norm(x, beta, gamma, eps)


def _norm_of_absolute_deviations(x, gamma, beta, eps=1e-5):
    deviations = x - x.mean(dim=-1, keepdim=True)
    return gamma * deviations / (deviations.abs().mean(dim=-1, keepdim=True) + eps).sqrt() + beta


NORM = Question(
    name="hw2.layer_norm",
    title="Layer normalisation",
    points=2,
    minutes=10,
    difficulty=1,
    chapter="05_encoder#normalisation",
    cases=_norm_cases,
    reference=layer_norm,
    forbidden=("F.layer_norm", "torch.layer_norm", "torch.native_layer_norm"),
    trained=True,
    misconceptions=(
        Misconception("unbiased_variance", _UNBIASED, partial(_norm, correction=1)),
        Misconception(
            "unbiased_variance", _UNBIASED, partial(_norm, correction=1, epsilon="outside")
        ),
        Misconception(
            "eps_outside_the_root",
            "You add eps to the standard deviation. It belongs under the root, √(σ² + ε): with a "
            "tiny ε the two hardly differ, but where all entries are nearly equal they do.",
            partial(_norm, epsilon="outside"),
        ),
        Misconception(
            "eps_forgotten",
            "Without eps, a word whose entries are all the same number is 0/0, NaN, and one NaN "
            "spoils every layer above. Divide by √(σ² + ε).",
            partial(_norm, epsilon="none"),
        ),
        Misconception(
            "equal_numbers_left_as_they_are",
            "You leave a vector of one number, repeated, as it is. Its deviations are 0, and ε "
            "stands below the root so that 0 / √(0 + ε) is 0: only beta is left of it. No branch "
            "is needed.",
            _norm_of_equals_left,
        ),
        Misconception(
            "eps_not_the_one_given",
            "You use eps = 1e-5 whatever is given, or none at all. It is an argument, and real "
            "models differ: BERT's is 1e-12.",
            partial(_norm, epsilon="fixed"),
        ),
        Misconception(
            "over_the_batch",
            "You take mean and variance over dimension 0: in a batch, what a word becomes then "
            "depends on the *other sentences*. Layer normalisation looks at one word's own d_model "
            "numbers: dim=-1.",
            partial(_norm, dim=0),
        ),
        Misconception(
            "over_the_positions",
            "You take mean and variance over dimension -2, the words of the sentence: each word "
            "then depends on its neighbours, on padding and, in a decoder, on the future. Take "
            "them over the features of one word: dim=-1.",
            partial(_norm, dim=-2),
        ),
        Misconception(
            "batch_normalisation",
            "This is batch normalisation: one mean for each feature, over all words of all "
            "sentences. Layer normalisation has one mean for each *word*, over its features: "
            "dim=-1.",
            partial(_norm, dim="all but the last"),
        ),
        Misconception(
            "over_the_whole_sentence",
            "You take one mean over all words and features of a sentence, padding included. Each "
            "word is normalised by itself: dim=-1 only.",
            partial(_norm, dim="all but the first"),
        ),
        Misconception(
            "over_everything",
            "You take one mean and one variance over all numbers of x, which is what `x.mean()` "
            "does without a dimension: a word then depends on every other word and sentence. Each "
            "word is normalised by itself: dim=-1, keepdim=True.",
            partial(_norm, dim="all"),
        ),
        Misconception(
            "over_dim_1",
            "You take mean and variance over dim=1. Those are the features of a table (n, "
            "d_model), but the words of a batch (batch, n, d_model). The features are always the "
            "last dimension: dim=-1.",
            partial(_norm, dim=1),
        ),
        Misconception(
            "over_the_last_two",
            "You take one mean over dimensions -2 and -1, all words of a sentence and their "
            "features. Each word is normalised by itself: dim=-1 only.",
            partial(_norm, dim="the last two"),
        ),
        Misconception(
            "gain_and_shift_exchanged",
            "gamma and beta have changed places: gamma multiplies, beta is added.",
            _norm_exchanged,
        ),
        Misconception(
            "eps_as_a_floor",
            "You take eps only where the variance is smaller than eps. It is always added: "
            "√(σ² + ε).",
            partial(_norm, epsilon="floor"),
        ),
        Misconception(
            "absolute_deviations",
            "You take the mean of the deviations' absolute values. The variance is the mean of "
            "their *squares*.",
            _norm_of_absolute_deviations,
        ),
        Misconception(
            "no_gain",
            "The normalisation is right, but gamma is never used: each feature is to be multiplied "
            "by its own learned scale.",
            partial(_norm, gain=False),
        ),
        Misconception(
            "no_shift",
            "The normalisation is right, but beta is never added: each feature is to be shifted by "
            "its own learned number.",
            partial(_norm, shift=False),
        ),
        Misconception(
            "neither_gain_nor_shift",
            "Every word has mean 0 and variance 1 now, and that is only half of it: multiply by "
            "gamma and add beta, so that the model may choose other scales and centres.",
            partial(_norm, gain=False, shift=False),
        ),
        Misconception(
            "one_added_to_the_gain",
            "You scale by 1 + gamma. Some models keep their gains like that, as what is more than "
            "1; in this formula gamma is the gain itself.",
            lambda x, gamma, beta, eps=1e-5: layer_norm(x, 1 + gamma, beta, eps),
        ),
        Misconception(
            "shifted_before_scaling",
            "You add beta first and multiply by gamma afterwards, which scales the shift too. "
            "Multiply first: γ ⊙ (x - μ)/√(σ² + ε) + β.",
            partial(_norm, shift_first=True),
        ),
        Misconception(
            "mean_not_subtracted",
            "You divide by the root of the mean square and never subtract the mean. That is "
            "RMSNorm, which many newer models use; LayerNorm centres each word first.",
            partial(_norm, centred=False),
        ),
        Misconception(
            "divided_by_the_variance",
            "You divide by the variance instead of its root. To bring the variance to 1, divide by "
            "the standard deviation, √(σ² + ε).",
            partial(_norm, power=1.0),
        ),
        Misconception(
            "variance_as_a_difference_of_squares",
            "On paper the variance is the mean of x² minus the square of the mean. In float32 the "
            "two are around 250,000 here and their difference is around 1: most of its digits are "
            "rounding. Subtract the mean first, then square.",
            _norm_difference_of_squares,
        ),
        Misconception(
            "not_moved_to_mean_0",
            "You divide x by the deviation without subtracting the mean first: the vector's "
            "numbers keep a mean of their own. It is x - μ that is divided.",
            _norm_not_moved,
        ),
        Misconception(
            "sum_of_squares",
            "You divide by the root of the *sum* of the squared deviations, the vector's length. "
            "The variance is their mean.",
            _norm_of_the_sum,
        ),
    ),
    # Numbers around 500 are known to some hundred-thousandths in float32, and the mean of some of
    # them no better.
    rtol=1e-3,
    atol=1e-3,
    demands=(Demand(NORMAL, 1), Demand(EPS, 0.5), Demand(FAR, 0.5)),
)
