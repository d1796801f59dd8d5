"""What a cell printed stays within the page: sentences that are longer than a line wrap, and a
table that is a little too wide is set a little smaller.

Only the style sheet is told, by a class: nothing is changed in what was printed.
"""

import re

from docutils import nodes
from sphinx.application import Sphinx

LINE = 88  # columns of a page
WIDE = 100  # columns that a page has room for in smaller letters
ALIGNED = re.compile(r"\S {2,}\S")  # columns are kept apart by spaces
ANSI = re.compile(r"\x1b\[[\d;]*m")


def kind(text: str) -> str:
    """The class of an output: "prose" or "wide", or "" where every line fits or nothing helps."""
    lines = ANSI.sub("", text).splitlines()
    longest = max(map(len, lines), default=0)
    if longest <= LINE:
        return ""
    if sum(bool(ALIGNED.search(line)) for line in lines) < 2:
        return "prose"
    return "wide" if longest <= WIDE else ""


def mark(app: Sphinx, doctree: nodes.document) -> None:
    """Give every output of a page its class."""
    for block in doctree.findall(nodes.literal_block):
        if "output" in block["classes"] and (name := kind(block.astext())):
            block["classes"].append(f"output-{name}")


def setup(app: Sphinx) -> dict:
    """Do it when the pages have been read."""
    app.connect("doctree-read", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
