"""From what an answer did to what its author should be told: right, or which mistake it is."""

import re
import threading
from dataclasses import dataclass, replace
from typing import Any

import torch

from lectures_lib.homework.compare.draws import draws_differ
from lectures_lib.homework.compare.gradients import gradients_differ
from lectures_lib.homework.compare.predictions import too_few
from lectures_lib.homework.compare.values import Difference, difference
from lectures_lib.homework.inside.calls import call, usual_dtype
from lectures_lib.homework.inside.outcomes import Outcome, Raised
from lectures_lib.homework.inside.unanswered import Unanswered
from lectures_lib.homework.questions import Case, Homework, Misconception, Question

# Why a call gave neither a value nor an exception.
LOST = {
    "missing": "Nothing in the notebook has this name when all its cells have run.",
    "uncallable": "This name stands for something that cannot be called; "
    "a function or a class is asked for.",
    "time": "The call did not come back in time: an endless loop, or far too much work? Printing "
    "counts, too.",
    "memory": "The call needed more memory than it may have.",
    "ended": "The process ended during the call: `os._exit`, a crash, or too much memory.",
    "garbled": "What came back is not an answer that could be read, or is too large.",
    "unreached": "Not asked any more: the notebook had used up its time.",
}
# What to do about an exception whose own words do not say it, by a pattern of these words; and the
# mistake's name.
HINTS = {
    r"before Module\.__init__\(\) call": (
        "no_super_init",
        "Call `super().__init__()` in the first line of `__init__`.",
    ),
    r"not compiled with CUDA|NVIDIA driver|No CUDA GPUs": (
        "needs_a_gpu",
        "There is no GPU here. Where a device has to be named, take that of an input: `x.device`.",
    ),
    r"call numpy\(\) on Tensor that requires grad": (
        "by_numpy",
        "A model is trained through this answer, and NumPy knows no gradients: use torch's "
        "functions.",
    ),
    r'missing the required "forward"': (
        "no_forward",
        "There is no `forward` in that class: is it misspelt, or indented into another method?",
    ),
    r"can't allocate memory": ("", "It asked for more memory than it may have."),
}
# Mistakes that any question may meet: what was found tells them by itself.
EVERYWHERE = (
    "input_changed",
    "nothing_returned",
    "other_parameters",
    "no_gradient",
    "written_over",
    "scores_returned",
    *(name for name, _ in HINTS.values() if name),
)
REMARK = "A remark, which costs nothing: a model cannot be trained through this answer."
PUBLIC_SEED = 0  # of the inputs that `check` uses; `grade` draws another
_one_at_a_time = threading.RLock()  # a call sets the random generators, which all threads share


@dataclass(frozen=True)
class Verdict:
    """The judgement of one answer.

    Attributes:
        question: its full name.
        right: whether it earns the points.
        kind: "right", "misconception", "unfinished", "raised", "changed", "forbidden", a kind of
            `compare.values.Difference`, or one of `LOST`.
        message: what to tell its author; "" where it is right.
        mistake: the misconception's name, where one was recognised; or one of `EVERYWHERE`.
        on: the input on which it shows, in words.
        differs: for a recognised misconception, what differs on that input: the message names the
            mistake instead.
    """

    question: str
    right: bool
    kind: str
    message: str = ""
    mistake: str = ""
    on: str = ""
    differs: str = ""


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
        self._mistakes: list[tuple[Misconception, list[Outcome]]] | None = None

    @classmethod
    def recorded(
        cls,
        question: Question,
        cases: list[Case],
        right: list[Outcome],
        mistakes: list[tuple[Misconception, list[Outcome]]],
    ) -> "AnswerKey":
        """A key that was worked out before (see `sealed`): nothing of the question is called.

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
    def mistakes(self) -> list[tuple[Misconception, list[Outcome]]]:
        """Each misconception with what its wrong answer does. Computed when the first wrong answer
        comes in.
        """
        with _one_at_a_time:
            if self._mistakes is None:
                self._mistakes = [
                    (m, [run(m.answer, case) for case in self.cases])
                    for m in self.question.misconceptions
                ]
            return self._mistakes

    def verdict(self, outcomes: list[Outcome]) -> Verdict:
        """The judgement of an answer that did this, one outcome a case; it may stop at the first
        that was lost.
        """
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
        found = next(filter(None, self._findings(outcomes)), None)
        if found is None:
            return Verdict(self.question.name, True, "right", self._remark(outcomes))
        for misconception, theirs in self.mistakes:
            # the mistake is a function that was called; its values are right
            by_tool = found.kind == "forbidden"
            if self._alike(outcomes, theirs) and (
                by_tool or self._evident(theirs, misconception.by_exception)
            ):
                name, text = misconception.name, misconception.diagnosis
                return Verdict(
                    self.question.name, False, "misconception", text, name, found.on, found.message
                )
        if self.question.below and found.kind == "values":
            return replace(found, message=f"{found.message} {self.question.below}")
        return found

    def first_wrong(self, outcomes: list[Outcome]) -> int | None:
        """The number of the first input on which an answer that did this is wrong."""
        found = enumerate(self._findings(outcomes))
        return next((i for i, finding in found if finding), None)

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

    def _may_be_unimplemented(self) -> bool:
        return any(
            right.raised and right.raised.kind == "NotImplementedError" for right in self.right
        )

    def _findings(self, outcomes: list[Outcome]) -> list[Verdict | None]:
        """What is wrong on each input."""
        return [self._finding(*each) for each in zip(outcomes, self.right, self.cases, strict=True)]

    def _finding(self, outcome: Outcome, right: Outcome, case: Case) -> Verdict | None:
        """What is wrong with this one outcome."""
        if case.remark:
            return None
        if right.raised:
            if outcome.raised and right.raised.kind in outcome.raised.kinds:
                return None
            what = _as_told(outcome.raised) if outcome.raised else "It raised nothing."
            return self._wrong("raised", f"It must raise {right.raised.kind} here. {what}", case)
        if outcome.raised:
            told, name = _as_told(outcome.raised), _name_of(outcome.raised)
            return self._wrong("raised", told, case, name)
        found = self._difference(outcome.value, right.value, case)
        changed = set(outcome.changed) - set(right.changed)
        if changed and (found is None or found.kind in ("values", "gradient")):
            names = " and ".join(self._called(name) for name in sorted(changed))
            text = (
                f"It changes its input ({names}) in place: whoever called it finds other values "
                f"there than before."
            )
            text = f"{text} Work on a new {_what(changed, case)}."
            return self._wrong("changed", text, case, "input_changed")
        return self._wrong(found.kind, found.message, case, found.mistake) if found else None

    def _remark(self, outcomes: list[Outcome]) -> str:
        """What to tell the author of a right answer: that no gradient gets through it, and why."""
        for outcome, right, case in zip(outcomes, self.right, self.cases, strict=True):
            if not case.remark or outcome.lost:
                continue
            if outcome.raised:
                return f"{REMARK} With inputs that ask for gradients: {_as_told(outcome.raised)}"
            found = gradients_differ(
                *(self._renamed(each.value["gradients"]) for each in (outcome, right)), values=False
            )
            if found and found.mistake:
                return f"{REMARK} {found.message}"
        return ""

    def _alike(self, some: list[Outcome], others: list[Outcome]) -> bool:
        """Whether two answers did the same on every input."""
        return len(some) == len(others) and all(map(self._same, some, others, self.cases))

    def _evident(self, theirs: list[Outcome], by_exception: bool) -> bool:
        """Whether a mistake shows in more than the kind of an exception, which other mistakes raise
        too.

        It does where a value differs from the right one, and where an exception names sizes: "got
        [5, 3] and [4, 3]".
        """
        return any(
            not self._same(outcome, right, case)
            and (outcome.raised is None or by_exception or re.search(r"\d", outcome.raised.message))
            for outcome, right, case in zip(theirs, self.right, self.cases, strict=True)
        )

    def _same(self, one: Outcome, other: Outcome, case: Case) -> bool:
        if case.remark:
            return True
        if one.raised or other.raised:
            return (
                one.raised is not None
                and other.raised is not None
                and _signature(one.raised) == _signature(other.raised)
            )
        return (
            one.changed == other.changed
            and self._difference(one.value, other.value, case, tools=False) is None
        )

    def _difference(
        self, yours: Any, expected: Any, case: Case, tools: bool = True
    ) -> Difference | None:
        """What is wrong with a value, or with the values of a case that asks for more than the
        result.
        """
        question, gradients = self.question, case.looks_at_gradients
        if case.draws:
            return draws_differ(yours, expected, case.draws)
        if not (gradients != "none" or case.again or case.watch):
            return self._result_differs(yours, expected)
        if not isinstance(yours, dict) or yours.keys() != expected.keys():
            return Difference("type", "What came back could not be read.")
        found = self._result_differs(yours["result"], expected["result"])
        if found is None and case.again:
            found = self._later_differs(yours["again"], expected["again"])
        if found is None and gradients != "none":
            theirs, right = (
                self._renamed(_only(found, case.gradients_of))
                for found in (yours["gradients"], expected["gradients"])
            )
            found = gradients_differ(
                theirs, right, gradients == "values", question.rtol, question.atol
            )
        return found or (
            self._tools_differ(yours["used"], expected["used"]) if case.watch and tools else None
        )

    def _renamed(self, gradients: Any) -> Any:
        """With arguments by their names, unless a parameter is called so."""
        if not isinstance(gradients, dict):
            return gradients
        return {
            name if (called := self._called(name)) in gradients else called: gradient
            for name, gradient in gradients.items()
        }

    def _called(self, name: str) -> str:
        """What to call "argument 2": by its name in the question, where it has one there."""
        return by_name(name, self.question.arguments)

    def _later_differs(self, yours: Any, expected: list) -> Difference | None:
        """What is wrong with the results of the same object's later calls."""
        if not isinstance(yours, list) or len(yours) != len(expected):
            return Difference("type", "What came back could not be read.")
        for i, (mine, right) in enumerate(zip(yours, expected, strict=True), start=2):
            found = self._result_differs(mine, right)
            if found:
                return replace(
                    found,
                    message=f"In call {i} of the same object, with another input: {found.message}",
                )
        return None

    def _tools_differ(self, yours: Any, expected: list[str]) -> Difference | None:
        """Which functions were called that the question rules out, or not called though it asks for
        one of them.
        """
        question, used = self.question, set(yours) if isinstance(yours, list) else set()
        ruled_out = [name for name in question.forbidden if name in used and name not in expected]
        if ruled_out:
            called = " and ".join(dict.fromkeys(map(_tool, ruled_out)))
            return Difference("forbidden", f"It calls {called}, which this question rules out.")
        if any(name in expected for name in question.required) and not used.intersection(
            question.required
        ):
            return Difference(
                "forbidden",
                f"It never calls {' or '.join(question.required)}, which this question asks for.",
            )
        return None

    def _result_differs(self, yours: Any, expected: Any) -> Difference | None:
        """What is wrong with a result, by the question's measure."""
        question = self.question
        if question.share < 1:
            return too_few(yours, expected, question.share, question.rtol, question.atol)
        return difference(yours, expected, question.rtol, question.atol)

    def _wrong(self, kind: str, message: str, case: Case, mistake: str = "") -> Verdict:
        return Verdict(
            self.question.name,
            False,
            kind,
            message,
            mistake,
            on=case.shows + " (in training mode)" * case.train,
        )


def answer_keys(homework: Homework, seed: int) -> dict[str, AnswerKey]:
    """The key of every question, by its full name. Each question draws its inputs from the seed by
    itself.
    """
    return {question.name: AnswerKey(question, seed) for question in homework.questions}


def run(answer: object, case: Case) -> Outcome:
    """What `answer` does on this input, in this process."""
    return call(answer, **case.request())


def by_name(name: str, arguments: tuple[str, ...]) -> str:
    """ "argument 2[0]" → "words[0]", if the second of these arguments is called so. What is no
    argument, or has no name, stays as it is.
    """
    found = re.match(r"argument (\d+)", name)
    if not found or int(found[1]) > len(arguments):
        return name
    return arguments[int(found[1]) - 1] + name[found.end() :]


def _only(gradients: Any, names: tuple[str, ...]) -> Any:
    """Those of these names, where there are names."""
    if not names or not isinstance(gradients, dict):
        return gradients
    return {name: gradient for name, gradient in gradients.items() if name in names}


def _as_told(raised: Raised) -> str:
    """An exception in a sentence."""
    where = f" in line {raised.line}, `{raised.source}`" if raised.source else ""
    if raised.kind == "WrongParameters":
        return f"The class's parameters are not the ones the question names: {raised.message}."
    if raised.kind == "NotAClass":
        return f"Here {raised.message}."
    if raised.kind == "BdbQuit":
        return f"It stops in the debugger{where}: take `breakpoint()` or `set_trace()` out."
    if not raised.message:
        return f"It raised {raised.kind}{where}."
    _, hint = _hint(raised)
    told = f"It raised {raised.kind}{where}: {raised.message}"
    return f"{told.removesuffix('.')}. {hint}" if hint else told


def _hint(raised: Raised) -> tuple[str, str]:
    """The name and the text of `HINTS` that an exception's words call for, or twice ""."""
    found = (hint for words, hint in HINTS.items() if re.search(words, raised.message))
    return next(found, ("", ""))


def _name_of(raised: Raised) -> str:
    """Which mistake an exception tells by itself: one of `EVERYWHERE`, or ""."""
    return "other_parameters" if raised.kind == "WrongParameters" else _hint(raised)[0]


def _tool(name: str) -> str:
    """The name of a function as it is told. What calls autograd is seen at its end alone: a call of
    torch.func.grad by the name of torch.autograd.grad.
    """
    return "autograd" if name == "Tensor.backward" or name.startswith("torch.autograd.") else name


def _what(changed: set[str], case: Case) -> str:
    """What kind of thing the first of the changed arguments is."""
    name = min(changed)
    place = name.removeprefix("argument ")
    sets = (case.args, *case.again)
    value = (
        case.kwargs.get(name)
        if place == name
        else next((args[int(place) - 1] for args in sets if len(args) >= int(place)), None)
    )
    return {list: "list", tuple: "list", dict: "dictionary"}.get(type(value), "tensor")


def _signature(raised: Raised) -> tuple[str, str]:
    """What two exceptions of the same origin share: the class, and the message with its numbers."""
    return raised.kind, raised.message
