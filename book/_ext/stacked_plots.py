"""A figure whose panels stand side by side and are too wide for a telephone gets a second layout:
the same panels, one below the other or two and two. `plots_in_both_themes` shows the one that fits.

The figure is taken as matplotlib has written it: each panel is a group of its own, which is moved
as it is. Panels that shared the numbers of their vertical axis get a copy of them where they begin
a row. Words are measured in matplotlib's font, which is wider than the pages' own.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from matplotlib.transforms import Affine2D, Bbox

HEADER = re.compile(r'width="[\d.]+pt" height="[\d.]+pt" viewBox="[^"]*"')
GROUP = re.compile(r'^  <g id="(axes|legend|text)_\d+">\n(.*?)^  </g>\n', re.MULTILINE | re.DOTALL)
GROUND = re.compile(r'(<g id="patch_1">\s*<path d=")[^"]*(")')
PATCH = re.compile(r'  <g id="axes_\d+">\s*<g id="patch_\d+">\s*<path d="([^"]*)"')
CLIPPED = re.compile(r'clip-path="url\(#(\w+)\)"')
SCALE = re.compile(r'^   <g id="matplotlib\.axis_\d+">\n.*?^   </g>\n', re.MULTILINE | re.DOTALL)
LETTERS = re.compile(r'^( +)<g id="text_\d+">\n.*?^\1</g>\n', re.MULTILINE | re.DOTALL)
STEP = re.compile(r"(translate|rotate|scale|matrix)\(([^)]*)\)")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
SIZE = re.compile(r"font-size: ([\d.]+)px")
ANCHOR = re.compile(r"text-anchor: (\w+)")
NAMESPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
PAD = 7.2  # points around a figure, as matplotlib leaves
BETWEEN = 10  # points between two rows
OVERLAP = 2  # points that two panels side by side may share, by our measure of their words
THIN = 0.1  # of the figure's width: a narrower panel is a colour bar and stays with its map
TICK = 3.5  # points
TITLE = 8  # points above a panel: something is written there


@dataclass(frozen=True)
class Piece:
    """A panel, a legend or a title of the figure: its markup, and the place it takes, in points."""

    kind: str
    text: str
    box: Bbox
    frame: Bbox  # of a panel, without what is written around it


def stacked(svg: str, least_width: Callable[[str], int], room: int) -> str | None:
    """The figure with its panels in as few rows as let every word be read in `room` pixels; None
    where it has one column, or would be too wide still.
    """
    columns, others = columns_of(pieces_of(svg))
    bands = bands_of(columns)
    for rows in range(2, len(columns) + 1):
        packed = [row for band in bands for row in packed_in(band, rows)]
        drawn = drawing(svg, packed, others)
        if least_width(drawn) <= room:
            return drawn
    return None


def side_by_side(svg: str) -> int:
    """How many panels stand side by side."""
    return len(columns_of(pieces_of(svg))[0])


def pieces_of(svg: str) -> list[Piece]:
    """What stands on the figure."""
    pieces = []
    for found in GROUP.finditer(svg):
        root = ET.fromstring(f"<g {NAMESPACES}>{found[0]}</g>")
        box = Bbox.union(list(boxes(root, Affine2D())))
        frame = frame_of(found[0], svg) if found[1] == "axes" else None
        if frame is not None:
            box = Bbox.union([box, frame])
        pieces.append(Piece(found[1], found[0], box, frame or box))
    return pieces


def frame_of(panel: str, svg: str) -> Bbox | None:
    """The rectangle in which a panel's curves and squares stand: its ground or, where its axes are
    switched off, what its parts are clipped to.
    """
    if ground := PATCH.match(panel):
        return outline(ground[1], Affine2D())
    if clipped := CLIPPED.search(panel):
        shape = re.search(rf'<clipPath id="{clipped[1]}">\s*<rect ([^>]*)/>', svg)[1]
        x, y, width, height = (
            float(re.search(rf'\b{name}="([^"]*)"', shape)[1])
            for name in ("x", "y", "width", "height")
        )
        return Bbox.from_bounds(x, y, width, height)
    return None


def columns_of(pieces: list[Piece]) -> tuple[list[list[Piece]], list[Piece]]:
    """Panels that stand above each other, from left to right; and what is no panel."""
    panels = sorted((one for one in pieces if one.kind == "axes"), key=lambda one: one.box.x0)
    width = max((one.box.x1 for one in panels), default=0)
    columns: list[list[Piece]] = []
    for panel in panels:
        reached = max((one.box.x1 for one in columns[-1]), default=0) if columns else 0
        thin = panel.frame.width < THIN * width
        if columns and (panel.box.x0 < reached - OVERLAP or thin):
            columns[-1].append(panel)
        else:
            columns.append([panel])
    return columns, [one for one in pieces if one.kind != "axes"]


def bands_of(columns: list[list[Piece]]) -> list[list[list[Piece]]]:
    """Panels that all have a title are read line by line, each line as columns of one panel; where
    only the upper ones have, what stands below them belongs to them: one line of all columns.
    """
    panels = [one for column in columns for one in column]
    lines: list[list[Piece]] = []
    for panel in sorted(panels, key=lambda one: (round(one.frame.y0), one.frame.x0)):
        if lines and panel.frame.y0 < lines[-1][0].frame.y1:
            lines[-1].append(panel)
        else:
            lines.append([panel])
    titled = all(one.frame.y0 - one.box.y0 > TITLE for line in lines[1:] for one in line)
    return [columns_of(line)[0] for line in lines] if titled else [columns]


def packed_in(columns: list[list[Piece]], rows: int) -> list[list[list[Piece]]]:
    """So many rows of columns, the longer ones first."""
    least, more = divmod(len(columns), rows)
    packed, at = [], 0
    for row in range(rows):
        take = least + (row < more)
        packed.append(columns[at : at + take])
        at += take
    return packed


def drawing(svg: str, rows: list[list[list[Piece]]], others: list[Piece]) -> str:
    """The figure in this layout: titles, rows, legends."""
    top = min(one.frame.y0 for row in rows for column in row for one in column)
    above = [one for one in others if one.box.y1 <= top]
    below = [one for one in others if one.box.y1 > top]
    everyone = [panel for row in rows for column in row for panel in column]
    lined = [
        [with_numbers(one, everyone) for one in row[0]]
        + [one for column in row[1:] for one in column]
        for row in rows
    ]
    spine = max(row[0].frame.x0 - min(one.box.x0 for one in row) for row in lined)
    placed, y, right = [], PAD, 0.0
    lines = [*([one] for one in above), *lined, *([one] for one in below)]
    for line in lines:
        box = Bbox.union([one.box for one in line])
        begin = line[0].frame.x0 - spine if line[0].kind == "axes" else box.x0
        dx = PAD - begin
        placed += [moved(one.text, dx, y - box.y0) for one in line]
        right = max(right, box.x1 + dx)
        y += box.height + BETWEEN
    width, height = right + PAD, y - BETWEEN + PAD
    sized = HEADER.sub(
        f'width="{width:g}pt" height="{height:g}pt" viewBox="0 0 {width:g} {height:g}"',
        svg,
        count=1,
    )
    sheet = f"M 0 {height:g} L {width:g} {height:g} L {width:g} 0 L 0 0 z"
    sized = GROUND.sub(rf"\g<1>{sheet}\g<2>", sized, count=1)
    begin = GROUP.search(sized).start()
    return sized[:begin] + "".join(placed) + GROUP.sub("", sized[begin:])


def moved(text: str, dx: float, dy: float) -> str:
    """A group at another place."""
    return f'  <g transform="translate({dx:g} {dy:g})">\n{text}  </g>\n'


def with_numbers(panel: Piece, panels: list[Piece]) -> Piece:
    """A panel that begins a row and has ticks without words at its vertical axis gets the words of
    a panel that stood beside it and is as high: matplotlib leaves out only what both share
    (`sharey`). A panel without ticks may have any scale, and gets none.
    """
    mine = vertical(panel)
    if "<text" in mine or 'id="ytick_' not in mine:
        return panel
    beside = [one for one in panels if "<text" in vertical(one) and as_high(one, panel)]
    if not beside:
        return panel
    dx = panel.frame.x0 - beside[0].frame.x0
    words = "".join(found[0] for found in LETTERS.finditer(vertical(beside[0])))
    words = re.sub(r' id="[^"]*"', "", words)
    end = panel.text.rindex("  </g>")
    text = f'{panel.text[:end]}<g transform="translate({dx:g} 0)">\n{words}</g>\n{panel.text[end:]}'
    left = min(panel.box.x0, beside[0].box.x0 + dx)
    box = Bbox.from_extents(left, panel.box.y0, panel.box.x1, panel.box.y1)
    return replace(panel, text=text, box=box)


def vertical(panel: Piece) -> str:
    """The markup of a panel's vertical axis, ticks and words."""
    axes = SCALE.findall(panel.text)
    return axes[1] if len(axes) > 1 else ""


def as_high(one: Piece, other: Piece) -> bool:
    """Whether two panels begin and end at the same height."""
    return abs(one.frame.y0 - other.frame.y0) < 0.1 and abs(one.frame.y1 - other.frame.y1) < 0.1


def boxes(element: ET.Element, place: Affine2D) -> Iterator[Bbox]:
    """The places that an element's parts take. What is clipped stays inside its panel."""
    tag = element.tag.rpartition("}")[2]
    if "clip-path" in element.attrib or tag == "defs":
        return
    place = affine(element.get("transform", "")) + place
    if tag == "path":
        yield outline(element.get("d"), place)
    elif tag == "use":
        x, y = (float(element.get(name, 0)) for name in "xy")
        yield around([(x - TICK, y - TICK), (x + TICK, y + TICK)], place)
    elif tag == "text":
        yield from words(element, place)
    else:
        for child in element:
            yield from boxes(child, place)


def outline(path: str, place: Affine2D) -> Bbox:
    """The box around a path's points."""
    numbers = [float(number) for number in NUMBER.findall(path)]
    return around(list(zip(numbers[::2], numbers[1::2], strict=True)), place)


def around(points: list[tuple[float, float]], place: Affine2D) -> Bbox:
    """The upright box around points, or around two corners' box, at their place on the figure."""
    if len(points) == 2:
        (x0, y0), (x1, y1) = points
        points = [(x0, y0), (x1, y0), (x0, y1), (x1, y1)]
    moved_points = place.transform(points)
    return Bbox([moved_points.min(axis=0), moved_points.max(axis=0)])


def words(text: ET.Element, place: Affine2D) -> Iterator[Bbox]:
    """The place of a text, or of each part of a formula."""
    for part in [text, *text]:
        said = (part.text or "").strip()
        if not said:
            continue
        style = part.get("style", "") + text.get("style", "")
        size = float(SIZE.search(style)[1])
        xs = [float(x) for x in part.get("x", "0").split()]
        y = float(part.get("y", "0").split()[0])
        wide = width_of(said[-1] if len(xs) > 1 else said, size)
        anchor = ANCHOR.search(style)
        share = {"middle": 0.5, "end": 1.0}.get(anchor[1] if anchor else "start", 0.0)
        left = xs[0] - share * wide
        right = xs[-1] + (1 - share) * wide
        yield around([(left, y - 0.8 * size), (right, y + 0.25 * size)], place)


@cache
def width_of(text: str, size: float) -> float:
    """The width of a line in matplotlib's font."""
    font = FontProperties(family="DejaVu Sans", size=size)
    return text_to_path.get_text_width_height_descent(text, font, ismath=False)[0]


def affine(transform: str) -> Affine2D:
    """What an SVG's attribute `transform` does; the step that is written last comes first."""
    made = Affine2D()
    for kind, numbers in STEP.findall(transform):
        values = [float(number) for number in NUMBER.findall(numbers)]
        step = Affine2D()
        if kind == "rotate":
            step.rotate_deg_around(*(values[1:] or (0, 0)), values[0])
        elif kind == "matrix":
            step = Affine2D.from_values(*values)
        elif kind == "scale":
            step.scale(*values)
        else:
            step.translate(*(values if len(values) == 2 else (*values, 0)))
        made = step + made
    return made
