"""A language model that only counts: n-grams with modified Kneser–Ney smoothing (Chen and Goodman
1999, section 3). What a network has to beat (chapter 10).

What follows the last n - 1 tokens, where it was seen, is counted. A little is taken off every
count, and what was taken off goes to the same question with one token of context less, down to a
guess among the whole vocabulary. So nothing has probability 0.

The shorter tables do not count how often a token came, but behind how many different tokens: "York"
is frequent and comes behind one word only, so behind any other it is not to be expected.
"""

import math
from collections import Counter
from collections.abc import Sequence
from operator import index

from jaxtyping import Int
from torch import Tensor

from lectures_lib.checks.sizes import check_numbers
from lectures_lib.checks.tensors import whole_numbers

Gram = tuple[int, ...]
Ids = Sequence[int] | Int[Tensor, " n"]


class KneserNey:
    """Counts of n-grams, and the probabilities that they give.

    Args:
        ids: the text to learn from, as token ids.
        order: the longest n-gram, context and token together: 2 for pairs.
        vocab_size: tokens in the vocabulary.

    Raises:
        TypeError: for ids that are no whole numbers.
        ValueError: for numbers below 1, a text shorter than `order`, or an id that is not in the
            vocabulary.
    """

    def __init__(self, ids: Ids, order: int, vocab_size: int):
        check_numbers(order=order, vocab_size=vocab_size)
        if len(ids) < order:
            raise ValueError(f"a text of at least {order} tokens is needed, got {len(ids)}")
        self.order, self.vocab_size = order, vocab_size
        ids = self._known(ids)
        tables = [Counter(zip(*(ids[i:] for i in range(order)), strict=False))]
        for _ in range(order - 1):
            # every longer gram is one more token that this one was seen behind
            tables.append(Counter(gram[1:] for gram in tables[-1]))
        self.counts = tables[::-1]  # self.counts[0]: of single tokens
        self.discounts = [discounts(table) for table in self.counts]
        self.contexts = [of_contexts(table) for table in self.counts]

    def probability(self, context: Ids, token: int | Tensor) -> float:
        """P(token | context); of the context the last order - 1 tokens are read.

        Raises:
            TypeError, ValueError: for what is no token of the vocabulary.
        """
        context = self._known(context[max(0, len(context) - self.order + 1) :])
        (token,) = self._known([index(token)])
        p = 1 / self.vocab_size
        for n in range(1, min(self.order, len(context) + 1) + 1):
            before = tuple(context[len(context) - n + 1 :])
            if before not in self.contexts[n - 1]:
                break  # a context that was never seen says nothing, nor does a longer one
            total, kinds = self.contexts[n - 1][before]
            count = self.counts[n - 1][(*before, token)]
            taken_off = self.discounts[n - 1]
            kept = count - taken_off[min(count, 3)]
            handed_down = sum(taken_off[c] * kinds[c] for c in (1, 2, 3))
            p = kept / total + handed_down / total * p
        return p

    def log_probabilities(self, ids: Ids) -> list[float]:
        """log P of each token but the first, given all those before it."""
        reach = self.order - 1
        return [
            math.log(self.probability(ids[max(0, i - reach) : i], ids[i]))
            for i in range(1, len(ids))
        ]

    def _known(self, ids: Ids) -> list[int]:
        """Ids as Python's numbers, which are counted by their value: a tensor's are not."""
        ids = whole_numbers(ids)
        if strange := [token for token in ids if not 0 <= token < self.vocab_size]:
            raise ValueError(
                f"token id {strange[0]} is not among the vocabulary's {self.vocab_size}, 0 … "
                f"{self.vocab_size - 1}"
            )
        return ids


def discounts(table: Counter[Gram]) -> tuple[float, float, float, float]:
    """What is taken off a count of 0, 1, 2, and 3 or more, from how many counts are 1, 2, 3 and 4.

    The formulas need all four. Where one is missing, or they would take off nothing or less (tables
    of a few characters), half a count, a whole one and one and a half are taken off.
    """
    once, twice, thrice, four_times = (
        sum(count == times for count in table.values()) for times in (1, 2, 3, 4)
    )
    few = 0.0, 0.5, 1.0, 1.5
    if not (once and twice and thrice and four_times):
        return few
    share = once / (once + 2 * twice)
    found = (
        0.0,
        1 - 2 * share * twice / once,
        2 - 3 * share * thrice / twice,
        3 - 4 * share * four_times / thrice,
    )
    return found if min(found[1:]) > 0 else few


def of_contexts(table: Counter[Gram]) -> dict[Gram, tuple[int, Counter[int]]]:
    """For each context the sum of its counts, and how many of them are 1, 2, and 3 or more."""
    totals: Counter[Gram] = Counter()
    kinds: dict[Gram, Counter[int]] = {}
    for gram, count in table.items():
        totals[gram[:-1]] += count
        kinds.setdefault(gram[:-1], Counter())[min(count, 3)] += 1
    return {context: (total, kinds[context]) for context, total in totals.items()}
