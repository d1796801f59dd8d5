"""Below a chapter's title: a button that opens every folded cell at once, and folds it again.

It does its work with a script (book/_static/all_code.js); a page without scripts hides it, and its
folds open one by one.
"""

from typing import Any

import page_scripts
from docutils import nodes
from sphinx.application import Sphinx

BEHIND = "download>Download</a>"  # the end of a chapter's frame
BUTTON = (  # with the dot before it, which alone would promise something
    '<span class="for-all-code"> · <button type="button" class="all-code">Show all code</button>'
    "</span><noscript><style>.for-all-code { display: none; }</style></noscript>"
)


def folds_code(page: str, body: str) -> bool:
    """Whether this is a chapter with cells that are folded."""
    return page.startswith("notebooks/") and '<details class="admonition hide' in body


def add_button(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Into the frame, which `chapters` has put below the title."""
    if folds_code(page, body := context.get("body", "")):
        context["body"] = body.replace(BEHIND, BEHIND + BUTTON, 1)


def setup(app: Sphinx) -> dict:
    """Only a chapter that folds something gets the button and its script."""
    app.connect("html-page-context", add_button)
    page_scripts.where(app, folds_code, "shared.js", "all_code.js")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
