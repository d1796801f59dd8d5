"""One warm process forks for every submission: none may see it, touch it, outlive its turn, or
leave anything to the next.
"""

import ctypes
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lectures_lib.homework.grader.sandbox import bubblewrap, doors, seccomp, template
from lectures_lib.homework.grader.sandbox.bubblewrap import Refused
from lectures_lib.homework.grader.sandbox.line import Lost
from lectures_lib.homework.grader.sandbox.process import Broken, Sandbox
from lectures_lib.homework.grader.sandbox.template import Limits
from tests.homework.toy import DOUBLE, RIGHT_DOUBLE, graded

pytestmark = pytest.mark.sandbox

CALLS = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)

def errors(calls):
    told = {}
    for name, number, *arguments in calls:
        ctypes.set_errno(0)
        result = libc.syscall(number, *arguments)
        told[name] = ctypes.get_errno() if result == -1 else "done"
    return told
"""


def run(sandbox: Sandbox, source: str, seconds: float = 10.0):
    """Run a cell; it must not raise."""
    outcome = sandbox.ask(
        {"do": "cell", "cell": 1, "source": source, "only_definitions": False}, seconds=seconds
    )
    assert outcome.raised is None, outcome.raised


def value(sandbox: Sandbox, name: str, *arguments):
    """What the function of that name returns in there."""
    outcome = sandbox.ask({"do": "call", "answer": name}, {"args": arguments})
    assert outcome.raised is None, outcome.raised
    assert outcome.lost == ""
    return outcome.value


def template_of(sandbox: Sandbox) -> int:
    """The number of the warm process that the sandbox was forked from."""
    keeper = int(Path(f"/proc/{sandbox.pid}/stat").read_text().rpartition(")")[2].split()[1])
    return int(Path(f"/proc/{keeper}/stat").read_text().rpartition(")")[2].split()[1])


def test_one_process_serves_many():
    seen = []
    for _ in range(3):
        with Sandbox(Limits()) as sandbox:
            seen.append((template_of(sandbox), sandbox.pid))
    assert len({warm for warm, _ in seen}) == 1
    assert len({fork for _, fork in seen}) == 3


def test_hostile_neighbours_are_not_seen():
    """Every number of a process is tried: there is none but its own."""
    source = "import os\ndef found():\n    return [pid for pid in range(1, 5000) if exists(pid)]\n"
    source += "def exists(pid):\n    try:\n        os.kill(pid, 0)\n        return True\n    except OSError:\n        return False"
    with Sandbox(Limits()) as sandbox:
        run(sandbox, source)
        assert value(sandbox, "found") == [1]


def test_hostile_reading_of_the_template_s_memory():
    """Its number outside is of no use inside, and /proc shows one process only."""
    source = """
import os
import shutil
import subprocess
import sys
def opened(*pids):
    names = [f"/proc/{pid}/{name}" for pid in pids for name in ("mem", "environ", "maps", "fd", "root", "cwd")]
    return [name for name in names if os.path.exists(name)] + sorted(os.listdir("/proc"))
"""
    with Sandbox(Limits()) as sandbox:
        run(sandbox, source)
        seen = value(
            sandbox,
            "opened",
            1,
            2,
            3,
            4,
            5,
            template_of(sandbox),
            sandbox._template.pid,
            os.getpid(),
        )
    assert seen == ["cpuinfo", "meminfo", "self", "stat"]


def test_hostile_signals_to_everybody():
    """kill(-1), kill(0) and the number of its group's leader reach its own processes only."""
    with Sandbox(Limits()) as sandbox:
        warm = template_of(sandbox)
        run(
            sandbox,
            "import os, signal\nfor target in (-1, 0):\n    try:\n        os.kill(target, 9)\n    "
            "except OSError:\n        pass",
        )
        run(sandbox, "assert os.getpgrp() == os.getsid(0) == os.getpid() == 1")
    with Sandbox(Limits()) as sandbox:
        assert template_of(sandbox) == warm


def test_hostile_system_calls_that_leave_the_walls():
    machine = os.uname().machine
    flags = {"unshare": [0x10000000], "setns": [0, 0], "ptrace": [16, 2, 0, 0]}
    calls = [
        [name, call[machine], *flags.get(name, [0, 0, 0, 0, 0])]
        for name, call in seccomp.REFUSED_TO_STUDENTS.items()
    ]
    calls += [["clone into a new user space", seccomp.CLONE[machine], 0x10000000 | 17, 0, 0, 0, 0]]
    with Sandbox(Limits()) as sandbox:
        run(sandbox, CALLS)
        told = value(sandbox, "errors", calls)
        # EPERM, not EINVAL: the filter refused, before the kernel looked
        assert set(told.values()) == {1}, told
        assert value(sandbox, "errors", [["clone3", seccomp.CLONE3, 0, 0]]) == {"clone3": 38}


def test_the_calls_are_those_of_this_machine():
    """The numbers in the tables are the kernel's: outside, the same calls are known to it."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(seccomp.REFUSED_TO_STUDENTS["setns"][os.uname().machine], -1, 0)
    assert ctypes.get_errno() == 9  # EBADF


MORE_CALLS = {
    "splice": {"x86_64": 275, "aarch64": 76},
    "tee": {"x86_64": 276, "aarch64": 77},
    "vmsplice": {"x86_64": 278, "aarch64": 75},
    "personality": {"x86_64": 135, "aarch64": 92},
    "sched_setaffinity": {"x86_64": 203, "aarch64": 122},
    "mq_open": {"x86_64": 240, "aarch64": 180},
    "io_setup": {"x86_64": 206, "aarch64": 0},
    "io_uring_enter": {"x86_64": 426, "aarch64": 426},
    "mbind": {"x86_64": 237, "aarch64": 235},
    "fsconfig": {"x86_64": 431, "aarch64": 431},
    "kexec_load": {"x86_64": 246, "aarch64": 104},
    "modify_ldt": {"x86_64": 154},
}


def test_hostile_system_calls_that_attack_the_kernel():
    """Named here once more, so that none is lost from the lists: Docker's default profile refuses
    most of them, too.
    """
    machine = os.uname().machine
    calls = [
        [name, call[machine], -1, -1, -1, -1, -1, -1]
        for name, call in MORE_CALLS.items()
        if machine in call
    ]
    with Sandbox(Limits()) as sandbox:
        run(sandbox, CALLS)
        told = value(sandbox, "errors", calls)
        assert set(told.values()) == {1}, told
        told = value(
            sandbox, "errors", [[str(number), number, -1, -1, -1] for number in range(451, 600)]
        )
        assert set(told.values()) == {38}, told  # ENOSYS: calls that came after these lists


def test_hostile_socket_families():
    """Only local and internet sockets open. A vsock would lead out of the sandbox's network: it is
    opened here, never connected.
    """
    source = """
import socket
def opened():
    found = set()
    for family in range(64):
        for kind in (1, 2, 3, 5):
            try:
                socket.socket(family, kind).close()
                found.add(family)
            except OSError:
                pass
            try:
                for one in socket.socketpair(family, kind):
                    one.close()
                found.add(family)
            except (OSError, ValueError):
                pass
    return sorted(found)
def high(number):
    libc = ctypes.CDLL(None, use_errno=True)
    opened = libc.syscall(number, ctypes.c_long((1 << 32) | 16), 2, 0)  # the kernel looks at the low half
    return ctypes.get_errno() if opened == -1 else "opened"
"""
    with Sandbox(Limits()) as sandbox:
        run(sandbox, CALLS + source)
        assert value(sandbox, "opened") == [1, 2, 10]
        number = {"x86_64": 41, "aarch64": 198}[os.uname().machine]
        assert value(sandbox, "high", number) == 1


@pytest.mark.skipif(
    os.uname().machine != "x86_64", reason="these are the other ways of calling an x86-64 kernel"
)
def test_hostile_calls_under_other_numbers():
    """The same calls have other numbers for 32-bit programs, which end the process, and for x32,
    which are refused.
    """
    source = """
import mmap
def as_32_bit():
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, 20 (getpid); int 0x80; ret
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
"""
    with Sandbox(Limits()) as sandbox:
        run(sandbox, CALLS + source)
        assert value(sandbox, "errors", [["x32 socket", 0x40000000 + 41, 16, 2, 0]]) == {
            "x32 socket": 1
        }
        with pytest.raises(Lost, match="ended"):
            sandbox.ask({"do": "call", "answer": "as_32_bit"}, {"args": ()})


def test_hostile_buffers_of_sockets():
    """What waits in a socket is the kernel's memory: the buffers stay small, and there are not many
    sockets for each process.
    """
    source = """
import socket
def enlarged():
    told = []
    one, _ = socket.socketpair()
    for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
        try:
            one.setsockopt(socket.SOL_SOCKET, option, 4 << 20)
            told.append("enlarged")
        except PermissionError:
            told.append("refused")
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return told
def many():
    held = []
    try:
        while True:
            held.append(os.dup(0))
    except OSError:
        for fd in held:
            os.close(fd)
        return len(held)
"""
    with Sandbox(Limits()) as sandbox:
        run(sandbox, CALLS + source)
        assert value(sandbox, "enlarged") == ["refused", "refused"]
        assert value(sandbox, "many") < 100


SOCKETS = """
import os, socket, time
for _ in range(30):
    if os.fork() == 0:
        held = []
        try:
            while True:
                held.append(socket.socketpair())
        except OSError:
            time.sleep(600)
        os._exit(0)
time.sleep(600)
"""
FILES = """
import time
written = 0
try:
    for i in range(400_000):
        open(f"/tmp/{i}", "w").close()
        written += 1
except OSError:
    pass
def files():
    return written
"""


@pytest.mark.parametrize("warm", [True, False])
def test_hostile_sockets_that_hold_the_kernels_memory(warm):
    """They belong to no process's memory, and count all the same."""
    template.use(warm=warm)
    try:
        with (
            Sandbox(Limits(total=900.0, memory=32 << 20)) as sandbox,
            pytest.raises(Lost, match="memory"),
        ):
            run(sandbox, SOCKETS, seconds=600.0)
    finally:
        template.use(warm=True)


def test_hostile_files_in_great_numbers():
    """A file takes more than a kilobyte of the kernel's memory, empty as it may be."""
    with Sandbox(Limits()) as sandbox:
        run(sandbox, FILES, seconds=250.0)
        assert value(sandbox, "files") < 10_000


def test_hostile_capabilities():
    with Sandbox(Limits()) as sandbox:
        run(
            sandbox,
            "def capabilities():\n    return [line for line in open('/proc/self/status') if "
            "line.startswith('Cap')]",
        )
        assert {int(line.split()[1], 16) for line in value(sandbox, "capabilities")} == {0}


def test_hostile_traces_for_the_next_submission():
    """Files, environment, modules, patches, shared memory: nothing is there when the next one
    runs.
    """
    leave = """
import os, sys, torch, builtins
for folder in ("/tmp", "/dev/shm"):
    with open(folder + "/note", "w") as file:
        file.write("the answer is 2 * x")
os.environ["NOTE"] = "2 * x"
builtins.note = torch.note = "2 * x"
torch.equal = torch.allclose = lambda *a, **k: True
sys.modules["note"] = sys
torch.set_default_dtype(torch.float64)
"""
    find = """
import os, sys, torch, builtins
def found():
    seen = [os.path.exists("/tmp/note"), os.path.exists("/dev/shm/note"), "NOTE" in os.environ]
    seen += [hasattr(builtins, "note"), hasattr(torch, "note"), torch.equal(torch.zeros(1), torch.ones(1)), "note" in sys.modules]
    return [*seen, str(torch.get_default_dtype())]
"""
    with Sandbox(Limits()) as sandbox:
        run(sandbox, leave)
        warm = template_of(sandbox)
    with Sandbox(Limits()) as sandbox:
        run(sandbox, find)
        assert template_of(sandbox) == warm
        assert value(sandbox, "found") == [False] * 7 + ["torch.float32"]


def test_hostile_processes_do_not_outlive_their_turn():
    with Sandbox(Limits()) as sandbox:
        run(
            sandbox,
            "import os, time\nfor _ in range(5):\n    if os.fork() == 0:\n        os.setsid()\n    "
            "    time.sleep(600)",
        )
        folders = [
            path for path in Path("/proc").glob("[0-9]*/stat") if parent(path) == sandbox.pid
        ]
        assert len(folders) == 5
    assert not [path for path in folders if path.exists()]


def parent(stat: Path) -> int:
    try:
        return int(stat.read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def test_hostile_descriptors_lead_nowhere_else():
    """What is open are its two pipes and /dev/null; what it writes into a pipe can only spoil its
    own reply.
    """
    source = (
        "import os\ndef open_ones():\n    return "
        "sorted({os.readlink(f'/proc/self/fd/{fd}').split(':')[0] for fd in fds()})\n"
    )
    source += (
        "def fds():\n    return [fd for fd in range(1024) if os.path.exists(f'/proc/self/fd/{fd}')]"
    )
    with Sandbox(Limits()) as sandbox:
        run(sandbox, source)
        assert value(sandbox, "open_ones") == ["/dev/null", "pipe"]


def test_a_template_that_was_killed_is_replaced():
    with Sandbox(Limits()) as sandbox:
        os.kill(sandbox._template.pid, 9)
        while Path(f"/proc/{sandbox.pid}/cmdline").exists():
            time.sleep(0.01)
        with pytest.raises(Broken):
            run(sandbox, "x = 1")
    verdicts, _ = graded([RIGHT_DOUBLE], DOUBLE)
    assert verdicts["double"].right


def test_a_submission_does_not_pay_for_a_template_that_was_killed():
    """A machine out of memory ends the warm process in the middle of somebody's cells: they are run
    again, and nothing is noted.
    """
    with Sandbox(Limits()) as sandbox:
        bubblewrap_s = sandbox._template.pid
    killer = threading.Timer(0.5, os.kill, (bubblewrap_s, 9))
    killer.start()
    verdicts, execution = graded(
        ["import time\ntime.sleep(2)", RIGHT_DOUBLE], DOUBLE, limits=Limits()
    )
    killer.join()
    assert not Path(f"/proc/{bubblewrap_s}/cmdline").exists()
    assert verdicts["double"].right
    assert execution.failures == {}


def test_random_numbers_are_the_same_for_everybody():
    """A fork inherits the generators' state; every submission starts from the same one, whoever
    came before.
    """
    drawn = []
    for _ in range(2):
        with Sandbox(Limits()) as sandbox:
            run(
                sandbox,
                "import torch, random\ndef draw():\n    return [torch.rand(3), random.random()]",
            )
            drawn.append(value(sandbox, "draw"))
    assert drawn[0][0].equal(drawn[1][0])
    assert drawn[0][1] == drawn[1][1]


@pytest.fixture
def no_spaces_within_spaces():
    """As on a machine that refuses them: every submission has a process of its own that imports
    torch anew.
    """
    template.use(warm=False)
    yield
    template.use(warm=True)


@pytest.mark.usefixtures("no_spaces_within_spaces")
def test_hostile_without_spaces_within_spaces_it_is_as_shut():
    with Sandbox(Limits()) as sandbox:
        outcome = sandbox.ask(
            {"do": "probe", "hidden": ["/etc/passwd"], "processes": 64}, seconds=60.0
        )
        assert outcome.value == []
    verdicts, _ = graded(["import os\nos._exit(0)", RIGHT_DOUBLE], DOUBLE)
    assert verdicts["double"].right


@pytest.mark.usefixtures("no_spaces_within_spaces")
def test_hostile_writing_into_the_first_process_s_memory():
    """Without spaces within spaces, too, the first process of the space is the submission's own,
    and no other is to be seen.
    """
    source = """
import os
def writable():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR))
            found.append(int(pid))
        except OSError:
            pass
    return [pid for pid in found if pid != os.getpid()], len(list(filter(str.isdigit, os.listdir("/proc"))))
"""
    with Sandbox(Limits()) as sandbox:
        run(sandbox, source)
        assert value(sandbox, "writable") == ([], 1)


@pytest.mark.usefixtures("no_spaces_within_spaces")
def test_hostile_orphans_are_counted():
    """A process whose parent has ended belongs to the submission as before, and so does its
    memory.
    """
    source = """
import os, time
for _ in range(6):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            held = os.urandom(1 << 20) * 110
            time.sleep(600)
        os._exit(0)
    os.wait()
time.sleep(600)
"""
    with (
        Sandbox(Limits(total=900.0, memory=128 << 20)) as sandbox,
        pytest.raises(Lost, match="memory"),
    ):
        run(sandbox, source, seconds=600.0)


@pytest.mark.usefixtures("no_spaces_within_spaces")
def test_hostile_files_in_great_numbers_without_spaces_within_spaces():
    """Bubblewrap cannot limit their number: they are counted."""
    with Sandbox(Limits(total=900.0, memory=0)) as sandbox, pytest.raises(Lost, match="memory"):
        run(sandbox, FILES + "\ntime.sleep(600)", seconds=600.0)


@pytest.mark.usefixtures("no_spaces_within_spaces")
def test_hostile_staying_on_after_its_turn():
    """Whatever it says about the end of its parent, it ends."""
    source = """
import os, time
def stay():
    told = libc.prctl(1, 0, 0, 0, 0)  # PR_SET_PDEATHSIG: none
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            time.sleep(600)
    return told
"""
    with Sandbox(Limits()) as sandbox:
        run(sandbox, CALLS + source)
        assert value(sandbox, "stay") == -1
        children = [
            path for path in Path("/proc").glob("[0-9]*/stat") if parent(path) == sandbox.pid
        ]
        assert len(children) == 3
    assert not Path(f"/proc/{sandbox.pid}/stat").exists()
    assert not [path for path in children if path.exists()]


@pytest.mark.parametrize("warm", [True, False])
def test_hostile_doors_that_are_open_are_found(monkeypatch, warm):
    """The check before every run sees a call, or a family of sockets, that a filter has
    forgotten.
    """
    template.use(warm=warm)
    try:
        monkeypatch.delitem(seccomp.REFUSED, "splice")
        monkeypatch.setitem(seccomp.FAMILIES, "AF_NETLINK", 16)
        found = doors._try_doors([])
    finally:
        monkeypatch.undo()
        template.use(warm=True)
    assert any("splice" in door for door in found), found
    assert any("family 16" in door for door in found), found


def test_hostile_door_into_the_first_process_s_memory_is_found(monkeypatch):
    """Where student code is not the first process of its space, bubblewrap is, whose memory the
    same user may write to.
    """
    template.use(warm=False)
    command = bubblewrap.command
    try:
        assert doors._try_doors([]) == []
        monkeypatch.setattr(
            bubblewrap, "command", lambda program, filter_fd, alone: command(program, filter_fd)
        )
        found = doors._try_doors([])
    finally:
        monkeypatch.undo()
        template.use(warm=True)
    assert "the memory of process 1 can be written to" in found


def test_where_spaces_within_spaces_are_refused_each_submission_pays_for_torch(monkeypatch):
    tried = doors._try_doors

    def refused_when_warm(paths):
        if template.warm():
            raise Refused("unshare: Operation not permitted")
        return tried(paths)

    monkeypatch.setattr(doors, "_try_doors", refused_when_warm)
    assert doors.require() is False
    monkeypatch.undo()
    assert doors.require() is True


def test_a_fork_takes_a_fraction_of_a_second():
    """Not a benchmark: only that torch is not imported anew (a second and more)."""
    with Sandbox(Limits()) as sandbox:
        warm = template_of(sandbox)
    before = cpu(warm)
    for _ in range(5):
        with Sandbox(Limits()) as sandbox:
            run(sandbox, "import torch, numpy, matplotlib.pyplot, lectures_lib")
    assert (cpu(warm) - before) / 5 < 0.5


def cpu(pid: int) -> float:
    """CPU seconds of a process and of those of its children that it has waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    time.sleep(0)
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def test_hostile_writing_where_the_course_is_installed_in_tmp(tmp_path):
    """The folder /tmp is every submission's own and empty; a course that lies there is seen all the
    same, and cannot be written to.
    """
    assert tmp_path.is_relative_to("/tmp") or "tmp" in str(tmp_path)
    shutil.copytree(
        bubblewrap.PACKAGE, tmp_path / "lectures_lib", ignore=shutil.ignore_patterns("__pycache__")
    )
    cell = f"""
import os
import shutil
import subprocess
import sys
from lectures_lib.models import transformer
assert transformer.__file__.startswith({str(tmp_path)!r})
package = os.path.dirname(os.path.dirname(transformer.__file__))
assert not os.path.exists(os.path.dirname(package) + "/secret")
assert "hw1" not in os.listdir(package + "/homework")
try:
    open(transformer.__file__, "a")
except OSError as error:
    assert error.errno in (13, 30), error
else:
    raise AssertionError("it can be written to")
"""
    (tmp_path / "secret").write_text("another student's")
    program = f"""
from lectures_lib.homework.grader.sandbox import doors
from lectures_lib.homework.grader.sandbox.process import Sandbox
from lectures_lib.homework.grader.sandbox.template import Limits
assert doors.require()
with Sandbox(Limits()) as sandbox:
    print(sandbox.ask({{"do": "cell", "cell": 1, "source": {cell!r}, "only_definitions": False}}).raised)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
    )
    assert done.stdout.decode().strip() == "None", (done.stdout, done.stderr)
