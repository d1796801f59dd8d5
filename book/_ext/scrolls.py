"""What is too wide for a page scrolls in a box of its own: a table, a formula, a figure. The style
sheet lets it fade out where it goes on; the script (book/_static/scrolls.js) makes the box known to
keyboards and screen readers, as long as it scrolls.
"""

import page_scripts
from sphinx.application import Sphinx

BOXES = (
    "<pre",
    "plot-scroll",
    'class="scroll"',
    "formula-scroll",
    "pst-scrollable-table-container",
)


def may_scroll(page: str, body: str) -> bool:
    """Whether a page has such a box."""
    return any(name in body for name in BOXES)


def setup(app: Sphinx) -> dict:
    """Only a page with such a box gets the script."""
    page_scripts.where(app, may_scroll, "scrolls.js")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
