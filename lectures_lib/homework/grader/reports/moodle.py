"""moodle_import.csv: a grading worksheet, for *Upload grading worksheet* in a Moodle assignment."""

import re
from collections.abc import Iterable

from lectures_lib.homework.grader.grading.records import Result
from lectures_lib.homework.grader.grading.rules import Rules, Score
from lectures_lib.homework.grader.reports.page import marked
from lectures_lib.homework.grader.reports.spreadsheet import harmless, number
from lectures_lib.homework.grader.reports.spreadsheet import table as spreadsheet
from lectures_lib.homework.grader.reports.told import graded, lines, plain
from lectures_lib.homework.questions import Homework

# By these names Moodle, in English, finds its columns
# (mod/assign/feedback/offline/importgradeslib.php there); it refuses a worksheet that lacks the
# first, the third or the fifth.
HEAD = [
    "Identifier",
    "Full name",
    "Grade",
    "Maximum Grade",
    "Last modified (grade)",
    "Feedback comments",
]


def table(
    homework: Homework, results: Iterable[Result], rules: Rules | None = None
) -> tuple[str, list[str]]:
    """The text of moodle_import.csv, "" where nobody has an identifier of Moodle's, and
    warnings.
    """
    rules = rules or Rules()
    rows, without = [], 0
    for result in graded(results):
        found = re.fullmatch(r"(?:Participant )?([0-9]{1,19})", result.ids.get("moodle", ""))
        if not found:
            without += 1
            continue
        score = rules.score(homework, result)
        name = harmless(result.name or result.student)
        comments = _comments(homework, result, score)
        rows.append(
            [
                f"Participant {found[1]}",
                name,
                number(score.total),
                number(score.out_of),
                "",
                comments,
            ]
        )
    if not rows:
        return "", []
    missing = (
        f"{without} of {without + len(rows)} submissions have no identifier of Moodle's and are "
        f"not in moodle_import.csv"
    )
    return spreadsheet([HEAD, *rows]), [missing] if without else []


def _comments(homework: Homework, result: Result, score: Score) -> str:
    """Feedback as Moodle keeps it: HTML, here with nothing from a student in it but text."""
    if result.problem:
        parts = [f"<p>{_text(result.problem)}</p>"]
    else:
        parts = [f"<p>{_text(note)}</p>" for note in result.notes]
        for verdict in result.verdicts:
            question = homework[verdict.question]
            counts = question.name in score.possible
            points = (
                f"{number(score.points[question.name])} of {number(score.possible[question.name])}"
                if counts
                else "does not count"
            )
            told = "<br>".join(_text(line) for line in lines(question, verdict))
            parts.append(
                f"<p><b>{_text(question.title)}: {points}</b>{'<br>' if told else ''}{told}</p>"
            )
    if score.deducted:
        parts.append(f"<p>Late: {number(score.deducted)} points less.</p>")
    if score.note:
        parts.append(f"<p>{_text(score.note)}</p>")
    # An entity ends in a semicolon, where some spreadsheets begin a new cell: an invisible word
    # joiner keeps it from being a formula.
    return re.sub(r";(?=\s*[=+\-@＝＋－＠])", ";\u2060", "".join(parts))


def _text(text: str) -> str:
    return marked(" ".join(plain(text).split()))
