"""One figure language on all pages: the palette's colours as variables of every page, and the card that
figures stand on (`lectures_lib/show/card.css`), which a measured figure gets here; drawings, viewers
and live figures bring it.
"""

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from lectures_lib.show import palette

FILE = "palette.css"
CLASS = "figure-card"


def write(app: Sphinx) -> None:
    """The style sheet, beside the theme's."""
    folder = Path(app.outdir, "_static")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(palette.css() + palette.CARD, encoding="utf-8")


def mark(app: Sphinx, doctree: nodes.document) -> None:
    """Every picture with a caption stands on a card."""
    for figure in doctree.findall(nodes.figure):
        figure["classes"].append(CLASS)


def setup(app: Sphinx) -> dict:
    """Connect it. The course's own style sheet comes after this one."""
    app.connect("builder-inited", write)
    app.connect("doctree-read", mark)
    app.add_css_file(FILE)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
