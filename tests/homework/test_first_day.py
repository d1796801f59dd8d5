"""What the instructors' page says of a first day, followed to the letter: thirty made-up students
are graded, their grades are those of the page, and Canvas could read them.
"""

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.homework.bank import ROOT

PAGE = ROOT / "book" / "instructors.md"


def section() -> str:
    """The section's text."""
    text = PAGE.read_text(encoding="utf-8")
    return re.search(r"^## An instructor's first day\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)[1]


def commands() -> str:
    """All commands of the section, in order."""
    blocks = re.findall(r"^ *```bash\n(.*?)^ *```$", section(), re.MULTILINE | re.DOTALL)
    return "\n".join(line.strip() for block in blocks for line in block.splitlines())


@pytest.mark.sandbox
def test_a_first_day_ends_with_the_grades_of_the_page(tmp_path):
    for folder in ("solutions", "exercises"):
        (tmp_path / folder).mkdir()
        shutil.copy(ROOT / folder / "hw1_attention.ipynb", tmp_path / folder)
    script = commands()
    assert "source .venv/bin/activate\n" in script
    script = script.replace("source .venv/bin/activate\n", "")
    folder = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-euc", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "grades" / "hw1" / "grades.csv", encoding="utf-8") as file:
        found = {row["student"]: row for row in csv.DictReader(file)}
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
    with open(tmp_path / "grades" / "hw1" / "canvas_import.csv", encoding="utf-8") as file:
        _, possible, *rows = csv.reader(file)
    assert possible[-1] == "20"
    assert {row[1]: row[-1] for row in rows} == {
        student.split("_")[1]: row["total"] for student, row in found.items()
    }
