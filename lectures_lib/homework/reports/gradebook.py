"""grades.csv: one row a student."""

import csv
import io
import re

from lectures_lib.homework.grading.records import Result
from lectures_lib.homework.questions import Homework


def points(homework: Homework, result: Result) -> dict[str, int]:
    """The points a result earns, by question."""
    return {verdict.question: homework[verdict.question].points if verdict.right else 0 for verdict in result.verdicts}


def table(homework: Homework, results: list[Result]) -> str:
    """The text of grades.csv: student, total, one column a question, and remarks."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["student", "total", *(question.name for question in homework.questions), "remarks"])
    for result in results:
        earned = points(homework, result)
        row = [earned.get(question.name, 0) for question in homework.questions]
        writer.writerow([harmless(result.student), sum(row), *row, harmless(remarks(result))])
    return text.getvalue()


def remarks(result: Result) -> str:
    """What an instructor should know at a glance: why a file was not read, else the mistakes by name."""
    if result.problem:
        return result.problem
    wrong = [f"{verdict.question.split('.')[1]}: {verdict.mistake or verdict.kind}" for verdict in result.verdicts if not verdict.right]
    stopped = [f"cell {number} stopped" for number, _ in result.cells]
    uses = [f"mentions {name}" for name in result.uses]
    return "; ".join(wrong + stopped + uses)


def harmless(text: str) -> str:
    """A text that stays on its line and that no spreadsheet takes for a formula."""
    text = re.sub(r"[\r\n]+", " ", text)
    return f"'{text}" if text.lstrip(" ").startswith(("=", "+", "-", "@", "\t")) else text
