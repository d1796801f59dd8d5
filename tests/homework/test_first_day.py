"""What the instructors' page says of a first day, followed to the letter: thirty made-up students
are graded, their grades are those of the page before and after the decisions, and Canvas and Moodle
could read them. And what it says of the push that publishes: the workflows do it.
"""

import csv
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest
import yaml

from tests.homework.bank import ROOT
from tests.homework.toy_results import Page

PAGE = ROOT / "book" / "instructors.md"


def section() -> str:
    """The section's text."""
    text = PAGE.read_text(encoding="utf-8")
    return re.search(r"^## An instructor's first day\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)[1]


def commands() -> list[str]:
    """The commands of each step that has some, in order."""
    blocks = re.findall(r"^ *```bash\n(.*?)^ *```$", section(), re.MULTILINE | re.DOTALL)
    return [dedent(block) for block in blocks]


@dataclass
class Day:
    """A folder in which the page's commands are given.

    Attributes:
        folder: that one.
        left: the blocks of commands that have not been given yet.
    """

    folder: Path
    left: list[str]

    def go_on(self, blocks: int) -> str:
        """Give the commands of so many blocks more; what was said on the way."""
        script, self.left = "".join(self.left[:blocks]), self.left[blocks:]
        programs = Path(sys.executable).parent
        path = {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            ["bash", "-euc", script.replace("source .venv/bin/activate\n", "")],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=600,
            env={**os.environ, **path},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    def table(self, name: str) -> list[dict[str, str]]:
        """The rows of a table in the folder of grades."""
        with open(self.folder / "grades" / name, encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def day(tmp_path_factory):
    """The first two blocks are given: submissions are made, and graded."""
    folder = tmp_path_factory.mktemp("first_day")
    for name in ("solutions", "exercises"):
        (folder / name).mkdir()
        shutil.copy(ROOT / name / "hw1_attention.ipynb", folder / name)
    begun = Day(folder, commands())
    assert len(begun.left) == 4 and "source .venv/bin/activate\n" in begun.left[1]
    begun.go_on(2)
    return begun


@pytest.mark.sandbox
def test_a_first_day_ends_with_the_grades_of_the_page(day):
    found = {row["student"]: row for row in day.table("hw1/grades.csv")}
    told = {
        student: (total, re.findall("`(.+?)`", words))
        for student, total, words in re.findall(
            r"^ *\| `(\w+)`.*? \| (\d+) \| (.*)\|$", section(), re.MULTILINE
        )
    }
    assert len(told) == 5 and len(found) == 30
    for student, row in found.items():
        total, remarks = told.get(student, ("20", []))
        assert row["total"] == total, student
        assert all(each in row["remarks"] for each in remarks), row["remarks"]
        assert bool(remarks) == bool(row["remarks"])
    with open(day.folder / "grades" / "hw1" / "canvas_import.csv", encoding="utf-8") as file:
        _, possible, *rows = csv.reader(file)
    assert possible[-1] == "20"
    assert {row[1]: row[-1] for row in rows} == {
        student.split("_")[1]: row["total"] for student, row in found.items()
    }


@pytest.mark.sandbox
def test_decisions_count_and_nothing_is_graded_anew(day):
    """The sixth step; of what changes the page says how."""
    before = {row["student"]: row for row in day.table("hw1/grades.csv")}
    day.go_on(1)
    assert "graded anew" in section() and _runs(day) == [30, 0]
    rows = {row["student"]: row for row in day.table("hw1/grades.csv")}
    assert rows["student103_103"]["total"] == "19.5" and "now has 19.5 points" in section()
    assert rows["student104_104"]["total"] == "" and "no total, and `EX`" in section()
    assert rows["student102_102"]["possible"] == "18" and "`possible` 18" in section()
    changed = {name for name, row in rows.items() if row["total"] != before[name]["total"]}
    assert changed == {"student103_103", "student104_104"}
    _, *canvas = ([*row.values()] for row in day.table("hw1/canvas_import.csv"))
    points = {row[1]: row[-1] for row in canvas}
    assert (points["103"], points["104"], points["101"]) == ("19.5", "EX", "20")
    page = day.folder / "grades" / "hw1" / "feedback" / "student103_103.html"
    assert "The idea is right: tril, not triu." in Page(page.read_text(encoding="utf-8")).text


def _runs(day: Day) -> list[int]:
    """How many submissions each run has graded."""
    record = yaml.safe_load((day.folder / "grades" / "hw1" / "grading.json").read_text())
    return [run["graded"] for run in record["runs"]]


@pytest.mark.sandbox
def test_moodle_could_read_its_row(day):
    """The seventh step."""
    day.go_on(len(day.left))
    (row,) = day.table("moodle/moodle_import.csv")
    assert row["Identifier"] == "Participant 4711" and row["Full name"] == "Ada Lovelace"
    assert (row["Grade"], row["Maximum Grade"]) == ("20", "20")
    assert "<b>Question 1" in row["Feedback comments"]
    for each in ("Participant 4711", "Ada Lovelace", "20 of 20 points"):
        assert each in section()


# ------------------------------------------------------------------------------ the push, and after


def workflow(name: str) -> dict:
    """One of GitHub's, as data. (YAML takes the word `on` for a truth value.)"""
    read = yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8"))
    return {"on" if key is True else key: value for key, value in read.items()}


def said(name: str, job: str) -> str:
    """What a job runs and uses, in order."""
    steps = workflow(name)["jobs"][job]["steps"]
    return "\n".join(str(step.get("run") or step.get("uses")) for step in steps)


def test_a_push_publishes_what_make_book_builds():
    """ "Source: GitHub Actions": a workflow hands over _build/html, and may."""
    page = PAGE.read_text(encoding="utf-8")
    assert "One workflow publishes the site" in page and "`_build/html` is a folder" in page
    publish = workflow("publish.yml")
    assert "main" in publish["on"]["push"]["branches"]
    assert {"pages": "write", "id-token": "write"}.items() <= publish["permissions"].items()
    assert re.search(
        r"make book SERVE=0\nmake pdf\nactions/upload-pages-artifact", said("publish.yml", "build")
    )
    (pdf,) = (s for s in publish["jobs"]["build"]["steps"] if s.get("run") == "make pdf")
    assert pdf["continue-on-error"], "a runner without a browser publishes the pages all the same"
    (given,) = (
        s["with"] for s in publish["jobs"]["build"]["steps"] if "pages" in s.get("uses", "")
    )
    assert given["path"] == "_build/html"
    deploy = publish["jobs"]["deploy"]
    assert deploy["needs"] == "build" and deploy["environment"]["name"] == "github-pages"
    assert "actions/deploy-pages" in said("publish.yml", "deploy")


def test_another_workflow_tests_and_a_third_does_so_at_night():
    page = PAGE.read_text(encoding="utf-8")
    assert "another runs the tests; a third, `nightly.yml`" in page
    assert "main" in workflow("test.yml")["on"]["push"]["branches"]
    assert "make ${{ matrix.target }}" in said("test.yml", "test")
    matrix = workflow("test.yml")["jobs"]["test"]["strategy"]["matrix"]["include"]
    assert {each["target"] for each in matrix} == {"test", "test-code"}
    (when,) = workflow("nightly.yml")["on"]["schedule"]
    assert re.fullmatch(r"\d+ \d+ \* \* \*", when["cron"]), "once each night"
    assert "make test-long" in said("nightly.yml", "long") and "up to six hours" in page
    assert {job["timeout-minutes"] for job in workflow("nightly.yml")["jobs"].values()} == {350}
    others = sorted(path.name for path in (ROOT / ".github" / "workflows").iterdir())
    assert others == ["nightly.yml", "publish.yml", "test.yml"]


@pytest.mark.sandbox
def test_what_is_about_students_stays_out_of_the_repository(day, tmp_path):
    """Of all that the day has made, git would take nothing."""
    shutil.copytree(day.folder, tmp_path / "course")
    shutil.copy(ROOT / ".gitignore", tmp_path / "course")
    for command in ("init -q", "add solutions exercises .gitignore"):
        subprocess.run(["git", *command.split()], cwd=tmp_path / "course", check=True)
    status = ["git", "status", "--porcelain", "--untracked-files=all"]
    done = subprocess.run(status, cwd=tmp_path / "course", capture_output=True, text=True)
    assert not [line for line in done.stdout.splitlines() if line.startswith("??")]
