"""What the tests of all homework share: a bank's keys and notebook, and the verdict on an
answer.
"""

import functools
import importlib
import os
import re
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode

from lectures_lib.homework import find, load, names
from lectures_lib.homework.diagnosis import AnswerKey, run
from lectures_lib.homework.release import OPEN
from lectures_lib.homework.verdict import Verdict

ROOT = Path(__file__).resolve().parents[2]
NIGHT = os.environ.get("HYPOTHESIS_PROFILE") == "night"  # `make test-long`
SEEDS = (0, 1, 2, 17, 12345)


def seeds(name: str) -> tuple[int, ...]:
    """The seeds a question's answers are tried with: with each change two, or the public one alone
    where every answer trains a model; at night all, or two. (`test_many_seeds` takes a hundred
    others, `test_graded_class` one more in the sandbox.)
    """
    by_day, at_night = (2, 5) if find(name).seconds <= 10 else (1, 2)
    return SEEDS[: at_night if NIGHT else by_day]


@functools.cache
def key(name: str, seed: int) -> AnswerKey:
    """The question of that full name, with the inputs of that seed."""
    return AnswerKey(find(name), seed)


def judged(name: str, answer: object, seed: int = 0) -> Verdict:
    """The verdict on an answer to the question of that full name."""
    return key(name, seed).verdict([run(answer, case) for case in key(name, seed).cases])


def questions(homework: str) -> list[str]:
    """The full names of its questions."""
    return [question.name for question in load(homework).questions]


def right_answers(homework: str) -> dict[str, tuple]:
    """Its right answers by question, from `right_answers_<homework>.py`."""
    return importlib.import_module(f"tests.homework.right_answers_{homework}").RIGHT_ANSWERS


def with_students() -> list[str]:
    """The homeworks that have mistakes written as students write them, in
    `students_<homework>.py`.
    """
    return [
        name for name in names() if (ROOT / "tests" / "homework" / f"students_{name}.py").exists()
    ]


def students(homework: str) -> dict[str, dict[str, list]]:
    """{question: {mistake: [answers]}}, from `students_<homework>.py`."""
    return importlib.import_module(f"tests.homework.students_{homework}").STUDENTS


def each(students: dict[str, dict[str, list]]) -> list[tuple]:
    """(question, mistake, answer) for each answer in {question: {mistake: [answers]}}."""
    return [
        (name, mistake, answer)
        for name, mistakes in students.items()
        for mistake, answers in mistakes.items()
        for answer in answers
    ]


@functools.cache
def notebook(homework: str) -> NotebookNode:
    """The solution notebook's twin."""
    (path,) = (ROOT / "solutions").glob(f"{homework}_*.py")
    return jupytext.read(path)


def text(homework: str) -> str:
    """The words of the solution notebook."""
    return "\n".join(
        cell.source for cell in notebook(homework).cells if cell.cell_type == "markdown"
    )


def answer_cells(homework: str) -> list[tuple[str, str]]:
    """For each question: what the notebook gives its author to begin with (imports, cells tagged
    "given"), and the answer's cell.
    """
    given, cells = [], []
    for cell in notebook(homework).cells:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type != "code" or "setup" in tags:
            continue
        if "### BEGIN SOLUTION" in cell.source:
            cells.append(("\n".join(given), cell.source))
        elif not given or "given" in tags:  # the first cell after the set-up is the imports'
            given.append(cell.source)
    return cells


def filled_in(folder: Path, homework: str) -> NotebookNode:
    """The sealed notebook with the solution's answers in it."""
    (path,) = folder.glob(f"{homework}_*.ipynb")
    student = nbformat.read(path, as_version=4)
    solution = nbformat.read(ROOT / "solutions" / path.name, as_version=4)
    for cell, answered in zip(student.cells, solution.cells, strict=True):
        if OPEN in cell.source:
            cell.source = answered.source
    return student


def sections(chapter: str) -> list[str]:
    """The anchors of a chapter's sections."""
    text = (ROOT / "notebooks" / f"{chapter}.py").read_text(encoding="utf-8")
    headings = re.findall(r"^# #{2,3} (.+)$", text, flags=re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower().replace(" ", "-")) for heading in headings]
