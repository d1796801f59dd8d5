"""What the drawings are made of: boxes, arrows, grids of cells, labels, brackets.

A canvas is measured in the pixels of a wide page; y grows downwards. Colours are names of the
palette (`palette.py`); how labels are written: `label.py`.
"""

import math
from collections.abc import Sequence

from lectures_lib.show import palette
from lectures_lib.show.drawings.grid import Grid, Number, Point
from lectures_lib.show.drawings.label import SIZE, SMALLEST, spans
from lectures_lib.show.drawings.picture import data_address
from lectures_lib.show.drawings.sheet import Sheet

THICK = 1.75  # of a line, unless it says otherwise
# The ground of a cell without a colour of its own; a box's is too pale without an outline.
CELL = "residual"


class Canvas(Sheet):
    """A sheet to draw on. Its arguments are the sheet's."""

    # Text

    def text(
        self,
        x: Number,
        y: Number,
        text: str,
        colour: str = "ink",
        size: Number = SIZE,
        anchor: str = "middle",
        bold: bool = False,
    ) -> None:
        """A line of text whose middle is at height y; anchor "start", "middle" or "end" says which
        of its ends stands at x.

        Raises:
            ValueError: for text smaller than can be read.
        """
        if size < SMALLEST:
            raise ValueError(
                f"text of {size} pixels is too small to read; the smallest is {SMALLEST}"
            )
        self.smallest = min(self.smallest, size)
        kind = f'class="t-{self._use(colour)}{" bold" if bold else ""}"'
        side = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self.parts.append(
            f'<text x="{x:g}" y="{y + 0.35 * size:g}" font-size="{size:g}" '
            f"{kind}{side}>{spans(text, size)}</text>"
        )

    def lines(
        self, x: Number, y: Number, texts: Sequence[str], step: Number = 20, **options
    ) -> None:
        """Several lines of text below each other, the block's middle at height y."""
        for i, text in enumerate(texts):
            self.text(x, y + (i - (len(texts) - 1) / 2) * step, text, **options)

    def step(self, x: Number, y: Number, number: int, text: str) -> None:
        """A numbered heading: the number in a disc whose left edge stands at x, the text behind
        it.
        """
        self.circle(x + 12, y, 12, str(number), "neutral", size=14)
        self.text(x + 32, y, text, bold=True, anchor="start", size=16)

    # Shapes

    def box(
        self,
        x: Number,
        y: Number,
        width: Number,
        height: Number,
        text: str | Sequence[str] = "",
        colour: str = "neutral",
        bold: bool = False,
        size: Number = SIZE,
        radius: Number = 8,
        dashed: bool = False,
        note: str = "",
    ) -> None:
        """A box with rounded corners and a text, or several lines of it, in its middle; below that,
        a note in smaller ones.
        """
        outline = self._edge(colour, dashed)
        self._rect(x, y, width, height, colour, outline, radius, dashed=dashed)
        texts = [text] if isinstance(text, str) else list(text)
        middle = y + height / 2 - (10 if note else 0)
        if any(texts):
            self.lines(x + width / 2, middle, texts, step=1.3 * size, bold=bold, size=size)
        if note:
            self.text(x + width / 2, middle + 21, note, size=14)

    def ground(
        self,
        x: Number,
        y: Number,
        width: Number,
        height: Number,
        colour: str,
        radius: Number = 0,
        deep: bool = False,
    ) -> None:
        """A box without an outline or a text; deep: one that is seen on its own soft ground."""
        place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}"'
        kind = f"{'d' if deep else 'f'}-{self._use(colour)}"
        self.parts.append(f'<rect {place} class="{kind}"/>')

    def frame(
        self,
        x: Number,
        y: Number,
        width: Number,
        height: Number,
        colour: str = "ink",
        thick: Number = 2.5,
        radius: Number = 3,
    ) -> None:
        """An empty frame around something that is to be looked at."""
        place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}"'
        self.parts.append(
            f'<rect {place} class="s-{self._use(colour)}" fill="none" stroke-width="{thick:g}"/>'
        )

    def circle(
        self,
        x: Number,
        y: Number,
        radius: Number,
        text: str = "",
        colour: str = "neutral",
        size: Number = SIZE,
    ) -> None:
        """A disc with a sign in it."""
        kind = f"f-{self._use(colour)} {self._edge(colour)}"
        self.parts.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" class="{kind}" stroke-width="1.5"/>'
        )
        if text:
            self.text(x, y, text, size=size, bold=True)

    def line(
        self,
        points: Sequence[Point],
        colour: str = "neutral",
        thick: Number = THICK,
        dashed: bool = False,
        round: Number = 10,
    ) -> None:
        """A line through the points, its corners rounded."""
        first, *inner = points
        path = [f"M{first[0]:.4g} {first[1]:.4g}"]
        for before, here, after in zip(points, inner, inner[1:], strict=False):
            (ax, ay), (bx, by) = _towards(here, before, round), _towards(here, after, round)
            path.append(f"L{ax:.4g} {ay:.4g}Q{here[0]:.4g} {here[1]:.4g} {bx:.4g} {by:.4g}")
        path.append(f"L{points[-1][0]:.4g} {points[-1][1]:.4g}")
        self._path("".join(path), colour, thick, dashed)

    def arrow(
        self,
        points: Sequence[Point],
        colour: str = "neutral",
        thick: Number = THICK,
        dashed: bool = False,
        round: Number = 10,
    ) -> None:
        """A line through the points with a head at its end."""
        (x, y), (fx, fy) = points[-1], points[-2]
        length = 6 + 1.4 * thick
        angle = math.atan2(y - fy, x - fx)
        neck = (x - 0.8 * length * math.cos(angle), y - 0.8 * length * math.sin(angle))
        self.line([*points[:-1], neck], colour, thick, dashed, round)
        wings = [
            (x + length * math.cos(angle + turn), y + length * math.sin(angle + turn))
            for turn in (math.pi - 0.45, math.pi + 0.45)
        ]
        corners = " ".join(f"{a:.4g},{b:.4g}" for a, b in [(x, y), *wings])
        self.parts.append(f'<polygon points="{corners}" class="l-{self._use(colour)}"/>')

    def arc(
        self,
        x: Number,
        y: Number,
        radius: Number,
        begin: Number,
        end: Number,
        colour: str = "neutral",
        thick: Number = 2,
    ) -> None:
        """Part of a circle with an arrow's head, whose tip is at the end; angles in radians,
        clockwise from twelve.
        """
        head = min(11 / radius, 0.5 * (end - begin))
        wing = 0.45 * head * radius
        a, b = (
            (x + radius * math.sin(t), y - radius * math.cos(t)) for t in (begin, end - 0.8 * head)
        )
        large = int(end - begin > math.pi)
        self._path(
            f"M{a[0]:.4g} {a[1]:.4g}A{radius:g} {radius:g} 0 {large} 1 {b[0]:.4g} {b[1]:.4g}",
            colour,
            thick,
        )
        heads = [(radius - wing, end - head), (radius + wing, end - head), (radius, end)]
        corners = " ".join(f"{x + r * math.sin(t):.4g},{y - r * math.cos(t):.4g}" for r, t in heads)
        self.parts.append(f'<polygon points="{corners}" class="l-{self._use(colour)}"/>')

    def bracket(
        self,
        x: Number,
        y: Number,
        length: Number,
        text: str,
        side: str = "bottom",
        colour: str = "ink",
        size: Number = 14,
    ) -> None:
        """A bracket along something, with a text beyond it.

        Args:
            x, y: where it begins; "bottom" and "top" run to the right from there, "left" and
                "right" down.
            length: how far it runs.
            text: what stands beyond it.
            side: on which side of the thing it stands.
            colour, size: of the text, and the colour of the bracket.
        """
        depth = {"bottom": 6, "right": 6, "top": -6, "left": -6}[side]
        if side in ("bottom", "top"):
            self.line(
                [(x, y), (x, y + depth), (x + length, y + depth), (x + length, y)],
                colour,
                1.5,
                round=4,
            )
            self.text(x + length / 2, y + 3 * depth, text, size=size, colour=colour)
        else:
            self.line(
                [(x, y), (x + depth, y), (x + depth, y + length), (x, y + length)],
                colour,
                1.5,
                round=4,
            )
            anchor = "start" if side == "right" else "end"
            self.text(
                x + 2.2 * depth, y + length / 2, text, size=size, colour=colour, anchor=anchor
            )

    def shape(self, path: str, colour: str, soft: bool = False) -> None:
        """What an SVG path encloses, filled with its colour; soft: with the ground that is read on,
        and its edge.
        """
        name = self._use(colour)
        soft_kind = f'class="f-{name} {self._edge(colour)}" stroke-width="1.5"'
        kind = soft_kind if soft else f'class="l-{name}"'
        self.parts.append(f'<path d="{path}" {kind}/>')

    # Matrices

    def picture(
        self, x: Number, y: Number, width: Number, greys: Sequence[Sequence[Number]]
    ) -> Grid:
        """Greys from 0, the paper, to 1, ink, as a picture of that width. In the dark scheme the
        paper is dark and the ink light.
        """
        cell = width / len(greys[0])
        grid = Grid(x, y, len(greys), len(greys[0]), (cell, cell))
        place = f'x="{x:g}" y="{y:g}" width="{grid.width:g}" height="{grid.height:g}"'
        address = data_address(greys)
        self.parts.append(f'<image {place} image-rendering="pixelated" href="{address}"/>')
        return grid

    def matrix(
        self,
        x: Number,
        y: Number,
        values: Sequence[Sequence[str]],
        cell: Point = (44, 30),
        colour: str | Sequence[Sequence[str]] = "neutral",
        shape: str = "",
        rows: Sequence[str] = (),
        columns: Sequence[str] = (),
        row_colour: str = "ink",
        column_colour: str = "ink",
        hidden: Sequence[Sequence[bool]] | None = None,
        shares: Sequence[Sequence[Number]] | None = None,
        size: Number = 14,
        lined: bool = False,
    ) -> Grid:
        """A matrix as a grid of cells, with paper between them; those without a colour of their own
        are grey, and those without a text deeper.

        Args:
            x, y: its upper left corner.
            values: the text of each cell, "" for none.
            cell: a cell's width and height.
            colour: of all cells, or of each.
            shape: written below, such as "n × *d*_k".
            rows, columns: labels at the left and above.
            hidden: which cells are hatched, as a mask hides them.
            shares: 0 to 1 for each cell: a bar at its foot shows it.
            size: of the text.
            lined: lines between the cells in place of paper: for a table to be filled in, on any
                copier.
        """
        grid = Grid(x, y, len(values), len(values[0]), cell)
        wide, high = cell
        parted = {"stroke": "s-paper"}
        if lined:
            parted = {"stroke": f"s-{self._use('neutral')}", "thick": 1}
        for i, row in enumerate(values):
            for j, text in enumerate(row):
                name = (
                    "mask"
                    if hidden and hidden[i][j]
                    else colour
                    if isinstance(colour, str)
                    else colour[i][j]
                )
                ground = CELL if name == "neutral" else name
                deep = not text and "deep" in palette.PALETTE[name]["light"]
                place = (x + j * wide, y + i * high, wide, high)
                self._rect(*place, ground, deep=deep, **parted)
                if hidden and hidden[i][j] and not text:
                    self._hatch(x + j * wide, y + i * high, wide, high)
                if shares and shares[i][j] > 0.004:
                    bar = (
                        f'x="{x + j * wide + 3:g}" y="{y + (i + 1) * high - 6:g}" '
                        f'width="{shares[i][j] * (wide - 6):.2f}" height="4"'
                    )
                    self.parts.append(f'<rect {bar} class="l-{self._use(name)}"/>')
                if text:
                    self.text(
                        x + (j + 0.5) * wide,
                        y + (i + 0.5) * high - (2 if shares else 0),
                        text,
                        size=size,
                    )
        for i, label in enumerate(rows):
            self.text(x - 9, y + (i + 0.5) * high, label, row_colour, anchor="end", size=size)
        for j, label in enumerate(columns):
            self.text(x + (j + 0.5) * wide, y - 12, label, column_colour, size=size)
        if shape:
            self.text(x + grid.width / 2, grid.bottom + 17, shape, "neutral", size=14)
        return grid

    def _hatch(self, x: Number, y: Number, width: Number, height: Number) -> None:
        strokes, gap = [], 9
        # lines from the upper edge down to the left
        for start in range(gap, int(width + height), gap):
            ax, ay = (start, 0) if start <= width else (width, start - width)
            bx, by = (0, start) if start <= height else (start - height, height)
            strokes.append(f"M{x + ax:g} {y + ay:g}L{x + bx:g} {y + by:g}")
        self._path("".join(strokes), "mask", 1)


def _towards(start: Point, end: Point, length: Number) -> Point:
    """The point on the way from start to end, `length` from the start, at most half of the way."""
    (ax, ay), (bx, by) = start, end
    way = math.hypot(bx - ax, by - ay) or 1.0
    share = min(length, way / 2) / way
    return ax + (bx - ax) * share, ay + (by - ay) * share
