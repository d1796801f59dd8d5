"""From word pieces to words: what a BERT computes for each *word* of a sentence (chapters 15 to
16c).

BERT reads pieces, a treebank names words. A word's vector is the mean of its pieces' vectors.
Attention is carried over as in Clark et al. (2019, section 4.1): what a word attends *to* a word is
the sum over its pieces, what a word attends *from* is the mean over its own, so that every row
still sums to 1.
"""

import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from lectures_lib.blocks.attention import padding_mask
from lectures_lib.blocks.recording import record
from lectures_lib.checks.sizes import check_size
from lectures_lib.data import pad
from lectures_lib.models.bert import Bert
from lectures_lib.modes import check_at_rest
from lectures_lib.tasks.alignment import read_words
from lectures_lib.tokenization import WordPiece

# what a recorder calls the weights of BERT's heads
WEIGHTS = "encoder.blocks.*.self_attention.weights"


class Cut(NamedTuple):
    """A sentence cut into word pieces.

    Args:
        ids: of all pieces, [CLS] first and [SEP] last.
        places: for each word, where in `ids` its pieces stand.
    """

    ids: list[int]
    places: list[list[int]]


def cut_words(tokenizer: WordPiece, words: Sequence[str], max_len: int = 512) -> Cut:
    """The pieces of a sentence that is given as words, as `alignment.read_words` reads them, but
    all of them or none: whoever measures words wants every one.

    Raises:
        ValueError: for a string in place of words, no words, or more pieces than max_len; nothing
            is cut off in silence.
    """
    if isinstance(words, str) or not words:
        raise ValueError(f"a list of words is needed, at least one, got {words!r}")
    ids, _, starts = read_words(tokenizer, words, sys.maxsize)
    if len(ids) > max_len:
        raise ValueError(
            f"{len(words)} words are {len(ids)} pieces with [CLS] and [SEP]; there is room for "
            f"{max_len}"
        )
    bounds = pairwise([*starts, len(ids) - 1])
    return Cut(ids, [list(range(start, end)) for start, end in bounds])


@torch.no_grad()
def word_states(
    model: Bert, tokenizer: WordPiece, sentences: Sequence[Sequence[str]], batch_size: int = 32
) -> list[Float[Tensor, "states _ d_model"]]:
    """Every word's vector in every hidden state: first the embeddings, then the output of each
    layer.

    Args:
        model: in evaluation mode.  tokenizer: the model's own.
        sentences: each a list of words. Sentences of similar length are run together, whatever
            their order.

    Returns:
        For each sentence, in the order given, a tensor (n_layers + 1, words, d_model), on the CPU
        wherever the model is.

    Raises:
        ValueError: for a model in training mode, a batch_size below 1, and as in `cut_words`.
    """
    check_size("batch_size", batch_size)
    cuts = _cut_all(model, tokenizer, sentences)
    found: list[Tensor | None] = [None] * len(cuts)
    for batch in _batches(cuts, batch_size):
        tokens, lengths = _padded([cuts[i] for i in batch], model)
        hidden = torch.stack(hidden_states(model, tokens, lengths)).cpu()
        for row, i in enumerate(batch):
            means = indicator(cuts[i].places, tokens.shape[1], mean=True).to(hidden)
            found[i] = means @ hidden[:, row]
    return found


@torch.no_grad()
def word_attention(
    model: Bert, tokenizer: WordPiece, sentences: Sequence[Sequence[str]], batch_size: int = 32
) -> Iterator[Float[Tensor, "layers heads _ _"]]:
    """Who attends to whom, word by word, in every head; sentence after sentence, in the order
    given.

    Row and column 0 are [CLS], the last ones [SEP]; word i (from 0) is at i + 1. The weights are on
    the CPU wherever the model is.

    Raises:
        ValueError: as in `word_states`.
    """
    check_size("batch_size", batch_size)
    cuts = _cut_all(model, tokenizer, sentences)
    for start in range(0, len(cuts), batch_size):
        batch = cuts[start : start + batch_size]
        tokens, lengths = _padded(batch, model)
        with record(model, WEIGHTS) as seen:
            model(tokens, lengths=lengths)
        weights = torch.stack(seen.all(WEIGHTS)).cpu()
        for row, cut in enumerate(batch):
            n = len(cut.ids)
            yield attention_between_words(weights[:, row, :, :n, :n], [[0], *cut.places, [n - 1]])


def attention_between_words(
    weights: Float[Tensor, "*heads n n"], places: Sequence[Sequence[int]]
) -> Float[Tensor, "*heads words words"]:
    """Attention between pieces made attention between words: summed over the pieces attended to,
    averaged over those attending.

    Args:
        weights: between pieces; each row sums to 1.
        places: for each word, where its pieces stand.

    Raises:
        ValueError: for a word without a piece, or a piece that is not there.
    """
    n = weights.shape[-1]
    if wrong := [list(p) for p in places if not p or min(p) < 0 or max(p) >= n]:
        raise ValueError(f"every word has pieces among 0 … {n - 1}, got {wrong[0]}")
    attending = indicator(places, n, mean=True).to(weights)
    attended = indicator(places, n, mean=False).to(weights)
    return attending @ weights @ attended.T


def hidden_states(
    model: Bert, tokens: Tensor, lengths: Tensor
) -> list[Float[Tensor, "batch n d_model"]]:
    """The embeddings and every layer's output. Nobody asks for the weights here, so attention runs
    on its fast path.
    """
    states, mask = [model.embeddings(tokens)], padding_mask(lengths, tokens.shape[1])
    for block in model.encoder.blocks:
        states.append(block(states[-1], mask))
    return states


def _cut_all(model: Bert, tokenizer: WordPiece, sentences: Sequence[Sequence[str]]) -> list[Cut]:
    check_at_rest(model)
    return [cut_words(tokenizer, words, model.config.max_len) for words in sentences]


def _batches(cuts: list[Cut], batch_size: int) -> list[list[int]]:
    by_length = sorted(range(len(cuts)), key=lambda i: len(cuts[i].ids))
    return [by_length[start : start + batch_size] for start in range(0, len(cuts), batch_size)]


def _padded(cuts: Sequence[Cut], model: Bert) -> tuple[Tensor, Tensor]:
    """Ids and lengths, where the model is."""
    tokens, lengths = pad([cut.ids for cut in cuts])
    device = next(model.parameters()).device
    return tokens.to(device), lengths.to(device)


def indicator(places: Sequence[Sequence[int]], n: int, mean: bool) -> Float[Tensor, "words n"]:
    """A matrix whose row w picks the pieces of word w: 1 at each, or, to average, 1 divided by
    their number.
    """
    matrix = torch.zeros(len(places), n)
    for word, pieces in enumerate(places):
        matrix[word, list(pieces)] = 1 / len(pieces) if mean else 1.0
    return matrix
