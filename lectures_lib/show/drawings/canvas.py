"""What the drawings are made of: boxes, arrows, grids of cells, labels, brackets, written as SVG.

A canvas is measured in the pixels of a wide page; y grows downwards. Colours are names of the
palette (`palette.py`). In a label `*d*_{model}` gives an italic d with "model" below the line, and
`*W*^Q` a W with a Q above it.
"""

import html
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from lectures_lib.show.drawings import palette

__all__ = ["Canvas", "Grid"]

Number = int | float
Point = tuple[Number, Number]

SMALLEST = 12.0  # pixels: no text is set smaller, and no drawing is shrunk further than that
SIZE = 15.0  # of a label, unless it says otherwise
PIECE = re.compile(
    r"(?<=[*}])([_^])(?:\{([^}]*)\}|(.))|\*([^*]+)\*"
)  # below and above the line only behind an italic: split_heads is a name

STYLE = """\
svg.drawing{display:block;margin:0;width:100%;height:auto}
svg.drawing text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans",Arial,sans-serif;\
font-variant-numeric:tabular-nums}
svg.drawing .math{font-family:KaTeX_Math,"Latin Modern Math",Cambria,Georgia,"DejaVu Serif",serif;font-style:italic}
svg.drawing .bold{font-weight:650}
figure.drawing{margin:1.6rem 0 2rem}
figure.drawing .scroll{overflow-x:auto}
figure.drawing figcaption{font-size:.9rem;line-height:1.45;margin-top:.6rem;text-align:left}
"""


@dataclass(frozen=True)
class Grid:
    """Where a matrix was drawn, so that arrows and labels find its edges and cells."""

    x: Number
    y: Number
    rows: int
    columns: int
    cell: Point

    @property
    def width(self) -> Number:
        """From the left edge to the right one."""
        return self.columns * self.cell[0]

    @property
    def height(self) -> Number:
        """From the top edge to the bottom."""
        return self.rows * self.cell[1]

    @property
    def right(self) -> Number:
        """The right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> Number:
        """The lower edge."""
        return self.y + self.height

    @property
    def middle(self) -> Point:
        """The centre."""
        return self.x + self.width / 2, self.y + self.height / 2

    def centre(self, row: int, column: int) -> Point:
        """The centre of one cell."""
        return self.x + (column + 0.5) * self.cell[0], self.y + (row + 0.5) * self.cell[1]


@dataclass
class Canvas:
    """A sheet to draw on.

    Args:
        name: of the drawing; its title, for those who hear it, is `title`, and all that it shows is
            said in `description`.
        width, height: in pixels.
        caption: what stands below it on the page.
    """

    name: str
    width: Number
    height: Number
    title: str
    description: str
    caption: str
    parts: list[str] = field(default_factory=list)
    used: dict[str, None] = field(default_factory=dict)
    smallest: Number = SIZE

    def __post_init__(self):
        self._rect(
            0.5, 0.5, self.width - 1, self.height - 1, "paper", "neutral", radius=12, thick=1
        )

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
            f"{kind}{side}>{_spans(text, size)}</text>"
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
        radius: Number = 7,
        dashed: bool = False,
        note: str = "",
    ) -> None:
        """A box with rounded corners and a text, or several lines of it, in its middle; below that,
        a note in smaller ones.
        """
        self._rect(x, y, width, height, colour, colour, radius, soft=True, dashed=dashed)
        texts = [text] if isinstance(text, str) else list(text)
        middle = y + height / 2 - (10 if note else 0)
        if any(texts):
            self.lines(x + width / 2, middle, texts, step=1.3 * size, bold=bold, size=size)
        if note:
            self.text(x + width / 2, middle + 21, note, size=14)

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
        kind = f"f-{self._use(colour)} s-{colour}"
        self.parts.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" class="{kind}" stroke-width="1.5"/>'
        )
        if text:
            self.text(x, y, text, size=size, bold=True)

    def line(
        self,
        points: Sequence[Point],
        colour: str = "neutral",
        thick: Number = 2,
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
        thick: Number = 2,
        dashed: bool = False,
        round: Number = 10,
    ) -> None:
        """A line through the points with a head at its end."""
        (x, y), (fx, fy) = points[-1], points[-2]
        length = 7 + 1.6 * thick
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

    # Matrices

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
    ) -> Grid:
        """A matrix as a grid of cells.

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
        """
        grid = Grid(x, y, len(values), len(values[0]), cell)
        wide, high = cell
        for i, row in enumerate(values):
            for j, text in enumerate(row):
                name = (
                    "mask"
                    if hidden and hidden[i][j]
                    else colour
                    if isinstance(colour, str)
                    else colour[i][j]
                )
                self._rect(
                    x + j * wide, y + i * high, wide, high, name, name, radius=0, soft=True, thick=1
                )
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

    # The whole

    def svg(self) -> str:
        """The drawing as SVG that carries its own style, and needs no id: any number of them fit on
        one page.
        """
        scope = f"svg.drawing.d-{self.name}"
        names = list(self.used)
        light = f"{scope}{{{palette.variables(names, 'light')}max-width:{self.width:g}px;min-width:{self.narrowest:.0f}px}}\n"
        dark = (
            f"@media "
            f"screen{{{','.join(f'{theme} {scope}' for theme in palette.DARK)}{{{palette.variables(names, 'dark')}}}}}\n"
        )
        body = "\n".join(self.parts)
        view = f'viewBox="0 0 {self.width:g} {self.height:g}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing d-{self.name}" {view} '
            f'role="img">\n'
            f"<title>{html.escape(self.title)}</title>\n<desc>{html.escape(self.description)}</desc>\n"
            f"<style>\n{STYLE}{light}{dark}{self._classes(body)}</style>\n{body}\n</svg>"
        )

    @property
    def narrowest(self) -> Number:
        """The width at which the smallest text still has twelve pixels; on a narrower page the
        figure scrolls.
        """
        return self.width * SMALLEST / self.smallest

    def _repr_html_(self) -> str:
        """What a notebook shows: the drawing, which scrolls inside itself on a narrow page, and its
        caption.
        """
        label = html.escape(self.title, quote=True)
        return (
            f'<figure class="picture drawing">\n<div class="scroll" role="group" tabindex="0" '
            f'aria-label="{label}">\n{self.svg()}\n</div>\n'
            f"<figcaption>{html.escape(self.caption)}</figcaption>\n</figure>"
        )

    def __repr__(self) -> str:
        return f"Drawing {self.name}: {self.title}"

    def _classes(self, body: str) -> str:
        rules = {
            "t": "fill:var(--c-{})",
            "l": "fill:var(--c-{})",
            "f": "fill:var(--c-{}-soft)",
            "s": "stroke:var(--c-{})",
        }
        found = {
            (kind, name)
            for text in re.findall('class="([^"]*)"', body)
            for kind, name in re.findall(r"\b([tlfs])-(\w+)", text)
        }
        return "".join(
            f"svg.drawing .{kind}-{name}{{{rules[kind].format(name)}}}\n"
            for kind, name in sorted(found)
        )

    def _use(self, colour: str) -> str:
        palette.colour(colour)  # raises for a name that is not in it
        self.used[colour] = None
        return colour

    def _rect(
        self,
        x: Number,
        y: Number,
        width: Number,
        height: Number,
        fill: str,
        stroke: str,
        radius: Number = 0,
        soft: bool = True,
        thick: Number = 1.5,
        dashed: bool = False,
    ) -> None:
        kind = (
            f'class="{"f" if soft else "l"}-{self._use(fill)} s-{self._use(stroke)}" '
            f'stroke-width="{thick:g}"'
        )
        corner = f' rx="{radius:g}"' if radius else ""
        dash = ' stroke-dasharray="6 4"' if dashed else ""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"{corner} '
            f"{kind}{dash}/>"
        )

    def _path(self, path: str, colour: str, thick: Number, dashed: bool = False) -> None:
        dash = ' stroke-dasharray="6 5"' if dashed else ""
        self.parts.append(
            f'<path d="{path}" class="s-{self._use(colour)}" fill="none" '
            f'stroke-width="{thick:g}"{dash}/>'
        )

    def _hatch(self, x: Number, y: Number, width: Number, height: Number) -> None:
        strokes, gap = [], 9
        # lines from the upper edge down to the left
        for start in range(gap, int(width + height), gap):
            ax, ay = (start, 0) if start <= width else (width, start - width)
            bx, by = (0, start) if start <= height else (start - height, height)
            strokes.append(f"M{x + ax:g} {y + ay:g}L{x + bx:g} {y + by:g}")
        self._path("".join(strokes), "mask", 1)


def _spans(text: str, size: Number) -> str:
    """The text with its italics, and what stands below and above the line, as SVG's tspans."""
    made, back = [], 0.0
    for piece, shift, kind in _pieces(text, size):
        move, back = shift - back, shift
        small = f' font-size="{max(SMALLEST, 0.75 * size):g}"' if shift else ""
        lift = f' dy="{move:.4g}"' if move else ""
        piece = html.escape(piece, quote=False)
        made.append(f"<tspan{lift}{small}{kind}>{piece}</tspan>" if move or kind else piece)
    return "".join(made)


def _pieces(text: str, size: Number) -> list[tuple[str, Number, str]]:
    """The text in pieces: each with its shift below the line and its tspan's class."""
    made, at = [], 0
    for found in PIECE.finditer(text):
        if found.start() > at:
            made.append((text[at : found.start()], 0.0, ""))
        shift = {"_": 0.28 * size, "^": -0.38 * size}.get(found[1], 0.0)
        made.append((found[4] or found[2] or found[3], shift, ' class="math"'))
        at = found.end()
    if at < len(text):
        made.append((text[at:], 0.0, ""))
    return made


def _towards(start: Point, end: Point, length: Number) -> Point:
    """The point on the way from start to end, `length` from the start, at most half of the way."""
    (ax, ay), (bx, by) = start, end
    way = math.hypot(bx - ax, by - ay) or 1.0
    share = min(length, way / 2) / way
    return ax + (bx - ax) * share, ay + (by - ay) * share
