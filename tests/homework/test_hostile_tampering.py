"""Submissions that tamper with their own process: none gets a point for a wrong answer, and whoever
is graded next notices nothing.
"""

import csv
import subprocess
import sys
import threading
import time

import pytest
import torch

from lectures_lib.homework import load
from lectures_lib.homework.diagnosis import AnswerKey
from lectures_lib.homework.grader.grading.execution import Execution
from lectures_lib.homework.grader.sandbox.template import Limits
from lectures_lib.homework.notebook import code_cells
from lectures_lib.homework.questions import Case
from tests.homework.bank import ROOT
from tests.homework.toy import (
    DOUBLE,
    RIGHT_DOUBLE,
    RIGHT_SCALE,
    SCALE,
    double,
    graded,
    notebook,
    question,
)

pytestmark = pytest.mark.sandbox

LIMITS = Limits(cell=5.0, total=60.0, restarts=6)
QUICK_DOUBLE = question("double", double, seconds=2.0)
WRONG = "def double(x):\n    return 3 * x"
ONLY_IN_THE_KEY = "zq-name-of-a-mistake"

# What is done before the questions come; each to a process of its own.
TAMPERING = {
    "modules_emptied": "import sys\nsys.modules.clear()",
    "torch_replaced": "import sys, types\nsys.modules['torch'] = types.ModuleType('torch')\nsys.modules['json'] = sys.modules['torch']",
    "driver_replaced": """
import sys
class Yes:
    def __getattr__(self, name):
        return lambda *args, **kwargs: True
for name in list(sys.modules):
    if name.startswith("lectures_lib"):
        sys.modules[name] = Yes()
""",
    "driver_patched": """
import sys
for name, module in list(sys.modules.items()):
    if name.startswith("lectures_lib.homework"):
        for key, value in list(vars(module).items()):
            if callable(value) and getattr(value, "__module__", "").startswith("lectures_lib"):
                try:
                    setattr(module, key, lambda *args, **kwargs: True)
                except Exception:
                    pass
""",
    "builtins_patched": """
import builtins
builtins.isinstance = builtins.callable = builtins.all = builtins.any = lambda *args: True
builtins.len = lambda x: 5
builtins.type = lambda *args: float
builtins.sorted = builtins.list = builtins.tuple = lambda *args: []
""",
    "builtins_emptied": "import builtins\nvars(builtins).clear()",
    "compilers_patched": """
import ast, builtins
ast.parse = lambda *args, **kwargs: ast.Module([], [])
builtins.compile = builtins.exec = lambda *args, **kwargs: None
""",
    "saving_patched": """
import torch, safetensors.torch, pickle, json, struct, copy
torch.save = torch.load = lambda *args, **kwargs: True
safetensors.torch.save = lambda tensors, **kwargs: b"\\xff" * 100
safetensors.torch.load = lambda data: {}
pickle.dumps = pickle.loads = copy.deepcopy = lambda *args, **kwargs: True
json.dumps = lambda *args, **kwargs: '{"head": {"id": 1, "raised": null, "changed": [], "lost": ""}, "tree": ["is", true]}'
""",
    "comparisons_patched": """
import torch
for name in ("__eq__", "__ne__", "__invert__", "any", "all", "equal", "isclose", "clone", "detach", "cpu"):
    setattr(torch.Tensor, name, lambda *args, **kwargs: True)
torch.isclose = torch.equal = torch.allclose = lambda *args, **kwargs: True
""",
    "frames_forged": """
import sys
for name, module in list(sys.modules.items()):
    if name.endswith("homework.wire"):
        pack = module.pack
        forged = {"right": True, "kind": "right", "raised": None, "lost": ""}
        module.pack = lambda head, value=None: pack({**head, **forged}, value)
""",
    "exceptions_of_odd_kinds": """
import sys
for name, module in list(sys.modules.items()):
    if name.endswith("homework.wire"):
        pack = module.pack
        odd = {"kind": ["NameError"], "kinds": ["NotImplementedError"], "message": {}, "line": "x", "source": [1]}
        module.pack = lambda head, value=None: pack({**head, "raised": odd}, value)
double(1)
""",
    "looking_patched": """
import dis, inspect
inspect.signature = lambda *args: None
dis.get_instructions = lambda *args: []
""",
    "descriptors_closed": "import os\nos.closerange(0, 1024)",
    "descriptors_written_to": """
import os
for fd in range(256):
    for data in (b"\\x00" * 8, b"\\xff" * 4096, b'{"right": true}'):
        try:
            os.set_blocking(fd, False)
            os.write(fd, data)
        except OSError:
            pass
""",
    "descriptors_read": """
import os
for fd in range(256):
    try:
        os.set_blocking(fd, False)
        os.read(fd, 1 << 20)
    except OSError:
        pass
""",
    "descriptors_crossed": """
import os
for fd in range(3, 64):
    for other in range(3, 64):
        try:
            os.dup2(fd, other)
        except OSError:
            pass
""",
    "sockets_abused": """
import os, socket
for fd in range(256):
    try:
        end = socket.socket(fileno=os.dup(fd))
        end.setblocking(False)
        socket.send_fds(end, [b"{}"], [0, 1, 2])
        end.send(b'{"fork": 1}')
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
""",
    "collected_objects_closed": """
import gc, io
for thing in gc.get_objects():
    if isinstance(thing, io.IOBase):
        try:
            thing.write(b"garbage")
            thing.flush()
            thing.close()
        except Exception:
            pass
""",
    "collected_dictionaries_emptied": """
import gc
mine = globals()
for thing in gc.get_objects():
    if type(thing) is dict and thing is not mine and ("head" in thing or "seconds" in thing or "names" in thing):
        thing.clear()
gc.disable()
""",
    "frames_rewritten": """
import sys, ctypes
frame = sys._getframe()
while frame:
    for name, value in list(frame.f_locals.items()):
        if type(value) is dict and "id" in value:
            value["id"] = 999
        if hasattr(value, "fileno") and hasattr(value, "close"):
            value.close()
    frame = frame.f_back
""",
    "traced": "import sys, threading\nsys.settrace(lambda *args: None)\nsys.setprofile(lambda *args: None)\nsys.setrecursionlimit(60)",
    "signals": """
import signal
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
signal.setitimer(signal.ITIMER_REAL, 0)
""",
    "others_killed": """
import os, signal
for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP):
    for pid in (-1, 1, 2, os.getppid()):
        try:
            os.kill(pid, number)
        except OSError:
            pass
""",
    "forked": "import os\nos.fork()\nos.fork()",
    "forked_and_gone": "import os\nif os.fork():\n    os._exit(0)",
    "threads": """
import threading, time
def burn():
    while True:
        pass
for _ in range(8):
    threading.Thread(target=burn, daemon=True).start()
def wait():
    time.sleep(600)
threading.Thread(target=wait).start()
""",
    "at_exit": "import atexit, weakref\natexit.register(lambda: [None for _ in iter(int, 1)])",
    "limits_lowered": """
import resource
for which in (resource.RLIMIT_NOFILE, resource.RLIMIT_DATA):
    resource.setrlimit(which, (0, 0))
""",
    "imports_shadowed": """
import os, sys
os.makedirs("/tmp/lectures_lib", exist_ok=True)
for name in ("torch", "json", "struct", "safetensors", "lectures_lib/__init__"):
    open(f"/tmp/{name}.py", "w").write("raise RuntimeError('shadowed')")
sys.path.insert(0, "/tmp")
os.environ["PYTHONPATH"] = "/tmp"
""",
}


def honest():
    """An ordinary submission: two right answers and, under another name, a wrong one."""
    wrong = question("triple", lambda x: 3 * x)
    found, execution = graded(
        [RIGHT_DOUBLE, RIGHT_SCALE, "def triple(x):\n    return 2 * x"], DOUBLE, SCALE, wrong
    )
    return {name: verdict.right for name, verdict in found.items()}, execution.failures


@pytest.mark.parametrize("name", TAMPERING)
def test_hostile_tampering_makes_no_wrong_answer_right(name):
    """Whatever it does to itself, the wrong answer stays wrong, the grader comes to an end, and the
    next submission is graded as ever.
    """
    began = time.monotonic()
    found, _ = graded([TAMPERING[name], WRONG], QUICK_DOUBLE, limits=LIMITS)
    assert not found["double"].right
    assert time.monotonic() - began < LIMITS.total + 120  # not the hours that it would sleep
    assert honest() == ({"double": True, "Scale": True, "triple": False}, {})


# What leaves the grader's conversation alone must not cost a right answer either.
HARMLESS = ("traced", "signals", "others_killed", "threads", "at_exit", "imports_shadowed")


@pytest.mark.parametrize("name", HARMLESS)
def test_hostile_surroundings_leave_the_right_answer(name):
    found, _ = graded(
        [TAMPERING[name], RIGHT_DOUBLE], question("double", double, seconds=30.0), limits=LIMITS
    )
    assert found["double"].right, found["double"]


# Inside an answer: what it does before it returns a wrong value, or a right one.
INSIDE = {
    "forks": "import os\n    os.fork()",
    "lets_the_child_answer": "import os, time\n    if os.fork():\n        time.sleep(1)",
    "leaves_threads": "import threading, time\n    threading.Thread(target=time.sleep, args=(600,)).start()",
    "leaves_a_writer": """import os, threading, time
    def write():
        while True:
            for fd in range(3, 64):
                try:
                    os.write(fd, b"garbage")
                except OSError:
                    pass
            time.sleep(0.01)
    threading.Thread(target=write, daemon=True).start()""",
    "closes": "import os\n    os.closerange(3, 256)",
    "steals_requests": """import os
    for fd in range(3, 64):
        try:
            os.set_blocking(fd, False)
            os.read(fd, 1 << 20)
        except OSError:
            pass""",
    "exits_later": "import os, threading\n    threading.Timer(0.2, os._exit, (0,)).start()",
    "changes_the_value_later": """import threading, time
    value = x * 3
    def mend():
        while True:
            value.copy_(x * 2)
    threading.Thread(target=mend, daemon=True).start()
    return value""",
}


@pytest.mark.parametrize("name", INSIDE)
def test_hostile_answers_that_reach_beyond_their_call_cost_only_themselves(name):
    """The other question is asked after it, in the same process as far as that is still of use."""
    hostile = question("hostile", double, seconds=2.0)
    cells = [f"def hostile(x):\n    {INSIDE[name]}\n    return 3 * x", RIGHT_DOUBLE, RIGHT_SCALE]
    found, _ = graded(cells, hostile, DOUBLE, SCALE, limits=LIMITS)
    # a thread of the answer's own that computes the right value is an answer
    if name != "changes_the_value_later":
        assert not found["hostile"].right
    assert honest() == ({"double": True, "Scale": True, "triple": False}, {})
    spoils_the_process = (
        "forks",
        "lets_the_child_answer",
        "leaves_a_writer",
        "exits_later",
        "steals_requests",
    )
    if name not in spoils_the_process:
        assert found["double"].right, found["double"]
        assert found["Scale"].right, found["Scale"]


def test_hostile_children_and_threads_end_with_the_submission():
    """What an answer leaves running holds nobody up, and is gone when the grading of it is over."""
    leave = """
import os, threading, time
def hostile(x):
    for _ in range(4):
        if os.fork() == 0:
            while True:
                pass
    for _ in range(4):
        threading.Thread(target=time.sleep, args=(600,)).start()
    return 2 * x
"""
    began, before = time.monotonic(), threading.active_count()
    found, _ = graded([leave], question("hostile", double, seconds=5.0))
    assert found["hostile"].right
    assert time.monotonic() - began < 300  # the threads sleep twice as long
    assert threading.active_count() <= before + 1


# ------------------------------------------------------------------ what can be found in the memory


SEARCH = '''
import gc, sys
import numpy as np

def searched(words):
    """Which of these words (as numbers, so that the search does not find itself) stand anywhere in the process's memory."""
    found, n_bytes = set(), 0
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            area, rights, *_ = line.split()
            start, end = (int(number, 16) for number in area.split("-"))
            while "r" in rights and start < end:
                try:
                    memory.seek(start)
                    data = np.frombuffer(memory.read(min(end - start, 1 << 24)), dtype=np.uint8)
                except (OSError, ValueError, OverflowError):
                    break
                n_bytes += len(data)
                for i, word in enumerate(words):
                    first, second, third = word[:3]
                    places = np.flatnonzero((data[:-2] == first) & (data[1:-1] == second) & (data[2:] == third))
                    for place in places.tolist():
                        if data[place : place + len(word)].tolist() == word:
                            found.add(i)
                start += max(len(data) - 100 if start + len(data) < end else len(data), 1)
    return n_bytes, sorted(found)

def modules():
    return sorted(name for name in sys.modules if name.startswith("lectures_lib.homework"))

def types_found():
    kinds = {type(thing) for thing in gc.get_objects()}
    return sorted(f"{kind.__module__}.{kind.__name__}" for kind in kinds if "lectures_lib" in kind.__module__)
'''


def test_hostile_search_of_the_memory():
    """Neither the mistakes' names and messages nor what another submission held is in the process;
    what it holds itself is found.
    """
    secret, own = "zq-secret-of-the-one-before", "zq-secret-of-its-own"
    keyed = question("keyed", double, mistakes=((ONLY_IN_THE_KEY, lambda x: x**2),))
    graded(
        [f"secret = {secret!r} * 3\nkept = [secret + str(i) for i in range(1000)]", RIGHT_DOUBLE],
        DOUBLE,
    )
    words = [list(word.encode()) for word in (secret, ONLY_IN_THE_KEY, "You made the mistake", own)]
    look = question("searched", lambda words: [], [Case((words,))], seconds=60.0)
    execution = Execution([f"OWN = {own!r}", SEARCH], Limits(cell=10.0, total=120.0))
    outcomes = execution.run([AnswerKey(keyed, 1), AnswerKey(look, 1)])
    assert execution.failures == {}
    n_bytes, found = outcomes["toy.searched"][0].value
    assert n_bytes > 50 << 20, "it reads all that torch takes"
    assert found == [3]


def test_hostile_search_of_objects_and_modules():
    asked = [question(name, list, [Case(())]) for name in ("modules", "types_found")]
    _, execution = graded([SEARCH], *asked)
    outcomes = execution.run([AnswerKey(q, 1) for q in asked])
    seen = [outcomes[q.name][0].value for q in asked]
    for word in (
        "questions",
        "diagnosis",
        "verdict",
        "compare",
        "banks",
        "grader",
        "checking",
        "careless",
    ):
        assert not [name for found in seen for name in found if f".{word}" in name], (word, seen)


# --------------------------------------------------------------------------- learned from the check


def test_hostile_memory_of_the_public_inputs():
    """An answer that knows what is right for the check's inputs, and for nothing else."""
    homework = load("hw2")
    asked = homework["hw2.teacher_forcing"]
    public = AnswerKey(asked, 0)
    table = {
        repr((case.args, case.kwargs)): right.value
        for case, right in zip(public.cases, public.right, strict=True)
    }
    cell = (
        f"TABLE = {table!r}\ndef teacher_forcing(*args, **kwargs):\n    return "
        f"TABLE.get(repr((args, kwargs)), next(iter(TABLE.values())))"
    )
    verdicts = {}
    for seed in (0, 1, 2):
        key = AnswerKey(asked, seed)
        verdicts[seed] = key.verdict(Execution([cell], LIMITS).run([key])[asked.name]).right
    assert verdicts == {0: True, 1: False, 2: False}


def test_hostile_sizes_of_the_public_inputs():
    """Right for the public sizes only: they vary with the seed, too."""
    cell = "def double(x):\n    return 2 * x if len(x) == 3 else x"
    fixed = question("double", double, [Case((torch.ones(3),))])
    varied = question("double", double, [Case((torch.ones(3),)), Case((torch.ones(4),))])
    assert graded([cell], fixed)[0]["double"].right
    assert not graded([cell], varied)[0]["double"].right


# --------------------------------------------------------------------------- the library's function


def test_the_library_s_own_function_is_told_to_a_person(tmp_path):
    """It earns its points, and the remarks say what stands there: whether that is allowed, a person
    decides.
    """
    (solution,) = (ROOT / "solutions").glob("hw1_*.ipynb")
    cells = code_cells(solution.read_bytes())
    taken = {
        "lectures_lib.blocks.attention": "from lectures_lib.blocks.attention import scaled_dot_product_attention",
        "nn.functional.scaled_dot_product_attention": "scaled_dot_product_attention = nn.functional.scaled_dot_product_attention",
    }
    (tmp_path / "submissions").mkdir()
    (tmp_path / "submissions" / "own.ipynb").write_bytes(notebook(*cells))
    for i, cell in enumerate(taken.values()):
        (tmp_path / "submissions" / f"taken_{i}.ipynb").write_bytes(notebook(*cells, cell))
    command = [
        sys.executable,
        "-m",
        "lectures_lib.homework",
        "grade",
        "hw1",
        tmp_path / "submissions",
        "--out",
        tmp_path / "grades",
    ]
    done = subprocess.run(
        [*map(str, command), "--seed", "5", "--workers", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    with (tmp_path / "grades" / "grades.csv").open(newline="", encoding="utf-8") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert [float(rows[student]["total"]) for student in ("own", "taken_0", "taken_1")] == [
        20,
        20,
        20,
    ]
    assert rows["own"]["remarks"] == ""
    for i, name in enumerate(taken):
        assert f"mentions {name}" in rows[f"taken_{i}"]["remarks"]
