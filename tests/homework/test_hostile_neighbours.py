"""Time is fair: what a neighbour or a busy machine does costs nobody a point, and what it might
have caused to be cut is looked at once more, alone.
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace

import pytest
import torch

from lectures_lib.homework.diagnosis import AnswerKey
from lectures_lib.homework.grader.grading import executors, grade_class, grade_one
from lectures_lib.homework.grader.grading.execution import Execution
from lectures_lib.homework.grader.grading.executors import Threads
from lectures_lib.homework.grader.sandbox import clock
from lectures_lib.homework.grader.sandbox.line import GRACE, Allowance
from lectures_lib.homework.grader.sandbox.process import Sandbox
from lectures_lib.homework.grader.sandbox.template import Limits
from lectures_lib.homework.grader.submissions.collect import collect
from lectures_lib.homework.questions import Case, Homework
from lectures_lib.homework.verdict import LOST, Verdict
from tests.homework.toy import TOY, double, graded, notebook, question

BUSY = """
import time
def busy(x):
    began = time.process_time()
    while time.process_time() - began < 0.4:
        pass
    return 2 * x
"""
SPIN = """
import os
for _ in range(14):
    if os.fork() == 0:
        while True:
            pass
while True:
    pass
"""


@pytest.fixture
def crowded():
    """Every core has four others to serve; torch has been imported before."""
    with Sandbox(Limits()):
        pass
    spinners = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(4 * len(os.sched_getaffinity(0)))
    ]
    yield
    for spinner in spinners:
        spinner.kill()
        spinner.wait()


@pytest.mark.sandbox
@pytest.mark.usefixtures("crowded")
def test_a_crowded_machine_uses_up_nobody_s_time():
    """On two inputs 0.8 seconds of a processor, of the 1.5 that it may use; on the clock it is
    several times that.
    """
    verdicts, execution = graded(
        [BUSY], question("busy", double, seconds=1.5), limits=Limits(cell=5.0)
    )
    assert verdicts["busy"].right, verdicts["busy"]
    assert not execution.doubtful


@pytest.mark.sandbox
def test_hostile_neighbour_takes_no_points_from_two_right_submissions(tmp_path):
    folder = tmp_path / "submissions"
    folder.mkdir()
    homework = Homework(
        "toy",
        "A toy",
        tuple(question(f"busy{i}", double, seconds=1.5, points=10) for i in range(2)),
    )
    right = notebook(BUSY, "busy0 = busy1 = busy")
    for name in ("b", "c"):
        (folder / f"{name}.ipynb").write_bytes(right)
    (folder / "a.ipynb").write_bytes(notebook(SPIN, "1"))
    results = grade_class.grade(
        homework, folder, tmp_path / "grades", Threads(3), limits=Limits(cell=5.0, total=60.0)
    )
    assert [sum(10 * verdict.right for verdict in result.verdicts) for result in results] == [
        0,
        20,
        20,
    ]
    assert results[0].cells[0][0] == 1


@pytest.mark.sandbox
def test_hostile_processes_stay_on_one_core():
    with Sandbox(Limits()) as sandbox:
        source = "import os\ndef cores():\n    return sorted(os.sched_getaffinity(0))"
        sandbox.ask({"do": "cell", "cell": 1, "source": source, "only_definitions": False})
        assert len(sandbox.ask({"do": "call", "answer": "cores"}, {"args": ()}).value) == 1


def test_the_clock_leaves_out_what_others_took(monkeypatch):
    """What it uses counts, and what it sleeps; where it could run and does not, nothing. And there
    is an outer bound.
    """
    now, state = [100.0], [7.0, True]
    monkeypatch.setattr(clock.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(clock, "_activity", lambda pid: tuple(state))

    def seconds(passed, used, running):
        now[0], state[0], state[1] = now[0] + passed, state[0] + used, running
        watch.look()
        return round(watch.seconds, 2)

    watch = clock.Clock(1)
    assert seconds(0.2, 0.0, running=True) == 0.0
    assert seconds(10.0, 0.0, running=True) == 0.0, "it waits for a processor"
    assert seconds(10.0, 1.5, running=True) == 1.5
    assert seconds(0.2, 0.0, running=False) == 1.7, "it sleeps"
    assert seconds(30.0, 0.0, running=False) == 2.1, "the grader itself waited for a processor"
    assert not watch.over(2.2)
    assert watch.over(2.0)
    assert watch.elapsed() > 50
    now[0] += 100
    assert watch.over(2.2)


def test_the_clock_sees_what_a_process_has_started():
    code = (
        "import subprocess, sys\nwith subprocess.Popen([sys.executable, '-c', 'while True: pass']) "
        "as p:\n    p.wait()"
    )
    with subprocess.Popen([sys.executable, "-c", code], start_new_session=True) as parent:
        while clock._activity(parent.pid)[0] < 0.3:
            time.sleep(0.05)
        assert clock._activity(parent.pid)[1]
        os.killpg(parent.pid, 9)


# --------------------------------------------------------------------------------- once more, alone


def outcome(job, submission, kind):
    verdicts = tuple(
        Verdict(key.question.name, kind == "right", kind, LOST.get(kind, "")) for key in job.keys
    )
    return replace(
        grade_one.facts(submission),
        fingerprint=job.fingerprint(submission),
        verdicts=verdicts,
        doubtful=kind != "right",
    )


@pytest.mark.parametrize("kind", ["time", "unreached", "ended", "memory"])
def test_what_was_cut_is_run_once_more_alone_before_it_is_recorded(
    submissions, pretended, tmp_path, monkeypatch, kind
):
    running, runs, together = [], {}, []

    def grade(submission, job):
        running.append(submission.student)
        runs[submission.student] = runs.get(submission.student, 0) + 1
        assert job.alone == (runs[submission.student] == 2)
        time.sleep(0.05)
        together.append((submission.student, runs[submission.student], len(running)))
        running.remove(submission.student)
        first = submission.student in ("ben", "carl") and runs[submission.student] == 1
        return outcome(job, submission, kind if first or submission.student == "carl" else "right")

    monkeypatch.setattr(grade_one, "grade_one", grade)
    results = grade_class.grade(TOY, submissions, tmp_path / "grades", Threads(4))
    assert runs == {"anna": 1, "ben": 2, "carl": 2, "dora": 1}
    assert [beside for _, run, beside in together if run == 2] == [1, 1], "alone"
    kinds = {result.student: result.verdicts[0].kind for result in results}
    assert kinds == {"anna": "right", "ben": "right", "carl": kind, "dora": "right"}
    with grade_class.Records(tmp_path / "grades") as records:
        assert sorted(student for student, _ in records.written()) == [
            "anna",
            "ben",
            "carl",
            "dora",
        ], "each is written once"
        assert records.get("ben").verdicts[0].right


def test_what_was_right_in_the_first_run_stays_right(submissions):
    (one, *_) = collect(submissions, "plain", "toy")
    first = replace(
        grade_one.facts(one),
        verdicts=(Verdict("toy.double", True, "right"), Verdict("toy.Scale", False, "time")),
        doubtful=True,
    )
    second = replace(
        first, verdicts=(Verdict("toy.double", False, "time"), Verdict("toy.Scale", True, "right"))
    )
    (result,) = executors.settled([(one, first)], lambda submission: second)
    assert [verdict.right for verdict in result.verdicts] == [True, True]
    assert not result.doubtful


HARMS = {
    "loops": "while True: pass",
    "loops on": "import signal; signal.signal(signal.SIGALRM, signal.SIG_IGN)\n{}while True: pass",
    "sleeps": "import time; time.sleep(600)",
    "sleeps at last": "import time\n{}while time.process_time() - began < 0.7: pass\n"
    "{}time.sleep(600)",
    "ends": "import os; os._exit(0)",
}
DOUBLE = question("double", double, seconds=0.5)
SHORT = Limits(cell=0.5)


@pytest.fixture
def quiet(monkeypatch):
    """A machine on which nobody waits, as far as the grader sees."""
    monkeypatch.setattr(clock.Clock, "computes", property(lambda self: self._asleep < 0.3))


@pytest.fixture
def noisy(monkeypatch):
    """One on which everybody does."""
    monkeypatch.setattr(clock.Clock, "computes", False)


@pytest.mark.sandbox
@pytest.mark.usefixtures("noisy")
@pytest.mark.parametrize("kind", HARMS)
@pytest.mark.parametrize("where", ["", "def double(x):\n    "])
def test_hostile_cells_and_answers_that_are_cut_are_in_doubt(where, kind):
    cell = f"import time; began = time.process_time()\n{where}{HARMS[kind]}"
    _, execution = graded([cell.replace("{}", "    " * bool(where))], DOUBLE, limits=SHORT)
    assert execution.doubtful


@pytest.mark.sandbox
@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("kind", ["loops", "loops on"])
@pytest.mark.parametrize("where", ["", "def double(x):\n    "])
def test_hostile_loops_that_a_quiet_machine_runs_are_in_no_doubt(where, kind):
    """They used twice their limit, and are charged once."""
    cell = f"{where}{HARMS[kind]}".replace("{}", "    " * bool(where))
    verdicts, execution = graded([cell], DOUBLE, limits=SHORT)
    assert not execution.doubtful
    assert "time" in (verdicts["double"].kind, execution.failures.get(0))
    assert execution.spent < 0.5 + 2 + 4 * clock.POLL, "the definitions of a cell have 2 s"


LONG = BUSY.replace("0.4", "1.7")


@pytest.mark.sandbox
@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("cells", [(LONG,), (f"{LONG}\nbusy(1)", "def busy(x):\n    return 2 * x")])
def test_a_little_more_than_the_limit_is_in_doubt(cells):
    """On a quiet machine it might have been a little less. Alone, the limit holds."""
    asked = question("busy", double, [Case((torch.ones(3),))], seconds=1.0)
    for alone in (False, True):
        execution = Execution(list(cells), Limits(cell=1.0), alone=alone)
        kind = execution.verdicts([AnswerKey(asked, 1)])["toy.busy"].kind
        assert "time" in (kind, execution.failures.get(0)) and execution.doubtful


@pytest.mark.sandbox
@pytest.mark.usefixtures("quiet")
def test_only_what_is_in_doubt_is_run_once_more(tmp_path, monkeypatch):
    runs = []
    original = grade_one.grade_one
    monkeypatch.setattr(
        grade_one, "grade_one", lambda one, job: runs.append(one.student) or original(one, job)
    )
    folder = tmp_path / "submissions"
    folder.mkdir()
    for name, cell in {"loops": "while True: pass", "sleeps": HARMS["sleeps"]}.items():
        (folder / f"{name}.ipynb").write_bytes(notebook(f"def double(x):\n    {cell}"))
    homework = Homework("toy", "A toy", (DOUBLE,))
    results = grade_class.grade(homework, folder, tmp_path / "grades", Threads(2), limits=SHORT)
    assert sorted(runs) == ["loops", "sleeps", "sleeps"]
    assert [result.verdicts[0].kind for result in results] == ["time", "time"]


L = 10.0  # a limit
PACES = {
    # in seconds on the wall: whether it computes in them, and what of a processor it gets
    "computes": lambda t: (True, 1.0),
    "hardly waits": lambda t: (True, 0.9),
    "waits": lambda t: (True, 0.5),
    "sleeps": lambda t: (False, 0.0),
    "computes, then sleeps": lambda t: (t < 1.5 * L, 1.0 * (t < 1.5 * L)),
    "computes, then waits": lambda t: (True, 1.0 if t < 1.2 * L else 0.1),
    "sleeps, then computes": lambda t: (t > 0.5 * L, 1.0 * (t > 0.5 * L)),
}


@pytest.mark.parametrize(
    ("pace", "alone", "used", "late", "sure"),
    [
        ("computes", False, 2 * L, True, True),
        ("hardly waits", False, 2 * L, True, True),
        ("waits", False, L, False, False),
        ("sleeps", False, 0, False, False),
        ("computes, then sleeps", False, 1.5 * L, True, False),
        ("computes, then waits", False, 1.25 * L, True, False),
        ("sleeps, then computes", False, 0.5 * L, False, False),
        ("computes", True, L, False, False),
        ("sleeps", True, 0, False, False),
    ],
)
def test_who_only_computes_goes_on_until_no_machine_explains_it(
    monkeypatch, pace, alone, used, late, sure
):
    now, state = [0.0], [0.0, True]
    monkeypatch.setattr(clock.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(clock, "_activity", lambda pid: tuple(state))
    watch = clock.Clock(1)
    allowance = Allowance(watch, L, 0.0 if alone else clock.STRETCH * L)
    while not allowance.is_up():
        state[1], share = PACES[pace](now[0])
        now[0], state[0] = now[0] + 0.2, state[0] + 0.2 * share
    assert watch.used == pytest.approx(used, abs=0.8)
    assert (allowance.late, allowance.sure) == (late, sure)
    assert allowance.charged == pytest.approx(L, abs=0.7), "for what was beyond nobody pays"
    assert not allowance.is_up(), "once"
    assert not allowance.grace_is_over
    state[0], state[1], now[0] = state[0] + GRACE + 0.2, True, now[0] + GRACE + 0.2
    assert not allowance.is_up() and allowance.grace_is_over


def test_an_answer_twice_as_slow_beside_a_neighbour_is_not_judged_by_that(monkeypatch):
    """It takes just its limit on a quiet machine, and nearly twice that in seconds of a half
    core.
    """
    now, state = [0.0], [0.0, True]
    monkeypatch.setattr(clock.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(clock, "_activity", lambda pid: tuple(state))
    allowance = Allowance(clock.Clock(1), L, clock.STRETCH * L)
    while state[0] < 1.97 * L:
        assert not allowance.is_up()
        now[0], state[0] = now[0] + 0.2, state[0] + 0.2
    assert allowance.late and not allowance.sure


def test_what_came_in_time_is_not_late_because_the_grader_was(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(clock.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(clock, "_activity", lambda pid: (0.1, True))
    allowance = Allowance(clock.Clock(1), L, clock.STRETCH * L)
    now[0] = 0.2
    assert not allowance.is_up()
    now[0] = 1000.0
    assert not allowance.late


@pytest.mark.sandbox
def test_wrong_answers_and_errors_are_in_no_doubt():
    assert not graded(["1 / 0", "def double(x):\n    return x"], question("double", double))[
        1
    ].doubtful


# -------------------------------------------------------------------------- the grader's own memory

PEAK = """
import json, os, sys
import torch
from lectures_lib.homework.diagnosis import AnswerKey
from lectures_lib.homework.grader.grading.execution import Execution
from lectures_lib.homework.grader.sandbox.template import Limits, Template
from lectures_lib.homework.questions import Case
from lectures_lib.results import peak_memory
from tests.homework.toy import question, double

def peak():
    return peak_memory() >> 20

cases = [Case((torch.randn(3),)) for _ in range(4)]
questions = [question(f"q{i}", double, cases, seconds=60.0) for i in range(4)]
keys = [AnswerKey(each, 1) for each in questions]
limits = Limits(cell=60.0, memory=3 << 30)

def graded(*cells):
    return Execution(list(cells), limits).verdicts(keys)

def grown(huge):
    before = peak()
    cell = f"import torch\\ndef q0(x):\\n    return {huge}\\nq1 = q2 = q3 = q0"
    check = "from lectures_lib.homework import check\\nfor f in (q0, q1, q2, q3):\\n    check('toy.q0', f)"
    verdicts = graded(cell, check)
    assert not any(verdict.right for verdict in verdicts.values())
    return peak() - before

right = graded("def q0(x):\\n    return 2 * x\\nq1 = q2 = q3 = q0")
assert all(verdict.right for verdict in right.values())
Template.alive = True  # a fork cannot wait for the warm process, which is its parent's child
for name, huge in json.loads(sys.argv[1]).items():
    if (fork := os.fork()) == 0:  # each begins with the memory of one that has graded a right answer
        grown("[torch.zeros(1)]")  # a fork reads files' pages again: not the answer's, they come first
        print(name, grown(huge), flush=True)
        os._exit(0)
    os.waitpid(fork, 0)
"""
HUGE = {
    "tensors": "[torch.zeros(7 << 20) + i for i in range(2)]",
    "lists": "[None] * 90_000",
    "nested": "[[[]]] * 30_000",
    "texts": "['x' * 900_000] * 4",
    "many_tensors": "[torch.zeros(1)] * 2_000",
}
BOUND = 60  # MB above what the grader takes for a small answer


@pytest.fixture(scope="module")
def megabytes():
    """{name: by how much a grader's memory grows over such an answer}."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, json.dumps(HUGE)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    grown = {name: int(told) for name, told in map(str.split, done.stdout.splitlines())}
    assert grown.keys() == HUGE.keys(), done.stderr
    return grown


@pytest.mark.sandbox
@pytest.mark.parametrize("name", HUGE)
def test_hostile_values_do_not_fill_the_grader(name, megabytes):
    assert megabytes[name] < BOUND
