"""The zip that Gradescope builds an autograder of, and what its script hands over; nothing is run
without the sandbox.
"""

import errno
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lectures_lib.homework import load
from lectures_lib.homework.grader.grading import course_file
from lectures_lib.homework.grader.grading.rules import Rules
from lectures_lib.homework.grader.reports import gradescope
from tests.homework.gradescope_format import conforming
from tests.homework.toy import TOY, notebook


@pytest.fixture
def container(autograder_zip, tmp_path):
    """Gradescope's folders, below another root than /autograder: the zip unpacked in source/,
    run_autograder beside it.
    """
    root = tmp_path / "autograder"
    with zipfile.ZipFile(autograder_zip) as packed:
        packed.extractall(root / "source")
    (root / "source" / "rules.yaml").unlink()
    (root / "submission").mkdir()
    return root


def run(root: Path, python: str, **environment: str) -> subprocess.CompletedProcess:
    """run_autograder, with this root and this Python in place of the container's."""
    text = (
        (root / "source" / "run_autograder")
        .read_text()
        .replace("root=/autograder\n", f"root={root}\n")
    )
    script = root / "run_autograder"
    script.write_text(text.replace("python=/opt/grader/bin/python\n", f"python={python}\n"))
    assert str(root) in script.read_text()
    assert python in script.read_text()
    return subprocess.run(
        ["bash", script],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=root,
        env={**os.environ, **environment},
    )


def test_the_zip_holds_what_the_grader_needs_and_nothing_else(autograder_zip):
    with zipfile.ZipFile(autograder_zip) as packed:
        names = packed.namelist()
        modes = {entry.filename: entry.external_attr >> 16 for entry in packed.infolist()}
        text = {name: packed.read(name).decode() for name in names if "/" not in name}
    package = Path(gradescope.PACKAGE)
    for name in (
        "setup.sh",
        "run_autograder",
        "not_graded.py",
        "rules.yaml",
        "constraints.txt",
        "pyproject.toml",
    ):
        assert name in names
    for name in (
        "homework/banks/hw1/causal.py",
        "homework/grader/reports/class_report.html",
        "homework/grader/reports/page.css",
        "homework/grader/sandbox/seccomp.py",
    ):
        assert f"lectures_lib/{name}" in names
    assert len([name for name in names if name.endswith(".py")]) >= len(list(package.glob("*.py")))
    assert {name.split("/")[0] for name in names if "/" in name} == {"lectures_lib"}
    assert not [
        name
        for name in names
        if "__pycache__" in name or name.endswith((".pyc", ".ipynb")) or "test_" in name
    ]
    assert {name for name, mode in modes.items() if mode & 0o111} == {"setup.sh", "run_autograder"}
    assert "grade hw1 " in text["run_autograder"]
    for script in ("setup.sh", "run_autograder"):
        assert text[script].startswith("#!/usr/bin/env bash\n")
        assert "http" not in text[script]
    assert re.search(r"^torch==", text["constraints.txt"], re.MULTILINE)


def test_the_scripts_are_bash_and_the_zip_is_the_same_every_time(
    autograder_zip, container, tmp_path
):
    for script in ("setup.sh", "run_autograder"):
        subprocess.run(["bash", "-n", container / "source" / script], check=True)
    again = gradescope.autograder_zip(
        load("hw1"), tmp_path / "again.zip", autograder_zip.with_name("rules.yaml")
    )
    assert again.read_bytes() == autograder_zip.read_bytes()
    assert not [*tmp_path.glob("*.draft")]


def test_what_the_rules_say_of_students_stays_out_of_the_zip(tmp_path):
    """The zip goes to a platform; there is no need of names, excuses and comments in it."""
    course = tmp_path / "course.yml"
    course.write_text(
        """
late: {percent_per_day: 10}
variant: 2027
homework:
  hw1:
    deadline: 2026-10-12 23:59 Europe/Berlin
    points: {causal_mask: 2.5}
    by_hand: {why: {points: 2, title: Scale, asks: "Why √d_k?"}}
    marks: [marking/anna.csv]
    extensions: {ada: 2026-10-19T23:59+02:00}
    handed_in: {ada: 2026-10-13 08:00 Europe/Berlin}
    excused: {ada: [padding_mask]}
    decisions: {ada: {causal_mask: {points: 1, comment: "Ill."}}}
  hw2: {excused: {ada: all}}
"""
    )
    path = gradescope.autograder_zip(load("hw1"), tmp_path / "hw1.zip", course)
    with zipfile.ZipFile(path) as packed:
        inside = packed.read("rules.yaml").decode()
    assert "ada" not in inside and "anna" not in inside and "hw2" not in inside
    (tmp_path / "rules.yaml").write_text(inside)
    there, here = (
        course_file.load(tmp_path / name, load("hw1")) for name in ("rules.yaml", "course.yml")
    )
    for_everybody = ("deadline", "points", "by_hand", "late", "variant")
    assert [getattr(there, key) for key in for_everybody] == [
        getattr(here, key) for key in for_everybody
    ]
    course.write_text("homework:\n  hw2: {}\n")
    gradescope.autograder_zip(load("hw1"), path, course)
    with zipfile.ZipFile(path) as packed:
        (tmp_path / "rules.yaml").write_bytes(packed.read("rules.yaml"))
    assert course_file.load(tmp_path / "rules.yaml", load("hw1")) == Rules()


def test_where_there_is_no_room_the_zip_of_before_stays(tmp_path, monkeypatch):
    def full(fd):
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "hw1.zip").write_text("before")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        gradescope.autograder_zip(load("hw1"), tmp_path / "hw1.zip")
    assert [path.name for path in tmp_path.iterdir()] == ["hw1.zip"]
    assert (tmp_path / "hw1.zip").read_text() == "before"


def test_without_a_checkout_there_is_no_zip(tmp_path, monkeypatch):
    shutil.copytree(
        gradescope.PACKAGE / "homework" / "grader" / "reports", tmp_path / "lectures_lib"
    )
    monkeypatch.setattr(gradescope, "PACKAGE", tmp_path / "lectures_lib")
    with pytest.raises(
        FileNotFoundError,
        match=r"no pyproject.toml and no constraints.txt .*: make the autograder from a checkout",
    ):
        gradescope.autograder_zip(TOY, tmp_path / "x.zip")


def pretended(root: Path, body: str) -> str:
    """A Python that does this in place of grading; "$@" are the arguments."""
    path = root / "python"
    path.write_text(f"#!/usr/bin/env bash\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_run_autograder_hands_over_what_the_grader_writes(container):
    arguments = (
        'printf "%s\\n" "$@" >"$(dirname "$0")/arguments"; out="${@: -1}"; echo "{\\"score\\": 1}" '
        '>"$out"; echo graded'
    )
    (container / "source" / "rules.yaml").write_text("points: {}\n")
    done = run(container, pretended(container, arguments))
    assert done.returncode == 0, done.stderr
    assert "graded" in done.stdout
    assert json.loads((container / "results" / "results.json").read_text()) == {"score": 1}
    given = (container / "arguments").read_text().split("\n")
    assert given[:5] == [
        "-m",
        "lectures_lib.homework",
        "grade",
        "hw1",
        str(container / "submission"),
    ]
    assert given[given.index("--rules") + 1] == str(container / "source" / "rules.yaml")
    assert given[given.index("--kind") + 1] == "plain"


@pytest.mark.parametrize(
    "body",
    [
        "echo 'No sandbox here.' >&2; exit 2",
        "echo 'No sandbox here.'",
        "echo 'No sandbox here.'; kill -9 $$",
    ],
)
def test_run_autograder_says_that_nothing_was_graded(container, body):
    """Refused, ended without a result, or killed: never an old result, never points."""
    (container / "results").mkdir()
    (container / "results" / "results.json").write_text('{"score": 99}')
    done = run(container, pretended(container, body))
    assert done.returncode == 0
    assert "No sandbox here." in done.stdout
    told = conforming((container / "results" / "results.json").read_text())
    assert "score" not in told
    assert "No sandbox here." in told["tests"][1]["output"]
    assert "lectures-homework grade hw1 submissions.zip" in told["tests"][1]["output"]


@pytest.mark.sandbox
def test_run_autograder_grades(container):
    """The package as it lies in the zip, a real submission, the real sandbox."""
    (container / "submission" / "hw1.ipynb").write_bytes(
        notebook(
            "import torch\ndef causal_mask(n, past=0):\n    return torch.ones(n, past + n, "
            "dtype=torch.bool).triu(past)"
        )
    )
    (container / "submission" / "json.py").write_text(
        "raise SystemExit('the grader imported a file of the student')"
    )
    done = run(container, sys.executable, PYTHONPATH=str(container / "source"))
    told = conforming((container / "results" / "results.json").read_text())
    assert "score" in told, done.stdout
    causal = next(
        test for test in told["tests"] if test["name"].startswith("Question 3: Not looking ahead")
    )
    assert causal["status"] == "failed"
    assert "sees the future" in causal["name"]


@pytest.mark.sandbox
def test_hostile_container_without_namespaces_is_refused(container):
    """No user namespaces, as in many containers, and no other user who could reach the course:
    nothing runs, and the instructor is told what to do.
    """
    folder = container / "bin"
    folder.mkdir()
    bwrap = folder / "bwrap"
    bwrap.write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
    )
    bwrap.chmod(0o755)
    (container / "submission" / "hw1.ipynb").write_bytes(notebook("open('/tmp/ran', 'w')"))
    run(
        container,
        sys.executable,
        PYTHONPATH=str(container / "source"),
        PATH=f"{folder}:{os.environ['PATH']}",
    )
    told = conforming((container / "results" / "results.json").read_text())
    assert "score" not in told
    assert "user namespaces" in told["tests"][1]["output"]
