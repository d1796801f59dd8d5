"""Listings: an element only for words of another colour, and not a letter lost."""

import re
import sys
from html import unescape

import pytest
from pygments import highlight, lex
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer, YamlLexer
from pygments.token import Comment, Literal, Name, Punctuation, Text, Token
from sitemap import ROOT, notebook_pages

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import plain_code

STYLES = ("a11y-high-contrast-light", "a11y-high-contrast-dark")
CODE = 'def f(x, y=1):\n    """A < B"""\n    return x[0] @ y  # c\n'
TAG, WORD = re.compile("<[^>]*>"), re.compile('<span class="(n|p|w|nn)">')


@pytest.fixture(autouse=True)
def styles(monkeypatch):
    monkeypatch.setattr(plain_code, "STYLES", list(STYLES))


def test_only_colours_get_an_element():
    made = highlight(CODE, PythonLexer(), plain_code.PlainFormatter())
    assert '<span class="k">def</span> <span class="nf">f</span>(x, y<span class="o">=' in made
    assert not WORD.search(made)


@pytest.mark.parametrize("lexer", [PythonLexer, YamlLexer])
def test_no_letter_is_lost(lexer):
    made, usual = (
        highlight(CODE, lexer(), kind()) for kind in (plain_code.PlainFormatter, HtmlFormatter)
    )
    assert TAG.sub("", made) == TAG.sub("", usual)
    assert unescape(TAG.sub("", made)).strip() == CODE.strip()
    assert list(lex(CODE, lexer()))


@pytest.mark.parametrize("kind", [Text, Name, Name.Namespace, Punctuation, Text.Whitespace])
def test_the_colour_of_the_text_is_none(kind):
    assert not plain_code.coloured(kind, STYLES)


@pytest.mark.parametrize("kind", [Comment, Name.Function, Literal.String, Token.Operator])
def test_another_is_one(kind):
    assert plain_code.coloured(kind, STYLES)


def test_a_kind_that_no_style_knows_is_like_its_parent():
    assert not plain_code.coloured(Name.Quite.New, STYLES)
    assert plain_code.coloured(Comment.Quite.New, STYLES)


def test_a_colour_by_night_alone_is_a_colour():
    # the usual style of Pygments colours classes' names, the other two leave them
    assert plain_code.coloured(Name.Namespace, (*STYLES, "default"))


@pytest.mark.parametrize("page", notebook_pages())
def test_no_page_has_others(html, page):
    assert not WORD.search((html / page).read_text(encoding="utf-8"))
