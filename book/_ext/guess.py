"""A page that asks its reader to predict waits for her guess before it shows what comes out.

The script (book/_static/guess.js) does it in the browser: a page without it shows everything.
"""

from docutils import nodes
from sphinx.application import Sphinx

QUESTION = "<strong>Predict.</strong>"


def add_script(
    app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
) -> None:
    """Only a page with such a question gets the script and its style."""
    if QUESTION in context.get("body", ""):
        app.add_js_file("kept.js")
        app.add_js_file("guess.js")
        app.add_css_file("guess.css")


def setup(app: Sphinx) -> dict:
    """Do it when a page is written."""
    app.connect("html-page-context", add_script, priority=500)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
