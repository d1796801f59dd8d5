"""Byte pairs (chapter 7): how merges put a word together, and how bytes become tokens."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Number, Point
from lectures_lib.tokenization import BPE, Vocabulary
from lectures_lib.tokenization.bpe import learn_merges
from lectures_lib.tokenization.byte_level import WORD, visible

# The chapter's own words; all merges, pieces and numbers are computed from them.
WEATHER = {"rain": 6, "train": 4, "training": 3, "raining": 2, "rained": 2}
N_MERGES = 7
NEW_WORDS = ("drained", "straining")
KNOWN_WORD = "training"
RIDDLE = "how much wood would a woodchuck chuck if a woodchuck could chuck wood"
TEXT, FOLLOWED = "a wood 😀", " wood"

Pair = tuple[str, str]


class Join(NamedTuple):
    """Where a merge put two pieces of a word together: [start, middle) and [middle, end)."""

    merge: int
    start: int
    middle: int
    end: int


def merges() -> list[Pair]:
    """The pairs that the words about the weather teach, in their order."""
    letters = Vocabulary(sorted(set("".join(WEATHER))))
    learned = learn_merges(WEATHER, letters, len(letters) + N_MERGES, min_count=1)
    return [(merge.left, merge.right) for merge in learned]


def spelled(word: str, pairs: Sequence[Pair]) -> tuple[list[Join], list[Point]]:
    """A word's joins under these merges, numbered from 1, and where its last pieces stand."""
    ends, joins = list(range(len(word) + 1)), []
    for number, pair in enumerate(pairs, start=1):
        i = 0
        while i + 2 < len(ends):
            start, middle, end = ends[i : i + 3]
            if (word[start:middle], word[middle:end]) == pair:
                joins.append(Join(number, start, middle, end))
                del ends[i + 1]
            i += 1
    return joins, list(pairwise(ends))


class Tree:
    """The tree of a word: its letters above, a row for each merge, its pieces below.

    Args:
        drawing: what to draw on.
        x, y: the upper left corner of its letters.
        word, pairs: what is spelled, and the merges.
        wide: a letter's width.
        step: from one row to the next.
        size: of the letters.
    """

    def __init__(
        self,
        drawing: Canvas,
        x: Number,
        y: Number,
        word: str,
        pairs: Sequence[Pair],
        wide: Number,
        step: Number,
        size: Number = 15,
    ):
        self.drawing, self.x, self.y, self.word, self.pairs = drawing, x, y, word, pairs
        self.wide, self.step, self.size, self.high = wide, step, size, 26
        self.joins, self.pieces = spelled(word, pairs)

    def row(self, number: int) -> Number:
        """The middle of a merge's row; 0 is that of the letters, the last that of the pieces."""
        extra = 14 if number > len(self.pairs) else 0
        return self.y + self.high / 2 + number * self.step + extra

    @property
    def bottom(self) -> Number:
        """The lower edge of the pieces."""
        return self.row(len(self.pairs) + 1) + self.high / 2 + 2

    def draw(self) -> None:
        """Lines first, then the boxes that stand on them."""
        made = dict.fromkeys(pairwise(range(len(self.word) + 1)), 0)
        made |= {(join.start, join.end): join.merge for join in self.joins}
        for join in self.joins:
            for part in ((join.start, join.middle), (join.middle, join.end)):
                self._line(part, made[part], join.merge)
        for piece in self.pieces:
            self._line(piece, made[piece], len(self.pairs) + 1)
        for place, number in made.items():
            self._box(place, number, "neutral" if number else "paper")
        for place in self.pieces:
            x, y, wide, high = self._box(place, len(self.pairs) + 1, "residual")
            self.drawing.frame(x, y, wide, high, radius=6)

    def labels(self, x: Number, size: Number = 15, pale: bool = True) -> None:
        """The merges at the left, each at its row; paler where it finds nothing."""
        used = {join.merge for join in self.joins if pale} or range(1, len(self.pairs) + 1)
        for number, (left, right) in enumerate(self.pairs, start=1):
            colour, y = "ink" if number in used else "neutral", self.row(number)
            self.drawing.text(x, y, f"{number}", colour, size, "end")
            self.drawing.text(x + 10, y, f"{left} + {right}", colour, size, "start")

    def _box(self, place: Point, number: int, colour: str) -> tuple[Number, ...]:
        start, end = place
        x, wide = self.x + start * self.wide + 2, (end - start) * self.wide - 4
        y = self.row(number) - self.high / 2
        text = self.word[start:end]
        self.drawing.box(x, y, wide, self.high, text, colour, size=self.size, radius=6)
        return x, y, wide, self.high

    def _line(self, place: Point, above: int, below: int) -> None:
        x = self.x + sum(place) / 2 * self.wide
        ends = self.row(above) + self.high / 2, self.row(below) - self.high / 2
        self.drawing.line([(x, ends[0]), (x, ends[1])], "neutral", 1.5)


def _said(word: str, pairs: Sequence[Pair]) -> str:
    joins, pieces = spelled(word, pairs)
    steps = "; ".join(
        f"merge {j.merge} joins {word[j.start : j.middle]} and {word[j.middle : j.end]}"
        for j in joins
    )
    cut = ", ".join(word[start:end] for start, end in pieces)
    return f"{word}: {steps}. Left at the end: {cut}."


def merge_tree() -> Canvas:
    """Two new words, spelled by the merges in the order in which they were learned."""
    pairs = merges()
    listed = ", ".join(f"{i} {a} and {b}" for i, (a, b) in enumerate(pairs, start=1))
    drawing = Canvas(
        "merge_tree",
        720,
        446,
        "Two new words put together by seven merges, in the order in which they were learned",
        f"Read from above. At the left the merges in their order: {listed}. Beside them two words, "
        f"which begin as rows of letters. In the row of a merge two pieces become one. "
        f"{' '.join(_said(word, pairs) for word in NEW_WORDS)}",
        "Read from above: a row for each merge, in the order in which they were learned. A merge "
        "that finds its two pieces side by side makes one of them, the others pass. Framed: what "
        "is left at the end.",
    )
    for x, word in zip((134, 404), NEW_WORDS, strict=True):
        tree = Tree(drawing, x, 28, word, pairs, 33, 44)
        tree.draw()
    tree.labels(40, pale=False)
    drawing.text(32, tree.row(0), "letters", bold=True, anchor="start")
    drawing.text(32, tree.row(len(tree.pairs) + 1), "pieces", bold=True, anchor="start")
    return drawing


def merge_order() -> Canvas:
    """A word that was learned, by the merges in their order and by the same ones sorted."""
    pairs = merges()
    orders = {"as learned": pairs, "sorted": sorted(pairs)}
    told = {
        name: ", ".join(f"{i} {a} and {b}" for i, (a, b) in enumerate(order, start=1))
        for name, order in orders.items()
    }
    said = " ".join(
        f"{name.capitalize()}, the merges are {told[name]}. {_said(KNOWN_WORD, order)}"
        for name, order in orders.items()
    )
    drawing = Canvas(
        "merge_order",
        720,
        470,
        "The same seven merges, as they were learned and sorted, on the word training",
        f"Two trees of the word {KNOWN_WORD}, read from above, a row for each merge. {said}",
        "The word “training”, by the same seven merges, as learned and sorted by the alphabet. A "
        "merge that has its turn before its parts are made finds nothing, and never has another "
        "turn.",
    )
    for x, (name, order) in zip((124, 480), orders.items(), strict=True):
        drawing.text(x + 2, 24, name, bold=True, anchor="start", size=16)
        tree = Tree(drawing, x, 52, KNOWN_WORD, order, 27, 44, 14)
        tree.draw()
        tree.labels(x - 100, 14)
    drawing.line([(354, 24), (354, 446)], "neutral", 1)
    return drawing


class Byte(NamedTuple):
    """A byte of the text: its number, the character that shows it, its word."""

    number: int
    shown: str
    word: int


class Span(NamedTuple):
    """What the bytes [start, end) are together: a character, or a token with its id."""

    text: str
    start: int
    end: int
    id: int = -1


def tokenized() -> tuple[list[Byte], list[Span], list[Span]]:
    """The text's bytes, its characters and its tokens, by the merges that the riddle teaches."""
    tokenizer = BPE.train([RIDDLE], 256 + 13)
    bytes_, characters, tokens = [], [], []
    for i, word in enumerate(WORD.findall(TEXT)):
        for character in word:
            start, data = len(bytes_), character.encode("utf-8")
            bytes_ += [Byte(byte, visible(bytes([byte])), i) for byte in data]
            characters.append(Span(character, start, len(bytes_)))
        for token_id in tokenizer.encode(word):
            token = tokenizer.vocabulary.tokens[token_id]
            start = tokens[-1].end if tokens else 0
            tokens.append(Span(token, start, start + len(token), token_id))
    return bytes_, characters, tokens


def name(character: str) -> str:
    """How a character is written where it would not be seen."""
    return "space" if character == " " else character


def bytes_to_tokens() -> Canvas:
    """A text becomes words, bytes, characters that show them, tokens, ids."""
    all_bytes, characters, tokens = tokenized()
    numbers = ", ".join(str(byte.number) for byte in all_bytes)
    shown = " ".join(byte.shown for byte in all_bytes)
    told = ", ".join(f"{token.text} with id {token.id}" for token in tokens)
    words = WORD.findall(TEXT)
    drawing = Canvas(
        "bytes_to_tokens",
        720,
        366,
        "From a text to bytes, to tokens, to ids",
        f"The text {TEXT}, an a, a space, the word wood, a space and a smiling face. Row 1: it is "
        f"cut into {len(words)} words, and each space belongs to the word behind it. Row 2, its "
        f"bytes: {numbers}. Every character is one byte, the face is four. Row 3, each byte as a "
        f"visible character: {shown}. Row 4, merged within each word: {told}. A frame follows the "
        f"word wood with its space: five bytes become one token. The way back is the same from "
        f"below.",
        "A text on its way to ids, with the thirteen merges of the riddle. Framed: a word with the "
        "space in front of it. Read backwards, it gives the text back, byte for byte.",
    )
    cell, gap, x, high = 46, 14, 144, 32
    place = [x + i * cell + byte.word * gap for i, byte in enumerate(all_bytes)]
    ys = {"words": 34, "bytes": 104, "made visible": 174, "tokens": 244, "ids": 314}
    for label, y in ys.items():
        drawing.text(24, y + high / 2, label, bold=True, anchor="start")
    for i, byte in enumerate(all_bytes):
        drawing.matrix(place[i], ys["bytes"], [[str(byte.number)]], (cell, high), size=14)
        drawing.matrix(place[i], ys["made visible"], [[byte.shown]], (cell, high), size=16)
    for spans, y in ((characters, ys["words"]), (tokens, ys["tokens"])):
        for span in spans:
            wide = (span.end - span.start) * cell
            colour = "residual" if spans is tokens else "paper"
            box = (place[span.start], y, wide, high, name(span.text), colour)
            size = 12 if span.text == " " else 16
            drawing.box(*box, size=size, radius=0)
            if spans is tokens:
                middle = place[span.start] + wide / 2
                drawing.text(middle, ys["ids"] + high / 2, str(span.id), size=15, bold=True)
                drawing.arrow([(middle, y + high + 6), (middle, ys["ids"] + 2)], thick=1.5)
    framed = [i for i, byte in enumerate(all_bytes) if words[byte.word] == FOLLOWED]
    left, wide = place[framed[0]], len(framed) * cell
    for label in list(ys)[:4]:
        drawing.frame(left, ys[label], wide, high)
    for above, below in pairwise(list(ys.values())[:4]):
        drawing.arrow([(left + wide / 2, above + high + 7), (left + wide / 2, below - 6)], "ink")
    return drawing
