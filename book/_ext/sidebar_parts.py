"""The list of all pages is folded by part: the part of the page that is read is open, on a page of
no part the parts that hold chapters. It is plain HTML, so that it works without scripts. A script
(book/_static/contents.js) keeps the current page, and in the page's Contents the section that is
read, marked and in view; another (progress.js) marks the chapters that one has read.
"""

import re

from docutils import nodes
from sphinx.application import Sphinx

CAPTION = re.compile(r'(?=<p [^>]*class="caption")')
NAME = re.compile(r'<p [^>]*class="caption".*?</p>', re.DOTALL)
CHAPTER = re.compile(r'href="[^"]*(?:\d\d\w?_\w+|\blive)\.html"')
CURRENT = re.compile(r'class="[^"]*\bcurrent\b')


def in_parts(listed: str) -> str:
    """The theme's list of pages, a caption and a list for each part, as parts that fold."""
    first, *parts = CAPTION.split(str(listed))
    shown = CURRENT if any(map(CURRENT.search, parts)) else CHAPTER
    return first + "".join(_folding(part, shown.search(part) is not None) for part in parts)


def _folding(part: str, is_open: bool) -> str:
    caption = NAME.match(part)[0]
    opened = " open" if is_open else ""
    pages = part[len(caption) :]
    return f'<details class="nav-part"{opened}><summary>{caption}</summary>{pages}</details>\n'


def offer(
    app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
) -> None:
    """Give it to the templates."""
    context["in_parts"] = in_parts


def setup(app: Sphinx) -> dict:
    """Connect it."""
    app.connect("html-page-context", offer, priority=100)  # the theme renders it early
    app.add_js_file("contents.js")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
    app.add_js_file("shared.js")
    app.add_js_file("progress.js")
