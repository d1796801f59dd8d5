"""What an answer gave on one input against what the right one gave, by the question's own measure:
the result, and whatever else the case looks at.
"""

from dataclasses import replace
from typing import Any

from torch import Tensor

from lectures_lib.homework.compare.draws import draws_differ
from lectures_lib.homework.compare.gradients import gradients_differ
from lectures_lib.homework.compare.predictions import too_few
from lectures_lib.homework.compare.values import Difference, difference
from lectures_lib.homework.compare.words import keyed_by_name
from lectures_lib.homework.questions import Case, Question


def answers_differ(
    question: Question, case: Case, yours: Any, expected: Any, tools: bool = True
) -> Difference | None:
    """What is wrong with what an answer gave; None where nothing is.

    Args:
        question: its tolerances, and the functions it rules out or asks for.
        case: the input.
        yours, expected: what `inside.calls.call` gave as a value: the result alone, or a dictionary
            with what else the case looks at.
        tools: whether the functions that were called count.
    """
    gradients = case.looks_at_gradients
    if case.without_scores:
        yours = _scored_as(yours, expected)
    if case.draws:
        return draws_differ(yours, expected, case.draws)
    if not (gradients != "none" or case.again or case.watch):
        return _results_differ(question, yours, expected, case.part)
    if not isinstance(yours, dict) or yours.keys() != expected.keys():
        return Difference("type", "What came back could not be read.")
    found = _results_differ(question, yours["result"], expected["result"], case.part)
    if found is None and case.again:
        found = _later_differ(question, yours["again"], expected["again"], case.part)
    if found is None and gradients != "none":
        theirs, right = (
            keyed_by_name(_only(each["gradients"], case.gradients_of), question.arguments)
            for each in (yours, expected)
        )
        found = gradients_differ(theirs, right, gradients == "values", question.rtol, question.atol)
    if found is None and case.watch and tools:
        found = _tools_differ(question, yours["used"], expected["used"])
    return found


def _scored_as(yours: Any, expected: Any) -> Any:
    """A list of pairs with the other's numbers in their second places; anything else as it is."""
    if not isinstance(yours, list) or not isinstance(expected, list):
        return yours
    return [
        (pair[0], right[1]) if _is_scored(pair) and _is_scored(right) else pair
        for pair, right in zip(yours, expected, strict=False)
    ] + yours[len(expected) :]


def _is_scored(pair: Any) -> bool:
    """Whether it is a pair whose second part is a number."""
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        return False
    return pair[1].ndim == 0 if isinstance(pair[1], Tensor) else isinstance(pair[1], int | float)


def _results_differ(
    question: Question, yours: Any, expected: Any, part: int | None
) -> Difference | None:
    """What is wrong with a result, by the question's measure; of a part of it, where that alone
    counts.
    """
    several = isinstance(yours, list | tuple) and isinstance(expected, list | tuple)
    if part is not None and several and len(yours) == len(expected):
        yours = [*expected[:part], yours[part], *expected[part + 1 :]]
    if question.share < 1:
        return too_few(yours, expected, question.share, question.rtol, question.atol)
    return difference(yours, expected, question.rtol, question.atol)


def _later_differ(
    question: Question, yours: Any, expected: list, part: int | None
) -> Difference | None:
    """What is wrong with the results of the same object's later calls."""
    if not isinstance(yours, list) or len(yours) != len(expected):
        return Difference("type", "What came back could not be read.")
    for i, (mine, right) in enumerate(zip(yours, expected, strict=True), start=2):
        found = _results_differ(question, mine, right, part)
        if found:
            return replace(
                found,
                words=f"In call {i} of the same object, with another input: {found.message}",
            )
    return None


def _only(gradients: Any, names: tuple[str, ...]) -> Any:
    """Those of these names, where there are names."""
    if not names or not isinstance(gradients, dict):
        return gradients
    return {name: gradient for name, gradient in gradients.items() if name in names}


def _tools_differ(question: Question, yours: Any, expected: list[str]) -> Difference | None:
    """Which functions were called that the question rules out, or not called though it asks for one
    of them.
    """
    used = {name for name in yours if type(name) is str} if isinstance(yours, list) else set()
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


def _tool(name: str) -> str:
    """The name of a function as it is told. What calls autograd is seen at its end alone: a call of
    torch.func.grad by the name of torch.autograd.grad.
    """
    return "autograd" if name == "Tensor.backward" or name.startswith("torch.autograd.") else name
