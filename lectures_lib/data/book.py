"""This book's own sections and questions about it: something to search that every reader knows
(chapter 17b, and the site's "Ask the book").

`tools/sections.py` makes the sections from the chapters. The questions were written by hand, each
with the chapters that answer it.
"""

import json
from importlib.resources import files
from typing import NamedTuple


class Section(NamedTuple):
    """A section: the page it is on, its chapter ("2. Self-attention"), title, address on the page,
    and first sentences.
    """

    page: str
    chapter: str
    title: str
    anchor: str
    text: str

    @property
    def number(self) -> int:
        """The chapter's; 10 for chapter 10b too, 13 for 13c."""
        return int(self.chapter.split(".")[0].rstrip("bc"))

    @property
    def read(self) -> str:
        """What a model reads of it."""
        return f"{self.title}. {self.text}"


class Question(NamedTuple):
    """A question, and the chapters in which one would look for the answer."""

    question: str
    chapters: list[int]


def book_sections() -> list[Section]:
    """All sections, in the order of the book."""
    return [Section(**row) for row in _rows("sections.jsonl")]


def book_questions() -> list[Question]:
    """The questions, in the order of the chapters that answer them."""
    return [Question(**row) for row in _rows("book_questions.jsonl")]


def _rows(name: str) -> list[dict]:
    return [
        json.loads(line)
        for line in (files("lectures_lib.data") / name).read_text(encoding="utf-8").splitlines()
    ]
