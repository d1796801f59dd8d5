"""System calls that student code has no use for and could hide memory with, attack the kernel or leave its walls: the filters.

Memory that belongs to no process (memfd, System V) escapes every limit on processes: refused to everything in the sandbox, by the filter
that bubblewrap loads. New spaces, mounts and looking into other processes are refused to student code, by a second filter on top of the
first; the template process needs some of them to put up the walls. A filter is a small program for the kernel (classic BPF, seccomp(2)).
"""

import contextlib
import os
import platform
import struct
from collections.abc import Iterator

# What is refused, and its number on each kind of machine.
REFUSED = {
    "memfd_create": {"x86_64": 319, "aarch64": 279},
    "memfd_secret": {"x86_64": 447, "aarch64": 447},
    "shmget": {"x86_64": 29, "aarch64": 194},
    "msgget": {"x86_64": 68, "aarch64": 186},
    "semget": {"x86_64": 64, "aarch64": 190},
    "add_key": {"x86_64": 248, "aarch64": 217},
    "request_key": {"x86_64": 249, "aarch64": 218},
    "keyctl": {"x86_64": 250, "aarch64": 219},
    "bpf": {"x86_64": 321, "aarch64": 280},
    "perf_event_open": {"x86_64": 298, "aarch64": 241},
    "userfaultfd": {"x86_64": 323, "aarch64": 282},
    "io_uring_setup": {"x86_64": 425, "aarch64": 425},
}
# What student code may not do besides.
REFUSED_TO_STUDENTS = {
    "unshare": {"x86_64": 272, "aarch64": 97},
    "setns": {"x86_64": 308, "aarch64": 268},
    "mount": {"x86_64": 165, "aarch64": 40},
    "umount2": {"x86_64": 166, "aarch64": 39},
    "pivot_root": {"x86_64": 155, "aarch64": 41},
    "chroot": {"x86_64": 161, "aarch64": 51},
    "open_tree": {"x86_64": 428, "aarch64": 428},
    "move_mount": {"x86_64": 429, "aarch64": 429},
    "fsopen": {"x86_64": 430, "aarch64": 430},
    "fsmount": {"x86_64": 432, "aarch64": 432},
    "fspick": {"x86_64": 433, "aarch64": 433},
    "mount_setattr": {"x86_64": 442, "aarch64": 442},
    "name_to_handle_at": {"x86_64": 303, "aarch64": 264},
    "open_by_handle_at": {"x86_64": 304, "aarch64": 265},
    "ptrace": {"x86_64": 101, "aarch64": 117},
    "process_vm_readv": {"x86_64": 310, "aarch64": 270},
    "process_vm_writev": {"x86_64": 311, "aarch64": 271},
    "process_madvise": {"x86_64": 440, "aarch64": 440},
    "pidfd_open": {"x86_64": 434, "aarch64": 434},
    "pidfd_getfd": {"x86_64": 438, "aarch64": 438},
    "kcmp": {"x86_64": 312, "aarch64": 272},
}
CLONE = {"x86_64": 56, "aarch64": 220}
CLONE3 = 435  # its flags are behind a pointer, where a filter cannot look: it does not exist, and libraries use clone instead
NEW_SPACES = 0x7E020000  # the flags of clone that make a space of any kind
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # AUDIT_ARCH_…
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16  # where in struct seccomp_data (all these machines keep low bytes first)
_ALLOW, _NOT_PERMITTED, _NO_SUCH_CALL, _KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
_OTHER_WAY_OF_CALLING = 0x40000000  # x32: the same calls under other numbers


def program(machine: str) -> bytes:
    """The filter for everything in the sandbox on this kind of machine (`platform.machine()`).

    Raises:
        KeyError: for a kind of machine whose calls are not listed.
    """
    return _assembled([*_for_this_machine(machine), *_refusals(REFUSED, machine), (_RETURN, 0, 0, _ALLOW)])


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
        (_IF_EQUAL, 0, 3, CLONE[machine]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_IF_ANY_BIT, 0, 1, NEW_SPACES),
        (_RETURN, 0, 0, _NOT_PERMITTED),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return _assembled(steps)


def _for_this_machine(machine: str) -> list[tuple[int, int, int, int]]:
    """Kill what calls as on another machine; leave the call's number loaded, and refuse those of another numbering."""
    return [
        (_LOAD, 0, 0, _MACHINE),
        (_IF_EQUAL, 1, 0, MACHINES[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_IF_AT_LEAST, 0, 1, _OTHER_WAY_OF_CALLING),
        (_RETURN, 0, 0, _NOT_PERMITTED),
    ]


def _refusals(calls: dict[str, dict[str, int]], machine: str) -> list[tuple[int, int, int, int]]:
    """Go on only if the call is none of these."""
    numbers = [call[machine] for call in calls.values()]
    tests = [(_IF_EQUAL, len(numbers) - i, 0, number) for i, number in enumerate(numbers)]  # a jump to the refusal below
    return [*tests, (_IF_EQUAL, 1, 1, 0), (_RETURN, 0, 0, _NOT_PERMITTED)]  # neither way: over the refusal


def _assembled(steps: list[tuple[int, int, int, int]]) -> bytes:
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


@contextlib.contextmanager
def opened() -> Iterator[int]:
    """A file descriptor from which this machine's filter can be read once."""
    reading, writing = os.pipe()
    try:
        os.write(writing, program(platform.machine()))
        os.close(writing)
        yield reading
    finally:
        os.close(reading)
