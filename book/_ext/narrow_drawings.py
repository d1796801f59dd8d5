"""A drawing of a mechanism (`lectures_lib/show/drawings/`) gets its narrow layout beside the wide one
that the notebook stored. A page shows the one that fits: the narrow one where the wide one would
have to scroll.

Which one is asked of the figure's own width, so that it also holds beside an open menu and on
paper. A browser that cannot ask shows the wide one, which scrolls.
"""

import re

from docutils import nodes
from sphinx.application import Sphinx

from lectures_lib.show.drawings import DRAWINGS, draw

WIDE = re.compile(r'<svg\b[^>]*\bclass="drawing d-(\w+)".*?</svg>', re.DOTALL)
MOST = 440  # pixels of the page: a narrow drawing grows no further


def with_narrow(html: str) -> str:
    """The page's markup with the narrow layout behind each wide one; drawings of another kind, as
    those of the exam, have none.
    """
    return WIDE.sub(
        lambda found: found[0] + (narrow(found[1]) if found[1] in DRAWINGS else ""), html
    )


def narrow(name: str) -> str:
    """The narrow layout of a drawing, with the rule by which one of the two is displayed."""
    least = DRAWINGS[name]().narrowest
    one, other = f"svg.drawing.d-{name}_narrow", f"svg.drawing.d-{name}"
    rule = (
        f"{one}{{display:none;max-width:{MOST}px}}\n"
        f"@container drawing (max-width:{least - 0.01:.2f}px)"
        f"{{{one}{{display:block}}{other}{{display:none}}}}\n"
    )
    return draw(name, narrow=True).svg().replace("</style>", f"{rule}</style>", 1)


def add(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Add them to what the cells of a page have shown."""
    for raw in doctree.findall(nodes.raw):
        if "html" in raw.get("format", "") and 'class="drawing d-' in raw.astext():
            raw[:] = [nodes.Text(with_narrow(raw.astext()))]
            raw.rawsource = raw.astext()


def setup(app: Sphinx) -> dict:
    """Do it when a page is written."""
    app.connect("doctree-resolved", add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
