"""Below a chapter's title: a button that opens every folded cell at once, and folds it again.

The script (book/_static/all_code.js) adds it; a page without scripts has none, and its folds open
one by one.
"""

import page_scripts
from sphinx.application import Sphinx


def folds_code(page: str, body: str) -> bool:
    """Whether this is a chapter with cells that are folded."""
    return page.startswith("notebooks/") and '<details class="admonition hide' in body


def setup(app: Sphinx) -> dict:
    """Only a chapter that folds something gets the script."""
    page_scripts.where(app, folds_code, "shared.js", "all_code.js")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
