"""A page that asks its reader to predict waits for her guess before it shows what comes out.

The script (book/_static/guess.js) does it in the browser: a page without it shows everything.
"""

import page_scripts
from sphinx.application import Sphinx

QUESTION = "<strong>Predict.</strong>"


def setup(app: Sphinx) -> dict:
    """Only a page with such a question gets the script and its style."""
    page_scripts.where(
        app, lambda page, body: QUESTION in body, "shared.js", "guess.js", "guess.css"
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
