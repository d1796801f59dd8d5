"""Pictures of 1200 × 630 pixels that a link to the site shows where links have previews: one for each
chapter, with its first figure, and one for the course, with the arcs of the welcome page.
"""

import io
import re
import tempfile
from pathlib import Path

import matplotlib
import plots_in_both_themes
import resvg_py
import typefaces
from docutils import nodes
from kept import result
from narrow_drawings import WIDE
from PIL import Image, ImageDraw, ImageFont
from section_search import contents_titles
from sphinx.application import Sphinx

from lectures_lib.show import palette

FOLDER = "_static/cards"  # of the site
COURSE = "course"  # the card of all pages that are no chapter
SIZE, EDGE = (1200, 630), 56
SCALE = 2  # of the size that a browser gives a figure
WHITE, INK, MUTED, BLUE, ASKS = map(palette.colour, ("paper", "ink", "neutral", "control", "query"))
FONTS = Path(matplotlib.get_data_path(), "fonts", "ttf")
SANS = re.compile(r"var\(--pst-font-family-base,[^)]*\)|'DejaVu Sans'")  # in drawings, in plots
VARIABLE = re.compile(r"var\(--c-(\w+)(?:-(\w+))?\)")
ARCS = Path(__file__).parents[1] / "figures" / "welcome.svg"
ARC = re.compile(r'd="M(\S+) (\S+?)C(\S+) (\S+) (\S+) (\S+) (\S+) (\S+)" stroke-width="(\S+)"')
WORD = re.compile(r'<text (?:class="([\w ]+)" )?x="(\d+)" y="(\d+)" font-size="(\d+)"[^>]*>([^<]*)')


def font(size: float, bold: bool = False) -> ImageFont.FreeTypeFont:
    """The site's own letters."""
    weight = typefaces.BOLD if bold else typefaces.REGULAR
    return ImageFont.truetype(io.BytesIO(typefaces.upright(weight)), size)


def sheet(above: str, title: str) -> Image.Image:
    """An empty card with a small line and a large one."""
    card = Image.new("RGB", SIZE, "white")
    draw = ImageDraw.Draw(card)
    draw.rectangle((0, 0, 14, SIZE[1]), fill=BLUE)
    draw.text((EDGE, 44), above, font=font(28), fill=MUTED)
    size = 64
    while draw.textlength(title, font(size, bold=True)) > SIZE[0] - 2 * EDGE:
        size -= 2
    draw.text((EDGE, 96), title, font=font(size, bold=True), fill=INK)
    return card


def with_figure(card: Image.Image, figure: Image.Image) -> Image.Image:
    """The figure as large as the room below the title allows."""
    width, height = SIZE[0] - 2 * EDGE, SIZE[1] - 200 - EDGE // 2
    scale = min(width / figure.width, height / figure.height)
    size = round(figure.width * scale), round(figure.height * scale)
    on_white = Image.new("RGBA", figure.size, "white")
    on_white.alpha_composite(figure.convert("RGBA"))
    small = on_white.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    card.paste(small, ((SIZE[0] - size[0]) // 2, 200 + (height - size[1]) // 2))
    return card


def arcs(width: int = 1060) -> Image.Image:
    """The welcome page's picture: a cubic curve for each word, drawn at twice the size."""
    svg = ARCS.read_text(encoding="utf-8")
    across, down = map(int, re.search(r'viewBox="0 0 (\d+) (\d+)"', svg).groups())
    scale = 2 * width / across
    picture = Image.new("RGB", (2 * width, round(down * scale)), "white")
    draw = ImageDraw.Draw(picture)
    for found in ARC.finditer(svg):
        x0, y0, x1, y1, x2, y2, x3, y3, stroke = map(float, found.groups())
        for step in range(801):
            t = step / 800
            a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3
            x, y = a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3
            r = stroke / 2
            draw.ellipse([scale * v for v in (x - r, y - r, x + r, y + r)], fill=BLUE)
    for kind, x, y, size, word in WORD.findall(svg):
        colour = {"muted": MUTED, "asks": ASKS, "muted most": ASKS}.get(kind, INK)
        drawn = font(scale * int(size) * 0.95, bold=kind not in ("", "muted"))
        draw.text((scale * int(x), scale * int(y)), word, font=drawn, fill=colour, anchor="ms")
    return picture


def first_figure(app: Sphinx, doctree: nodes.document) -> dict[str, str] | None:
    """A page's first drawing or measured figure: an SVG for each theme."""
    for node in doctree.findall():
        if isinstance(node, nodes.raw) and (drawing := WIDE.search(node.astext())):
            return {theme: coloured(drawing[0], theme) for theme in ("light", "dark")}
        if isinstance(node, nodes.image):
            path = Path(app.srcdir, node["uri"])
            if path.exists() and plots_in_both_themes.is_plot(path):
                svg = path.read_text(encoding="utf-8")
                return {"light": svg, "dark": result(plots_in_both_themes.dark, svg)}
    return None


def coloured(drawing: str, theme: str) -> str:
    """A drawing with the letters and the colours of one theme in place of the page's variables."""
    drawing = SANS.sub("Figtree", drawing)
    return VARIABLE.sub(lambda name: palette.colour(name[1], theme, name[2] or "line"), drawing)


def in_pixels(svg: str, ground: str = WHITE) -> Image.Image:
    """A figure as it looks on this ground, in the site's own letters; what they lack is taken from
    those that matplotlib brings.
    """
    with tempfile.TemporaryDirectory() as folder:
        for weight in (typefaces.REGULAR, typefaces.BOLD):
            Path(folder, f"{weight}.ttf").write_bytes(typefaces.upright(weight))
        drawn = resvg_py.svg_to_bytes(
            svg_string=SANS.sub("Figtree", svg),
            background=ground,
            skip_system_fonts=True,
            font_dirs=[folder, str(FONTS)],
            font_family="Figtree",
            sans_serif_family="Figtree",
            dpi=96 * SCALE,
        )
    with Image.open(io.BytesIO(bytes(drawn))) as picture:
        return picture.convert("RGBA")


def png(card: Image.Image) -> bytes:
    """In 256 colours: a quarter of the bytes, and nobody sees it."""
    with io.BytesIO() as file:
        card.quantize(256, dither=Image.Dither.NONE).save(file, "png", optimize=True)
        return file.getvalue()


def card(above: str, title: str, figure: str | None) -> bytes:
    """A card as a file; with the arcs, where there is no figure."""
    shown = in_pixels(figure) if figure else arcs()
    return png(with_figure(sheet(above, title), shown))


def write(app: Sphinx, chapters: dict) -> None:
    """Draw all cards into the site."""
    folder = Path(app.outdir, FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    book, titles = app.config.html_title, contents_titles(app)
    course = result(card, "An open course, by hand and in PyTorch", book, None)
    (folder / f"{COURSE}.png").write_bytes(course)
    for page in filter(app.env.found_docs.__contains__, chapters):
        title = titles.get(page) or app.env.titles[page].astext()
        figure = app.env.course_told[page]["figure"]
        made = result(card, book, title, figure and figure["light"])
        (folder / f"{page.rsplit('/', 1)[-1]}.png").write_bytes(made)
