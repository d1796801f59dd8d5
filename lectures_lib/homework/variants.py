"""Variants of a homework: the same questions with other constants, so that last year's answers, and
those in the public repository, do not fit.

A question that can vary says so in its bank (`questions.Varied`). Variant 0 is the course's own,
and is never drawn: its answers are public. A seed draws from the others; the next whole number
draws another one for every question that varies.
"""

import functools
import hashlib
import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from lectures_lib.homework.questions import Homework, Misconception, Question

ANOTHER = "another_variant"  # the mistake of an answer that is right in another variant
_chosen: dict[str, int] = {}  # in a student's notebook: the variant of each question that varies


@dataclass(frozen=True)
class Draw:
    """What a course has decided about variants.

    Attributes:
        seed: a whole number, such as the year.
        students: those who have a variant of their own, named as in the grade book's first column
            or by one of the platform's ids. All others share one.
    """

    seed: int
    students: tuple[str, ...] = ()

    def homework(self, homework: Homework, names: Iterable[str] = ()) -> Homework:
        """The homework of a student who is called all of these names; without any, the one that all
        others share.
        """
        student = next((name for name in names if name in self.students), "")
        return of_seed(homework, self.seed, student)

    def all(self, homework: Homework) -> list[Question]:
        """Every question in every variant that somebody has."""
        return [
            with_variant(question, drawn)
            for question in homework.questions
            for drawn in sorted({number(question, self.seed, s) for s in ("", *self.students)})
        ]


def of_seed(homework: Homework, seed: int, student: str = "") -> Homework:
    """The homework with what this seed draws, for one student or for everybody."""
    questions = [
        with_variant(question, number(question, seed, student)) for question in homework.questions
    ]
    return replace(homework, questions=tuple(questions))


def number(question: Question, seed: int, student: str = "") -> int:
    """The variant that a seed draws: 1 or more; 0 for a question that does not vary. The following
    seed never draws the same one.
    """
    if question.varied is None:
        return 0
    start = hashlib.sha256(f"{question.name}/{student}".encode("utf-8", "backslashreplace"))
    return 1 + (int.from_bytes(start.digest()[:4]) + seed) % (len(question.varied.values) - 1)


@functools.lru_cache(maxsize=256)
def with_variant(question: Question, number: int) -> Question:
    """The question in that variant; 0 is the question itself.

    Raises:
        IndexError: if it has no such variant.
    """
    varied = question.varied
    if number == 0 or varied is None:
        return question
    value = varied.values[number]
    put = varied.told(value)
    mistakes = [
        replace(
            mistake,
            answer=_bound(mistake.answer, varied.name, value),
            diagnosis=reworded(mistake.diagnosis, put),
        )
        for mistake in question.misconceptions
    ]
    others = [
        Misconception(
            ANOTHER,
            f"This answers another variant of the question, such as last year's. In yours, "
            f"{varied.says(value)}.",
            _bound(question.reference, varied.name, other),
        )
        for i, other in enumerate(varied.values)
        if i != number
    ]
    return replace(
        question,
        cases=_bound(question.cases, varied.name, value),
        reference=_bound(question.reference, varied.name, value),
        misconceptions=(*others, *mistakes),
        variant=number,
    )


def reworded(text: str, put: dict[str, str]) -> str:
    """`text` with each key of `put` replaced by its value, all at once. Where a key has a space,
    the line may break.
    """
    if not put:
        return text
    pattern = "|".join(map(_pattern, sorted(put, key=len, reverse=True)))
    return re.sub(pattern, lambda found: put[" ".join(found[0].split())], text)


def missing(text: str, put: dict[str, str]) -> list[str]:
    """The keys of `put` that do not stand in `text`."""
    return [each for each in put if not re.search(_pattern(each), text)]


def _pattern(text: str) -> str:
    return r"\s+".join(map(re.escape, text.split(" ")))


def use_variants(numbers: dict[str, int]) -> None:
    """In a student's notebook: which variant of each question `check` and `example` judge by. The
    grader does not ask what stands here.
    """
    _chosen.clear()
    _chosen.update(numbers)


def as_chosen(question: Question) -> Question:
    """The question in the variant that `use_variants` named."""
    return with_variant(question, _chosen.get(question.name, 0))


def _bound(answer: Callable, name: str, value: Any) -> Callable:
    """`answer` with one keyword given and no longer to be seen; as it is, if it takes none of this
    name.
    """
    signature = inspect.signature(answer)
    if name not in signature.parameters:
        return answer
    inner = functools.partial(answer, **{name: value})

    def call(*args: Any, **kwargs: Any) -> Any:
        return inner(*args, **kwargs)

    kept = [each for each in signature.parameters.values() if each.name != name]
    call.__signature__ = signature.replace(parameters=kept)
    original = getattr(answer, "func", answer)
    call.__name__, call.__module__ = original.__name__, original.__module__
    return call
