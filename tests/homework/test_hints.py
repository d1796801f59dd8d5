"""What a notebook's text tells: another homework, an answer defined twice, a `raise` left in, a
cell that is too large.
"""

import json
import time
from dataclasses import replace

import pytest

from lectures_lib.homework.diagnosis import AnswerKey
from lectures_lib.homework.grader.grading import grade_one, hints
from lectures_lib.homework.grader.grading.execution import Execution
from lectures_lib.homework.grader.grading.explained import explained
from lectures_lib.homework.grader.grading.grade_one import Job
from lectures_lib.homework.grader.reports import feedback, gradebook, gradescope, told
from lectures_lib.homework.grader.sandbox.template import Limits
from lectures_lib.homework.grader.submissions.collect import collect
from lectures_lib.homework.inside.outcomes import Raised
from lectures_lib.homework.notebook import Unreadable, code_cells, text_cells
from lectures_lib.homework.verdict import Verdict
from tests.homework.toy import DOUBLE, RIGHT_DOUBLE, TOY, notebook

TEMPLATE = (
    'def double(x):\n    """Twice as much."""\n    raise NotImplementedError("your answer here")'
)


@pytest.mark.parametrize(
    ("cells", "unfinished", "words"),
    [
        (["x = 1", "def double(x):\n    return x"], False, ""),
        (
            ["def double(x):\n    return x", "1", "def double(x):\n    return 3"],
            False,
            "defined in code cells 1 and 3; the last counts",
        ),
        (
            ["double = 1", "class double: pass", "async def double(x): pass"],
            False,
            "defined in code cells 2 and 3 and assigned to in code cell 1; the last counts",
        ),
        (
            [
                "def double_it(x): pass",
                "double == 3\ndoubled = 4",
                "class A:\n    def double(self): pass",
                "def double(x): 1",
            ],
            False,
            "",
        ),
        ([TEMPLATE], True, ""),
        (
            [f"{TEMPLATE}\n    return 2 * x"],
            True,
            "`raise NotImplementedError` still stands above your lines",
        ),
        ([f"{TEMPLATE}\n\n    # mine\n    y = 2 * x\n    return y"], True, "In code cell 1"),
        ([f"{TEMPLATE}\n    # a remark"], True, ""),
        ([f"{TEMPLATE}\n\nx = 3"], True, ""),
        (["def double(x):\n    return 2 * x", TEMPLATE], True, "cells 1 and 2; the last counts"),
    ],
)
def test_what_is_odd_about_definitions_is_told(cells, unfinished, words):
    found = hints.of_definitions(cells, "double", unfinished)
    assert words in found
    assert bool(found) == bool(words)


@pytest.mark.parametrize(
    ("cells", "checked", "stopped", "words"),
    [
        (
            [RIGHT_DOUBLE, "check('toy.double', double)", "double = [1, 2]"],
            2,
            (),
            "defined in code cell 1 and assigned to in code cell 3; that of code cell 1 counts, "
            "which the check in cell 2 saw.",
        ),
        (
            [f"{RIGHT_DOUBLE}\ncheck('toy.double', double)\ndouble = double(3)", RIGHT_DOUBLE],
            1,
            (),
            "; that of code cell 1 counts, which the check in cell 1 saw.",
        ),
        (
            [RIGHT_DOUBLE, "check('toy.double', twice)", RIGHT_DOUBLE],
            2,
            (),
            "cells 1 and 3; what the check in code cell 2 was given counts.",
        ),
        ([RIGHT_DOUBLE, RIGHT_DOUBLE], 0, (1,), "It is defined in code cells 1 and 2."),
    ],
)
def test_which_definition_counts_is_told(cells, checked, stopped, words):
    assert hints.of_definitions(cells, "double", False, checked, stopped).endswith(words)


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("later", "words"),
    [
        ("double = [1, 2, 3]", "that of code cell 2 counts, which the check in cell 3 saw."),
        ("double = double(torch.ones(2))", "that of code cell 2 counts"),
        ("def double(x):\n    return x + 5", "cells 2 and 4; that of code cell 2 counts"),
    ],
)
def test_the_definition_that_was_judged_is_the_one_that_is_told(tmp_path, later, words):
    cells = ["import torch\nfrom lectures_lib.homework import check"]
    cells += ["def double(x):\n    return x + 3", "check('toy.double', double)", later]
    verdict = graded_page(tmp_path, cells)
    assert verdict.kind == "values"
    assert words in verdict.message


@pytest.mark.sandbox
def test_an_answer_in_a_file_that_a_cell_writes_counts(tmp_path):
    answer = f"%%writefile helpers.py\n{RIGHT_DOUBLE}"
    assert graded_page(tmp_path, [answer, "from helpers import double"]).right


def graded_page(tmp_path, cells):
    """The verdict on `double` of a notebook with these cells."""
    (tmp_path / "submissions").mkdir()
    (tmp_path / "submissions" / "anna.ipynb").write_bytes(notebook(*cells))
    (submission,) = collect(tmp_path / "submissions", "plain", "toy")
    job = Job(TOY, 1, (AnswerKey(DOUBLE, 1),), Limits())
    (verdict,) = grade_one.grade_safely(submission, job).verdicts
    return verdict


def test_the_hint_reaches_the_verdict():
    key = AnswerKey(DOUBLE, 1)
    execution = Execution([f"{TEMPLATE}\n    return 2 * x"], Limits())
    open_ = Verdict("toy.double", False, "unfinished", "Not answered yet.")
    verdict = explained(open_, key, execution, [])
    assert "never reached" in verdict.message
    result = grade_one.Result("anna", (), "f", (verdict,))
    assert "never reached" in feedback.page(TOY, result)
    assert "never reached" in told.lines(DOUBLE, verdict)[0]
    assert explained(replace(open_, right=True), key, execution, []).message == "Not answered yet."


@pytest.mark.parametrize(
    "cell",
    [
        "scale = 3", "a, scale = 1, 2", "(scale, b) = 1, 2", "for scale in x: pass",
        "from m import *", "import scale", "from a import b as scale", "scale: int = 3",
        "with open('a') as scale: 1", "if 1:\n    scale = 1", "scale += 1", "def scale(x): 1",
        "if (scale := 3): pass", "def f():\n    global scale\n    scale = 1",
    ],
)  # fmt: skip
def test_a_name_that_no_cell_defines_any_more_gets_a_lead(cell):
    """What stood in a cell that was deleted was still there when its author ran the check."""
    message = "It raised NameError in line 2, `return x * scale`: name 'scale' is not defined"
    answer = "def double(x):\n    return x * scale"
    assert hints.of_an_undefined_name([answer, cell], message) == ""
    assert hints.of_an_undefined_name([answer], message.replace("NameError", "KeyError")) == ""
    key = AnswerKey(DOUBLE, 1)
    raised = Verdict("toy.double", False, "raised", message)
    verdict = explained(raised, key, Execution([answer, "print(scale)"], Limits()), [])
    assert verdict.message.startswith(f"{message}. No cell defines `scale`. Did one that you")
    defined = Execution([answer, cell], Limits())
    assert explained(raised, key, defined, []).message == message


def test_a_function_with_the_same_arguments_may_be_the_answer():
    other = "def attention(Q, K: Tensor, V=None):\n    return V\n\ndef help(Q, K): 1"
    find = hints.of_a_missing_name
    lead = "There is `attention`, which takes the same arguments: did you mean this?"
    assert find(["x = 1", other], "scaled", (), ("Q", "K", "V")) == lead
    assert find([other], "scaled", ["attention"], ("Q", "K", "V")) == ""
    assert find([other], "scaled", (), ("K", "Q", "V")) == ""
    assert find(["def f(x): 1"], "scaled", (), ("x",)) == "", "x is everybody's argument"
    assert find(["def f(): 1"], "scaled", (), ()) == ""


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("def duoble(x):\n    return 2 * x", "There is `duoble`: did you mean this?"),
        ("class Double: pass", "There is `Double`: did you mean this?"),
        ("def doubles(x):\n    return 2 * x", ""),  # another question's
        ("def treble(x):\n    return 3 * x", ""),
        ("# def double(x):\n#     return 2 * x", "In code cell 2 it stands in a comment, which is"),
        (
            '"""\ndef double(x):\n    return 2 * x\n"""',
            "In code cell 2 it stands in a text between",
        ),
        (
            "if False:\n    def double(x):\n        return 2 * x",
            "inside of something else: begin it",
        ),
        (
            "%%script true\ndef double(x): 1",
            "in code cell 2 below `%%script`, which does not define it.",
        ),
        ("double(3)", ""),
    ],
)
def test_a_name_that_is_not_found_gets_a_lead(cell, words):
    found = hints.of_a_missing_name(["x = 1", cell], "double", ["double", "doubles"])
    assert words in found
    assert bool(found) == bool(words)
    missing = Verdict("toy.double", False, "missing", "Nothing has this name.")
    key, execution = AnswerKey(DOUBLE, 1), Execution(["x = 1", cell], Limits())
    verdict = explained(missing, key, execution, [], 1, others=["double", "doubles"])
    before = "Nothing has this name." if words else "Question 1 is not answered yet. Nothing has "
    assert verdict.message.startswith(before)
    assert words in verdict.message


@pytest.mark.parametrize(
    ("cells", "below"),
    [
        ([f"{RIGHT_DOUBLE}\n\n{TEMPLATE}"], True),
        ([TEMPLATE], False),
        ([f"{TEMPLATE}\n\n{TEMPLATE}"], False),
        ([RIGHT_DOUBLE, TEMPLATE], False),
    ],
)
def test_a_template_below_an_answer_in_the_same_cell_is_told(cells, below):
    open_ = Verdict("toy.double", False, "unfinished", "Not answered yet.")
    verdict = explained(open_, AnswerKey(DOUBLE, 1), Execution(cells, Limits()), [], 1)
    words = "In code cell 1 the untouched template stands below your answer and takes its place"
    assert (words in verdict.message) == below
    assert ("not answered yet" in verdict.message) != below


def test_an_answer_in_a_text_cell_is_told():
    texts = ["# Question 1\n\n- `double(x)`", "def double(x):\n    return 2 * x"]
    assert hints.of_text_cells(texts[:1], "double") == ""
    missing = Verdict("toy.double", False, "missing", "Nothing has this name.")
    key = AnswerKey(DOUBLE, 1)
    verdict = explained(missing, key, Execution(["1"], Limits()), texts)
    assert verdict.message.startswith(
        "It stands in a cell of text (Markdown or raw), which is not run"
    )
    assert explained(missing, key, Execution(["1"], Limits()), texts[:1]) == missing
    cells = [{"cell_type": "markdown", "source": [text]} for text in texts]
    odd = [{"cell_type": "raw", "source": {}}, {"source": "no type"}]
    code = {"cell_type": "code", "source": "1"}
    data = json.dumps({"nbformat": 4, "cells": [*cells, code, *odd]}).encode()
    assert text_cells(data) == [*texts, "no type"]


@pytest.mark.parametrize("cells", [[], ["", " \n"]])
def test_a_notebook_without_code_is_called_that(cells):
    (note,) = hints.of_no_code(cells)
    assert "no code in the notebook" in note
    assert hints.of_no_code([*cells, "1"]) == ()


def test_that_the_first_cells_are_missing_is_told():
    cells = ["def double(x):\n    return 2 * x", "check('toy.double', double)"]
    (note,) = hints.of_no_imports(cells)
    assert "No cell imports `check`" in note
    assert hints.of_no_imports(cells[:1]) == ()
    assert hints.of_no_imports(["from lectures_lib.homework import (\n    check,\n)", *cells]) == ()


@pytest.mark.parametrize(
    ("why", "words"),
    [
        (
            Raised("SyntaxError", (), "invalid syntax", 1, "```python"),
            "belong to Markdown: delete the lines",
        ),
        (
            Raised("SyntaxError", (), "invalid non-printable character U+00A0", 2, "return x"),
            "looks like a space",
        ),
        (
            Raised("NotImplementedError", (), "your answer here", 9, "raise"),
            "outside of your functions",
        ),
        (Raised("SyntaxError", (), "invalid syntax", 1, "x = = 2"), ""),
        (Raised("NotImplementedError", (), "later", 9, "raise"), ""),
    ],
)
def test_what_stopped_a_definition_gets_a_way_out(why, words):
    execution = Execution([RIGHT_DOUBLE], Limits(), {0: why})
    missing = Verdict("toy.double", False, "missing", "Nothing has this name.")
    message = explained(missing, AnswerKey(DOUBLE, 1), execution, [], 1).message
    assert why.message in message
    assert words in message
    assert "```" not in message  # which a page takes for the beginning of code
    assert words or message.endswith(why.message)


def test_another_homework_is_named(tmp_path):
    third = [
        'check("hw3.beam_search", beam_search)',
        "from lectures_lib.homework import check",
        "check('hw3.merges', merges)",
    ]
    (note,) = hints.of_another_homework(third, "hw1")
    assert note.startswith("This is Homework 3")
    assert "Homework 1" in note
    assert hints.of_another_homework(third, "hw3") == ()
    assert hints.of_another_homework([*third, 'check("hw1.causal_mask", causal_mask)'], "hw1") == ()
    assert hints.of_another_homework(["check('nothing')", "x = 3"], "hw1") == ()
    result = grade_one.Result(
        "anna", (), "f", (Verdict("toy.double", False, "missing", "Nothing."),), notes=(note,)
    )
    assert "This is Homework 3" in feedback.page(TOY, result)
    assert "This is Homework 3" in gradebook.remarks(result)
    assert "This is Homework 3" in json.loads(gradescope.results(TOY, result))["output"]


def test_a_right_answer_with_a_word_beside_it_shows_it():
    verdict = Verdict("toy.double", True, "right", "Right where your check ran (cell 3).")
    result = grade_one.Result("anna", (), "f", (verdict,))
    assert "Right where your check ran (cell 3)" in feedback.page(TOY, result)
    assert told.lines(DOUBLE, verdict) == ["Right where your check ran (cell 3)."]
    assert gradebook.remarks(result) == "double: see its page"


@pytest.mark.parametrize("letter", ["x", "\x00", "😀"])
def test_hostile_cell_of_several_megabytes_is_unreadable_and_no_fault_of_the_grader(
    tmp_path, letter
):
    cell = f"x = '{letter * (5 << 20)}'" if letter == "x" else f"x = '{letter * (1 << 20)}'"
    data = notebook("1", cell)
    with pytest.raises(Unreadable, match=r"Code cell 2 has .* characters, more than can be run"):
        code_cells(data)
    (tmp_path / "submissions").mkdir()
    (tmp_path / "submissions" / "anna.ipynb").write_bytes(data)
    (submission,) = collect(tmp_path / "submissions", "plain", "toy")
    result = grade_one.grade_safely(submission, Job(TOY, 1, (AnswerKey(DOUBLE, 1),), Limits()))
    assert not result.fault
    assert result.fingerprint
    assert "Code cell 2" in result.problem


def test_a_large_cell_that_can_be_run_is_read():
    assert len(code_cells(notebook("x" * (2 << 20)))) == 1


HOSTILE = {
    "checks": "check(," * 400_000,
    "commas": "check(" + "," * 2_800_000,
    "names": "check(" + ",a=" * 900_000,
    "spaces": "check(," + " " * 2_800_000,
    "lines": "check(\n,\n" * 280_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_before_a_check_does_not_hold_up_the_class(text):
    answer = "def double(x):\n    return 2 * x"
    cells = [answer, f'# {text}\ncheck("toy.double",  answer = double\n)']
    began = time.process_time()
    assert hints.judged(cells, "double", checked=2) == 0
    assert time.process_time() - began < 60  # not the hours of a backtracking search
