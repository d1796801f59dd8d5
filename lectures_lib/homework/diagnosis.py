"""From what an answer did to what its author should be told: right, or which mistake it is."""

import re
import threading
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from lectures_lib.homework.compare.answers import answers_differ
from lectures_lib.homework.compare.gradients import gradients_differ
from lectures_lib.homework.compare.words import by_name, keyed_by_name
from lectures_lib.homework.inside.calls import call, usual_dtype
from lectures_lib.homework.inside.outcomes import Outcome, Raised
from lectures_lib.homework.inside.unanswered import Unanswered
from lectures_lib.homework.questions import DROPPING, Case, Misconception, Question
from lectures_lib.homework.verdict import LOST, REMARK, Verdict, exception_told, mistake_told

PUBLIC_SEED = 0  # of the inputs that `check` uses; `grade` draws another
_one_at_a_time = threading.RLock()  # a call sets the random generators, which all threads share


class AnswerKey:
    """A question with the inputs of one seed, and what the right answer and every known mistake
    give on them.

    Everything in it is computed here, in the grader's own process; none of it goes into the sandbox
    but the inputs.
    """

    def __init__(self, question: Question, seed: int):
        self.question = question
        with _one_at_a_time, usual_dtype():
            self.cases = question.inputs(torch.Generator().manual_seed(seed))
            self.right = [run(question.reference, case) for case in self.cases]
        self._mistakes: list[tuple[Misconception, Sequence[Outcome]]] | None = None

    @classmethod
    def recorded(
        cls,
        question: Question,
        cases: list[Case],
        right: list[Outcome],
        mistakes: list[tuple[Misconception, Sequence[Outcome]]],
    ) -> "AnswerKey":
        """A key that was worked out before (see `question_key`): nothing of the question is called.

        Args:
            question: what it says of itself; its functions may be missing.
            cases: the inputs; none for a question that is graded later.
            right: what the right answer did on each.
            mistakes: each misconception with what its wrong answer did on each.
        """
        key = cls.__new__(cls)
        key.question, key.cases, key.right, key._mistakes = question, cases, right, mistakes
        return key

    @property
    def graded_later(self) -> bool:
        """Whether the question was released without inputs: there is nothing to check with."""
        return not self.cases

    @property
    def mistakes(self) -> list[tuple[Misconception, Sequence[Outcome]]]:
        """Each misconception with what its wrong answer does, found out input by input when it is
        asked for: most mistakes differ from an answer on the first input already.
        """
        with _one_at_a_time:
            if self._mistakes is None:
                self._mistakes = [
                    (m, _Outcomes(m.answer, self.cases)) for m in self.question.misconceptions
                ]
            return self._mistakes

    def verdict(self, outcomes: Sequence[Outcome]) -> Verdict:
        """The judgement of an answer that did this, one outcome a case; it may stop at the first
        that was lost.
        """
        if stopped := self._unanswered(outcomes):
            if stopped.kind == "unfinished":
                return stopped
            return replace(stopped, demands=self._demands(outcomes))
        _, found = self._worst(outcomes)
        if found is None:
            return Verdict(self.question.name, True, "right", self._remark(outcomes))
        found = replace(found, demands=self._demands(outcomes))
        if named := self._named(outcomes, found):
            return named
        if self.question.below and found.kind == "values":
            found = replace(found, message=f"{found.message} {self.question.below}")
        return replace(found, message=found.message + self._also(outcomes, found))

    def first_wrong(self, outcomes: Sequence[Outcome]) -> int | None:
        """The number of the input on which an answer that did this is shown to be wrong."""
        return self._worst(outcomes)[0]

    def _worst(self, outcomes: Sequence[Outcome]) -> tuple[int | None, Verdict | None]:
        """The first wrong result, with the number of its input; where there is none, the first
        input that was changed, and then the first wrong gradient.
        """
        later = {}
        for i, found in enumerate(self._findings(outcomes)):
            if found and found.kind not in ("changed", "gradient"):
                return i, found
            if found:
                later.setdefault(found.kind, (i, found))
        return later.get("changed") or later.get("gradient") or (None, None)

    def _also(self, outcomes: Sequence[Outcome], found: Verdict) -> str:
        """A further sentence, where an answer of which something else is told changes its input as
        well.
        """
        changed = {
            name
            for outcome, right in zip(outcomes, self.right, strict=True)
            for name in set(outcome.changed) - set(right.changed)
        }
        if not changed or found.kind == "changed":
            return ""
        return f" It also changes its input ({self._names(changed)}) in place."

    def _names(self, changed: set[str]) -> str:
        """The names of changed arguments."""
        return " and ".join(by_name(name, self.question.arguments) for name in sorted(changed))

    def _demands(self, outcomes: Sequence[Outcome]) -> tuple[tuple[str, bool], ...]:
        """What each of the question's demands says, and whether an answer that did this meets it;
        nothing where it does not meet the first. What was not asked any more does not hold.
        """
        if not self.question.demands:
            return ()
        failing = [
            case.demands
            for i, case in enumerate(self.cases)
            if not case.remark and not self._is_right(outcomes, i)
        ]
        failed = {demands[0] for demands in failing if len(demands) == 1}
        for demands in failing:
            if not failed.intersection(demands):
                failed.add(demands[-1])
        held = tuple((says, says not in failed) for says, _ in self.question.demands)
        return held if held[0][1] else ()

    def _is_right(self, outcomes: Sequence[Outcome], i: int) -> bool:
        """Whether an answer that did this is right on that input."""
        if i >= len(outcomes) or outcomes[i].lost:
            return False
        return self._finding(outcomes[i], self.right[i], self.cases[i]) is None

    def accepts(self, answer: Any) -> bool:
        """Whether an answer is right on every input. It is called here, in this process, and no
        further than its first mistake.
        """
        return all(
            self._finding(run(answer, case), right, case) is None
            for case, right in zip(self.cases, self.right, strict=True)
        )

    def faults(self) -> list[str]:
        """What these inputs fail to do: known mistakes that pass, or that are called by another
        one's name.
        """
        found = []
        for misconception, outcomes in self.mistakes:
            verdict = self.verdict(outcomes)
            if verdict.mistake != misconception.name:
                found.append(
                    f"{self.question.name}: {misconception.name} is judged "
                    f"{verdict.mistake or verdict.kind}"
                )
        return found

    def _unanswered(self, outcomes: Sequence[Outcome]) -> Verdict | None:
        """The verdict where a call came to nothing, or where no answer is written yet."""
        for outcome, case in zip(outcomes, self.cases, strict=False):
            if outcome.lost and not case.remark:
                shows = (
                    self.cases[len(outcomes) - 1].shows
                    if outcome.lost in ("time", "memory", "ended", "garbled")
                    else ""
                )
                return Verdict(
                    self.question.name, False, outcome.lost, LOST[outcome.lost], on=shows
                )
        if (
            any(o.raised and o.raised.kind == Unanswered.__name__ for o in outcomes)
            and not self._may_be_unimplemented()
        ):
            return Verdict(self.question.name, False, "unfinished", "Not answered yet.")
        return None

    def _may_be_unimplemented(self) -> bool:
        return any(
            right.raised and right.raised.kind == "NotImplementedError" for right in self.right
        )

    def _findings(self, outcomes: Sequence[Outcome]) -> Iterator[Verdict | None]:
        """What is wrong on each input, found when it is asked for."""
        for each in zip(outcomes, self.right, self.cases, strict=True):
            yield self._finding(*each)

    def _finding(self, outcome: Outcome, right: Outcome, case: Case) -> Verdict | None:
        """What is wrong with this one outcome."""
        if case.remark:
            return None
        if right.raised:
            if outcome.raised and right.raised.kind in outcome.raised.kinds:
                return None
            what = exception_told(outcome.raised) if outcome.raised else "It raised nothing."
            return self._wrong("raised", f"It must raise {right.raised.kind} here. {what}", case)
        if outcome.raised:
            told, name = exception_told(outcome.raised), mistake_told(outcome.raised)
            return self._wrong("raised", told, case, name)
        found = answers_differ(self.question, case, outcome.value, right.value)
        changed = set(outcome.changed) - set(right.changed)
        if changed and (found is None or found.kind == "gradient"):
            text = (
                f"It changes its input ({self._names(changed)}) in place: whoever called it finds "
                f"other values there than before."
            )
            text = f"{text} Work on a new {_what(changed, case)}."
            return self._wrong("changed", text, case, "input_changed")
        return self._wrong(found.kind, found.message, case, found.mistake) if found else None

    def _remark(self, outcomes: Sequence[Outcome]) -> str:
        """What to tell the author of a right answer: that no gradient gets through it, and why."""
        for outcome, right, case in zip(outcomes, self.right, self.cases, strict=True):
            if not case.remark or outcome.lost:
                continue
            if outcome.raised:
                return (
                    f"{REMARK} With inputs that ask for gradients: {exception_told(outcome.raised)}"
                )
            if not isinstance(outcome.value, dict) or "gradients" not in outcome.value:
                continue  # a reply that the answer's own process has forged
            found = gradients_differ(
                *(
                    keyed_by_name(each.value["gradients"], self.question.arguments)
                    for each in (outcome, right)
                ),
                values=False,
            )
            if found and found.mistake:
                return f"{REMARK} {found.message}"
        return ""

    def _named(self, outcomes: Sequence[Outcome], found: Verdict) -> Verdict | None:
        """The verdict with a mistake's name, where a known one did the same on every input; `found`
        is what it is told of (see `_worst`).
        """
        if misconception := self._recognised(outcomes, found):
            also = ""
        elif also := self._also(outcomes, found):  # two mistakes: the other one may have a name
            misconception = self._recognised(outcomes, found, changes=False)
        return misconception and replace(
            found,
            kind="misconception",
            message=misconception.diagnosis + also,
            mistake=misconception.name,
            differs=found.message,
        )

    def _recognised(
        self, outcomes: Sequence[Outcome], found: Verdict, changes: bool = True
    ) -> Misconception | None:
        """The known mistake that did the same on every input; with `changes`, to the input, too."""
        # the mistake is a function that was called; its values are right
        by_tool = found.kind == "forbidden"
        for misconception, theirs in self.mistakes:
            alike = self._alike(outcomes, theirs, changes) and (
                by_tool or self._evident(theirs, misconception.by_exception, changes)
            )
            if alike or (misconception.by_dropout and self._drop_alike(outcomes, theirs)):
                return misconception
        return None

    def _alike(
        self, some: Sequence[Outcome], others: Sequence[Outcome], changes: bool = True
    ) -> bool:
        """Whether two answers did the same on every input; asked no further than they did."""
        return len(some) == len(others) and all(
            self._same(*each, changes) for each in zip(some, others, self.cases, strict=True)
        )

    def _drop_alike(self, some: Sequence[Outcome], others: Sequence[Outcome]) -> bool:
        """Whether two answers drop numbers on the same inputs, and the first is right elsewhere."""
        drops = [_drops(outcome) for outcome in some]
        return (
            any(drops)
            and drops == [_drops(outcome) for outcome in others]
            and all(drops[i] or self._is_right(some, i) for i in range(len(drops)))
        )

    def _evident(self, theirs: Sequence[Outcome], by_exception: bool, changes: bool) -> bool:
        """Whether a mistake shows in more than the kind of an exception, which other mistakes raise
        too.

        It does where a value differs from the right one, and where an exception names sizes: "got
        [5, 3] and [4, 3]".
        """
        return any(
            not self._same(outcome, right, case, changes)
            and (outcome.raised is None or by_exception or re.search(r"\d", outcome.raised.message))
            for outcome, right, case in zip(theirs, self.right, self.cases, strict=True)
        )

    def _same(self, one: Outcome, other: Outcome, case: Case, changes: bool = True) -> bool:
        if case.remark:
            return True
        if one.raised or other.raised:
            return (
                one.raised is not None
                and other.raised is not None
                and _signature(one.raised) == _signature(other.raised)
            )
        return (one.changed == other.changed or not changes) and answers_differ(
            self.question, case, one.value, other.value, tools=False
        ) is None

    def _wrong(self, kind: str, message: str, case: Case, mistake: str = "") -> Verdict:
        return Verdict(
            self.question.name,
            False,
            kind,
            message,
            mistake,
            on=case.shows + " (in training mode)" * case.train,
        )


class _Outcomes(Sequence[Outcome]):
    """What an answer does on each input. It is called on one when that is first asked for."""

    def __init__(self, answer: object, cases: list[Case]):
        self._answer, self._cases = answer, cases
        self._known: dict[int, Outcome] = {}

    def __len__(self) -> int:
        return len(self._cases)

    def __getitem__(self, i):
        case = self._cases[i]  # ends an iteration
        with _one_at_a_time:
            if i not in self._known:
                # a wrong answer that is known warns of the spread of one number, or of nothing's
                with warnings.catch_warnings(action="ignore"):
                    self._known[i] = run(self._answer, case)
            return self._known[i]


def run(answer: object, case: Case) -> Outcome:
    """What `answer` does on this input, in this process."""
    return call(answer, **case.request())


def _drops(outcome: Outcome) -> bool:
    """Whether numbers were dropped at random in a call."""
    used = outcome.value.get("used") if isinstance(outcome.value, dict) else None
    return isinstance(used, list) and any(name in used for name in DROPPING)


def _what(changed: set[str], case: Case) -> str:
    """What kind of thing the first of the changed arguments is."""
    name = min(changed)
    place = re.fullmatch(r"argument ([1-9][0-9]?)", name)
    sets = (case.args, *case.again)
    value = (
        next((args[int(place[1]) - 1] for args in sets if len(args) >= int(place[1])), None)
        if place
        else case.kwargs.get(name)
    )
    return {list: "list", tuple: "list", dict: "dictionary"}.get(type(value), "tensor")


def _signature(raised: Raised) -> tuple[str, str]:
    """What two exceptions of the same origin share: the class, and the message with its numbers."""
    return raised.kind, raised.message
