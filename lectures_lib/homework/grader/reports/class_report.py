"""class_report.html: what an instructor wants to know before the next lecture."""

from collections.abc import Iterable

from lectures_lib.homework.grader.grading.records import Result
from lectures_lib.homework.grader.grading.rules import Rules
from lectures_lib.homework.grader.reports import told
from lectures_lib.homework.grader.reports.class_summary import summary
from lectures_lib.homework.grader.reports.page import rendered
from lectures_lib.homework.questions import Homework

STATES = {
    "right": "right",
    "mistake": "known mistake",
    "wrong": "wrong otherwise",
    "open": "no answer",
    "cut": "cut off",
}


def page(homework: Homework, results: Iterable[Result], rules: Rules | None = None) -> str:
    """The text of the report: one HTML page that needs nothing else."""
    return rendered(
        "class_report.html",
        title=told.title(homework),
        states=STATES,
        heading=homework.heading,
        **{"class": summary(homework, results, rules)},
    )
