"""What a course decides: the points of the questions, the deadline, what lateness costs.
`course_file` reads it from one YAML file a course.
"""

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from lectures_lib.homework.grader.grading.late import LatePolicy, after_lateness
from lectures_lib.homework.grader.grading.moments import Moment, moment, told
from lectures_lib.homework.grader.grading.names import called, full_name, names_of, short_name
from lectures_lib.homework.grader.grading.records import Result
from lectures_lib.homework.grader.grading.score import InWords, Part, Score
from lectures_lib.homework.grader.grading.settings import (
    ALL,
    At,
    Decision,
    Demands,
    Excuse,
    Percent,
    Points,
    TextQuestion,
    Variant,
)
from lectures_lib.homework.grader.marking.marks import Agreement, Marks
from lectures_lib.homework.questions import Homework
from lectures_lib.homework.text_answers import Asked
from lectures_lib.homework.variants import Draw
from lectures_lib.homework.verdict import Verdict

_GROUPS = (
    "points",
    "withdrawn",
    "extra",
    "excused",
    "extensions",
    "handed_in",
    "mistakes",
    "demands",
    "decisions",
    "by_hand",
    "marks",
)
# Percent that an answer earns where no rule says otherwise: its values are right, and only training
# through it would stop.
OF_THEMSELVES = {"no_gradient": 50.0, "written_over": 50.0}
_CANVAS_LATE = (
    "Canvas marks this as late and does not tell when it was handed in, so nothing is taken off: "
    "set handed_in for this student."
)
_NO_DEADLINE = "Canvas marks this as late; no deadline is set, so nothing is taken off."


class Rules(BaseModel):
    """The rules of one homework; these, made without arguments, are those of the question bank.

    Attributes:
        points: by question ("causal_mask" or "hw1.causal_mask"), where they differ from the bank's.
        withdrawn: questions that do not count for anybody.
        extra: questions whose points count in the score, but not in what is possible.
        excused: by student (named as in `extensions`), the questions that do not count for this
            student alone; "all" of them, or a list.
        deadline: None: there is none.
        grace_minutes: so long after the deadline is still in time, and days of lateness are counted
            from there.
        late: what lateness costs; None: nothing.
        extensions: by student, a later deadline. A student is named as in the grade book's first
            column, or by one of the platform's ids: "12345" (Canvas), "Participant 4711" (Moodle),
            an email address or a student number (Gradescope).
        handed_in: by student, when, where the platform does not tell or tells wrong.
        cap: so many points count at most, though more can be earned.
        mistakes: by question, and by the name of a mistake that the grader knows: so much of the
            question's points an answer earns that makes this mistake, in per cent.
        demands: by question, what each of its demands is worth, in their order, or nothing: then
            they are not counted. Left out, they are worth what the bank says. "off": none counts.
        decisions: by student (named as in `extensions`) and question: what a person decided.
        by_hand: by name, further questions that are answered in words and marked by people.
        marks: the files with their marks; whoever reads them hands them on with `marked`.
        variant: which variants of its questions are asked; None: the course's own.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    points: dict[str, Points] = {}
    withdrawn: list[str] = []
    extra: list[str] = []
    excused: dict[str, Excuse] = {}
    deadline: Moment | None = None
    grace_minutes: Annotated[float, Field(ge=0, le=10_080, allow_inf_nan=False)] = 0.0
    late: LatePolicy | None = None
    extensions: dict[str, Moment] = {}
    handed_in: dict[str, Moment] = {}
    cap: Points | None = None
    mistakes: dict[str, dict[str, Percent]] = {}
    demands: Demands = {}
    decisions: dict[str, dict[str, Decision]] = {}
    by_hand: dict[str, TextQuestion] = {}
    marks: list[str] = []
    variant: Variant | None = None
    _marks: Marks = PrivateAttr(default=Marks())

    @model_validator(mode="before")
    @classmethod
    def _empty_is_nothing(cls, given: Any) -> Any:
        """A heading with nothing below it sets nothing."""
        if not isinstance(given, dict):
            return {} if given is None else given
        return {
            key: value for key, value in given.items() if value is not None or key not in _GROUPS
        }

    @model_validator(mode="after")
    def _no_contradictions(self) -> "Rules":
        for name in self.by_hand:
            if not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", name):
                raise At(
                    ("by_hand", name), "a name has small letters, digits and _, 40 of them at most"
                )
        if self.marks and not self.by_hand:
            raise At(("marks",), "needs by_hand beside it: the questions that were marked")
        if both := {*map(short_name, self.extra)} & {*map(short_name, self.withdrawn)}:
            raise At(("extra",), f"{min(both)} is withdrawn, so it cannot be extra credit")
        for student, questions in self.excused.items():
            decided = {*map(short_name, self.decisions.get(student, {}))}
            both = decided if questions == [ALL] else decided & {*map(short_name, questions)}
            if both:
                raise At(
                    ("excused", student),
                    f"decisions has points for {min(both)}: an excuse and points cannot both be",
                )
        return self

    @model_validator(mode="after")
    def _fits_together(self) -> "Rules":
        if self.deadline is None:
            for key in ("grace_minutes", "late", "extensions"):
                if getattr(self, key):
                    raise At((key,), "needs a deadline beside it")
            return self
        for student, when in self.extensions.items():
            if when < self.deadline:
                raise At(
                    ("extensions", student),
                    f"is before the deadline: {told(when)} instead of {told(self.deadline)}",
                )
        return self

    def score(self, homework: Homework, result: Result) -> Score:
        """The points a result earns under these rules.

        Raises:
            ValueError: if the rules name a question or a mistake that the homework does not have.
        """
        for_all = self._all_possible(homework)
        excused = self._excused(homework, result)
        possible = {name: most for name, most in for_all.items() if name not in excused}
        shares = {verdict.question: self._share(homework, verdict) for verdict in result.verdicts}
        parts = self._parts(homework, result, possible)
        in_words, marks = self._in_words(homework, result, possible)
        points = {name: round(most * shares.get(name, 0.0), 2) for name, most in possible.items()}
        for name, theirs in parts.items():
            points[name] = max(points[name], round(sum(part.earned for part in theirs), 2))
        points = {name: earned for name, earned in points.items() if name not in in_words} | marks
        decided = {
            name: decision
            for name, decision in self._decisions(homework, result).items()
            if name in possible
        }
        points |= {name: decision.points for name, decision in decided.items()}
        comments = {name: decision.comment for name, decision in decided.items()}
        extra = {self._full_name(homework, name) for name in self.extra}
        score = Score(
            points,
            possible,
            cap=self.cap,
            withdrawn=tuple(name for name in self._names(homework) if name not in for_all),
            excused=tuple(name for name in for_all if name in excused),
            extra=tuple(name for name in possible if name in extra),
            in_words=in_words,
            decided=comments,
            parts=parts,
        )
        if score.exempt:
            return score
        if self.cap is not None and score.earned < sum(points.values()):
            score = replace(score, note=f"At most {self.cap:g} points count.")
        return self._for_lateness(score, result)

    def possible(self, homework: Homework) -> dict[str, float]:
        """The points of each question of the bank that counts, by its full name.

        Raises:
            ValueError: if the rules name a question that the homework does not have.
        """
        by_hand = self.points_by_hand(homework)
        return {
            name: most for name, most in self._all_possible(homework).items() if name not in by_hand
        }

    def points_by_hand(self, homework: Homework) -> dict[str, float]:
        """The points of each question that people mark, by its full name."""
        return {
            f"{homework.name}.{name}": float(question.points)
            for name, question in self.by_hand.items()
        }

    def title(self, homework: Homework, name: str) -> str:
        """The title of a question, given its full name; numbered unless people mark it."""
        by_hand = self.by_hand.get(name.split(".")[1])
        return by_hand.title if by_hand else homework.heading(homework[name])

    def marked(self, marks: Marks) -> "Rules":
        """These rules, with what filled sheets say."""
        rules = self.model_copy()
        rules._marks = marks
        return rules

    @property
    def agreement(self) -> tuple[Agreement, ...]:
        """How far those agree who marked the same answers."""
        return self._marks.agreement

    def for_marking(self, homework: Homework, result: Result) -> dict[str, str]:
        """A student's answers that people mark, by the question's full name: not where a question
        is withdrawn, or she is excused from it, or a decision has points for it.
        """
        score = self.marked(Marks()).score(homework, result)
        return {name: result.texts[name] for name in score.unmarked}

    def asked(self, homework: Homework) -> list[Asked]:
        """The questions of `by_hand` for a student notebook."""
        return [
            Asked(
                f"{homework.name}.{name}",
                question.title,
                f"{question.points:g} {'point' if question.points == 1 else 'points'}",
                question.asks,
            )
            for name, question in self.by_hand.items()
            if name not in {*map(short_name, self.withdrawn)}
        ]

    @property
    def draw(self) -> Draw | None:
        """The variants; None: nothing is drawn."""
        return self.variant and Draw(self.variant.seed, tuple(self.variant.students))

    def unused_marks(self, results: Iterable[Result]) -> int:
        """How many marks belong to no answer as it is now."""
        return self._marks.unused(
            (name, result.student, text)
            for result in results
            for name, text in result.texts.items()
        )

    def unused(self, results: Iterable[Result]) -> list[str]:
        """The students with an extension or a time of their own who are nobody in the class:
        misspelt, or not handed in yet.
        """
        known = called(results)
        named = {**self.extensions, **self.handed_in, **self.decisions, **self.excused}
        named |= dict.fromkeys(self.variant.students if self.variant else ())
        absent = self.excused_absent(known)
        return [student for student in named if student not in known and student not in absent]

    def excused_absent(self, known: Container[str]) -> list[str]:
        """The students who are excused from everything and are none of the known ones: they handed
        in nothing, and need not.
        """
        return [
            student
            for student, questions in self.excused.items()
            if questions == [ALL] and student not in known
        ]

    def _names(self, homework: Homework) -> list[str]:
        return [question.name for question in homework.questions] + [*self.points_by_hand(homework)]

    def _full_name(self, homework: Homework, name: str) -> str:
        """The full name of a question, of the bank or of `by_hand`."""
        return full_name(homework, name, self.by_hand)

    def _all_possible(self, homework: Homework) -> dict[str, float]:
        """The points of each question that counts, of the bank or of `by_hand`."""
        points = {question.name: float(question.points) for question in homework.questions}
        points |= {full_name(homework, name): float(most) for name, most in self.points.items()}
        points |= self.points_by_hand(homework)
        withdrawn = {self._full_name(homework, name) for name in self.withdrawn}
        return {name: most for name, most in points.items() if name not in withdrawn}

    def _in_words(
        self, homework: Homework, result: Result, possible: Mapping[str, float]
    ) -> tuple[dict[str, InWords], dict[str, float]]:
        """What became of a student's answers in words, and the points of those that have any: an
        answer with nothing in it needs nobody to mark it.
        """
        told, points = {}, {}
        for short, question in self.by_hand.items():
            name = f"{homework.name}.{short}"
            if name not in possible:
                continue
            text = result.texts.get(name)
            mark = self._marks.of(name, result.student, text) if text else None
            state = "marked" if mark else "open" if text else "missing" if text is None else "empty"
            told[name] = InWords(question.title, state, mark.comments if mark else ())
            if state != "open":
                points[name] = mark.points if mark else 0.0
        return told, points

    def _share(self, homework: Homework, verdict: Verdict) -> float:
        """How much of a question's points an answer earns: 1 where it is right."""
        if verdict.right:
            return 1.0
        left = {full_name(homework, name): costs for name, costs in self.mistakes.items()}
        by_default = OF_THEMSELVES.get(verdict.mistake, 0.0)
        return left.get(verdict.question, {}).get(verdict.mistake, by_default) / 100

    def _parts(
        self, homework: Homework, result: Result, possible: Mapping[str, float]
    ) -> dict[str, tuple[Part, ...]]:
        """The demands of each question that is partly right, where they count."""
        parts = {}
        for verdict in result.verdicts:
            if verdict.question in possible and verdict.demands:
                worth = self._worth(homework, verdict.question, possible[verdict.question])
                pairs = zip(verdict.demands, worth, strict=True) if worth else ()
                parts[verdict.question] = tuple(Part(*held, most) for held, most in pairs)
        return {name: theirs for name, theirs in parts.items() if theirs}

    def _worth(self, homework: Homework, name: str, most: float) -> list[float]:
        """What each demand of a question is worth that is itself worth `most`; [] where they do not
        count.
        """
        if ALL in self.demands:
            return []
        set_ = {full_name(homework, short): worth for short, worth in self.demands.items()}
        question = homework[name]
        if name in set_:
            return set_[name]
        return [round(most * demand.points / question.points, 2) for demand in question.demands]

    def _excused(self, homework: Homework, result: Result) -> set[str]:
        """The full names of the questions from which this student is excused."""
        named = [name for who in names_of(result) for name in self.excused.get(who, ())]
        if ALL in named:
            return {*self._names(homework)}
        return {self._full_name(homework, name) for name in named}

    def _decisions(self, homework: Homework, result: Result) -> dict[str, Decision]:
        """What a person decided about this student's answers, by question's full name."""
        return {
            self._full_name(homework, question): decision
            for name in names_of(result)
            for question, decision in self.decisions.get(name, {}).items()
        }

    def _for_lateness(self, score: Score, result: Result) -> Score:
        """The score with what lateness takes."""
        if self.deadline is None:
            marked = "canvas_late" in result.ids and self._when(result) is None
            return replace(score, remark=_NO_DEADLINE) if marked else score
        when = self._when(result)
        theirs = [self.extensions[name] for name in names_of(result) if name in self.extensions]
        if when is None:
            unknown = "canvas_late" in result.ids and not theirs
            return replace(score, remark=_CANVAS_LATE) if unknown else score
        deadline = max([self.deadline, *theirs])
        return after_lateness(score, when, deadline, self.grace_minutes, self.late)

    def _when(self, result: Result) -> datetime | None:
        """When it was handed in, if anybody knows."""
        for name in names_of(result):
            if name in self.handed_in:
                return self.handed_in[name]
        return moment(datetime.fromisoformat(result.handed_in)) if result.handed_in else None
