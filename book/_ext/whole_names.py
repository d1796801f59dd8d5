"""A name such as STS-B or GPT-2 is not broken behind its hyphen, which a narrow cell of a table
would do, and a number is not parted from its % or from what it is multiplied with (8 × 64).
"""

import re

import page_body
from sphinx.application import Sphinx

NUMBER = r"\d+(?:[.,]\d+)*"
NAME = re.compile(
    rf"(?<![\w-])[A-Z][A-Za-z]{{1,5}}-(?:[A-Z]|\d{{1,2}})(?![\w-])|{NUMBER} %|{NUMBER} × {NUMBER}"
)
# tags, and what is not running text
MARKUP = re.compile(
    r"(<(pre|script|style|svg|math|textarea|option)\b.*?</\2>|<[^>]*>)", re.DOTALL | re.IGNORECASE
)


def whole(body: str) -> str:
    """A page's HTML with every such name or number in a piece that has no place to break."""
    parts = MARKUP.split(body)
    # three to a piece: the text, a tag, and that tag's name if it holds others
    parts[::3] = [NAME.sub(r'<span class="whole">\g<0></span>', text) for text in parts[::3]]
    del parts[2::3]
    return "".join(parts)


def setup(app: Sphinx) -> dict:
    """Last of all that changes a page's body."""
    page_body.change(app, whole, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
