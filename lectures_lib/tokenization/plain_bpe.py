"""Byte pair encoding as one would explain it: `learn` from a corpus which pairs to merge, `merge`
them in a new word (chapter 7; Sennrich et al. 2016, section 3.2).

Symbols are numbers here: 0 … 255 are the bytes, 256 is what the first merge makes, and so on. Where
"ing" is in every word, the first two merges are those of i and n, and of "in" and g:

    learn({"sing": 2, "ring": 1}, n_merges=2)      [(105, 110), (256, 103)]
    merge("king", [(105, 110), (256, 103)])        [107, 257]: k ing

`bpe.learn_merges` and `bpe.apply_merges`, which the tokenizer uses, do the same faster.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

Pair = tuple[int, int]


def replace_pair(symbols: list[int], pair: Pair, new: int) -> list[int]:
    """The symbols with `new` in place of the pair, from left to right: a a a with the pair a a
    becomes new a.
    """
    merged, i = [], 0
    while i < len(symbols):
        if tuple(symbols[i : i + 2]) == pair:
            merged.append(new)
            i += 2
        else:
            merged.append(symbols[i])
            i += 1
    return merged


def learn(words: dict[str, int], n_merges: int) -> list[Pair]:
    """Which pairs of symbols become one, in this order.

    Args:
        words: the words of a corpus, and how often each occurs.
        n_merges: how many pairs to merge.
    """
    spelled = {word: list(word.encode("utf-8")) for word in words}
    merges: list[Pair] = []
    for new in range(256, 256 + n_merges):  # the symbol that this merge makes
        counts: Counter[Pair] = Counter()
        for word, symbols in spelled.items():
            for pair in pairwise(symbols):
                counts[pair] += words[word]
        if not counts:
            break
        # the most frequent pair; of equals the lowest
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        spelled = {word: replace_pair(symbols, best, new) for word, symbols in spelled.items()}
    return merges


def merge(word: str, merges: Sequence[Pair]) -> list[int]:
    """A new word in symbols: its bytes, and then every merge that was learned, in that order."""
    symbols = list(word.encode("utf-8"))
    for new, pair in enumerate(merges, start=256):
        symbols = replace_pair(symbols, pair, new)
    return symbols
