"""The names by which a file of rules speaks of questions, mistakes and students."""

from collections.abc import Iterable

from lectures_lib.homework.grader.grading.records import Result
from lectures_lib.homework.grader.submissions.collect import Submission
from lectures_lib.homework.questions import Homework
from lectures_lib.homework.variants import ANOTHER
from lectures_lib.homework.verdict import EVERYWHERE


def full_name(homework: Homework, name: str, by_hand: Iterable[str] = ()) -> str:
    """The full name of a question that is named with or without its homework; of the bank, or one
    of those in `by_hand`.

    Raises:
        ValueError: if there is none; the message lists those that there are.
    """
    known = [question.name for question in homework.questions]
    known += [f"{homework.name}.{name}" for name in by_hand]
    full = name if "." in name else f"{homework.name}.{name}"
    if full not in known:
        raise ValueError(
            f"{homework.name} has no question {name!r}; it has "
            f"{', '.join(each.split('.')[1] for each in known)}"
        )
    return full


def short_name(question: str) -> str:
    """A question's name without its homework."""
    return question.split(".")[-1]


def check_mistake(homework: Homework, question: str, mistake: str) -> None:
    """Refuse the name of a mistake that the question does not know.

    Raises:
        ValueError: the message lists those that there are.
    """
    asked = homework[full_name(homework, question)]
    known = list(dict.fromkeys(each.name for each in asked.misconceptions))
    known += [ANOTHER] if asked.varied else []
    known += EVERYWHERE
    if mistake not in known:
        raise ValueError(f"{question} knows no mistake {mistake!r}; it knows {', '.join(known)}")


def check_demands(homework: Homework, question: str, worth: list, points: float | None) -> None:
    """Refuse points for a question's demands that are not as many as these, or do not add up.

    Args:
        points: the question's by the rules; None: the bank's.

    Raises:
        ValueError: the message says what there is.
    """
    asked = homework[full_name(homework, question)]
    if not asked.demands:
        raise ValueError(f"{question} has one demand: an answer is right or not")
    if len(worth) != len(asked.demands):
        listed = "; ".join(demand.says for demand in asked.demands)
        raise ValueError(f"{question} has {len(asked.demands)} demands: {listed}")
    whole = asked.points if points is None else points
    if round(sum(worth), 2) != whole:
        raise ValueError(f"must add up to the {whole:g} points of {question}")


def called(results: Iterable[Result]) -> set[str]:
    """Every name by which a file of rules may call somebody of this class."""
    return {name for result in results for name in names_of(result)}


def names_of(work: Result | Submission) -> list[str]:
    """Every name by which a file of rules may call whoever handed this in: of Moodle's "Participant
    4711" also the number alone.
    """
    ids = [name for kind, name in work.ids.items() if kind != "canvas_late"]
    number = work.ids.get("moodle", "").removeprefix("Participant ")
    return [work.student, *ids, *([number] if number else [])]
