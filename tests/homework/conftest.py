"""Tests marked `sandbox` run where bubblewrap does. Elsewhere they are skipped and say so; in CI
they fail.

They also fail where the sandbox is broken for any other reason than the machine.
"""

import os
import sys
from dataclasses import replace

import pytest

from lectures_lib.homework import load, question_key
from lectures_lib.homework.grader.grading import grade_class, grade_one
from lectures_lib.homework.grader.reports import gradescope
from lectures_lib.homework.grader.sandbox import bubblewrap, doors
from lectures_lib.homework.verdict import Verdict
from tests.homework.toy import notebook

_why = {}
_REASONS = (
    "not on this machine",
    "needs Linux",
    "namespace",
    "ermission denied",
    "not permitted",
    "as root",
    "Unknown option",
)


def pytest_runtest_setup(item):
    if item.get_closest_marker("sandbox") is None:
        return
    if "not" not in _why:
        try:
            doors.require()
            _why["not"] = ""
        except bubblewrap.Refused as refusal:
            _why["not"] = str(refusal)
    if not _why["not"]:
        return
    said = _why["not"].splitlines()[0]
    if os.environ.get("CI") == "true" or not any(reason in said for reason in _REASONS):
        pytest.fail(_why["not"])
    pytest.skip(_why["not"])


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch):
    """What failed in one test is no `example` in the next, and what was worked out for its checks
    is worked out anew, whichever file ran before.
    """
    question_key._worked_out.cache_clear()
    module = sys.modules["lectures_lib.homework.example"]  # the package has a function of this name
    monkeypatch.setattr(module, "_failed", {})


@pytest.fixture
def submissions(tmp_path):
    """A folder with the notebooks of four students, none of them with an answer."""
    folder = tmp_path / "submissions"
    folder.mkdir()
    for name in ("anna", "ben", "carl", "dora"):
        (folder / f"{name}.ipynb").write_bytes(notebook(f"# {name}"))
    return folder


@pytest.fixture(scope="module")
def autograder_zip(tmp_path_factory):
    """The zip of hw1 for Gradescope, with rules."""
    folder = tmp_path_factory.mktemp("autograder")
    (folder / "rules.yaml").write_text("deadline: 2026-12-01\n")
    return gradescope.autograder_zip(load("hw1"), folder / "hw1.zip", folder / "rules.yaml")


@pytest.fixture
def pretended(monkeypatch):
    """Grading without a sandbox: everyone's answers count as right. Gives the students graded, in
    order.
    """
    graded, questions = [], []

    def pretend(submission, job):
        graded.append(submission.student)
        questions.append((submission.student, len(job.keys)))
        if submission.student in broken:
            raise broken[submission.student]
        verdicts = tuple(Verdict(key.question.name, True, "right") for key in job.keys)
        return replace(
            grade_one.facts(submission), fingerprint=job.fingerprint(submission), verdicts=verdicts
        )

    broken = {}
    monkeypatch.setattr(grade_one, "grade_one", pretend)
    monkeypatch.setattr(grade_class, "_rehearse", lambda job: None)
    monkeypatch.setattr(doors, "require", lambda hidden=(), container=False: True)
    graded_and_broken = type(
        "Pretended", (), {"graded": graded, "broken": broken, "questions": questions}
    )
    return graded_and_broken
