"""Subwords (chapter 7)."""

from collections import Counter
from itertools import pairwise
from random import Random

from lectures_lib.exam.question import Drawn, Question, asked_in

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=7)


@_asked("Byte pairs", points=7)
def byte_pairs(chance: Random) -> Drawn:
    """The first merge, with its count."""
    counts = {"low": chance.randint(4, 6), "lower": 2, "newest": chance.randint(7, 9), "widest": 3}
    pairs = Counter()
    for word, n in counts.items():
        for pair in pairwise(word):
            pairs[pair] += n
    most = max(pairs.values())
    best = sorted("".join(pair) for pair, n in pairs.items() if n == most)
    return Drawn(
        f"A corpus has {', '.join(f'{w} {n} times' for w, n in counts.items())}. Which pairs of "
        f"neighbouring letters are the most frequent, and how often do they occur? Name one that "
        f"may be merged first. How is *newest* written after merging *es*, then *est*?",
        f"{', '.join(best)}: {most} times each. Ties are broken by a rule; any of them is "
        f"right. After the two merges: n e w est.",
        marks=(
            (3, "the pairs, counted with the words' frequencies"),
            (1, "how often"),
            (1, "one of them named"),
            (2, "newest after two merges"),
        ),
        wrong="Each pair is counted once for each word in the list.",
        reveals="The corpus is confused with its dictionary: a pair counts as often as its word"
        " occurs.",
    )


@_asked("The longest piece first", points=4)
def longest_piece_first(chance: Random) -> Drawn:
    """WordPiece by greedy longest match."""
    word, pieces = chance.choice(
        [
            ("unhappiness", ["un", "##happi", "##ness"]),
            ("playfully", ["play", "##ful", "##ly"]),
            ("rereading", ["re", "##read", "##ing"]),
        ]
    )
    return Drawn(
        f"A vocabulary holds {', '.join(pieces)}, and every single letter, at the beginning of a "
        f"word and inside it. How does WordPiece write *{word}*? And *{word}* with a letter that "
        f"the vocabulary lacks in its middle?",
        f"{' '.join(pieces)}: from the left, the longest piece that fits (single letters would "
        f"do, too, but are shorter). With an unknown letter the whole word becomes [UNK].",
        marks=(
            (2, "the pieces"),
            (2, "[UNK] for the whole word"),
        ),
        wrong="Only the unknown letter becomes [UNK].",
        reveals="WordPiece gives up on the word if any place has no piece; byte-level BPE would"
        " not.",
    )
