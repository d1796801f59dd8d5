"""System calls that student code has no use for and could hide memory with, or attack the kernel: the filter that refuses them.

Memory that belongs to no process (memfd, System V) escapes every limit on processes. The filter is a small program for the kernel
(classic BPF, see seccomp(2)); bubblewrap loads it.
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
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # AUDIT_ARCH_…
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _MACHINE = 0, 4  # where in struct seccomp_data
_ALLOW, _NOT_PERMITTED, _KILL = 0x7FFF0000, 0x00050001, 0x80000000
_OTHER_WAY_OF_CALLING = 0x40000000  # x32: the same calls under other numbers


def program(machine: str) -> bytes:
    """The filter for this kind of machine (`platform.machine()`).

    Raises:
        KeyError: for a kind of machine whose calls are not listed.
    """
    numbers = [_OTHER_WAY_OF_CALLING, *(call[machine] for call in REFUSED.values())]
    tests = [(_IF_AT_LEAST if i == 0 else _IF_EQUAL, len(numbers) - i, 0, number) for i, number in enumerate(numbers)]
    steps = [
        (_LOAD, 0, 0, _MACHINE),
        (_IF_EQUAL, 1, 0, MACHINES[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        *tests,  # each jumps to the last line if the call is refused
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _NOT_PERMITTED),
    ]
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
