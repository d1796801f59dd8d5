"""What stands on a slide, as HTML: text in the book's Markdown, formulas by the book's KaTeX, code,
printed lines, pictures.
"""

import base64
import html
import itertools
import math
import re
from functools import cache

from formulas import render
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from mdit_py_plugins.dollarmath import dollarmath_plugin
from plots_in_both_themes import POINTS, dark, light, with_letters
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from .chapter import Chapter, Figure

WIDTH, HEIGHT = 1280, 720  # of a slide, in pixels; deck.css says the same
COLUMN = 690  # pixels for a picture or for code beside the points
GLYPH = 0.603  # a character of the fixed-width font, over its size
COMMENT = re.compile("<!--.*?-->", re.S)
RESULTS = re.compile(r"\s*\(\[results\]\([^)]*\)\)")  # a link that no slide can follow
LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
ROLE = re.compile(r"\{[a-z:-]+\}`([^`<]*?)(?: ?<[^`]*>)?`")


def formula(tex: str, display: bool = True) -> str:
    """TeX as HTML.

    Raises:
        ValueError: with what KaTeX does not understand.
    """
    answer = render(tex, display)
    if "error" in answer:
        raise ValueError(f"{tex}: {answer['error']}")
    return f'<div class="formula">{answer["html"]}</div>' if display else answer["html"]


@cache
def reader() -> MarkdownIt:
    """Markdown with tables and formulas."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.core.ruler.push("heads_of_lines", heads_of_lines)
    return markdown.use(
        dollarmath_plugin,
        renderer=lambda tex, options: formula(tex.strip(), options["display_mode"]),
    )


def heads_of_lines(state: StateCore) -> None:
    """Where a column of a table has no head, the first cell of a line heads the others, as on the
    site (book/_ext/accessible.py).
    """
    bare = first = heading = False
    for token, inside in itertools.pairwise(state.tokens):
        if token.type == "table_open":
            bare = False
        elif token.type == "th_open":
            bare = bare or not inside.content
        elif token.type == "tr_open":
            first = True
        elif token.type == "td_open":
            heading, first = bare and first and bool(inside.content), False
            if heading:
                token.tag = "th"
                token.attrSet("scope", "row")
        elif token.type == "td_close" and heading:
            token.tag = "th"


def plain(text: str) -> str:
    """Markdown whose links have become their words: a deck is shown, not clicked."""
    return ROLE.sub(r"\1", LINK.sub(r"\1", RESULTS.sub("", COMMENT.sub("", text))))


def prose(text: str) -> str:
    """A chapter's Markdown as paragraphs, lists, tables."""
    return reader().render(plain(text))


def inline(text: str) -> str:
    """A line of Markdown, without a paragraph around it."""
    return reader().renderInline(plain(text))


def fixed(text: str, lines: int, width: int, height: int, largest: int = 24) -> int:
    """The size at which lines of fixed-width text fill a box of these pixels, at most `largest`."""
    columns = max(map(len, text.splitlines()), default=1)
    return int(min(largest, (width - 44) / (GLYPH * columns), (height - 28) / (1.4 * lines)))


def code(text: str, size: int) -> str:
    """Python, coloured as in the book, in letters of this size in pixels."""
    coloured = highlight(text, PythonLexer(), HtmlFormatter(nowrap=True))
    return f'<pre class="code" style="font-size:{size}px"><code>{coloured}</code></pre>'


def printed(text: str, size: int, fragment: bool) -> str:
    """What a cell printed; as a fragment it comes with the next key."""
    kind = "output fragment" if fragment else "output"
    return f'<pre class="{kind}" style="font-size:{size}px">{html.escape(text)}</pre>'


def proportions(picture: Figure) -> float:
    """Its width over its height."""
    width, height = map(float, POINTS.search(picture.svg).groups())
    return width / height


def figure(picture: Figure, height: int) -> str:
    """A stored picture, in the colours of both themes, at most so high."""
    return "".join(
        f'<img class="plot plot-{theme}" style="max-height:{height}px" '
        f'src="data:image/svg+xml;base64,{base64.b64encode(drawn.encode()).decode()}" '
        f'alt="{html.escape(picture.alt)}">'
        for theme, drawn in (
            ("light", with_letters(light, picture.svg)),
            ("dark", with_letters(dark, picture.svg)),
        )
    )


def drawing(name: str) -> str:
    """One of the book's drawings of a mechanism, without its caption."""
    from lectures_lib.show.drawings import draw

    drawn = draw(name)._repr_html_()
    return '<div class="drawn">' + re.search(r"<svg.*</svg>", drawn, re.S)[0] + "</div>"


def widget(stored: str) -> str:
    """What a chapter's cell put on its page; a finger on it turns no slide."""
    return f'<div class="widget" data-prevent-swipe>{stored}</div>'


def live(name: str, height: int) -> str:
    """A live figure: its example, as large as it fits into this height, and a button that brings
    the figure itself (deck.js).
    """
    import live as figures  # and with it all that makes the examples

    title, attributes, example = figures.parts(name)
    example = fitting(example, height)
    text = re.sub(r"^<pre>", f'<pre style="font-size:{wrapped(example, height)}px">', example)
    return (
        f"<style>{figures.style(*figures.MORE.get(name, ()))}</style>"
        f'<div class="live" data-waits {attributes} data-prevent-swipe>'
        f'<div class="lv-box lv-still figure-card"><p class="lv-title">{title}</p>{text}'
        '<p class="run"><button type="button">Run it here</button> <span role="status">Then its '
        "keys are its own; Escape gives them back to the slides.</span></p></div></div>"
    )


def wrapped(text: str, height: int) -> int:
    """The largest size, 26 pixels at most, at which lines that wrap fill at most this height."""
    sizes = range(26, 16, -1)
    return next((size for size in sizes if filled(text, size) <= height), 16)


def filled(text: str, size: int) -> float:
    """How high lines of this size are that wrap."""
    columns = (WIDTH - 200) / (GLYPH * size)
    return 1.4 * size * sum(max(1, math.ceil(len(line) / columns)) for line in text.splitlines())


def fitting(example: str, height: int) -> str:
    """An example as far as it fits: without its last lines, if even small letters are too many."""
    lines, end = example.removesuffix("</pre>").splitlines(), "</pre>"
    while len(lines) > 1 and filled("\n".join(lines), 16) > height:
        lines.pop()
    return "\n".join(lines) + end if example.endswith(end) else example


def points(lines: list[str]) -> str:
    """The short lines that a lecturer speaks to."""
    return '<ul class="points">' + "".join(f"<li>{inline(line)}</li>" for line in lines) + "</ul>"


def shown(text: str) -> int:
    """How many characters are left of a text when its Markdown and TeX have been read."""
    return len(re.sub(r"[{}$*`\\]", "", re.sub(r"\\[A-Za-z]+ ?", "x", plain(text))))


def size_of(texts: list[str], height: int = 500) -> int:
    """The largest size, 32 pixels at most, at which paragraphs fill no more than this height.

    A letter is taken to be half as wide as high, a formula on a line of its own for three lines,
    a row of a table, with its rule, for a line and a fifth.
    """
    paragraphs = [part for text in texts for part in re.split(r"\n\s*\n", text)]
    for size in range(32, 16, -1):
        columns = (WIDTH - 104 - 60) / (0.53 * size)
        if sum(lines_of(part, columns) for part in paragraphs) * 1.4 * size <= height:
            return size
    return 16


def lines_of(paragraph: str, columns: float) -> float:
    """How many lines high a paragraph is, the room below it included."""
    paragraph = paragraph.strip()
    if paragraph.startswith("$$"):
        return 3
    if paragraph.startswith("|"):  # the second line is no row
        return 1.2 * (len(paragraph.splitlines()) - 1) + 0.5
    return math.ceil(shown(paragraph) / columns) + 0.5


def listed(markdown: str) -> str:
    """A list that has a slide to itself, as large as it fits."""
    size = size_of(re.split(r"\n(?=\d+\. |- )", COMMENT.sub("", markdown)), height=520)
    return f'<div class="text" style="font-size:{min(size, 29)}px">{prose(markdown)}</div>'


def predict(chapter: Chapter, pointer: str, given: list[str]) -> str:
    """What is given, and the question; on the next key its answer."""
    question, answer = (COMMENT.sub("", text) for text in chapter.predict(pointer))
    known = "\n\n".join(COMMENT.sub("", chapter.given(text)) for text in given)
    size = size_of([known, question, answer])
    above = f'<div class="given">{prose(known)}</div>' if given else ""
    return (
        f'<div class="predict" style="font-size:{size}px">{above}'
        f'<div class="question">{prose(question)}'
        f'</div><div class="answer fragment">{prose(answer)}</div></div>'
    )
