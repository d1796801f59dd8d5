"""What may stand below the headings of a course's file: points, excuses, decisions, questions that
people mark, variants.
"""

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

ALL = "all"  # an excuse from every question
OFF = "off"  # no points for the demands of a question, or of any


class At(ValueError):
    """Something wrong with a setting further inside than where it was noticed: `path` leads from
    there to it.
    """

    def __init__(self, path: tuple[str, ...], message: str):
        super().__init__(message)
        self.path = path


def _cents(value: float) -> float:
    if round(value, 2) != value:
        raise ValueError(f"must have at most two decimals, and is {value}")
    return value


def _all_or_named(value: object) -> object:
    """An excuse: "all", or a list of questions."""
    if isinstance(value, list) or value == ALL:
        return [ALL] if value == ALL else value
    given = "empty" if value is None else f"{value!r}"
    raise ValueError(f"must be all, or a list of questions: [one, another], and is {given}")


def _off_or_questions(value: object) -> object:
    """What demands are worth: "off", or by question."""
    if value == OFF or isinstance(value, dict):
        return {ALL: OFF} if value == OFF else value
    given = "empty" if value is None else f"{value!r}"
    raise ValueError(f"must be off, or questions with off or points, and is {given}")


def _off_or_points(value: object) -> object:
    """What the demands of a question are worth: "off", or a list of points."""
    if value == OFF:
        return []
    if isinstance(value, list) and value:
        return value
    given = "empty" if not value else f"{value!r}"
    raise ValueError(f"must be off, or the points of each demand: [1, 0.5, 0.5], and is {given}")


Points = Annotated[float, Field(ge=0, le=10_000, allow_inf_nan=False), AfterValidator(_cents)]
Percent = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
Excuse = Annotated[list[str], BeforeValidator(_all_or_named)]
Weights = Annotated[list[Points], BeforeValidator(_off_or_points)]
Demands = Annotated[dict[str, Weights], BeforeValidator(_off_or_questions)]


class Decision(BaseModel):
    """What a person decided about one answer of one student, whatever the grader found.

    Attributes:
        points: what the answer is worth; more than the question's are allowed.
        comment: what to tell the student.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    points: Points
    comment: Annotated[str, Field(max_length=2_000)] = ""


class TextQuestion(BaseModel):
    """A question that is answered in words, and marked by a person.

    Attributes:
        points: what it is worth.
        title: a few words.
        asks: the question, in Markdown.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    points: Points
    title: Annotated[str, Field(min_length=1, max_length=200)]
    asks: Annotated[str, Field(min_length=1, max_length=10_000)]


class Variant(BaseModel):
    """Which variants of the questions a course asks; see `homework.variants`.

    Attributes:
        seed: a whole number, such as the year.
        students: those with a variant of their own, named as in `extensions`; the others share one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    seed: Annotated[int, Field(ge=1, le=1_000_000_000)]
    students: list[Annotated[str, Field(min_length=1, max_length=200)]] = []

    @model_validator(mode="before")
    @classmethod
    def _a_number_is_the_seed(cls, given: Any) -> Any:
        if type(given) is int:
            return {"seed": given}
        if not isinstance(given, dict):
            raise ValueError("must be a whole number, such as the year, or a seed and students")
        return given

    @model_validator(mode="after")
    def _nobody_twice(self) -> "Variant":
        seen = set()
        for student in self.students:
            if student in seen:
                raise At(("students",), f"{student} is named twice")
            seen.add(student)
        return self
