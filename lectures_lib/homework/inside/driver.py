"""The process in the sandbox: runs a submission's cells, then answers the grader's calls, one frame each.

It is a fork of `template` and trusted with nothing: student code runs in the same process and may do to
it what it likes. It can spoil its own answers that way, and no more, because the grader compares all values itself.
"""

import os
import random
import resource
import signal
import sys
from dataclasses import asdict
from typing import Any, BinaryIO

import torch

import lectures_lib

from . import cells, probe, wire
from .calls import Outcome, call, describe


class TimeLimit(BaseException):
    """A cell or a call took too long. Not an Exception, so that a student's `except Exception` does not swallow it."""


def main(requests_fd: int, replies_fd: int) -> None:
    """Serve the frames that come in until they end.

    Args:
        requests_fd: where they come from.
        replies_fd: where the replies go.
    """
    requests, replies = _take_pipes(requests_fd, replies_fd)
    os.register_at_fork(after_in_child=lambda: _fall_silent(requests, replies))
    _prepare()
    names = cells.namespace()
    while len(header := requests.read(wire.LENGTHS.size)) == wire.LENGTHS.size:
        text, blob = wire.lengths(header)
        head, value = wire.unpack(requests.read(text), requests.read(blob))
        outcome = _timed(head, value, names)
        replies.write(_reply(head["id"], outcome))
        replies.flush()


def limit(memory: int, processes: int, file_size: int) -> None:
    """Limit what this process and all that it starts may use.

    Args:
        memory: bytes that it may allocate beyond what it has now.
        processes: how many processes and threads there may be.
        file_size: bytes that a file may have.
    """
    for name, value in (("AS", _address_space() + memory), ("NPROC", processes), ("FSIZE", file_size), ("CORE", 0), ("NOFILE", 256)):
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))


def _take_pipes(requests_fd: int, replies_fd: int) -> tuple[BinaryIO, BinaryIO]:
    """The two pipes, moved away from where student code looks for standard input; every other descriptor closed."""
    requests, replies = os.fdopen(os.dup(requests_fd), "rb"), os.fdopen(os.dup(replies_fd), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    kept = (requests.fileno(), replies.fileno())
    for fd in range(3, 256):
        if fd not in kept:
            try:
                os.close(fd)
            except OSError:
                continue
    return requests, replies


def _fall_silent(*pipes: BinaryIO) -> None:
    """In a process that a submission forks: it must neither take the grader's requests nor reply. At the end of its cell it ends."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for pipe in pipes:
        os.dup2(nothing, pipe.fileno())
    os.close(nothing)


def _address_space() -> int:
    """Bytes of address space in use: torch reserves a lot that it never touches."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[0]) * resource.getpagesize()


def _prepare() -> None:
    """One thread; and `lectures_lib.setup()` without its plots, which nobody would see."""
    torch.set_num_threads(1)
    lectures_lib.setup = lectures_lib.environment.setup = _quiet_setup
    signal.signal(signal.SIGALRM, _ring)


def _quiet_setup(seed: int = 0, threads: int = 1) -> torch.device:
    random.seed(seed)
    torch.manual_seed(seed)
    sys.modules["numpy"].random.seed(seed)
    return torch.device("cpu")


def _ring(*_: Any) -> None:
    raise TimeLimit


def _timed(head: dict, value: Any, names: dict[str, Any]) -> Outcome:
    """What a request asks for, interrupted after `head["seconds"]`."""
    try:
        signal.setitimer(signal.ITIMER_REAL, head["seconds"])
        if head["do"] == "probe":
            return Outcome(value=probe.problems(head["hidden"], head["processes"]))
        return _cell(head, names) if head["do"] == "cell" else _call(head, value, names)
    except TimeLimit:
        return Outcome(lost="time")
    except BaseException as error:
        return Outcome(raised=describe(error))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _cell(head: dict, names: dict[str, Any]) -> Outcome:
    cells.run(head["source"], names, f"<cell {head['cell']}>", head["only_definitions"])
    return Outcome()


def _call(head: dict, value: dict, names: dict[str, Any]) -> Outcome:
    if head["answer"] not in names:
        return Outcome(lost="missing")
    answer = names[head["answer"]]
    return call(answer, **value) if callable(answer) else Outcome(lost="uncallable")


def _reply(number: int, outcome: Outcome) -> bytes:
    raised = asdict(outcome.raised) if outcome.raised else None
    try:
        return wire.pack({"id": number, "raised": raised, "changed": outcome.changed, "lost": outcome.lost}, outcome.value)
    except wire.Garbled:
        return wire.pack({"id": number, "raised": None, "changed": [], "lost": "garbled"})
