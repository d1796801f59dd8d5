"""What the instructors' page says of a first day, followed to the letter: five made-up students
are graded, and their grades are those of the page.
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
    told = re.findall(r"^ *\| `(\w+)` \| (\d+) \| (.*)\|$", section(), re.MULTILINE)
    assert [(student, found[student]["total"]) for student, *_ in told] == [
        (student, total) for student, total, _ in told
    ]
    assert set(found) == {student for student, *_ in told} and len(told) == 5
    for student, _, words in told:
        remark = re.findall("`(.+?)`", words)
        assert all(each in found[student]["remarks"] for each in remark), found[student]["remarks"]
        assert bool(remark) == bool(found[student]["remarks"])
    assert found["ben"]["remarks"].count("unfinished") == 8
    assert len(list((tmp_path / "grades" / "hw1" / "feedback").glob("*.html"))) == 5


def test_git_keeps_what_is_about_students_to_itself():
    named = re.search(r"^Git ignores (.*) and autograder zips, so that", section(), re.MULTILINE)[1]
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    names = re.findall("`(.+?)`", named)
    assert len(names) == 6 and "/*_autograder.zip" in ignored
    for name in names:
        assert f"/{name}" in ignored or name in ignored
