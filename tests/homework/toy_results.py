"""Results of the toy homework, a deadline, rules, and a reader of the pages made of them."""

from dataclasses import replace
from datetime import datetime
from html.parser import HTMLParser
from zoneinfo import ZoneInfo

from lectures_lib.homework.grader.grading.records import Result
from lectures_lib.homework.grader.grading.rules import Rules
from lectures_lib.homework.verdict import Verdict

BERLIN = ZoneInfo("Europe/Berlin")
DEADLINE = datetime(2026, 10, 12, 23, 59, tzinfo=BERLIN)
RIGHT = Verdict("toy.Scale", True, "right")
WRONG = Verdict(
    "toy.double",
    False,
    "misconception",
    "You use `x**2` where 2 < 3.",
    "squares",
    "a vector of 3 numbers",
    "[0] is 4, expected 2.",
)


class Late(Rules):
    """Half a point less for everybody."""

    def score(self, homework, result):
        return replace(
            super().score(homework, result), deducted=0.5, days_late=2.0, note="On day 2."
        )


def result(student="anna", **more):
    """What grading found out about a student: one question wrong, one right."""
    return Result(student, (f"{student}.ipynb",), "f", **{"verdicts": (WRONG, RIGHT), **more})


class Page(HTMLParser):
    """A page's tags, text, links and attributes."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.links, self.attributes = [], "", [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attributes]
        self.links += [value for name, value in attributes if name in ("href", "src")]

    def handle_data(self, data):
        self.text += data
