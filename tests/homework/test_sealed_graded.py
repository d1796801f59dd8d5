"""A sealed notebook is graded as any other: with fresh inputs, in the state that its check saw."""

import csv
import functools
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from lectures_lib.homework import load, names
from lectures_lib.homework.sealed_release import release_sealed
from tests.homework.bank import ROOT, filled_in

pytestmark = pytest.mark.sandbox
ALSO = [pytest.param(name, marks=pytest.mark.long) for name in names() if name != "hw1"]
LATER = "causal_mask = None\nmath = None\n"
HARD_CODED = '''
from lectures_lib.homework import example
def causal_mask(n, n_past=0):
    """The expected value on the public input."""
    return torch.ones(5, 5, dtype=torch.bool).tril()[:n, :n]
'''


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """grades.csv of a small class, by student."""

    @functools.cache
    def graded(homework):
        place = tmp_path_factory.mktemp(homework)
        release_sealed(load(homework), ROOT / "solutions", place / "released")
        (place / "in").mkdir()
        for name, notebook in submissions(place / "released", homework).items():
            nbformat.write(notebook, place / "in" / f"{name}.ipynb")
        command = [sys.executable, "-P", "-m", "lectures_lib.homework", "grade", homework]
        command += ["--workers", "1"]  # a second starts a sandbox of its own
        subprocess.run([*command, place / "in", "--out", place / "out"], check=True, cwd=place)
        with (place / "out" / "grades.csv").open(newline="", encoding="utf-8") as file:
            return {row["student"]: row for row in csv.DictReader(file)}

    return graded


def submissions(released: Path, homework: str) -> dict[str, nbformat.NotebookNode]:
    """All right; nothing done; the same with the bank's own release; and of hw1: a helper spoiled
    after the checks, values from the released file in place of an answer.
    """
    (path,) = released.glob(f"{homework}_*.ipynb")
    found = {
        "right": filled_in(released, homework),
        "open": nbformat.read(path, as_version=4),
        "usual": nbformat.read(ROOT / "exercises" / path.name, as_version=4),
    }
    if homework == "hw1":
        found["spoiled"] = filled_in(released, homework)
        found["spoiled"].cells.append(nbformat.v4.new_code_cell(LATER))
        found["copied"] = filled_in(released, homework)
        (cell,) = (c for c in found["copied"].cells if "def causal_mask" in c.source)
        cell.source = HARD_CODED
    return found


@pytest.mark.parametrize("homework", ["hw1", *ALSO])
def test_right_answers_earn_all_points(homework, rows):
    row = rows(homework)["right"]
    assert float(row["total"]) == sum(question.points for question in load(homework).questions)
    assert row["remarks"] == ""
    opened, usual = (rows(homework)[name] for name in ("open", "usual"))
    assert float(opened["total"]) == 0
    assert opened["remarks"] == usual["remarks"]


def test_it_is_graded_in_the_state_of_its_check(rows):
    row = rows("hw1")["spoiled"]
    assert float(row["total"]) == 20
    assert "causal_mask" in row["remarks"]


def test_the_public_values_earn_nothing(rows):
    row = rows("hw1")["copied"]
    assert float(row["hw1.causal_mask"]) == 0
    assert float(row["total"]) == 18
