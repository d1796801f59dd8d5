"""What several questions draw: a table of weights, a mask, curves, a tree of words. Each takes the
name of its question, which names the drawing.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from torch import Tensor

from lectures_lib.show.drawings.canvas import Canvas

LINES = ("query", "key", "value", "error")  # of curves, with dashes for every second one


def heat(
    name: str,
    title: str,
    weights: Tensor,
    rows: Sequence[str],
    columns: Sequence[str],
    unknown: Sequence[tuple[int, int]] = (),
    framed: Sequence[tuple[int, int]] = (),
    caption: str = "",
) -> Canvas:
    """A table of weights, each with a bar as long as it is large; "?" where one is unknown."""
    values = [
        ["?" if (i, j) in unknown else f"{w:.2f}" for j, w in enumerate(line)]
        for i, line in enumerate(weights.tolist())
    ]
    shares = [[0 if value == "?" else float(value) for value in line] for line in values]
    said = "; ".join(
        f"{row}: " + ", ".join(f"{c} {v}" for c, v in zip(columns, line, strict=True))
        for row, line in zip(rows, values, strict=True)
    )
    left, wide = 40 + 9 * max(map(len, rows)), max(64, 20 + 9 * max(map(len, columns)))
    drawing = Canvas(
        f"exam_{name}",
        left + wide * len(columns) + 24,
        60 + 40 * len(rows),
        title,
        f"A table of weights, a row for each query and a column for each key. {said}.",
        caption,
    )
    grid = drawing.matrix(
        left, 44, values, (wide, 40), "value", rows=rows, columns=columns, row_colour="query",
        column_colour="key", shares=shares,
    )  # fmt: skip
    for i, j in framed:
        drawing.frame(grid.x + j * wide + 2, grid.y + 40 * i + 2, wide - 4, 36, "error")
    return drawing


def mask(
    name: str,
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    hidden: Sequence[Sequence[bool]] | None = None,
    letter: str = "",
    caption: str = "",
) -> Canvas:
    """A mask: hatched cells are hidden; empty ones throughout where it is to be filled in."""
    left, wide = 40 + 9 * max(map(len, rows)), max(44, 18 + 9 * max(map(len, columns)))
    empty = [[""] * len(columns) for _ in rows]
    said = "All cells are empty." if hidden is None else "Hidden cells are hatched. " + "; ".join(
        f"{row} may look at " + (", ".join(
            c for c, h in zip(columns, line, strict=True) if not h) or "nothing")
        for row, line in zip(rows, hidden, strict=True)
    )  # fmt: skip
    drawing = Canvas(
        f"exam_{name}",
        left + wide * len(columns) + 24,
        62 + 32 * len(rows),
        title,
        f"A table, a row for each query and a column for each key. {said}",
        caption,
    )
    drawing.matrix(
        left, 46, empty, (wide, 32), rows=rows, columns=columns, row_colour="query",
        column_colour="key", hidden=hidden, lined=True,
    )  # fmt: skip
    if letter:
        drawing.text(22, 22, letter, bold=True)
    return drawing


def curves(
    name: str,
    title: str,
    lines: Mapping[str, Sequence[tuple[float, float]]],
    across: str,
    up: str,
    top: float,
    ticks: Mapping[float, str],
    marks: Mapping[float, str] = (),
    caption: str = "",
    low: float = 0.0,
) -> Canvas:
    """Curves, each with its name beside it.

    Args:
        name, title, caption: of the drawing.
        lines: for each name the points; x from 0 to 1, y from `low` to `top`.
        across, up: what the axes show.
        top, low: the ends of the vertical axis.
        ticks: below the horizontal axis, x and what it says.
        marks: at the vertical axis, y and what it says.
    """
    marks = dict(marks)
    # In words a place is called as below the axis, if each is named there.
    named = all(x in ticks for points in lines.values() for x, _ in points)
    said = ". ".join(
        f"Curve {label}: "
        + ", ".join(
            f"({ticks[x] if named else f'{x:.2f}'}, {y:.2f})"
            for x, y in points[:: len(points) // 8 or 1]
        )
        for label, points in lines.items()
    )
    drawing = Canvas(
        f"exam_{name}", 640, 330, title,
        f"Across: {across}{'' if named else ', from 0 to 1 of the width'}. Up: {up}, from {low:g} "
        f"to {top:g}. {said}.", caption,
    )  # fmt: skip
    left, right, bottom, height = 76, 600, 270, 220
    drawing.arrow([(left, bottom), (left, bottom - height - 24)])
    drawing.arrow([(left, bottom), (right + 20, bottom)])
    drawing.text(left + 12, bottom - height - 18, up, anchor="start", size=14)
    drawing.text(right + 16, bottom + 42, across, anchor="end", size=14)
    for x, says in ticks.items():
        here = left + x * (right - left)
        drawing.line([(here, bottom - 4), (here, bottom + 4)])
        drawing.text(here, bottom + 18, says, size=14)

    def level(y):
        return bottom - (y - low) / (top - low) * height

    for y, says in marks.items():
        here = level(y)
        drawing.line([(left - 4, here), (left + 4, here)])
        drawing.text(left - 10, here, says, size=14, anchor="end")
    places = {
        label: [(left + x * (right - left), level(y)) for x, y in points]
        for label, points in lines.items()
    }
    spots = beside(places)
    for i, label in enumerate(lines):
        colour = LINES[i % len(LINES)]
        drawing.line(places[label], colour, 2.5, dashed=i % 2 == 1, round=0)
        drawing.text(*spots[label], label, colour, bold=True)
    return drawing


def beside(places: Mapping[str, Sequence[tuple[float, float]]]) -> dict[str, tuple[float, float]]:
    """Where each curve's name stands: close above or below it, where the other curves and the names
    before it are farthest away.

    Args:
        places: for each name the corners of its curve.
    """
    paths = {label: drawn(corners) for label, corners in places.items()}
    spots: dict[str, tuple[float, float]] = {}
    for label, path in paths.items():
        half = 5.0 * len(label)  # of the name's width
        named = [
            drawn([(x - 5 * len(one), y), (x + 5 * len(one), y)]) for one, (x, y) in spots.items()
        ]
        others = np.concatenate([line for one, line in paths.items() if one != label] + named)

        def from_name(spot, points, half=half):
            aside = np.maximum(np.abs(points[:, 0] - spot[0]) - half, 0)
            return np.hypot(aside, points[:, 1] - spot[1]).min()

        tried = [
            (x, y + side)
            for x, y in path[len(path) // 10 : -len(path) // 10 : 6]
            for off in range(13, 31, 3)
            for side in (-off, off)
        ]
        free = [spot for spot in tried if 11 < from_name(spot, path) < 15] or tried
        best = max(free, key=lambda spot: min(from_name(spot, others), 60))
        spots[label] = (float(best[0]), float(best[1]))
    return spots


def drawn(corners: Sequence[tuple[float, float]]) -> np.ndarray:
    """Points along a line, four pixels apart or less: (points, 2)."""
    pieces = [
        np.linspace(a, b, 1 + math.ceil(math.dist(a, b) / 4), endpoint=False)
        for a, b in pairwise(corners)
    ]
    return np.concatenate([*pieces, [corners[-1]]])


def heads(
    name: str,
    tables: Mapping[str, Tensor],
    words: Sequence[str],
    caption: str = "Rows: who looks. Columns, in the same order: who is looked at.",
) -> Canvas:
    """Small maps of attention side by side, each under its letter: bars, no numbers."""
    n, cell = len(words), (30, 26)
    wide = n * cell[0] + 24
    left = 24 + 9 * max(map(len, words))
    said = ". ".join(
        f"Table {letter}: "
        + "; ".join(
            f"{word}: " + ", ".join(f"{w:.2f}" for w in line)
            for word, line in zip(words, table.tolist(), strict=True)
        )
        for letter, table in tables.items()
    )
    drawing = Canvas(
        f"exam_{name}",
        left + wide * len(tables) + 6,
        62 + 26 * n,
        f"{len(tables)} tables for {' '.join(words)}",
        f"{caption} Both in the order {', '.join(words)}. {said}.",
        caption,
    )
    empty = [[""] * n for _ in words]
    for k, (letter, table) in enumerate(tables.items()):
        x = left + k * wide
        drawing.text(x + n * cell[0] / 2, 22, letter, bold=True)
        drawing.matrix(
            x, 40, empty, cell, "value", shares=table.tolist(), rows=() if k else words,
            row_colour="query",
        )  # fmt: skip
    return drawing


def clocks(name: str, hands: Mapping[str, float]) -> Canvas:
    """A clock for each hand, degrees clockwise from twelve, with a stroke at every 22.5."""
    drawing = Canvas(
        f"exam_{name}",
        40 + 190 * len(hands),
        230,
        "The hands of a position's clocks",
        "Clocks with one hand each. "
        + "; ".join(f"{label}: {a:g} degrees clockwise from the top" for label, a in hands.items())
        + ".",
        "",
    )
    for k, (label, degrees) in enumerate(hands.items()):
        x, y, radius = 115 + 190 * k, 100, 76
        drawing.circle(x, y, radius, colour="position")
        for stroke in range(16):
            turn = math.radians(22.5 * stroke)
            inner = radius - (12 if stroke % 4 == 0 else 6)
            drawing.line(
                [(x + r * math.sin(turn), y - r * math.cos(turn)) for r in (inner, radius)],
                thick=1.5,
            )
        turn = math.radians(degrees)
        tip = (x + 60 * math.sin(turn), y - 60 * math.cos(turn))
        drawing.arrow([(x, y), tip], "ink", 3)
        drawing.text(x, 204, label, bold=True)
    return drawing


def block(name: str, sublayers: Sequence[Sequence[str]], skips: Sequence[str]) -> Canvas:
    """A block, read from left to right: boxes in a row, a plus behind each sublayer, a way around.

    Args:
        name: of the question.
        sublayers: for each its boxes; the plus is a box called "+".
        skips: for each sublayer where its way around begins: "stream" (before its first box),
            "norm" (behind its first box) or "none" (there is no way around).
    """
    begins = {
        "stream": "from before the first box to the plus",
        "norm": "from behind the first box to the plus",
        "none": "none",
    }
    shown = "; ".join(
        f"{', '.join(boxes)}, way around: {begins[skip]}"
        for boxes, skip in zip(sublayers, skips, strict=True)
    )
    drawing = Canvas(
        f"exam_{name}", 690, 170, "A block of an encoder, from left to right",
        f"Boxes in the order in which a word's vector runs through them: {shown}.", "",
    )  # fmt: skip
    x, y = 50, 110
    drawing.text(24, y, "*x*", size=18)
    for boxes, skip in zip(sublayers, skips, strict=True):
        start = x + 8
        for k, label in enumerate(boxes):
            if label == "+":
                drawing.arrow([(x - 6, y), (x + 20, y)])
                drawing.circle(x + 32, y, 12, "+", "residual")
                end, x = x + 32, x + 50
            else:
                wide = 84 if label == "norm" else 106
                drawing.arrow([(x - 6, y), (x + 20, y)])
                colour = "neutral" if label == "norm" else "encoder"
                drawing.box(x + 20, y - 22, wide, 44, label, colour)
                x += 26 + wide
                if k == 0 and skip == "norm":
                    start = x + 4
        if skip != "none":
            drawing.arrow([(start, y), (start, 40), (end, 40), (end, y - 14)], "residual", 2.5)
    drawing.arrow([(x - 6, y), (x + 26, y)])
    return drawing


def joined(word: str, merges: Sequence[tuple[str, str]]) -> tuple[list, list, list]:
    """A tree of merges, each applied wherever its pair stands, in their order.

    Returns:
        nodes: what is left at the top, (text, x, height).
        joins: (number of the merge, text, x, height).
        links: from a part to what it became part of, (x, height, x, height).
    """
    nodes = [(letter, 60.0 + 64 * i, 0) for i, letter in enumerate(word)]
    joins, links = [], []
    for number, pair in enumerate(merges, 1):
        i = 0
        while i < len(nodes) - 1:
            (a, xa, ha), (b, xb, hb) = nodes[i : i + 2]
            if (a, b) == pair:
                x, height = (xa + xb) / 2, max(ha, hb) + 1
                links += [(xa, ha, x, height), (xb, hb, x, height)]
                joins.append((number, a + b, x, height))
                nodes[i : i + 2] = [(a + b, x, height)]
            i += 1
    return nodes, joins, links


def merge_tree(name: str, word: str, merges: Sequence[tuple[str, str]]) -> Canvas:
    """How merges, applied in their order, build a word: letters below, joins numbered above."""
    _, joins, links = joined(word, merges)
    bottom = 62 * max(height for *_, height in joins) + 46
    drawing = Canvas(
        f"exam_{name}", 60 + 64 * len(word), bottom + 34, f"The merges that build {word}",
        f"The letters of {word} in a row; above them " + "; ".join(
            f"merge {n} joins {text}" for n, text, _, _ in joins) + ".", "",
    )  # fmt: skip
    for xa, ha, x, h in links:
        drawing.line([(xa, bottom - 62 * ha - 16), (x, bottom - 62 * h + 16)])
    for i, letter in enumerate(word):
        drawing.box(60 + 64 * i - 16, bottom - 16, 32, 32, letter, "key")
    for n, text, x, h in joins:
        wide = 46 + 9 * len(text)
        drawing.box(x - wide / 2, bottom - 62 * h - 16, wide, 32, f"{n}: {text}", "value")
    return drawing


def beam_tree(name: str, first: Mapping[str, float], then: Mapping[str, Mapping[str, float]],
              kept: Sequence[str] = ()) -> Canvas:  # fmt: skip
    """Two steps of a search: words with their probabilities; what is `kept` has a thick line.

    Args:
        name: of the question.
        first: the first words.
        then: for each of them the second words.
        kept: paths that survive, such as "A" or "A c".
    """
    said = "; ".join(
        f"{a} {p:g}, then " + ", ".join(f"{b} {q:g}" for b, q in then[a].items())
        for a, p in first.items()
    )
    leaves = sum(len(following) for following in then.values())
    drawing = Canvas(
        f"exam_{name}", 520, 40 + 44 * leaves, "A tree of two words with their probabilities",
        f"From the beginning: {said}." + (f" Kept: {', '.join(kept)}." if kept else ""), "",
    )  # fmt: skip
    drawing.text(24, drawing.height / 2, "BEGIN", anchor="start", size=14)
    y = 42
    for a, p in first.items():
        rows = [y + 44 * i for i in range(len(then[a]))]
        middle, y = sum(rows) / len(rows), rows[-1] + 44
        for path, start, end, share in [
            (a, (84, drawing.height / 2), (200, middle), p),
            *((f"{a} {b}", (262, middle), (400, row), q)
              for (b, q), row in zip(then[a].items(), rows, strict=True)),
        ]:  # fmt: skip
            alive = path in kept
            drawing.line([start, end], "prediction" if alive else "neutral", 4 if alive else 1.5)
            word = path.split()[-1]
            drawing.box(end[0], end[1] - 16, 62 + 20 * (" " in path), 32, f"{word}  {share:g}",
                        "prediction" if alive else "neutral", bold=alive)  # fmt: skip
    return drawing


def table(
    name: str,
    title: str,
    rows: Mapping[str, Sequence[str]],
    colours: Sequence[str] = (),
    columns: Sequence[str] = (),
    caption: str = "",
) -> Canvas:
    """A table with a name before each row; empty cells are to be filled in.

    Args:
        name, title, caption: of the drawing.
        rows: for each name its cells.
        colours: of the rows; empty: none.
        columns: what stands above them.
    """
    cells = [list(row) for row in rows.values()]
    n = len(cells[0])
    left = 34 + 8.2 * max(map(len, rows))
    wide = max(40, min(88, (570 - left) / n), 10 + 8.2 * max(len(c) for row in cells for c in row))
    said = "; ".join(
        f"{label}: " + ", ".join(cell or "empty" for cell in row) for label, row in rows.items()
    )
    top = 40 if columns else 18
    drawing = Canvas(
        f"exam_{name}", round(left + wide * n + 18), top + 34 * len(cells) + 18, title,
        f"A table of {len(cells)} rows. {said}.", caption,
    )  # fmt: skip
    drawing.matrix(
        left, top, cells, (wide, 34), [[c] * n for c in colours or ["neutral"] * len(cells)],
        rows=list(rows), columns=columns, lined=True,
    )  # fmt: skip
    return drawing
