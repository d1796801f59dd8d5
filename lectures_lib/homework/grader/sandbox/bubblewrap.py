"""The command that shuts a process in, with bubblewrap: what it sees, and as whom it runs."""

import contextlib
import json
import os
import select
import shutil
import signal
import sys
from pathlib import Path

import lectures_lib

PACKAGE = Path(lectures_lib.__file__).parent
INSIDE = PACKAGE / "homework" / "inside"
NOBODY = 65534  # whom root becomes first
TMP_BYTES = 64 << 20
PROCESSES = 64
ENVIRONMENT = {
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "PATH": "",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MPLBACKEND": "agg",
    "MPLCONFIGDIR": "/tmp",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TORCHDYNAMO_DISABLE": "1",  # torch.compile hands back what it gets: there is no compiler
}
INSTALL = (
    "Install it: sudo apt-get install bubblewrap (Debian, Ubuntu), sudo dnf install bubblewrap "
    "(Fedora)."
)


class Refused(Exception):
    """Nothing is graded here, because student code could not be shut in. The message says what to
    do.
    """


def command(program: list[str], filter_fd: int, alone: bool = False) -> list[str]:
    """The command line that runs `program` in the sandbox; it reads its filter of system calls from
    `filter_fd`.

    It sees, read-only: this interpreter, its packages, the system's libraries, and `lectures_lib`
    with `homework/inside` in place of `homework`. It may write to a small /tmp and /dev/shm in
    memory. It has no network, no capabilities, and sees no other process; when the grader ends, so
    does it.

    Args:
        program: the interpreter's arguments.
        filter_fd: where the filter can be read.
        alone: whether it is the first process of its space. Else that is bubblewrap's own, for a
            program that runs no student code: student code could write into its memory, and run
                there without the second filter.
    """
    seen = _visible()
    line = [
        # the kernel does not limit the number of root's processes
        *(_as_nobody(seen) if os.geteuid() == 0 else []),
        *(
            executable(),
            "--unshare-all",
            "--unshare-user",
            "--uid",
            "1000",
            "--gid",
            "1000",
            "--hostname",
            "sandbox",
        ),
        *(
            "--cap-drop",
            "ALL",
            "--die-with-parent",
            "--new-session",
            "--clearenv",
            "--seccomp",
            str(filter_fd),
        ),
        *(["--as-pid-1"] if alone else []),
        *("--proc", "/proc", "--dev", "/dev"),
        *(
            "--size",
            str(TMP_BYTES),
            "--tmpfs",
            "/tmp",
            "--size",
            str(TMP_BYTES),
            "--tmpfs",
            "/dev/shm",
        ),
    ]
    for path in seen:
        line += ["--ro-bind", str(path), str(path)]
    for link in (Path("/lib"), Path("/lib64")):
        if link.is_symlink():
            line += ["--symlink", os.readlink(link), str(link)]
    for homework in _question_banks(seen):
        line += ["--ro-bind", str(INSIDE), str(homework)]
    for name, value in {
        **ENVIRONMENT,
        "PYTHONPATH": os.pathsep.join(map(str, [PACKAGE.parent, *site_folders()])),
    }.items():
        line += ["--setenv", name, value]
    return [
        *line,
        "--remount-ro",
        "/dev",
        "--remount-ro",
        "/",
        "--chdir",
        "/tmp",
        "--",
        sys.executable,
        *program,
    ]


def executable() -> str:
    """Where bubblewrap is.

    Raises:
        Refused: if it is not on this machine.
    """
    folders = [
        folder
        for folder in os.environ.get("PATH", os.defpath).split(os.pathsep)
        if os.path.isabs(folder)
    ]  # not where one stands
    path = shutil.which("bwrap", path=os.pathsep.join(folders))
    if path is None:
        raise Refused(
            f"Grading runs student code in a sandbox made with bubblewrap (bwrap), which is not on "
            f"this machine. {INSTALL}"
        )
    return path


def end(pidfd: int, seconds: float) -> None:
    """End a process, and wait for its end, but not longer than this. The descriptor that stands for
    it (pidfd_open(2)) is closed.
    """
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    select.select([pidfd], [], [], seconds)
    os.close(pidfd)


def _visible() -> list[Path]:
    """The files and folders to show, each under the name by which it is asked for."""
    wanted = [Path("/usr/lib"), Path("/usr/lib64"), Path("/etc/ld.so.cache")]
    wanted += [link for link in (Path("/lib"), Path("/lib64")) if not link.is_symlink()]
    for prefix in (Path(sys.base_prefix), Path(sys.prefix)):
        if prefix != Path("/usr"):  # of /usr only what is needed
            wanted += [prefix, prefix.resolve()]
    wanted += [*site_folders(), PACKAGE]
    wanted += [
        path for path in links(Path(sys.executable)) if not any(map(path.is_relative_to, wanted))
    ]
    return [path for path in dict.fromkeys(wanted) if path.exists()]


def links(path: Path) -> list[Path]:
    """A path and all that it is a link to, on to the file itself: .venv/bin/python →
    /usr/bin/python3 → /usr/bin/python3.11.

    Raises:
        OSError, RuntimeError: where the links lead round in a circle, or to nothing.
    """
    found = [path]
    while found[-1].is_symlink() and len(found) < 40:  # as many as the kernel follows
        found.append(Path(os.path.normpath(found[-1].parent / os.readlink(found[-1]))))
    return [*found, path.resolve(strict=True)]


def seen_in_tmp() -> list[str]:
    """What is shown of the folders that each submission gets empty: nothing, unless Python or the
    course is installed there.
    """
    return [
        str(path)
        for path in _visible()
        if path.is_relative_to("/tmp") or path.is_relative_to("/dev/shm")
    ]


def site_folders() -> list[Path]:
    """Where packages are installed, as far as it is outside the interpreter's own folder."""
    folders = [
        Path(entry) for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")
    ]
    return [
        folder for folder in folders if not folder.is_relative_to(sys.prefix) and folder.exists()
    ]


def _question_banks(seen: list[Path]) -> list[Path]:
    """Every `lectures_lib/homework` that would be seen: the one in use, and any other that is
    installed beside it.
    """
    copies = [
        folder / "lectures_lib"
        for folder in (Path(entry) for entry in sys.path)
        if any(map(folder.is_relative_to, seen))
    ]
    return [
        copy / "homework"
        for copy in dict.fromkeys([PACKAGE, *copies])
        if (copy / "homework").is_dir()
    ]


def _as_nobody(seen: list[Path]) -> list[str]:
    """For root: what to put before the command so that it runs as an ordinary user."""
    return [
        sys.executable,
        "-IS",
        str(Path(__file__).with_name("as_nobody.py")),
        str(NOBODY),
        json.dumps(list(map(str, seen))),
    ]
