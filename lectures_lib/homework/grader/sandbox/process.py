"""One process in the sandbox, and the conversation with it. Every byte that it sends may be a
lie.
"""

import contextlib
import os
import selectors
import signal
import socket
import struct
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lectures_lib.homework.grader.sandbox import kernel_memory, template
from lectures_lib.homework.grader.sandbox.template import Limits
from lectures_lib.homework.inside import wire
from lectures_lib.homework.inside.calls import Outcome, Raised

GRACE = 2.0  # seconds after a limit until the process is killed: time to be interrupted and say so
OUTER = 20.0  # so many times longer than a limit may take on the clock, on a machine however busy,
OUTER_SECONDS = 60.0  # and this
HELLO = 30.0  # seconds on the clock for a copy to answer at all
TORCH_BYTES = 512 << 20  # what a process takes that has only imported torch, amply
POLL = 0.2  # seconds between looks at its memory
SELDOM = 10  # looking takes at most one part in so many of the time
FRAME = 64 << 10  # bytes of a reply that carries no value
SLACK = 256 << 10  # bytes that a value may take beyond what is expected
MOST_QUESTIONS = 20  # of a homework: each takes a descriptor
_CREDENTIALS = struct.Struct("=iii")  # struct ucred: process, user, group
# what the process itself may report as lost
REPORTED_LOST = ("", "time", "missing", "uncallable", "garbled")


class Lost(Exception):
    """The process is gone: it was killed, or it ended. `kind` says why, in the words of
    `diagnosis.LOST`.
    """

    def __init__(self, kind: str):
        super().__init__(kind)
        self.kind = kind


class Broken(Exception):
    """The warm process is gone, which no student code can end: nothing can be said of the
    submission it ran.
    """


class Watch:
    """A clock for one process: the time in which it, and all that it has started, uses a processor,
    and that in which they all sleep.

    Time in which they could run and the machine serves others does not count: a neighbour cannot
    use up somebody's limit.

    Args:
        pid: the process, as the grader counts.

    Attributes:
        seconds: that count, up to the last look.
    """

    def __init__(self, pid: int):
        self._pid, self._began = pid, time.monotonic()
        self._looked, self._first, self._used = self._began, -1.0, -1.0
        self._asleep = 0.0
        self.seconds = 0.0

    def elapsed(self) -> float:
        """Seconds on the wall."""
        return time.monotonic() - self._began

    def look(self) -> None:
        """See what has been used since the last look, if that is a while ago: it takes a look at
        all processes.
        """
        now = time.monotonic()
        if now - self._looked < POLL / 2:
            return
        used, running = _activity(self._pid)
        if self._first < 0:
            self._first = self._used = used
        if used <= self._used and not running:
            # more, and it was the grader that got no processor
            self._asleep += min(now - self._looked, 2 * POLL)
        self._looked, self._used = now, max(used, self._used)
        self.seconds = self._used - self._first + self._asleep

    def over(self, limit: float) -> bool:
        """Whether a limit has been passed, or the outer bound on the wall clock."""
        return self.seconds > limit or self.elapsed() > OUTER * limit + OUTER_SECONDS


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

    def ask(self, head: dict, value: Any, seconds: float, most: int) -> Outcome:
        """Send a request and take the reply: see `Sandbox.ask`."""
        self._asked += 1
        frame = wire.pack({**head, "id": self._asked, "most": most}, value)
        watch = Watch(self._pid)
        try:
            text, blob = self._exchange(frame, watch, seconds, most)
            reply, value = wire.unpack(text, blob)
            if reply.get("id") != self._asked or self._buffer:
                raise wire.Garbled("not the reply to what was asked")
            return _outcome(reply, value)
        except wire.Garbled:
            raise Lost("garbled") from None
        finally:
            self.spent += watch.seconds + min(watch.elapsed(), POLL)

    def _exchange(
        self, frame: bytes, watch: Watch, seconds: float, most: int
    ) -> tuple[bytes, bytes]:
        """Write `frame`, read the two parts of one frame; neither may take for ever, nor fill the
        memory.
        """
        unsent = memoryview(frame)
        interrupted = False
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
                for key, events in (
                    ready := selector.select(min(POLL, max(0.05, seconds - watch.seconds)))
                ):
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
                watch.look()
                if watch.over(seconds + GRACE):
                    raise Lost("time")
                if not interrupted and watch.over(seconds):
                    interrupted = True
                    self._interrupt()
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
        """Seconds that its requests have taken, as far as they count (see `Watch`)."""
        return self._line.spent + sum(line.spent for line in self._copies.values())

    def ask(
        self,
        head: dict,
        value: Any = None,
        seconds: float = 10.0,
        most: int = FRAME + SLACK,
        copy: str = "",
    ) -> Outcome:
        """Send one request and take the reply.

        Args:
            head: what to do; see `inside.driver`.
            value: the inputs, as plain values.
            seconds: after which the process is interrupted; soon after that it is killed. They
                count as `Watch` counts.
            most: bytes that the reply may have; a value that takes more comes back as `Foreign`.
            copy: the question whose copy is asked, that which waits at its check; "" for the
                process that has run all cells.

        Raises:
            Lost: if no reply came that makes sense. The process is then of no more use.
            Broken: if that is not the submission's doing.
            template.Ending: if the run has been stopped.
        """
        try:
            line = self._copy(copy) if copy else self._line
            try:
                return line.ask(head, value, seconds, most)
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
            if _parent(pid) != self.pid:
                os.close(process)
                raise Lost("garbled")
            self._copies[question] = Line(
                end.fileno(), end.fileno(), pid, process, self._holds_too_much
            )
            end.detach()
            del self._sockets[question]
        return self._copies[question]

    def _holds_too_much(self) -> bool:
        return self._memory() > self._limits.memory + TORCH_BYTES

    def _memory(self) -> int:
        """Bytes that the sandbox's processes hold together, and the kernel for them."""
        children: dict[int, list[int]] = {}
        pages: dict[int, int] = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has just ended
            pages[int(folder.name)] = int(fields[21])
            children.setdefault(int(fields[1]), []).append(int(folder.name))
        resident = {}
        for pid in (unseen := [self.pid]):
            resident[pid] = pages.get(pid, 0) * os.sysconf("SC_PAGESIZE")
            unseen += children.get(pid, [])
        kernel_s, total = kernel_memory.held(self.pid), sum(resident.values())
        if total + kernel_s >= self._limits.memory:
            total = sum(_own_share(pid, bytes_) for pid, bytes_ in resident.items())
        return total + kernel_s


def _activity(pid: int) -> tuple[float, bool]:
    """Seconds of a processor that a process and all that it has started have used, and whether any
    of them runs or could run.
    """
    children: dict[int, list[int]] = {}
    seen: dict[int, tuple[int, bool]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        seen[int(folder.name)] = sum(map(int, fields[11:15])), fields[0] in ("R", "D")
        children.setdefault(int(fields[1]), []).append(int(folder.name))
    for each in (tree := [pid]):
        tree += children.get(each, [])
    found = [seen[each] for each in tree if each in seen]
    return sum(ticks for ticks, _ in found) / os.sysconf("SC_CLK_TCK"), any(
        running for _, running in found
    )


def _parent(pid: int) -> int:
    """The process that started this one; 0 if it is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def _own_share(pid: int, resident: int) -> int:
    """A process's memory, with what it shares with others counted in parts. It costs more to find
    out than the plain number.
    """
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except PermissionError:
        return resident
    except OSError:  # it has just ended
        return 0
    return sum(
        int(line.split()[1]) << 10 for line in rollup.splitlines() if line.startswith("Pss:")
    )


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
