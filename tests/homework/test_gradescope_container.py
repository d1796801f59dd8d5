"""Grading in a container as Gradescope's is said to be: without namespaces, behind weaker walls."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lectures_lib.homework import load
from lectures_lib.homework.__main__ import app
from lectures_lib.homework.grader.reports import gradescope
from lectures_lib.homework.grader.sandbox import bubblewrap, doors, guest, template
from tests.homework.gradescope_format import conforming
from tests.homework.toy import notebook

CURIOUS = """
import ctypes, glob, os, signal, socket, subprocess, sys, time

def tried(name, attempt):
    try:
        return f"{name}: {attempt()}"
    except BaseException as error:
        return f"{name}: no ({type(error).__name__})"

BANK = "/opt/grader/lectures_lib/homework/banks/hw1/causal.py"
ROOT = "/opt/autograder"
FOUND = [
    tried("bank", lambda: open(BANK).read(9)),
    tried("source", lambda: os.listdir(ROOT + "/source")),
    tried("submission", lambda: os.listdir(ROOT + "/submission")),
    tried("results", lambda: open(ROOT + "/results/results.json", "w").write("{}")),
    tried("import", lambda: __import__("lectures_lib.homework.banks.hw1")),
    tried("network", lambda: socket.create_connection(("127.0.0.1", 9))),
    tried("internet", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).fileno()),
    tried("root", lambda: os.setuid(0)),
    tried("kill", lambda: os.kill(os.getppid(), signal.SIGKILL)),
    tried("memory", lambda: open(f"/proc/{os.getppid()}/mem", "r+b").fileno()),
    tried("environment", lambda: open(f"/proc/{os.getppid()}/environ").read()),
    tried("package", lambda: open("/opt/grader/lectures_lib/modes.py", "a").fileno()),
    tried("namespace", lambda: 1 / (ctypes.CDLL(None).unshare(0x10000000) == 0)),
    tried("orphans", lambda: 1 / (ctypes.CDLL(None).prctl(36, 0, 0, 0, 0) == 0)),
]
if os.fork() == 0:  # a process that wants to outlive its notebook
    os.setsid()
    if os.fork() == 0:
        for number in range(1, 32):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        open("/tmp/left", "w").write("here")
        time.sleep(600)
    os._exit(0)
"""
STATUS = "/proc/[0-9]*/status"
TOLD = "def causal_mask(n, past=0):\n    raise ValueError(' | '.join(FOUND))"
RIGHT_MASK = (
    "import torch\ndef causal_mask(n, past=0):\n    "
    "return torch.ones(n, past + n, dtype=torch.bool).tril(past)"
)
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a container")


def in_a_container(archive: Path, root: Path, *cells: str) -> tuple[dict, str]:
    """What run_autograder writes and says in a container without namespaces, for these cells."""
    grader, autograder = root / "grader", root / "autograder"
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(autograder / "source")
        packed.extractall(grader, [n for n in packed.namelist() if n.startswith("lectures_lib/")])
    (autograder / "source" / "rules.yaml").unlink()
    (autograder / "submission").mkdir()
    (autograder / "submission" / "hw1.ipynb").write_bytes(notebook(*cells))
    script = (autograder / "source" / "run_autograder").read_text()
    script = script.replace("root=/autograder\n", "root=/opt/autograder\n")
    script = script.replace("python=/opt/grader/bin/python\n", f"python={sys.executable}\n")
    (autograder / "run_autograder").write_text(script)
    done = subprocess.run(
        [
            *(sys.executable, Path(__file__).with_name("container.py"), grader, autograder),
            *("bash", "-c", f"bash run_autograder; ls -A /tmp; grep -h {guest.USER} {STATUS}"),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        env={
            **os.environ,
            "PYTHONPATH": str(gradescope.PACKAGE.parent),
            "CONTAINER": json.dumps({"PYTHONPATH": "/opt/grader"}),
        },
    )
    assert (autograder / "results").is_dir(), done.stderr
    text = (autograder / "results" / "results.json").read_text()
    return conforming(text), done.stdout + done.stderr


def test_the_weaker_walls_are_for_no_class(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "ada.ipynb").write_bytes(notebook("x = 1"))
    command = ["grade", "hw1", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--container"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 2 and not (tmp_path / "out").exists()
    assert "belongs to --gradescope" in " ".join(done.output.split())


def test_where_neither_wall_can_be_put_up_both_reasons_are_told(tmp_path, monkeypatch):
    def refused(paths):
        raise bubblewrap.Refused("No permissions to create new namespace.")

    monkeypatch.setattr(doors, "_try_doors", refused)
    monkeypatch.setattr(guest.os, "geteuid", lambda: 1000)
    with pytest.raises(bubblewrap.Refused, match="No permissions") as without:
        doors.require([tmp_path])
    assert "--container" not in str(without.value), "nobody asked for them"
    with pytest.raises(bubblewrap.Refused, match="No permissions") as told:
        doors.require([tmp_path], container=True)
    assert "Nor do the weaker walls of --container: they need root" in str(told.value)
    assert not template.as_guest()
    template.use(warm=True)


@needs_root
@pytest.mark.sandbox
def test_a_container_without_namespaces_grades_and_says_how(autograder_zip, tmp_path):
    told, said = in_a_container(autograder_zip, tmp_path, RIGHT_MASK)
    assert told.get("score") == 2.0, said
    *asked, how = told["tests"]
    assert len(asked) == len(load("hw1").questions)
    right = next(test for test in asked if test["status"] == "passed")
    assert right["name"] == "Question 3: Not looking ahead"
    assert (how["visibility"], how["score"], how["max_score"]) == ("hidden", 0.0, 0.0)
    for words in ("no user namespaces", "weaker walls", "fill its disk", "a container of its own"):
        assert words in how["output"]
        assert words not in json.dumps([told["output"], *asked])


@needs_root
@pytest.mark.sandbox
def test_hostile_code_in_a_container_without_namespaces(autograder_zip, tmp_path):
    """What the page says that it cannot do there."""
    told, said = in_a_container(autograder_zip, tmp_path, CURIOUS, TOLD)
    assert told.get("score") == 0.0, said
    found = next(t["output"] for t in told["tests"] if t["name"].startswith("Question 3"))
    assert "bank: no (PermissionError)" in found, found
    for name in ("source", "submission", "results", "network", "internet", "root", "kill"):
        assert f"{name}: no (PermissionError)" in found, found
    for name in ("import", "memory", "environment", "package", "namespace", "orphans"):
        assert f"{name}: no (" in found, found
    after = said.partition("class_report.html")[2].split()
    assert after == [], f"left behind: {after}"
