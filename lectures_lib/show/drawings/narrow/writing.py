"""Choosing what to write (chapter 9), for a narrow page."""

from collections.abc import Iterable

from lectures_lib.show.drawings import writing
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside
from lectures_lib.show.drawings.writing import WIDTH, Report


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
    """A row for each beginning, further right by a step for each word."""
    said = {
        "Three columns, one for each word, read from left to right.": "Rows, further right the "
        "longer a beginning is, each below the one that it extends.",
        "in a column": "of one length",
    }
    drawing = beside(writing.growing_beam(), 566, said)
    steps = writing.beam_steps()
    xs, wides, ends, y = (10, 70, 130), (114, 172, 236), {}, 84
    for i, (x, (found, _)) in enumerate(zip((46, 172, 306), steps, strict=True)):
        drawing.text(x, 24, f"word {i + 1}", bold=True, size=14)
        drawing.text(x, 44, f"keep {WIDTH} of {len(found)}", size=13)
    every = {words: share for found, _ in steps for words, share in found.items()}
    for words in with_extensions((), every)[1:]:
        i = len(words) - 1
        kept = words in steps[i][1]
        if i:
            x, above = ends[words[:-1]]
            writing.grow(drawing, [(x, above), (x, y), (xs[i] - 2, y)], kept)
        writing.beginning(drawing, xs[i], y, wides[i], words, every[words], kept, 30)
        ends[words] = (xs[i] + 24, y + 17)
        y += 37
    return drawing


def with_extensions(words: Report, every: Iterable[Report]) -> list[Report]:
    """A beginning, and behind it all that extend it, each in front of its own extensions."""
    longer = [one for one in every if one and one[:-1] == words]
    return [words, *(each for one in longer for each in with_extensions(one, every))]


def top_k_and_top_p() -> Canvas:
    """The two forecasts below each other."""
    drawing = beside(writing.top_k_and_top_p(), 686, {"side by side": "below each other"})
    bottom = writing.table(drawing, 60, 92, "unsure", (76, 32))
    writing.table(drawing, 60, bottom + 106, "sure", (76, 32))
    return drawing
