"""Skip-gram with negative sampling: one vector for each word, learned from the words around it
(chapter 15; Mikolov et al. 2013).

The vectors are static: a word has the same one in every sentence. A text is a list of sentences,
each a list of word numbers; `encode` makes it of words.
"""

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from lectures_lib.checks.door import at_the_door
from lectures_lib.checks.tensors import whole_numbers
from lectures_lib.data.words import UNK, WordVocabulary


class SkipGrams(NamedTuple):
    """A batch of examples: words, one word that stood near each, and k words drawn at random for
    each.
    """

    words: Int[Tensor, " batch"]
    near: Int[Tensor, " batch"]
    noise: Int[Tensor, "batch k"]

    @property
    def n_targets(self) -> int:
        """How many words there are: what the batch's loss is the mean of."""
        return len(self.words)


def _check_batch(v: Tensor, v_near: Tensor, v_noise: Tensor) -> None:
    """One near word, and as many noise words, for each word: others would be broadcast."""
    if (
        v.dim() != 2
        or v_near.shape != v.shape
        or v_noise.dim() != 3
        or (v_noise.shape[0], v_noise.shape[2]) != v.shape
    ):
        shapes = ", ".join(str(tuple(x.shape)) for x in (v, v_near, v_noise))
        raise ValueError(f"vectors must be (batch, d), (batch, d) and (batch, k, d), got {shapes}")


@at_the_door(_check_batch)
def skip_gram_loss(
    v: Float[Tensor, "batch d"],
    v_near: Float[Tensor, "batch d"],
    v_noise: Float[Tensor, "batch k d"],
) -> Float[Tensor, ""]:
    """Minus equation 4 of Mikolov et al. 2013, the mean over the batch: -log σ(v'_near · v) - Σ log
    σ(-v'_noise · v).

    A logistic regression: "did this word stand near?" should be answered by yes for the one and by
    no for the k others.

    Args:
        v: vectors of the words.  v_near, v_noise: the *other* vectors (v' in the paper) of what
            stood near, and of what did not.
    """
    near = torch.einsum("bd,bd->b", v, v_near)
    noise = torch.einsum("bd,bkd->bk", v, v_noise)
    return -(F.logsigmoid(near) + F.logsigmoid(-noise).sum(dim=1)).mean()


def _check_sizes(model: nn.Module, vocab_size: int, d: int = 100) -> None:
    if vocab_size < 1 or d < 1:
        raise ValueError(
            f"at least one word and one dimension are needed, got vocab_size = {vocab_size}, d "
            f"= {d}"
        )


class SkipGram(nn.Module):
    """Two vectors for each word: `vectors`, which one keeps, for the word itself, and `near`, for
    the word as somebody's neighbour.

    As in the authors' code, the first begin small and random, the others at zero, so that every
    score begins at 0.

    Args:
        vocab_size: how many words.  d: the length of the vectors.

    Raises:
        ValueError: for sizes below 1.
    """

    @at_the_door(_check_sizes)
    def __init__(self, vocab_size: int, d: int = 100):
        super().__init__()
        self.vectors = nn.Parameter((torch.rand(vocab_size, d) - 0.5) / d)
        self.near = nn.Parameter(torch.zeros(vocab_size, d))

    def forward(
        self,
        words: Int[Tensor, " batch"],
        near: Int[Tensor, " batch"],
        noise: Int[Tensor, "batch k"],
    ) -> Float[Tensor, ""]:
        """The loss of a batch, `skip_gram_loss`."""
        # F.embedding's gradient is several times faster than that of self.vectors[words].
        return skip_gram_loss(
            F.embedding(words, self.vectors),
            F.embedding(near, self.near),
            F.embedding(noise, self.near),
        )


def batch_loss(model: nn.Module, batch: SkipGrams) -> Float[Tensor, ""]:
    """The loss, as `training.fit` asks for it."""
    return model(batch.words, batch.near, batch.noise)


def encode(sentences: Sequence[Sequence[str]], vocabulary: WordVocabulary) -> list[list[int]]:
    """Sentences as word numbers. Words that the vocabulary does not have are left out, as if they
    had not stood there.
    """
    return [[i for i in vocabulary.encode(sentence) if i != UNK] for sentence in sentences]


def count(text: Sequence[Sequence[int]], vocab_size: int) -> Int[Tensor, " vocab"]:
    """How often each word occurs.

    Raises:
        ValueError: for a text without words, or a word number that is not below vocab_size.
    """
    ids = torch.tensor([i for sentence in text for i in whole_numbers(sentence)], dtype=torch.long)
    if len(ids) == 0:
        raise ValueError(f"no words in these {len(text)} sentences")
    if int(ids.min()) < 0 or int(ids.max()) >= vocab_size:
        raise ValueError(
            f"word numbers from {int(ids.min())} to {int(ids.max())} in a vocabulary of "
            f"{vocab_size}, 0 … {vocab_size - 1}"
        )
    return torch.bincount(ids, minlength=vocab_size)


def keep_probabilities(
    counts: Int[Tensor, " vocab"], threshold: float = 1e-5
) -> Float[Tensor, " vocab"]:
    """With what probability an occurrence of each word is kept: √(threshold / f), at most 1; f is
    the word's share of the text.

    Section 2.3 of the paper. It thins out "the" and "of", which stand near everything and therefore
    tell little. (The authors' code computes √(t / f) + t / f.)

    Raises:
        ValueError: for a threshold that is not above 0, or where no word occurs.
    """
    _check_counts(counts)
    if threshold <= 0:
        raise ValueError(f"the threshold is a share of the text above 0, got {threshold}")
    share = counts / counts.sum()
    return (threshold / share.clamp(min=1e-12)).sqrt().clamp(max=1.0)


def _check_counts(counts: Tensor) -> None:
    if not counts.sum() > 0:
        raise ValueError(f"none of the {len(counts)} words occurs: there are no shares of a text")


def noise_probabilities(
    counts: Int[Tensor, " vocab"], power: float = 0.75
) -> Float[Tensor, " vocab"]:
    """How likely each word is to be drawn as one that did not stand near: its count to the power ¾,
    as a share (section 2.2).
    """
    _check_counts(counts)
    # 0⁰ is 1, but a word that never occurs is never drawn
    raised = counts.double().pow(power) * (counts > 0)
    return (raised / raised.sum()).float()


def pairs(
    words: Int[Tensor, " n"], sentence: Int[Tensor, " n"], reach: Int[Tensor, " n"]
) -> tuple[Int[Tensor, " pairs"], Int[Tensor, " pairs"]]:
    """Every word beside every other one of its sentence that is at most `reach` places away.

    Args:
        words: word numbers of a whole text.  sentence: which sentence each belongs to.
        reach: how far each word looks, to both sides.

    Returns:
        The words that look, and those that they see.
    """
    looking, seen = [words[:0]], [words[:0]]
    for distance in range(1, int(reach.max()) + 1 if len(reach) else 1):
        left, right = slice(None, -distance), slice(distance, None)
        for here, there in ((left, right), (right, left)):
            chosen = (sentence[here] == sentence[there]) & (reach[here] >= distance)
            looking.append(words[here][chosen])
            seen.append(words[there][chosen])
    return torch.cat(looking), torch.cat(seen)


class SkipGramBatches:
    """A text as batches of `SkipGrams`, drawn anew for every epoch, always the same way for the
    same seed and epoch.

    Each epoch leaves out occurrences of frequent words, then lets each remaining word look 1 to
    `window` places far (drawn at random, so that near words count for more), pairs it with all it
    sees, and draws k random words for each pair.

    Args:
        text: sentences as word numbers.  vocab_size: how many words there are.
        window: the farthest that a word looks.  k: random words a pair.
        threshold: of `keep_probabilities`; for a small text it must be larger than the paper's
            1e-5, or nothing remains.
        batch_size: pairs in a batch.  seed: decides everything that is drawn.

    Raises:
        ValueError: for numbers below 1, a text that `count` refuses, or a threshold that leaves
            fewer than two of its words in a usual epoch: there would be no pairs.
    """

    def __init__(
        self,
        text: Sequence[Sequence[int]],
        vocab_size: int,
        *,
        window: int = 5,
        k: int = 5,
        threshold: float = 1e-5,
        batch_size: int = 1024,
        seed: int = 0,
    ):
        if min(window, k, batch_size) < 1:
            raise ValueError(
                f"must be at least 1: window = {window}, k = {k}, batch_size = {batch_size}"
            )
        self.window, self.k, self.batch_size, self.seed = window, k, batch_size, seed
        counts = count(text, vocab_size)
        self.keep, self.noise = keep_probabilities(counts, threshold), noise_probabilities(counts)
        self.words = torch.tensor([i for sentence in text for i in sentence], dtype=torch.long)
        kept = self.keep[self.words].sum().item()
        if kept < 2:
            raise ValueError(
                f"of {len(self.words)} words in the text, threshold = {threshold} leaves "
                f"{kept:.2g} in an epoch on average: a pair needs two"
            )
        self.sentence = torch.tensor(
            [number for number, sentence in enumerate(text) for _ in sentence]
        )

    def epoch(self, number: int) -> Iterator[SkipGrams]:
        """The batches of epoch 0, 1, 2, … An epoch in which no pair was left has none, and `fit`
        stops there.
        """
        rng = torch.Generator().manual_seed(
            random.Random(f"seed {self.seed}, epoch {number}").getrandbits(63)
        )
        kept = torch.rand(len(self.words), generator=rng) < self.keep[self.words]
        words, sentence = self.words[kept], self.sentence[kept]
        reach = torch.randint(1, self.window + 1, (len(words),), generator=rng)
        looking, seen = pairs(words, sentence, reach)
        order = torch.randperm(len(looking), generator=rng)
        for start in range(0, len(order), self.batch_size):
            rows = order[start : start + self.batch_size]
            noise = torch.multinomial(
                self.noise, len(rows) * self.k, replacement=True, generator=rng
            )
            yield SkipGrams(looking[rows], seen[rows], noise.view(-1, self.k))


class WordVectors:
    """Words and their vectors, to be looked up and compared.

    Args:
        words: the words.  vectors: one for each, in the same order.

    Raises:
        ValueError: where there are not as many words as vectors.
    """

    def __init__(self, words: Sequence[str], vectors: Float[Tensor, "vocab d"]):
        if len(words) != len(vectors):
            raise ValueError(
                f"every word has one vector: {len(words)} words, {len(vectors)} vectors"
            )
        if not isinstance(vectors, Tensor) or vectors.dim() != 2:
            raise TypeError(
                f"vectors must be a tensor (words, d), got a {type(vectors).__name__} of shape "
                f"{tuple(getattr(vectors, 'shape', ()))}"
            )
        if len(set(words)) != len(words):
            raise ValueError(
                f"{len(words) - len(set(words))} of these {len(words)} words stand there twice, "
                f"with different vectors"
            )
        self.words, self.vectors = list(words), vectors.detach()
        self.ids = {word: i for i, word in enumerate(self.words)}
        self.directions = F.normalize(self.vectors, dim=1)

    def __getitem__(self, word: str) -> Float[Tensor, " d"]:
        """A word's vector; always the same one, whatever stands around the word."""
        return self.vectors[self._id(word)]

    def cosine(self, a: str, b: str) -> float:
        """The cosine between two words' vectors, from -1 to 1.

        Raises:
            ValueError: for a word that has no vector.
        """
        return (self.directions[self._id(a)] @ self.directions[self._id(b)]).item()

    def nearest(self, word: str | Float[Tensor, " d"], n: int = 5) -> list[tuple[str, float]]:
        """The n words with the largest cosine to this word (itself left out) or to this vector, and
        the cosines.

        Raises:
            ValueError: for a word that has no vector, or more neighbours than there are words.
        """
        own = self._id(word) if isinstance(word, str) else None
        others = len(self.words) - (own is not None)
        if not 1 <= n <= others:
            raise ValueError(
                f"between 1 and {others} neighbours can be had of {len(self.words)} words, got n = "
                f"{n}"
            )
        direction = self.directions[own] if own is not None else F.normalize(word, dim=0)
        cosines = self.directions @ direction
        if own is not None:
            cosines[own] = -torch.inf
        found = cosines.topk(n)
        return [
            (self.words[i], cosine)
            for i, cosine in zip(found.indices.tolist(), found.values.tolist(), strict=True)
        ]

    def _id(self, word: str) -> int:
        if word not in self.ids:
            raise ValueError(f"no vector for {word!r} among these {len(self.words)} words")
        return self.ids[word]
