"""All that is written when a class has been graded."""

import re
from collections.abc import Iterable
from pathlib import Path

from lectures_lib.files import write_whole
from lectures_lib.homework.grader.grading.names import called
from lectures_lib.homework.grader.grading.records import Result
from lectures_lib.homework.grader.grading.rules import Rules
from lectures_lib.homework.grader.grading.score import Score
from lectures_lib.homework.grader.reports import (
    canvas,
    class_report,
    feedback,
    gradebook,
    kept,
    moodle,
)
from lectures_lib.homework.questions import Homework


def write_all(
    homework: Homework, results: Iterable[Result], out: Path, rules: Rules | None = None
) -> list[str]:
    """Write grades.csv, class_report.html, feedback/, and import files for the platforms that
    submissions came from.

    Each file is written whole or not at all, and replaces the one of the last time; but a table
    that somebody has edited stays, and the new one is written beside it.

    Args:
        homework: the questions.
        results: one for each student, in any order.
        out: the folder; made if it is not there.
        rules: what the course decides; None: the question bank's own points.

    Returns:
        What an instructor should be told: who is in no import file, what the rules leave open, and
            how many files could not be read.

    Raises:
        OSError: if a file cannot be written. Those before it are there.
    """
    results = sorted(results, key=lambda result: result.student)
    out.mkdir(parents=True, exist_ok=True)
    rules = rules or Rules()
    absent = _absent(results, rules)
    everybody = [*results, *absent]
    write_whole(out / "class_report.html", class_report.page(homework, results, rules))
    warnings = []
    for name, (text, missing) in (
        ("grades.csv", (gradebook.table(homework, everybody, rules), [])),
        ("canvas_import.csv", canvas.table(homework, everybody, rules)),
        ("moodle_import.csv", moodle.table(homework, results, rules)),
    ):
        edited = kept.replace(out / name, text)
        warnings += [edited] * bool(edited) + missing
    feedback.write_all(homework, results, out / "feedback", rules)
    if unused := rules.unused_marks(results):
        warnings.append(
            f"{unused} marks are for answers that were changed or withdrawn since; `marking` makes "
            f"sheets of what is new"
        )
    if waiting := sum(bool(rules.score(homework, result).unmarked) for result in results):
        warnings.append(
            f"{waiting} of {len(results)} have an answer that is not marked yet, and a total "
            f"without it; see the remarks in grades.csv"
        )
    warnings += [agreement.told for agreement in rules.agreement]
    if absent:
        warnings.append(f"{len(absent)} excused from this homework handed in nothing")
    if unused := rules.unused(results):
        warnings.append(
            f"the rules name {', '.join(unused[:20])}{' and more' if len(unused) > 20 else ''}, "
            f"who handed in nothing, or are nobody in this class"
        )
    if remarked := sum(bool(rules.score(homework, result).remark) for result in results):
        warnings.append(
            f"{remarked} of {len(results)} need a decision about lateness; see the remarks in "
            f"grades.csv"
        )
    if failed := sum(result.fault for result in results):
        warnings.append(
            f"{failed} of {len(results)} were NOT graded, through a fault of the grader: no "
            f"points, no row in import files"
        )
    unread = [
        rules.score(homework, result) for result in results if result.problem and not result.fault
    ]
    if unread:
        warnings.append(
            f"{len(unread)} of {len(results)} files could not be read{_counting(unread)}; "
            f"class_report.html says which and why"
        )
    return warnings


def _counting(unread: list[Score]) -> str:
    """What files count that could not be read: nothing, but where a person has settled it."""
    zeros = sum(not (score.exempt or score.decided) for score in unread)
    if zeros == len(unread):
        return " and count 0 points"
    return (
        f"; {zeros} count 0 points, the others what the rules say"
        if zeros
        else (" and count what the rules say")
    )


def _absent(results: list[Result], rules: Rules) -> list[Result]:
    """A row for each student who is excused from everything and handed in nothing. Where the class
    has numbers of Canvas, the name's own number is taken for one: "23456", "hoppergrace_23456".
    """
    of_canvas = any("canvas" in result.ids for result in results)
    absent = []
    for name in rules.excused_absent(called(results)):
        number = re.fullmatch(r"(?:.*_)?([0-9]{1,19})", name, re.DOTALL)
        ids = {"canvas": number[1]} if of_canvas and number else {}
        absent.append(Result(name, (), "", ids=ids))
    return absent
