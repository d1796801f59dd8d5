"""The site's own letters: Figtree for words, Geist Mono for code (both SIL OFL 1.1, from npm), so that
a page looks the same on every machine. `course.css` says where which one stands. They are cut down
to the letters and weights that the pages use.

A measured figure is an image, and an image sees nothing of its page: it carries the letters that it
writes with inside itself.
"""

import base64
import io
import logging
from functools import cache
from pathlib import Path

import matplotlib
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont
from kept import result
from node import MODULES
from sphinx.application import Sphinx

logging.getLogger("fontTools").setLevel(logging.WARNING)  # it tells each step of each cut

REGULAR, BOLD = 400, 700
FOLDER = "_static/fonts"  # of the site
PACKAGES = MODULES / "@fontsource-variable"
WORDS = PACKAGES / "figtree" / "files" / "figtree-latin-wght-normal.woff2"
MEASURED = Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf")  # by matplotlib
# What pages load, and the weights they use of it
FILES = {
    WORDS: (REGULAR, BOLD),
    WORDS.with_stem("figtree-latin-wght-italic"): (REGULAR, BOLD),
    WORDS.with_stem("figtree-latin-ext-wght-normal"): (REGULAR, BOLD),
    PACKAGES / "geist-mono" / "files" / "geist-mono-latin-wght-normal.woff2": REGULAR,
}
# ASCII, what stands between words and numbers, and the letters of our neighbours' names
LETTERS = "".join(map(chr, range(32, 127))) + (
    "ŠšŽžČčŘřŁłĺĢśńąęőűğşİıćĠģĤĻźż\u00a0×÷·−±²³¹½¼¾°µ′“”‘’–—…↑↓§©®«»¿¡äöüßÄÖÜéèêëáàâãåæíìîïðóòôøñúùûçÉÁÃÅÌØǘ\u0301"
)


def cut(
    file: Path, text: str, weights: int | tuple[int, int] | None = None, web: bool = True
) -> bytes:
    """A typeface with the letters of a text alone, and of one that has weights one of them or a
    range: the same bytes for the same text, as WOFF2 or, for programs, as TrueType.
    """
    options = Options()
    options.layout_features = ["kern", "tnum"]
    options.hinting = False  # for coarse screens, and it weighs
    subsetter = Subsetter(options)
    subsetter.populate(text=text)
    one = isinstance(weights, int)
    font = _read(of_weight(file, weights) if one else file.read_bytes())
    subsetter.subset(font)
    if weights and not one:
        font = _read(_written(font, None))  # what was read only in part cannot be cut again
        font = instantiateVariableFont(font, {"wght": weights})
    return _written(font, "woff2" if web else None)


@cache
def of_weight(file: Path, weight: int) -> bytes:
    """A typeface with one of its weights, as TrueType: most of the time that a cut takes goes here, and
    every plot is one.
    """
    font = _read(file.read_bytes())
    return _written(instantiateVariableFont(font, {"wght": weight}), None)


def _read(data: bytes) -> TTFont:
    return TTFont(io.BytesIO(data), recalcTimestamp=False)


def _written(font: TTFont, flavor: str | None) -> bytes:
    font.flavor = flavor
    file = io.BytesIO()
    font.save(file)
    return file.getvalue()


@cache
def widths(file: Path) -> dict[str, float]:
    """How wide each letter of a typeface is, in sizes of it."""
    font = TTFont(file)
    if "fvar" in font:
        font = instantiateVariableFont(font, {"wght": REGULAR})
    unit, wide = font["head"].unitsPerEm, font["hmtx"]
    return {chr(code): wide[name][0] / unit for code, name in font.getBestCmap().items()}


def width(letter: str, file: Path) -> float:
    """How wide a letter is; one that the typeface lacks comes from another, as wide as matplotlib
    took it for.
    """
    return widths(file).get(letter) or widths(MEASURED).get(letter, 0.6)


@cache
def upright(weight: int) -> bytes:
    """Figtree in one weight, as TrueType, under its own name: programs look for that, and the file
    with all weights has the name of its first.
    """
    font = _read(cut(WORDS, LETTERS, weight, web=False))
    of, windows = "Bold" if weight == BOLD else "Regular", (3, 1, 0x409)
    font["name"].names = []
    for number, name in ((1, "Figtree"), (2, of), (6, f"Figtree-{of}")):
        font["name"].setName(name, number, *windows)
    return _written(font, None)


def face(text: str, weight: int = REGULAR) -> str:
    """The rule that gives an image the letters of a text."""
    data = base64.b64encode(cut(WORDS, text, weight)).decode()
    return (
        f"@font-face{{font-family:Figtree;font-weight:{weight};"
        f"src:url(data:font/woff2;base64,{data})}}"
    )


def write(folder: Path) -> None:
    """Put the files of `FILES` into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for file, weights in FILES.items():
        (folder / file.name).write_bytes(result(cut, file, LETTERS, weights))


def beside_the_pages(app: Sphinx, exception: Exception | None) -> None:
    """Once the pages are built."""
    if exception is None and app.builder.format == "html":
        write(Path(app.outdir, FOLDER))


def setup(app: Sphinx) -> dict:
    """Every page has them."""
    app.connect("build-finished", beside_the_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
