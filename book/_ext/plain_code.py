"""Listings without an element for each word that has the colour of the text: names, brackets, commas
and blanks, more than half of the elements of a page. A browser lays out a chapter sooner without
them, and nothing is seen of it.
"""

from functools import cache

from pygments.formatters import HtmlFormatter
from pygments.style import Style
from pygments.styles import get_style_by_name
from pygments.token import Text, _TokenType
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge

# The themes by day and by night; _config.yml names them for the pages.
STYLES: list[str] = []


@cache
def coloured(kind: _TokenType, styles: tuple[str, ...]) -> bool:
    """Whether words of a kind look different from the text in any of the styles; a kind that a
    style does not know looks like the one that it is a kind of.
    """
    return any(look(style, kind) != look(style, Text) for style in map(get_style_by_name, styles))


def look(style: type[Style], kind: _TokenType) -> dict:
    """Colour, weight and so on."""
    while not style.styles_token(kind):
        kind = kind.parent
    return style.style_for_token(kind)


class PlainFormatter(HtmlFormatter):
    """Pygments' own, which puts words without a class into no element."""

    def _get_css_class(self, ttype):
        return super()._get_css_class(ttype) if coloured(ttype, tuple(STYLES)) else ""


def read_styles(app: Sphinx) -> None:
    """From the theme's options."""
    options = app.config.html_theme_options
    STYLES[:] = [options["pygments_light_style"], options["pygments_dark_style"]]


def setup(app: Sphinx) -> dict:
    """In place of Pygments' formatter."""
    app.connect("builder-inited", read_styles)
    PygmentsBridge.html_formatter = PlainFormatter
    return {"parallel_read_safe": True, "parallel_write_safe": True}
