"""The warm process: it imports torch once; every submission then gets a fork of it, behind walls of
its own.

Importing torch takes a second, forking a process that has done so some milliseconds. The template
runs no student code and reads nothing that student code has written. It has one fork at a time, and
when it stops one, the whole process space of that submission is gone before the next begins. It
knows no questions and no answers, so there is nothing to find in the memory that a fork inherits.
"""

import contextlib
import gc
import importlib
import json
import os
import resource
import select
import signal
import socket

from . import driver, walls

# What notebooks import, or what torch imports as soon as something is trained: paid for once where
# many submissions share it. (data: number words, sentence tables.)
PRELOADED = (
    "torch.nn.functional",
    "torch.optim",
    "torch._dynamo",
    "numpy",
    "matplotlib.pyplot",
    "lectures_lib.data",
    "lectures_lib.show.plots",
    "asyncio",
)
MAX_MESSAGE = 1 << 16
MAX_DESCRIPTORS = 100


def main(control_fd: int, warm: bool = True, guest: bool = False) -> None:
    """Serve the grader's messages until it hangs up. Without `warm`, of which messages tell once
    more, it imports only what it needs itself: its one submission may need nothing else.

    A message is JSON with descriptors: one to read requests from, one to write replies to, and a
    socket for each question in "checks". {"fork": whether to fork at all, "memory", "processes",
    "file_size", "tmp": limits, "core": the only one to run on, "kept": what is to be seen of /tmp,
    "checks": questions whose `check` leaves a copy of the process, "filter": the system calls
    refused, in hex}. The answer comes from the process that will run the submission: {"error": ""},
    or why it could not be shut in. Any other message stops the fork; the answer {"stopped": true,
    "cpu_seconds": …} says that nothing of it is left, and what all forks and the template itself
    have cost by now.
    """
    control = socket.socket(fileno=control_fd)
    walls.unreadable(not guest)  # a guest's user has nothing but this, and is asked for its memory
    for name in PRELOADED if warm else ():
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    gc.freeze()  # what is here now is shared: collecting it in a fork would copy its pages
    keeper, lifeline = 0, -1
    while True:
        message, descriptors, *_ = socket.recv_fds(control, MAX_MESSAGE, MAX_DESCRIPTORS)
        if not message:
            break
        if len(descriptors) >= 2:
            order = json.loads(message)
            if not order["fork"]:
                _become(control, order, descriptors, bytes.fromhex(order["filter"]))
                return
            keeper, lifeline = _forked(control, order, descriptors)
        else:
            _end(keeper, lifeline)
            keeper, lifeline = 0, -1
            control.send(json.dumps({"stopped": True, "cpu_seconds": _cpu_seconds()}).encode())
    _end(keeper, lifeline)


def _end(keeper: int, lifeline: int) -> None:
    """End the fork, if there is one; come back when nothing of it is left."""
    if keeper:
        os.close(lifeline)
        os.waitpid(keeper, 0)


def _cpu_seconds() -> float:
    """Of this process and of all that it has forked."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _forked(control: socket.socket, order: dict, descriptors: list[int]) -> tuple[int, int]:
    """Fork a keeper, which forks the submission's process: the keeper's number, and the pipe on
    whose closing it ends both.
    """
    watched, lifeline = os.pipe()
    keeper = os.fork()
    if keeper == 0:
        os.close(lifeline)
        try:
            _keep(control, order, descriptors, watched)
        except BaseException as error:
            _say(control, f"{type(error).__name__}: {error}")
        finally:
            os._exit(0)
    for descriptor in (watched, *descriptors):
        os.close(descriptor)
    return keeper, lifeline


def _keep(control: socket.socket, order: dict, descriptors: list[int], watched: int) -> None:
    """In the keeper: own spaces, the submission's process as the first in them; wait for the word
    to end it.
    """
    walls.unreadable(False)  # it writes its own entries in /proc
    walls.enter_own_spaces()
    child = os.fork()
    if child == 0:
        try:
            walls.end_with_parent()
            walls.own_folders(order["tmp"], order["kept"])
            os.chdir("/tmp")
            _become(control, order, descriptors, bytes.fromhex(order["filter"]))
        except BaseException as error:
            _say(control, f"{type(error).__name__}: {error}")
        finally:
            os._exit(0)
    walls.unreadable(True)
    control.close()
    for descriptor in descriptors:
        os.close(descriptor)
    select.select([watched], [], [])
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)  # comes back when the last process of that space is gone


def _become(control: socket.socket, order: dict, descriptors: list[int], program: bytes) -> None:
    """Give up what student code must not have, and run it."""
    driver.limit(order["memory"], order["processes"], order["file_size"])
    _keep_to(order["core"])
    walls.drop_capabilities()
    walls.refuse_calls(program)
    _say(control, "")
    control.close()
    requests, replies, *sockets = descriptors
    driver.main(requests, replies, dict(zip(order["checks"], sockets, strict=True)))


def _keep_to(core: int) -> None:
    """Run on one core, and all that is started from here: however much it starts, it takes nobody
    else's.

    Student code cannot take this back: the filter of `refuse_calls` refuses sched_setaffinity.
    """
    with contextlib.suppress(OSError):  # the machine has taken that core away in the meantime
        os.sched_setaffinity(0, {core})


def _say(control: socket.socket, error: str) -> None:
    with contextlib.suppress(OSError):
        control.send(json.dumps({"error": error}).encode())
