"""What can come of a call: a value, an exception in plain text, or nothing."""

import linecache
import sysconfig
import traceback
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lectures_lib

_COURSE = str(Path(lectures_lib.__file__).parent)
LIBRARIES = (
    _COURSE,
    "<frozen",
    *(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")),
)


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
        lost: why there is neither value nor exception (see `lectures_lib.homework.verdict`); ""
            where there is.
        sure: of what was lost, whether neither a neighbour nor a busy machine can have caused it.
            It is the grader's to say.
    """

    value: Any = None
    raised: Raised | None = None
    changed: tuple[str, ...] = ()
    lost: str = ""
    sure: bool = False


def describe(error: BaseException, above: types.CodeType | None = None) -> Raised:
    """An exception as plain text, with the student's own line: the deepest one that is in no
    library, or the one that called `above`.
    """
    line, source = 0, ""
    for frame, number in traceback.walk_tb(error.__traceback__):
        if frame.f_code is above:
            break
        if not frame.f_code.co_filename.startswith(LIBRARIES):
            line, source = (
                number or 0,
                linecache.getline(frame.f_code.co_filename, number or 0).strip(),
            )
    if isinstance(error, SyntaxError):
        line, source = error.lineno or 0, str(error.text or "").strip()
    try:
        message = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:  # a class of the student's own, and its __str__ fails
        message = ""
    kinds = tuple(kind.__name__ for kind in type(error).__mro__ if kind is not object)
    return Raised(type(error).__name__, kinds, str(message)[:500], line, source[:200])
