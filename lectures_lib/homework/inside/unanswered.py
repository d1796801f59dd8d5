"""Whether anything is written where an answer belongs."""

import inspect
import traceback
import types
from dataclasses import replace
from dis import get_instructions
from typing import Any

from .outcomes import LIBRARIES, Raised, describe

TEMPLATE_SAYS = "your answer here"  # in the line that stands where an answer belongs


class Unanswered(NotImplementedError):
    """Nothing is written yet where the answer belongs: the template, or an empty body."""


def demand_a_body(answer: Any) -> None:
    """Raise Unanswered if there is nothing in a function, or in what a class is built and
    called by: `...`, `pass`, or a text alone.
    """
    inside = [answer]
    if isinstance(answer, type):
        inside = [vars(answer).get(name) for name in ("__init__", "forward", "__call__")]
    for function in inside:
        code = function.__code__ if isinstance(function, types.FunctionType) else None
        if code and all(
            step.opname in ("RESUME", "NOP", "RETURN_VALUE")
            or (step.opname in ("LOAD_CONST", "RETURN_CONST") and step.argval in (None, ...))
            for step in get_instructions(code)
        ):
            raise Unanswered


def written(result: Any) -> Any:
    """A result, if it is not the `...` that stands for what is still to be written."""
    if result is ...:
        raise Unanswered
    return result


def not_implemented(error: NotImplementedError, answer: Any) -> Raised:
    """A NotImplementedError: `Unanswered` where it is the template's own; told with the line that
    called it where it is another answer's; any other as it is.
    """
    if isinstance(error, Unanswered):
        return describe(error)
    last = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)][-1]
    if last.co_filename.startswith(LIBRARIES) or not (
        error.args == (TEMPLATE_SAYS,) or _only_raises(last)
    ):
        return describe(error)
    if last in _own_code(answer):
        return replace(describe(error), kind=Unanswered.__name__)
    text = f"`{last.co_qualname}`, which is called here, is not written yet."
    return replace(describe(error, last), message=text)


def _only_raises(code: types.CodeType) -> bool:
    """Whether a function's first and only step is to raise NotImplementedError."""
    steps = [s for s in get_instructions(code) if s.opname not in ("RESUME", "NOP", "CACHE")]
    return bool(steps) and all(
        step.argval == "NotImplementedError"
        if step.opname == "LOAD_GLOBAL"
        else step.opname in ("LOAD_CONST", "PUSH_NULL", "PRECALL", "CALL", "RAISE_VARARGS")
        for step in steps
    )


def _own_code(answer: Any) -> set[types.CodeType]:
    """The code of a function or of a class's methods, with what is defined inside of them."""
    answer = inspect.unwrap(answer) if callable(answer) else answer
    values = [answer]
    if isinstance(answer, type):
        values = [value for kind in answer.__mro__ for value in vars(kind).values()]
    inside = (inspect.unwrap(getattr(v, "__func__", v)) for v in values if callable(v))
    waiting = [v.__code__ for v in inside if isinstance(v, types.FunctionType)]
    found: set[types.CodeType] = set()
    while waiting:
        code = waiting.pop()
        found.add(code)
        waiting += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]
    return found
