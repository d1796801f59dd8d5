"""Batches of sentences of similar length, so that little of what is computed is padding (chapter
8).

A batch has a budget of tokens, padding included, rather than a number of sentences: "about 25,000
source tokens and 25,000 target tokens" in Vaswani et al. 2017, section 5.1.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from lectures_lib.checks.sizes import check_size
from lectures_lib.checks.tensors import whole_numbers
from lectures_lib.data.words import PAD


class Padded(NamedTuple):
    """Sequences of different lengths in one tensor, and their lengths."""

    ids: Int[Tensor, "batch n"]
    lengths: Int[Tensor, " batch"]


class TextBatch(NamedTuple):
    """Texts for a language model."""

    ids: Int[Tensor, "batch n"]
    lengths: Int[Tensor, " batch"]

    @property
    def read(self) -> Int[Tensor, "batch n_minus_1"]:
        """What the model reads: all tokens but the last."""
        return self.ids[:, :-1]

    @property
    def predicted(self) -> Int[Tensor, "batch n_minus_1"]:
        """What it should say at each of them: the token that follows."""
        return self.ids[:, 1:]

    @property
    def n_targets(self) -> int:
        """How many tokens are predicted: what the batch's loss is the mean of."""
        return int((self.lengths - 1).sum())


class PairBatch(NamedTuple):
    """Sentences and their translations. A target runs from its begin token to its end token."""

    source: Int[Tensor, "batch n_source"]
    source_lengths: Int[Tensor, " batch"]
    target: Int[Tensor, "batch n_target"]
    target_lengths: Int[Tensor, " batch"]

    @property
    def read(self) -> Int[Tensor, "batch n_target_minus_1"]:
        """What the decoder reads: the begin token and the words (teacher forcing)."""
        return self.target[:, :-1]

    @property
    def predicted(self) -> Int[Tensor, "batch n_target_minus_1"]:
        """What it should say at each of them: the words and the end token, the same shifted by
        one.
        """
        return self.target[:, 1:]

    @property
    def n_targets(self) -> int:
        """How many tokens are predicted: what the batch's loss is the mean of."""
        return int((self.target_lengths - 1).sum())


def pad(sequences: Sequence[Sequence[int]], pad_id: int = PAD) -> Padded:
    """Fill sequences with `pad_id` up to the longest one's length.

    Raises:
        TypeError: for sequences of anything but whole numbers.
        ValueError: for no sequences, or an empty one.
    """
    sequences = [whole_numbers(sequence) for sequence in sequences]
    lengths = [len(sequence) for sequence in sequences]
    if not lengths or min(lengths) == 0:
        raise ValueError(
            f"at least one sequence, and no empty one, can make a batch; got lengths {lengths}"
        )
    ids = [[*sequence, *[pad_id] * (max(lengths) - len(sequence))] for sequence in sequences]
    return Padded(torch.tensor(ids), torch.tensor(lengths))


def pad_texts(texts: Sequence[tuple[Sequence[int]]], pad_id: int = PAD) -> TextBatch:
    """A batch of texts, each given as a tuple of one list of token numbers."""
    return TextBatch(*pad([text for (text,) in texts], pad_id))


def pad_pairs(pairs: Sequence[tuple[Sequence[int], Sequence[int]]], pad_id: int = PAD) -> PairBatch:
    """A batch of pairs (source, target), given as token numbers; the target with its begin and end
    tokens.
    """
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise ValueError(
            f"pairs (source, target) are needed, at least one; got {len(pairs)}, of "
            f"{sorted({len(p) for p in pairs})} parts"
        )
    sources, targets = zip(*pairs, strict=True)
    return PairBatch(*pad(sources, pad_id), *pad(targets, pad_id))


def blocks(ids: Sequence[int], n: int) -> list[list[int]]:
    """A long text cut into pieces of n tokens to predict: n + 1 each, the last token of one being
    the first of the next.

    What is left at the end and fills no piece is dropped.

    Raises:
        TypeError: for text in place of ids, or an n that is no whole number.
        ValueError: for n below 1, or a text too short for one piece.
    """
    if isinstance(ids, str) or not isinstance(n, int):
        raise TypeError(
            f"a row of token ids and a whole number n are needed, got a {type(ids).__name__} and n "
            f"= {n!r}"
        )
    if n < 1 or len(ids) < n + 1:
        raise ValueError(
            f"pieces of n = {n} tokens need n of at least 1 and n + 1 tokens of text, got "
            f"{len(ids)}"
        )
    return [list(ids[i : i + n + 1]) for i in range(0, len(ids) - n, n)]


class Batches:
    """Cuts examples into batches, anew for every epoch, always the same way for the same seed and
    epoch.

    Each epoch shuffles the examples, sorts them by length (equally long ones keep their shuffled
    order), cuts the row into batches as large as allowed, and shuffles the batches. That any epoch
    can be made again is what lets training resume.

    Args:
        examples: each a tuple of token lists: `(text,)` or `(source, target)`.
        collate: makes a batch of a list of examples, such as `pad_pairs`.
        max_tokens: the most tokens in a batch, padding and all parts of the examples counted.
        batch_size: the most examples in a batch. Give one of the two, or both.
        seed: decides every order.
        by_length: False: batches of random lengths, to see what sorting is worth.
        lengths: of the parts of each example, for examples that are not tuples of token lists;
            None: those of the lists.

    Raises:
        TypeError: for a limit that is no whole number.
        ValueError: for no examples, no limit, not one entry of `lengths` for each example, or an
            example that is longer than `max_tokens` by itself.
    """

    def __init__(
        self,
        examples: Sequence[Any],
        collate: Callable[[list], Any],
        *,
        max_tokens: int | None = None,
        batch_size: int | None = None,
        seed: int = 0,
        by_length: bool = True,
        lengths: Sequence[tuple[int, ...]] | None = None,
    ):
        if not examples:
            raise ValueError("no examples: at least one is needed")
        if (max_tokens is None and batch_size is None) or (
            batch_size is not None and batch_size < 1
        ):
            raise ValueError(
                f"a batch needs a limit of at least 1, got max_tokens = {max_tokens}, batch_size = "
                f"{batch_size}"
            )
        for name, limit in (("max_tokens", max_tokens), ("batch_size", batch_size)):
            if limit is not None:
                check_size(name, limit)
        if lengths is not None and len(lengths) != len(examples):
            raise ValueError(
                f"every example has its lengths: {len(examples)} examples, {len(lengths)} lengths"
            )
        self.examples, self.collate, self.seed, self.by_length = examples, collate, seed, by_length
        self.max_tokens, self.batch_size = max_tokens, batch_size
        self.lengths = (
            [tuple(map(len, example)) for example in examples] if lengths is None else lengths
        )
        longest = max(range(len(examples)), key=lambda i: sum(self.lengths[i]))
        if max_tokens is not None and sum(self.lengths[longest]) > max_tokens:
            raise ValueError(
                f"example {longest} has {sum(self.lengths[longest])} tokens, more than max_tokens "
                f"= {max_tokens}"
            )

    def epoch(self, number: int) -> Iterator[Any]:
        """The batches of epoch 0, 1, 2, …; each is made when it is asked for."""
        for make in self.makers(number):
            yield make()

    def makers(self, number: int) -> Iterator[Callable[[], Any]]:
        """For each batch of an epoch a function that makes it: of several processes, each makes
        only its own.
        """
        for rows in self.plan(number):
            yield partial(self._make, rows)

    def _make(self, rows: list[int]) -> Any:
        return self.collate([self.examples[i] for i in rows])

    def plan(self, number: int) -> list[list[int]]:
        """Which examples make up each batch of an epoch."""
        rng = random.Random(f"seed {self.seed}, epoch {number}")
        order = list(range(len(self.examples)))
        rng.shuffle(order)
        if self.by_length:
            order.sort(key=lambda i: self.lengths[i][::-1])  # by target, then by source
        batches = self._cut(order)
        rng.shuffle(batches)
        return batches

    def _cut(self, order: list[int]) -> list[list[int]]:
        batches: list[list[int]] = [[]]
        longest: tuple[int, ...] = ()
        for i in order:
            # How long each part would be padded to, were this example in the batch too.
            grown = tuple(map(max, longest, self.lengths[i])) if batches[-1] else self.lengths[i]
            rows = len(batches[-1]) + 1
            if (
                self.max_tokens is not None and rows * sum(grown) > self.max_tokens
            ) or rows - 1 == self.batch_size:
                batches.append([])
                grown = self.lengths[i]
            batches[-1].append(i)
            longest = grown
        return batches
