"""For root: become an ordinary user, who can reach what the sandbox shows, and run the given
command in place of this one.

python -IS as_nobody.py UID PATHS COMMAND …      PATHS: a JSON list

An interpreter below /root cannot be reached by others. In a mount space of this process's own, an
empty folder is laid over each private one on the way, and only the named paths are shown in it. A
script by itself: it is started for every submission.
"""

import ctypes
import json
import os
import stat
import sys
from pathlib import Path

NEW_MOUNT_SPACE = 0x00020000  # CLONE_NEWNS
BIND, RECURSIVE, PRIVATE = 4096, 16384, 1 << 18  # MS_BIND, MS_REC, MS_PRIVATE
_libc = ctypes.CDLL(None, use_errno=True)


def private_folder(path: Path) -> Path | None:
    """The outermost folder on the way to `path` that others may not pass; None if they may pass
    all.
    """
    return next(
        (parent for parent in reversed(path.parents) if not parent.stat().st_mode & stat.S_IXOTH),
        None,
    )


def show(paths: list[Path]) -> None:
    """Make `paths`, and nothing else, reachable through the private folders they lie in.

    Raises:
        OSError: if this process may not mount.
    """
    _succeed(_libc.unshare(NEW_MOUNT_SPACE), "a mount space of its own")
    _mount(b"none", "/", None, RECURSIVE | PRIVATE)
    opened = [(path, private_folder(path), os.open(path, os.O_PATH)) for path in paths]
    for folder in dict.fromkeys(folder for _, folder, _ in opened):
        _mount(b"tmpfs", folder, b"tmpfs", 0, b"mode=755")
    for path, _, fd in opened:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        _mount(f"/proc/self/fd/{fd}".encode(), path, None, BIND | RECURSIVE)
        os.close(fd)


def become(user: int) -> None:
    """Give up root, for good."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def _mount(
    source: bytes, target: Path | str, kind: bytes | None, flags: int, options: bytes | None = None
) -> None:
    _succeed(
        _libc.mount(source, os.fsencode(target), kind, ctypes.c_ulong(flags), options), str(target)
    )


def _succeed(result: int, what: str) -> None:
    if result != 0:
        raise OSError(
            ctypes.get_errno(),
            f"as root, could not mount {what}: {os.strerror(ctypes.get_errno())}",
        )


if __name__ == "__main__":
    os.umask(0o022)
    if hidden := [path for path in map(Path, json.loads(sys.argv[2])) if private_folder(path)]:
        show(hidden)
    become(int(sys.argv[1]))
    os.execv(sys.argv[3], sys.argv[3:])
