"""WordPiece (chapter 7b): the longest piece that fits, and what is lost where none does."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Number
from lectures_lib.show.drawings.token_row import Token, token_row

# Of BERT's 30,522 tokens those that these words meet. A test reads the words with all of them.
VOCABULARY = frozenset({"un", "##put", "##down", "##able", "great", "##♥"})
WORD, PRAISE = "unputdownable", ("great♥", "great😀")
# The tokens of the chapter's two messages, by its two tokenizers; a test makes them again.
MESSAGES = ("The exam was great😀", "The exam was awful😀")
FACE = "ð Ł ĺ Ģ"  # its four bytes
BYTE_PAIRS = (f"The Ġex am Ġwas Ġg re at {FACE}", f"The Ġex am Ġwas Ġa w ful {FACE}")
BERTS = "the exam was [UNK]"
DIFFER, BYTES = slice(4, 7), slice(7, 11)  # the byte pairs that are not the same; of the face
THIN, ROOM, FOUND = 6, 11, 26  # of a try: its bar's height, its row's; and the height of a find


class Try(NamedTuple):
    """A look into the vocabulary: is word[start:end] there?"""

    start: int
    end: int
    fits: bool


def walk(word: str, vocabulary: Collection[str]) -> list[list[Try]]:
    """All tries of the longest-first reader, for each place where it begins; the last of a place
    fits, or nothing does and it gives up.
    """
    places, start = [], 0
    while start < len(word):
        prefix, tries = "##" if start else "", []
        for end in range(len(word), start, -1):
            tries.append(Try(start, end, prefix + word[start:end] in vocabulary))
            if tries[-1].fits:
                break
        places.append(tries)
        if not tries[-1].fits:
            break
        start = tries[-1].end
    return places


def piece(word: str, found: Try) -> str:
    """As it stands in the vocabulary."""
    return ("##" if found.start else "") + word[found.start : found.end]


def said(word: str) -> str:
    """The walk along a word, in words."""
    told = []
    for tries in walk(word, VOCABULARY):
        last, n = tries[-1], len(tries)
        looks = f"{n} {'try' if n == 1 else 'tries'}"
        told.append(f"{looks}, {piece(word, last)} {'fits' if last.fits else 'does not fit'}")
    return "; ".join(told)


def letters(drawing: Canvas, x: Number, y: Number, word: str, wide: Number) -> None:
    """The word, each letter in a cell."""
    drawing.matrix(x, y, [list(word)], (wide, 30), "paper", size=16)
    drawing.frame(x, y, wide * len(word), 30, "neutral", 1)


def draw_tries(
    drawing: Canvas, x: Number, y: Number, word: str, tries: Sequence[Try], wide: Number
) -> Number:
    """A thin bar for each try from y downwards, a box for the one that fits. Returns where they
    end.
    """
    for one in tries:
        left, length = x + one.start * wide + 1.5, (one.end - one.start) * wide - 3
        if one.fits:
            drawing.box(left, y, length, FOUND, piece(word, one), "residual", radius=3, size=14)
            drawing.frame(left, y, length, FOUND)
            y += FOUND
        else:
            drawing.box(left, y, length, THIN, colour="neutral", radius=0)
            y += ROOM
    return y


def longest_first() -> Canvas:
    """A word of thirteen letters, and every try until it is read."""
    places = walk(WORD, VOCABULARY)
    total = sum(map(len, places))
    drawing = Canvas(
        "longest_first",
        720,
        518,
        f"How WordPiece reads {WORD}: the longest piece that fits, again and again",
        f"The letters of {WORD}, and below them a bar for each try, from the first letter of the "
        f"try to its last, read from above. Each try is one letter shorter than the one before, "
        f"until a piece is in the vocabulary; the next tries begin behind it and reach to the end "
        f"of the word again. {said(WORD)}. {total} tries in all.",
        f"Every try of the reader, from above: a thin bar is a piece that the vocabulary does not "
        f"have, a framed box one that it has. After {total} tries the word is read.",
    )
    x, wide, y = 24, 36, 82
    letters(drawing, x, 28, WORD, wide)
    side = x + wide * len(WORD) + 28
    for number, tries in enumerate(places, start=1):
        end = draw_tries(drawing, x, y, WORD, tries, wide)
        n = len(tries)
        drawing.step(side, y + 6, number, f"{n} {'try' if n == 1 else 'tries'}")
        if number < len(places):
            place = x + tries[-1].end * wide
            drawing.line([(place, 62), (place, end + 12)], "neutral", 1, dashed=True)
        y = end + 14
    drawing.lines(x, 472, ["a piece that continues", "the word begins with ##"], anchor="start")
    return drawing


def whole_word_lost() -> Canvas:
    """The same walk on two words: one ends well, the other loses all."""
    drawing = Canvas(
        "whole_word_lost",
        720,
        298,
        "Great with a heart is two pieces; great with a smiley is unknown as a whole",
        f"Two words side by side, each with a bar for each try; a thin bar is a piece that is not in "
        f"the vocabulary. {PRAISE[0]}: {said(PRAISE[0])}. It "
        f"becomes great and ##♥. {PRAISE[1]}: {said(PRAISE[1])}, and nothing shorter is left to "
        f"try. Then the piece great, though it was found, is thrown away, and the whole word "
        f"becomes one token, [UNK].",
        "The same reader on two words that differ in their last sign. Where nothing fits, what was "
        "found before is thrown away.",
    )
    for x, word in zip((60, 400), PRAISE, strict=True):
        ending(drawing, x, 24, word, 44)
    return drawing


def ending(drawing: Canvas, x: Number, y: Number, word: str, wide: Number) -> None:
    """A word's letters, tries, and below them what a model gets to read."""
    letters(drawing, x, y, word, wide)
    drawing.text(x, y + 50, "not in the vocabulary", "neutral", 14, "start")
    places, low = walk(word, VOCABULARY), y + 64
    last, length = places[-1][-1], wide * len(word)
    for tries in places:
        if tries[-1].fits:
            low = draw_tries(drawing, x, low, word, tries, wide) + 12
        else:
            left = x + last.start * wide
            drawing.box(left + 1.5, low, wide - 3, FOUND, piece(word, last), "error", size=14)
            cross(drawing, left + wide + 16, low + FOUND / 2, 6)
            drawing.text(left - 10, low + FOUND / 2, "nothing fits", "error", 14, "end")
    low = y + 184
    drawing.arrow([(x + length / 2, low - 30), (x + length / 2, low - 4)], "ink")
    read = [piece(word, tries[-1]) for tries in places]
    if last.fits:
        cut = last.start * wide
        drawing.box(x + 1.5, low, cut - 3, 32, read[0], "residual")
        drawing.box(x + cut + 1.5, low, length - cut - 3, 32, read[1], "residual")
    else:
        drawing.box(x + 1.5, low, length - 3, 32, "[UNK]", "error", bold=True)
    says = "two tokens" if last.fits else "one token: the praise is gone"
    drawing.text(x + length / 2, low + 50, says, size=14)


def cross(drawing: Canvas, x: Number, y: Number, reach: Number) -> None:
    """Two strokes around a point: this is not there."""
    for slope in (1, -1):
        ends = (x - reach, y - slope * reach), (x + reach, y + slope * reach)
        drawing.line(ends, "error", 2.5)


def message_rows() -> list[tuple[list[str], list[str]]]:
    """The two messages, in byte pairs and in BERT's tokens."""
    return [(pairs.split(), BERTS.split()) for pairs in BYTE_PAIRS]


def message_row(
    drawing: Canvas, x: Number, y: Number, tokens: Sequence[str], size: Number
) -> list[Token]:
    """A box for each token from x on; the unknown one stands out."""
    colours = ["error" if token == "[UNK]" else "neutral" for token in tokens]
    return token_row(drawing, x, y, tokens, colours, 2 * size, size, size / 2.2, 0.8 * size)


def two_messages() -> Canvas:
    """Two messages in byte pairs, where they differ, and in BERT's tokens, where they do not."""
    drawing = Canvas(
        "two_messages",
        720,
        444,
        "Two messages in byte pairs, which differ, and in BERT's tokens, which are the same",
        f"The messages are {' and '.join(MESSAGES)}, the smiley glued to the last word. In byte "
        f"pairs the first is {BYTE_PAIRS[0]}; the second is {BYTE_PAIRS[1]}. A frame stands around "
        f"the three tokens of great and the three of awful; the last four are the bytes of the "
        f"smiley. In BERT's tokens both are {BERTS}: four tokens, the same in both.",
        "The same two messages, in byte pairs that were learned on Python's manual and in BERT's "
        "tokens. Ġ is a space. Framed: what tells the two apart.",
    )
    drawing.text(30, 34, "in byte pairs they differ", bold=True, anchor="start", size=17)
    for y, (pairs, _) in zip((88, 150), message_rows(), strict=True):
        places = message_row(drawing, 30, y, pairs, 23)
        frame_of_tokens(drawing, y, places, 23)
        if y == 88:
            name_of_tokens(drawing, 68, places, DIFFER, "great")
            name_of_tokens(drawing, 68, places, BYTES, "😀: four bytes")
    name_of_tokens(drawing, 216, places, DIFFER, "awful")
    drawing.text(30, 276, "in BERT's tokens they are the same", bold=True, anchor="start", size=17)
    for y, (_, berts) in zip((306, 368), message_rows(), strict=True):
        message_row(drawing, 30, y, berts, 23)
    return drawing


def name_of_tokens(drawing: Canvas, y: Number, places: list[Token], part: slice, text: str) -> None:
    """What some of the tokens are together, above or below their middle."""
    drawing.text((places[part][0].left + places[part][-1].right) / 2, y, text, size=14)


def frame_of_tokens(drawing: Canvas, y: Number, places: list[Token], size: Number) -> None:
    """Around the tokens by which the messages differ."""
    left, right = places[DIFFER][0].left, places[DIFFER][-1].right
    pad = size / 5
    drawing.frame(left - pad, y - pad, right - left + 2 * pad, 2 * size + 2 * pad, radius=6)
