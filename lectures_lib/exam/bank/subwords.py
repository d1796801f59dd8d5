"""Subwords (chapters 7 and 7b)."""

from collections import Counter
from itertools import pairwise
from random import Random

from lectures_lib.exam.pictures import merge_tree
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
        f"may be merged first. How is *newest* written after the first two merges, if of equal "
        f"pairs the first in the alphabet is taken?",
        f"{', '.join(best)}: {most} times each. Ties are broken by a rule; any of them is "
        f"right. By the alphabet *es* comes first, and *est* next, as often: n e w est.",
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
        f"A vocabulary holds {', '.join(pieces)}, and every letter from a to z, at the beginning "
        f"of a word and inside it. How does WordPiece write *{word}*? And *{word}* with an ß in "
        f"its middle?",
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


TRAINS = [("i", "n"), ("a", "in"), ("r", "ain"), ("t", "rain"), ("in", "g"), ("train", "ing")]
LOWS = [("l", "o"), ("lo", "w"), ("e", "s"), ("es", "t"), ("low", "est")]


def _merged(word: str, merges: list[tuple[str, str]]) -> list[str]:
    """The pieces of a word after all merges, each applied everywhere, in their order."""
    pieces = list(word)
    for pair in merges:
        i = 0
        while i < len(pieces) - 1:
            if (pieces[i], pieces[i + 1]) == pair:
                pieces[i : i + 2] = ["".join(pair)]
            i += 1
    return pieces


@_asked("A tree of merges", points=6)
def a_tree_of_merges(chance: Random) -> Drawn:
    """Read three words with the merges of a tree, and one by the longest match."""
    word, merges, others = chance.choice(
        [
            ("training", TRAINS, ["strain", "rains", "singing"]),
            ("training", TRAINS, ["drain", "trains", "ingrain"]),
            ("lowest", LOWS, ["slow", "wests", "slowest"]),
            ("lowest", LOWS, ["lows", "test", "lowtest"]),
        ]
    )
    pieces = {w: " ".join(_merged(w, merges)) for w in others}
    letters, tokens = len(set(word)), len({"".join(pair) for pair in merges})
    return Drawn(
        f"Byte pairs were learned; the tree shows all {len(merges)} merges, numbered in their "
        f"order, and how they build *{word}*. How are *{'*, *'.join(others)}* written, if letters "
        f"that *{word}* does not have are let pass as tokens of their own? How many tokens has the "
        f"vocabulary, which began with the letters of *{word}* only? What happens to other letters "
        f"where they are not let pass, and how does GPT-2's tokenizer avoid that?",
        f"{'; '.join(pieces.values())}. {letters} letters and {tokens} merges: {letters + tokens} "
        f"tokens. A letter that is not there is unknown; GPT-2 starts from the 256 bytes, so "
        f"nothing is.",
        marks=((3, "one for each word"), (1, "the tokens"), (2, "unknown letters, bytes")),
        wrong="The words are cut where a dictionary would cut them.",
        reveals="The merges know no meaning: they are applied in the order in which they were "
        "learned, wherever their pair stands.",
        picture=merge_tree("a_tree_of_merges", word, merges),
    )
