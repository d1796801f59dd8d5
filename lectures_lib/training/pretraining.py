"""BERT's pre-training: masked words, sentence pairs, the two losses (chapter 13; Devlin et al.
2019, sections 3.1 and A.1).

The masks are drawn anew for every epoch, but from the seed, the epoch and the batch alone: a run
that is resumed sees the same.
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from lectures_lib.checks.tensors import check_whole_numbers
from lectures_lib.data import pad
from lectures_lib.models.bert import BertForPreTraining
from lectures_lib.modes import evaluating
from lectures_lib.tokenization import WordPiece

Document = Sequence[Sequence[int]]  # sentences, as token ids


@dataclass(frozen=True)
class MaskingRates:
    """Which share of the tokens is predicted, and what the model sees in their place.

    Args:
        chosen: the share of tokens that are predicted.
        masked: of those, the share that is replaced by [MASK].
        random: of those, the share that is replaced by a random token. The rest stays as it is.

    Raises:
        ValueError: for shares outside 0 … 1, or a sum of the last two above 1.
    """

    chosen: float = 0.15
    masked: float = 0.8
    random: float = 0.1

    def __post_init__(self):
        shares = (self.chosen, self.masked, self.random)
        if not all(0 <= share <= 1 for share in shares) or self.masked + self.random > 1 + 1e-9:
            raise ValueError(
                f"shares lie between 0 and 1, and masked + random is at most 1, got {self}"
            )


class Masked(NamedTuple):
    """What the model reads, and at which positions it has to predict the original token."""

    tokens: Int[Tensor, "batch n"]
    chosen: Bool[Tensor, "batch n"]


def mask_tokens(
    tokens: Int[Tensor, "batch n"],
    special: Bool[Tensor, "batch n"],
    mask_id: int,
    words: range,
    rates: MaskingRates = MaskingRates(),
    generator: torch.Generator | None = None,
) -> Masked:
    """Choose tokens to be predicted, and hide most of them (section 3.1, task 1).

    Args:
        tokens: the original ids.
        special: [CLS], [SEP] and padding: never chosen.
        mask_id: the id of [MASK].
        words: the ids that random tokens are drawn from.
        rates: how many; the defaults are the paper's.
        generator: where chance comes from.

    Raises:
        TypeError: for tokens that are no tensor.
        ValueError: for no words to draw from, or a `special` that is not boolean or not of the
            tokens' shape.
    """
    _check_masking(tokens, special, words)
    chance = torch.rand(tokens.shape, generator=generator)  # is the token chosen?
    fate = torch.rand(tokens.shape, generator=generator)  # if so, what does it become?
    others = torch.randint(words.start, words.stop, tokens.shape, generator=generator)
    chosen = (chance < rates.chosen) & ~special  # 15 % of the tokens, with the paper's rates

    # fate:  0 ─────── [MASK] ─────── 0.8 ─ another ─ 0.9 ─ itself ─ 1
    to_mask = chosen & (fate < rates.masked)  # 80 % of the chosen
    to_other = chosen & ~to_mask & (fate < rates.masked + rates.random)  # 10 % of the chosen
    read = tokens.masked_fill(to_mask, mask_id)
    read = torch.where(to_other, others, read)
    return Masked(read, chosen)  # the other 10 % stay as they are: no line is needed for them


def _check_masking(tokens: Tensor, special: Tensor, words: range) -> None:
    check_whole_numbers("token ids", tokens)
    if len(words) == 0:
        raise ValueError(f"no words to draw random tokens from: {words}")
    if (
        not isinstance(special, Tensor)
        or special.dtype != torch.bool
        or special.shape != tokens.shape
    ):
        what = (
            f"{special.dtype} of shape {tuple(special.shape)}"
            if isinstance(special, Tensor)
            else f"a {type(special).__name__}"
        )
        raise ValueError(
            f"special must be boolean and of the tokens' shape {tuple(tokens.shape)}, got {what}"
        )


class Pair(NamedTuple):
    """Two pieces of text for the model to read together.

    Args:
        first, second: token ids, without special tokens.
        is_random: 0 if the second follows the first in its document, 1 if it comes from another
            one.
    """

    first: list[int]
    second: list[int]
    is_random: int


def sentence_pairs(
    documents: Sequence[Document], max_len: int, rng: random.Random, random_share: float = 0.5
) -> list[Pair]:
    """Cut documents into pairs of neighbouring pieces, and exchange the second piece of half of
    them (section A.1).

    A piece is one sentence or several, until the pair fills `max_len` tokens with [CLS] and two
    [SEP]. Where a piece was exchanged, the sentences that it took the place of begin the next pair.
    A single one left at a document's end is dropped.

    Args:
        documents: at least two.
        max_len: the most tokens of an input.
        rng: where chance comes from.
        random_share: the share of pairs whose second piece is from elsewhere.

    Raises:
        ValueError: for fewer than two documents, an empty one, or a max_len with no room for two
            tokens.
    """
    _check_documents(documents, max_len)
    room = max_len - 3  # [CLS] and two [SEP] need a place each
    pairs = []
    for number, document in enumerate(documents):
        at = 0  # the sentence that the next pair begins with
        while at < len(document) - 1:
            chunk = _sentences_that_fill(document, at, room)
            cut = rng.randint(1, len(chunk) - 1)
            first = _joined(chunk[:cut])
            is_random = rng.random() < random_share
            if is_random:
                second = _from_elsewhere(documents, number, room - len(first), rng)
                at += cut  # the rest of the chunk was not used: it begins the next pair
            else:
                second = _joined(chunk[cut:])
                at += len(chunk)
            _shorten(first, second, room, rng)
            pairs.append(Pair(first, second, int(is_random)))
    rng.shuffle(pairs)
    return pairs


def _check_documents(documents: Sequence[Document], max_len: int) -> None:
    n_empty = sum(not document for document in documents)
    if len(documents) < 2 or n_empty or max_len < 5:
        raise ValueError(
            f"pairs need at least 2 documents, none of them empty, and max_len of at least 5, got "
            f"{len(documents)} documents ({n_empty} empty) and max_len = {max_len}"
        )


def _sentences_that_fill(document: Document, at: int, room: int) -> list[Sequence[int]]:
    """The sentences from `at` on that fill the room, two at least."""
    chunk, length = [], 0
    for sentence in document[at:]:
        if len(chunk) >= 2 and length >= room:
            break
        chunk.append(sentence)
        length += len(sentence)
    return chunk


def _from_elsewhere(
    documents: Sequence[Document], number: int, room: int, rng: random.Random
) -> list[int]:
    """A piece of any document but this one, from a random sentence on, until the room is full."""
    other = rng.randrange(len(documents) - 1)
    if other >= number:
        other += 1  # step over this document: all others are equally likely
    start = rng.randrange(len(documents[other]))
    piece: list[int] = []
    for sentence in documents[other][start:]:
        piece += sentence
        if piece and len(piece) >= room:  # something, even where no room is left
            break
    return piece


def _joined(sentences: Sequence[Sequence[int]]) -> list[int]:
    return [token for sentence in sentences for token in sentence]


def _shorten(first: list[int], second: list[int], room: int, rng: random.Random) -> None:
    """Take away what is too much, in place: always from the longer piece, at its front or its back
    by chance.
    """
    while (too_many := len(first) + len(second) - room) > 0:
        longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
        # Down to the other's length in one go; once they are equally long, one token each in turn.
        n = max(len(longer) - len(shorter), 1)
        n = min(n, too_many)
        if rng.random() < 0.5:
            del longer[:n]
        else:
            del longer[-n:]


class PreTrainingBatch(NamedTuple):
    """Inputs with holes in them, and what was there.

    Args:
        tokens: what the model reads.  segments, lengths: as in `Bert.forward`.
        original: the tokens before masking.  chosen: which of them the model has to predict.
        is_random: for each pair, the class of the next-sentence task.
    """

    tokens: Int[Tensor, "batch n"]
    segments: Int[Tensor, "batch n"]
    lengths: Int[Tensor, " batch"]
    original: Int[Tensor, "batch n"]
    chosen: Bool[Tensor, "batch n"]
    is_random: Int[Tensor, " batch"]

    @property
    def n_targets(self) -> int:
        """How many tokens are to be predicted: the first of the two losses is their mean."""
        return int(self.chosen.sum())


class PreTrainingBatches:
    """Documents as batches of masked pairs; every epoch cuts, exchanges, masks and orders anew
    (`training.Epochs`).

    Args:
        documents: lists of sentences, as text.
        tokenizer: cuts them into word pieces.
        max_len: the most tokens of an input.  batch_size: the pairs in a batch.
        rates: of masking.  random_share: of pairs that do not belong together.
        seed: decides everything that is left to chance.

    Raises:
        ValueError: for fewer than two documents, a batch_size below 1, or a max_len below 5.
    """

    def __init__(
        self,
        documents: Sequence[Sequence[str]],
        tokenizer: WordPiece,
        *,
        max_len: int = 128,
        batch_size: int = 32,
        rates: MaskingRates = MaskingRates(),
        random_share: float = 0.5,
        seed: int = 0,
    ):
        if batch_size < 1:
            raise ValueError(f"a batch needs at least one pair, got batch_size = {batch_size}")
        encoded = [[tokenizer.encode(sentence) for sentence in document] for document in documents]
        self.documents = [[s for s in document if s] for document in encoded]
        self.max_len, self.batch_size, self.seed = max_len, batch_size, seed
        self.rates, self.random_share = rates, random_share
        self.cls_id = tokenizer.token_id("[CLS]")
        self.sep_id = tokenizer.token_id("[SEP]")
        self.mask_id = tokenizer.token_id("[MASK]")
        # The special tokens have the lowest ids; all behind them are words and pieces of words.
        self.words = range(max(tokenizer.specials.values()) + 1, len(tokenizer))
        _check_documents(self.documents, max_len)

    def pairs(self, number: int) -> list[Pair]:
        """The pairs of an epoch, in their order."""
        rng = random.Random(f"pairs, seed {self.seed}, epoch {number}")
        return sentence_pairs(self.documents, self.max_len, rng, self.random_share)

    def epoch(self, number: int) -> Iterator[PreTrainingBatch]:
        """The batches of epoch 0, 1, 2, …"""
        pairs = self.pairs(number)
        for i in range(0, len(pairs), self.batch_size):
            yield self.batch(pairs[i : i + self.batch_size], self._generator(number, i))

    def _generator(self, epoch: int, i: int) -> torch.Generator:
        """What draws the masks of the batch that begins at pair i. It depends on the seed, the
        epoch and i alone. They are put into a sentence so that no two are mixed up: seed 1 in
        epoch 2 is not seed 2 in epoch 1.
        """
        chance = random.Random(f"masks, seed {self.seed}, epoch {epoch}, batch {i}")
        return torch.Generator().manual_seed(chance.getrandbits(63))

    def batch(self, pairs: Sequence[Pair], generator: torch.Generator) -> PreTrainingBatch:
        """[CLS] first [SEP] second [SEP], padded and masked."""
        inputs = [
            [self.cls_id, *pair.first, self.sep_id, *pair.second, self.sep_id] for pair in pairs
        ]
        original, lengths = pad(inputs)
        # 0 for [CLS] first [SEP], 1 for second [SEP], and 0 for the padding
        segments = pad(
            [[0] * (len(pair.first) + 2) + [1] * (len(pair.second) + 1) for pair in pairs], 0
        ).ids
        padding = torch.arange(original.shape[1]) >= lengths[:, None]
        special = padding | (original == self.cls_id) | (original == self.sep_id)
        masked = mask_tokens(original, special, self.mask_id, self.words, self.rates, generator)
        is_random = torch.tensor([pair.is_random for pair in pairs])
        return PreTrainingBatch(
            masked.tokens, segments, lengths, original, masked.chosen, is_random
        )


def masked_word_loss(
    words: Float[Tensor, "k vocab"], original: Int[Tensor, " k"]
) -> Float[Tensor, ""]:
    """Cross-entropy of the chosen positions, which are all that is given here; 0 where none was
    chosen.

    The other positions' words stand in the input: they have no part in the loss.
    """
    return F.cross_entropy(words, original, reduction="sum") / max(len(original), 1)


def pretraining_loss(model: Any, batch: PreTrainingBatch) -> Float[Tensor, ""]:
    """The sum of both tasks' mean losses (section A.2)."""
    words, following = model(batch.tokens, batch.segments, batch.lengths, at=batch.chosen)
    return masked_word_loss(words, batch.original[batch.chosen]) + F.cross_entropy(
        following, batch.is_random
    )


class Scores(NamedTuple):
    """How well a model does both tasks.

    Of the words, only those behind a [MASK] are asked. A tenth of the chosen ones stand in the
    input as they are, and a model that has learned nothing but to repeat what it sees would be
    credited with them.

    Args:
        perplexity: of the words behind a [MASK].  accuracy: the share of them that is told right.
        next_sentence: the share of pairs told right.  n_words, n_pairs: how many were asked.
    """

    perplexity: float
    accuracy: float
    next_sentence: float
    n_words: int
    n_pairs: int


@torch.no_grad()
def evaluate(model: nn.Module, batches: Sequence[PreTrainingBatch], mask_id: int) -> Scores:
    """Both tasks on these batches, with dropout off.

    Args:
        model: the one to be asked.  batches: what it is asked.
        mask_id: the id of [MASK].

    Raises:
        ValueError: where there is not one [MASK].
    """
    loss, right, following, n_words, n_pairs = 0.0, 0, 0, 0, 0
    for batch in batches:
        hidden = batch.chosen & (batch.tokens == mask_id)
        with evaluating(model):
            words, next_sentence = model(batch.tokens, batch.segments, batch.lengths, at=hidden)
        original = batch.original[hidden]
        loss += F.cross_entropy(words, original, reduction="sum").item()
        right += int((words.argmax(dim=-1) == original).sum())
        following += int((next_sentence.argmax(dim=-1) == batch.is_random).sum())
        n_words, n_pairs = n_words + len(original), n_pairs + len(batch.is_random)
    if n_words == 0:
        raise ValueError(f"there is no [MASK] in {len(batches)} batches: nothing to be right about")
    return Scores(math.exp(loss / n_words), right / n_words, following / n_pairs, n_words, n_pairs)


class Guess(NamedTuple):
    """A word piece for a hole, and how likely the model finds it."""

    token: str
    probability: float


@torch.no_grad()
def fill_mask(
    model: BertForPreTraining, tokenizer: WordPiece, text: str, k: int = 5
) -> list[list[Guess]]:
    """The k likeliest word pieces for every [MASK] in a text, the likeliest first.

    Raises:
        ValueError: for a text without [MASK], or a k below 1.
    """
    if k < 1:
        raise ValueError(f"at least one guess, got k = {k}")
    tokens = torch.tensor([tokenizer.pair(text).ids])
    holes = tokens == tokenizer.token_id("[MASK]")
    if not holes.any():
        raise ValueError(f"no [MASK] in {text!r}: write it where a word is to be guessed")
    probabilities = model(tokens, at=holes).words.softmax(dim=-1)
    best = probabilities.topk(min(k, len(tokenizer)), dim=-1)
    names = [tokenizer.known_tokens(row.tolist()) for row in best.indices]
    return [
        [Guess(*guess) for guess in zip(row, shares.tolist(), strict=True)]
        for row, shares in zip(names, best.values, strict=True)
    ]
