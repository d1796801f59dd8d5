"""grades.csv: one row a student."""

from collections.abc import Iterable

from lectures_lib.homework.grader.grading.records import Result
from lectures_lib.homework.grader.grading.rules import Rules
from lectures_lib.homework.grader.grading.score import Score
from lectures_lib.homework.grader.reports.spreadsheet import harmless, number
from lectures_lib.homework.grader.reports.spreadsheet import table as spreadsheet
from lectures_lib.homework.questions import Homework
from lectures_lib.homework.verdict import Verdict

_EMPTY = ("empty", "missing")


def points(homework: Homework, result: Result) -> dict[str, int]:
    """The points a result earns by the question bank itself, by question."""
    return {
        verdict.question: homework[verdict.question].points if verdict.right else 0
        for verdict in result.verdicts
    }


def table(homework: Homework, results: Iterable[Result], rules: Rules | None = None) -> str:
    """The text of grades.csv: student, total, one column a question, and remarks.

    Name, time, deduction, and what was possible stand between the questions and the remarks where
    anybody has one, or has another than the class. Cells of questions that are withdrawn or excused
    or not marked yet are empty, and so are all points of a submission that the grader failed on.
    """
    results, rules = list(results), rules or Rules()
    scores = [rules.score(homework, result) for result in results]
    whole = rules.score(homework, Result("", (), "")).out_of
    rows = list(zip(results, scores, strict=True))
    more = {
        "name": [harmless(result.name) for result in results],
        "handed_in": [harmless(result.handed_in) for result in results],
        "deducted": [
            number(score.deducted) if score.deducted and not result.fault else ""
            for result, score in rows
        ],
        "possible": [number(score.out_of) if score.out_of != whole else "" for score in scores],
    }
    more = {title: cells for title, cells in more.items() if any(cells)}
    names = [question.name for question in homework.questions] + [*rules.points_by_hand(homework)]
    lines = [["student", "total", *names, *more, "remarks"]]
    for i, (result, score) in enumerate(rows):
        graded = {} if result.fault else score.points
        each = [number(graded[name]) if name in graded else "" for name in names]
        seen = [cells[i] for cells in more.values()]
        total = "" if result.fault or score.exempt else number(score.total)
        lines.append(
            [
                harmless(result.student),
                total,
                *each,
                *seen,
                harmless(remarks(result, _by_rules(score))),
            ]
        )
    return spreadsheet(lines)


def remarks(result: Result, more: str = "") -> str:
    """What an instructor should know at a glance: why a file was not read, else the mistakes by
    name; and `more`.
    """
    if result.fault:
        return f"NOT GRADED. {result.problem}"
    if result.problem:
        return f"{result.problem} {more}" if more else result.problem
    elsewhere = [
        f"{_short(verdict)}: see its page"
        for verdict in result.verdicts
        if verdict.right and verdict.message
    ]
    wrong = [
        f"{_short(verdict)}: {verdict.mistake or verdict.kind}"
        for verdict in result.verdicts
        if not verdict.right
    ]
    stopped = [f"cell {number} stopped" for number, _ in result.cells]
    uses = [f"mentions {name}" for name in result.uses]
    return "; ".join([*result.notes, *wrong, *elsewhere, *stopped, *uses, *[more] * bool(more)])


def _by_rules(score: Score) -> str:
    """What people decided about this student, and what they still have to."""
    empty = [name for name, answer in score.in_words.items() if answer.state in _EMPTY]
    excused, decided, unmarked, empty = (
        ", ".join(name.split(".")[1] for name in names)
        for names in (score.excused, score.decided, score.unmarked, empty)
    )
    told = [
        f"no answer: {empty}" * bool(empty),
        f"not marked: {unmarked}" * bool(unmarked),
        "excused" if score.exempt else f"excused: {excused}" * bool(excused),
        f"decided: {decided}" * bool(decided),
        score.remark,
    ]
    return "; ".join(filter(None, told))


def _short(verdict: Verdict) -> str:
    return verdict.question.split(".")[1]
