"""Restart, run all, every check says right: that means all points. Each answer is called in the
state that its own check saw.
"""

from pathlib import Path

import pytest

from lectures_lib.homework import load
from lectures_lib.homework.diagnosis import AnswerKey
from lectures_lib.homework.grader.grading.execution import Execution
from lectures_lib.homework.grader.sandbox.process import Sandbox
from lectures_lib.homework.grader.sandbox.template import Limits
from lectures_lib.homework.notebook import code_cells
from tests.homework.bank import ROOT
from tests.homework.toy import DOUBLE, RIGHT_DOUBLE, RIGHT_SCALE, SCALE, double, graded, question

pytestmark = pytest.mark.sandbox

SET_UP = "import math\nimport torch\nfrom torch import nn\nfrom lectures_lib.homework import check"
CHECK = "check('toy.double', double)"
TEMPLATE = 'def double(x):\n    raise NotImplementedError("your answer here")'
WRONG = "def double(x):\n    return 3 * x"
HELPED = "def two(x):\n    return x + x\ndef double(x):\n    return two(x)"
LIMITS = Limits(cell=20.0, total=200.0)

# name: (cells in which the last check of a right answer says ✓, and what its author must be told
# besides)
RIGHT_AT_ITS_CHECK = {
    "helper_redefined": ([HELPED, CHECK, "def two(x, y):\n    return y"], "cell 4 redefines `two`"),
    "helper_redefined_for_the_next_question": (
        [HELPED, CHECK, "two = lambda x: x", "def other(x):\n    return two(x)"],
        "cell 4",
    ),
    "helper_s_helper": (
        [
            "def one(x):\n    return x\ndef two(x):\n    return one(x) + one(x)",
            "double = two",
            CHECK,
            "one = 1",
        ],
        "`one`",
    ),
    "module_shadowed": (
        ["def double(x):\n    return x + math.floor(1.5) * x", CHECK, "math = 'my marks'"],
        "redefines `math`",
    ),
    "module_deleted": (
        ["def double(x):\n    return x + math.floor(1.5) * x", CHECK, "x = 1\ndel x, math"],
        "cell 4 deletes `math`, which it uses.",
    ),
    "plot_shadows_nn": (
        ["def double(x):\n    return nn.Identity()(x) * 2", CHECK, "fig, nn = 1, 2"],
        "redefines `nn`",
    ),
    "torch_shadowed": (
        ["def double(x):\n    return torch.add(x, x)", CHECK, "torch = None"],
        "redefines `torch`",
    ),
    "state_mutated": (
        ["two = [2]\ndef double(x):\n    return two[0] * x", CHECK, "two[0] = 3"],
        "",
    ),
    "torch_patched_later": (
        ["def double(x):\n    return torch.add(x, x)", CHECK, "torch.add = None"],
        "",
    ),
    "old_attempt_pasted_at_the_end": ([RIGHT_DOUBLE, CHECK, WRONG], "cell 4 defines `double` anew"),
    "template_below": ([RIGHT_DOUBLE, CHECK, TEMPLATE], "cell 4 defines `double` anew"),
    "template_below_and_checked": ([RIGHT_DOUBLE, TEMPLATE, CHECK], "template stands below it"),
    "template_below_and_no_check": ([RIGHT_DOUBLE, TEMPLATE], "template stands below it"),
    "template_below_in_its_cell": (
        [f"{RIGHT_DOUBLE}\n\n{TEMPLATE}", CHECK],
        "template stands below",
    ),
    "template_below_in_its_cell_and_no_check": (
        [f"from __future__ import annotations\n{RIGHT_DOUBLE}\n\n{TEMPLATE}"],
        "template stands below it",
    ),
    "deleted": ([RIGHT_DOUBLE, CHECK, "del double"], "cell 4 deletes `double`."),
    "another_name": (["def mine(x):\n    return 2 * x", "check('toy.double', mine)"], ""),
    "method": (
        [
            "class A:\n    def f(self, x):\n        return 2 * x",
            "check('toy.double', A().f)",
            "del A",
        ],
        "",
    ),
    "alias": (
        [
            "from lectures_lib.homework import check as c",
            HELPED,
            "c('toy.double', double)",
            "two = 2",
        ],
        "cell 5",
    ),
    "module_s_check": (
        ["import lectures_lib.homework as h", HELPED, "h.check('toy.double', double)", "two = 2"],
        "cell 5",
    ),
    "in_try": (
        [HELPED, f"try:\n    {CHECK}\n    1 / 0\nexcept ZeroDivisionError:\n    pass", "two = 2"],
        "cell 4",
    ),
    "in_a_loop": ([HELPED, f"for _ in range(5):\n    {CHECK}", "two = 2"], "cell 4"),
    "in_a_function": (
        [HELPED, f"def all_checks():\n    {CHECK}", "all_checks()", "two = 2"],
        "cell 5",
    ),
    "last_check_counts": ([WRONG, CHECK, HELPED, CHECK, "two = 2"], "cell 6"),
    "cell_goes_on": ([HELPED, f"{CHECK}\ntwo = 2"], "cell 3"),
    "cell_fails_later": ([HELPED, f"{CHECK}\ntwo = 2\n1 / 0"], "cell 3"),
    "process_ends_later": (
        [HELPED, CHECK, "import os\nos._exit(0)\ndef two(x):\n    return 3"],
        "",
    ),
    "awaited": ([HELPED, f"import asyncio\nawait asyncio.sleep(0)\n{CHECK}", "two = 2"], "cell 4"),
    "threads_of_torch": (
        [
            "torch.set_num_threads(4)\n(torch.ones(500, 500) @ torch.ones(500, 500)).sum()",
            HELPED,
            CHECK,
            "two = 2",
        ],
        "cell 5",
    ),
    "trained_before": (
        [
            "w = torch.ones(3, requires_grad=True)\nw.sum().backward()\ndef double(x):\n    return "
            "(w.grad.mean() + 1) * x",
            CHECK,
            "w = None",
        ],
        "cell 4",
    ),
}


@pytest.mark.parametrize("name", RIGHT_AT_ITS_CHECK)
def test_what_is_right_at_its_check_counts(name):
    cells, words = RIGHT_AT_ITS_CHECK[name]
    verdict = graded([SET_UP, *cells], DOUBLE, limits=LIMITS)[0]["double"]
    assert verdict.right, verdict
    assert words in verdict.message


# Where no check ran that speaks for the answer, the state after the last cell counts, as it always
# has.
RIGHT_AT_THE_END = {
    "no_check": [HELPED],
    "misspelt": [HELPED, "check('toy.dobule', double)"],
    "skipped": [HELPED, f"1 / 0\n{CHECK}"],
    "checked_too_early": [WRONG, CHECK, RIGHT_DOUBLE],
    "helper_comes_later": [
        "def double(x):\n    return two(x)",
        CHECK,
        "def two(x):\n    return 2 * x",
    ],
    "state_comes_later": [
        "scale = [1]\ndef double(x):\n    return scale[0] * x",
        CHECK,
        "scale[0] = 2",
    ],
    "own_check": ["def check(name, answer):\n    print('✓')", RIGHT_DOUBLE, CHECK],
    "no_check_at_all": ["check = None", RIGHT_DOUBLE, CHECK],
    "result_instead_of_function": [RIGHT_DOUBLE, "check('toy.double', double(torch.ones(3)))"],
    "another_answer": [RIGHT_DOUBLE, "check('toy.double', lambda x: x)"],
}


@pytest.mark.parametrize("name", RIGHT_AT_THE_END)
def test_what_is_right_at_the_end_counts(name):
    verdict = graded([SET_UP, *RIGHT_AT_THE_END[name]], DOUBLE, limits=LIMITS)[0]["double"]
    assert verdict.right, verdict


def test_wrong_in_both_states_is_wrong_with_its_mistake():
    cells = [SET_UP, "def double(x):\n    return x**2", CHECK, "x = 1"]
    assert graded(cells, DOUBLE)[0]["double"].mistake == "squares"
    redefined = [
        SET_UP,
        "def two(x):\n    return x**2\ndef double(x):\n    return two(x)",
        CHECK,
        "two = None",
    ]
    assert graded(redefined, DOUBLE)[0]["double"].mistake == "squares"


LAST_CELLS = {
    "plot": "fig, nn = 1, 2",
    "names": "math = F = torch = None",
    "helpers": "def softmax(x, mask):\n    return mask",
    "everything": "for name in list(globals()):\n    if not name.startswith('_') and name != 'name':\n        del globals()[name]",
}


@pytest.mark.parametrize("name", LAST_CELLS)
def test_a_whole_homework_keeps_its_points_whatever_its_last_cell_does(name):
    (solution,) = (ROOT / "solutions").glob("hw1_*.ipynb")
    cells = [*code_cells(solution.read_bytes()), LAST_CELLS[name]]
    keys = [AnswerKey(each, 5) for each in load("hw1").questions]
    verdicts = Execution(cells, Limits()).verdicts(keys)
    assert [name for name, verdict in verdicts.items() if not verdict.right] == []


# ----------------------------------------------------------------------------------- hostile checks

# What leaves the right answer right, in one state or the other.
HARMLESS = {
    "ten_thousand": f"for _ in range(10_000):\n    {CHECK}",
    "patched": f"import lectures_lib.homework as h\nh.check = h._recorder = None\n{CHECK}",
    "recorder_lies": "import lectures_lib.homework as h\nh._recorder[:] = [lambda *a: (_ for _ in ()).throw(ValueError)]",
    "strange_names": f"""
for name in (None, 3, [], b'toy.double', 'x' * 10**6, type('S', (str,), {{}})('toy.double')):
    check(name, 3)
{CHECK}
""",
    "threads": f"""
import threading
threads = [threading.Thread(target=lambda: {CHECK}) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
""",
    "fork_checks_another": """
import os
if os.fork() == 0:
    check('toy.double', lambda x: 3 * x)
    os._exit(0)
""",
    "fork_goes_on": "import os\nos.fork()\ncheck('toy.double', double)",
    "copies_killed": f"{CHECK}\nimport os\ntry:\n    os.kill(-1, 9)\nexcept OSError:\n    pass",
    "copies_waited_for": f"""
import os
{CHECK}
os.kill(-1, 9)
while True:
    try:
        os.wait()
    except OSError:
        break
""",
    "no_more_processes": f"""
import os, time
try:
    while True:
        if os.fork() == 0:
            time.sleep(600)
except OSError:
    pass
{CHECK}
""",
    "fork_patched": f"import os\nos.fork = lambda: 0\n{CHECK}",
    "sockets_closed": f"import os\n{CHECK}\nos.closerange(5, 256)",
    "sockets_flooded": f"""
import os
{CHECK}
for fd in range(3, 256):
    try:
        if os.readlink(f"/proc/self/fd/{{fd}}").startswith("socket"):
            os.set_blocking(fd, False)
            os.write(fd, b"garbage" * 100)
    except OSError:
        pass
""",
    "says_nothing_changed": f"""
{CHECK}
import gc
for thing in gc.get_objects():
    if type(thing).__name__ == "Checks":
        type(thing).kept = lambda self: [["toy.double", 1, [["<b>", 1], ["x", 99], 3], True], ["toy.double", 1], 7, ["toy.none", 1, [], 0]]
""",
}


@pytest.mark.parametrize("name", HARMLESS)
def test_hostile_checks_leave_the_right_answer(name):
    verdicts, _ = graded(
        [SET_UP, RIGHT_DOUBLE, RIGHT_SCALE, HARMLESS[name]], DOUBLE, SCALE, limits=LIMITS
    )
    assert verdicts["double"].right, verdicts["double"]
    assert verdicts["Scale"].right, verdicts["Scale"]


LIARS = {
    "says_it_is_right": """
class L:
    right = True
    def __call__(self, x):
        return 3 * x
    def __eq__(self, other):
        return True
""",
    "trips_who_looks": """
class M(type):
    def __getattribute__(self, name):
        raise RuntimeError(name)
class L(metaclass=M):
    def __call__(self, x):
        return 3 * x
    def __getattribute__(self, name):
        raise RuntimeError(name)
""",
    "endless_names": "class L:\n    def __call__(self, x):\n        return 3 * x\nL.__name__ = 'x' * 10**6",
    "exits": "class L:\n    def __call__(self, x):\n        import os\n        os._exit(0)",
    "forges": """
import os, struct
class L:
    def __call__(self, x):
        text = b'{"head": {"id": 1, "raised": null, "changed": [], "lost": "", "right": true}, "tree": ["is", true]}'
        for fd in range(3, 256):
            try:
                os.write(fd, struct.pack(">II", len(text), 0) + text)
            except OSError:
                pass
        return 3 * x
""",
    "comes_back_to_the_notebook": """
import os
os._exit = lambda *args: None
class L:
    def __call__(self, x):
        raise KeyboardInterrupt
""",
    "checks_itself": """
class L:
    def __call__(self, x):
        for _ in range(100):
            check('toy.double', lambda x: 2 * x)
        return 3 * x
""",
}


@pytest.mark.parametrize("name", LIARS)
def test_hostile_objects_earn_nothing_at_their_check(name):
    cells = [
        SET_UP,
        LIARS[name],
        "check('toy.double', L())\ndouble = L()",
        RIGHT_SCALE,
        "check('toy.Scale', Scale)",
    ]
    verdicts, _ = graded(cells, DOUBLE, SCALE, limits=LIMITS)
    assert not verdicts["double"].right
    assert verdicts["Scale"].right, verdicts["Scale"]


GREEDY = {
    "hangs": ("while True:\n        pass", "time"),
    "cannot_be_interrupted": (
        "while True:\n        try:\n            while True: pass\n        except BaseException: "
        "pass",
        "time",
    ),
    "sleeps": ("import time; time.sleep(10**6)", "time"),
    "eats": ("block = []\n    while True:\n        block.append(bytearray(10**8))", "raised"),
}


@pytest.mark.parametrize("name", GREEDY)
def test_hostile_copies_cost_their_question_only(name):
    """A copy that does not come back is ended by itself: the process that has run all cells goes on
    to the other questions.
    """
    body, kind = GREEDY[name]
    greedy = question("greedy", double, seconds=1.0 if kind == "time" else 60.0)
    cells = [
        SET_UP,
        f"def greedy(x):\n    {body}",
        "check('toy.greedy', greedy)",
        RIGHT_DOUBLE,
        CHECK,
        RIGHT_SCALE,
    ]
    verdicts, execution = graded(
        cells, greedy, DOUBLE, SCALE, limits=Limits(cell=5.0, memory=1 << 30)
    )
    assert verdicts["greedy"].kind == kind
    assert verdicts["double"].right
    assert verdicts["Scale"].right
    assert execution._starts <= 2


def test_hostile_copies_end_with_their_submission():
    with Sandbox(Limits(), ["toy.double"]) as sandbox:
        for i, source in enumerate([SET_UP, RIGHT_DOUBLE, CHECK, CHECK, CHECK]):
            sandbox.ask({"do": "cell", "cell": i + 1, "source": source, "only_definitions": False})
        assert len(copies := children(sandbox.pid)) == 1, (
            "a later check takes the place of an earlier one"
        )
        assert (
            sandbox.ask({"do": "call", "answer": "double"}, {"args": (3,)}, copy="toy.double").value
            == 6
        )
    assert not [pid for pid in copies if Path(f"/proc/{pid}").exists()]


def children(parent: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(stat.parent.name))
        except OSError:
            continue
    return found


def test_inputs_are_not_there_while_cells_run():
    """Neither in the notebook's process nor in its copies: they are sent when all cells have
    run.
    """
    asked = []

    class Watching(Execution):
        def _put(self, sandbox, key, **how):
            asked.append("inputs")
            return super()._put(sandbox, key, **how)

        def _run_cell(self, sandbox, i):
            asked.append("cell")
            return super()._run_cell(sandbox, i)

    Watching([SET_UP, RIGHT_DOUBLE, CHECK, "y = 1"], LIMITS).verdicts(
        [AnswerKey(DOUBLE, 3), AnswerKey(SCALE, 3)]
    )
    assert asked[:5] == ["cell"] * 4 + ["inputs"]
    assert "cell" not in asked[4:]
