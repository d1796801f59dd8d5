"""Question 7: the loss of a batch of sentences, without its padding."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from lectures_lib.homework.banks.hw2.additive import some_lengths
from lectures_lib.homework.banks.inputs import normal, sizes
from lectures_lib.homework.questions import Case, Demand, Misconception, Question

MEAN = "without padding, the mean over all words"
PADDING = "padding, whichever token it is, does not count"


def _loss_cases(g: Generator) -> list[Case]:
    cases = []
    for padded, pad, one in (
        (False, 0, False),
        (True, 0, False),
        (True, 3, False),
        (False, 0, True),
    ):
        batch, n, vocab_size = sizes(g, 3, 4, 9)
        batch, n = (1, 1) if one else (batch, n)
        lengths = some_lengths(g, batch, n) if padded else torch.full((batch,), n)
        words = torch.randint(vocab_size - 1, (batch, n), generator=g)
        words[words >= pad] += 1  # every token but the padding
        target = torch.where(torch.arange(n) < lengths[:, None], words, pad)
        # Worse at the end than at the beginning: whoever counts sentences or positions differently
        # gets another mean.
        logits = (
            2 * normal(g, batch, n, vocab_size)
            + 3 * F.one_hot(target, vocab_size) * torch.linspace(2, 0, n)[:, None]
        )
        logits[0] *= 2
        kind = f"padding is token {pad}" if padded else "no padding"
        shows = f"{batch} sentences of width {n}, {vocab_size} tokens in the vocabulary, {kind}"
        # A loss of nothing at all, as wrong answers give for a single word, is 0 / 0, and so is its
        # gradient, if it has one.
        cases.append(
            Case(
                (logits, target, pad),
                shows=shows,
                gradients="none" if one else "values",
                demands=(PADDING if padded else MEAN,),
            )
        )
    return cases


def sequence_loss(logits: Tensor, target: Tensor, pad: int) -> Tensor:
    """The mean of -log p(token) over all tokens of the batch that are not padding."""
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad)


def _losses(logits: Tensor, target: Tensor) -> Tensor:
    return -logits.log_softmax(dim=-1).gather(-1, target[..., None])[..., 0]


def _mean(losses: Tensor, words: Tensor, over: str = "words") -> Tensor:
    kept = losses * words
    if over == "positions":
        return kept.mean()
    if over == "sentences":
        return kept.sum() / len(kept)
    if over == "sentence means":
        return (kept.sum(dim=1) / words.sum(dim=1)).mean()
    return kept.sum() if over == "nothing" else kept.sum() / words.sum()


def _loss(logits, target, pad, over="words"):
    return _mean(_losses(logits, target), target != pad, over)


def _loss_padding_counted(logits, target, pad):
    return _losses(logits, target).mean()


def _loss_padding_summed(logits, target, pad):
    return _losses(logits, target).sum() / (target != pad).sum()


def _loss_padding_is_zero(logits, target, pad):
    return _loss(logits, target, 0)


def _loss_zero_is_no_padding(logits, target, pad):
    return sequence_loss(logits, target, pad) if pad else _losses(logits, target).mean()


def _loss_padding_never_predicted(logits, target, pad):
    return sequence_loss(
        logits.masked_fill(torch.arange(logits.shape[-1]) == pad, -1e9), target, pad
    )


def _loss_shifted_again(logits, target, pad):
    return _loss(logits[:, :-1], target[:, 1:], pad)


def _loss_softmax_twice(logits, target, pad):
    return _loss(logits.softmax(dim=-1), target, pad)


def _loss_over_positions(logits, target, pad):
    losses = -logits.log_softmax(dim=1).gather(-1, target[..., None])[..., 0]
    return _mean(losses, target != pad)


def _loss_viewed(logits, target, pad):
    batch, n, vocab_size = logits.shape
    return F.cross_entropy(logits.reshape(batch, vocab_size, n), target, ignore_index=pad)


def _loss_padding_only(logits, target, pad):
    return _mean(_losses(logits, target), target == pad)


def _loss_of_log_of_mean(logits, target, pad):
    p = logits.softmax(dim=-1).gather(-1, target[..., None])[..., 0]
    return -_mean(p, target != pad).log()


def _loss_without_log(logits, target, pad):
    p = logits.softmax(dim=-1).gather(-1, target[..., None])[..., 0]
    return _mean(1 - p, target != pad)


def _loss_sign(logits, target, pad):
    return -sequence_loss(logits, target, pad)


def _loss_bits(logits, target, pad):
    return sequence_loss(logits, target, pad) / torch.tensor(2.0).log()


def _loss_each(logits, target, pad):
    return _losses(logits, target) * (target != pad)


def _loss_minus_probability(logits, target, pad):
    p = logits.softmax(dim=-1).gather(-1, target[..., None])[..., 0]
    return _mean(-p, target != pad)


def _loss_perplexity(logits, target, pad):
    return sequence_loss(logits, target, pad).exp()


def _loss_of_scores(logits, target, pad):
    return _mean(-logits.gather(-1, target[..., None])[..., 0], target != pad)


LOSS = Question(
    name="hw2.sequence_loss",
    title="What counts in the loss",
    points=1,
    minutes=10,
    difficulty=2,
    chapter="06_decoder#one-to-the-right",
    cases=_loss_cases,
    reference=sequence_loss,
    misconceptions=(
        Misconception(
            "padding_counted",
            "You count the padding: the model is rewarded for predicting what nobody wants to "
            "read, and it gets good at that first. Leave out the positions where target is pad.",
            _loss_padding_counted,
        ),
        Misconception(
            "padding_summed",
            "You divide by the number of words, but your sum has the losses at the padding in it, "
            "too. Leave them out of both.",
            _loss_padding_summed,
        ),
        Misconception(
            "divided_by_all_positions",
            "You sum over the words only, but divide by all positions, padding included: the more "
            "padding, the smaller the loss. Divide by the number of words.",
            partial(_loss, over="positions"),
        ),
        Misconception(
            "mean_of_sentence_means",
            "You take each sentence's mean and then the mean of those: a word in a short sentence "
            "counts more than one in a long sentence. Every word counts the same: sum over all of "
            "them, divide by how many there are.",
            partial(_loss, over="sentence means"),
        ),
        Misconception(
            "divided_by_the_sentences",
            "You divide the sum by the number of sentences: the loss then grows with their length. "
            "Divide by the number of words.",
            partial(_loss, over="sentences"),
        ),
        Misconception(
            "summed",
            "You return the sum over all words; the mean is asked for. With a sum, the size of a "
            "step would depend on how much text is in the batch.",
            partial(_loss, over="nothing"),
        ),
        Misconception(
            "padding_is_always_0",
            "You take token 0 for the padding, whatever `pad` says. Where padding is another "
            "token, real words are left out and padding is counted.",
            _loss_padding_is_zero,
        ),
        Misconception(
            "pad_0_taken_for_none",
            "Right where the padding has another number than 0. `if pad` is false for 0, a token "
            "like the others: here it is the padding, and you count it.",
            _loss_zero_is_no_padding,
        ),
        Misconception(
            "padding_left_out_of_the_softmax",
            "You take the padding token out of the softmax. The model may well predict it, "
            "wrongly, and pays for that: left out are the *positions* whose target is pad; the "
            "softmax runs over the whole vocabulary.",
            _loss_padding_never_predicted,
        ),
        Misconception(
            "shifted_again",
            "You shift once more: logits[:, i] are compared with target[:, i + 1]. The decoder's "
            "input is shifted already, so the scores at position i belong to target[:, i].",
            _loss_shifted_again,
        ),
        Misconception(
            "softmax_twice",
            "You take the softmax and hand its result to a function that takes it again "
            "(F.cross_entropy does). Probabilities lie so close together that a second softmax "
            "makes them nearly even. Hand over the scores.",
            _loss_softmax_twice,
        ),
        Misconception(
            "softmax_over_positions",
            "Your softmax runs over dim=1, the positions: they compete for each token. At each "
            "position the tokens of the vocabulary compete: dim=-1.",
            _loss_over_positions,
        ),
        Misconception(
            "viewed_instead_of_transposed",
            "F.cross_entropy wants the vocabulary in dimension 1, and you brought it there by view "
            "or reshape, which mixes the scores of different positions. Use logits.transpose(1, "
            "2), or flatten batch and positions into one.",
            _loss_viewed,
        ),
        Misconception(
            "mask_inverted",
            "You average over the padding and leave out the words: keep the positions where target "
            "is *not* pad.",
            _loss_padding_only,
        ),
        Misconception(
            "log_of_the_mean",
            "You take the mean of the probabilities and then its logarithm. Each word has its own "
            "-log p; average those.",
            _loss_of_log_of_mean,
        ),
        Misconception(
            "logarithm_forgotten",
            "You average 1 - p. The loss of a word is -log p, which has no upper end: being sure "
            "and wrong must cost a lot.",
            _loss_without_log,
        ),
        Misconception(
            "sign_flipped",
            "Your loss has the wrong sign: log p is negative. A model that minimised this would "
            "learn to be wrong.",
            _loss_sign,
        ),
        Misconception(
            "in_bits",
            "You take logarithms to base 2. That is the loss in bits; PyTorch's, and this "
            "question's, are natural logarithms.",
            _loss_bits,
        ),
        Misconception(
            "not_averaged",
            "You return a loss for every position. Training needs one number: the mean over the "
            "words.",
            _loss_each,
        ),
        Misconception(
            "minus_the_probability",
            "Your loss is the mean of -p, without a logarithm. F.nll_loss takes no logarithm "
            "either: it wants log_softmax, not softmax. F.cross_entropy does both.",
            _loss_minus_probability,
        ),
        Misconception(
            "minus_the_score",
            "Your loss is the mean of minus the right tokens' scores. F.nll_loss wants the "
            "logarithms of probabilities: log_softmax first. F.cross_entropy does both.",
            _loss_of_scores,
        ),
        Misconception(
            "perplexity",
            "You return e to the power of the loss, the perplexity. Asked for is the loss.",
            _loss_perplexity,
        ),
    ),
    demands=(Demand(MEAN, 0.5), Demand(PADDING, 0.5)),
)
