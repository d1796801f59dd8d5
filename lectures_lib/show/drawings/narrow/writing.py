"""Choosing what to write (chapter 9), for a narrow page."""

from lectures_lib.show.drawings import writing
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside
from lectures_lib.show.drawings.writing import WIDTH


def weather_tree() -> Canvas:
    """As wide, with what is marked named below."""
    drawing = beside(writing.weather_tree(), 484)
    best = writing.likeliest_of_all()
    for x, text in ((84, "first word"), (232, "second word"), (334, "*P*(report)")):
        drawing.text(x, 28, text, bold=True, size=14)
    writing.tree(drawing, (18, 38, 184, 336), 96, 62)
    drawing.frame(178, writing.height(best, 62) - 19, 190, 38, "prediction", 3, 7)
    for y, colour, text in (
        (432, "error", "likeliest word each time"),
        (458, "prediction", "likeliest report, framed"),
    ):
        drawing.line([(38, y), (66, y)], colour, 5)
        drawing.text(76, y, text, colour, 14, "start", bold=True)
    return drawing


def growing_beam() -> Canvas:
    """From top to bottom; of the last words the likeliest stands lowest, where arrows leave it."""
    said = {"Four columns, read from left to right": "Four rows, read from top to bottom"}
    drawing = beside(writing.growing_beam(), 500, said)
    (first, kept), (second, last) = writing.beam_steps()
    at = {words: (10 + 121 * i, 70) for i, words in enumerate(first)}
    keep = {words: (10 + 121 * i, 152) for i, words in enumerate(kept)}
    ends = {words: (10 + 190 * (i // 3), 354 - 40 * (i % 3)) for i, words in enumerate(second)}
    done = {words: (10 + 190 * i, 462) for i, words in enumerate(last)}
    for x, y, text in ((188, 26, "extend"), (150, 226, "extend")):
        drawing.text(x, y, text, bold=True)
    for x, y in ((312, 152), (324, 408)):
        drawing.lines(x, y, ["keep the", f"best {WIDTH}"], bold=True)
    for i, words in enumerate(keep):
        x, y = at[words][0] + 57, keep[words][1]
        drawing.arrow([(x, 88), (x, y - 19)], "prediction", 2.5)
        drawing.arrow([(x, y + 18), (93 + 190 * i, 254)], "neutral")
    for words in last:
        (x, y), (end, low) = ends[words], done[words]
        drawing.arrow([(x + 83, y + 18), (end + 83, low - 20)], "prediction", 2.5)
    for places, width, found, held in (
        (at, 114, first, kept),
        (keep, 114, kept, kept),
        (ends, 166, second, last),
        (done, 166, last, last),
    ):
        for words, (x, y) in places.items():
            writing.beginning(drawing, x, y, width, words, found[words], words in held)
    return drawing


def top_k_and_top_p() -> Canvas:
    """The two forecasts below each other."""
    drawing = beside(writing.top_k_and_top_p(), 686, {"side by side": "below each other"})
    bottom = writing.table(drawing, 60, 92, "unsure", (76, 32))
    writing.table(drawing, 60, bottom + 106, "sure", (76, 32))
    return drawing
