"""What a course decides: points of the questions, the deadline, what lateness costs."""

from dataclasses import dataclass

from lectures_lib.homework.grading.records import Result
from lectures_lib.homework.questions import Homework


@dataclass(frozen=True)
class Score:
    """What a submission is worth.

    Attributes:
        points: by question's full name, before any deduction.
        possible: by question's full name.
        deducted: points taken for lateness.
        days_late: 0 where it was in time or nobody knows.
    """

    points: dict[str, float]
    possible: dict[str, float]
    deducted: float = 0.0
    days_late: float = 0.0

    @property
    def total(self) -> float:
        """What counts in the end."""
        return round(sum(self.points.values()) - self.deducted, 2)


@dataclass(frozen=True)
class Rules:
    """The rules of one homework; these, made without arguments, are those of the question bank."""

    def score(self, homework: Homework, result: Result) -> Score:
        """The points a result earns under these rules."""
        possible = {question.name: float(question.points) for question in homework.questions}
        right = {verdict.question for verdict in result.verdicts if verdict.right}
        return Score({name: points if name in right else 0.0 for name, points in possible.items()}, possible)
