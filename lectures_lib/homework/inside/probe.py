"""Run once in the sandbox before a class is graded: is it shut? The only code there that looks for a way out and is ours."""

import contextlib
import ctypes
import os
import resource
import socket
import sys
import time

import torch

import lectures_lib

NEW_USER_SPACE = 0x10000000  # CLONE_NEWUSER


def problems(hidden: list[str], processes: int) -> list[str]:
    """What student code could do here that it must not, and what it lacks; [] where all is well."""
    found = [f"{path} can be read" for path in hidden if os.path.exists(path)]
    found += [f"{module.__file__} cannot be read" for module in (lectures_lib, torch) if not os.path.exists(module.__file__)]
    if any(name != "lo" for _, name in socket.if_nameindex()):
        found.append("there is a network")
    if os.geteuid() == 0:
        found.append("it runs as root")
    with open("/proc/self/status") as status:
        capabilities = [int(line.split()[1], 16) for line in status if line.startswith("Cap")]
    if any(capabilities):
        found.append("it has capabilities")
    if len([name for name in os.listdir("/proc") if name.isdigit()]) > 3:
        found.append("other processes can be seen")
    for folder in ("/", "/dev", os.path.dirname(os.path.abspath(__file__)), sys.prefix):
        if os.access(folder, os.W_OK):
            found.append(f"{folder} can be written to")
    with contextlib.suppress(PermissionError):
        os.memfd_create("hidden")
        found.append("memory can be hidden from the limits")
    if ctypes.CDLL(None).unshare(NEW_USER_SPACE) == 0:
        found.append("it can make itself root of a space of its own")
    if not _forks_end(processes):
        found.append("the number of processes is not limited")
    return found


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
