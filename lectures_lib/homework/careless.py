"""Answers that are right but for one thing they do not look at: what a question's inputs must tell
from the right one.

The reference is called with one argument replaced (by a constant, by its default, by a size of
another argument, by the next number) or with one place of it hidden (the last row, the first word
of a list). Each is a name and an answer. An answer that ignores an argument, a position or a branch
behaves like one. With some inputs, few, one of them passes by chance: such inputs are not for
grading.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import Tensor

from lectures_lib.homework.diagnosis import AnswerKey
from lectures_lib.homework.questions import Case, Question


def accepted(key: AnswerKey) -> dict[str, Callable]:
    """The careless answers that these inputs do not tell from the right one. Many are right: what
    they ignore does not matter.
    """
    return {
        told: answer
        for told, answer in careless(key.question, key.cases).items()
        if key.accepts(answer)
    }


def by_chance(key: AnswerKey, others: list[AnswerKey]) -> list[str]:
    """Those that pass with these inputs and not with all of the others: what they ignore does
    matter.
    """
    return [
        told
        for told, answer in accepted(key).items()
        if not all(other.accepts(answer) for other in others)
    ]


def careless(question: Question, cases: list[Case]) -> dict[str, Callable]:
    """The answers of this kind to a question, by what they do: "n ← len(lengths)". They depend on
    the cases only for kinds and defaults.
    """
    reference = question.reference
    if isinstance(reference, type):
        found = {
            name: _of_class(reference, change, "init")
            for name, change in _changes(reference.__init__, [_init(c) for c in cases])
        }
        calls = [_bound(reference.forward, (None, *case.args), case.kwargs) for case in cases]
        return found | {
            name: _of_class(reference, change, "call")
            for name, change in _changes(reference.forward, calls)
        }
    calls = [_bound(reference, case.args, case.kwargs) for case in cases]
    return {name: _of_function(reference, change) for name, change in _changes(reference, calls)}


Arguments = dict[str, Any]
Change = Callable[[Arguments], Arguments]


def _init(case: Case) -> Arguments:
    return dict(case.init or {})


def _bound(function: Callable, args: tuple, kwargs: dict) -> Arguments:
    signature = inspect.signature(function)
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    hidden = {  # a variant's value, which no case gives
        name for name, p in signature.parameters.items() if p.kind is p.KEYWORD_ONLY
    }
    return {
        name: value
        for name, value in bound.arguments.items()
        if name != "self" and name not in hidden
    }


def _of_function(reference: Callable, change: Change) -> Callable:
    def answer(*args: Any, **kwargs: Any) -> Any:
        return reference(**change(_bound(reference, args, kwargs)))

    return answer


def _of_class(reference: type, change: Change, where: str) -> type:
    def __init__(self, *args, **kwargs):
        given = _bound(reference.__init__, (None, *args), kwargs)
        reference.__init__(self, **(change(given) if where == "init" else given))

    def forward(self, *args, **kwargs):
        given = _bound(reference.forward, (None, *args), kwargs)
        return reference.forward(self, **(change(given) if where == "call" else given))

    return type(reference.__name__, (reference,), {"__init__": __init__, "forward": forward})


def _changes(function: Callable, calls: list[Arguments]) -> Iterator[tuple[str, Change]]:
    """(what it does, how) for each argument that the cases give."""
    parameters = {
        name: p for name, p in inspect.signature(function).parameters.items() if name != "self"
    }
    for name, parameter in parameters.items():
        values = [call[name] for call in calls if name in call]
        if not values:
            continue
        for told, value in _constants(parameter, values):
            yield f"{name} ← {told}", _put(name, lambda _, value=value: value)
        for told, get in _others(name, values, calls):
            yield f"{name} ← {told}", _put(name, get)
        for told, change in _hidden(values):
            yield (
                f"{name}: {told}",
                _put(name, lambda given, name=name, change=change: change(given[name])),
            )


def _put(name: str, get: Callable[[Arguments], Any]) -> Change:
    def change(given: Arguments) -> Arguments:
        return {**given, name: get(given)} if name in given else given

    return change


def _constants(parameter: inspect.Parameter, values: list) -> Iterator[tuple[str, Any]]:
    """Constants for an argument: its default, its value in the first case, 0, 1, None."""
    if parameter.default is not inspect.Parameter.empty:
        yield f"its default, {parameter.default!r}", parameter.default
    if not isinstance(values[0], Tensor | list | tuple):
        yield "its first value", values[0]
    if any(value is None for value in values):
        yield "None", None
    kinds = {type(value) for value in values}
    if kinds & {int, float}:
        yield from (("0", 0), ("1", 1))
    if bool in kinds:
        yield from (("False", False), ("True", True))


def _others(
    name: str, values: list, calls: list[Arguments]
) -> Iterator[tuple[str, Callable[[Arguments], Any]]]:
    """What another argument or its sizes offer in an argument's place; a number's neighbours."""
    if any(type(value) is float for value in values):
        yield "twice as much", lambda given: 2 * given[name]
        yield "its sign turned", lambda given: -given[name]
    if not any(type(value) is int for value in values):
        return
    yield "one more", lambda given: given[name] + 1
    yield "one less", lambda given: given[name] - 1
    for other in dict.fromkeys(key for call in calls for key in call if key != name):
        theirs = [call[other] for call in calls if call.get(other) is not None]
        if not theirs:
            continue
        if all(isinstance(value, Tensor) for value in theirs):
            for axis in range(max(value.dim() for value in theirs)):
                yield (
                    f"{other}.shape[{axis}]",
                    lambda given, other=other, axis=axis: given[other].shape[axis],
                )
            if all(
                value.dim() and not value.is_floating_point() and value.dtype != torch.bool
                for value in theirs
            ):
                yield f"max({other})", lambda given, other=other: int(given[other].max())
        elif all(isinstance(value, list | tuple | str) for value in theirs):
            yield f"len({other})", lambda given, other=other: len(given[other])
        elif all(type(value) is int for value in theirs):
            yield other, lambda given, other=other: given[other]


def _hidden(values: list) -> Iterator[tuple[str, Callable]]:
    """One place of a tensor or a list that is not looked at."""
    given = [value for value in values if value is not None]
    if given and all(isinstance(value, Tensor) for value in given):
        for axis in range(max(value.dim() for value in given)):
            if all(value.dim() <= axis or value.shape[axis] == 1 for value in given):
                continue
            yield (
                f"last of axis {axis} taken for the one before",
                _on_axis(axis, _last_from_the_one_before),
            )
            yield f"first of axis {axis} taken for the next", _on_axis(axis, _first_from_the_next)
            yield f"only the first of axis {axis}", _on_axis(axis, _first_everywhere)
            yield f"axis {axis} turned over", _on_axis(axis, lambda x, axis: x.flip(axis))
    elif given and all(isinstance(value, list | tuple) for value in given):
        yield "the last left out", lambda x: x[:-1]
        yield "the first left out", lambda x: x[1:]
        yield "only the first", lambda x: x[:1]
        yield "turned over", lambda x: x[::-1]
        if all(_hashable(value) for value in given):
            yield "each once", lambda x: type(x)(dict.fromkeys(x))
        if any(isinstance(item, list | tuple) for value in given for item in value):
            yield (
                "the last of each left out",
                lambda x: type(x)(
                    item[:-1] if isinstance(item, list | tuple) else item for item in x
                ),
            )
            yield (
                "the first of each left out",
                lambda x: type(x)(
                    item[1:] if isinstance(item, list | tuple) else item for item in x
                ),
            )
    elif given and all(isinstance(value, str) for value in given):
        yield "the last letter left out", lambda x: x[:-1]
        yield "the first letter left out", lambda x: x[1:]


def _on_axis(axis: int, change: Callable) -> Callable:
    return lambda x: (
        change(x.clone(), axis)
        if isinstance(x, Tensor) and x.dim() > axis and x.shape[axis] > 1
        else x
    )


def _last_from_the_one_before(x: Tensor, axis: int) -> Tensor:
    return x.index_copy(
        axis, torch.tensor([x.shape[axis] - 1]), x.narrow(axis, x.shape[axis] - 2, 1)
    )


def _first_from_the_next(x: Tensor, axis: int) -> Tensor:
    return x.index_copy(axis, torch.tensor([0]), x.narrow(axis, 1, 1))


def _first_everywhere(x: Tensor, axis: int) -> Tensor:
    return x.narrow(axis, 0, 1).expand_as(x).clone()


def _hashable(values: Iterable) -> bool:
    try:
        return bool(dict.fromkeys(values)) or True
    except TypeError:
        return False
