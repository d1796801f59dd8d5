"""The warm process in bubblewrap's sandbox, as the grader sees it: it starts once a worker and
forks for every submission.
"""

import contextlib
import functools
import itertools
import json
import os
import platform
import random
import socket
import struct
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lectures_lib.homework.grader.sandbox import bubblewrap, guest, memory, seccomp

START = 60.0  # seconds that Python and torch may take to start, on a busy machine
GOODBYE = 2.0  # seconds for a template to end by itself
PATIENCE = 10.0  # seconds for a fork to be there, or to be gone
NO_CHECKS: Mapping[str, int] = MappingProxyType({})
_CREDENTIALS = struct.Struct("=iii")  # struct ucred: process, user, group
_of_thread = threading.local()
_warm = True
_guest = False  # whether the weaker walls of `guest` are used
_all: "weakref.WeakSet[Template]" = weakref.WeakSet()
_spent: list[float] = []  # CPU seconds of the templates that have ended
_ending = threading.Event()


@dataclass(frozen=True)
class Limits:
    """What a submission may use. Seconds are those in which it runs or waits of its own accord (see
    `clock.Clock`).

    Attributes:
        cell: seconds for each code cell.
        total: seconds for the whole submission.
        memory: bytes, beyond what torch takes.
        file: bytes a file may have; /tmp holds `bubblewrap.TMP_BYTES` in all.
        restarts: how often a new process may be started where one was killed or ended.
    """

    cell: float = 30.0
    total: float = 300.0
    memory: int = 2 << 30
    file: int = 32 << 20
    restarts: int = 12


class Ending(Exception):
    """The run has been stopped: what its processes did last is not to be judged."""


class Template:
    """A process that has imported torch and forks one process at a time.

    Args:
        warm: whether it forks. Where the machine allows no spaces within spaces, it serves one
            submission itself, and is then used up.

    Attributes:
        cpu_seconds: what it and its forks had used when the last one was stopped.
    """

    def __init__(self, warm: bool = True):
        self.warm = warm
        self.cpu_seconds = 0.0
        self._used = False
        self._core = _core()
        self._control, far_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115  (open as long as the process runs)
        self._alone = -1  # where it does not fork: the process that runs the submission
        program = [
            "-c",
            f"from lectures_lib.homework.template import main; "
            f"main({far_end.fileno()}, {warm}, {_guest})",
        ]
        try:
            with seccomp.opened(network=not _guest) as filter_fd:
                self._process = subprocess.Popen(
                    guest.command(program, filter_fd)
                    if _guest
                    else bubblewrap.command(program, filter_fd, alone=not warm),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=self._complaints,
                    pass_fds=[far_end.fileno(), filter_fd],
                    start_new_session=True,  # Ctrl-C is the grader's to hear
                    # bubblewrap's own environment can be read from inside, whatever it clears
                    env={},
                )
        except BaseException:
            self._control.close()
            raise
        finally:
            far_end.close()
        _all.add(self)

    def fork(
        self,
        limits: Limits,
        requests_fd: int,
        replies_fd: int,
        checks: Mapping[str, int] = NO_CHECKS,
    ) -> int:
        """Have it fork a process that reads frames from one descriptor and writes to the other: its
        number here.

        Args:
            limits: what that process may use.
            requests_fd, replies_fd: the descriptors.
            checks: for each question the socket over which a copy answers that waits where its
                `check` was called.

        Raises:
            bubblewrap.Refused: if the process could not be shut in.
        """
        first, self._used = not self._used, True
        order = {
            "fork": self.warm,
            "memory": limits.memory,
            "file_size": limits.file,
            "processes": bubblewrap.PROCESSES,
        }
        order |= {
            "tmp": bubblewrap.TMP_BYTES,
            "kept": bubblewrap.seen_in_tmp(),
            "core": self._core,
            "checks": list(checks),
            "filter": seccomp.students_program(platform.machine()).hex(),
        }
        try:
            socket.send_fds(
                self._control,
                [json.dumps(order).encode()],
                [requests_fd, replies_fd, *checks.values()],
            )
            self._control.settimeout(PATIENCE + (START if first else 0))
            text, ancillary, *_ = self._control.recvmsg(
                1 << 16, socket.CMSG_SPACE(_CREDENTIALS.size)
            )
            error = json.loads(text)["error"] if text else "it ended"
        except (OSError, ValueError) as trouble:
            error = f"{type(trouble).__name__}: {trouble}"
        if error:
            complaint = f"{self._complaint()} ({error})".strip()
            self.close()
            raise bubblewrap.Refused(complaint)
        pid = _CREDENTIALS.unpack(ancillary[0][2])[0]
        if not self.warm:
            self._alone = os.pidfd_open(pid)
        return pid

    def stop(self) -> None:
        """End the fork and all that it has started. When this returns, nothing of it is left."""
        try:
            self._control.send(b"{}")
            self._control.settimeout(PATIENCE)
            reply = json.loads(self._control.recv(1 << 16) or b"{}") if self.warm else {}
            stopped = reply.get("stopped", False)
            self.cpu_seconds = reply.get("cpu_seconds", self.cpu_seconds)
        except (OSError, ValueError):
            stopped = False
        if not stopped:
            self.close()

    @property
    def alive(self) -> bool:
        """Whether it can fork once more."""
        return self._process.poll() is None and (self.warm or not self._used)

    def lives_on(self) -> bool:
        """Whether it is still there a moment after one of its forks has ended: the end of
        bubblewrap's process shows a little late.
        """
        try:
            self._process.wait(0.2)
        except subprocess.TimeoutExpired:
            return True
        return False

    @property
    def pid(self) -> int:
        """The number of bubblewrap's process: the first of all that belongs to this sandbox."""
        return self._process.pid

    def close(self) -> None:
        """End it, and with it everything in its sandbox."""
        if first := self in _all:
            _all.discard(self)
            _spent.append(self.cpu_seconds)
        self._control.close()
        ended = self._end_alone()
        try:  # it hangs up by itself, unless it runs a submission's code
            self._process.wait(GOODBYE if self.warm or ended else 0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._complaints.close()
        if _guest and first:  # not once more: another template's process would end
            guest.end()

    def _end_alone(self) -> bool:
        """End the process of the submission where it has no keeper, and with it, the first of its
        space, all that it has started.
        """
        pidfd, self._alone = self._alone, -1
        if pidfd < 0:
            return False
        bubblewrap.end(pidfd, PATIENCE)
        return True

    def __del__(self):
        try:
            self.close()
        except Exception:  # the interpreter is ending: bubblewrap ends with it
            return

    def _complaint(self) -> str:
        with contextlib.suppress(OSError, ValueError):
            self._complaints.seek(max(0, self._complaints.seek(0, os.SEEK_END) - 2000))
            return self._complaints.read().decode(errors="replace").strip()[-500:]
        return ""


def forked(
    limits: Limits, requests_fd: int, replies_fd: int, checks: Mapping[str, int] = NO_CHECKS
) -> tuple[Template, int]:
    """A new process for a submission, from this thread's template: the template, and the process's
    number. See `Template.fork`.

    A template that has died is replaced. It ends with the thread that started it.

    Raises:
        bubblewrap.Refused: if no process could be shut in.
        Ending: if the run has been stopped.
    """
    try:
        return _forked_once(limits, requests_fd, replies_fd, checks)
    except bubblewrap.Refused:  # something outside may have killed it, or the run is being stopped
        return _forked_once(limits, requests_fd, replies_fd, checks)


def _forked_once(
    limits: Limits, requests_fd: int, replies_fd: int, checks: Mapping[str, int]
) -> tuple[Template, int]:
    if _ending.is_set():
        raise Ending("the run has been stopped")
    found = _of_this_thread()
    return found, found.fork(limits, requests_fd, replies_fd, checks)


def spared() -> list[Template]:
    """This thread's template, for another thread to `take`; none, if it has started none."""
    template = vars(_of_thread).pop("template", None)
    return [template] if template else []


def take(spare: list[Template]) -> None:
    """Use one of these templates in this thread, if any is left. Starting one takes seconds."""
    with contextlib.suppress(IndexError):
        _of_thread.template = spare.pop()


@contextlib.contextmanager
def ended() -> Iterator[None]:
    """End every process of every thread, and start none within this context."""
    _ending.set()
    for template in list(_all):
        template.close()
    try:
        yield
    finally:
        _ending.clear()


def ending() -> bool:
    """Whether the run has been stopped."""
    return _ending.is_set()


def cpu_seconds() -> float:
    """What all sandboxes of this process have used up to now."""
    return float(sum(_spent) + sum(template.cpu_seconds for template in list(_all)))


def use(warm: bool, as_guest: bool = False) -> None:
    """From now on, whether templates fork, or each serves one submission; and whether that runs
    behind the weaker walls of `guest`. End this thread's.
    """
    global _warm, _guest
    if template := getattr(_of_thread, "template", None):
        template.close()
        del _of_thread.template
    _warm, _guest = warm, as_guest


def warm() -> bool:
    """Whether templates fork."""
    return _warm


def as_guest() -> bool:
    """Whether the weaker walls of `guest` are used."""
    return _guest


def memory_held(pid: int, most: int) -> int:
    """See `memory.held`."""
    return memory.held(pid, most, guest.rollup, kernel=False) if _guest else memory.held(pid, most)


@functools.cache
def _cores() -> Iterator[int]:
    """The cores this process may use, again and again; two graders on one machine begin at
    different ones.
    """
    cores = sorted(os.sched_getaffinity(0))
    random.SystemRandom().shuffle(cores)
    return itertools.cycle(cores)


def _core() -> int:
    """The core that this thread's submissions run on."""
    if not hasattr(_of_thread, "core"):
        _of_thread.core = next(_cores())
    return _of_thread.core


def _of_this_thread() -> Template:
    template = getattr(_of_thread, "template", None)
    if template is None or not template.alive:
        if template is not None:
            template.close()
        template = _of_thread.template = Template(_warm)
    return template
