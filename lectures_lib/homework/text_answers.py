"""Questions that are answered in words and marked by a person: the cells that ask them in a student
notebook, and the answers in a notebook that was handed in.

An answer stands in a cell with a marker: a comment that a rendered cell does not show. It is text
and stays text: it is never run.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import nbformat
from nbformat import NotebookNode

from lectures_lib.homework.notebook import Unreadable, cells, source

LONGEST = 10_000  # characters of an answer that are kept
MOST = 50  # answers of a notebook that are kept
END = "## Before you hand in"  # the heading of a notebook's last part
PLACEHOLDER = "*Your answer here, in place of this line.*"
MARKER = "<!-- answer: {} (leave this line as it is) -->"
_MARKER = re.compile(r"<!--\s{0,9}answer:\s{0,9}(\w{1,40}\.\w{1,40})\b[^<>]{0,80}-->")
_TAG = re.compile(r"answer:(\w{1,40}\.\w{1,40})")
_TABLE = re.compile(r"^\| \| question \| points \|[^\n]*\n(?:\|[^\n]*\n)+", re.MULTILINE)
_ALL_POINTS = re.compile(r"\*\*(\d{1,4}) points\b")
_TELLS = b"answer:"  # no notebook with an answer is without it
_INTRODUCTION = """\
## In words

A person reads and marks {these}. Write in the cell below the question: double-click it, and put
your answer in place of the line in italics. Words and formulas count here, code is not run.
"""


class Asked(NamedTuple):
    """A question for a student notebook.

    Attributes:
        name: in full, "hw1.why_scale".
        title: a few words.
        points: what it is worth, in words: "2 points".
        asks: the question, in Markdown.
    """

    name: str
    title: str
    points: str
    asks: str


def with_questions(notebook: NotebookNode, asked: Iterable[Asked]) -> NotebookNode:
    """A student notebook with these questions before its last part, `END` (at its end, where it has
    no such part), and in its table of questions, where it has one.
    """
    asked = list(asked)
    if not asked:
        return notebook
    these = "this question" if len(asked) == 1 else "these questions"
    added = [_text_cell("in-words", _INTRODUCTION.format(these=these))]
    for question in asked:
        short = question.name.split(".")[1]
        head = f"### {question.title}\n\n*{question.points} · marked by a person*\n\n"
        added.append(_text_cell(f"asks-{short}", head + question.asks.strip()))
        answer = f"{MARKER.format(question.name)}\n\n{PLACEHOLDER}"
        added.append(_text_cell(f"answer-{short}", answer, f"answer:{question.name}"))
    before, after = _around_the_end(_in_the_table(notebook.cells, asked))
    return nbformat.v4.new_notebook(cells=[*before, *added, *after], metadata=notebook.metadata)


def answers(data: bytes) -> dict[str, str]:
    """The answers in words of a notebook, by the question's full name; "" where the cell is there
    and nothing is written in it. A file that cannot be read has none.
    """
    if _TELLS not in data and b"\0" not in data:  # zeros: UTF-16
        return {}
    try:
        parts = [part for cell in cells(data) for part in _parts(cell)]
    except Unreadable:
        return {}
    found: dict[str, list[str]] = {}
    for name, text in parts:
        if name in found or len(found) < MOST:
            found.setdefault(name, []).append(text)
    return {name: _kept("\n\n".join(filter(None, texts))) for name, texts in found.items()}


def _parts(cell: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The answers in a cell: what follows each marker, up to the next; and what stands above the
    first one, too. Where the marker was deleted, the cell's tag still tells.
    """
    try:
        text = source(cell)
    except Unreadable:
        return
    before, *rest = _MARKER.split(text)
    if not rest:
        if name := _tagged(cell):
            yield name, _written(before)
        return
    for i, (name, after) in enumerate(zip(rest[::2], rest[1::2], strict=True)):
        yield name, _written(before + after if i == 0 else after)


def _tagged(cell: dict[str, Any]) -> str:
    metadata = cell.get("metadata")
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    found = [
        match[1]
        for tag in (tags if isinstance(tags, list) else ())
        if isinstance(tag, str) and (match := _TAG.fullmatch(tag))
    ]
    return found[0] if found else ""


def _written(text: str) -> str:
    """What a student wrote of a cell's text."""
    return text.replace(PLACEHOLDER, "").strip()


def _kept(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]} … [cut: {len(text) - LONGEST:,} more characters]"


def _in_the_table(cells: list[NotebookNode], asked: list[Asked]) -> list[NotebookNode]:
    """The cells, with a row for each of these questions below the others, and with their points
    among all that the same cell names ("**20 points, about two hours.**").
    """
    rows = [
        f"| | {_of_a_row(each.title)} (marked by a person) | {each.points.split()[0]} | | |\n"
        for each in asked
    ]
    changed = list(cells)
    for i, cell in enumerate(cells):
        table = _TABLE.search(cell.source + "\n") if cell.cell_type == "markdown" else None
        if table:
            text = cell.source + "\n"
            text = _more_points(text[: table.end()] + "".join(rows) + text[table.end() :], asked)
            changed[i] = nbformat.from_dict({**cell, "source": text.removesuffix("\n")})
            break
    return changed


def _more_points(text: str, asked: list[Asked]) -> str:
    """The text, in which the points of all questions have grown by those of these."""
    more = sum(float(each.points.split()[0]) for each in asked)
    return _ALL_POINTS.sub(lambda all_: f"**{float(all_[1]) + more:g} points", text, 1)


def _of_a_row(title: str) -> str:
    """A title that stays in its place in a table."""
    return " ".join(title.split()).replace("|", "\\|")


def _around_the_end(cells: list[NotebookNode]) -> tuple[list[NotebookNode], list[NotebookNode]]:
    """The cells before a notebook's last part, and that part."""
    for i, cell in enumerate(cells):
        before, heading, after = cell.source.partition(END)
        if cell.cell_type != "markdown" or not heading or before[-1:] not in ("", "\n"):
            continue
        head = [_text_cell(cell.id, before.strip())] if before.strip() else []
        last = _text_cell(f"{cell.id}-end" if head else cell.id, heading + after)
        return [*cells[:i], *head], [last, *cells[i + 1 :]]
    return list(cells), []


def _text_cell(identity: str, text: str, *tags: str) -> NotebookNode:
    metadata = {"tags": list(tags)} if tags else {}
    return nbformat.v4.new_markdown_cell(text.strip(), id=identity, metadata=metadata)
