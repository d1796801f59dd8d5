"""One call of a student's answer, and all that can come of it."""

import copy
import linecache
import random
import sysconfig
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import lectures_lib

from .values import plain

_COURSE = str(Path(lectures_lib.__file__).parent)
_LIBRARIES = (_COURSE, "<frozen", *(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")))


@dataclass(frozen=True)
class Raised:
    """An exception that came out of an answer.

    Attributes:
        kind: its class's name.
        kinds: the names of that class and of those it inherits from.
        message: what it says, shortened.
        line: the number of the student's own line where it happened; 0 where there is none.
        source: that line.
    """

    kind: str
    kinds: tuple[str, ...] = ()
    message: str = ""
    line: int = 0
    source: str = ""


@dataclass(frozen=True)
class Outcome:
    """What one call did: it returned a value, or raised, or never came back.

    Attributes:
        value: what was returned, as plain values.
        raised: the exception, if there was one.
        changed: names of the inputs that the call changed in place.
        lost: why there is neither value nor exception (see `lectures_lib.homework.diagnosis`); "" where there is.
    """

    value: Any = None
    raised: Raised | None = None
    changed: tuple[str, ...] = ()
    lost: str = ""


class WrongParameters(Exception):
    """The class's parameters are not those that the question names."""


class NotAClass(Exception):
    """The question asks for a class and the answer is something else."""


def call(
    answer: Any,
    args: tuple = (),
    kwargs: dict[str, Any] | None = None,
    init: dict[str, Any] | None = None,
    state: dict[str, Tensor] | None = None,
) -> Outcome:
    """Call `answer` on copies of the inputs, from the same random state every time.

    With `init` the answer is a class: it is built with these arguments, given the parameters `state`, and then called, in
    evaluation mode and without gradients.
    """
    given = copy.deepcopy((args, kwargs or {}))
    python_random = random.getstate()
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            random.seed(0)
            if init is None:
                value = answer(*given[0], **given[1])
            else:
                with torch.no_grad():
                    value = _build(answer, copy.deepcopy(init), state)(*given[0], **given[1])
        return Outcome(value=plain(value), changed=_changed(given, (args, kwargs or {})))
    except (Exception, SystemExit) as error:
        return Outcome(raised=describe(error))
    finally:
        random.setstate(python_random)


def _build(answer: Any, init: dict[str, Any], state: dict[str, Tensor] | None) -> nn.Module:
    """An instance of the student's class that holds the given parameters."""
    if not isinstance(answer, type):
        raise NotAClass(f"a class is asked for, and this is a {type(answer).__name__}")
    model = answer(**init)
    if state is not None:
        theirs = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
        asked = {name: tuple(tensor.shape) for name, tensor in state.items()}
        if theirs != asked:
            raise WrongParameters(_parameters_differ(theirs, asked))
        model.load_state_dict(state)
    return model.eval() if isinstance(model, nn.Module) else model


def _parameters_differ(theirs: dict[str, tuple], asked: dict[str, tuple]) -> str:
    """Which parameters are missing, not asked for, or of another shape."""
    missing = [f"{name} {asked[name]}" for name in asked if name not in theirs]
    extra = [f"{name} {theirs[name]}" for name in theirs if name not in asked]
    other = [f"{name} is {theirs[name]} instead of {asked[name]}" for name in asked if name in theirs and theirs[name] != asked[name]]
    parts = [
        f"missing: {', '.join(missing)}" if missing else "",
        f"not asked for: {', '.join(extra)}" if extra else "",
        f"of another shape: {', '.join(other)}" if other else "",
    ]
    return "; ".join(filter(None, parts))


def _changed(now: tuple[tuple, dict], before: tuple[tuple, dict]) -> tuple[str, ...]:
    """Names of the arguments ("argument 1", or the keyword) whose tensors are not what they were."""
    named_now = [*enumerate(now[0], start=1), *now[1].items()]
    named_before = [*enumerate(before[0], start=1), *before[1].items()]
    return tuple(
        f"argument {name}" if isinstance(name, int) else name
        for (name, new), (_, old) in zip(named_now, named_before, strict=True)
        if not _identical(new, old)
    )


def _identical(a: Any, b: Any) -> bool:
    if isinstance(b, Tensor):
        return isinstance(a, Tensor) and a.shape == b.shape and a.dtype == b.dtype and torch.allclose(a, b, rtol=0, atol=0, equal_nan=True)
    if isinstance(b, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(_identical, a, b))
    if isinstance(b, dict):
        return isinstance(a, dict) and a.keys() == b.keys() and all(_identical(a[k], b[k]) for k in b)
    return type(a) is type(b) and (a == b or a != a)  # the last: NaN


def describe(error: BaseException) -> Raised:
    """An exception as plain text, with the student's own line: the deepest one that is in no library."""
    line, source = 0, ""
    for frame in traceback.extract_tb(error.__traceback__):
        if not frame.filename.startswith(_LIBRARIES):
            line, source = frame.lineno or 0, linecache.getline(frame.filename, frame.lineno or 0).strip()
    if isinstance(error, SyntaxError):
        line, source = error.lineno or 0, str(error.text or "").strip()
    try:
        message = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:  # a class of the student's own, and its __str__ fails
        message = ""
    kinds = tuple(kind.__name__ for kind in type(error).__mro__ if kind is not object)
    return Raised(type(error).__name__, kinds, str(message)[:500], line, source[:200])
