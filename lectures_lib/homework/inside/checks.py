"""Where a notebook calls `check`: a copy of the process waits there, in exactly the state that the
check saw.

The copy is a fork. It speaks with the grader over a socket of its own, answers calls of the object
that was checked, and goes no further in the notebook. A later check of the same question takes its
place. All of this happens in the student's process and is trusted with nothing: what it keeps or
says can make a difference between the values of two of a student's own states, and no more.
"""

import contextlib
import dis
import gc
import os
import signal
import socket
import threading
import types
from collections.abc import Callable
from typing import Any

MOST = 200  # copies that are made: a check in a long loop keeps the state of its first rounds
_USED = 100  # names that are followed from an answer
_MISSING = object()
_SETTLED = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.ModuleType,
    type,
    int,
    float,
    str,
    bytes,
    bool,
    type(None),
)
_fork, _kill, _wait, _exit = os.fork, os.kill, os.waitpid, os._exit


class Checks:
    """The copies of one submission, and what has become of the names that the checked answers use.

    Args:
        names: the namespace of the cells.
        sockets: one for each question that may be checked, by its full name.
        serve: what a copy does until it ends: answers the calls that come over this socket.
    """

    def __init__(
        self,
        names: dict[str, Any],
        sockets: dict[str, socket.socket],
        serve: Callable[[socket.socket, Any], None],
    ):
        self._names, self._sockets, self._serve = names, sockets, serve
        self._copies: dict[str, tuple[int, int]] = {}  # process and cell
        # by question and name: value at the check, value now, cell of the last change
        self._used: dict[str, dict[str, list]] = {}
        self._settled: dict[str, bool] = {}
        # by an answer's name: what stood for it, the last first
        self._defined: dict[str, list] = {}
        self._lock = threading.Lock()
        self._made, self._cell, self._forking = 0, 0, False
        os.register_at_fork(after_in_child=self._fall_silent)

    def seen(self, question: object, answer: Any) -> None:
        """A cell calls `check(question, answer)`: keep this state."""
        if (
            type(question) is not str
            or question not in self._sockets
            or not self._cell
            or self._made >= MOST
        ):
            return
        with self._lock:
            self._made += 1
            self._forking = True
            try:
                process = _fork()
            except OSError:  # there are as many processes as there may be
                return
            finally:
                self._forking = False
            if process == 0:
                self._wait_for_calls(question, answer)
            self._end(question)
            self._copies[question] = process, self._cell
            self._note(question, answer)

    def begin(self, cell: int) -> None:
        """The cell of this number runs now."""
        self._cell = cell

    def after_cell(self, answers: list[str]) -> None:
        """The cell has ended: which of the names that checked answers use, and which of these
        answers, has it bound anew?
        """
        for used in self._used.values():
            for name, seen in used.items():
                value = self._names.get(name, _MISSING)
                if value is not seen[1]:
                    seen[1], seen[2] = value, self._cell
        self.note(answers)
        self._cell = 0

    def note(self, answers: list[str]) -> None:
        """Keep what stands for these answers now."""
        for name in answers:
            value = self._names.get(name, _MISSING)
            defined = self._defined.setdefault(name, [])
            if value is not _MISSING and not (defined and defined[0] is value):
                defined[:] = [value, *defined[:1]]

    def earlier(self, name: str) -> Any:
        """What stood for an answer before it was bound anew, by a cell or further down in one;
        None if there was nothing.
        """
        return ([*self._defined.get(name, []), None, None])[1]

    def kept(self) -> list:
        """For each question with a copy that waits: its name, the check's cell, [name, cell] of
        what was bound anew since, and whether nothing at all is known to have changed.
        """
        found = []
        for question, (process, cell) in self._copies.items():
            if _alive(process):
                changed = [
                    [name, seen[2]]
                    for name, seen in self._used[question].items()
                    if seen[0] is not seen[1]
                ]
                found.append([question, cell, changed, self._settled[question] and not changed])
        return found

    def _wait_for_calls(self, question: str, answer: Any) -> None:
        """In the copy: serve, and never come back to the notebook."""
        try:
            mine, self._cell = self._sockets[question], 0
            for other in self._sockets.values():
                if other is not mine:
                    other.close()
            gc.freeze()  # collecting what is here now would copy its pages
            self._serve(mine, answer)
        finally:
            _exit(0)

    def _fall_silent(self) -> None:
        """In a process that the submission forks: it is none of the copies."""
        if not self._forking:
            self._cell = 0
            for mine in self._sockets.values():
                mine.close()

    def _end(self, question: str) -> None:
        if question in self._copies:
            with contextlib.suppress(OSError):  # it, or the student's code, was faster
                _kill(self._copies[question][0], signal.SIGKILL)
                _wait(self._copies[question][0], 0)

    def _note(self, question: str, answer: Any) -> None:
        """Keep what the global names that an answer uses stand for now."""
        own = question.partition(".")[2]
        try:
            values = {
                name: self._names.get(name, _MISSING)
                for name in (own, *used_names(answer, self._names))
            }
        except Exception:  # an object made to trip whoever looks at it
            values = {own: _MISSING}
        self._used[question] = {name: [value, value, 0] for name, value in values.items()}
        self._settled[question] = values[own] is answer and all(
            isinstance(value, _SETTLED) for value in values.values()
        )


def used_names(answer: Any, names: dict[str, Any]) -> list[str]:
    """The names of the cells' namespace that a function or class uses, also by way of the functions
    and classes that it uses.
    """
    found: list[str] = []
    waiting = [answer]
    while waiting and len(found) < _USED:
        for code in _codes(waiting.pop(), names):
            for name in _globals(code):
                if name not in found:
                    found.append(name)
                    waiting.append(names.get(name))
    return found


def _codes(thing: Any, names: dict[str, Any]) -> list[types.CodeType]:
    """The code that belongs to a function or to the functions of a class, as far as it was written
    in the cells.
    """
    if type(thing) is types.FunctionType:
        return [thing.__code__] if thing.__globals__ is names else []
    if not isinstance(thing, type) or type.__getattribute__(thing, "__module__") != "__main__":
        return []
    inside = [getattr(value, "__func__", value) for value in list(vars(thing).values())[:_USED]]
    parents = [
        code for base in type.__getattribute__(thing, "__bases__") for code in _codes(base, names)
    ]
    return [value.__code__ for value in inside if type(value) is types.FunctionType] + parents


def _globals(code: types.CodeType) -> list[str]:
    """The global names in code and in the functions inside of it."""
    found = [
        step.argval
        for step in dis.get_instructions(code)
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    ]
    return found + [
        name
        for inner in code.co_consts
        if isinstance(inner, types.CodeType)
        for name in _globals(inner)
    ]


def _alive(process: int) -> bool:
    try:
        return _wait(process, os.WNOHANG)[0] == 0
    except OSError:  # somebody has waited for it already
        return False
