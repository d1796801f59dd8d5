"""A letter with an index in a heading, d_k or W^Q, is printed as in a formula, there and in the page's
Contents. (In a notebook it stays as it is written: a heading there is also an address.)
"""

import re

from docutils import nodes
from formula_text import printed
from sphinx.application import Sphinx

HEADING = re.compile(r"(<h([1-6])\b[^>]*>)(.*?)(<a class=\"headerlink\"|</h\2>)", re.DOTALL)


def headings(body: str) -> str:
    """A page's HTML with its headings printed so."""
    return HEADING.sub(lambda found: f"{found[1]}{printed(found[3])}{found[4]}", body)


def mend(
    app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
) -> None:
    """The page, and the list of its sections."""
    for part, change in (("body", headings), ("toc", printed)):
        if context.get(part):
            context[part] = change(context[part])


def setup(app: Sphinx) -> dict:
    """Before the theme makes its list of the sections."""
    app.connect("html-page-context", mend, priority=390)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
