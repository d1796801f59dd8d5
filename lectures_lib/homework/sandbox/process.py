"""One process in the sandbox, and the conversation with it. Every byte that it sends may be a lie."""

import os
import selectors
import time
from pathlib import Path
from typing import Any

from lectures_lib.homework.inside import wire
from lectures_lib.homework.inside.calls import Outcome, Raised
from lectures_lib.homework.sandbox import template
from lectures_lib.homework.sandbox.template import Limits

GRACE = 2.0  # seconds after a limit until the process is killed: time to be interrupted and say so
TORCH_BYTES = 512 << 20  # what a process takes that has only imported torch, amply
POLL = 0.2  # seconds between looks at its memory
REPORTED_LOST = ("", "time", "missing", "uncallable", "garbled")  # what the process itself may report as lost


class Lost(Exception):
    """The process is gone: it was killed, or it ended. `kind` says why, in the words of `diagnosis.LOST`."""

    def __init__(self, kind: str):
        super().__init__(kind)
        self.kind = kind


class Broken(Exception):
    """The warm process is gone, which no student code can end: nothing can be said of the submission it ran."""


class Sandbox:
    """A process that runs cells and calls answers. Use as a context manager: at its end nothing of it is left running.

    Attributes:
        pid: its number, as the grader counts.
    """

    def __init__(self, limits: Limits):
        self._limits = limits
        self._asked = 0
        self._buffer = bytearray()
        far_requests, self._requests = os.pipe()
        self._replies, far_replies = os.pipe()
        try:
            self._template, self.pid = template.forked(limits, far_requests, far_replies)
        except BaseException:
            os.close(self._requests)
            os.close(self._replies)
            raise
        finally:
            os.close(far_requests)
            os.close(far_replies)
        os.set_blocking(self._requests, False)
        os.set_blocking(self._replies, False)

    def __enter__(self) -> "Sandbox":
        """The sandbox itself."""
        return self

    def __exit__(self, *_: Any) -> None:
        """Kill what is left: with the first process in its own process space, every other one ends."""
        self._template.stop()
        os.close(self._requests)
        os.close(self._replies)

    def ask(self, head: dict, value: Any = None, seconds: float = 10.0) -> Outcome:
        """Send one request and take the reply.

        Args:
            head: what to do; see `inside.driver`.
            value: the inputs, as plain values.
            seconds: after which the process interrupts itself; soon after that it is killed.

        Raises:
            Lost: if no reply came that makes sense. The process is then of no more use.
            Broken: if that is not the submission's doing.
            template.Ending: if the run has been stopped.
        """
        patience = seconds + GRACE
        self._asked += 1
        frame = wire.pack({**head, "id": self._asked, "seconds": seconds}, value)
        try:
            text, blob = self._exchange(frame, time.monotonic() + patience)
            reply, value = wire.unpack(text, blob)
            if reply.get("id") != self._asked or self._buffer:
                raise wire.Garbled("not the reply to what was asked")
            return _outcome(reply, value)
        except wire.Garbled:
            raise Lost("garbled") from None
        except Lost as lost:
            if template.ending():
                raise template.Ending("the run has been stopped") from None
            if lost.kind == "ended" and self._template.warm and not self._template.lives_on():
                raise Broken("the warm process has ended") from None
            raise

    def _exchange(self, frame: bytes, deadline: float) -> tuple[bytes, bytes]:
        """Write `frame`, read the two parts of one frame; neither may take for ever, nor fill the memory."""
        unsent = memoryview(frame)
        next_look = time.monotonic() + POLL
        with selectors.DefaultSelector() as selector:
            selector.register(self._requests, selectors.EVENT_WRITE)
            selector.register(self._replies, selectors.EVENT_READ)
            while (parts := self._complete()) is None:
                ready = selector.select(POLL)
                now = time.monotonic()
                if now > deadline:
                    raise Lost("time")
                if now > next_look:
                    if self._memory() > self._limits.memory + TORCH_BYTES:
                        raise Lost("memory")
                    next_look = now + POLL
                for key, _ in ready:
                    if key.fd == self._replies:
                        self._receive()
                    elif unsent := unsent[self._send(unsent) :]:
                        continue
                    else:
                        selector.unregister(self._requests)
        return parts

    def _send(self, data: memoryview) -> int:
        try:
            return os.write(self._requests, data)
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            raise Lost("ended") from None

    def _receive(self) -> None:
        data = os.read(self._replies, 1 << 16)
        if not data:
            raise Lost("ended")
        self._buffer += data

    def _complete(self) -> tuple[bytes, bytes] | None:
        """The parts of a frame, once all of it is here."""
        start = wire.LENGTHS.size
        if len(self._buffer) < start:
            return None
        text, blob = wire.lengths(bytes(self._buffer[:start]))
        end = start + text + blob
        if len(self._buffer) < end:
            return None
        parts = bytes(self._buffer[start : start + text]), bytes(self._buffer[start + text : end])
        del self._buffer[:end]
        return parts

    def _memory(self) -> int:
        """Bytes that the sandbox's processes hold together."""
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
        total = sum(resident.values())
        return total if total < self._limits.memory else sum(_own_share(pid, bytes_) for pid, bytes_ in resident.items())


def _own_share(pid: int, resident: int) -> int:
    """A process's memory, with what it shares with others counted in parts. It costs more to find out than the plain number."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except PermissionError:
        return resident
    except OSError:  # it has just ended
        return 0
    return sum(int(line.split()[1]) << 10 for line in rollup.splitlines() if line.startswith("Pss:"))


def _outcome(reply: dict, value: Any) -> Outcome:
    """A reply as an outcome, after making sure that it is one."""
    raised, changed, lost = reply.get("raised"), reply.get("changed"), reply.get("lost")
    if lost not in REPORTED_LOST or not isinstance(changed, list):
        raise wire.Garbled("not an outcome")
    if raised is not None:
        if not isinstance(raised, dict) or not isinstance(raised.get("kinds"), list) or not isinstance(raised.get("line"), int):
            raise wire.Garbled("not an exception")
        kinds = tuple(str(kind)[:100] for kind in raised["kinds"][:20])
        texts = (str(raised.get(name, ""))[:500] for name in ("kind", "message", "source"))
        kind, message, source = texts
        raised = Raised(kind, kinds, message, raised["line"], source)
    return Outcome(value, raised, tuple(str(name)[:100] for name in changed[:20]), lost)
