"""Ten submissions of homework 1, as they come: all graded in one command, each mistake called by
its name.
"""

import csv
import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from lectures_lib.homework import load
from tests.homework.right_answers_hw1 import RIGHT_ANSWERS
from tests.homework.toy import notebook

pytestmark = pytest.mark.sandbox
ROOT = Path(__file__).resolve().parents[2]
POINTS = {question.name.split(".")[1]: question.points for question in load("hw1").questions}
TOTAL = sum(POINTS.values())
(SOLUTION,) = (ROOT / "solutions").glob("hw1_*.ipynb")

# student: (what stands in their notebook instead of what is right, the questions that it costs,
# what the remarks must say)
MISTAKES = {
    "softmax": (
        "return scores.softmax(dim=-1) @ V",
        "return scores.softmax(dim=-2) @ V",
        "scaled_dot_product_attention: softmax_over_queries",
    ),
    "inverted": (
        "weights = scores.masked_fill(~mask,",
        "weights = scores.masked_fill(mask,",
        "masked_softmax: mask_inverted",
    ),
    "off_by_one": (
        ".tril(diagonal=n_past)",
        ".tril(diagonal=n_past + 1)",
        "causal_mask: sees_the_next_token",
    ),
    "padding": (
        "words[:, None, None, :]",
        "words",
        "padding_mask: no_dimensions_for_heads_and_queries",
    ),
    "base": ("10_000 **", "1_000 **", "sinusoidal_positions: base_1000"),
    "seats": (
        "shuffled[permutation.argsort()] - in_order",
        "shuffled - in_order",
        "order_effect: shuffle_not_undone",
    ),
}

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


def changed(old: str, new: str) -> bytes:
    """The solution with one thing wrong."""
    text = nbformat.read(SOLUTION, as_version=4)
    cells = [cell for cell in text.cells if cell.cell_type == "code" and old in cell.source]
    assert len(cells) == 1, f"{old!r} must stand in one cell"
    cells[0].source = cells[0].source.replace(old, new)
    return nbformat.writes(text).encode()


def in_other_words() -> bytes:
    """Every question answered in another right way."""
    source = (ROOT / "tests" / "homework" / "right_answers_hw1.py").read_text(encoding="utf-8")
    names = "\n".join(
        f"{name.split('.')[1]} = {answers[0].__name__}" for name, answers in RIGHT_ANSWERS.items()
    )
    return notebook(source, names)


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
