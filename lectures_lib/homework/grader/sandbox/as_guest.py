"""For root in a container that allows no namespaces: become another user, for whom a filter refuses
system calls, and run the given program in place of this one. A script by itself.

python -IS as_guest.py UID FOLDER FILTER ENVIRONMENT PROGRAM …
python -IS as_guest.py UID      ends every process of that user

FILTER: a descriptor to read it from. ENVIRONMENT: JSON.
"""

import ctypes
import json
import os
import signal
import sys

_DIE_WITH_PARENT, _SECCOMP, _BOUNDING_DROP, _SUBREAPER, _NO_NEW_PRIVILEGES = 1, 22, 24, 36, 38
_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    """struct sock_fprog: a filter's length in instructions of 8 bytes, and where it is."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def become(user: int) -> None:
    """Give up root and what a program could get back of it, for good."""
    for capability in range(64):
        if _libc.prctl(_BOUNDING_DROP, capability, 0, 0, 0) != 0:
            break  # there are no more
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def shut_in(program: bytes) -> None:
    """End when the grader does, keep what is started here below this process, and let the filter
    refuse what it refuses.
    """
    _set(_SUBREAPER, 1)
    _set(_DIE_WITH_PARENT, int(signal.SIGKILL))
    _set(_NO_NEW_PRIVILEGES, 1)
    loaded = _Program(len(program) // 8, program)
    _set(_SECCOMP, 2, ctypes.byref(loaded))


def _set(option: int, *values: object) -> None:
    if _libc.prctl(option, *values, *[0] * (4 - len(values))) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl({option}): {os.strerror(number)}")


if __name__ == "__main__":
    os.umask(0o022)
    if len(sys.argv) == 2:
        become(int(sys.argv[1]))
        os.kill(-1, signal.SIGKILL)
        sys.exit()
    with open(int(sys.argv[3]), "rb") as file:
        filter_ = file.read()
    os.chdir(sys.argv[2])
    become(int(sys.argv[1]))
    shut_in(filter_)
    os.execve(sys.argv[5], sys.argv[5:], json.loads(sys.argv[4]))
