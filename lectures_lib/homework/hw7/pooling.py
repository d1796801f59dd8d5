"""Question 6: one vector for a sentence, and no padding in it."""

from functools import partial

import torch
from torch import Generator, Tensor

from lectures_lib.homework.hw1.inputs import normal, sizes
from lectures_lib.homework.questions import Case, Misconception, Question


def _pooling_cases(g: Generator) -> list[Case]:
    cases = []
    for pooling, normalise in (("mean", False), ("max", False), ("cls", False), ("mean", True)):
        batch, n, d_model = sizes(g, 3, 5, 9)
        lengths = torch.randint(3, n, (batch,), generator=g)
        longest, shortest = torch.randperm(batch, generator=g)[:2]
        lengths[longest], lengths[shortest] = n, 3  # the shortest has two places of padding or more: one is not all
        hidden = normal(g, batch, n, d_model)
        hidden[:, :, :2] -= 3  # two features that are below 0 nearly everywhere, and so are their maxima
        padding = torch.arange(n) >= lengths[:, None]
        hidden[padding] += 2  # padding holds numbers, too
        shows = f"{batch} sentences of up to {n} tokens, vectors of {d_model} numbers, {pooling} pooling, normalise = {normalise}"
        cases.append(Case((hidden, lengths), {"pooling": pooling, "normalise": normalise}, shows=shows))
    return cases


def sentence_vectors(hidden: Tensor, lengths: Tensor, pooling: str = "mean", normalise: bool = False) -> Tensor:
    """(batch, d_model)."""
    return _pool(hidden, lengths, pooling, normalise)


def _real(hidden: Tensor, lengths: Tensor) -> Tensor:
    return (torch.arange(hidden.shape[1]) < lengths[:, None])[..., None]


def _unit(vectors: Tensor) -> Tensor:
    return vectors / vectors.norm(dim=-1, keepdim=True)


def _mean(hidden, lengths):
    return (hidden * _real(hidden, lengths)).sum(dim=1) / lengths[:, None]


def _max(hidden, lengths):
    return hidden.masked_fill(~_real(hidden, lengths), -torch.inf).amax(dim=1)


def _cls(hidden, lengths):
    return hidden[:, 0]


def _pool(hidden, lengths, pooling="mean", normalise=False, mean=_mean, largest=_max, cls=_cls, unit=_unit):
    vectors = {"mean": mean, "max": largest, "cls": cls}[pooling](hidden, lengths)
    return unit(vectors) if normalise else vectors


def _sum_over_n(hidden, lengths):
    return (hidden * _real(hidden, lengths)).mean(dim=1)


def _words_only(hidden, lengths):
    inner = _real(hidden, lengths - 1).clone()
    inner[:, 0] = False
    return (hidden * inner).sum(dim=1) / (lengths - 2)[:, None]


def _one_too_few(hidden, lengths):
    return _mean(hidden, lengths - 1)


def _one_too_many(hidden, lengths):
    return _mean(hidden, (lengths + 1).clamp(max=hidden.shape[1]))


def _longest_token(hidden, lengths):
    norms = hidden.norm(dim=-1).masked_fill(~_real(hidden, lengths)[..., 0], -1)
    return hidden[torch.arange(len(hidden)), norms.argmax(dim=1)]


def _units_first(hidden, lengths, pooling="mean", normalise=False):
    return sentence_vectors(_unit(hidden) if normalise else hidden, lengths, pooling)


def _softmaxed(vectors):
    return vectors.softmax(dim=-1)


POOLING = Question(
    name="hw7.sentence_vectors",
    title="One vector for a sentence",
    points=2,
    minutes=15,
    difficulty=1,
    chapter="17_sentence_bert#from-many-vectors-to-one",
    cases=_pooling_cases,
    reference=sentence_vectors,
    misconceptions=(
        Misconception(
            "padding_in_the_mean",
            "Padding is in your mean. Its vectors are no zeros, they hold what the model computed there, and the same sentence would get "
            "another vector in a batch with a longer one. Only the first `lengths[b]` tokens of sentence b count.",
            partial(_pool, mean=lambda hidden, lengths: hidden.mean(dim=1)),
        ),
        Misconception(
            "padding_nowhere_left_out",
            "You do not look at `lengths`: padding is in your mean and in your maximum. Only the first `lengths[b]` tokens of sentence b "
            "count.",
            partial(_pool, mean=lambda hidden, lengths: hidden.mean(dim=1), largest=lambda hidden, lengths: hidden.amax(dim=1)),
        ),
        Misconception(
            "divided_by_all_places",
            "You set padding to 0 and then divide by the number of all places. Zeros add nothing to the sum, but they are counted: divide "
            "by `lengths`.",
            partial(_pool, mean=_sum_over_n),
        ),
        Misconception(
            "summed",
            "Your vector is the sum over the tokens, so that it grows with the sentence. Divide by `lengths`.",
            partial(_pool, mean=lambda hidden, lengths: _mean(hidden, lengths) * lengths[:, None]),
        ),
        Misconception(
            "special_tokens_left_out",
            "You leave the first and the last token, [CLS] and [SEP], out of the mean. Sentence-BERT does not, and a model has to be used "
            "as it was trained.",
            partial(_pool, mean=_words_only),
        ),
        Misconception(
            "last_token_left_out",
            "The last token is missing from your mean. A sentence of length 5 has the places 0 to 4, and all of them count.",
            partial(_pool, mean=_one_too_few),
        ),
        Misconception(
            "one_place_too_many",
            "One place of padding is in your mean. A sentence of length 5 has the places 0 to 4: place < length, not ≤.",
            partial(_pool, mean=_one_too_many),
        ),
        Misconception(
            "padding_in_the_maximum",
            "Your mean is right, but padding takes part in your maximum.",
            partial(_pool, largest=lambda hidden, lengths: hidden.amax(dim=1)),
        ),
        Misconception(
            "zeros_in_the_maximum",
            "You set padding to 0 before the maximum. Where all tokens are below 0, that 0 is the largest. Set it to -∞, which never is.",
            partial(_pool, largest=lambda hidden, lengths: (hidden * _real(hidden, lengths)).amax(dim=1)),
        ),
        Misconception(
            "one_token_for_the_maximum",
            "For 'max' you take one token, the one with the longest vector. The maximum is taken for each of the d_model numbers by "
            "itself, and may come from other tokens each time.",
            partial(_pool, largest=_longest_token),
        ),
        Misconception(
            "largest_of_the_absolute_values",
            "For 'max' you take absolute values first. The largest number is asked for, and -3 is smaller than 1.",
            partial(_pool, largest=lambda hidden, lengths: (hidden.abs() * _real(hidden, lengths)).amax(dim=1)),
        ),
        Misconception(
            "last_token_for_cls",
            "For 'cls' you take the last token. [CLS] is the first.",
            partial(_pool, cls=lambda hidden, lengths: hidden[torch.arange(len(hidden)), lengths - 1]),
        ),
        Misconception(
            "always_the_mean",
            "You take the mean, whatever `pooling` says.",
            lambda hidden, lengths, pooling="mean", normalise=False: sentence_vectors(hidden, lengths, "mean", normalise),
        ),
        Misconception(
            "not_normalised",
            "Right, but with normalise=True the vector is to be divided by its length, the root of the sum of its squares.",
            partial(_pool, unit=lambda vectors: vectors),
        ),
        Misconception(
            "always_normalised",
            "You always divide by the length of the vector; that is asked for with normalise=True only.",
            lambda hidden, lengths, pooling="mean", normalise=False: sentence_vectors(hidden, lengths, pooling, True),
        ),
        Misconception(
            "normalised_before_pooling",
            "With normalise=True you bring the tokens' vectors to length 1 and then pool: the result is shorter than 1 again. Pool first, "
            "and divide the sentence's vector by its length.",
            _units_first,
        ),
        Misconception(
            "normalised_along_the_batch",
            "With normalise=True you divide each *column* by its length, so that the sentences of a batch change one another. Along the "
            "last dimension: dim=-1.",
            partial(_pool, unit=lambda vectors: vectors / vectors.norm(dim=0)),
        ),
        Misconception(
            "divided_by_one_length",
            "With normalise=True you divide all vectors by one number, the norm of the whole batch. Each sentence has its own: "
            "dim=-1, keepdim=True.",
            partial(_pool, unit=lambda vectors: vectors / vectors.norm()),
        ),
        Misconception(
            "divided_by_the_sum",
            "With normalise=True you divide by the sum of the numbers. The length of a vector is the root of the sum of its squares.",
            partial(_pool, unit=lambda vectors: vectors / vectors.sum(dim=-1, keepdim=True)),
        ),
        Misconception(
            "softmax_for_length",
            "With normalise=True you take a softmax: it makes shares that sum to 1. A vector of length 1 is divided by the root of the sum "
            "of its squares.",
            partial(_pool, unit=_softmaxed),
        ),
    ),
)
