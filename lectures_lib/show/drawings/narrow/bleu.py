"""BLEU (chapter 8b), for a narrow page."""

from lectures_lib.show.drawings import bleu
from lectures_lib.show.drawings.bleu import (
    HYPOTHESIS,
    REFERENCE,
    SIZES,
    bar,
    hits,
    links,
    pair,
    result,
    score,
    shares,
)
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside


def two_scores() -> Canvas:
    """Smaller words; each score beside the name of the model."""
    drawing = beside(bleu.two_scores(), 366)
    for i, y in enumerate((4, 188)):
        pair(drawing, 14, y + 14, i, 12)
        drawing.circle(344, y + 78, 16, score(i), "prediction", 16)
        drawing.text(322, y + 84, "points", size=14, anchor="end")
    return drawing


def clipped_counts() -> Canvas:
    """The words below each other, the bars upright."""
    drawing = beside(
        bleu.clipped_counts(),
        440,
        {"Above, the": "At the left, the", "Below it": "Beside it", "Below that": "Beside that"},
    )
    left, right, wide, high, top = 12, 104, 68, 36, 66
    drawing.text(left + wide / 2, 44, "reference", bold=True, size=13)
    drawing.text(right + wide / 2, 44, "the model", bold=True, size=13)
    matched = dict(links(HYPOTHESIS, REFERENCE))
    for i, word in enumerate(REFERENCE.split()):
        drawing.box(left, top + i * high + 2, wide, 32, word, "paper", radius=4, size=13)
    for i, word in enumerate(HYPOTHESIS.split()):
        colour = "prediction" if i in matched else "paper"
        drawing.box(right, top + i * high + 2, wide, 32, word, colour, radius=4, size=13)
        if i in matched:
            ends = [
                (left + wide + 2, top + (matched[i] + 0.5) * high),
                (right - 2, top + (i + 0.5) * high),
            ]
            drawing.line(ends, "prediction", 2.5)
    drawing.text(right + wide / 2, top + 7 * high + 12, "clipped", size=14)
    low = top + 7 * high + 44
    drawing.text(180, low, "found", anchor="end", size=14)
    x = 188
    for n, (found, all_) in zip(SIZES, shares(), strict=True):
        group = max(26, 12 * n)
        drawing.text(x + group / 2, 44, str(n), bold=True, size=14)
        first = x + (group - 12 * n) / 2
        for i, hit in enumerate(hits(HYPOTHESIS, REFERENCE, n)):
            bar(drawing, first + i % n * 12, top + i * high + 3, 9, n * high - 6, hit)
        drawing.text(x + group / 2, low, f"{found}/{all_}", bold=True, size=14)
        x += group + 12
    drawing.text(276, 22, "words in a row", size=14)
    drawing.text(188, 412, result(), size=15, bold=True)
    return drawing
