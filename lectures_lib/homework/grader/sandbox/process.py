"""One process in the sandbox, and the copies of it that wait at their checks."""

import os
import socket
import struct
from collections.abc import Sequence
from typing import Any

from lectures_lib.homework.grader.sandbox import proc_stat, template
from lectures_lib.homework.grader.sandbox.line import FRAME, SLACK, Line, Lost
from lectures_lib.homework.grader.sandbox.template import Limits
from lectures_lib.homework.inside import wire
from lectures_lib.homework.inside.outcomes import Outcome

HELLO = 30.0  # seconds on the clock for a copy to answer at all
TORCH_BYTES = 512 << 20  # what a process takes that has only imported torch, amply
MOST_QUESTIONS = 20  # of a homework: each takes a descriptor
_CREDENTIALS = struct.Struct("=iii")  # struct ucred: process, user, group


class Broken(Exception):
    """The warm process is gone, which no student code can end: nothing can be said of the
    submission it ran.
    """


class Sandbox:
    """A process that runs cells and calls answers. Use as a context manager: at its end nothing of
    it is left running.

    Args:
        limits: what it may use.
        questions: full names of those whose `check` leaves a copy of the process behind.

    Attributes:
        pid: its number, as the grader counts.
    """

    def __init__(self, limits: Limits, questions: Sequence[str] = ()):
        self._limits = limits
        self._copies: dict[str, Line] = {}
        self._sockets = {}
        far = {}
        far_requests, requests = os.pipe()
        replies, far_replies = os.pipe()
        try:
            for name in questions[:MOST_QUESTIONS]:
                self._sockets[name], far[name] = socket.socketpair()
                self._sockets[name].setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            far_numbers = {name: end.fileno() for name, end in far.items()}
            self._template, self.pid = template.forked(
                limits, far_requests, far_replies, far_numbers
            )
            self._line = Line(
                requests, replies, self.pid, os.pidfd_open(self.pid), self._holds_too_much
            )
        except BaseException:
            for fd in (requests, replies):
                os.close(fd)
            for end in self._sockets.values():
                end.close()
            raise
        finally:
            os.close(far_requests)
            os.close(far_replies)
            for end in far.values():
                end.close()

    def __enter__(self) -> "Sandbox":
        """The sandbox itself."""
        return self

    def __exit__(self, *_: Any) -> None:
        """Kill what is left: with the first process in its own process space, every other one
        ends.
        """
        self._template.stop()
        for line in (self._line, *self._copies.values()):
            line.close()
        for end in self._sockets.values():
            end.close()

    @property
    def spent(self) -> float:
        """Seconds that its requests have taken, as far as they count (see `clock.Clock`)."""
        return self._line.spent + sum(line.spent for line in self._copies.values())

    def ask(
        self,
        head: dict,
        value: Any = None,
        seconds: float = 10.0,
        most: int = FRAME + SLACK,
        copy: str = "",
        beyond: float = 0.0,
    ) -> Outcome:
        """Send one request and take the reply.

        Args:
            head: what to do; see `inside.driver`.
            value: the inputs, as plain values.
            seconds: after which the process is interrupted; soon after that it is killed. They
                count as `clock.Clock` counts.
            most: bytes that the reply may have; a value that takes more comes back as `Foreign`.
            copy: the question whose copy is asked, that which waits at its check; "" for the
                process that has run all cells.
            beyond: seconds of a processor after which a process that only computes is interrupted
                instead, and its loss is sure; see `line.Allowance`.

        Raises:
            Lost: if no reply came that makes sense. The process is then of no more use.
            Broken: if that is not the submission's doing.
            template.Ending: if the run has been stopped.
        """
        try:
            line = self._copy(copy) if copy else self._line
            try:
                return line.ask(head, value, seconds, most, beyond)
            except Lost:
                if copy:
                    line.kill()
                raise
        except Lost as lost:
            if template.ending():
                raise template.Ending("the run has been stopped") from None
            if lost.kind == "ended" and self._template.warm and not self._template.lives_on():
                raise Broken("the warm process has ended") from None
            raise

    def _copy(self, question: str) -> Line:
        """The line to the copy that waits at a question's check.

        Raises:
            Lost: if none answers there.
        """
        if question not in self._copies:
            end = self._sockets[question]
            end.settimeout(HELLO)
            try:
                end.sendall(wire.pack({"do": "hello", "id": 0, "most": FRAME}))
                _, ancillary, *_ = end.recvmsg(FRAME, socket.CMSG_SPACE(_CREDENTIALS.size))
                pid = _CREDENTIALS.unpack(ancillary[0][2])[0]
                process = os.pidfd_open(pid)
            except (OSError, IndexError, struct.error):
                raise Lost("ended") from None
            # somebody else spoke: whoever that is, it is not to be killed by its number
            if proc_stat.parent(pid) != self.pid:
                os.close(process)
                raise Lost("garbled")
            self._copies[question] = Line(
                end.fileno(), end.fileno(), pid, process, self._holds_too_much
            )
            end.detach()
            del self._sockets[question]
        return self._copies[question]

    def _holds_too_much(self) -> bool:
        most = self._limits.memory
        return template.memory_held(self.pid, most) > most + TORCH_BYTES
