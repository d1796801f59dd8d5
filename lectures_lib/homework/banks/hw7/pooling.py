"""Question 6: one vector for a sentence, and no padding in it."""

from dataclasses import replace
from functools import partial

import torch
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import normal, sizes
from lectures_lib.homework.banks.mistakes import squeezing
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

MEAN = "the mean of a sentence's vectors, without its padding"
OTHERS = "the maximum, and the vector of the first token"
LENGTH = "where it is asked for, vectors of length 1"


def _pooling_cases(g: Generator) -> list[Case]:
    cases = []
    asked = [
        ("mean", False),
        ("max", False),
        ("cls", False),
        ("mean", True),
        ("max", True),
        ("cls", True),
        ("mean", None),
        ("max", "alone"),
        ("cls", "alone"),
        ("max", "far"),
    ]
    # None: neither is given; "alone": a single sentence; "far": numbers far below 0
    for pooling, normalise in asked:
        batch, n, d_model = sizes(g, 3, 5, 9)
        batch = 1 if normalise == "alone" else batch
        lengths = torch.randint(3, n, (batch,), generator=g)
        longest, shortest = torch.randperm(batch, generator=g)[[0, -1]]
        # the shortest has two places of padding or more: one is not all
        lengths[shortest], lengths[longest] = 3, n
        hidden = normal(g, batch, n, d_model)
        # two features that are below 0 everywhere, and so are their maxima
        hidden[:, :, :2] = -hidden[:, :, :2].abs() - 1
        hidden[:, :, 0] *= 1e6 if normalise == "far" else 1
        padding = torch.arange(n) >= lengths[:, None]
        hidden[padding] += 2  # padding holds numbers, too
        given = {} if normalise is None else {"pooling": pooling, "normalise": normalise is True}
        shows = (
            f"{batch} sentence{'s' * (batch > 1)} of up to {n} tokens, vectors of {d_model} "
            f"numbers, "
        )
        shows += (
            ", ".join(f"{name} = {value!r}" for name, value in given.items())
            or "neither pooling nor normalise is given"
        )
        shows += "; one of the numbers is millions below 0" if normalise == "far" else ""
        demands = (
            ((MEAN,) if pooling == "mean" else (OTHERS,)) if normalise is not True else (LENGTH,)
        )
        if normalise is True and pooling != "mean":
            demands = (OTHERS, LENGTH)
        cases.append(Case((hidden, lengths), given, shows=shows, demands=demands))
    return cases


def sentence_vectors(
    hidden: Tensor, lengths: Tensor, pooling: str = "mean", normalise: bool = False
) -> Tensor:
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


def _pool(
    hidden, lengths, pooling="mean", normalise=False, mean=_mean, largest=_max, cls=_cls, unit=_unit
):
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


def _one_too_many_over_lengths(hidden, lengths):
    return (hidden * _real(hidden, lengths + 1)).sum(dim=1) / lengths[:, None]


def _largest_of_one_too_many(hidden, lengths):
    return _max(hidden, lengths + 1)


def _longest_token(hidden, lengths):
    norms = hidden.norm(dim=-1).masked_fill(~_real(hidden, lengths)[..., 0], -1)
    return hidden[torch.arange(len(hidden)), norms.argmax(dim=1)]


def _units_first(hidden, lengths, pooling="mean", normalise=False):
    return sentence_vectors(_unit(hidden) if normalise else hidden, lengths, pooling)


def _units_first_and_last(hidden, lengths, pooling="mean", normalise=False):
    return sentence_vectors(_unit(hidden) if normalise else hidden, lengths, pooling, normalise)


def _cut(hidden, lengths):
    """The tokens at places that every sentence of the batch has."""
    return hidden[:, : lengths.min()]


def _filled(low: float):
    """The maximum with padding set to this number."""
    return lambda hidden, lengths: hidden.masked_fill(~_real(hidden, lengths), low).amax(dim=1)


def _divided_by_tokens(hidden, lengths, pooling="mean", normalise=False, power=0.5):
    vectors = sentence_vectors(hidden, lengths, pooling)
    return vectors / lengths[:, None] ** power if normalise else vectors


def _softmaxed(vectors):
    return vectors.softmax(dim=-1)


def _without_cls(hidden, lengths):
    real = _real(hidden, lengths).clone()
    real[:, 0] = False
    return (hidden * real).sum(dim=1) / (lengths - 1)[:, None]


def _largest_without_cls(hidden, lengths):
    real = _real(hidden, lengths).clone()
    real[:, 0] = False
    return hidden.masked_fill(~real, -torch.inf).amax(dim=1)


_CUT = (
    "You cut all sentences to the length of the shortest in the batch. Tokens are lost, and a "
    "sentence's vector changes with its neighbours: all of its `lengths[b]` tokens count."
)
_ONE_TOO_MANY = (
    "One place of padding is in your mean. A sentence of length 5 has the places 0 to 4: "
    "place < length, not ≤."
)
_CLS_OUT = (
    "You leave [CLS] out. All `lengths[b]` tokens of a sentence count here, [CLS] and [SEP] "
    "included, as in Sentence-BERT."
)

POOLING = Question(
    name="hw7.sentence_vectors",
    title="One vector for a sentence",
    points=2,
    minutes=15,
    difficulty=1,
    chapter="17_sentence_bert#from-many-vectors-to-one",
    cases=_pooling_cases,
    reference=sentence_vectors,
    demands=(Demand(MEAN, 1), Demand(OTHERS, 0.5), Demand(LENGTH, 0.5)),
    trained=True,
    misconceptions=(
        Misconception(
            "padding_in_the_mean",
            "Padding is in your mean. Its vectors are no zeros, they hold what the model computed "
            "there, and the same sentence would get another vector in a batch with a longer one. "
            "Only the first `lengths[b]` tokens of sentence b count.",
            partial(_pool, mean=lambda hidden, lengths: hidden.mean(dim=1)),
        ),
        Misconception(
            "padding_nowhere_left_out",
            "You do not look at `lengths`: padding is in your mean and in your maximum. Only the "
            "first `lengths[b]` tokens of sentence b count.",
            partial(
                _pool,
                mean=lambda hidden, lengths: hidden.mean(dim=1),
                largest=lambda hidden, lengths: hidden.amax(dim=1),
            ),
        ),
        Misconception(
            "divided_by_all_places",
            "You set padding to 0 and then divide by the number of all places. Zeros add nothing "
            "to the sum, but they are counted: divide by `lengths`.",
            partial(_pool, mean=_sum_over_n),
        ),
        Misconception(
            "summed",
            "Your vector is the sum over the tokens, so that it grows with the sentence. Divide by "
            "`lengths`.",
            partial(_pool, mean=lambda hidden, lengths: _mean(hidden, lengths) * lengths[:, None]),
        ),
        Misconception(
            "special_tokens_left_out",
            "You leave the first and the last token, [CLS] and [SEP], out of the mean. "
            "Sentence-BERT does not, and a model has to be used as it was trained.",
            partial(_pool, mean=_words_only),
        ),
        Misconception(
            "last_token_left_out",
            "The last token is missing from your mean. A sentence of length 5 has the places 0 to "
            "4, and all of them count.",
            partial(_pool, mean=_one_too_few),
        ),
        *(
            Misconception("one_place_too_many", _ONE_TOO_MANY, partial(_pool, **pooled))
            for pooled in (
                {"mean": _one_too_many},
                {"mean": _one_too_many_over_lengths},
                {"mean": _one_too_many, "largest": _largest_of_one_too_many},
                {"mean": _one_too_many_over_lengths, "largest": _largest_of_one_too_many},
            )
        ),
        Misconception(
            "padding_in_the_maximum",
            "Your mean is right, but padding takes part in your maximum.",
            partial(_pool, largest=lambda hidden, lengths: hidden.amax(dim=1)),
        ),
        Misconception(
            "zeros_in_the_maximum",
            "You set padding to 0 before the maximum. Where all tokens are below 0, that 0 is the "
            "largest. Set it to -∞, which never is.",
            partial(
                _pool, largest=lambda hidden, lengths: (hidden * _real(hidden, lengths)).amax(dim=1)
            ),
        ),
        *(
            Misconception(
                "not_the_lowest_number",
                "For the maximum you set padding to a number that is low, but not the lowest: here "
                "all tokens of a sentence have numbers below it, and padding wins. Set it to -∞, "
                "float('-inf'), which never is the largest.",
                partial(_pool, largest=_filled(low)),
            )
            for low in (-1.0, -10.0, -100.0, -1e3, -1e4)
        ),
        Misconception(
            "one_token_for_the_maximum",
            "For 'max' you take one token, the one with the longest vector. The maximum is taken "
            "for each of the d_model numbers by itself, and may come from other tokens each time.",
            partial(_pool, largest=_longest_token),
        ),
        Misconception(
            "largest_of_the_absolute_values",
            "For 'max' you take absolute values first. The largest number is asked for, and -3 is "
            "smaller than 1.",
            partial(
                _pool,
                largest=lambda hidden, lengths: (hidden.abs() * _real(hidden, lengths)).amax(dim=1),
            ),
        ),
        Misconception(
            "last_token_for_cls",
            "For 'cls' you take the last token. [CLS] is the first.",
            partial(
                _pool, cls=lambda hidden, lengths: hidden[torch.arange(len(hidden)), lengths - 1]
            ),
        ),
        Misconception(
            "always_the_mean",
            "You take the mean, whatever `pooling` says.",
            lambda hidden, lengths, pooling="mean", normalise=False: sentence_vectors(
                hidden, lengths, "mean", normalise
            ),
        ),
        Misconception(
            "not_normalised",
            "Right, but with normalise=True the vector is to be divided by its norm, the root of "
            "the sum of its squares.",
            partial(_pool, unit=lambda vectors: vectors),
        ),
        Misconception(
            "only_means_normalised",
            "Right for 'mean'. With normalise=True the vector is divided by its norm whatever the "
            "pooling: behind all three branches, not in one of them.",
            lambda hidden, lengths, pooling="mean", normalise=False: sentence_vectors(
                hidden, lengths, pooling, normalise and pooling == "mean"
            ),
        ),
        Misconception(
            "cls_not_normalised",
            "Right for 'mean' and 'max'. With normalise=True the vector is divided by its norm "
            "whatever the pooling: for 'cls' too, which returns too early, perhaps.",
            lambda hidden, lengths, pooling="mean", normalise=False: sentence_vectors(
                hidden, lengths, pooling, normalise and pooling != "cls"
            ),
        ),
        *(
            Misconception(
                "divided_by_the_tokens",
                "With normalise=True you divide by the number of tokens, or its root. The norm of "
                "a vector is made of its own numbers: the root of the sum of their squares.",
                partial(_divided_by_tokens, power=power),
            )
            for power in (0.5, 1.0)
        ),
        Misconception(
            "other_defaults",
            "Right where both arguments are given. Where they are not, pooling is 'mean' and "
            "normalise is False: leave the first line of the function as it was.",
            lambda hidden, lengths, pooling="cls", normalise=False: sentence_vectors(
                hidden, lengths, pooling, normalise
            ),
        ),
        Misconception(
            "other_defaults",
            "Right where both arguments are given. Where they are not, pooling is 'mean' and "
            "normalise is False: leave the first line of the function as it was.",
            lambda hidden, lengths, pooling="mean", normalise=True: sentence_vectors(
                hidden, lengths, pooling, normalise
            ),
        ),
        squeezing(sentence_vectors),
        replace(
            squeezing(sentence_vectors),
            answer=partial(_pool, cls=lambda hidden, lengths: _cls(hidden, lengths).squeeze()),
        ),
        replace(
            squeezing(sentence_vectors),
            answer=partial(_pool, largest=lambda hidden, lengths: _max(hidden, lengths).squeeze()),
        ),
        Misconception(
            "always_normalised",
            "You always divide by the norm of the vector; that is asked for with normalise=True "
            "only.",
            lambda hidden, lengths, pooling="mean", normalise=False: sentence_vectors(
                hidden, lengths, pooling, True
            ),
        ),
        Misconception(
            "normalised_before_pooling",
            "With normalise=True you bring the tokens' vectors to norm 1 and then pool: the "
            "result's norm is below 1 again. Pool first, and divide the sentence's vector by its "
            "norm.",
            _units_first,
        ),
        Misconception(
            "tokens_normalised_too",
            "With normalise=True you bring the tokens' vectors to norm 1 before you pool, and the "
            "sentence's vector after it. The first changes its direction: long vectors would count "
            "no more than short ones. Pool the vectors as they are.",
            _units_first_and_last,
        ),
        Misconception(
            "cut_to_the_shortest",
            _CUT,
            partial(_pool, mean=lambda hidden, lengths: _cut(hidden, lengths).mean(dim=1)),
        ),
        Misconception(
            "cut_to_the_shortest",
            _CUT,
            partial(
                _pool,
                mean=lambda hidden, lengths: _cut(hidden, lengths).mean(dim=1),
                largest=lambda hidden, lengths: _cut(hidden, lengths).amax(dim=1),
            ),
        ),
        Misconception(
            "normalised_along_the_batch",
            "With normalise=True you divide each *column* by its norm, so that the sentences of a "
            "batch change one another. Along the last dimension: dim=-1.",
            partial(_pool, unit=lambda vectors: vectors / vectors.norm(dim=0)),
        ),
        Misconception(
            "divided_by_one_length",
            "With normalise=True you divide all vectors by one number, the norm of the whole "
            "batch. Each sentence has its own: dim=-1, keepdim=True.",
            partial(_pool, unit=lambda vectors: vectors / vectors.norm()),
        ),
        Misconception(
            "divided_by_the_sum",
            "With normalise=True you divide by the sum of the numbers. The norm of a vector is the "
            "root of the sum of its squares.",
            partial(_pool, unit=lambda vectors: vectors / vectors.sum(dim=-1, keepdim=True)),
        ),
        Misconception(
            "softmax_for_length",
            "With normalise=True you take a softmax: it makes shares that sum to 1. The vector is "
            "divided by its norm, the root of the sum of its squares.",
            partial(_pool, unit=_softmaxed),
        ),
        Misconception("cls_left_out", _CLS_OUT, partial(_pool, mean=_without_cls)),
        Misconception(
            "cls_left_out",
            _CLS_OUT,
            partial(_pool, mean=_without_cls, largest=_largest_without_cls),
        ),
        Misconception(
            "divided_by_the_absolute_values",
            "With normalise=True you divide by the sum of the absolute values. The norm of a "
            "vector is the root of the sum of its squares.",
            partial(_pool, unit=lambda vectors: vectors / vectors.abs().sum(dim=-1, keepdim=True)),
        ),
        Misconception(
            "root_forgotten",
            "With normalise=True you divide by the sum of the squares. The norm is the *root* of "
            "it.",
            partial(
                _pool, unit=lambda vectors: vectors / vectors.square().sum(dim=-1, keepdim=True)
            ),
        ),
    ),
)
