"""Run once in the sandbox before a class is graded: is it shut? The only code there that looks for
a way out and is ours.
"""

import contextlib
import ctypes
import errno
import os
import resource
import sys
import time

import torch

import lectures_lib

from . import refused

NEW_USER_SPACE = 0x10000000  # CLONE_NEWUSER


def problems(hidden: list[str], processes: int, guest: bool = False) -> list[str]:
    """What student code could do here that it must not, and what it lacks; [] where all is well.

    Args:
        hidden: files and folders that must not be seen.
        processes: how many there may be.
        guest: whether it is a guest in a container (see `sandbox.guest`): then it sees other
            processes and the names of hidden files, and has no sockets of the internet.
    """
    seen = (lambda path: os.access(path, os.R_OK)) if guest else os.path.exists
    found = [f"{path} can be read" for path in hidden if seen(path)]
    found += [
        f"{module.__file__} cannot be read"
        for module in (lectures_lib, torch)
        if not os.path.exists(module.__file__)
    ]
    if not guest and any(name != "lo" for name in _networks()):
        found.append("there is a network")
    if os.geteuid() == 0:
        found.append("it runs as root")
    with open("/proc/self/status") as status:
        capabilities = [int(line.split()[1], 16) for line in status if line.startswith("Cap")]
    if any(capabilities):
        found.append("it has capabilities")
    if not guest and len([name for name in os.listdir("/proc") if name.isdigit()]) > 3:
        found.append("other processes can be seen")
    found += [f"the memory of process {pid} can be written to" for pid in _writable_processes()]
    for folder in ("/", "/dev", os.path.dirname(os.path.abspath(__file__)), sys.prefix):
        if os.access(folder, os.W_OK):
            found.append(f"{folder} can be written to")
    with contextlib.suppress(PermissionError):
        os.memfd_create("hidden")
        found.append("memory can be hidden from the limits")
    if ctypes.CDLL(None).unshare(NEW_USER_SPACE) == 0:
        found.append("it can make itself root of a space of its own")
    allowed = [refused.FAMILIES["AF_UNIX"]] if guest else [*refused.FAMILIES.values()]
    found += _let_through(os.uname().machine, allowed)
    if not _forks_end(processes):
        found.append("the number of processes is not limited")
    return found


def _networks() -> list[str]:
    """The names of the network's interfaces."""
    with open("/proc/self/net/dev") as devices:
        return [line.partition(":")[0].strip() for line in devices.readlines()[2:]]


def _writable_processes() -> list[str]:
    """The processes, other than this one, whose memory can be opened for writing."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) != os.getpid():
            with contextlib.suppress(OSError):
                os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR))
                found.append(pid)
    return found


def _let_through(machine: str, allowed: list[int]) -> list[str]:
    """What the filters of system calls do not stop. Each is called with arguments that make no
    sense, or a socket of a family that is not allowed opened and closed.
    """
    calls = refused.calls(machine)
    found = [
        f"the system call {name} is not refused"
        for name, number in calls.items()
        if _error(number, *[-1] * 6) != errno.EPERM
    ]
    if _error(refused.NEWER, *[-1] * 6) != errno.ENOSYS:
        found.append("system calls that nobody here knows are not refused")
    for name, call in refused.SOCKETS.items():
        others = [family for family in range(64) if family not in allowed]
        open_ones = [
            family for family in others if _error(call[machine], family, 2, 0, 0) != errno.EPERM
        ]
        found += [f"{name} of family {family} is not refused" for family in open_ones]
    return found


def _error(number: int, *arguments: int) -> int:
    """The error of a system call; 0 where there is none."""
    libc = ctypes.CDLL(None, use_errno=True)
    ctypes.set_errno(0)
    return ctypes.get_errno() if libc.syscall(number, *map(ctypes.c_long, arguments)) == -1 else 0


def _forks_end(processes: int) -> bool:
    """Whether the kernel refuses to start more than that many processes."""
    resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
    for _ in range(processes):
        try:
            if os.fork() == 0:
                time.sleep(5)  # the sandbox ends long before
                os._exit(0)
        except BlockingIOError:
            return True
    return False
