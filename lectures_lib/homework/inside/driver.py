"""The process in the sandbox: runs a submission's cells, then answers the grader's calls, one frame
each.

It is a fork of `template` and trusted with nothing: student code runs in the same process and may
do to it what it likes. It can spoil its own answers that way, and no more, because the grader
compares all values itself.
"""

import contextlib
import os
import random
import resource
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, BinaryIO

import torch

import lectures_lib
import lectures_lib.homework

from . import cells, checks, probe, wire
from .calls import call
from .outcomes import Outcome, describe
from .values import Foreign


class TimeLimit(BaseException):
    """A cell or a call took too long. Not an Exception, so that a student's `except Exception` does
    not swallow it.
    """


def main(requests_fd: int, replies_fd: int, sockets: dict[str, int] | None = None) -> None:
    """Serve the frames that come in until they end.

    Args:
        requests_fd: where they come from.
        replies_fd: where the replies go.
        sockets: for each question, by its full name, where a copy of this process that waits at its
            `check` is spoken with.
    """
    pipes, held = _take_pipes((requests_fd, replies_fd), sockets or {})
    os.register_at_fork(after_in_child=lambda: _fall_silent(pipes))
    _prepare()
    names = cells.namespace()
    kept = checks.Checks(names, held, _serve_copy)
    lectures_lib.homework._recorder[:] = [kept.seen]
    _serve(*pipes, lambda head, value: _answered(head, value, names, kept))


def _serve_copy(line: socket.socket, answer: Any) -> None:
    """Serve the calls of one answer, in the copy that waits where it was checked."""
    signal.signal(signal.SIGALRM, _ring)
    torch.set_num_threads(1)  # of a pool that may have been there, a fork has no threads
    with line.makefile("rb") as requests, line.makefile("wb") as replies:
        _serve(
            requests,
            replies,
            lambda head, value: _called(answer, value) if head["do"] == "call" else Outcome(),
        )


def _serve(requests: BinaryIO, replies: BinaryIO, answer: Callable[[dict, Any], Outcome]) -> None:
    while len(header := requests.read(wire.LENGTHS.size)) == wire.LENGTHS.size:
        text, blob = wire.lengths(header)
        head, value = wire.unpack(requests.read(text), requests.read(blob))
        replies.write(_reply(head, _interruptible(answer, head, value)))
        replies.flush()


def limit(memory: int, processes: int, file_size: int) -> None:
    """Limit what this process and all that it starts may use.

    Args:
        memory: bytes that it may allocate beyond what it has now.
        processes: how many processes and threads there may be.
        file_size: bytes that a file may have.
    """
    for name, value in (
        ("AS", _address_space() + memory),
        ("NPROC", processes),
        ("FSIZE", file_size),
        ("CORE", 0),
        ("NOFILE", 100),
    ):
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))


def _take_pipes(
    pipes: tuple[int, int], sockets: dict[str, int]
) -> tuple[tuple[BinaryIO, BinaryIO], dict[str, socket.socket]]:
    """The pipes and sockets, moved away from where student code looks for standard input; every
    other descriptor closed.
    """
    requests, replies = os.fdopen(os.dup(pipes[0]), "rb"), os.fdopen(os.dup(pipes[1]), "wb")
    held = {name: socket.socket(fileno=os.dup(fd)) for name, fd in sockets.items()}
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    kept = {requests.fileno(), replies.fileno(), *(each.fileno() for each in held.values())}
    for fd in range(3, 256):
        if fd not in kept:
            try:
                os.close(fd)
            except OSError:
                continue
    return (requests, replies), held


def _fall_silent(pipes: tuple[BinaryIO, BinaryIO]) -> None:
    """In a process that a submission forks: it must neither take the grader's requests nor reply.
    At the end of its cell it ends.
    """
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


_interrupting = [False]  # whether a cell or call runs that the grader may interrupt


def _ring(*_: Any) -> None:
    """The grader's word that time is up: it alone keeps the clock. Too late, when all has been
    done, it means nothing.
    """
    if _interrupting[0]:
        raise TimeLimit


def _interruptible(answer: Callable[[dict, Any], Outcome], head: dict, value: Any) -> Outcome:
    """What a request asks for, until the grader interrupts."""
    try:
        _interrupting[0] = True
        return answer(head, value)
    except TimeLimit:
        return Outcome(lost="time")
    except BaseException as error:
        return Outcome(raised=describe(error))
    finally:
        _interrupting[0] = False


def _answered(head: dict, value: Any, names: dict[str, Any], kept: checks.Checks) -> Outcome:
    """Do what a request asks for: "cell", "call", "checked" (where do copies wait?) or "probe"."""
    match head["do"]:
        case "cell":
            return _cell(head, names, kept)
        case "checked":
            return Outcome(value=kept.kept())
        case "probe":
            return Outcome(
                value=probe.problems(head["hidden"], head["processes"], head.get("guest", False))
            )
    return _called(
        kept.earlier(head["answer"])
        if head.get("earlier")
        else names.get(head["answer"], _MISSING),
        value,
    )


_MISSING = object()


def _cell(head: dict, names: dict[str, Any], kept: checks.Checks) -> Outcome:
    if not head["only_definitions"]:
        kept.begin(head["cell"])
    answers = head.get("answers", [])
    try:
        cells.run(
            head["source"],
            names,
            f"<cell {head['cell']}>",
            head["only_definitions"],
            between=lambda: kept.note(answers),
        )
    finally:
        kept.after_cell(answers)
    return Outcome()


def _called(answer: Any, value: dict) -> Outcome:
    if answer is _MISSING:
        return Outcome(lost="missing")
    return call(answer, **value) if callable(answer) else Outcome(lost="uncallable")


def _reply(head: dict, outcome: Outcome) -> bytes:
    """The outcome as a frame of at most `head["most"]` bytes: a value that takes more is no answer,
    and only its kind is told.
    """
    raised = asdict(outcome.raised) if outcome.raised else None
    told = {"id": head["id"], "raised": raised, "changed": outcome.changed, "lost": outcome.lost}
    with contextlib.suppress(wire.Garbled):
        frame = wire.pack(told, outcome.value)
        if len(frame) <= head["most"]:
            return frame
        if outcome.raised is None:
            return wire.pack(told, Foreign(_too_large(outcome.value)))
    return wire.pack({"id": head["id"], "raised": None, "changed": [], "lost": "garbled"})


def _too_large(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)}, too large to be an answer"
    size = f" of {len(value):,}" if isinstance(value, str | list | tuple | dict) else ""
    return f"a {type(value).__name__}{size}, too large to be an answer"
