"""Question 4: cross-entropy with smoothed labels, padding left out."""

import math
from functools import partial

import torch
from torch import Generator, Tensor

from lectures_lib.homework.banks.inputs import normal, sizes, whole
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

MEAN = "of sentences without padding, the mean of -Σ q log p with the smoothed q"
PADDING = "padding is left out, whatever its number"
FAR = "scores far apart cost what they should, and not ∞"


def _smoothing_cases(g: Generator) -> list[Case]:
    cases = [_without_padding(g), _far_apart(g)]
    for i, pad_is_zero in enumerate((True, False)):
        batch, n, vocab = *sizes(g, 2, 3, 6), whole(g, 7, 11)
        pad = 0 if pad_is_zero else whole(g, 2, vocab - 1)
        epsilon = whole(g, 10 + 12 * i, 18 + 12 * i) / 100
        targets = torch.randint(vocab - 1, (batch, n), generator=g)
        targets += targets >= pad  # none of them is padding yet
        for row, length in enumerate(sizes(g, batch, 1, n + 2)):
            targets[row, length:] = pad
        shows = (
            f"{batch} sentences padded to {n} tokens, {vocab} words, epsilon = {epsilon}, the "
            f"padding is {pad}"
        )
        case = (_mostly_right(g, targets, vocab), targets, epsilon, pad)
        cases.append(Case(case, shows=shows, gradients="values", demands=(PADDING,)))
    return cases


def _without_padding(g: Generator) -> Case:
    (batch, n), vocab, epsilon = sizes(g, 2, 3, 6), whole(g, 7, 11), whole(g, 10, 30) / 100
    targets = 1 + torch.randint(vocab - 1, (batch, n), generator=g)
    return Case(
        (_mostly_right(g, targets, vocab), targets, epsilon, 0),
        shows=f"{batch} sentences of {n} tokens, {vocab} words, epsilon = {epsilon}, no padding",
        gradients="values",
    )


def _mostly_right(g: Generator, targets: Tensor, vocab: int) -> Tensor:
    """Logits by which the right word is likely on the whole, so that the loss grows with
    epsilon.
    """
    right = torch.nn.functional.one_hot(targets, vocab)
    return 2 * normal(g, *targets.shape, vocab) + 3 * right


def _far_apart(g: Generator) -> Case:
    """In float32 e^-200 is 0, and its logarithm -∞; that of the softmax is -200."""
    vocab = whole(g, 4, 6)
    targets = 1 + torch.randperm(vocab - 1, generator=g)[None, :3]
    logits = 200.0 * torch.nn.functional.one_hot((targets + 1) % vocab, vocab) + normal(
        g, 1, 3, vocab
    )
    return Case(
        (logits, targets, 0.1, 0),
        shows=f"one sentence of 3 tokens, {vocab} words, scores of 0 and 200, no padding",
        demands=(FAR,),
    )


def smoothed_cross_entropy(logits: Tensor, targets: Tensor, epsilon: float, pad: int) -> Tensor:
    """Mean over the real targets of -Σ q log p, where q is 1 - epsilon on the right word and
    epsilon / vocab on every word.
    """
    return _mean(_losses(logits, targets, epsilon), targets != pad)


def _losses(
    logits: Tensor,
    targets: Tensor,
    epsilon: float,
    kept: float | None = None,
    share: float | None = None,
    dim: int = -1,
) -> Tensor:
    """(batch, n): `kept` of the right word's -log p, and `share` of that of every word."""
    vocab = logits.shape[-1]
    log_probs = logits.log_softmax(dim=dim)
    right = -log_probs.gather(-1, targets[..., None])[..., 0]
    kept = 1 - epsilon if kept is None else kept
    return kept * right - (epsilon / vocab if share is None else share) * log_probs.sum(dim=-1)


def _mean(losses: Tensor, real: Tensor) -> Tensor:
    return losses[real].mean()


def _loss(
    logits: Tensor, targets: Tensor, epsilon: float, pad: int, over: str = "real", dim: int = -1
) -> Tensor:
    losses, real = _losses(logits, targets, epsilon, dim=dim), targets != pad
    if over == "real":
        return _mean(losses, real)
    if over == "all":
        return losses.mean()
    if over == "all, pads 0":
        return losses.masked_fill(~real, 0.0).mean()
    if over == "sum":
        return losses[real].sum()
    if over == "pads too":
        return losses.sum() / real.sum()
    if over == "none":
        return losses.masked_fill(~real, 0.0)
    if over == "sentences":
        return ((losses * real).sum(dim=1) / real.sum(dim=1)).mean()
    if over == "zeros are pads":
        return _mean(losses, targets != 0)
    if over == "as many as are not 0":
        return losses[real].sum() / targets.count_nonzero()
    return (losses * real).sum() / len(targets)


def _others_only(logits: Tensor, targets: Tensor, epsilon: float, pad: int) -> Tensor:
    """epsilon is shared by the wrong words only: each gets epsilon / (vocab - 1), the right one 1 -
    epsilon.
    """
    share = epsilon / (logits.shape[-1] - 1)
    return _mean(
        _losses(logits, targets, epsilon, kept=1 - epsilon - share, share=share), targets != pad
    )


def _others_keep_epsilon_over_vocab(
    logits: Tensor, targets: Tensor, epsilon: float, pad: int
) -> Tensor:
    """The right word gets 1 - epsilon, each wrong one epsilon / vocab: together they miss epsilon /
    vocab.
    """
    share = epsilon / logits.shape[-1]
    return _mean(
        _losses(logits, targets, epsilon, kept=1 - epsilon - share, share=share), targets != pad
    )


def _right_word_keeps_all(logits: Tensor, targets: Tensor, epsilon: float, pad: int) -> Tensor:
    return _mean(_losses(logits, targets, epsilon, kept=1.0), targets != pad)


def _epsilon_on_each(logits: Tensor, targets: Tensor, epsilon: float, pad: int) -> Tensor:
    return _mean(_losses(logits, targets, epsilon, share=epsilon), targets != pad)


def _log_of_softmax(logits: Tensor, targets: Tensor, epsilon: float, pad: int) -> Tensor:
    log_probs, real = logits.softmax(dim=-1).log(), targets != pad
    right = -log_probs.gather(-1, targets[..., None])[..., 0]
    return _mean((1 - epsilon) * right - epsilon * log_probs.mean(dim=-1), real)


def _above_pad_only(logits: Tensor, targets: Tensor, epsilon: float, pad: int) -> Tensor:
    return _mean(_losses(logits, targets, epsilon), targets > pad)


def _swapped(logits: Tensor, targets: Tensor, epsilon: float, pad: int) -> Tensor:
    return smoothed_cross_entropy(logits, targets, 1 - epsilon, pad)


def _not_smoothed(logits: Tensor, targets: Tensor, epsilon: float, pad: int) -> Tensor:
    return smoothed_cross_entropy(logits, targets, 0.0, pad)


def _none_for_padding(
    logits: Tensor, targets: Tensor, epsilon: float, pad: int, others: int = 1
) -> Tensor:
    """The padding token gets nothing of epsilon; it is shared by the vocab - 1 real words, or by
    the vocab - 2 wrong ones.
    """
    log_probs = logits.log_softmax(dim=-1)
    q = torch.full_like(logits, epsilon / (logits.shape[-1] - others))
    right = torch.full_like(q[..., :1], 1 - epsilon) if others == 2 else q[..., :1] + 1 - epsilon
    q = q.scatter(-1, targets[..., None], right)
    q[..., pad] = 0.0
    return _mean(-(q * log_probs).sum(dim=-1), targets != pad)


def _probabilities(logits: Tensor, targets: Tensor, epsilon: float, pad: int) -> Tensor:
    return smoothed_cross_entropy(logits.softmax(dim=-1), targets, epsilon, pad)


def _sign(logits: Tensor, targets: Tensor, epsilon: float, pad: int) -> Tensor:
    return -smoothed_cross_entropy(logits, targets, epsilon, pad)


def _mean_of_zeros(logits: Tensor, targets: Tensor, epsilon: float, pad: int) -> Tensor:
    """Smoothing is still counted where the target is padding."""
    real, vocab = targets != pad, logits.shape[-1]
    log_probs = logits.log_softmax(dim=-1)
    right = -log_probs.gather(-1, targets[..., None])[..., 0]
    return (1 - epsilon) * right[real].mean() - epsilon / vocab * log_probs.sum(dim=-1).mean()


def _number(logits: Tensor, targets: Tensor, epsilon: float, pad: int) -> float:
    return smoothed_cross_entropy(logits, targets, epsilon, pad).item()


_NO_PADDING_WORD = (
    "Padding gets nothing of epsilon in your answer, as in The Annotated Transformer. A fair idea, "
    "since it is never the right word; but PyTorch and this question share epsilon among *all* "
    "words, and mean by padding only targets to be left out."
)
_PADS_COUNT = (
    "You set the losses at padded places to 0 but still divide by the number of all places: a "
    "batch with more padding seems easier. Divide by the number of real targets."
)


def _decadic(
    logits: Tensor, targets: Tensor, epsilon: float, pad: int, underflows: bool = True
) -> Tensor:
    if underflows:
        return _log_of_softmax(logits, targets, epsilon, pad) / math.log(10)
    return smoothed_cross_entropy(logits, targets, epsilon, pad) / math.log(10)


def _no_softmax(logits: Tensor, targets: Tensor, epsilon: float, pad: int) -> Tensor:
    right = -logits.gather(-1, targets[..., None])[..., 0]
    return _mean((1 - epsilon) * right - epsilon * logits.mean(dim=-1), targets != pad)


_DECADIC = (
    "Your logarithm has base 10, so the loss is 2.3 times too small. The loss is defined with the "
    "natural logarithm: log_softmax."
)


def _without_entropy(logits: Tensor, targets: Tensor, epsilon: float, pad: int) -> Tensor:
    """The Kullback-Leibler divergence, as F.kl_div gives it."""
    vocab = logits.shape[-1]
    right, others = 1 - epsilon + epsilon / vocab, epsilon / vocab
    entropy = -right * math.log(right) - (vocab - 1) * others * math.log(others)
    return smoothed_cross_entropy(logits, targets, epsilon, pad) - entropy


def _mean_over_the_vocabulary(logits: Tensor, targets: Tensor, epsilon: float, pad: int) -> Tensor:
    return smoothed_cross_entropy(logits, targets, epsilon, pad) / logits.shape[-1]


def _more_than_1(logits: Tensor, targets: Tensor, epsilon: float, pad: int) -> Tensor:
    """The right word has its share of epsilon, and the others share it all."""
    vocab = logits.shape[-1]
    share = epsilon / (vocab - 1)
    kept = 1 - epsilon + epsilon / vocab - share
    return _mean(_losses(logits, targets, epsilon, kept=kept, share=share), targets != pad)


def _bounded_logarithm(
    logits: Tensor, targets: Tensor, epsilon: float, pad: int, least: float = 1e-9
) -> Tensor:
    log_probs = (logits.softmax(dim=-1) + least).log()
    right = -log_probs.gather(-1, targets[..., None])[..., 0]
    losses = (1 - epsilon) * right - epsilon * log_probs.mean(dim=-1)
    return _mean(losses, targets != pad)


_BOUNDED = (
    "You add a small number to the probabilities, or lift them to one, so that none is 0 before "
    "the logarithm. Then no word can be less likely than that number, and a word of probability "
    "e^-200 costs 20 or 30 and not 200. log_softmax needs no such help."
)


def _model_smoothed(logits: Tensor, targets: Tensor, epsilon: float, pad: int) -> Tensor:
    """epsilon goes into the model's probabilities."""
    smooth = (1 - epsilon) * logits.softmax(dim=-1) + epsilon / logits.shape[-1]
    return _mean(-smooth.gather(-1, targets[..., None])[..., 0].log(), targets != pad)


def _padding_only(logits: Tensor, targets: Tensor, epsilon: float, pad: int) -> Tensor:
    return _mean(_losses(logits, targets, epsilon), targets == pad)


def _no_logarithm(logits: Tensor, targets: Tensor, epsilon: float, pad: int) -> Tensor:
    return _no_softmax(logits.softmax(dim=-1), targets, epsilon, pad)


SMOOTHING = Question(
    name="hw3.smoothed_cross_entropy",
    title="A loss that forgives a little",
    points=3,
    minutes=20,
    difficulty=2,
    chapter="08_training#label-smoothing",
    cases=_smoothing_cases,
    reference=smoothed_cross_entropy,
    forbidden=("F.cross_entropy(label_smoothing)",),
    misconceptions=(
        Misconception(
            "padding_counts",
            "Your mean is over all places, padding too: the model is asked to predict it, and the "
            "loss says more about the padding than about the words. Take only the places where "
            "targets != pad.",
            partial(_loss, over="all"),
        ),
        Misconception("divided_by_all_places", _PADS_COUNT, partial(_loss, over="all, pads 0")),
        Misconception(
            "padding_summed",
            "You divide by the number of real targets, but your sum has the losses at the padding "
            "in it, too. Leave them out of both.",
            partial(_loss, over="pads too"),
        ),
        Misconception(
            "padding_counts_in_the_smoothing",
            "You leave padding out of the right word's part, but not out of the part of epsilon, "
            "which still looks at every place. Both parts are means over the real targets.",
            _mean_of_zeros,
        ),
        Misconception(
            "zeros_taken_for_padding",
            "You take 0 for padding. Here it is the word whose number is `pad`, and 0 may be a "
            "real one.",
            partial(_loss, over="zeros are pads"),
        ),
        Misconception(
            "divided_by_what_is_not_0",
            "The right losses are added, but you divide by the number of targets that are not 0. "
            "Count those that are not `pad`: it may have another number, and 0 may be a word.",
            partial(_loss, over="as many as are not 0"),
        ),
        Misconception(
            "words_below_pad_left_out",
            "You keep the targets that are greater than pad, and leave out the words with smaller "
            "numbers. Padding is the one word whose number is pad: keep the places where targets "
            "!= pad.",
            _above_pad_only,
        ),
        Misconception(
            "log_of_softmax",
            "You take the softmax and then its logarithm. A word that is very unlikely gets the "
            "probability 0, rounded, and the logarithm of 0 is -∞. log_softmax takes both at once "
            "and rounds nothing away.",
            _log_of_softmax,
        ),
        Misconception(
            "model_smoothed_instead_of_the_target",
            "You share epsilon out among the *model's* probabilities and take their logarithm. It "
            "is the target q that is smoothed; p stays the softmax of the logits, and the loss is "
            "-Σ q log p, a sum over all words.",
            _model_smoothed,
        ),
        Misconception(
            "padding_only",
            "Your mean is over the padding alone. Keep the places where targets != pad.",
            _padding_only,
        ),
        Misconception(
            "logarithm_forgotten",
            "You take the probabilities where their logarithms belong: -Σ q log p. log_softmax "
            "gives them.",
            _no_logarithm,
        ),
        Misconception(
            "sum",
            "You return the sum of the losses. It grows with the number of words in the batch; the "
            "mean over the real targets is asked for.",
            partial(_loss, over="sum"),
        ),
        Misconception(
            "not_reduced",
            "You return a loss for each place. One number is asked for, the mean over the real "
            "targets.",
            partial(_loss, over="none"),
        ),
        Misconception(
            "mean_of_sentences",
            "You take the mean of each sentence first and then the mean of those, so that a word "
            "of a short sentence counts more than one of a long sentence. Every real target counts "
            "the same: one mean over all of them.",
            partial(_loss, over="sentences"),
        ),
        Misconception(
            "divided_by_sentences",
            "You divide the sum by the number of sentences, so longer sentences give larger "
            "losses. Divide by the number of real targets.",
            partial(_loss, over="batch"),
        ),
        Misconception(
            "epsilon_for_wrong_words_only",
            "You share epsilon among the wrong words, epsilon / (vocab - 1) each. A common "
            "reading, but here, as in PyTorch, every word gets epsilon / vocab, the right one as "
            "well: its target is 1 - epsilon + epsilon / vocab.",
            _others_only,
        ),
        Misconception(
            "target_does_not_sum_to_1",
            "Your target gives 1 - epsilon to the right word and epsilon / vocab to each other "
            "one, which sums to less than 1. The right word gets its epsilon / vocab as well.",
            _others_keep_epsilon_over_vocab,
        ),
        Misconception(
            "right_word_keeps_all",
            "You add the smoothing to the whole of the ordinary loss, so your target sums to 1 + "
            "epsilon. The right word gives up what the others get: weigh the ordinary loss by 1 - "
            "epsilon.",
            _right_word_keeps_all,
        ),
        Misconception(
            "epsilon_for_each_word",
            "You give epsilon to every word, vocab · epsilon in all. They *share* it: epsilon / "
            "vocab for each, which is epsilon times the mean over the vocabulary.",
            _epsilon_on_each,
        ),
        Misconception(
            "swapped",
            "epsilon and 1 - epsilon have changed places: you leave the right word a share of "
            "epsilon only.",
            _swapped,
        ),
        Misconception(
            "not_smoothed",
            "This is the ordinary cross-entropy: epsilon has no effect. Some of the target, "
            "epsilon in all, goes to every word alike.",
            _not_smoothed,
        ),
        Misconception("no_share_for_padding", _NO_PADDING_WORD, _none_for_padding),
        Misconception(
            "no_share_for_padding", _NO_PADDING_WORD, partial(_none_for_padding, others=2)
        ),
        Misconception(
            "softmax_twice",
            "You take the softmax twice: logits go into the logarithm of the softmax as they are. "
            "After a first softmax all numbers lie between 0 and 1, and a second one makes them "
            "nearly equal.",
            _probabilities,
        ),
        Misconception(
            "sign",
            "The sign is wrong: logarithms of probabilities are negative, and a loss is to be made "
            "small. Put a minus in front.",
            _sign,
        ),
        Misconception(
            "softmax_over_places",
            "Your softmax runs over the places of the sentence. The words of the vocabulary "
            "compete: dim=-1.",
            partial(_loss, dim=1),
        ),
        Misconception(
            "number_instead_of_tensor",
            "The value is right, but it is a Python number: nothing can be learned from it, since "
            ".item() cuts off the gradient. Return the tensor.",
            _number,
        ),
        Misconception("decadic_logarithm", _DECADIC, _decadic),
        Misconception("decadic_logarithm", _DECADIC, partial(_decadic, underflows=False)),
        Misconception(
            "no_softmax",
            "You take the logits for log probabilities. They become some by a softmax and a "
            "logarithm, in one: logits.log_softmax(dim=-1).",
            _no_softmax,
        ),
        Misconception(
            "entropy_subtracted",
            "You return the Kullback-Leibler divergence, as F.kl_div does: the cross-entropy less "
            "the entropy of the smoothed target. Training is the same, the number is not: sum up "
            "-q log p alone.",
            _without_entropy,
        ),
        Misconception(
            "mean_over_the_vocabulary",
            "You take the mean over the words of the vocabulary, too. At one place the products "
            "q log p are added up; the mean is taken over places.",
            _mean_over_the_vocabulary,
        ),
        Misconception(
            "target_sums_to_more_than_1",
            "Your target sums to more than 1. You share epsilon out among the wrong words, and "
            "give the right word a part of it besides: each of *all* words gets epsilon / vocab.",
            _more_than_1,
        ),
        Misconception("small_number_added", _BOUNDED, _bounded_logarithm),
        Misconception("small_number_added", _BOUNDED, partial(_bounded_logarithm, least=1e-8)),
        Misconception("small_number_added", _BOUNDED, partial(_bounded_logarithm, least=1e-10)),
        Misconception("small_number_added", _BOUNDED, partial(_bounded_logarithm, least=1e-12)),
    ),
    demands=(Demand(MEAN, 1.5), Demand(PADDING, 1), Demand(FAR, 0.5)),
)
