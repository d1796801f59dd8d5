"""Learning the pieces of WordPiece: which pair to merge next (chapter 7b).

Google never published the program that learned BERT's vocabulary. What is published is a sketch
(Schuster and Nakajima 2012; Wu et al. 2016, section 4.1, refer to it): build a language model over
the units so far, then, of all combinations of two units, choose the new one "that increases the
likelihood on the training data the most when added to the model", and repeat. It does not say which
language model. What follows is our reading of it, not Google's program. Three ways to choose a pair
(a, b):

- "likelihood" (ours, the default): that rule taken literally, for the simplest language model, in
  which pieces are drawn independently of each other. The gain of a merge in log-likelihood then has
  a closed form, see `likelihood_gain`.
- "ratio": count(ab) / (count(a) · count(b)), as most courses describe WordPiece. It is the gain
  *per merged pair*, to first order, where the rule asks for the gain on the whole of the data. It
  prefers rare pairs to frequent ones and so yields a poor vocabulary.
- "frequency": count(ab), as in BPE. The WordPiece trainer of the `tokenizers` library does this.
"""

from collections import Counter
from typing import Literal

import numpy as np
from jaxtyping import Float

from lectures_lib.tokenization.pairs import Merge, Pair, PairCounts
from lectures_lib.tokenization.vocabulary import Vocabulary

CONTINUES = "##"  # stands before a piece that is not the first of its word
# scores that differ by less than this share of them are equal: a logarithm's last digit varies
# between machines
SAME = 1e-9

Score = Literal["likelihood", "ratio", "frequency"]
Counts = Float[np.ndarray, " pairs"]


def likelihood_gain(pair: Counts, left: Counts, right: Counts, total: float) -> Counts:
    """How much log P(data) = Σ count(s) · log(count(s) / total) grows, in nats, when every pair
    becomes one piece.

    With n pairs a b among N pieces, n pieces a and n pieces b go, n pieces ab come, and N shrinks
    by n:

        n · log(n N / (count(a) count(b)))  +  (count(a) - n) · log(1 - n / count(a))  +  the same
        for b  -  the same for N

    Its first term is the number of pairs times the logarithm of the "ratio". For a pair of equal
    pieces it is an approximation.

    Args:
        pair: how often each pair stands side by side.
        left: how often its first piece occurs.
        right: how often its second piece occurs.
        total: the number of pieces in the data.
    """
    together = pair * np.log(pair * total / (left * right))
    return (
        together
        + _remaining(left, pair)
        + _remaining(right, pair)
        - _remaining(np.full_like(pair, total), pair)
    )


def ratio(pair: Counts, left: Counts, right: Counts, total: float) -> Counts:
    """count(ab) / (count(a) · count(b)): how much more often the two stand together than chance
    would have it, times 1 / total.
    """
    return pair / (left * right)


def frequency(pair: Counts, left: Counts, right: Counts, total: float) -> Counts:
    """count(ab)."""
    return pair


SCORES = {"likelihood": likelihood_gain, "ratio": ratio, "frequency": frequency}


def learn_pieces(
    words: dict[str, int], vocabulary: Vocabulary, vocab_size: int, min_count: int, score: Score
) -> list[Merge]:
    """Merge the pair with the best score until the vocabulary has `vocab_size` tokens, or no score
    is above 0. Adds tokens to it.

    A heap, as BPE has it, would not do: when a becomes rarer, the scores of *all* pairs with a
    change. So all are scored every time, at once, as arrays. Of equal scores, the pair whose pieces
    came first into the vocabulary wins.

    Args:
        words: clean words and how often each occurs; the vocabulary must hold their characters,
            with and without ##.
        vocabulary: special tokens and characters; it grows.
        vocab_size: where to stop.
        min_count: a rarer pair is not merged.
        score: which of `SCORES` to go by.

    Returns:
        The merges in the order in which they were learned.
    """
    spelled = [[vocabulary.ids[piece] for piece in characters_of(word)] for word in words]
    counts = PairCounts(spelled, list(words.values()))
    table = PairTable(counts, vocab_size)
    merges: list[Merge] = []
    while len(vocabulary) < vocab_size:
        pair = table.best(score, min_count)
        if pair is None:
            break
        left, right = (vocabulary.tokens[i] for i in pair)
        if left + right.removeprefix(CONTINUES) in vocabulary.specials:
            table.forbid(pair)  # text must not become a special token
            continue
        merges.append(Merge(left, right, counts.of[pair]))
        table.merge(pair, vocabulary.add(left + right.removeprefix(CONTINUES)))
    return merges


class PairTable:
    """The counts of all pairs and pieces as arrays, kept up to date, so that every pair can be
    scored at once.

    Args:
        counts: the pairs of a corpus.
        n_pieces: how many pieces there will be at most.
    """

    def __init__(self, counts: PairCounts, n_pieces: int):
        self.counts = counts
        self.piece_count = np.zeros(n_pieces)
        for word, n in zip(counts.words, counts.counts, strict=True):
            for piece in word:
                self.piece_count[piece] += n
        self.row: dict[Pair, int] = {}
        self.forbidden: set[int] = set()  # rows of pairs that are never the best
        self.pairs = np.zeros((0, 2), dtype=np.int64)
        self.pair_count = np.zeros(0)
        self._update(list(counts.of))

    def best(self, score: Score, min_count: int) -> Pair | None:
        """The pair with the highest score above 0 among those that occur `min_count` times; None if
        there is none.
        """
        rows = np.flatnonzero(self.pair_count >= max(1, min_count))
        if self.forbidden:
            rows = np.setdiff1d(rows, list(self.forbidden))
        if not len(rows):
            return None
        left, right = self.piece_count[self.pairs[rows].T]
        scores = SCORES[score](self.pair_count[rows], left, right, self.piece_count.sum())
        highest = scores.max()
        if highest <= 0:
            return None
        tied = self.pairs[rows[scores >= highest * (1 - SAME)]]
        left_id, right_id = min(tied.tolist())
        return left_id, right_id

    def forbid(self, pair: Pair) -> None:
        """Never let this pair be the best."""
        self.forbidden.add(self.row[pair])

    def merge(self, pair: Pair, new: int) -> None:
        """Make the pair one piece, `new`, everywhere."""
        changed, times = self.counts.merge(pair, new)
        for piece, change in ((pair[0], -times), (pair[1], -times), (new, times)):
            self.piece_count[piece] += change
        self._update(list(changed))

    def _update(self, changed: list[Pair]) -> None:
        unseen = [pair for pair in changed if pair not in self.row]
        self.row |= {pair: len(self.row) + i for i, pair in enumerate(unseen)}
        self._make_room()
        rows = [self.row[pair] for pair in changed]
        self.pairs[rows] = np.array(changed, dtype=np.int64).reshape(-1, 2)
        self.pair_count[rows] = [self.counts.of[pair] for pair in changed]

    def _make_room(self) -> None:
        missing = len(self.row) - len(self.pairs)
        if missing > 0:  # twice what is needed, so that growing is rare
            self.pairs = np.pad(self.pairs, ((0, missing + len(self.row)), (0, 0)))
            self.pair_count = np.pad(self.pair_count, (0, missing + len(self.row)))


def characters_of(word: str) -> list[str]:
    """The smallest pieces of a word: its first character, and the others with ## before them."""
    return [word[0], *(CONTINUES + character for character in word[1:])]


def frequent_characters(words: dict[str, int], alphabet_size: int) -> list[str]:
    """The most frequent characters of the words, in the order of their code points. Of equally
    frequent ones, the first of these.
    """
    counts: Counter[str] = Counter()
    for word, count in words.items():
        for character in word:
            counts[character] += count
    by_frequency = sorted(counts, key=lambda character: (-counts[character], character))
    return sorted(by_frequency[:alphabet_size])


def _remaining(count: Counts, merged: Counts) -> Counts:
    rest = count - merged
    return rest * np.log(np.maximum(rest, 1) / count)  # where none remain: 0 · log 0 = 0
