"""How far the translators of the live figures have seen: the longest text of their training, and
how sure they are of what they write of texts that they did not learn from.

    python experiments/live_range.py
        some minutes of one core; writes book/results/live_range.json, and the filters of words
        `lectures_lib/stored/translator_words_*.safetensors`

A translation's mean share is the geometric mean of the shares that its tokens had when they were
written, the end token's included: e to the mean log probability. The page says of a translation
when 95 of 100 held-out ones have a higher one. Held out are, for captions, Multi30k's test split
(they come from the mirror that LECTURES_DATA names, or from the hub); for number words, lists of
the test split, as long as those of training. Written greedily, as the page does it.
"""

from collections.abc import Callable, Sequence

import torch
from number_words import RECIPES, lists
from torch import Tensor

from lectures_lib import data, decoding, results, stored
from lectures_lib.models.transformer import Transformer
from lectures_lib.stored import met_words

TITLE = "The longest training text of the live figures' translators, and how sure they are"
BATCH, LONGER = 100, 50  # LONGER: as in book/live/worker.js
RARE = 0.05
HELD_OUT = 1000  # lists of numbers
OF_NUMBERS = dict(zip(stored.NUMBER_WORDS, ("minute", "more_lists"), strict=True))


def mean_shares(model: Transformer, sources: Sequence[list[int]]) -> Tensor:
    """Of each source's translation, the geometric mean of its tokens' shares."""
    order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
    shares = torch.zeros(len(sources))
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        ids, lengths = data.pad([sources[i] for i in rows])
        longest = min(ids.shape[1] + LONGER, model.config.max_len)
        found = decoding.greedy(
            model, ids, lengths, begin=data.BOS, end=data.EOS, max_len=longest,
            never=(data.PAD, data.BOS),
        )  # fmt: skip
        ended = (found.lengths < found.tokens.shape[1]).long()
        shares[rows] = (found.scores / (found.lengths + ended)).exp()
    return shares


def summed(
    model: Transformer, encode: Callable[[object], list[int]], train: Sequence, held_out: Sequence
) -> dict:
    """What is measured of one translator."""
    shares = mean_shares(model, [encode(one) for one in held_out])
    return {
        "texts": len(train),
        "longest": max(len(encode(one)) for one in train) - 1,  # without the end token
        "held_out": len(held_out),
        "share": {
            "rare": shares.quantile(RARE).item(),
            "median": shares.median().item(),
        },
    }


def captions(source: str, target: str) -> dict:
    """A translator of captions; writes the words that it met."""
    translates = stored.translator(source, target)
    train, test = (
        [row[source] for row in data.load("translation", split, source="real")]
        for split in ("train", "test")
    )
    met = {word for text in train for word in met_words.words_of(text)}
    met_words.save(sorted(met), source)
    found = summed(translates.model, translates.source, train, test)
    unmet = [word for text in test for word in met_words.words_of(text) if word not in met]
    missed = sum(len(met_words.unmet(word, source)) for word in unmet)
    in_all = sum(len(met_words.words_of(text)) for text in test)
    words = {"met": len(met), "unmet": len(unmet) / in_all, "told": missed / len(unmet)}
    return found | {"words": words}


def numbers(steps: int) -> dict:
    """A translator of number words."""
    model, words = stored.number_words(steps)
    recipe = RECIPES[OF_NUMBERS[steps]]
    train, test = (
        [one for one, _ in lists(split, recipe.counts, size)]
        for split, size in (("train", recipe.size), ("test", HELD_OUT))
    )
    found = summed(model, lambda one: words.encode(one, eos=True), train, test)
    return found | {"numbers": max(recipe.counts)}


def main() -> None:
    """Measure, write."""
    torch.set_num_threads(1)
    found = {f"{source}-{target}": captions(source, target) for source, target in stored.DIRECTIONS}
    found |= {f"numbers_{steps}": numbers(steps) for steps in stored.NUMBER_WORDS}
    for name, one in found.items():
        print(name, one)
    results.save("live_range", found, TITLE, [0])


if __name__ == "__main__":
    main()
