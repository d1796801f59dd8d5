"""Measures of translations and language models (chapters 1, 8 and 10)."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from jaxtyping import Int
from torch import Tensor

from lectures_lib.metrics.pairs import check_pairs


class Bleu(NamedTuple):
    """A BLEU score from 0 to 100, and how it was computed: without the second, two scores cannot be compared."""

    score: float
    signature: str


def bleu(hypotheses: Sequence[str], references: Sequence[str], **options: Any) -> Bleu:
    """Corpus BLEU (Papineni et al. 2002) by sacrebleu (Post 2018), which tokenises by itself: give it ordinary, whole text.

    It counts the hypotheses' n-grams (n = 1 … 4) that are in the references, over the corpus as a whole: not the mean of
    sentences' scores.

    Args:
        hypotheses: the translations.  references: the right ones, one for each.
        options: sacrebleu's own, such as `lowercase=True`; the signature tells them.

    Raises:
        ImportError: without the package `sacrebleu`.
        ValueError: for no sentences, or not one reference for each.
    """
    check_pairs(hypotheses, references)
    try:
        from sacrebleu.metrics import BLEU
    except ModuleNotFoundError:
        raise ImportError("BLEU is computed by sacrebleu, which is not installed here: pip install sacrebleu") from None
    metric = BLEU(**options)
    score = metric.corpus_score(list(hypotheses), [list(references)]).score
    return Bleu(score, str(metric.get_signature()))


def exact_match(hypotheses: Sequence[Any], references: Sequence[Any]) -> float:
    """The share that is right from the first token to the last.

    Raises:
        ValueError: for none at all, or not one reference for each.
    """
    check_pairs(hypotheses, references)
    return sum(h == r for h, r in zip(hypotheses, references, strict=True)) / len(references)


def token_accuracy(predicted: Int[Tensor, "*batch"], targets: Int[Tensor, "*batch"], pad_id: int = 0) -> float:
    """The share of right tokens, padding left out. Given the right tokens before each, as in training, it flatters a translator.

    Raises:
        ValueError: where all targets are padding.
    """
    real = targets != pad_id
    if not real.any():
        raise ValueError(f"all {targets.numel()} targets are padding: there is nothing to be right about")
    return (predicted == targets)[real].float().mean().item()


def perplexity(total_loss: float, n_tokens: int) -> float:
    """e to the mean loss: among how many equally likely tokens the model might as well be choosing at each step.

    It takes the *sum* of the losses of all tokens (in nats): the mean of several batches' perplexities is another, larger number.

    Raises:
        ValueError: for no tokens, or a loss below 0.
    """
    if n_tokens < 1 or total_loss < 0:
        raise ValueError(f"perplexity needs at least one token and a loss of at least 0, got n_tokens = {n_tokens}, loss = {total_loss}")
    return math.exp(total_loss / n_tokens)
