"""Notebooks whose cells loop, crash or leave: the cell is cut, the others count."""

import os
import subprocess
import sys

import pytest

from lectures_lib.homework.grader.sandbox.memory import _own_share, rollup
from lectures_lib.homework.grader.sandbox.template import Limits
from tests.homework.toy import DOUBLE, RIGHT_DOUBLE, SCALE, double, graded, question

pytestmark = pytest.mark.sandbox

CELLS = {
    "set-up": "import lectures_lib\ndevice = lectures_lib.setup(seed=0)\nfrom lectures_lib.homework import check",
    "magics": "%matplotlib inline\n!pip install something",
    "check": "check('toy.double', None)",
    "syntax": "def broken(x:\n    return x",
    "exits": "import sys\nsys.exit()",
    "asks": "name = input('Your name? ')",
    "downloads": "import urllib.request\nurllib.request.urlopen('http://example.org/weights')",
    "prints": "print('x' * 40_000_000)",
    "loops": "before = 1\ndef before_the_loop(x):\n    return 2 * x\nwhile True: pass\ndef after_the_loop(x):\n    return 2 * x",
    "allocates": "import torch\ntorch.ones(10**10)",
    "right": RIGHT_DOUBLE,
    "twice": "def latest(x):\n    return x",
    "again": "def latest(x):\n    return 2 * x",
    "number": "uncallable = 3",
    "quits": "def in_a_cell_that_quits(x):\n    return 2 * x\nimport os\nos._exit(0)",
    "surrogate": "x = '\ud800'",
    "last": "def last(x):\n    return 2 * x",
}
ANSWERS = (
    "before_the_loop",
    "after_the_loop",
    "in_a_cell_that_quits",
    "latest",
    "last",
    "uncallable",
    "broken",
)


@pytest.fixture(scope="module")
def result():
    return graded(list(CELLS.values()), DOUBLE, *(question(name, double) for name in ANSWERS))


def failures(execution):
    names = list(CELLS)
    return {
        names[i]: why if isinstance(why, str) else why.kind for i, why in execution.failures.items()
    }


def test_hostile_cells_are_cut_and_named(result):
    assert failures(result[1]) == {
        "syntax": "SyntaxError",
        "exits": "SystemExit",
        "asks": "EOFError",
        "downloads": "URLError",
        "loops": "time",
        "allocates": "RuntimeError",
        "quits": "ended",
        "surrogate": "UnicodeEncodeError",
    }


@pytest.mark.parametrize(
    "name",
    ["double", "before_the_loop", "after_the_loop", "in_a_cell_that_quits", "latest", "last"],
)
def test_hostile_cells_leave_the_answers_alone(result, name):
    assert result[0][name].right


def test_what_is_no_answer_is_named(result):
    assert result[0]["uncallable"].kind == "uncallable"
    assert result[0]["broken"].kind == "missing"


def test_hostile_cells_that_cannot_be_interrupted_are_killed():
    stubborn = """
import signal
signal.signal(signal.SIGALRM, signal.SIG_IGN)
while True: pass
"""
    found, execution = graded([RIGHT_DOUBLE, stubborn], DOUBLE, limits=Limits(cell=0.5))
    assert found["double"].right
    assert execution.failures == {1: "time"}


def test_hostile_memory_spread_over_processes_is_seen():
    """Each process stays below its own limit, also while it copies its block; the grader adds them
    up.
    """
    spread = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        block = os.urandom(1 << 20) * 300
        time.sleep(600)
time.sleep(600)
"""
    found, execution = graded(
        [RIGHT_DOUBLE, spread], DOUBLE, limits=Limits(cell=300.0, total=900.0, memory=1 << 29)
    )
    assert execution.failures == {1: "memory"}
    assert found["double"].right


def test_hostile_notebooks_come_to_an_end():
    """However many cells loop, the whole has a limit, and so has the number of new starts."""
    found, execution = graded(
        ["while True: pass"] * 50 + [RIGHT_DOUBLE], DOUBLE, limits=Limits(cell=0.5, total=3.0)
    )
    assert found["double"].kind == "unreached"
    assert execution.failures[50] == "unreached"
    found, execution = graded(
        ["import os\nos._exit(0)"] * 50 + [RIGHT_DOUBLE], DOUBLE, limits=Limits(restarts=1)
    )
    assert found["double"].kind == "unreached"


def test_a_process_that_has_just_ended_holds_no_memory():
    with subprocess.Popen([sys.executable, "-c", "pass"]) as ended:
        ended.wait()
        assert _own_share(ended.pid, 1 << 30, rollup) == 0
    assert 0 < _own_share(os.getpid(), 1 << 40, rollup) < 1 << 40


def test_hostile_forks_that_go_on_do_not_speak_for_the_submission():
    """Sixty copies of the process come to the end of the cell, too: none of them takes a request or
    replies.
    """
    bomb = "import os\ntry:\n    while True:\n        os.fork()\nexcept OSError:\n    pass"
    found, execution = graded(
        [RIGHT_DOUBLE, bomb, "mine = 1"],
        question("double", double),
        SCALE,
        limits=Limits(cell=60.0),
    )
    assert found["double"].right
    assert found["Scale"].kind == "missing"
    assert execution.failures == {}
