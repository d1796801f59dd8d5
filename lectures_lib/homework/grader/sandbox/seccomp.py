"""System calls that student code has no use for and could hide memory with, attack the kernel or
leave its walls: the filters.

Refused to everything in the sandbox, by the filter that bubblewrap loads: memory that belongs to no
process (memfd, System V) and escapes every limit on processes; what Docker's default profile
refuses to a container without privileges; io_uring, and the moving of pages through pipes; sockets
other than local and internet ones. New spaces, mounts, looking into other processes and the choice
of a processor are refused to student code, by a second filter on top of the first; the template
process needs some of them to put up the walls. A filter is a small program for the kernel (classic
BPF, seccomp(2)). It lists what is refused, up to the newest call that is known here; every newer
one does not exist.
"""

import contextlib
import os
import platform
import struct
from collections.abc import Iterator

from lectures_lib.homework.inside.refused import (
    FAMILIES,
    NEWER,
    REFUSED,
    REFUSED_TO_STUDENTS,
    SOCKETS,
)

SETSOCKOPT = {"x86_64": 54, "aarch64": 208}
# of the level SOL_SOCKET: what waits in a socket is the kernel's memory
BUFFER_SIZES = {"SO_SNDBUF": 7, "SO_RCVBUF": 8}
_SOL_SOCKET = 1
PRCTL = {"x86_64": 157, "aarch64": 167}
# PR_SET_PDEATHSIG: what ends a process that is the first in bubblewrap's space, which it must not
# undo
_DIE_WITH_PARENT = 1
# PR_SET_CHILD_SUBREAPER: what keeps all that it starts below it where it has no process space
_SUBREAPER = 36
CLONE = {"x86_64": 56, "aarch64": 220}
# its flags are behind a pointer, where a filter cannot look: it does not exist, and libraries use
# clone instead
CLONE3 = 435
NEW_SPACES = 0x7E020000  # the flags of clone that make a space of any kind
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # AUDIT_ARCH_…
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE = 0, 4  # where in struct seccomp_data
# their low halves: all these machines keep low bytes first
_FIRST_ARGUMENT, _SECOND_ARGUMENT, _THIRD_ARGUMENT = 16, 24, 32
_ALLOW, _NOT_PERMITTED, _NO_SUCH_CALL, _KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
_OTHER_WAY_OF_CALLING = 0x40000000  # x32: the same calls under other numbers


def program(machine: str, network: bool = True) -> bytes:
    """The filter for everything in the sandbox on this kind of machine (`platform.machine()`).

    Args:
        machine: the kind.
        network: whether it may have sockets of the internet, which in a network of its own lead
            nowhere.

    Raises:
        KeyError: for a kind of machine whose calls are not listed.
    """
    steps = [
        *_for_this_machine(machine),
        *_refusals(REFUSED, machine),
        *_buffers_as_they_are(machine),
        *_only_these_sockets(machine, network),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return _assembled(steps)


def students_program(machine: str) -> bytes:
    """The filter for student code, loaded on top of the other.

    Raises:
        KeyError: for a kind of machine whose calls are not listed.
    """
    steps = [
        *_for_this_machine(machine),
        *_refusals(REFUSED_TO_STUDENTS, machine),
        (_IF_EQUAL, 0, 1, CLONE3),
        (_RETURN, 0, 0, _NO_SUCH_CALL),
        (_IF_EQUAL, 0, 4, PRCTL[machine]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_IF_EQUAL, 5, 0, _DIE_WITH_PARENT),
        (_IF_EQUAL, 4, 0, _SUBREAPER),
        (_RETURN, 0, 0, _ALLOW),
        (_IF_EQUAL, 0, 3, CLONE[machine]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_IF_ANY_BIT, 0, 1, NEW_SPACES),
        (_RETURN, 0, 0, _NOT_PERMITTED),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return _assembled(steps)


def _for_this_machine(machine: str) -> list[tuple[int, int, int, int]]:
    """Kill what calls as on another machine; leave the call's number loaded, and refuse those of
    another numbering.
    """
    return [
        (_LOAD, 0, 0, _MACHINE),
        (_IF_EQUAL, 1, 0, MACHINES[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_IF_AT_LEAST, 0, 1, _OTHER_WAY_OF_CALLING),
        (_RETURN, 0, 0, _NOT_PERMITTED),
        (_IF_AT_LEAST, 0, 1, NEWER),
        (_RETURN, 0, 0, _NO_SUCH_CALL),
    ]


def _only_these_sockets(machine: str, network: bool) -> list[tuple[int, int, int, int]]:
    """Refuse sockets of other families than these. A family is an int: the kernel, too, looks at
    the low half of the argument only.
    """
    families = list(FAMILIES.values()) if network else [FAMILIES["AF_UNIX"]]
    return [
        (_IF_EQUAL, 1, 0, SOCKETS["socket"][machine]),
        (_IF_EQUAL, 0, len(families) + 2, SOCKETS["socketpair"][machine]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        *((_IF_EQUAL, len(families) - i, 0, family) for i, family in enumerate(families)),
        (_RETURN, 0, 0, _NOT_PERMITTED),
    ]


def _buffers_as_they_are(machine: str) -> list[tuple[int, int, int, int]]:
    """Refuse to make a socket's buffers larger."""
    sending, receiving = BUFFER_SIZES.values()
    return [
        (_IF_EQUAL, 0, 7, SETSOCKOPT[machine]),
        (_LOAD, 0, 0, _SECOND_ARGUMENT),
        (_IF_EQUAL, 0, 4, _SOL_SOCKET),
        (_LOAD, 0, 0, _THIRD_ARGUMENT),
        (_IF_EQUAL, 1, 0, sending),
        (_IF_EQUAL, 0, 1, receiving),
        (_RETURN, 0, 0, _NOT_PERMITTED),
        (_LOAD, 0, 0, _NUMBER),
    ]


def _refusals(calls: dict[str, dict[str, int]], machine: str) -> list[tuple[int, int, int, int]]:
    """Go on only if the call is none of these."""
    numbers = [call[machine] for call in calls.values() if machine in call]
    # a jump to the refusal below
    tests = [(_IF_EQUAL, len(numbers) - i, 0, number) for i, number in enumerate(numbers)]
    # neither way: over the refusal
    return [*tests, (_IF_EQUAL, 1, 1, 0), (_RETURN, 0, 0, _NOT_PERMITTED)]


def _assembled(steps: list[tuple[int, int, int, int]]) -> bytes:
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


@contextlib.contextmanager
def opened(network: bool = True) -> Iterator[int]:
    """A file descriptor from which this machine's filter can be read once."""
    reading, writing = os.pipe()
    try:
        os.write(writing, program(platform.machine(), network))
        os.close(writing)
        yield reading
    finally:
        os.close(reading)
