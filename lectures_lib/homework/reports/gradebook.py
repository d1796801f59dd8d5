"""grades.csv: one row a student."""

from collections.abc import Iterable

from lectures_lib.homework.grading.records import Result
from lectures_lib.homework.grading.rules import Rules
from lectures_lib.homework.questions import Homework
from lectures_lib.homework.reports.spreadsheet import harmless, number
from lectures_lib.homework.reports.spreadsheet import table as spreadsheet


def points(homework: Homework, result: Result) -> dict[str, int]:
    """The points a result earns by the question bank itself, by question."""
    return {verdict.question: homework[verdict.question].points if verdict.right else 0 for verdict in result.verdicts}


def table(homework: Homework, results: Iterable[Result], rules: Rules | None = None) -> str:
    """The text of grades.csv: student, total, one column a question, and remarks.

    Name, time and deduction stand between the questions and the remarks where anybody has one.
    """
    results = list(results)
    scores = [(rules or Rules()).score(homework, result) for result in results]
    rows = list(zip(results, scores, strict=True))
    more = {
        "name": [harmless(result.name) for result in results],
        "handed_in": [harmless(result.handed_in) for result in results],
        "deducted": [number(score.deducted) if score.deducted else "" for score in scores],
    }
    more = {title: cells for title, cells in more.items() if any(cells)}
    lines = [["student", "total", *(question.name for question in homework.questions), *more, "remarks"]]
    for i, (result, score) in enumerate(rows):
        each = [number(score.points.get(question.name, 0)) for question in homework.questions]
        lines.append(
            [harmless(result.student), number(score.total), *each, *(cells[i] for cells in more.values()), harmless(remarks(result))]
        )
    return spreadsheet(lines)


def remarks(result: Result) -> str:
    """What an instructor should know at a glance: why a file was not read, else the mistakes by name."""
    if result.problem:
        return result.problem
    wrong = [f"{verdict.question.split('.')[1]}: {verdict.mistake or verdict.kind}" for verdict in result.verdicts if not verdict.right]
    stopped = [f"cell {number} stopped" for number, _ in result.cells]
    uses = [f"mentions {name}" for name in result.uses]
    return "; ".join(wrong + stopped + uses)
