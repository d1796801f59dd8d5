"""`example`: one of a question's inputs, to try an answer on by hand."""

import copy
import random
from dataclasses import dataclass, field
from typing import Any

import torch

from lectures_lib.homework.compare.gradients import rows_unlike
from lectures_lib.homework.compare.values import difference
from lectures_lib.homework.compare.words import by_name
from lectures_lib.homework.diagnosis import AnswerKey, run
from lectures_lib.homework.inside.building import build
from lectures_lib.homework.inside.looking import to_differentiate
from lectures_lib.homework.inside.outcomes import Outcome
from lectures_lib.homework.question_key import public_key
from lectures_lib.homework.questions import Case, Question

_failed: dict[str, "Example"] = {}  # by question: the input on which its last check failed


@dataclass(frozen=True, repr=False)
class Example:
    """One of the inputs that `check` calls an answer with.

    Attributes:
        question: its full name.
        shows: what this input is, in words.
        args, kwargs: what the answer is called with.
        init: for a class: what it is built with; None for a function.
        state: for a class: the parameters it is given.
        expected: what the right answer returns; for a class with dropout, the mean and the spread
            of many calls. An exception's name where it must raise one.
        got: what yours returned, or its exception in words; None where it was not called.
        gradients: where they are compared, too: what the result's depend on, right and yours.
        arguments: the names of the positional arguments, where they are known.
    """

    question: str
    shows: str
    args: tuple
    kwargs: dict[str, Any]
    init: dict[str, Any] | None
    state: dict[str, torch.Tensor] | None
    expected: Any
    got: Any = None
    gradients: dict[str, Any] = field(default_factory=dict)
    train: bool = False
    arguments: tuple[str, ...] = ()

    def run(self, answer: Any) -> Any:
        """Call an answer on a copy of this input, here, as the check does: what it prints is seen,
        a debugger stops in it, and what it raises is raised.
        """
        torch.default_generator.manual_seed(0)
        random.seed(0)
        args, kwargs = copy.deepcopy((self.args, self.kwargs))
        if self.gradients:
            args, kwargs = to_differentiate((args, kwargs), "", {})
        if self.init is not None:
            answer = build(answer, copy.deepcopy(self.init), self.state, self.train)
            torch.default_generator.manual_seed(0)
        return answer(*args, **kwargs)

    def __repr__(self) -> str:
        given = {f"argument {i}": value for i, value in enumerate(self.args, start=1)}
        given = {by_name(name, self.arguments): value for name, value in given.items()}
        if self._differs_in_gradients():
            parts = {"built with": self.init, **given, **self.kwargs, **self._unlike_gradients()}
        else:
            parts = {
                "built with": self.init,
                "its parameters": self.state,
                **given,
                **self.kwargs,
                "expected": self.expected,
                "got": self.got,
            }
        lines = [f"{self.question}, {self.shows or 'an input'}"]
        for name, value in parts.items():
            if value is not None:
                lines.append(f"{name}:\n{_indented(value)}")
        return "\n".join(lines)

    def _differs_in_gradients(self) -> bool:
        """Whether gradients were looked at, and only they can be what is wrong."""
        return bool(self.gradients) and difference(self.got, self.expected) is None

    def _unlike_gradients(self) -> dict[str, Any]:
        """The gradients that are not as they should be, of a table only the rows; all, where that
        cannot be told. The result itself is right.
        """
        expected, got = self.gradients["expected"], self.gradients["got"]
        shown = {}
        if isinstance(expected, dict) and isinstance(got, dict) and expected.keys() == got.keys():
            for name in expected:
                rows = rows_unlike(got[name], expected[name])
                of = f"{by_name(name, self.arguments)}{f', rows {rows}' if rows else ''}"
                if rows or difference(got[name], expected[name], 1e-4, 1e-5):
                    for whose, each in (("expected", expected[name]), ("got", got[name])):
                        shown[f"gradient of {of}, {whose}"] = each[rows] if rows else each
        return shown or {f"gradients, {whose}": each for whose, each in self.gradients.items()}


def example(name: str | Question, answer: object = None) -> Example:
    """An input of a question, what is expected on it, and what you got.

    Args:
        name: of the question, such as "hw3.beam_search"; or the question itself.
        answer: your function or class: the first input on which it is wrong is given, or the first
            of all where it is right. Left out: the input on which your last check of this question
            failed, or the first of all.

    Raises:
        KeyError: if there is no such question; the message lists those that there are. If it is
            graded later, so that none of its inputs is here.
    """
    asked = name.name if isinstance(name, Question) else name
    if answer is None and asked in _failed:
        return _failed[asked]
    key = public_key(name)
    question = key.question
    if key.graded_later:
        raise KeyError(f"{question.name} is graded later: none of its inputs is here")
    if not callable(answer):
        return _example(question, key.cases[0], key.right[0], None)
    outcomes = [run(answer, case) for case in key.cases]
    i = key.first_wrong(outcomes) or 0
    return _example(question, key.cases[i], key.right[i], outcomes[i])


def remember(key: AnswerKey, outcomes: list[Outcome]) -> None:
    """Keep the first input on which an answer was wrong, or forget the one before where it is
    right now.
    """
    i, question = key.first_wrong(outcomes), key.question
    if i is None:
        _failed.pop(question.name, None)
    else:
        _failed[question.name] = _example(question, key.cases[i], key.right[i], outcomes[i])


def _example(question: Question, case: Case, right: Outcome, yours: Outcome | None) -> Example:
    expected, gradients = _told(right)
    got, theirs = (None, None) if yours is None else _told(yours)
    return Example(
        question.name,
        case.shows,
        *copy.deepcopy((case.args, case.kwargs, case.init, case.state)),
        expected,
        got,
        {} if gradients is None else {"expected": gradients, "got": theirs},
        case.train,
        question.arguments,
    )


def _told(outcome: Outcome) -> tuple[Any, Any]:
    """What came back, or what was raised, in words; and the gradients that were looked at."""
    if outcome.raised:
        return f"{outcome.raised.kind}: {outcome.raised.message}".removesuffix(": "), None
    value = outcome.value
    if isinstance(value, dict) and "result" in value:
        return value["result"], value.get("gradients")
    return value, None


def _indented(value: Any) -> str:
    return "\n".join(f"  {line}" for line in repr(value).splitlines())
