"""A class graded by a Dask cluster: two worker processes, one of them killed midway; everybody is
graded once, and rightly.
"""

import csv
import subprocess
import sys
import time

import pytest
from distributed import Client

from lectures_lib.homework.grader.grading import executors
from lectures_lib.homework.grader.grading.records import Records
from lectures_lib.homework.grader.sandbox.template import Limits
from tests.homework.bank import ROOT
from tests.homework.cluster import cluster
from tests.homework.synthetic_class import build, misgraded

pytestmark = pytest.mark.sandbox


def test_a_class_on_two_workers_of_which_one_dies(tmp_path):
    (tmp_path / "submissions").mkdir()
    known = build(tmp_path / "submissions", 16, seed=1)
    out = tmp_path / "grades"
    command = [
        sys.executable,
        "-m",
        "lectures_lib.homework",
        "grade",
        "hw2",
        tmp_path / "submissions",
        "--out",
        out,
    ]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    command += ["--cell-seconds", "1.5", "--seed", "20261121", "--executor", "dask", "--scheduler"]
    with cluster(tmp_path, workers=2) as (address, workers):
        wait_for_workers(address, 2)
        with subprocess.Popen([*map(str, command), address], cwd=ROOT, **pipes) as running:
            patience = time.monotonic() + 300
            while count(out) < 6 and running.poll() is None and time.monotonic() < patience:
                time.sleep(0.1)
            workers[0].kill()
            said = running.communicate(timeout=600)[1]
            assert running.returncode == 0, said
        assert workers[1].poll() is None
    with (out / "grades.csv").open(newline="", encoding="utf-8") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert misgraded(known, rows) == []
    with Records(out) as records:
        assert sorted(student for student, _ in records.written()) == sorted(known), (
            "each result is written once"
        )


def count(out):
    if not (out / "results.sqlite").exists():
        return 0
    with Records(out) as records:
        return len(records.written())


def wait_for_workers(address, count):
    with Client(address, timeout=600) as client:
        client.wait_for_workers(count, timeout=120)


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setattr(executors, "PATIENCE", 2)
    with pytest.raises(ValueError, match=r"no Dask scheduler answers at tcp://127.0.0.1:9"):
        executors.Dask("tcp://127.0.0.1:9")


def test_a_worker_with_another_question_bank_refuses():
    order = ("hw1", 0, (), Limits(), "another")
    with pytest.raises(executors.bubblewrap.Refused, match="install the same version on both"):
        executors._made(*order)
