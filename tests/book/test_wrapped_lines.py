"""A sentence goes on in the next line of its source, and no such line turns into a list."""

from collections.abc import Iterator
from pathlib import Path

import jupytext
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [
    *sorted(ROOT.glob("notebooks/*.py")),
    *sorted(ROOT.glob("solutions/*.py")),
    *sorted(ROOT.glob("exercises/*.ipynb")),
    *sorted(ROOT.glob("book/**/*.md")),
]
NEW = ("heading_open", "bullet_list_open", "ordered_list_open", "hr")


def torn(text: str) -> list[str]:
    """Lines that begin something new in the middle of a paragraph."""
    lines = text.split("\n")
    tokens = MarkdownIt().parse(text)
    return [
        lines[token.map[0]]
        for before, token in with_before(tokens)
        if is_torn(token, before, lines)
    ]


def with_before(tokens: list[Token]) -> Iterator[tuple[Token | None, Token]]:
    """Each token that begins a block, with the paragraph right before it."""
    paragraph = None
    for token in tokens:
        if token.map and token.type in NEW:
            yield paragraph, token
        if token.type == "paragraph_open":
            paragraph = token


def is_torn(token: Token, before: Token | None, lines: list[str]) -> bool:
    """The book's own lists are of hyphens; one right below a paragraph is announced by a colon."""
    if token.type == "bullet_list_open" and token.markup != "-":
        return True
    return (
        before is not None
        and before.map[1] == token.map[0]  # no empty line between
        and before.level == token.level
        and not lines[token.map[0] - 1].rstrip().endswith(":")
        and not lines[token.map[0] - 1].startswith((":::", "("))  # MyST's own
    )


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_line_begins_a_list_by_chance(path: Path) -> None:
    """Read as the book reads it."""
    if path.suffix == ".md":
        texts = [path.read_text(encoding="utf-8")]
    else:
        texts = [one.source for one in jupytext.read(path).cells if one.cell_type == "markdown"]
    assert [line for text in texts for line in torn(text)] == []


def test_what_is_found() -> None:
    """Signs of sums, numbers and hashes at a line's beginning."""
    assert torn("0.5 alone is too little, 0.5\n+ 0.3 is enough") == ["+ 0.3 is enough"]
    assert torn("the sum of 3\n- 2 and more") == ["- 2 and more"]
    assert torn("there are\n1. 5 of them") == ["1. 5 of them"]
    assert torn("question\n# 3 of them") == ["# 3 of them"]
    assert torn("what it takes:\n- an integer\n\n1. one\n2. two") == []
