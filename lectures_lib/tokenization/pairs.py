"""Adjacent pairs of symbols, counted once and then kept up to date: what makes training a tokenizer
fast (chapter 7).

Counting all pairs of a corpus again after every merge is simple and slow: thousands of merges, each
a pass over the text. But a merge changes only the words that contain the pair. So the corpus is
kept as distinct words with their counts, and for each pair the words it stands in.
"""

from collections import defaultdict
from itertools import pairwise
from typing import NamedTuple

from lectures_lib.tokenization.plain_bpe import Pair, replace_pair


class Merge(NamedTuple):
    """One learned merge: the two tokens that became one, and how often they stood side by side when
    they did.
    """

    left: str
    right: str
    count: int

    def line(self) -> str:
        """The merge as a file holds it: "left right count"."""
        return f"{self.left} {self.right} {self.count}"

    @classmethod
    def read(cls, line: str) -> "Merge":
        """The inverse of `line`.

        Raises:
            ValueError: for anything else.
        """
        parts = line.split(" ")
        if len(parts) != 3 or not parts[2].isdecimal():
            raise ValueError(f"a merge reads 'left right count', found {line!r}")
        return cls(parts[0], parts[1], int(parts[2]))


class Changes(NamedTuple):
    """What a merge did: the pairs whose counts changed, and how many pairs became one symbol."""

    pairs: set[Pair]
    times: int


class PairCounts:
    """How often each pair of symbols stands side by side in a corpus of words, before and after
    merges.

    Three equal symbols in a row count as two pairs, though only one of them can be merged.

    Args:
        words: the distinct words, each as a list of symbols. They are changed by `merge`.
        counts: how often each word occurs.
    """

    def __init__(self, words: list[list[int]], counts: list[int]):
        self.words = words
        self.counts = counts
        self.of: defaultdict[Pair, int] = defaultdict(int)  # pair → its count
        # pair → numbers of the words in which it stands, or stood once
        self._words_with: defaultdict[Pair, set[int]] = defaultdict(set)
        for number, word in enumerate(words):
            for pair in pairwise(word):
                self.of[pair] += counts[number]
                self._words_with[pair].add(number)

    def merge(self, pair: Pair, new: int) -> Changes:
        """Put the symbol `new` wherever the pair stands."""
        changed: set[Pair] = set()
        times = 0
        for number in self._words_with.pop(pair):
            before, count = self.words[number], self.counts[number]
            after = replace_pair(before, pair, new)
            self.words[number] = after
            times += count * (len(before) - len(after))
            for lost in pairwise(before):
                self.of[lost] -= count
                changed.add(lost)
            for gained in pairwise(after):
                self.of[gained] += count
                self._words_with[gained].add(number)
                changed.add(gained)
        return Changes(changed, times)
