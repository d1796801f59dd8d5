"""Weaker walls, for a container that allows no namespaces and serves one submission: student code
runs there as another user than the grader, behind the filters of system calls.

What still holds: it reads neither questions, answers nor results, writes to nothing of the
grader's, opens no network socket, looks into no process, and its own time, memory and number of
processes are limited. What does not: it sees the container's files that everybody may read and the
names of its processes, and shares the container's disk. So the container must hold one student's
work only, and be thrown away.
"""

import atexit
import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from lectures_lib.homework.grader.sandbox.bubblewrap import (
    ENVIRONMENT,
    INSIDE,
    PACKAGE,
    Refused,
    site_folders,
)

USER = 61_813  # nobody's: what belongs to it is student code's
SCRIPT = Path(__file__).with_name("as_guest.py")
SECONDS = 10.0  # for all its processes to be gone
SHARED = ("/tmp", "/var/tmp", "/dev/shm")  # where everybody may write
WEAKER = (
    "This container allows no user namespaces, so the usual sandbox does not start. Student code "
    "runs behind weaker walls: as another user, without a network, with the sandbox's limits and "
    "filters of system calls. It cannot read the questions and answers, nor write to the result. "
    "It can read those of the container's files that every user may read, see the names of its "
    "processes, and fill its disk. A hole in the container's kernel would be open to it. Another "
    "student's work is out of its reach as long as each submission gets a container of its own."
)


def prepare(hidden: Iterable[Path]) -> None:
    """Take the rights of others from what student code must not see: the questions, and `hidden`.

    Raises:
        Refused: if this process is not root, who alone may run something as another user; or if
            somebody has that user's number already.
    """
    if os.geteuid() != 0:
        raise Refused("they need root, who can become another user.")
    if _processes():
        raise Refused(f"there are processes of user {USER}, which must be nobody's.")
    for path in (PACKAGE / "homework", *hidden):
        path.chmod(path.stat().st_mode & ~0o077)


def command(program: list[str], filter_fd: int) -> list[str]:
    """The command line that runs `program` as the other user; it reads its filter of system calls
    from `filter_fd`. See `bubblewrap.command`.
    """
    place = str(_place())
    paths = os.pathsep.join(map(str, [_seen(), *site_folders()]))
    mine = dict.fromkeys(("HOME", "TMPDIR", "MPLCONFIGDIR"), place)
    environment = json.dumps({**ENVIRONMENT, **mine, "PYTHONPATH": paths})
    return [
        *(sys.executable, "-IS", str(SCRIPT), str(USER), place, str(filter_fd), environment),
        *(sys.executable, *program),
    ]


def end() -> None:
    """End all processes of the other user, and take away the files that they left.

    Raises:
        Refused: if that does not come to an end.
    """
    until = time.monotonic() + SECONDS
    while _processes():
        if time.monotonic() > until:
            raise Refused(f"The processes of user {USER} could not be ended.")
        subprocess.run([sys.executable, "-IS", SCRIPT, str(USER)], check=False, env={})
    for folder in (*SHARED, _place()):
        with contextlib.suppress(OSError):
            for entry in os.scandir(folder):
                if entry.stat(follow_symlinks=False).st_uid == USER and entry.path != str(_place()):
                    _remove(entry)


def rollup(pid: int) -> str:
    """What the kernel says of a process's memory: in a container, root may not ask, and the
    process's own user may.

    Raises:
        PermissionError: if that failed; the other user's processes can end this one.
    """
    done = subprocess.run(
        ["/bin/cat", f"/proc/{pid}/smaps_rollup"],
        capture_output=True,
        text=True,
        check=False,
        env={},
        user=USER,
        group=USER,
        extra_groups=[],
    )
    if done.returncode != 0:
        raise PermissionError(done.stderr)
    return done.stdout


def _remove(entry: os.DirEntry) -> None:
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            os.unlink(entry.path)


def _processes() -> list[int]:
    """The processes of the other user that have not ended."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, LookupError, ValueError):
            fields = dict(
                line.split(":", 1) for line in (folder / "status").read_text().splitlines()
            )
            if str(USER) in fields["Uid"].split() and fields["State"].split()[0] not in "ZX":
                found.append(int(folder.name))
    return found


@functools.cache
def _place() -> Path:
    """The folder in which student code starts, the other user's own."""
    path = Path(tempfile.mkdtemp(prefix="work-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    os.chown(path, USER, USER)
    return path


@functools.cache
def _seen() -> Path:
    """A folder with `lectures_lib` as student code sees it: `homework/inside` in place of
    `homework`.
    """
    path = Path(tempfile.mkdtemp(prefix="seen-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    path.chmod(0o755)
    package = path / "lectures_lib"
    package.mkdir(0o755)
    for entry in PACKAGE.iterdir():
        if entry.name not in ("homework", "__pycache__"):
            (package / entry.name).symlink_to(entry)
    shutil.copytree(INSIDE, package / "homework", ignore=shutil.ignore_patterns("__pycache__"))
    for each in (package / "homework", *(package / "homework").rglob("*")):
        each.chmod(0o755 if each.is_dir() else 0o644)
    return path
