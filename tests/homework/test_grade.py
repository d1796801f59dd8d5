"""Grading a class: resumed after interruptions, refused without a sandbox, never brought down by one file."""

import csv
import json
import shutil
import sys

import pytest
from typer.testing import CliRunner

from lectures_lib.homework.__main__ import app
from lectures_lib.homework.diagnosis import Verdict
from lectures_lib.homework.grading import grade as grading
from lectures_lib.homework.grading.records import Result
from lectures_lib.homework.sandbox import bubblewrap, doors
from lectures_lib.homework.sandbox.template import Limits
from tests.homework.toy import QUICK, RIGHT_DOUBLE, RIGHT_SCALE, TOY, notebook


@pytest.fixture
def submissions(tmp_path):
    folder = tmp_path / "submissions"
    folder.mkdir()
    for name in ("anna", "ben", "carl", "dora"):
        (folder / f"{name}.ipynb").write_bytes(notebook(f"# {name}"))
    return folder


@pytest.fixture
def pretended(monkeypatch):
    """Grading without a sandbox: everyone's answers count as right. Gives the students graded, in order."""
    graded = []

    def grade_one(submission, homework, keys, limits):
        graded.append(submission.student)
        if submission.student in broken:
            raise broken[submission.student]
        return Result(submission.student, submission.files, "", tuple(Verdict(key.question.name, True, "right") for key in keys))

    broken = {}
    monkeypatch.setattr(grading, "grade_one", grade_one)
    monkeypatch.setattr(grading, "_rehearse", lambda keys, limits: None)
    monkeypatch.setattr(doors, "require", lambda hidden=(): True)
    graded_and_broken = type("Pretended", (), {"graded": graded, "broken": broken})
    return graded_and_broken


def test_an_interrupted_run_goes_on(submissions, pretended, tmp_path):
    out = tmp_path / "grades"
    pretended.broken["carl"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        grading.grade(TOY, submissions, out)
    assert not (out / "grades.csv").exists()
    seed = json.loads((out / "grading.json").read_text())["seed"]
    del pretended.broken["carl"]
    first = list(pretended.graded)
    results = grading.grade(TOY, submissions, out)
    assert [result.student for result in results] == ["anna", "ben", "carl", "dora"]
    again = pretended.graded[len(first) :]
    assert "carl" in again
    assert "anna" not in again
    assert json.loads((out / "grading.json").read_text())["seed"] == seed
    (submissions / "ben.ipynb").write_bytes(notebook("# changed"))
    done = len(pretended.graded)
    grading.grade(TOY, submissions, out, workers=3)
    assert pretended.graded[done:] == ["ben"]
    assert len(list((out / "feedback").iterdir())) == 4


def test_a_fault_of_the_grader_costs_one_row_and_is_tried_again(submissions, pretended, tmp_path):
    pretended.broken["ben"] = RuntimeError("a bug")
    results = grading.grade(TOY, submissions, tmp_path / "grades")
    assert "fault of the grader" in results[1].problem
    del pretended.broken["ben"]
    results = grading.grade(TOY, submissions, tmp_path / "grades")
    assert results[1].problem == ""
    assert pretended.graded.count("ben") == 2
    assert pretended.graded.count("anna") == 1


def test_one_folder_holds_one_run(submissions, pretended, tmp_path):
    out = tmp_path / "grades"
    grading.grade(TOY, submissions, out, seed=7)
    grading.grade(TOY, submissions, out, seed=7)
    with pytest.raises(ValueError, match="with seed 7"):
        grading.grade(TOY, submissions, out, seed=8)
    with pytest.raises(ValueError, match="lies in the folder"):
        grading.grade(TOY, submissions, submissions / "grades")
    first, second = (tmp_path / name for name in ("one", "two"))
    for folder in (first, second):
        grading.grade(TOY, submissions, folder)
    seeds = [json.loads((folder / "grading.json").read_text())["seed"] for folder in (first, second)]
    assert seeds[0] != seeds[1]


def refused(*arguments):
    done = CliRunner().invoke(app, ["grade", *map(str, arguments)])
    assert done.exit_code == 2
    return " ".join(done.output.split())


def test_without_bubblewrap_nothing_is_graded(submissions, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda program: None)
    out = tmp_path / "grades"
    said = refused("hw1", submissions, "--out", out)
    assert "sudo apt-get install bubblewrap" in said or "setpriv" in said
    assert not out.exists()


def test_elsewhere_than_on_linux_nothing_is_graded(submissions, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "needs Linux" in refused("hw1", submissions, "--out", tmp_path / "grades")


@pytest.mark.parametrize(
    ("complaint", "remedy"),
    [
        ("bwrap: No permissions to create new namespace", "user namespaces"),
        ("bwrap: setting up uid map: Permission denied", "apparmor_restrict_unprivileged_userns=0"),
        ("bwrap: Can't find source path /private/x: Permission denied", "readable for every user"),
    ],
)
def test_a_sandbox_that_does_not_start_is_explained(submissions, tmp_path, monkeypatch, complaint, remedy):
    monkeypatch.setattr(bubblewrap, "command", lambda program, filter_fd: ["sh", "-c", f'echo "{complaint}" >&2; exit 1'])
    said = refused("hw1", submissions, "--out", tmp_path / "grades")
    assert complaint in said
    assert remedy in said


def test_a_sandbox_with_an_open_door_is_refused(submissions, tmp_path, monkeypatch):
    monkeypatch.setattr(doors, "_try_doors", lambda paths: ["there is a network"])
    assert "not shut: there is a network" in refused("hw1", submissions, "--out", tmp_path / "grades")


def test_what_is_asked_for_must_exist(submissions, tmp_path):
    assert "there is hw1" in refused("hw0", submissions, "--out", tmp_path / "grades")
    assert "there is no" in refused("hw1", tmp_path / "nowhere", "--out", tmp_path / "grades")


@pytest.mark.sandbox
def test_a_class_in_the_sandbox(tmp_path):
    """Names that are formulas or markup, files that are no notebooks, and honest work, in one run."""
    folder = tmp_path / "submissions"
    folder.mkdir()
    right = notebook("import lectures_lib", "lectures_lib.setup()", RIGHT_DOUBLE, RIGHT_SCALE)
    (folder / '=HYPERLINK("http:,,x").ipynb').write_bytes(right)
    (folder / "<script>alert(1)<,script>.ipynb").write_bytes(notebook("def double(x):\n    return x**2"))
    (folder / "zero.ipynb").write_bytes(b"")
    (folder / "deep.ipynb").write_bytes(b"[" * 100_000)
    results = grading.grade(TOY, folder, tmp_path / "grades", workers=2, limits=QUICK)
    assert [sum(verdict.right for verdict in result.verdicts) for result in results] == [0, 2, 0, 0]
    with (tmp_path / "grades" / "grades.csv").open(newline="") as file:
        table = list(csv.reader(file))
    assert table[2][:4] == ['\'=HYPERLINK("http:,,x")', "3", "2", "1"]
    assert table[1][-1] == "double: squares; Scale: missing"
    assert not [path for path in (tmp_path / "grades" / "feedback").iterdir() if "<script" in path.read_text(encoding="utf-8")]


@pytest.mark.sandbox
def test_a_broken_installation_gives_no_zeros(tmp_path, monkeypatch):
    """If answers cannot come back at all, that is no student's fault."""
    (tmp_path / "submissions").mkdir()
    (tmp_path / "submissions" / "anna.ipynb").write_bytes(notebook(RIGHT_DOUBLE))
    monkeypatch.setitem(bubblewrap.ENVIRONMENT, "PYTHONHOME", "/nowhere")
    with pytest.raises(bubblewrap.Refused, match="does not start"):
        grading.grade(TOY, tmp_path / "submissions", tmp_path / "grades")
    monkeypatch.delitem(bubblewrap.ENVIRONMENT, "PYTHONHOME")
    with pytest.raises(bubblewrap.Refused, match="do not come back"):
        grading.grade(TOY, tmp_path / "submissions", tmp_path / "grades", limits=Limits(memory=-(1 << 40), restarts=0))
    assert not (tmp_path / "grades" / "grades.csv").exists()


@pytest.mark.sandbox
def test_submissions_that_the_sandbox_would_show_are_refused(monkeypatch):
    with pytest.raises(bubblewrap.Refused, match="can be read"):
        doors.require(hidden=[bubblewrap.PACKAGE / "attention.py"])
