"""Claims about how a Transformer is trained, and how it translates."""

import math

import torch
import torch.nn.functional as F

from claims import Found, found
from claims.attention import equal
from claims.transformer import tiny
from lectures_lib import decoding
from lectures_lib.blocks.attention import causal_mask
from lectures_lib.data import pad_pairs
from lectures_lib.models.transformer import shift_right

BEGIN, END = 1, 2


def visible_answers() -> Found:
    """How many of six targets stand in what the decoder may see at their own position, without the
    shift and with it.
    """
    target = torch.tensor([[11, 12, 13, 14, 15, END]])
    mask = causal_mask(6)

    def seen(read: torch.Tensor) -> int:
        return sum(bool((read[0, mask[i]] == target[0, i]).any()) for i in range(6))

    without, shifted = seen(target), seen(shift_right(target, BEGIN))
    return found(without == 6 and shifted == 0, without=without, shifted=shifted)


def end_in_the_input() -> Found:
    """Begin and end token on the input, end token on the target: one is longer. The library's batch
    has both of one length.
    """
    words = [11, 12, 13]
    read, target = [BEGIN, *words, END], [*words, END]
    batch = pad_pairs([([5, 6], [BEGIN, *words, END])])
    assert batch.read[0].tolist() == [BEGIN, *words] and batch.predicted[0].tolist() == target
    return found(len(read) == len(target), read=len(read), target=len(target))


def target_of_the_loss() -> Found:
    """What is predicted is the input without its begin token, and with an end token."""
    batch = pad_pairs([([5, 6], [BEGIN, 11, 12, 13, END])])
    return found(
        torch.equal(batch.predicted[0], torch.cat([batch.read[0, 1:], torch.tensor([END])])),
        n=batch.predicted.shape[1],
    )


def the_ith_element() -> Found:
    """The procedure of the lecture, word for word, against the library's greedy decoding."""
    model, source = tiny(), torch.randint(3, 1000, (1, 6))
    tokens = [BEGIN]
    with torch.no_grad():
        for i in range(8):
            scores = model(source, torch.tensor([tokens]))
            tokens.append(scores[0, i].argmax().item())
            if tokens[-1] == END:
                break
    ours = decoding.greedy(model, source, begin=BEGIN, end=END, max_len=8).tokens[0].tolist()
    return found(ours[: len(tokens) - 1] == tokens[1:], n=len(tokens) - 1)


def previous_as_keys() -> Found:
    """One query a step, with the keys and values of all earlier steps kept, against all positions
    at once.
    """
    model, source, target = tiny(), torch.randint(3, 1000, (1, 6)), torch.randint(3, 1000, (1, 5))
    with torch.no_grad():
        at_once, with_cache = model(source, target), decoding.stepwise(model)
        state = with_cache.start(source).state
        steps = []
        for i in range(5):
            logits, state, _ = with_cache.step(target[:, i], state)
            steps.append(logits)
    return found(equal(torch.stack(steps, dim=1), at_once), n=len(steps))


def sampled_or_searched() -> Found:
    """Beam search gives one answer, sampling another with every seed."""
    model, source = tiny(), torch.randint(3, 1000, (1, 6))
    options = {"begin": BEGIN, "end": END, "max_len": 8}
    searched = {
        tuple(decoding.beam(model, source, width=4, alpha=0.6, **options).tokens[0].tolist())
        for _ in range(5)
    }
    drawn = {
        tuple(
            decoding.sample(model, source, generator=torch.Generator().manual_seed(seed), **options)
            .tokens[0]
            .tolist()
        )
        for seed in range(5)
    }
    return found(drawn == searched, searched=len(searched), drawn=len(drawn))


def smoothed_loss() -> Found:
    """The least loss that is possible with ε = 0.1 and 37,000 tokens, where the plain loss can
    reach 0.
    """
    vocab, smoothing = 37_000, 0.1
    right, wrong = 1 - smoothing + smoothing / vocab, smoothing / vocab
    best = torch.full((1, vocab), math.log(wrong))
    best[0, 0] = math.log(right)
    least = F.cross_entropy(best, torch.tensor([0]), label_smoothing=smoothing).item()
    return found(
        least < 1e-3,
        least=least,
        plain=F.cross_entropy(torch.eye(1, vocab) * 1000, torch.tensor([0])).item(),
    )
