"""A folder of submissions may hold a student's typer.py: the grader, started there, must not import
it.
"""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from lectures_lib.homework.grader.sandbox import bubblewrap, doors
from tests.homework.bank import ROOT

THIRD_PARTY = ("typer", "torch", "numpy", "rich", "yaml", "nbformat", "safetensors", "matplotlib")
OF_PYTHON = ("warnings", "contextlib", "types", "functools", "random", "json", "typing")


@pytest.fixture
def folder(tmp_path):
    """A folder with files named after what a grader imports; each tells when it is run."""
    there = tmp_path / "submissions"
    there.mkdir()
    for name in THIRD_PARTY:
        (there / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r})")
    return there


def started(folder: Path, *command: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONSAFEPATH", None)
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True
    )


def test_hostile_modules_where_a_class_is_graded(folder):
    done = started(folder, "-m", "lectures_lib.homework", "grade", "hw1", ".", "--out", "../out")
    assert not (folder.parent / "ran").exists(), (folder.parent / "ran").read_text()
    assert done.returncode == 2
    assert "you are in the folder of submissions" in " ".join(done.stderr.split())
    assert not (folder.parent / "out").exists()


def test_hostile_modules_where_notebooks_are_released(folder):
    done = started(
        folder,
        "-m",
        "lectures_lib.homework",
        "release",
        "hw1",
        "--solutions",
        ROOT / "solutions",
        "--out",
        folder.parent,
    )
    assert not (folder.parent / "ran").exists(), (folder.parent / "ran").read_text()
    assert done.returncode == 0, done.stderr


def test_hostile_modules_named_after_python_s_own(folder):
    """These come even before `python -m` reads a line of ours; the installed command does not look
    here at all, nor does -P.
    """
    for name in OF_PYTHON:
        (folder / f"{name}.py").write_text(
            f"open({str(folder.parent / 'ran')!r}, 'a').write({name!r})"
        )
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    module, _, function = scripts["lectures-homework"].partition(":")
    command = folder.parent / "lectures-homework"  # as pip writes it
    command.write_text(f"import sys\nfrom {module} import {function}\nsys.exit({function}())\n")
    for line in ([str(command)], ["-P", "-m", "lectures_lib.homework"]):
        done = started(folder, *line, "release", "--help")
        assert not (folder.parent / "ran").exists(), (folder.parent / "ran").read_text()
        assert done.returncode == 0, done.stderr
        assert "Make the student notebooks" in done.stdout


def test_hostile_modules_where_a_worker_is_started(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(
        sys, "path", [entry for entry in sys.path if Path(entry).resolve() not in (folder, ROOT)]
    )
    doors.require_own_imports()
    for entry in ("", str(folder)):
        monkeypatch.setattr(sys, "path", [entry, *sys.path])
        with pytest.raises(bubblewrap.Refused, match="PYTHONSAFEPATH=1"):
            doors.require_own_imports()


def test_hostile_bubblewrap_where_one_stands(folder, monkeypatch):
    """A program is not looked for in the working directory, whatever PATH says."""
    (folder / "bwrap").write_text("#!/bin/sh\n")
    (folder / "bwrap").chmod(0o755)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", "/nowhere"]))
    with pytest.raises(bubblewrap.Refused, match="not on this machine"):
        bubblewrap.executable()
