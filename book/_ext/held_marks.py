"""A comma behind code in the running text does not begin a line, and "--task" is not broken behind
its dashes.

A piece of code without a space has no place to break, as long as it fits the narrowest page with
room to spare; a longer one breaks where its slashes, dots and dashes allow it. Neither is a box:
beside a box a browser may break, whatever stands there.
"""

import re

import page_body
from sphinx.application import Sphinx

LONG = re.compile(r'<span class="pre">(?=(?:[^<&]|&[#\w]+;){25})')


def marked(body: str) -> str:
    """A page's HTML, in which pieces of 25 letters or more are told apart."""
    return LONG.sub('<span class="pre long">', body)


def setup(app: Sphinx) -> dict:
    """When the page's body is complete."""
    page_body.change(app, marked, priority=945)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
