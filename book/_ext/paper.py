"""Pages on paper: what is folded away is printed at the end (book/_static/paper.js).

The style sheet does the rest, and all of it where no script runs: then answers are printed where
they stand. A page for teachers is printed so in any case: its answers are what one prints it for.
"""

import page_scripts
from sphinx.application import Sphinx

AS_IT_STANDS = ("book/teaching",)


def folds(page: str, body: str) -> bool:
    """Whether a page folds something away that is to be printed at its end."""
    return "<details" in body and page not in AS_IT_STANDS


def setup(app: Sphinx) -> dict:
    """A page that folds gets the script, which waits until the page is printed."""
    page_scripts.where(app, folds, "paper.js")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
