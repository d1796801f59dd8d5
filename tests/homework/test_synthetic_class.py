"""A class whose grades are known beforehand, killed while it is graded and graded on: every grade
is right, and nothing is done twice.
"""

import csv
import signal
import subprocess
import sys
import time

import pytest

from lectures_lib.homework.grader.grading.records import Records
from tests.homework.bank import ROOT
from tests.homework.synthetic_class import build, misgraded

pytestmark = pytest.mark.sandbox
SIZE = 24


def grade(folder, *more):
    """The command, started."""
    command = [
        sys.executable,
        "-m",
        "lectures_lib.homework",
        "grade",
        "hw2",
        folder / "submissions",
        "--out",
        folder / "grades",
    ]
    command += ["--workers", "2", "--seed", "20261121", "--cell-seconds", "1.5", *more]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(list(map(str, command)), cwd=ROOT, preexec_fn=hears_ctrl_c, **pipes)


def hears_ctrl_c():
    """Where the tests run in the background of a shell, Ctrl-C is ignored, and so it would be by
    whatever they start.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def written(out):
    """The students whose results are kept by now."""
    if not (out / "results.sqlite").exists():
        return []
    with Records(out) as records:
        return [student for student, _ in records.written()]


def wait_for(count, running, out):
    patience = time.monotonic() + 300
    while len(written(out)) < count and running.poll() is None and time.monotonic() < patience:
        time.sleep(0.1)
    assert running.poll() is None, running.stderr.read()


def rows(out):
    with (out / "grades.csv").open(newline="", encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


@pytest.fixture
def known(tmp_path):
    (tmp_path / "submissions").mkdir()
    return build(tmp_path / "submissions", SIZE)


def test_hostile_class_killed_and_interrupted_and_graded_on(known, tmp_path):
    out = tmp_path / "grades"
    for count, how in ((5, signal.SIGKILL), (12, signal.SIGINT)):
        with grade(tmp_path) as running:
            wait_for(count, running, out)
            running.send_signal(how)
            assert running.wait(timeout=600) == (-9 if how is signal.SIGKILL else 130)
        assert not (out / "grades.csv").exists()
    with grade(tmp_path) as running:
        said = running.communicate(timeout=600)[1]
        assert running.returncode == 0, said
    assert misgraded(known, rows(out)) == []
    assert sorted(written(out)) == sorted(known), "each result is written once"
