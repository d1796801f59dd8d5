"""What is changed in a page's HTML, between its head and foot, once the page is complete."""

from collections.abc import Callable

from docutils import nodes
from sphinx.application import Sphinx


def change(app: Sphinx, changed: Callable[[str], str], priority: int) -> None:
    """Put every page's body through a function.

    Args:
        app: the build.
        changed: told the body in HTML; gives the one to be written.
        priority: smaller ones go first. The end card comes at 400, scripts at 500.
    """

    def mend(
        app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
    ) -> None:
        if "body" in context:  # a page of the theme's own has none
            context["body"] = changed(context["body"])

    app.connect("html-page-context", mend, priority=priority)
