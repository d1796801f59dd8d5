"""WordPiece (chapter 7b), for a narrow page."""

from lectures_lib.show.drawings import wordpiece
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside
from lectures_lib.show.drawings.wordpiece import (
    BYTES,
    DIFFER,
    PRAISE,
    VOCABULARY,
    WORD,
    draw_tries,
    ending,
    frame_of_tokens,
    letters,
    message_row,
    message_rows,
    name_of_tokens,
    walk,
)


def longest_first() -> Canvas:
    """Smaller letters; the numbers of tries at the right."""
    drawing = beside(wordpiece.longest_first(), 548)
    x, wide, y = 14, 21.5, 82
    letters(drawing, x, 28, WORD, wide)
    places = walk(WORD, VOCABULARY)
    for number, tries in enumerate(places, start=1):
        end = draw_tries(drawing, x, y, WORD, tries, wide)
        n = len(tries)
        drawing.text(
            300, y + 6, f"{n} {'try' if n == 1 else 'tries'}", bold=True, anchor="start", size=14
        )
        if number < len(places):
            place = x + tries[-1].end * wide
            drawing.line([(place, 62), (place, end + 12)], "neutral", 1, dashed=True)
        y = end + 14
    texts = ["a piece that continues", "the word begins with ##"]
    drawing.lines(14, y + 16, texts, 18, anchor="start", size=14)
    return drawing


def whole_word_lost() -> Canvas:
    """One below the other."""
    said = {"side by side": "below each other"}
    drawing = beside(wordpiece.whole_word_lost(), 556, said)
    for y, word in zip((24, 284), PRAISE, strict=True):
        ending(drawing, 56, y, word, 44)
    return drawing


def two_messages() -> Canvas:
    """The byte pairs in smaller boxes."""
    drawing = beside(wordpiece.two_messages(), 338)
    drawing.text(16, 30, "in byte pairs they differ", bold=True, anchor="start")
    for y, (pairs, _) in zip((76, 120), message_rows(), strict=True):
        places = message_row(drawing, 16, y, pairs, 12)
        frame_of_tokens(drawing, y, places, 12)
        if y == 76:
            name_of_tokens(drawing, 58, places, DIFFER, "great")
            name_of_tokens(drawing, 58, places, BYTES, "😀: four bytes")
    name_of_tokens(drawing, 162, places, DIFFER, "awful")
    drawing.text(16, 210, "in BERT's tokens they are the same", bold=True, anchor="start")
    for y, (_, berts) in zip((236, 280), message_rows(), strict=True):
        message_row(drawing, 16, y, berts, 13)
    return drawing
