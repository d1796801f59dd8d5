"""Measures of translations and language models (chapters 1, 8, 8b and 10)."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lectures_lib.checks.door import at_the_door
from lectures_lib.metrics.pairs import check_pairs, check_texts, listed, plain


class Bleu(NamedTuple):
    """A BLEU score from 0 to 100, and how it was computed: without the second, two scores cannot be
    compared.
    """

    score: float
    signature: str


def bleu(hypotheses: Sequence[str], references: Sequence[str], **options: Any) -> Bleu:
    """Corpus BLEU (Papineni et al. 2002) by sacrebleu (Post 2018), which tokenises by itself: give
    it ordinary, whole text.

    It counts the hypotheses' n-grams (n = 1 … 4) that are in the references, over the corpus as a
    whole: not the mean of sentences' scores.

    Args:
        hypotheses: the translations.  references: the right ones, one for each.
        options: sacrebleu's own, such as `lowercase=True`; the signature tells them.

    Raises:
        ImportError: without the package `sacrebleu`.
        TypeError: for a sentence that is no text.
        ValueError: for no sentences, or not one reference for each.
    """
    check_translations(hypotheses, references)
    try:
        from sacrebleu.metrics import BLEU
    except ModuleNotFoundError:
        raise ImportError(
            "BLEU is computed by sacrebleu, which is not installed here: pip install sacrebleu"
        ) from None
    metric = BLEU(**options)
    score = metric.corpus_score(list(hypotheses), [list(references)]).score
    return Bleu(score, str(metric.get_signature()))


def n_grams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """How often each piece of n words in a row occurs."""
    return Counter(zip(*(words[i:] for i in range(n)), strict=False))


@at_the_door(lambda hypotheses, references: check_translations(hypotheses, references))
def corpus_bleu(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """BLEU as chapter 8b writes it, from 0 to 100: what `bleu` computes with `tokenize="none"`.

    Args:
        hypotheses: the translations, their words between spaces.  references: the right ones, one
            for each.

    Raises:
        TypeError: for a sentence that is no text.
        ValueError: for no sentences, or not one reference for each.
    """
    pairs = [(h.split(), r.split()) for h, r in zip(hypotheses, references, strict=True)]
    logs, part = 0.0, 1.0
    for n in (1, 2, 3, 4):
        found = sum(n_grams(h, n).total() for h, _ in pairs)
        hits = sum((n_grams(h, n) & n_grams(r, n)).total() for h, r in pairs)
        if not found or (n == 1 and not hits):
            return 0.0  # nowhere four words in a row, or not one word right
        if not hits:
            part /= 2  # 1/2 in place of 0, the next time 1/4
        logs += math.log((hits or part) / found)
    c, r = (sum(len(pair[side]) for pair in pairs) for side in (0, 1))
    return 100 * min(1, math.exp(1 - r / c)) * math.exp(logs / 4)


def check_translations(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    """Raises a TypeError or ValueError unless there are texts, and one reference for each."""
    check_pairs(hypotheses, references)
    check_texts(hypotheses, "hypothesis")
    check_texts(references, "reference")


def exact_match(hypotheses: Any, references: Any) -> float:
    """The share that is right from the first token to the last.

    Args:
        hypotheses: sentences, as text or as tokens: strings, or lists, tuples, arrays or tensors.
            references: the right ones.

    Raises:
        TypeError: for what is no row of sentences.
        ValueError: for none at all, or not one reference for each.
    """
    hypotheses, references = listed(hypotheses, references)
    return sum(h == r for h, r in zip(hypotheses, references, strict=True)) / len(references)


def token_accuracy(predicted: Any, targets: Any, pad_id: int = 0) -> float:
    """The share of right tokens, padding left out. Given the right tokens before each, as in
    training, it flatters a translator.

    Args:
        predicted, targets: token ids of one shape: tensors, arrays, or lists of equally long lists.
        pad_id: the target of what is padding.

    Raises:
        ValueError: for different shapes, tokens that are no whole numbers, or where all targets are
            padding.
    """
    predicted, targets = _tokens(predicted, "predicted"), _tokens(targets, "targets")
    if predicted.shape != targets.shape:
        raise ValueError(
            f"one prediction for each target: predicted are {tuple(predicted.shape)}, targets "
            f"{tuple(targets.shape)}"
        )
    real = targets != pad_id
    if not real.any():
        raise ValueError(
            f"all {targets.numel()} targets are padding: there is nothing to be right about"
        )
    return (predicted == targets)[real].float().mean().item()


def perplexity(total_loss: Any, n_tokens: Any) -> float:
    """e to the mean loss: among how many equally likely tokens the model might as well be choosing
    at each step.

    It takes the *sum* of the losses of all tokens (in nats): the mean of several batches'
    perplexities is another, larger number.

    Raises:
        ValueError: for no tokens, or a loss below 0.
    """
    total_loss, n_tokens = plain(total_loss), plain(n_tokens)
    if not isinstance(total_loss, (int, float)) or not isinstance(n_tokens, (int, float)):
        raise TypeError(
            f"perplexity takes two numbers, the sum of the losses and how many: got "
            f"{total_loss!r:.60} and {n_tokens!r:.60}"
        )
    if not (n_tokens >= 1 and total_loss >= 0):  # NaN is neither
        raise ValueError(
            f"perplexity needs at least one token and a loss of at least 0, got n_tokens = "
            f"{n_tokens}, loss = {total_loss}"
        )
    mean = total_loss / n_tokens
    return math.exp(mean) if mean < 709 else math.inf  # e^709 is near the largest float


def _tokens(ids: Any, name: str) -> Tensor:
    """Token ids as a tensor."""
    try:
        tokens = torch.as_tensor(ids if hasattr(ids, "tolist") else plain(ids))
    except (ValueError, TypeError, RuntimeError) as error:
        raise ValueError(
            f"{name} must be token ids in rows of one length, got {ids!r:.60}: {error}"
        ) from None
    if tokens.is_floating_point() or tokens.is_complex():
        raise ValueError(f"{name} must be token ids, whole numbers; got {tokens.dtype}")
    return tokens
