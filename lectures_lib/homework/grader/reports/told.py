"""What the reports have in common: a verdict in plain words, the section to reread, a time as
people write it.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata
from importlib.resources import files

from lectures_lib.homework.grader.grading.records import Result
from lectures_lib.homework.grader.grading.score import InWords, Score
from lectures_lib.homework.grader.reports.spreadsheet import number
from lectures_lib.homework.questions import Homework, Question
from lectures_lib.homework.verdict import Verdict

UNANSWERED = ("unfinished", "missing", "unread")
CUT = ("time", "memory", "ended", "garbled", "unreached")
# What turns the direction of writing and is not closed again, and what no terminal, browser or form
# should be sent.
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Section:
    """A section of the book.

    Attributes:
        words: "chapter 2, masks".
        link: its address; "" where the book's is not known.
    """

    words: str
    link: str


def title(homework: Homework) -> str:
    """The homework's name in full: "Homework 1: Attention"."""
    return f"Homework {homework.name.removeprefix('hw')}: {homework.title}"


def section(question: Question) -> Section | None:
    """Where the question's idea is taught."""
    if not question.chapter:
        return None
    notebook, _, anchor = question.chapter.partition("#")
    chapter, _, name = notebook.partition("_")
    spelled = (anchor or name).replace("-", " ").replace("_", " ")
    words = f"chapter {chapter.lstrip('0')}, {_titles().get((notebook, anchor)) or spelled}"
    book = _book()
    return Section(
        words,
        f"{book}/notebooks/{notebook}.html" + (f"#{anchor}" if anchor else "") if book else "",
    )


@cache
def _titles() -> dict[tuple[str, str], str]:
    """{(notebook, anchor): "Why divide by √d_k?"} for every section of the book."""
    rows = map(
        json.loads,
        (files("lectures_lib") / "data" / "sections.jsonl")
        .read_text(encoding="utf-8")
        .splitlines(),
    )
    return {(row["page"].removeprefix("notebooks/"), row["anchor"]): row["title"] for row in rows}


def graded(results: Iterable[Result]) -> list[Result]:
    """Those that are grades: not the ones that the grader failed on."""
    return [result for result in results if not result.fault]


def state(verdict: Verdict) -> str:
    """Into which of five drawers a verdict goes: "right", "mistake" (a known one), "wrong", "open"
    (no answer) or "cut".
    """
    if verdict.right:
        return "right"
    if verdict.mistake:
        return "mistake"
    kinds = {
        "misconception": "mistake",
        **dict.fromkeys(UNANSWERED, "open"),
        **dict.fromkeys(CUT, "cut"),
    }
    return kinds.get(verdict.kind, "wrong")


def worth(score: Score, name: str) -> str:
    """A question's points in words: "1.5 of 2", "1 of 2, extra credit", "excused"."""
    if name not in score.possible:
        return "excused" if name in score.excused else "does not count"
    extra = ", extra credit" if name in score.extra else ""
    if name in score.unmarked:
        return f"of {number(score.possible[name])}, not marked yet{extra}"
    return f"{number(score.points[name])} of {number(score.possible[name])}{extra}"


# What an answer in words came to, in words.
IN_WORDS = {
    "marked": "✓ Marked",
    "open": "Not marked yet",
    "empty": "○ No answer",
    "missing": "○ No answer",
}
_WHERE = {
    "empty": "Nothing is written in the cell for this answer.",
    "missing": "The cell for this answer is not in the notebook, or its marker is gone.",
}


def in_words(answer: InWords) -> list[str]:
    """What is said of an answer in words besides its points: where it is missing, or comments."""
    return [*filter(None, [_WHERE.get(answer.state)]), *answer.comments]


def waiting(score: Score) -> str:
    """What to tell a student whose answers are not all marked yet; "" if they are."""
    count = len(score.unmarked)
    if not count:
        return ""
    those = "1 answer is" if count == 1 else f"{count} answers are"
    return f"{those} not marked yet, and not counted for now."


def excuse(score: Score) -> str:
    """What an excuse means, to the student."""
    if score.exempt:
        return "You are excused from this homework: it does not count for you."
    them = "a question" if len(score.excused) == 1 else f"{len(score.excused)} questions"
    points = "point" if score.out_of == 1 else "points"
    return f"You are excused from {them}: {number(score.out_of)} {points} can be reached."


def mistake(verdict: Verdict) -> str:
    """The mistake's name in words: "softmax over queries"."""
    return verdict.mistake.replace("_", " ")


def lines(question: Question, verdict: Verdict) -> list[str]:
    """A verdict in plain lines, for platforms that show text."""
    if verdict.right:
        return [plain(verdict.message)] if verdict.message else []
    told = [plain(verdict.message)] if verdict.message else ["Not answered."]
    told += [f"On: {plain(verdict.on)}."] if verdict.on else []
    told += [plain(verdict.differs)] if verdict.differs else []
    where = section(question)
    return (
        [*told, f"Reread: {where.words}" + (f" ({where.link})" if where.link else "")]
        if where
        else told
    )


def parts(score: Score, question: Question) -> list[tuple[str, str]]:
    """For a partly right answer, each demand of the question with its mark, and what it earns:
    ("✓ a query with no allowed key gets zeros", "1 of 1").
    """
    return [
        (
            f"{'✓' if part.holds else '✗'} {part.says}",
            f"{number(part.earned)} of {number(part.points)}",
        )
        for part in score.parts.get(question.name, ())
    ]


def plain(text: str) -> str:
    """Text without control characters and without marks that would turn the direction of what
    follows.
    """
    return _UNSEEN.sub("", text.encode("utf-8", "backslashreplace").decode())


def moment(iso: str) -> str:
    """A time in ISO 8601 as people write it: "21 November 2026, 23:35 UTC". What is none stays as
    it is.
    """
    try:
        time = datetime.fromisoformat(iso)
    except ValueError:
        return iso
    return f"{time.day} {time:%B %Y, %H:%M} {time:%Z}".strip()


@cache
def _book() -> str:
    """The address of the book this package belongs to; "" where the package is not installed."""
    try:
        urls = metadata("lectures-lib").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    return next((url.split(", ", 1)[1].rstrip("/") for url in urls if url.startswith("Book, ")), "")
