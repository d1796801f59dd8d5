"""canvas_import.csv: one assignment's column, for *Grades → Import* in Canvas."""

import re
from collections.abc import Iterable

from lectures_lib.homework.grader.grading.records import Result
from lectures_lib.homework.grader.grading.rules import Rules
from lectures_lib.homework.grader.reports.spreadsheet import harmless, number
from lectures_lib.homework.grader.reports.spreadsheet import table as spreadsheet
from lectures_lib.homework.grader.reports.told import graded, title
from lectures_lib.homework.questions import Homework

# The columns before the assignments, in the order in which Canvas exports and expects them
# (lib/gradebook_importer.rb there).
STUDENT = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
EXCUSED = "EX"  # in whatever case (casecmp("EX") there)


def table(
    homework: Homework, results: Iterable[Result], rules: Rules | None = None, assignment: str = ""
) -> tuple[str, list[str]]:
    """The text of canvas_import.csv, "" where nobody has a number in Canvas, and warnings.

    Canvas finds a student by "ID", which is the number that its files carry in their names, and
    needs nothing else. Whoever is excused from everything has its mark for that, EX. It keeps one
    maximum for all: whoever is excused from a part gets the same share of it.

    Args:
        homework, results, rules: what to report.
        assignment: the assignment's title in Canvas, which may end in its number: "Attention
            (4711)". Canvas asks which one is meant where no title agrees.
    """
    rules = rules or Rules()
    possible = rules.score(homework, Result("", (), "")).out_of
    rows, without, unmarked = [], 0, 0
    for result in graded(results):
        number_there = result.ids.get("canvas", "")
        if not re.fullmatch(r"[0-9]{1,19}", number_there):
            without += 1
            continue
        score = rules.score(homework, result)
        if score.unmarked:
            unmarked += 1
            continue
        points = EXCUSED if score.exempt else number(score.beside(possible))
        rows.append([_name(result), number_there, "", "", "", points])
    waiting = [f"{unmarked} with answers that are not marked yet are not in canvas_import.csv"]
    if not rows:
        none = f"{unmarked} with answers that are not marked yet: until then, no canvas_import.csv"
        return "", [none] * bool(unmarked)
    missing = (
        f"{without} of {without + unmarked + len(rows)} submissions have no number in Canvas and "
        f"are not in canvas_import.csv"
    )
    head = [
        [*STUDENT, assignment or title(homework)],
        ["    Points Possible", "", "", "", "", number(possible)],
    ]
    return spreadsheet([*head, *rows]), [missing] * bool(without) + waiting * bool(unmarked)


def _name(result: Result) -> str:
    """The student's name, which must not look like the row of possible points: Canvas recognises
    that one by these words.
    """
    return harmless(result.name or result.student).replace("Points Possible", "points possible")
