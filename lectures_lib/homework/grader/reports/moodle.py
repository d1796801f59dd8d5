"""moodle_import.csv: a grading worksheet, for *Upload grading worksheet* in a Moodle assignment."""

import re
from collections.abc import Iterable

from lectures_lib.homework.grader.grading.records import Result
from lectures_lib.homework.grader.grading.rules import Rules
from lectures_lib.homework.grader.grading.score import Score
from lectures_lib.homework.grader.reports.page import marked
from lectures_lib.homework.grader.reports.spreadsheet import harmless, number
from lectures_lib.homework.grader.reports.spreadsheet import table as spreadsheet
from lectures_lib.homework.grader.reports.told import excuse, graded, in_words, lines, plain, worth
from lectures_lib.homework.grader.reports.told import parts as demands
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
    """The text of moodle_import.csv, "" where nobody has an identifier of Moodle's, and warnings.

    Moodle has no mark for an excuse: whoever is excused from everything is left out, so that no
    grade is set. It keeps one maximum for all: whoever is excused from a part gets the same share
    of it.
    """
    rules = rules or Rules()
    whole = rules.score(homework, Result("", (), "")).out_of
    rows, without, unmarked, above = [], 0, 0, []
    for result in graded(results):
        found = re.fullmatch(r"(?:Participant )?([0-9]{1,19})", result.ids.get("moodle", ""))
        if not found:
            without += 1
            continue
        score = rules.score(homework, result)
        if score.unmarked or score.exempt:
            unmarked += bool(score.unmarked)
            continue
        points = score.beside(whole)
        above += [points] * (points > whole)
        name = harmless(result.name or result.student)
        comments = _comments(homework, result, score)
        rows.append(
            [
                f"Participant {found[1]}",
                name,
                number(points),
                number(whole),
                "",
                comments,
            ]
        )
    waiting = [f"{unmarked} with answers that are not marked yet are not in moodle_import.csv"]
    if not rows:
        none = f"{unmarked} with answers that are not marked yet: until then, no moodle_import.csv"
        return "", [none] * bool(unmarked)
    missing = (
        f"{without} of {without + unmarked + len(rows)} submissions have no identifier of Moodle's "
        f"and are not in moodle_import.csv"
    )
    skipped = (
        f"{len(above)} of {len(rows)} grades in moodle_import.csv lie above {number(whole)}, and "
        f"Moodle skips a grade above the assignment's maximum: set that to {number(max(above))} or "
        f"more, or a cap in the rules"
        if above
        else ""
    )
    return spreadsheet([HEAD, *rows]), (
        [missing] * bool(without) + waiting * bool(unmarked) + [skipped] * bool(above)
    )


def _comments(homework: Homework, result: Result, score: Score) -> str:
    """Feedback as Moodle keeps it: HTML, here with nothing from a student in it but text."""
    if result.problem:
        parts = [f"<p>{_text(result.problem)}</p>"]
    else:
        parts = [f"<p>{_text(note)}</p>" for note in result.notes]
        for verdict in result.verdicts:
            question = homework[verdict.question]
            head = f"{homework.heading(question)}: {worth(score, question.name)}"
            each = [f"{says} ({earns})" for says, earns in demands(score, question)]
            said = [f"<br>{_text(line)}" for line in [*lines(question, verdict), *each]]
            parts.append(f"<p><b>{_text(head)}</b>{''.join(said)}</p>")
    for name, answer in score.in_words.items():
        words = "".join(f"<br>{_text(line)}" for line in in_words(answer))
        parts.append(f"<p><b>{_text(answer.title)}: {worth(score, name)}</b>{words}</p>")
    if score.excused:
        parts.append(f"<p>{excuse(score)} {number(score.total)} of {number(score.out_of)}.</p>")
    if score.deducted:
        parts.append(f"<p>Late: {number(score.deducted)} points less.</p>")
    if score.note:
        parts.append(f"<p>{_text(score.note)}</p>")
    # An entity ends in a semicolon, where some spreadsheets begin a new cell: an invisible word
    # joiner keeps it from being a formula.
    return re.sub(r";(?=\s*[=+\-@＝＋－＠])", ";\u2060", "".join(parts))


def _text(text: str) -> str:
    return marked(" ".join(plain(text).split()))
