"""Choosing what to write (chapter 9): the tree of all reports, a beam that grows and is pruned, and
what top-k and top-p keep of a distribution.
"""

import torch
from torch import Tensor

from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Number, Point

# the chapter's weather report
FIRST = {"heavy": 0.5, "light": 0.4, "no": 0.1}
SECOND = {
    "heavy": {"rain": 0.40, "snow": 0.35, "wind": 0.25},
    "light": {"rain": 0.90, "snow": 0.05, "wind": 0.05},
    "no": {"rain": 0.20, "snow": 0.30, "wind": 0.50},
}
WHEN = {"today": 0.6, "tonight": 0.4}  # the third word, whatever stands before it
WIDTH = 2  # of the beam
# and its two forecasts of one word
NAMES = ("rain", "snow", "wind", "sun", "fog", "hail", "frogs")
FORECASTS = {
    "unsure": (0.30, 0.24, 0.18, 0.12, 0.09, 0.05, 0.02),
    "sure": (0.86, 0.06, 0.03, 0.02, 0.01, 0.01, 0.01),
}
TOP_K, TOP_P = 3, 0.8
COLUMNS = ("share", "sum so far", f"top-{TOP_K}", f"top-p of {TOP_P:g}")

Report = tuple[str, ...]


def reports() -> dict[Report, float]:
    """The probability of each of the nine reports."""
    return {
        (first, second): share * then
        for first, share in FIRST.items()
        for second, then in SECOND[first].items()
    }


def likeliest_each_time() -> Report:
    """What greedy decoding writes."""
    first = max(FIRST, key=FIRST.get)
    return first, max(SECOND[first], key=SECOND[first].get)


def likeliest_of_all() -> Report:
    """What has the largest probability."""
    return max(reports(), key=reports().get)


def word(
    drawing: Canvas, x: Number, y: Number, width: Number, text: str, share: str, colour: str
) -> None:
    """A box with a word and its probability, its left edge at x and its middle at height y."""
    drawing.box(x, y - 15, width, 30, colour=colour, radius=5)
    drawing.text(x + 9, y, text, anchor="start", size=14)
    drawing.text(x + width - 9, y, share, anchor="end", size=14)


def weather_tree() -> Canvas:
    """All nine reports, with greedy's and the likeliest."""
    greedy, best = likeliest_each_time(), likeliest_of_all()
    told = ", ".join(f"{' '.join(report)} {share:.3f}" for report, share in reports().items())
    drawing = Canvas(
        "weather_tree",
        720,
        426,
        "All nine reports of two words, and their probabilities",
        "A tree, read from left to right: from the start three branches to the first words, from "
        "each of these three to the second words, each branch as thick as it is likely. First "
        f"words: {', '.join(f'{name} {share:g}' for name, share in FIRST.items())}. At the end of "
        f"each path its probability, the product of its two: {told}. Marked are the path of the "
        f"likeliest word each time, {' '.join(greedy)}, and the likeliest report, framed, "
        f"{' '.join(best)}.",
        "All nine reports; a branch is as thick as it is likely. Greedy takes the likeliest word "
        "each time and ends at 0.200. The likeliest report, framed, begins with the second-best "
        "word.".replace("0.200", f"{reports()[greedy]:.3f}"),
    )
    for x, text in ((206, "first word"), (402, "second word"), (528, "*P*(report)")):
        drawing.text(x, 28, text, bold=True)
    tree(drawing, (40, 150, 346, 528), 112, 60)
    y = {report: height(report, 60) for report in reports()}
    drawing.text(566, y[greedy], "likeliest word", "error", 14, "start", bold=True)
    drawing.text(566, y[greedy] + 18, "each time", "error", 14, "start", bold=True)
    drawing.frame(337, y[best] - 20, 226, 40, "prediction", 3, 8)
    drawing.text(576, y[best], "likeliest report", "prediction", 14, "start", bold=True)
    return drawing


def height(report: Report, top: Number, row: Number = 37, gap: Number = 16) -> Number:
    """At which height of the tree a report stands; with one word, its first word."""
    i = list(FIRST).index(report[0])
    j = list(SECOND[report[0]]).index(report[1]) if len(report) == 2 else 1
    return top + i * (3 * row + gap) + j * row


def tree(
    drawing: Canvas, places: tuple[Number, ...], width: Number, top: Number, **rows: Number
) -> None:
    """Start, first words, second words and products, at these places from left to right."""
    start, one, two, product = places
    greedy, best = likeliest_each_time(), likeliest_of_all()
    marks = {best: "prediction", best[:1]: "prediction", greedy: "error", greedy[:1]: "error"}
    middle = height((list(FIRST)[1],), top, **rows)
    for first, share in FIRST.items():
        y = height((first,), top, **rows)
        colour = marks.get((first,), "neutral")
        drawing.line([(start, middle), (one, y)], colour, 1 + 8 * share)
        for second, then in SECOND[first].items():
            end, tint = height((first, second), top, **rows), marks.get((first, second), "neutral")
            drawing.line([(one + width, y), (two, end)], tint, 1 + 8 * then)
            word(drawing, two, end, width, second, f"{then:.2f}", tint)
            bold = (first, second) in (greedy, best)
            drawing.text(product, end, f"{share * then:.3f}", bold=bold)
        word(drawing, one, y, width, first, f"{share:.1f}", colour)
    drawing.circle(start, middle, 11, "", "neutral")


def following(words: Report) -> dict[str, float]:
    """What may follow a beginning, with the probabilities."""
    if len(words) == 2:
        return WHEN
    return SECOND[words[0]] if words else FIRST


def grown(kept: dict[Report, float]) -> dict[Report, float]:
    """Each beginning extended by every word, with the probabilities."""
    return {
        (*words, text): share * then
        for words, share in kept.items()
        for text, then in following(words).items()
    }


def pruned(found: dict[Report, float]) -> dict[Report, float]:
    """The best `WIDTH` of them, best first."""
    return dict(sorted(found.items(), key=lambda item: -item[1])[:WIDTH])


def beam_steps() -> list[tuple[dict[Report, float], dict[Report, float]]]:
    """For each of the three words: all extensions, those of one beginning side by side and in the
    order of these, and what is kept of them, best first.
    """
    steps, found = [], grown({(): 1.0})
    for _ in range(3):
        kept = pruned(found)
        steps.append((found, kept))
        found = grown({words: share for words, share in found.items() if words in kept})
    return steps


def growing_beam() -> Canvas:
    """A beam of two, from the start to two reports."""
    told = "; ".join(
        f"word {i}: {', '.join(f'{chr(32).join(words)} {share:.3f}' for words, share in all_.items())}, "
        f"kept are {' and '.join(' '.join(words) for words in kept)}"
        for i, (all_, kept) in enumerate(beam_steps(), 1)
    )
    drawing = Canvas(
        "growing_beam",
        720,
        366,
        "A beam of two grows and is pruned, three times",
        "Three columns, one for each word, read from left to right. Every beginning that was kept "
        "is extended by every word, and of all that stands in a column the best two are kept. "
        f"{told}. What is dropped is grey and has a dashed edge. Both that are kept at the end "
        "begin with light rain; nothing is left of heavy, which was first after one word.",
        "A beam of 2. Extend each beginning by every word; of all in a column keep the best two, by "
        "the probability of the whole beginning; dashed ones are dropped. They may come from one "
        "branch: heavy, first after one word, has died out after three.",
    )
    steps, step = beam_steps(), 44
    # at which height each stands
    second = {words: 92 + step * i for i, words in enumerate(steps[1][0])}
    heavy, light, no = steps[0][0]
    first = {words: second[(*words, "snow")] for words in (heavy, light)}  # the middle one
    first[no] = first[light] + 1.5 * step
    third = {words: second[words[:2]] + step * list(WHEN).index(words[2]) for words in steps[2][0]}
    ends = {}  # of each beginning so far: where its box ends
    columns = ((18, 112, first), (208, 170, second), (466, 236, third))
    for i, (x, wide, places) in enumerate(columns):
        found, kept = steps[i]
        drawing.text(x + wide / 2, 30, f"word {i + 1}", bold=True)
        drawing.text(x + wide / 2, 51, f"keep {WIDTH} of {len(found)}", size=14)
        for words, y in places.items():
            if words[:-1]:
                grow(drawing, [ends[words[:-1]], (x - 2, y)], words in kept)
            beginning(drawing, x, y, wide, words, found[words], words in kept)
            ends[words] = (x + wide + 2, y)
    return drawing


def grow(drawing: Canvas, way: list[Point], kept: bool) -> None:
    """From a beginning to one that is longer by a word: an arrow where that one is kept."""
    if kept:
        drawing.arrow(way, "prediction", 3)
    else:
        drawing.line(way, "neutral", 1.5)


def beginning(
    drawing: Canvas,
    x: Number,
    y: Number,
    width: Number,
    words: Report,
    share: float,
    kept: bool,
    high: Number = 32,
) -> None:
    """A box with a beginning and its probability, grey when it is dropped."""
    colour, spec = "prediction" if kept else "mask", ".3f" if len(words) > 1 else ".1f"
    drawing.box(x, y - high / 2, width, high, colour=colour, radius=5, dashed=not kept)
    drawing.text(x + 9, y, " ".join(words), anchor="start", size=14, bold=kept)
    drawing.text(x + width - 9, y, f"{share:{spec}}", anchor="end", size=14, bold=kept)


def kept_shares(shares: Tensor) -> tuple[Tensor, Tensor]:
    """What top-k and what top-p keep of shares (largest first), made to sum to 1 again."""
    before = shares.cumsum(dim=0) - shares
    both = (torch.arange(len(shares)) < TOP_K, before < TOP_P)
    return tuple(shares * kept / (shares * kept).sum() for kept in both)


def forecast(name: str) -> list[Tensor]:
    """The columns of one table: shares, their running sum, top-k, top-p."""
    shares = torch.tensor(FORECASTS[name])
    return [shares, shares.cumsum(dim=0), *kept_shares(shares)]


def top_k_and_top_p() -> Canvas:
    """Two forecasts side by side, and what each rule keeps of them."""
    told = "; ".join(
        f"{name}: "
        + ", ".join(f"{text} {share:.2f}" for text, share in zip(NAMES, row, strict=True))
        + f"; top-{TOP_K} keeps {kept(name)[0]} words, top-p of {TOP_P:g} keeps {kept(name)[1]}"
        for name, row in FORECASTS.items()
    )
    drawing = Canvas(
        "top_k_and_top_p",
        720,
        372,
        "What top-k and top-p keep of two forecasts",
        "Two tables side by side, one of an unsure forecast and one of a sure one, a row for each "
        "word, likeliest first. Columns: its share, the sum of the shares so far, what top-k makes "
        f"of the share and what top-p makes of it; words that are cut are hatched. {told}. Framed "
        f"is the sum that first reaches {TOP_P:g}. What is kept sums to 1 again.",
        f"Hatched words are cut; the others share what these had. Top-{TOP_K} always keeps three "
        f"words. Top-p of {TOP_P:g} keeps up to the word whose sum, framed, reaches {TOP_P:g}: many "
        "where the model is unsure, one where it is sure.",
    )
    for x, name in ((64, "unsure"), (422, "sure")):
        table(drawing, x, 92, name, (70, 36))
    return drawing


def kept(name: str) -> list[int]:
    """How many words top-k and top-p keep."""
    return [int((column > 0).sum()) for column in forecast(name)[2:]]


def table(drawing: Canvas, x: Number, y: Number, name: str, cell: tuple[Number, Number]) -> Number:
    """One forecast with what is kept of it; returns where it ends."""
    columns = torch.stack(forecast(name), dim=1)  # (words, 4)
    cut = [[False, False, *(row[2:] == 0).tolist()] for row in columns]
    values = [
        ["" if hide else f"{v:.2f}" for v, hide in zip(row.tolist(), hidden, strict=True)]
        for row, hidden in zip(columns, cut, strict=True)
    ]
    shares = columns.clone()
    shares[:, 1] = 0
    colours = [["neutral", "neutral", "prediction", "prediction"]] * len(NAMES)
    grid = drawing.matrix(
        x, y, values, cell, colours, rows=NAMES, hidden=cut, shares=shares.tolist()
    )
    drawing.text(grid.x, y - 66, f"{name}", anchor="start", bold=True, size=16)
    for j, (above, below) in enumerate(
        (("", "share"), ("sum", "so far"), ("top-k", f"of {TOP_K}"), ("top-p", f"of {TOP_P:g}"))
    ):
        for text, high in ((above, 34), (below, 16)):
            drawing.text(grid.centre(0, j)[0], y - high, text, size=14)
    reached = int((columns[:, 1] < TOP_P - 1e-6).sum())
    drawing.frame(x + cell[0], y + reached * cell[1], *cell)
    return grid.bottom
