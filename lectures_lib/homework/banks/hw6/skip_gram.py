"""Question 6: a word and its neighbours, against words drawn at random."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from lectures_lib.homework.banks.hw1.inputs import normal, sizes
from lectures_lib.homework.banks.hw3.inputs import whole
from lectures_lib.homework.questions import Case, Misconception, Question


def _cases(g: Generator) -> list[Case]:
    cases = []
    for single, far in ((False, False), (False, False), (True, False), (False, True)):
        batch, k, d = sizes(g, 3, 3, 8)
        batch, k = (1, 1) if single else (batch, k)
        vocab_size = whole(g, 12, 16)
        words, near = (torch.randint(vocab_size, (batch,), generator=g) for _ in range(2))
        noise = torch.randint(vocab_size, (batch, k), generator=g)
        if not single and not far:  # the tables' first and last rows are used
            words[0] = near[1] = 0
            words[1] = near[0] = vocab_size - 1
        if not single:  # chance may draw the neighbour, the word, and a word twice
            noise[0, 0], noise[1, 0], noise[2, 0], near[2] = (
                near[0],
                words[1],
                noise[2, 1],
                words[2],
            )
        shows = (
            f"{batch} word{'s' * (batch > 1)}, each with one neighbour and {k} random "
            f"word{'s' * (k > 1)}"
        )
        shows += f"; {vocab_size} vectors of length {d} in each table"
        tables = normal(g, 2, vocab_size, d)
        # a neighbour that the model takes for impossible, and a random word that it is sure of
        if far:
            noise[1, 0] = near[1] = (near[0] + 1) % vocab_size
            noise[1, 0] = words[1] = (words[0] + 1) % vocab_size
            tables[0, words[0]] = tables[0, words[1]] = 1.0
            tables[1, near[0]], tables[1, noise[1, 0]] = -150 / d, 150 / d
            shows += "; products of -150 and 150"
        args = (*tables, words, near, noise)
        cases.append(Case(args, shows=shows, gradients="values"))
    return cases


def skip_gram_loss(
    vectors: Tensor, near_vectors: Tensor, words: Tensor, near: Tensor, noise: Tensor
) -> Tensor:
    """The mean over the batch of -log σ(v · v'_near) - Σ log σ(-v · v'_noise)."""
    return _loss(vectors, near_vectors, words, near, noise)


def _scores(vectors, near_vectors, words, near, noise):
    v = vectors[words]
    return (v * near_vectors[near]).sum(dim=-1), (v[:, None] * near_vectors[noise]).sum(dim=-1)


def _loss(
    vectors,
    near_vectors,
    words,
    near,
    noise,
    log=F.logsigmoid,
    noise_sign=-1,
    over_noise="sum",
    over_batch="mean",
    sign=-1,
):
    yes, no = _scores(vectors, near_vectors, words, near, noise)
    each = log(yes) + getattr(log(noise_sign * no), over_noise)(dim=1)
    return sign * getattr(each, over_batch)()


def _one_table(vectors, near_vectors, words, near, noise):
    return _loss(vectors, vectors, words, near, noise)


def _tables_swapped(vectors, near_vectors, words, near, noise):
    return _loss(near_vectors, vectors, words, near, noise)


def _noise_from_the_other_table(vectors, near_vectors, words, near, noise):
    yes, _ = _scores(vectors, near_vectors, words, near, noise)
    _, no = _scores(vectors, vectors, words, near, noise)
    return -(F.logsigmoid(yes) + F.logsigmoid(-no).sum(dim=1)).mean()


def _noise_against_the_neighbour(vectors, near_vectors, words, near, noise):
    yes, _ = _scores(vectors, near_vectors, words, near, noise)
    no = (near_vectors[near][:, None] * near_vectors[noise]).sum(dim=-1)
    return -(F.logsigmoid(yes) + F.logsigmoid(-no).sum(dim=1)).mean()


def _one_minus_log(vectors, near_vectors, words, near, noise):
    yes, no = _scores(vectors, near_vectors, words, near, noise)
    return -(F.logsigmoid(yes) + (1 - F.logsigmoid(no)).sum(dim=1)).mean()


def _minus_outside(vectors, near_vectors, words, near, noise):
    yes, no = _scores(vectors, near_vectors, words, near, noise)
    return -(F.logsigmoid(yes) - F.logsigmoid(no).sum(dim=1)).mean()


def _sum_inside(vectors, near_vectors, words, near, noise):
    yes, no = _scores(vectors, near_vectors, words, near, noise)
    return -(F.logsigmoid(yes) + F.logsigmoid(-no.sum(dim=1))).mean()


def _softmax(vectors, near_vectors, words, near, noise):
    yes, no = _scores(vectors, near_vectors, words, near, noise)
    return F.cross_entropy(
        torch.cat([yes[:, None], no], dim=1), torch.zeros(len(yes), dtype=torch.long)
    )


def _whole_softmax(vectors, near_vectors, words, near, noise):
    return F.cross_entropy(vectors[words] @ near_vectors.T, near)


def _no_noise(vectors, near_vectors, words, near, noise):
    yes, _ = _scores(vectors, near_vectors, words, near, noise)
    return -F.logsigmoid(yes).mean()


def _only_noise(vectors, near_vectors, words, near, noise):
    _, no = _scores(vectors, near_vectors, words, near, noise)
    return -F.logsigmoid(-no).sum(dim=1).mean()


def _all_alike(vectors, near_vectors, words, near, noise):
    """The mean over all 1 + k answers."""
    yes, no = _scores(vectors, near_vectors, words, near, noise)
    return -F.logsigmoid(torch.cat([yes[:, None], -no], dim=1)).mean()


def _all_with_all(vectors, near_vectors, words, near, noise):
    """Every word of the batch with every neighbour of the batch."""
    yes = vectors[words] @ near_vectors[near].T
    _, no = _scores(vectors, near_vectors, words, near, noise)
    return -(F.logsigmoid(yes).mean() + F.logsigmoid(-no).sum(dim=1).mean())


def _cosines(vectors, near_vectors, words, near, noise):
    return _loss(
        F.normalize(vectors, dim=-1), F.normalize(near_vectors, dim=-1), words, near, noise
    )


def _hits_left_out(vectors, near_vectors, words, near, noise):
    """A drawn word that is the neighbour, or the word itself, is no random one."""
    yes, no = _scores(vectors, near_vectors, words, near, noise)
    kept = (noise != near[:, None]) & (noise != words[:, None])
    return -(F.logsigmoid(yes) + (F.logsigmoid(-no) * kept).sum(dim=1)).mean()


def _neighbour_left_out(vectors, near_vectors, words, near, noise):
    yes, no = _scores(vectors, near_vectors, words, near, noise)
    return -(F.logsigmoid(yes) + (F.logsigmoid(-no) * (noise != near[:, None])).sum(dim=1)).mean()


def _likelihood(vectors, near_vectors, words, near, noise):
    return -_loss(vectors, near_vectors, words, near, noise)


_NEGATED = (
    "Your random words are not made unlikely. For them the answer is *no*, with the probability 1 "
    "- σ(x), which is σ(-x): the score gets a minus sign inside of the sigmoid."
)
_MEAN = (
    "You take the mean over the k random words. The loss of one word is a *sum* of 1 + k terms, so "
    "that more random words push harder; the mean is taken over the batch."
)
_TABLES = (
    "There are two tables. The word itself is looked up in `vectors`; its neighbour and the random "
    "words, which are somebody's neighbours, in `near_vectors`."
)

_DRAWN = (
    "You leave out random words that happen to be the neighbour, or the word itself. It is "
    "sensible, and some programs do it; in the formula here all k count as they were drawn."
)

SKIP_GRAM = Question(
    name="hw6.skip_gram_loss",
    title="Did this word stand near?",
    points=2,
    minutes=15,
    difficulty=2,
    chapter="15_features#one-vector-for-each-word",
    cases=_cases,
    reference=skip_gram_loss,
    misconceptions=(
        Misconception("noise_not_negated", _NEGATED, partial(_loss, noise_sign=1)),
        Misconception("noise_not_negated", _NEGATED, _one_minus_log),
        Misconception(
            "minus_outside_of_the_logarithm",
            "You subtract log σ(x) of the random words. The probability of *no* is 1 - σ(x) = "
            "σ(-x), and its logarithm is added: the minus sign belongs inside.",
            _minus_outside,
        ),
        Misconception("mean_over_the_noise", _MEAN, partial(_loss, over_noise="mean")),
        Misconception("mean_over_the_noise", _MEAN, _all_alike),
        Misconception(
            "summed_over_the_batch",
            "You add up the losses of all words. The mean over the batch is asked for, which does "
            "not grow with its size.",
            partial(_loss, over_batch="sum"),
        ),
        Misconception("one_table", _TABLES, _one_table),
        Misconception("one_table", _TABLES, _tables_swapped),
        Misconception("one_table", _TABLES, _noise_from_the_other_table),
        Misconception(
            "noise_against_the_neighbour",
            "You compare the random words with the *neighbour's* vector. They stand in for the "
            "neighbour: both are compared with the word.",
            _noise_against_the_neighbour,
        ),
        Misconception(
            "logarithm_forgotten",
            "You add up probabilities. The loss is made of their logarithms: F.logsigmoid.",
            partial(_loss, log=torch.sigmoid),
        ),
        Misconception(
            "log_of_a_sigmoid",
            "Right for moderate products. Here one is far from 0, its sigmoid is too small for a "
            "float32 and becomes 0, and the logarithm infinite. F.logsigmoid takes both steps at "
            "once.",
            partial(_loss, log=lambda x: x.sigmoid().log()),
        ),
        Misconception(
            "sum_inside_of_the_sigmoid",
            "You add up the scores of the random words before the sigmoid. Each is a question of "
            "its own: first log σ of each, then the sum.",
            _sum_inside,
        ),
        Misconception(
            "softmax",
            "You take a softmax over the neighbour and the random words, as if one of them had to "
            "be chosen. Here each word gets a yes or no by itself: sigmoids.",
            _softmax,
        ),
        Misconception(
            "softmax_over_the_vocabulary",
            "You take a softmax over the whole vocabulary. That is what skip-gram would like to do "
            "and cannot afford; the random words stand in for the vocabulary.",
            _whole_softmax,
        ),
        Misconception(
            "noise_forgotten",
            "Your loss does not look at the random words. Without them all vectors could become "
            "alike, and every answer would be yes.",
            _no_noise,
        ),
        Misconception("drawn_words_left_out", _DRAWN, _hits_left_out),
        Misconception("drawn_words_left_out", _DRAWN, _neighbour_left_out),
        Misconception(
            "neighbour_forgotten",
            "Your loss does not look at the neighbour that really stood there.",
            _only_noise,
        ),
        Misconception(
            "all_with_all",
            "You compare every word with the neighbours of *all* words of the batch. Word i "
            "belongs to neighbour i: multiply entry by entry and add up over the last axis.",
            _all_with_all,
        ),
        Misconception(
            "cosines",
            "You bring the vectors to length 1. The scores are plain products: a frequent word may "
            "have a long vector.",
            _cosines,
        ),
        Misconception(
            "sign_forgotten",
            "Your result has the wrong sign: what is to be minimised is *minus* the logarithm.",
            _likelihood,
        ),
    ),
)
