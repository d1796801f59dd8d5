"""The second wall: what a process forked for one submission does before it runs any of its code.

Bubblewrap's wall stands around the template process and everything it forks. Each submission gets,
inside of that one, spaces of its own for users, processes, mounts, messages and network, an empty
/tmp, and a /proc that shows nobody but itself; then it gives up every capability, and a second
filter refuses the system calls that would take it out again. See namespaces(7), capabilities(7),
seccomp(2).
"""

import ctypes
import os
import signal
import stat

# CLONE_NEW USER, NS, PID, IPC, NET, UTS
NEW_SPACES = 0x10000000 | 0x00020000 | 0x20000000 | 0x08000000 | 0x40000000 | 0x04000000
_READ_ONLY, _NO_SETUID, _NO_DEVICES, _NO_PROGRAMS, _REMOUNT = 1, 2, 4, 8, 32  # MS_…
_BIND, _MOVE, _RECURSIVE, _PRIVATE = 4096, 8192, 16384, 1 << 18
_DIE_WITH_PARENT, _DUMPABLE, _SECCOMP, _BOUNDING_DROP, _NO_NEW_PRIVILEGES, _AMBIENT = (
    1,
    4,
    22,
    24,
    38,
    47,
)  # PR_…
# that a folder in memory may hold: the kernel takes some 1.3 KB of its own for each, which is in
# nobody's memory
FILES = 8192
_SEEN_IN_PROC = ("cpuinfo", "meminfo", "stat")
_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    """struct sock_fprog: a filter's length in instructions of 8 bytes, and where it is."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def unreadable(yes: bool) -> None:
    """Whether processes of the same user are kept from reading this one's memory."""
    _succeed(_libc.prctl(_DUMPABLE, 0 if yes else 1, 0, 0, 0), "prctl(PR_SET_DUMPABLE)")


def enter_own_spaces() -> None:
    """Leave the spaces shared with others. The process space counts from the next fork on.

    Raises:
        OSError: where the machine does not allow it.
    """
    user, group = os.getuid(), os.getgid()
    _succeed(_libc.unshare(NEW_SPACES), "spaces of its own (unshare)")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def own_folders(size: int, kept: list[str]) -> None:
    """An empty /tmp and /dev/shm of at most `size` bytes and `FILES` files each, and a /proc with
    nobody else in it.

    Args:
        size: bytes.
        kept: what lies in those folders and is seen all the same: a course that is installed there.
    """
    _mount("none", "/", None, _RECURSIVE | _PRIVATE)
    opened = [(path, os.open(path, os.O_PATH)) for path in kept]
    for folder in ("/tmp", "/dev/shm"):
        _mount(
            "tmpfs",
            folder,
            "tmpfs",
            _NO_SETUID | _NO_DEVICES,
            f"size={size},nr_inodes={FILES},mode=755",
        )
    for path, descriptor in opened:
        _empty(path, folder=stat.S_ISDIR(os.fstat(descriptor).st_mode))
        _mount(f"/proc/self/fd/{descriptor}", path, None, _BIND | _RECURSIVE)
        os.close(descriptor)
    _own_proc()


def _own_proc() -> None:
    """Of /proc only this process and a few files about the machine; the kernel allows no new one
    inside of bubblewrap's.
    """
    # its number in bubblewrap's process space, which this /proc belongs to
    me = os.readlink("/proc/self")
    seen = [(f"/proc/{me}", "self"), *((f"/proc/{name}", name) for name in _SEEN_IN_PROC)]
    os.mkdir("/tmp/proc")
    for path, name in seen:
        _empty(f"/tmp/proc/{name}", folder=name == "self")
        _mount(path, f"/tmp/proc/{name}", None, _BIND)
    _mount(
        "tmpfs",
        "/proc",
        "tmpfs",
        _NO_SETUID | _NO_DEVICES | _NO_PROGRAMS,
        "size=64k,nr_inodes=64,mode=755",
    )
    for _, name in seen:
        _empty(f"/proc/{name}", folder=name == "self")
        _mount(f"/tmp/proc/{name}", f"/proc/{name}", None, _MOVE)
        (os.rmdir if name == "self" else os.remove)(f"/tmp/proc/{name}")
    os.rmdir("/tmp/proc")
    _mount(
        "none",
        "/proc",
        None,
        _REMOUNT | _BIND | _READ_ONLY | _NO_SETUID | _NO_DEVICES | _NO_PROGRAMS,
    )


def _empty(path: str, folder: bool) -> None:
    """An empty folder or file of that name, something to mount on."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if folder:
        os.makedirs(path, exist_ok=True)
    else:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))


def end_with_parent() -> None:
    """When the process that forked this one ends, so does this one; signals to its old group no
    longer concern it, nor its to them.
    """
    _succeed(_libc.prctl(_DIE_WITH_PARENT, int(signal.SIGKILL), 0, 0, 0), "prctl(PR_SET_PDEATHSIG)")
    os.setsid()


def drop_capabilities() -> None:
    """Give up every capability for good, also for programs that it may start."""
    for capability in range(64):
        if _libc.prctl(_BOUNDING_DROP, capability, 0, 0, 0) != 0:
            break  # there are no more
    _succeed(_libc.prctl(_AMBIENT, 4, 0, 0, 0), "prctl(PR_CAP_AMBIENT)")
    header, nothing = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    _succeed(_libc.capset(header, nothing), "capset")


def refuse_calls(program: bytes) -> None:
    """Load a filter of system calls (see `sandbox.seccomp`). It stays, and passes on to everything
    that is forked.
    """
    _succeed(_libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "prctl(PR_SET_NO_NEW_PRIVS)")
    loaded = _Program(len(program) // 8, program)
    _succeed(_libc.prctl(_SECCOMP, 2, ctypes.byref(loaded), 0, 0), "prctl(PR_SET_SECCOMP)")


def _mount(
    source: str, target: str, kind: str | None, flags: int, options: str | None = None
) -> None:
    encoded = [
        text.encode() if text is not None else None for text in (source, target, kind, options)
    ]
    _succeed(_libc.mount(*encoded[:3], ctypes.c_ulong(flags), encoded[3]), f"mount {target}")


def _succeed(result: int, what: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
