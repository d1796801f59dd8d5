"""A container as Docker makes it without privileges, for root: no new namespaces, no mounts, and the
capabilities of Docker's default. A script by itself.

python container.py GRADER AUTOGRADER COMMAND …

The two folders are seen as /opt/grader and /opt/autograder; Python, if it lies in a private folder,
where it is.
"""

import ctypes
import json
import os
import platform
import sys
from pathlib import Path

from lectures_lib.homework.grader.sandbox import as_nobody, bubblewrap, seccomp
from lectures_lib.homework.inside import walls
from lectures_lib.homework.inside.refused import REFUSED_TO_STUDENTS

# CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID SETPCAP NET_BIND_SERVICE NET_RAW SYS_CHROOT
# MKNOD AUDIT_WRITE SETFCAP
CAPABILITIES = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31)
FORBIDDEN = [
    "unshare",
    "setns",
    "mount",
    "umount2",
    "pivot_root",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
]
NEW_MOUNTS, NEW_PROCESSES, SETPCAP = 0x00020000, 0x20000000, 8
libc = ctypes.CDLL(None, use_errno=True)


def docker_s_filter(machine: str) -> bytes:
    """New namespaces and mounts are refused: what matters here of Docker's default profile."""
    calls = {name: REFUSED_TO_STUDENTS[name] for name in FORBIDDEN}
    steps = [
        *seccomp._for_this_machine(machine),
        *seccomp._refusals(calls, machine),
        (seccomp._IF_EQUAL, 0, 1, seccomp.CLONE3),
        (seccomp._RETURN, 0, 0, seccomp._NO_SUCH_CALL),
        (seccomp._IF_EQUAL, 0, 3, seccomp.CLONE[machine]),
        (seccomp._LOAD, 0, 0, seccomp._FIRST_ARGUMENT),
        (seccomp._IF_ANY_BIT, 0, 1, seccomp.NEW_SPACES),
        (seccomp._RETURN, 0, 0, seccomp._NOT_PERMITTED),
        (seccomp._RETURN, 0, 0, seccomp._ALLOW),
    ]
    return seccomp._assembled(steps)


def keep_capabilities() -> None:
    """Give up all but Docker's default ones."""
    for capability in range(64):
        if capability not in (*CAPABILITIES, SETPCAP):
            libc.prctl(24, capability, 0, 0, 0)
    bits = sum(1 << capability for capability in CAPABILITIES)
    header, sets = (
        (ctypes.c_uint32 * 2)(0x20080522, 0),
        (ctypes.c_uint32 * 6)(bits, bits, 0, 0, 0, 0),
    )
    assert libc.capset(header, sets) == 0


if __name__ == "__main__":
    folders = {"/opt/grader": sys.argv[1], "/opt/autograder": sys.argv[2]}
    assert libc.unshare(NEW_MOUNTS | NEW_PROCESSES) == 0
    if child := os.fork():
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    walls._mount("none", "/", None, walls._RECURSIVE | walls._PRIVATE)
    private = [path for path in bubblewrap._visible() if as_nobody.private_folder(path)]
    as_nobody.show(private)
    opened = {path: os.open(source, os.O_PATH) for path, source in folders.items()}
    walls._mount("proc", "/proc", "proc", 0)
    walls._mount("tmpfs", "/opt", "tmpfs", 0, "mode=755")
    walls._mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777")
    for path, descriptor in opened.items():
        Path(path).mkdir()
        walls._mount(f"/proc/self/fd/{descriptor}", path, None, walls._BIND | walls._RECURSIVE)
        os.close(descriptor)
    keep_capabilities()
    walls.refuse_calls(docker_s_filter(platform.machine()))
    os.chdir("/opt/autograder")
    os.execvpe(sys.argv[3], sys.argv[3:], dict(os.environ) | json.loads(os.environ["CONTAINER"]))
