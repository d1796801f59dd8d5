"""Answers that loop, crash, lie and forge: each costs itself, and the right ones beside it keep
their points.
"""

import pytest
import torch

from lectures_lib.homework.grader.sandbox.template import Limits
from lectures_lib.homework.questions import Case
from tests.homework.toy import RIGHT_DOUBLE, double, graded, question

pytestmark = pytest.mark.sandbox

FORGER = """
import os, struct
def send(data):
    for fd in range(3, 256):
        try:
            os.write(fd, data)
        except OSError:
            pass
def frame(number, tree):
    import json
    head = {"id": number, "raised": None, "changed": [], "lost": ""}
    text = json.dumps({"head": head, "tree": tree}).encode()
    return struct.pack(">II", len(text), 0) + text
"""

# name: (the answer, the kind of verdict it must get)
ANSWERS = {
    "loops": ("while True: pass", "time"),
    "exits": ("import sys; sys.exit()", "raised"),
    "interrupts": ("raise KeyboardInterrupt", "raised"),
    "allocates": ("import torch; return torch.ones(10**10)", "raised"),
    "hoards": ("return [bytes(10**6) for _ in range(10**5)]", "raised"),
    "recurses": ("return recurses(x)", "raised"),
    "asks": ("return float(input('the answer? ')) * x", "raised"),
    "prints": ("print('x' * 40_000_000); return 2 * x", "right"),
    "compiles": ("import torch; return torch.compile(lambda y: 2 * y)(x)", "right"),
    "lies": ("return LIAR", "type"),
    "unpickles": ("return Bomb()", "type"),
    "returns_much": ("import torch; return torch.zeros(10**7)", "type"),
    "returns_many": ("return list(range(10**6))", "type"),
    "returns_strange_tensors": (
        "import torch; return torch.zeros(3, dtype=torch.float8_e4m3fn)",
        "type",
    ),
    "quits": ("import os; os._exit(0)", "ended"),
    "crashes": ("import ctypes; ctypes.string_at(0)", "ended"),
    "sends_garbage": ("send(b'garbage' * 100); return 2 * x", "garbled"),
    "sends_a_wrong_number": ("send(frame(999, ['is', None])); return 2 * x", "garbled"),
    "sends_without_end": ("while True: send(bytes([255]) * 65536)", "garbled"),
    "kills_others": ("import os; os.kill(1, 9); return 2 * x", "right"),
    # in vain: nobody in its space may kill the first process there
    "kills_itself": ("import os; os.kill(os.getpid(), 9)", "type"),
    "kills_its_group": ("import os; os.kill(0, 9); return 2 * x", "right"),
    "cannot_be_interrupted": (
        "while True:\n        try:\n            while True: pass\n        except BaseException: "
        "pass",
        "time",
    ),
    "forks": (
        "import os\n    while True:\n        try:\n            os.fork()\n        except OSError: "
        "pass",
        "time",
    ),
}

PREPARATION = """
import torch
class Liar(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return True
    def __eq__(self, other):
        return True
LIAR = torch.ones(3).as_subclass(Liar)
class Bomb:
    def __reduce__(self):
        return (exec, ("import os; os._exit(3)",))
"""


@pytest.fixture(scope="module")
def verdicts():
    questions = [question(name, double, seconds=1.0) for name in ANSWERS]
    questions.append(question("double", double))
    cells = [
        PREPARATION,
        FORGER,
        *(f"def {name}(x):\n    {body}" for name, (body, _) in ANSWERS.items()),
        RIGHT_DOUBLE,
    ]
    limits = Limits(cell=5.0, memory=1 << 30, restarts=20)
    found, execution = graded(cells, *questions, limits=limits)
    assert execution.failures == {}
    return found


@pytest.mark.parametrize("name", ANSWERS)
def test_hostile_answer(verdicts, name):
    assert verdicts[name].kind == ANSWERS[name][1], verdicts[name]


def test_hostile_answers_cost_only_themselves(verdicts):
    assert verdicts["double"].right


def test_a_hostile_answer_gets_a_reason(verdicts):
    assert "endless loop" in verdicts["loops"].message
    assert "can't allocate memory" in verdicts["allocates"].message
    assert verdicts["allocates"].message.endswith("It asked for more memory than it may have.")
    assert "nobody to answer" in verdicts["asks"].message
    assert "os._exit" in verdicts["quits"].message
    assert "subclass of Tensor" in verdicts["lies"].message
    assert verdicts["loops"].on == "a vector of 3 numbers"


def test_hostile_forgery_is_no_use_without_the_right_values():
    """A frame sent in the driver's place is taken for an answer, and then compared like one."""
    forge = FORGER + "def double(x):\n    send(frame(3, ['is', True])); import time; time.sleep(60)"
    found, _ = graded([forge], question("double", double, [Case((torch.ones(3),))]))
    assert found["double"].kind == "type"


def test_hostile_patches_do_not_help():
    """The student's process may believe what it likes; nothing is compared there."""
    patches = """
import json, pickle, torch, builtins
always = lambda *args, **kwargs: True
torch.testing.assert_close = torch.equal = torch.allclose = torch.isclose = torch.Tensor.equal = torch.Tensor.__eq__ = always
pickle.loads = pickle.dumps = always
import lectures_lib.homework, lectures_lib.homework.calls as calls
lectures_lib.homework.check = always
calls._identical = always
"""
    answers = "def double(x):\n    return 3 * x\ndef triple(x):\n    return 3 * x"
    found, execution = graded(
        [patches, answers], question("double", double), question("triple", lambda x: 3 * x)
    )
    assert execution.failures == {}
    assert found["double"].kind == "values"
    assert found["triple"].right
    assert torch.equal(torch.ones(1), torch.ones(1))
    assert not torch.equal(torch.ones(1), torch.zeros(1))


def test_hostile_answer_that_ends_the_process_later_costs_no_other_question():
    """The process dies while the next question is asked: that one is put again, in a process of its
    own.
    """
    cell = """
import os, threading, time
def bomb(x):
    threading.Timer(0.3, os._exit, (0,)).start()
    return 2 * x
def patient(x):
    time.sleep(0.6)
    return 2 * x
"""
    found, _ = graded([cell], question("bomb", double), question("patient", double))
    assert found["bomb"].right
    assert found["patient"].right
