"""Scripts and style sheets that only those pages get which need them."""

from collections.abc import Callable

from docutils import nodes
from sphinx.application import Sphinx


def where(app: Sphinx, needed: Callable[[str, str], bool], *files: str) -> None:
    """Give these files (of book/_static) to each page that needs them, once it has its end card.

    Args:
        app: the build.
        needed: told a page's name and its text in HTML.
        files: names that end in .js or .css, in the order in which they are loaded.
    """

    def add(
        app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
    ) -> None:
        if needed(page, context.get("body", "")):
            for file in files:
                (app.add_css_file if file.endswith(".css") else app.add_js_file)(file)

    app.connect("html-page-context", add, priority=500)
