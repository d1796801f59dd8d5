"""Ten submissions of homework 1, as they come: all graded in one command, each mistake called by
its name.
"""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from lectures_lib.homework import load
from tests.homework.ten_submissions import MISTAKES, SOLUTION, changed, in_other_words
from tests.homework.toy import notebook

pytestmark = pytest.mark.sandbox
ROOT = Path(__file__).resolve().parents[2]
POINTS = {question.name.split(".")[1]: question.points for question in load("hw1").questions}
TOTAL = sum(POINTS.values())

FORGED = """
import json, os, struct, torch
torch.testing.assert_close = torch.equal = torch.allclose = lambda *args, **kwargs: True
report = json.dumps({"student": "forger", "total": 20, "score": 20, "right": True}).encode()
for fd in range(3, 64):
    try:
        os.write(fd, struct.pack(">II", len(report), 0) + report)
        os.write(fd, report)
    except OSError:
        pass
for name in %r:
    globals()[name] = lambda *args, **kwargs: True
"""


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """grades.csv by student, after one run of the command; and the folder it is in."""
    folder = tmp_path_factory.mktemp("class")
    submissions = folder / "submissions"
    submissions.mkdir()
    notebooks = {student: changed(old, new) for student, (old, new, _) in MISTAKES.items()}
    notebooks["right"] = SOLUTION.read_bytes()
    notebooks["in_other_words"] = in_other_words()
    notebooks["loops"] = changed(
        "positions = torch.arange(n)\n", "while True:\n        pass\n    positions = 1\n"
    )
    notebooks["corrupt"] = SOLUTION.read_bytes()[:5000]
    notebooks["forger"] = notebook(FORGED % list(POINTS))
    for student, data in notebooks.items():
        (submissions / f"{student}.ipynb").write_bytes(data)
    command = [
        sys.executable,
        "-m",
        "lectures_lib.homework",
        "grade",
        "hw1",
        submissions,
        "--out",
        folder / "grades",
        "--workers",
        "1",
    ]
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with (folder / "grades" / "grades.csv").open(newline="", encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}, folder / "grades"


def test_right_answers_get_all_points(rows):
    for student in ("right", "in_other_words"):
        assert (rows[0][student]["total"], rows[0][student]["remarks"]) == (str(TOTAL), "")


@pytest.mark.parametrize("student", MISTAKES)
def test_a_mistake_costs_its_question_and_is_named(rows, student):
    remark = MISTAKES[student][2]
    row, name = rows[0][student], remark.split(":")[0]
    assert remark in row["remarks"]
    assert row[f"hw1.{name}"] == "0"
    assert int(row["total"]) == TOTAL - POINTS[name]


def test_an_endless_loop_costs_its_question(rows):
    assert int(rows[0]["loops"]["total"]) == TOTAL - POINTS["padding_mask"]
    assert "padding_mask: time" in rows[0]["loops"]["remarks"]


def test_a_corrupt_file_gets_a_row(rows):
    assert rows[0]["corrupt"]["total"] == "0"
    assert "damaged or cut short" in rows[0]["corrupt"]["remarks"]


def test_hostile_patches_and_forged_reports_get_nothing(rows):
    assert rows[0]["forger"]["total"] == "0"


def test_everyone_has_a_page_and_the_run_a_record(rows):
    pages = {
        path.stem: path.read_text(encoding="utf-8") for path in (rows[1] / "feedback").iterdir()
    }
    assert set(pages) == set(rows[0])
    assert "softmax ran over the queries" in pages["softmax"]
    record = json.loads((rows[1] / "grading.json").read_text())
    assert record["homework"] == "hw1"
    assert set(record) >= {"seed", "begun", "command", "versions"}
