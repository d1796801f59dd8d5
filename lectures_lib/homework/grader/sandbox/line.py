"""The conversation with one process in the sandbox. Every byte that it sends may be a lie."""

import contextlib
import math
import os
import selectors
import signal
import time
from collections.abc import Callable
from typing import Any

from lectures_lib.homework.grader.sandbox.clock import POLL, Clock
from lectures_lib.homework.inside import wire
from lectures_lib.homework.inside.outcomes import Outcome, Raised

GRACE = 2.0  # seconds after a limit until the process is killed: time to be interrupted and say so
SELDOM = 10  # looking takes at most one part in so many of the time
FRAME = 64 << 10  # bytes of a reply that carries no value
SLACK = 256 << 10  # bytes that a value may take beyond what is expected
# what the process itself may report as lost
REPORTED_LOST = ("", "time", "missing", "uncallable", "garbled")


class Lost(Exception):
    """The process is gone: it was killed, or it ended. `kind` says why, in the words of
    `verdict.LOST`; `sure`, whether it can have been nobody's doing but its own.
    """

    def __init__(self, kind: str, sure: bool = False):
        super().__init__(kind)
        self.kind, self.sure = kind, sure


class Allowance:
    """The time that one request may take.

    Args:
        clock: begun with the request.
        seconds: the limit.
        beyond: who only computes is let go on, behind the limit, until so many seconds of a
            processor are used: no busy machine can then have been the cause. 0: nobody is.

    Attributes:
        late: whether it was let go on. What it gives then comes too late, as it would for others.
        sure: whether it went so far. Before, it is in doubt.
    """

    def __init__(self, clock: Clock, seconds: float, beyond: float = 0.0):
        self._clock, self._seconds, self._beyond = clock, seconds, beyond
        self._interrupted_at = math.inf
        self.late = self.sure = False

    @property
    def until_a_look(self) -> float:
        """Seconds to wait for a reply before the next look at the clock."""
        left = self._seconds - self._clock.seconds
        return min(POLL, max(0.05, left)) if left > 0 else POLL

    def is_up(self) -> bool:
        """Look at the clock: whether the process is to be interrupted now, which it is once."""
        clock = self._clock
        clock.look()
        if self._interrupted_at < math.inf or not clock.over(self._seconds):
            return False
        goes_on = clock.computes and clock.used <= self._beyond
        self.sure = clock.computes and clock.used > self._beyond > 0
        self.late = self.late or goes_on or self.sure
        if not goes_on:
            self._interrupted_at = max(clock.seconds, self._seconds)
        return not goes_on

    @property
    def grace_is_over(self) -> bool:
        """Whether it was interrupted, and has not said so for too long."""
        return self._clock.over(self._interrupted_at + GRACE)

    @property
    def charged(self) -> float:
        """Seconds that count towards those of the whole submission: none for which it was let go
        on.
        """
        counted = self._seconds if self.late else self._clock.seconds
        return counted + min(self._clock.elapsed(), POLL)


class Line:
    """A conversation with one process: a request, its reply, in turn.

    Args:
        requests, replies: the descriptors; the same one for a socket. They are closed with the
            line.
        pid: the process, as the grader counts.
        process: a descriptor that stands for the process (pidfd_open(2)).
        memory: whether the processes of the submission hold more memory than they may.
    """

    def __init__(
        self, requests: int, replies: int, pid: int, process: int, memory: Callable[[], bool]
    ):
        self._requests, self._replies, self._pid, self._process, self._too_much = (
            requests,
            replies,
            pid,
            process,
            memory,
        )
        self._asked = 0
        self._buffer = bytearray()
        self._look_after = 0.0
        self.spent = 0.0
        for fd in {requests, replies}:
            os.set_blocking(fd, False)

    def close(self) -> None:
        """Say no more."""
        for fd in {self._requests, self._replies, self._process}:
            os.close(fd)

    def kill(self) -> None:
        """End the process."""
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self._process, signal.SIGKILL)

    def ask(
        self, head: dict, value: Any, seconds: float, most: int, beyond: float = 0.0
    ) -> Outcome:
        """Send a request and take the reply: see `Sandbox.ask`."""
        self._asked += 1
        frame = wire.pack({**head, "id": self._asked, "most": most}, value)
        allowance = Allowance(Clock(self._pid), seconds, beyond)
        try:
            text, blob = self._exchange(frame, allowance, most)
            reply, value = wire.unpack(text, blob)
            if reply.get("id") != self._asked or self._buffer:
                raise wire.Garbled("not the reply to what was asked")
            if allowance.late:
                return Outcome(lost="time", sure=allowance.sure)
            return _outcome(reply, value)
        except wire.Garbled:
            raise Lost("garbled") from None
        finally:
            self.spent += allowance.charged

    def _exchange(self, frame: bytes, allowance: "Allowance", most: int) -> tuple[bytes, bytes]:
        """Write `frame`, read the two parts of one frame; neither may take for ever, nor fill the
        memory.
        """
        unsent = memoryview(frame)
        self._look_after = time.monotonic() + POLL
        with selectors.DefaultSelector() as selector:
            selector.register(
                self._replies,
                selectors.EVENT_READ
                | (selectors.EVENT_WRITE if self._requests == self._replies else 0),
            )
            if self._requests != self._replies:
                selector.register(self._requests, selectors.EVENT_WRITE)
            selector.register(self._process, selectors.EVENT_READ)
            while (parts := self._complete(most)) is None:
                for key, events in (ready := selector.select(allowance.until_a_look)):
                    if key.fd == self._process and len(ready) == 1:
                        raise Lost("ended")
                    if key.fd == self._replies and events & selectors.EVENT_READ:
                        self._receive()
                    if key.fd == self._requests and events & selectors.EVENT_WRITE:
                        unsent = unsent[self._send(unsent) :]
                        if not unsent and self._requests == self._replies:
                            selector.modify(self._replies, selectors.EVENT_READ)
                        elif not unsent:
                            selector.unregister(self._requests)
                # it is there, however long the grader did not get to see it
                if parts := self._complete(most):
                    break
                if allowance.is_up():
                    self._interrupt()
                if allowance.grace_is_over:
                    raise Lost("time", allowance.sure)
                self._look()
        return parts

    def _interrupt(self) -> None:
        """Tell it that its time is up; it says so itself, unless it has to be killed."""
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self._process, signal.SIGALRM)

    def _look(self) -> None:
        """Look after the memory, not too often: with many processes that takes a while."""
        now = time.monotonic()
        if now < self._look_after:
            return
        if self._too_much():
            raise Lost("memory")
        self._look_after = time.monotonic() + max(POLL, SELDOM * (time.monotonic() - now))

    def _send(self, data: memoryview) -> int:
        try:
            return os.write(self._requests, data)
        except BlockingIOError:
            return 0
        except (BrokenPipeError, ConnectionError):
            raise Lost("ended") from None

    def _receive(self) -> None:
        try:
            data = os.read(self._replies, 1 << 16)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        if not data:
            raise Lost("ended")
        self._buffer += data

    def _complete(self, most: int) -> tuple[bytes, bytes] | None:
        """The parts of a frame, once all of it is here."""
        start = wire.LENGTHS.size
        if len(self._buffer) < start:
            return None
        text, blob = wire.lengths(bytes(self._buffer[:start]))
        end = start + text + blob
        if end > most:
            raise wire.Garbled(f"a frame of {end:,} bytes")
        if len(self._buffer) < end:
            return None
        parts = bytes(self._buffer[start : start + text]), bytes(self._buffer[start + text : end])
        del self._buffer[:end]
        return parts


def _outcome(reply: dict, value: Any) -> Outcome:
    """A reply as an outcome, after making sure that it is one."""
    raised, changed, lost = reply.get("raised"), reply.get("changed"), reply.get("lost")
    if lost not in REPORTED_LOST or not isinstance(changed, list):
        raise wire.Garbled("not an outcome")
    if raised is not None:
        if (
            not isinstance(raised, dict)
            or not isinstance(raised.get("kinds"), list)
            or not isinstance(raised.get("line"), int)
        ):
            raise wire.Garbled("not an exception")
        kinds = tuple(str(kind)[:100] for kind in raised["kinds"][:20])
        texts = (str(raised.get(name, ""))[:500] for name in ("kind", "message", "source"))
        kind, message, source = texts
        raised = Raised(kind, kinds, message, raised["line"], source)
    return Outcome(value, raised, tuple(str(name)[:100] for name in changed[:20]), lost)
