"""What student code can reach from inside the sandbox: it tries, and tells."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lectures_lib.homework.grader.sandbox import bubblewrap
from lectures_lib.homework.grader.sandbox.line import Lost
from lectures_lib.homework.grader.sandbox.process import Sandbox
from lectures_lib.homework.grader.sandbox.template import Limits

pytestmark = pytest.mark.sandbox
ROOT = Path(__file__).resolve().parents[2]

SPY = """
import ctypes, os, socket, sys, time

def tried(action):
    try:
        return str(action())
    except BaseException as error:
        return type(error).__name__

def write(path):
    with open(path, "w") as file:
        file.write("x")
    return "written"

def fill(folder):
    written = 0
    for i in range(12):
        try:
            with open(f"{folder}/{i}", "wb", buffering=0) as file:
                while True:
                    written += file.write(bytes(1 << 20))
        except OSError:  # the file, or the disk, is full
            pass
    for i in range(12):
        os.remove(f"{folder}/{i}")
    return written >> 20

def forks():
    pids = []
    try:
        while len(pids) < 1000:
            pid = os.fork()
            if pid == 0:
                time.sleep(60)
            pids.append(pid)
    except OSError:
        pass
    for pid in pids:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    return len(pids)

def connect(host, port):
    with socket.create_connection((host, port), timeout=2):
        return "connected"

def environments():
    texts = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            texts.append(open(f"/proc/{pid}/environ").read())
        except OSError:
            pass
    return "".join(texts)

def spy(hidden, homework, port):
    return {
        "read": [path for path in hidden if tried(lambda: os.stat(path)) not in ("FileNotFoundError", "PermissionError")],
        "homework": sorted(os.listdir(homework)),
        "bank": tried(lambda: __import__("lectures_lib.homework.banks.hw1")),
        "compare": tried(lambda: __import__("lectures_lib.homework.compare")),
        "write": [folder for folder in ("", "/usr", "/dev", homework, sys.prefix) if tried(lambda: write(folder + "/x")) == "written"],
        "tmp": tried(lambda: write("/tmp/written-here")),
        "filled": [fill("/tmp"), fill("/dev/shm")],
        "local": tried(lambda: connect("127.0.0.1", port)),
        "far": tried(lambda: connect("192.0.2.1", 80)),
        "name": tried(lambda: socket.getaddrinfo("example.org", 80)),
        "processes": sorted(filter(str.isdigit, os.listdir("/proc"))),
        "forks": forks(),
        "user": os.getuid(),
        "namespace": ctypes.CDLL(None).unshare(0x10000000),
        "memory": [tried(lambda: os.memfd_create("x")), ctypes.CDLL(None).shmget(0, 1 << 20, 0o1600)],
        "environments": environments(),
        "descriptors": [os.readlink(f"/proc/self/fd/{fd}").split(":")[0] for fd in ("0", "1", "2")],
        "kill": tried(lambda: os.kill(PARENT, 9)),
    }
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What the spy found, with a server listening on this machine and a secret in the grader's
    environment.
    """
    folder = tmp_path_factory.mktemp("class")
    (folder / "other.ipynb").write_text("another student's")
    hidden = [
        folder,
        ROOT / "solutions",
        ROOT / "tests",
        ROOT / "Makefile",
        ROOT / ".git",
        Path("/etc/passwd"),
        *(
            folder
            for folder in (Path("/home"), Path("/var"))
            if not any(path.is_relative_to(folder) for path in bubblewrap._visible())
        ),
    ]
    hidden += [Path("/bin/sh"), Path.home() / ".bashrc", bubblewrap.PACKAGE / "homework" / "hw1"]
    os.environ["GRADER_SECRET"] = "do-not-tell"
    with socket.create_server(("127.0.0.1", 0)) as server, Sandbox(Limits(cell=5.0)) as sandbox:
        cell = {
            "do": "cell",
            "cell": 1,
            "source": SPY + f"\nPARENT = {os.getpid()}",
            "only_definitions": False,
        }
        assert sandbox.ask(cell, seconds=5.0).raised is None
        inputs = (
            [str(path) for path in hidden],
            str(bubblewrap.PACKAGE / "homework"),
            server.getsockname()[1],
        )
        outcome = sandbox.ask({"do": "call", "answer": "spy"}, {"args": inputs}, seconds=30.0)
    del os.environ["GRADER_SECRET"]
    assert outcome.raised is None
    assert outcome.lost == ""
    return outcome.value


def test_hostile_reading_of_questions_tests_and_other_work(seen):
    assert seen["read"] == []
    assert seen["bank"] == seen["compare"] == "ModuleNotFoundError"
    inside = {path.name for path in bubblewrap.INSIDE.iterdir()}
    assert set(seen["homework"]) <= inside
    assert "do-not-tell" not in seen["environments"]


def test_hostile_writing(seen):
    assert seen["write"] == []
    assert seen["tmp"] == "written"
    assert all(32 < filled <= bubblewrap.TMP_BYTES >> 20 for filled in seen["filled"]), (
        "more than one file may have, and no more than all"
    )


def test_hostile_sockets(seen):
    assert seen["local"] == "OSError", (
        "not even this machine can be reached: its network has no way anywhere"
    )
    assert seen["far"] == "OSError"
    assert seen["name"] == "gaierror"


def test_hostile_processes(seen):
    assert len(seen["processes"]) <= 3
    assert 0 < seen["forks"] < bubblewrap.PROCESSES
    assert seen["user"] != 0
    assert seen["namespace"] == -1
    assert seen["kill"] in ("ProcessLookupError", "PermissionError")
    assert set(seen["descriptors"]) == {"/dev/null"}


def test_hostile_memory_outside_of_processes(seen):
    assert seen["memory"] == ["PermissionError", -1]


def running(marker: str) -> list[str]:
    """Processes on this machine whose command line has the marker in it."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker.encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found


def test_hostile_detached_processes_end_with_the_sandbox():
    marker = f"detached-{os.getpid()}-{time.time()}"
    source = f"""
import os, sys
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", {marker!r}])
        os._exit(0)
"""
    with Sandbox(Limits()) as sandbox:
        assert (
            sandbox.ask(
                {"do": "cell", "cell": 1, "source": source, "only_definitions": False}
            ).raised
            is None
        )
        patience = time.monotonic() + 60
        while len(running(marker)) < 3 and time.monotonic() < patience:
            time.sleep(0.05)
        assert len(running(marker)) == 3, "the test itself sees them"
    assert gone(marker)


STUBBORN = "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass"


def gone(marker: str) -> bool:
    """Whether no such process is left, at once or a little later."""
    patience = time.monotonic() + 60
    while running(marker) and time.monotonic() < patience:
        time.sleep(0.05)
    return running(marker) == []


def ended(*pids: int) -> bool:
    """Whether these processes are gone, at once or a little later."""
    patience = time.monotonic() + 60
    while (
        left := [pid for pid in pids if Path(f"/proc/{pid}/cmdline").exists()]
    ) and time.monotonic() < patience:
        time.sleep(0.05)
    return left == []


def test_hostile_loops_are_killed_and_not_only_left_behind():
    with Sandbox(Limits()) as sandbox:
        sandbox.ask({"do": "cell", "cell": 1, "source": "x = 1", "only_definitions": False})
        with pytest.raises(Lost):
            sandbox.ask(
                {"do": "cell", "cell": 1, "source": STUBBORN, "only_definitions": False},
                seconds=0.5,
            )
        assert Path(f"/proc/{sandbox.pid}").exists()
    assert not Path(f"/proc/{sandbox.pid}").exists(), (
        "when the sandbox is left, it is gone, not only told to go"
    )


def test_hostile_loops_end_with_a_grader_that_is_killed():
    program = f"""
from lectures_lib.homework.grader.sandbox.process import Sandbox
from lectures_lib.homework.grader.sandbox.template import Limits
with Sandbox(Limits()) as sandbox:
    sandbox.ask({{"do": "cell", "cell": 1, "source": "x = 1", "only_definitions": False}})
    print(sandbox.pid, sandbox._template.pid, flush=True)
    sandbox.ask({{"do": "cell", "cell": 2, "source": {STUBBORN!r}, "only_definitions": False}}, seconds=100.0)
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE
    ) as grader:
        pids = [int(pid) for pid in grader.stdout.readline().split()]
        time.sleep(0.5)
        assert all(Path(f"/proc/{pid}").exists() for pid in pids)
        grader.kill()
    assert len(pids) == 2
    assert ended(*pids)


def test_every_link_to_the_interpreter_is_shown(tmp_path):
    """A virtual environment's Python is a link to a link: Debian's /usr/bin/python3 is one. If one
    is missing inside, nothing starts.
    """
    file = tmp_path / "usr" / "python3.11"
    file.parent.mkdir()
    file.touch()
    (tmp_path / "usr" / "python3").symlink_to("python3.11")
    (tmp_path / "python").symlink_to(tmp_path / "usr" / "python3")
    assert bubblewrap.links(tmp_path / "python") == [
        tmp_path / "python",
        tmp_path / "usr" / "python3",
        file,
        file.resolve(),
    ]
    (tmp_path / "round").symlink_to("round")
    with pytest.raises((OSError, RuntimeError)):
        bubblewrap.links(tmp_path / "round")
