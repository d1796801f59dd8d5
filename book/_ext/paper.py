"""Pages on paper: what is folded away is printed at the end (book/_static/paper.js).

The style sheet does the rest, and all of it where no script runs: then answers are printed where
they stand. A page for teachers is printed so in any case: its answers are what one prints it for.
"""

from docutils import nodes
from sphinx.application import Sphinx

AS_IT_STANDS = ("book/teaching",)


def add_script(
    app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
) -> None:
    """A page that folds something away gets the script, which waits until the page is printed."""
    if "<details" in context.get("body", "") and page not in AS_IT_STANDS:
        app.add_js_file("paper.js")


def setup(app: Sphinx) -> dict:
    """Do it when a chapter has its end card, whose choices are folded."""
    app.connect("html-page-context", add_script, priority=500)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
