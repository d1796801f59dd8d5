"""Batches of masked pairs: what BERT's pre-training reads (chapter 13).

The masks are drawn anew for every epoch, but from the seed, the epoch and the batch alone: a run
that is resumed sees the same.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from lectures_lib.data import pad
from lectures_lib.tokenization import WordPiece
from lectures_lib.training.pretraining.masking import MaskingRates, mask_tokens
from lectures_lib.training.pretraining.next_sentence import Pair, check_documents, sentence_pairs


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


def masked_batch(
    pairs: Sequence[Pair], tokenizer: WordPiece, rates: MaskingRates, generator: torch.Generator
) -> PreTrainingBatch:
    """[CLS] first [SEP] second [SEP], padded, with holes.

    Args:
        pairs: first, second, and the class of the next-sentence task.
        tokenizer: the one that cut them.  rates: of masking.  generator: what draws the holes.

    Raises:
        ValueError: for no pairs.
    """
    cls, sep, mask = (tokenizer.token_id(name) for name in ("[CLS]", "[SEP]", "[MASK]"))
    original, lengths = pad([[cls, *a, sep, *b, sep] for a, b, _ in pairs])
    # 0 for [CLS] first [SEP], 1 for second [SEP], and 0 for the padding
    segments, _ = pad([[0] * (len(a) + 2) + [1] * (len(b) + 1) for a, b, _ in pairs], 0)
    padding = torch.arange(original.shape[1]) >= lengths[:, None]
    special = padding | (original == cls) | (original == sep)
    # The special tokens have the lowest ids; all behind them are words and pieces of words.
    words = range(max(tokenizer.specials.values()) + 1, len(tokenizer))
    tokens, chosen = mask_tokens(original, special, mask, words, rates, generator)
    is_random = torch.tensor([label for _, _, label in pairs])
    return PreTrainingBatch(tokens, segments, lengths, original, chosen, is_random)


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
        self.tokenizer = tokenizer
        check_documents(self.documents, max_len)

    def pairs(self, number: int) -> list[Pair]:
        """The pairs of an epoch, in their order."""
        rng = random.Random(f"pairs, seed {self.seed}, epoch {number}")
        return sentence_pairs(self.documents, self.max_len, rng, self.random_share)

    def epoch(self, number: int) -> Iterator[PreTrainingBatch]:
        """The batches of epoch 0, 1, 2, …; each is made when it is asked for."""
        for make in self.makers(number):
            yield make()

    def makers(self, number: int) -> Iterator[Callable[[], PreTrainingBatch]]:
        """For each batch of an epoch a function that makes it: of several processes, each makes
        only its own.
        """
        pairs = self.pairs(number)
        for i in range(0, len(pairs), self.batch_size):
            few = pairs[i : i + self.batch_size]
            generator = self._generator(number, i)
            yield partial(masked_batch, few, self.tokenizer, self.rates, generator)

    def _generator(self, epoch: int, i: int) -> torch.Generator:
        """What draws the masks of the batch that begins at pair i. It depends on the seed, the
        epoch and i alone. They are put into a sentence so that no two are mixed up: seed 1 in
        epoch 2 is not seed 2 in epoch 1.
        """
        chance = random.Random(f"masks, seed {self.seed}, epoch {epoch}, batch {i}")
        return torch.Generator().manual_seed(chance.getrandbits(63))
