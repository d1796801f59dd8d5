"""Code on a telephone, which has room for half of a line of it: a line that is too long goes on in a
second one, further to the right, behind a small hook. What a cell printed does so too, unless it
is in columns, which narrow_outputs.py keeps. On a wide page this is done only where a line of more
than 88 columns, or a list, leaves no room.

The style sheet does it (`.on`, `.beyond`); here each long line is put into an element that knows its
indentation. Nothing is changed in what is written, nor in what is copied.
"""

import html
import re

import narrow_outputs
import page_body
from long_outputs import ALIGNED
from sphinx.application import Sphinx

LISTING = re.compile(
    r'(<div class="([^"]*\bhighlight-[^"]*)"><div class="highlight"><pre>)(.*?)(</pre>)', re.DOTALL
)
TAG = re.compile(r"<[^>]*>")
# a word with the tags inside it, and within a word a place where it may go on below: behind an
# opening bracket, a comma, an equals sign, before a dot that has a name before it
WORD = re.compile(r"(?:<[^>]*>|[^\s<])+")
TAGS_OR_TEXT = re.compile(r"(<[^>]*>)")
BREAK = re.compile(r"(?<=[(\[{,=])(?=[^\s)\]}]|$)|(?<=[\w)\]])(?=\.[A-Za-z_])")
EMPTY = "<span></span>"  # Pygments begins with it


def on_a_telephone(body: str) -> str:
    """A page's HTML, in which long lines of code can go on below."""
    return LISTING.sub(listing, body)


def listing(found: re.Match) -> str:
    """One listing, or what was printed."""
    opening, classes, inside, closing = found.groups()
    lines = inside.split("\n")
    written = [html.unescape(TAG.sub("", line)).rstrip() for line in lines]
    if "output" in classes.split() and any(map(ALIGNED.search, written)):
        plain = inside.removeprefix(EMPTY)
        if max(map(len, written)) <= narrow_outputs.FITS or TAG.search(plain):
            return opening + inside + closing
        inside, small = narrow_outputs.printed(html.unescape(plain).removesuffix("\n").split("\n"))
        if small:
            opening = opening.replace(classes, f"{classes} output-small", 1)
        return opening + EMPTY + inside + closing
    lines = [folding(line, text) for line, text in zip(lines, written, strict=True)]
    return opening + "\n".join(lines) + closing


def folding(line: str, text: str) -> str:
    """A line that can go on below; a line whose tags end elsewhere is left alone."""
    if len(text) <= narrow_outputs.ROOM or line.count("<span") != line.count("</span>"):
        return line
    indent = len(text) - len(text.lstrip())
    room = narrow_outputs.ROOM - indent - 3  # of a line that goes on
    line = WORD.sub(lambda word: breakable(word[0], room), line)
    kind = "on beyond" if len(text) > narrow_outputs.FAR else "on"
    return f'<span class="{kind}" style="--in:{indent}">{line}</span>'


def breakable(word: str, room: int) -> str:
    """A word that no line has room for, with the places where it may be broken."""
    if len(html.unescape(TAG.sub("", word))) <= room:
        return word
    return "".join(
        part if part.startswith("<") else BREAK.sub("<wbr>", part)
        for part in TAGS_OR_TEXT.split(word)
    )


def setup(app: Sphinx) -> dict:
    """When the page's body is complete."""
    page_body.change(app, on_a_telephone, priority=945)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
