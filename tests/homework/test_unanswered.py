"""A question that is left open is said to be that, by its number; what stops because of it is no
news of its own.
"""

import json
import re

import pytest
import torch
from torch import nn

from lectures_lib.homework import WrongAnswer, check
from lectures_lib.homework.diagnosis import AnswerKey
from lectures_lib.homework.grader.grading import grade_one
from lectures_lib.homework.grader.grading.grade_one import Job
from lectures_lib.homework.grader.reports import feedback, gradebook, gradescope
from lectures_lib.homework.grader.sandbox.template import Limits
from lectures_lib.homework.grader.submissions.collect import collect
from tests.homework.toy import DOUBLE, RIGHT_DOUBLE, RIGHT_SCALE, SCALE, TOY, judged, notebook

OPEN = {
    "the template": 'def double(x):\n    """Twice."""\n    raise NotImplementedError("your answer here")',
    "dots": "def double(x):\n    ...",
    "dots below a text": 'def double(x):\n    """Twice."""\n    ...',
    "pass": "def double(x):\n    pass",
    "dots returned": "def double(x):\n    y = ...\n    return y",
    "deleted": "x = 1",
}
SET_UP = "import torch\nfrom lectures_lib.homework import check"
LATER = (
    "y = double(torch.ones(2))",
    "z = y + 1\nprint(z)",
    "def total():\n    return double(torch.ones(2)).sum()\n\ntotal()",
)


def graded(tmp_path, *cells):
    folder = tmp_path / "submissions"
    folder.mkdir()
    (folder / "anna.ipynb").write_bytes(notebook(SET_UP, *cells))
    (submission,) = collect(folder, "plain", "toy")
    keys = tuple(AnswerKey(question, 1) for question in TOY.questions)
    result = grade_one.grade_safely(submission, Job(TOY, 1, keys, Limits()))
    assert not result.problem
    return result


def said(result):
    """All that is said to anybody; of the student's own lines only that they are there."""
    page = feedback.page(TOY, result).partition("<body")[2]
    return [
        re.sub(r'<details class="own".*?</details>', "", page, flags=re.DOTALL),
        gradebook.remarks(result),
        json.dumps(json.loads(gradescope.results(TOY, result)), ensure_ascii=False),
    ]


@pytest.mark.sandbox
@pytest.mark.parametrize("way", OPEN)
def test_a_question_that_is_open_is_said_to_be_and_no_cell_is_named(tmp_path, way):
    result = graded(tmp_path, OPEN[way], *LATER, RIGHT_SCALE, 'check("toy.double", double)')
    double, scale = result.verdicts
    assert scale.right
    assert double.kind in ("unfinished", "missing")
    assert double.message.startswith("Question 1 is not answered yet")
    page, remark, platform = said(result)
    assert "Question 1 is not answered yet" in page
    assert remark == f"double: {double.kind}"
    assert "Question 1 is not answered yet" in platform
    for text in (page, remark, platform):
        assert "stopped" not in text
        assert "NotImplementedError" not in text
        assert " cell " not in text.replace("Code cells", "")


@pytest.mark.sandbox
def test_an_answer_in_a_cell_that_needs_an_open_one_is_told_which(tmp_path):
    cell = f"y = double(torch.ones(2))\n{RIGHT_SCALE}"
    double, scale = graded(tmp_path, OPEN["the template"], cell).verdicts
    assert scale.kind == "missing"
    assert scale.message == (
        "It stands below lines that need question 1, which is not answered yet: they stopped, and "
        "it was never defined."
    )
    assert double.message == "Question 1 is not answered yet."


@pytest.mark.sandbox
def test_what_stops_by_itself_is_still_told(tmp_path):
    result = graded(
        tmp_path,
        OPEN["the template"],
        "raise ValueError('mine')",
        "double(torch.ones(2))",
        "print(nowhere)",
        RIGHT_SCALE,
        "def helper():\n    raise NotImplementedError('later')\n\nhelper()",
    )
    assert [number for number, _ in result.cells] == [3, 5, 7]
    assert "cell 3 stopped" in gradebook.remarks(result)


@pytest.mark.sandbox
def test_an_error_in_a_cell_with_a_right_answer_is_told(tmp_path):
    result = graded(
        tmp_path, RIGHT_DOUBLE, "double(1)\ny = torch.ones(2) + torch.ones(3)", RIGHT_SCALE
    )
    assert all(verdict.right for verdict in result.verdicts)
    assert [number for number, _ in result.cells] == [3]


def dots(x): ...


def with_a_text(x):
    """Twice."""


class Without(nn.Module):
    """Nothing is written yet."""

    def __init__(self, n): ...


class Half(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))

    def forward(self, x): ...


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (DOUBLE, dots),
        (DOUBLE, with_a_text),
        (DOUBLE, lambda x: ...),
        (DOUBLE, lambda x: None),
        (SCALE, Without),
        (SCALE, Half),
    ],
)
def test_an_empty_answer_is_unfinished(asked, answer):
    assert judged(asked, answer).kind == "unfinished"


def the_template(x):
    raise NotImplementedError("your answer here")


def bare(x):
    raise NotImplementedError


@torch.no_grad()
def decorated(x):
    raise NotImplementedError("your answer here")


class Template(nn.Module):
    def __init__(self, n):
        super().__init__()
        raise NotImplementedError("your answer here")


class HalfTemplate(Half):
    def forward(self, x):
        raise NotImplementedError("your answer here")


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (DOUBLE, the_template),
        (DOUBLE, bare),
        (DOUBLE, decorated),
        (SCALE, Template),
        (SCALE, HalfTemplate),
    ],
)
def test_the_untouched_template_is_unfinished(asked, answer):
    assert judged(asked, answer).kind == "unfinished"


class Misspelt(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))

    def foward(self, x):
        return self.weight * x


class Inside(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))

        def forward(self, x):
            return self.weight * x


def last_branch(x):
    if len(x) == 3:
        return 2 * x
    raise NotImplementedError("five: to do")


def last_branch_bare(x):
    if len(x) == 3:
        return 2 * x
    raise NotImplementedError


def calls_another(x):
    return 2 * the_template(x)


def calls_a_bare_one(x):
    return [bare(x) for _ in range(2)]


class CallsAnother(Half):
    def forward(self, x):
        return HalfTemplate(len(x))(x)


@pytest.mark.parametrize(
    ("asked", "answer", "words"),
    [
        (SCALE, Misspelt, "There is no `forward` in that class: is it misspelt"),
        (SCALE, Inside, "There is no `forward` in that class: is it misspelt"),
        (DOUBLE, last_branch, '`raise NotImplementedError("five: to do")`: five: to do'),
        (DOUBLE, last_branch_bare, "It raised NotImplementedError in line"),
        (DOUBLE, calls_another, "`return 2 * the_template(x)`: `the_template`, which is called "),
        (DOUBLE, calls_a_bare_one, "range(2)]`: `bare`, which is called here, is not written yet."),
        (SCALE, CallsAnother, "(x)`: `HalfTemplate.forward`, which is called here, is not"),
    ],
)
def test_what_is_written_and_raises_the_same_is_told_and_not_called_open(asked, answer, words):
    verdict = judged(asked, answer)
    assert (verdict.right, verdict.kind) == (False, "raised")
    assert words in verdict.message
    with pytest.raises(WrongAnswer, match="NotImplementedError"):
        check(asked, answer)


@pytest.mark.sandbox
def test_an_answer_that_calls_an_open_one_is_told_which(tmp_path):
    scale = RIGHT_SCALE.replace("x * self.weight", "double(x) * self.weight")
    first, second = graded(tmp_path, OPEN["the template"], scale).verdicts
    assert first.message == "Question 1 is not answered yet."
    assert second.kind == "raised"
    assert "`double`, which is called here, is not written yet." in second.message


def test_an_answer_that_forgets_to_return_is_not_empty():
    def forgets(x):
        x + x

    assert judged(DOUBLE, forgets).kind == "type"
