"""A measured figure, drawn by matplotlib as an SVG on white, is shown in the reader's own theme.

The site gets two files of it, one with the colours of the light theme and one with those of the
dark (`lectures_lib.show.plots.in_the_dark`), and the style sheet shows one of them. Both are images
that are fetched when they come near the screen, so that the picture which is not shown costs
nothing. Their letters stay letters, in the page's own typeface, which each file brings for the few
that it writes (`typefaces`).

A figure shrinks with the page until its smallest word has `READABLE` pixels; on a narrower page its
panels stand below each other (`stacked_plots`), and a single one is pressed together
(`squeezed_plots`). What cannot be scrolls sideways in a box of its own. The exponents of a
logarithmic axis, which matplotlib sets in 70 % of its size, are drawn so large that they have as
many there.
"""

import html
import math
import re
from collections.abc import Callable
from pathlib import Path

import heat_maps
import typefaces
from docutils import nodes
from kept import result
from sphinx.application import Sphinx
from squeezed_plots import JOINT, squeezed
from stacked_plots import side_by_side, stacked

from lectures_lib.show import plots
from lectures_lib.show.palette import colour
from lectures_lib.show.plots import (
    BLUE,
    COLOUR,
    DARK,
    GREY,
    GROUND,
    PAPER,
    RED,
    in_the_dark,
    legible,
)

POINTS = re.compile(r'<svg[^>]*? width="([\d.]+)pt" height="([\d.]+)pt"')
METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
FONTS = re.compile(r"'DejaVu Sans'(?:(?:, (?:'[^']*'|[\w-]+))*, sans-serif)?(?=[;\"])")
TEXT = re.compile(r"<text\b.*?</text>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")
HEAVY = re.compile(r"font(?:-weight)?: (?:bold|[67]00)")  # in any of its parts
SIZE = re.compile(r"font-size: ([\d.]+)px")
VIEW = re.compile(r'viewBox="0 0 ([\d.]+) ')
WHITE_TEXT = re.compile(r"<text\b[^>]*fill: (?:#ffffff|white)\b", re.IGNORECASE)
SHAPE = re.compile(r"<(?:path|rect|use)\b[^>]*>")
# an SVG that is an image knows nothing of the page's style sheet
PAGE_FONTS = "Figtree, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', Arial, sans-serif"
READABLE = 8  # pixels of the page: a figure's smallest word is shown no smaller
SMALL = 344  # pixels of the page on a telephone that is 360 wide
PHONE = 374  # pixels of the page: what a figure has on a telephone that is 390 wide
LABEL = re.compile(
    r"translate\(([-\d.]+) ([-\d.]+)\)(\"[^>]*>\s*<text>\s*)(<tspan.*?)(\s*</text>)", re.DOTALL
)
GLYPH = re.compile(r'(<tspan x=")([-\d.]+)(" y="[-\d.]+"[^>]*?font-size: )([\d.]+)(px.*?</tspan>)')
SIDES = re.compile(r"\b(left|right)[,:]", re.IGNORECASE)
IMAGE = re.compile(r'(<image\b[^>]*? style=")')
DIMMED = 0.85  # of the light of a picture in the dark
# Grounds on which white can be read, and what they are in the dark, where it still can
GROUNDS = {
    BLUE: colour("share", "dark", "mark"),
    RED: RED,
    GREY: colour("quiet", "dark", "mark"),
}
LARGER = 1.1  # Figtree is 13 % narrower than DejaVu Sans, and its small letters 9 % lower
SCALE = 1.5  # pixels of the page a point: letters of 11 points are as large as the text around


def is_plot(path: Path) -> bool:
    """Is this file a figure in the book's matplotlib style?"""
    return path.suffix == ".svg" and PAPER.lower() in path.read_text(encoding="utf-8")


def light(svg: str) -> str:
    """The figure for the light theme: no paper, for its card has its own; words dark enough."""
    svg = legible(svg)
    svg = FONTS.sub(PAGE_FONTS, METADATA.sub("", svg))
    svg = re.sub(rf"fill: {PAPER}\b", "fill: none", svg, flags=re.IGNORECASE)
    return in_figtree(exponents(svg))


def in_figtree(svg: str) -> str:
    """The figure, which matplotlib measured in DejaVu Sans, in Figtree: that is narrower, so that
    its words may be larger; and where a formula is set letter by letter, each stands where the one
    before it ends.
    """
    svg = TEXT.sub(
        lambda text: SIZE.sub(lambda size: f"font-size: {LARGER * float(size[1]):.4g}px", text[0]),
        svg,
    )
    return LABEL.sub(closed_up, svg)


def closed_up(label: re.Match) -> str:
    """A label of single letters without the holes that narrower ones leave; its middle stays."""
    x, y, begin, letters, end = label.groups()
    moved, shift = [], 0.0
    for before, place, between, size, rest in GLYPH.findall(letters):
        moved.append(f"{before}{float(place) + shift:.4g}{between}{size}{rest}")
        letter = html.unescape(TAG.sub("", rest.partition(">")[2]))
        old, new = (typefaces.width(letter, of) for of in (typefaces.MEASURED, typefaces.WORDS))
        shift += float(size) * (new - old / LARGER)
    if len(moved) < 2:
        return label[0]
    return f"translate({float(x) - shift / 2:.6g} {y}){begin}{''.join(moved)}{end}"


def exponents(svg: str) -> str:
    """The figure with exponents of `READABLE` pixels on a telephone, if the number below them has as
    many. A label that has grown moves to the left by half of it, so that it stays at its tick.
    """
    least = least_width(svg)
    shown = max(PHONE, 1.15 * least if least > PHONE else 0)  # as in .plot-scroll
    wanted = READABLE * float(VIEW.search(svg)[1]) / shown

    def grown(label: re.Match) -> str:
        x, y, begin, glyphs, end = label.groups()
        sizes = [float(size) for _, _, _, size, _ in GLYPH.findall(glyphs)]
        tail = sizes.index(min(sizes)) if sizes else 0
        size = min(max(sizes, default=0), wanted)
        if not tail or len(set(sizes[:tail])) + len(set(sizes[tail:])) != 2 or size <= sizes[tail]:
            return label[0]
        factor = size / sizes[tail]
        places = [float(place) for _, place, *_ in GLYPH.findall(glyphs)]
        wider = (factor - 1) * (places[-1] - places[tail] + sizes[tail] / 2)

        def glyph(found: re.Match) -> str:
            before, place, between, old, after = found.groups()
            if float(old) > sizes[tail]:
                return found[0]
            place = places[tail] + factor * (float(place) - places[tail])
            return f"{before}{place:g}{between}{size:.2f}{after}"

        glyphs = GLYPH.sub(glyph, glyphs)
        return f"translate({float(x) - wider / 2:g} {y}){begin}{glyphs}{end}"

    return LABEL.sub(grown, svg)


def dark(svg: str) -> str:
    """The figure for the dark theme. A ground with white letters on it stays dark: on a light one
    they could not be read. The joints between a heat map's squares have the page's.
    """
    svg, has_heat_maps = heat_maps.in_the_dark(light(svg))
    if has_heat_maps:
        svg = in_the_dark(svg)
    else:  # a picture does not glare on a dark page
        svg = in_the_dark(SHAPE.sub(_kept, svg) if WHITE_TEXT.search(svg) else svg)
        svg = IMAGE.sub(rf"\g<1>filter:brightness({DIMMED});", svg)
    return JOINT.sub(f"stroke: {DARK[GROUND]}; stroke-width: {plots.JOINT:g}", svg)


def _kept(shape: re.Match) -> str:
    """A shape with the colours of `GROUNDS`, written in a way that `in_the_dark` passes over."""
    return COLOUR.sub(
        lambda found: (
            f"rgb({' '.join(map(str, bytes.fromhex(GROUNDS[found[0].lower()][1:])))})"
            if found[0].lower() in GROUNDS
            else found[0]
        ),
        shape[0],
    )


def least_width(svg: str) -> int:
    """The width in pixels of the page at which the figure's smallest word has `READABLE` pixels;
    0 for a figure without words. What stands above or below a line is as small as it is.
    """
    sizes = [max(map(float, SIZE.findall(text)), default=0) for text in TEXT.findall(svg)]
    smallest = min(filter(None, sizes), default=0)
    return math.ceil(READABLE * float(VIEW.search(svg)[1]) / smallest) if smallest else 0


def scrolling(picture: str, svg: str, tag: str = "span", kind: str = "plot-scroll") -> str:
    """The box in which a figure scrolls where the page is narrower than it may become."""
    return f'<{tag} class="{kind}" style="--least: {least_width(svg)}px">{picture}</{tag}>'


def narrow(svg: str) -> str | None:
    """The figure's layout for a telephone, if it needs and has one."""
    if least_width(svg) <= PHONE:
        return None
    rooms = (SMALL, PHONE)
    return stacked(svg, least_width, PHONE) or next(
        filter(None, (squeezed(svg, least_width, room) for room in rooms)), None
    )


def dark_name(name: str) -> str:
    """The file of the dark theme's figure."""
    return f"{Path(name).stem}.dark.svg"


def narrow_name(name: str) -> str:
    """The file of the figure's narrow layout."""
    return f"{Path(name).stem}.narrow.svg"


def tags(node: nodes.image, source: Path, address: str) -> str:
    """The images: one for each theme, or one for each theme and layout. A screen reader comes across
    one of them: the others are not displayed.
    """
    svg = source.read_text(encoding="utf-8")
    folder, _, name = address.rpartition("/")
    alt = html.escape(node.get("alt", ""))
    images = both(svg, f"{folder}/{name}", alt)
    small = result(narrow, svg)
    if small is None:
        return scrolling(images, svg) + result(heat_maps.key, svg)
    images += both(small, f"{folder}/{narrow_name(name)}", alt, "plot plot-narrow")
    return scrolling(images + moved(node, svg), svg, kind="plot-scroll plot-layouts") + result(
        heat_maps.key, svg
    )


def moved(node: nodes.image, svg: str) -> str:
    """A line below the narrow layout where the figure's words speak of left and right."""
    captions = node.parent.findall(nodes.caption) if node.parent else []
    if side_by_side(svg) < 2:
        return ""
    if not SIDES.search(" ".join([node.get("alt", ""), *(one.astext() for one in captions)])):
        return ""
    said = "left is above, right is below" if side_by_side(svg) == 2 else "read line by line"
    return f'<span class="plot-moved">Drawn for a narrow page: {said}.</span>'


def both(svg: str, address: str, alt: str, kind: str = "plot") -> str:
    """A layout's two images. A narrow one has a narrowest width of its own."""
    style = f' style="--least: {least_width(svg)}px"' if "plot-narrow" in kind else ""
    width, height = (round(SCALE * float(points)) for points in POINTS.search(svg).groups())
    folder, _, name = address.rpartition("/")
    return "".join(
        f'<img class="{kind} plot-{theme} dark-light" alt="{alt}" src="{folder}/{file}" '
        f'width="{width}" height="{height}"{style} loading="lazy"/>'
        for theme, file in (("light", name), ("dark", dark_name(name)))
    )


def write_both(app: Sphinx, exception: Exception | None) -> None:
    """Once the images have been copied: each figure's files."""
    if exception is not None or app.builder.format != "html":
        return
    for path in list(Path(app.outdir, "_images").glob("*.svg")):
        if is_plot(path):
            svg = path.read_text(encoding="utf-8")
            small = result(narrow, svg)
            if small is not None:
                write_themes(path.with_name(narrow_name(path.name)), small)
            write_themes(path, svg)


def write_themes(path: Path, svg: str) -> None:
    """A layout's two files."""
    path.with_name(dark_name(path.name)).write_text(with_letters(dark, svg), encoding="utf-8")
    path.write_text(with_letters(light, svg), encoding="utf-8")


def with_letters(drawn: Callable[[str], str], svg: str) -> str:
    """The figure for one of the themes, `light` or `dark`, as a file that needs nothing else."""
    return result(drawn, svg).replace("<defs>", f"{result(own_letters, svg)}<defs>", 1)


def own_letters(svg: str) -> str:
    """The style that brings the page's typeface, with the letters that the figure writes."""
    said = {weight: set() for weight in (typefaces.REGULAR, typefaces.BOLD)}
    for text in TEXT.findall(svg):
        weight = typefaces.BOLD if HEAVY.search(text) else typefaces.REGULAR
        said[weight] |= set(html.unescape(TAG.sub("", text)))
    faces = [typefaces.face("".join(sorted(of)), weight) for weight, of in said.items() if of]
    return f"<style>{''.join(faces)}</style>"


def setup(app: Sphinx) -> dict:
    """Connect it."""
    app.connect("build-finished", write_both, priority=800)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
