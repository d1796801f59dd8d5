"""What only some readers need, behind one fold: from a paragraph that begins with "For those who
write libraries." (in bold) to the end of its section. The paragraph is what stands on the fold.

In a notebook it is a paragraph like any other, and what follows stands open.
"""

from docutils import nodes
from sphinx.application import Sphinx

BEGINS = "For those who write libraries."


def begins(node: nodes.Node) -> bool:
    """Whether a fold begins with this paragraph."""
    if not isinstance(node, nodes.paragraph):
        return False
    first = next(
        (child for child in node if child.astext()), None
    )  # MyST puts "" before a bold word
    return isinstance(first, nodes.strong) and first.astext() == BEGINS


def fold(app: Sphinx, doctree: nodes.document) -> None:
    """Put the rest of the section into the fold; sections below it stay outside."""
    for section in list(doctree.findall(nodes.section)):
        start = next((i for i, child in enumerate(section) if begins(child)), None)
        if start is None:
            continue
        rest = section.children[start + 1 :]
        inside = next((i for i, x in enumerate(rest) if isinstance(x, nodes.section)), len(rest))
        if not inside:
            raise ValueError(f"{app.env.docname}: nothing follows {BEGINS!r} in its section")
        said = nodes.inline("", "", *section[start].children)
        section[start : start + 1] = [html('<details class="for-libraries"><summary>'), said]
        section.insert(start + 2, html("</summary>"))
        section.insert(start + 3 + inside, html("</details>"))


def html(text: str) -> nodes.raw:
    """Markup as it is."""
    return nodes.raw("", text, format="html")


def setup(app: Sphinx) -> dict:
    """Do it when a page has been read."""
    app.connect("doctree-read", fold)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
