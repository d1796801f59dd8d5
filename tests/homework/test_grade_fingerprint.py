"""What was worked out with other questions, or under other limits, is worked out anew."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import lectures_lib
from lectures_lib.homework import __main__ as main
from lectures_lib.homework.grader.grading import grade_class, grade_one
from lectures_lib.homework.grader.sandbox.template import Limits
from lectures_lib.homework.questions import Case, Homework
from tests.homework.toy import DOUBLE, SCALE, TOY


def test_a_changed_bank_or_limit_is_told_and_graded_anew(submissions, pretended, tmp_path):
    out = tmp_path / "grades"
    other_reference = Homework("toy", "A toy", (replace(DOUBLE, reference=lambda x: 3 * x), SCALE))
    other_case = Homework(
        "toy", "A toy", (replace(DOUBLE, cases=lambda g: [Case((torch.ones(4),))]), SCALE)
    )
    stricter = Homework("toy", "A toy", (replace(DOUBLE, rtol=1e-9), SCALE))
    runs = [
        (TOY, Limits()),
        (other_reference, Limits()),
        (other_case, Limits()),
        (stricter, Limits()),
        (stricter, Limits(cell=5.0)),
    ]
    for i, (homework, limits) in enumerate(runs):
        for told in ([0] if i == 0 else [1], []):
            said, before = [], len(pretended.graded)
            grade_class.grade(homework, submissions, out, limits=limits, tell=said.append)
            anew = (
                "4 results were worked out with another version of the questions, or under other "
                "limits: they are worked out anew."
            )
            assert (anew in said) == bool(told and told[0])
            assert len(pretended.graded) - before == (4 if told else 0)


def imported(path: Path) -> set[Path]:
    """The modules of the homework from which this one imports."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    names = {
        name
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
    }
    root = Path(lectures_lib.__file__).parents[1]
    paths = {root.joinpath(*name.split(".")).with_suffix(".py") for name in names}
    return {path for path in paths if path.is_relative_to(grade_one.HOMEWORK) and path.exists()}


def test_all_that_judges_is_in_the_fingerprint_and_is_there():
    found = {pattern: set(grade_one.HOMEWORK.glob(pattern)) for pattern in grade_one.JUDGES}
    assert [pattern for pattern, paths in found.items() if not paths] == []
    behind, new = set(), {grade_one.HOMEWORK / "diagnosis.py"}
    while new:
        behind |= new
        new = set().union(*map(imported, new)) - behind
    assert len(behind) > 10
    assert behind <= set().union(*found.values())


@pytest.mark.parametrize(
    ("homework", "module"), [("hw1", "blocks.positions"), ("hw2", "homework.banks.inputs")]
)
def test_what_a_bank_takes_from_elsewhere_is_in_its_fingerprint(homework, module, monkeypatch):
    """The reference of hw1's last question, and what draws the inputs of hw2."""
    file = Path(lectures_lib.__file__).parent / f"{module.replace('.', '/')}.py"
    before, read = grade_one.Job(main.load(homework), 1, (), Limits()).bank, Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"# changed" * (path == file))
    assert grade_one.Job(main.load(homework), 1, (), Limits()).bank != before


def test_of_a_changed_bank_one_question_can_be_put_again(submissions, pretended, tmp_path):
    out = tmp_path / "grades"
    grade_class.grade(TOY, submissions, out)
    mended = Homework("toy", "A toy", (replace(DOUBLE, rtol=1e-2), SCALE))
    said = []
    grade_class.grade(mended, submissions, out, again=("toy.double",), tell=said.append)
    assert pretended.questions[-4:] == [(student, 1) for student in ("anna", "ben", "carl", "dora")]
    assert "only what is asked for is worked out anew" in said[1]
    grade_class.grade(mended, submissions, out)
    assert len(pretended.graded) == 8


def test_the_order_of_a_set_in_a_bank_changes_no_fingerprint():
    """It is another one in every process: the whole class would be graded anew at each start."""
    assert grade_one._written(frozenset(["b", "a", 1])) == "{'a', 'b', 1}"
    code = compile("x in {'b', 'a', 'c'}", "", "eval")
    assert "{'a', 'b', 'c'}" in str(grade_one._code(code))
