"""A long chapter is laid out a little at a time, from the screen downwards: book/_static/laying.js,
and the first script of the page, which says so before anything is drawn
(book/_templates/layout.html). Other pages have fewer elements, and what is live on them would be
laid out twice.
"""

import page_scripts
from docutils import nodes
from sphinx.application import Sphinx

LONG = 60_000  # letters of HTML


def is_long(page: str, body: str) -> bool:
    """Whether it would take long to lay out all of it at once."""
    return page.startswith("notebooks/") and len(body) > LONG


def tell(
    app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
) -> None:
    """The page's head must know."""
    context["laying"] = is_long(page, context.get("body", ""))


def setup(app: Sphinx) -> dict:
    """Only a long chapter gets it."""
    page_scripts.where(app, is_long, "laying.js")
    app.connect("html-page-context", tell, priority=500)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
