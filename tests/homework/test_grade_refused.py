"""Without a sandbox whose doors are shut nothing is graded, and the instructor is told what to do."""

import shutil
import sys

import pytest
from typer.testing import CliRunner

from lectures_lib.homework.__main__ import app
from lectures_lib.homework.grader.sandbox import bubblewrap, doors


def refused(*arguments):
    done = CliRunner().invoke(app, ["grade", *map(str, arguments)])
    assert done.exit_code == 2
    return " ".join(done.output.split())


def test_without_bubblewrap_nothing_is_graded(submissions, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda program, path=None: None)
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
        ("bwrap: Unknown option --size", "too old; 0.8 is known to do"),
        ("bwrap: Can't find source path /private/x: Permission denied", "readable for every user"),
    ],
)
def test_a_sandbox_that_does_not_start_is_explained(
    submissions, tmp_path, monkeypatch, complaint, remedy
):
    monkeypatch.setattr(
        bubblewrap,
        "command",
        lambda program, filter_fd, **_: ["sh", "-c", f'echo "{complaint}" >&2; exit 1'],
    )
    said = refused("hw1", submissions, "--out", tmp_path / "grades")
    assert complaint in said
    assert remedy in said


def test_a_sandbox_with_an_open_door_is_refused(submissions, tmp_path, monkeypatch):
    monkeypatch.setattr(doors, "_try_doors", lambda paths: ["there is a network"])
    assert "not shut: there is a network" in refused(
        "hw1", submissions, "--out", tmp_path / "grades"
    )


def test_what_is_asked_for_must_exist(submissions, tmp_path):
    assert "there is hw1" in refused("hw0", submissions, "--out", tmp_path / "grades")
    assert "there is no" in refused("hw1", tmp_path / "nowhere", "--out", tmp_path / "grades")


@pytest.mark.sandbox
def test_submissions_that_the_sandbox_would_show_are_refused(monkeypatch):
    with pytest.raises(bubblewrap.Refused, match="can be read"):
        doors.require(hidden=[bubblewrap.PACKAGE / "blocks" / "attention.py"])
