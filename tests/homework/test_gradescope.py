"""Gradescope: results.json as its autograders write it, and a zip that it can build and run;
nothing is run without the sandbox.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lectures_lib.homework import load
from lectures_lib.homework.__main__ import app
from lectures_lib.homework.grader.grading.records import Result
from lectures_lib.homework.grader.reports import gradescope
from lectures_lib.homework.grader.reports.not_graded import not_graded
from lectures_lib.homework.grader.sandbox import bubblewrap, doors, guest, template
from lectures_lib.homework.verdict import Verdict
from tests.homework.toy import TOY, notebook
from tests.homework.toy_results import Late, result

# What Gradescope's specification allows, by hand from its text.
TOP = {
    "score",
    "execution_time",
    "output",
    "output_format",
    "test_output_format",
    "test_name_format",
    "visibility",
    "stdout_visibility",
}
TOP |= {"extra_data", "tests", "leaderboard"}
TEST = {
    "score",
    "max_score",
    "status",
    "name",
    "name_format",
    "number",
    "output",
    "output_format",
    "tags",
    "visibility",
    "extra_data",
}
FORMATS = {"text", "html", "simple_format", "md", "ansi"}
VISIBILITY = {"hidden", "after_due_date", "after_published", "visible"}


def conforming(text: str) -> dict:
    """The JSON, held against the specification."""
    content = json.loads(text)
    assert set(content) <= TOP
    assert "score" in content or all("score" in test for test in content["tests"])
    assert content["visibility"] in VISIBILITY
    assert content["stdout_visibility"] in VISIBILITY
    assert content["output_format"] in FORMATS
    for test in content["tests"]:
        assert set(test) <= TEST
        assert isinstance(test["score"], float)
        assert isinstance(test["output"], str)
        assert test["status"] in {"passed", "failed"}
        assert test["output_format"] in FORMATS
        assert test["visibility"] in VISIBILITY
    return content


def test_results_as_gradescope_reads_them():
    told = conforming(gradescope.results(TOY, result(cells=((2, "KeyError: 'a'"),)), Late()))
    assert told["score"] == 0.5
    assert told["stdout_visibility"] == "hidden"
    assert "Late: 0.5 points less." in told["output"]
    assert "Code cell 2 stopped" in told["output"]
    wrong, right = told["tests"]
    assert (wrong["name"], wrong["score"], wrong["max_score"], wrong["status"]) == (
        "Question 1: Double – squares",
        0.0,
        2.0,
        "failed",
    )
    assert (
        right["name"],
        right["score"],
        right["max_score"],
        right["status"],
        right["output"],
    ) == ("Question 2: Scale", 1.0, 1.0, "passed", "")
    for words in (
        "where 2 < 3",
        "On: a vector of 3 numbers.",
        "[0] is 4, expected 2.",
        "Reread: chapter 2, masks",
    ):
        assert words in wrong["output"]


def test_results_of_a_file_that_could_not_be_read():
    told = conforming(gradescope.results(TOY, result(verdicts=(), problem="The file is empty.")))
    assert (told["score"], told["output"]) == (
        0.0,
        "The file could not be graded. The file is empty.",
    )
    assert [(test["score"], test["max_score"], test["status"]) for test in told["tests"]] == [
        (0.0, 2.0, "failed"),
        (0.0, 1.0, "failed"),
    ]


@pytest.mark.parametrize(
    "hostile", ["\ud800", "\x00\x1b[31m", "\u202egnp", "<script>", '"}], "score": 100, "x": [{"']
)
def test_hostile_text_in_results(hostile):
    verdict = Verdict("toy.double", False, "raised", hostile, on=hostile)
    told = conforming(
        gradescope.results(TOY, result(verdicts=(verdict, verdict), cells=((1, hostile),)))
    )
    assert told["score"] == 0.0
    assert not re.search("[\x00-\x08\x1b\u202e\ud800]", json.dumps(told, ensure_ascii=False))
    conforming(gradescope.results(TOY, result(problem=hostile)))


def test_one_notebook_counts_whatever_lies_beside_it():
    picture = Result("picture", ("picture.png",), "", problem="This is no notebook: picture.png.")
    assert conforming(gradescope.for_one_student(TOY, [result(), picture]))["score"] == 1.0
    assert "This is no notebook" in conforming(gradescope.for_one_student(TOY, [picture]))["output"]
    told = conforming(gradescope.for_one_student(TOY, [result(), result("ben")]))
    assert told["score"] == 0.0
    assert (
        "There are 2 notebooks: anna.ipynb, ben.ipynb. Hand in the one that counts"
        in told["output"]
    )
    with pytest.raises(ValueError, match="no submission"):
        gradescope.for_one_student(TOY, [])


def test_what_was_not_graded_gives_no_points_and_hides_the_reason_from_students():
    told = conforming(json.dumps(not_graded("bwrap: {no}", "hw3")))
    assert [(test["score"], test["max_score"], test["visibility"]) for test in told["tests"]] == [
        (0.0, 0.0, "visible"),
        (0.0, 0.0, "hidden"),
    ]
    student, instructor = told["output"] + told["tests"][0]["output"], told["tests"][1]["output"]
    assert "bwrap: {no}" in instructor
    assert "bwrap: {no}" not in student


def test_what_was_not_graded_tells_each_what_to_do():
    """The student nothing of the machinery; the instructor commands that run as they stand."""
    told = not_graded("bwrap: no", "hw3")
    for words in ("has arrived", "not your fault", "no grade", "tell your instructor"):
        assert words in told["output"]
    for words in ("sandbox", "hw3", "HOMEWORK", "namespace", "--"):
        assert words not in told["output"]
    instructor = told["tests"][1]["output"]
    commands = re.findall(r"^    lectures-homework (.*)$", instructor, re.MULTILINE)
    assert [command.split()[:2] for command in commands] == [
        ["grade", "hw3"],
        ["autograder", "hw3"],
    ]
    assert not re.search(r"\b[A-Z]{3,}\b|[@{}<>]", instructor)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("autograder")
    (folder / "rules.yaml").write_text("deadline: 2026-12-01\n")
    return gradescope.autograder_zip(load("hw1"), folder / "hw1.zip", folder / "rules.yaml")


@pytest.fixture
def container(archive, tmp_path):
    """Gradescope's folders, below another root than /autograder: the zip unpacked in source/,
    run_autograder beside it.
    """
    root = tmp_path / "autograder"
    with zipfile.ZipFile(archive) as packed:
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


def test_the_zip_holds_what_the_grader_needs_and_nothing_else(archive):
    with zipfile.ZipFile(archive) as packed:
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


def test_the_scripts_are_bash_and_the_zip_is_the_same_every_time(archive, container, tmp_path):
    for script in ("setup.sh", "run_autograder"):
        subprocess.run(["bash", "-n", container / "source" / script], check=True)
    again = gradescope.autograder_zip(
        load("hw1"), tmp_path / "again.zip", archive.with_name("rules.yaml")
    )
    assert again.read_bytes() == archive.read_bytes()
    assert [path.name for path in tmp_path.glob("*.tmp")] == []


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


# --------------------------------------------------------- a container as Gradescope's is said to be

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
def test_a_container_without_namespaces_grades_and_says_how(archive, tmp_path):
    told, said = in_a_container(archive, tmp_path, RIGHT_MASK)
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
def test_hostile_code_in_a_container_without_namespaces(archive, tmp_path):
    """What the page says that it cannot do there."""
    told, said = in_a_container(archive, tmp_path, CURIOUS, TOLD)
    assert told.get("score") == 0.0, said
    found = next(t["output"] for t in told["tests"] if t["name"].startswith("Question 3"))
    assert "bank: no (PermissionError)" in found, found
    for name in ("source", "submission", "results", "network", "internet", "root", "kill"):
        assert f"{name}: no (PermissionError)" in found, found
    for name in ("import", "memory", "environment", "package", "namespace", "orphans"):
        assert f"{name}: no (" in found, found
    after = said.partition("class_report.html")[2].split()
    assert after == [], f"left behind: {after}"
