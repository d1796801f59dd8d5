"""A comma behind code in the running text does not begin a line, and "--task" is not broken behind
its dashes.

A piece of code without a space has no place to break, as long as it fits the narrowest page with
room to spare; a longer one breaks where its slashes, dots and dashes allow it. Neither is a box:
beside a box a browser may break, whatever stands there.
"""

import re
from typing import Any

from sphinx.application import Sphinx

LONG = re.compile(r'<span class="pre">(?=(?:[^<&]|&[#\w]+;){25})')


def marked(body: str) -> str:
    """A page's HTML, in which pieces of 25 letters or more are told apart."""
    return LONG.sub('<span class="pre long">', body)


def mend(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Do it to what stands between a page's head and foot."""
    if "body" in context:
        context["body"] = marked(context["body"])


def setup(app: Sphinx) -> dict:
    """When the page's body is complete."""
    app.connect("html-page-context", mend, priority=945)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
