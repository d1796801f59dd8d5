"""The student's own lines beside each verdict: the right ones, as they were written, and as text."""

from dataclasses import replace

import pytest

from lectures_lib.homework.diagnosis import AnswerKey
from lectures_lib.homework.grader.grading.grade_one import Job, grade_one
from lectures_lib.homework.grader.grading.own_code import (
    LONGEST_LINE,
    MOST_LINES,
    Definitions,
    Excerpt,
)
from lectures_lib.homework.grader.grading.records import Records
from lectures_lib.homework.grader.reports import feedback
from lectures_lib.homework.grader.submissions.collect import collect
from tests.homework.toy import QUICK, RIGHT_DOUBLE, RIGHT_SCALE, TOY, notebook
from tests.homework.toy_results import Page, result

TEMPLATE = 'def double(x):\n    """Twice."""\n    raise NotImplementedError("your answer here")'

CHECK = """\
from lectures_lib.homework import check
try:
    check("toy.double", double)
except Exception:
    pass
"""


def shown(cells, name="double", cell=None, others=()):
    """[(cell, first line, text)] of an answer's excerpts."""
    found = Definitions.read(cells).excerpts(name, cell, others)
    return [(each.cell, each.first, "\n".join(each.lines)) for each in found]


@pytest.fixture
def graded(tmp_path):
    """What grading makes of these cells."""

    def grade(*cells):
        (tmp_path / "anna.ipynb").write_bytes(notebook(*cells))
        keys = tuple(AnswerKey(question, seed=1) for question in TOY.questions)
        return grade_one(collect(tmp_path)[0], Job(TOY, 1, keys, QUICK))

    return grade


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["a = 1\n\n" + RIGHT_DOUBLE + "\nb = 2"], [(1, 3, RIGHT_DOUBLE)]),
        ([RIGHT_DOUBLE, "def double(x):\n    return 3"], [(2, 1, "def double(x):\n    return 3")]),
        (["@f\n@g\ndef double(x):\n    # mine\n    return 3"], None),
        (["%%time\ndef double(x):\n    return 3"], [(1, 2, "def double(x):\n    return 3")]),
        (["double = lambda x: x"], None),
        (["double: int = 3"], None),
        (["class double:\n    pass"], None),
        (["async def double(x): pass"], None),
        (["def other(): pass"], []),
        (["double(3)\ndouble == 3\ndoubled = 4"], []),
        (["x = (\n1\ndef double(x):\n    return (\n)\nprint(1"], [(1, 3, "def double(x):\n    return (\n)")]),
        (["def double(x):\r\n    return x\r\n"], [(1, 1, "def double(x):\n    return x")]),
    ],
)  # fmt: skip
def test_the_answer_as_it_was_written(cells, expected):
    assert shown(cells) == ([(1, 1, cells[0])] if expected is None else expected)


def test_the_definition_that_was_judged():
    cells = [RIGHT_DOUBLE, "def double(x):\n    return 3"]
    assert shown(cells, cell=1) == [(1, 1, RIGHT_DOUBLE)]


def test_helpers_follow_and_other_answers_do_not():
    cells = [
        "N = 3\ndef two():\n    return 2\ndef unused(): pass",
        "class Scale: pass\ndef times(x):\n    return two() * x * N",
        "def double(x):\n    return times(x) + Scale() + double",
    ]
    found = shown(cells, others=("Scale",))
    assert [(cell, first) for cell, first, _ in found] == [(3, 1), (2, 2), (1, 2)]


def test_long_answers_are_cut_and_say_so():
    cell = "def double(x):\n" + "    x = x\n" * 500 + "    return '" + "y" * 1000 + "'"
    (excerpt,) = Definitions.read([cell]).excerpts("double", None, ())
    assert len(excerpt.lines) == MOST_LINES and excerpt.left_out == 502 - MOST_LINES
    (short,) = Definitions.read([f"double = '{'y' * 1000}'"]).excerpts("double", None, ())
    assert len(short.lines[0]) == LONGEST_LINE + 2
    text = feedback.page(TOY, result(code={"toy.double": (excerpt,)}))
    assert f"and {502 - MOST_LINES} more lines" in text


@pytest.mark.parametrize(
    "cell",
    [
        "def double(x):\n    return " + "(" * 20_000 + ")" * 20_000,
        "def double(x):\n    return " + "-" * 50_000 + "1",
        "def double(x):\n" + "    x = 1\n" * 100_000,
        "def double(x):\x00\n    return '\ud800'",
    ],
    ids=("brackets", "signs", "long", "odd characters"),
)
def test_hostile_cells_are_text(cell):
    ((number, first, text),) = shown([cell])
    assert (number, first) == (1, 1) and text.startswith("def double(x):")


def test_a_verdict_has_its_code(graded, tmp_path):
    wrong = "def double(x):\n    y = x\n    return y[0] / missing"
    found = graded("import torch", wrong, RIGHT_SCALE)
    (excerpt,) = found.code["toy.double"]
    assert excerpt == Excerpt(2, 1, tuple(wrong.split("\n")), told=3)
    assert not found.code["toy.Scale"][0].told
    with Records(tmp_path / "kept") as records:
        records.put(found)
        assert records.get("anna") == found


def test_the_line_of_a_cell_that_stopped_is_marked(graded):
    found = graded("def double(x):\n    return (x\n", RIGHT_SCALE)
    (excerpt,) = found.code["toy.double"]
    assert found.verdicts[0].kind == "missing" and excerpt.told == 2


def test_an_untouched_template_is_not_shown(graded):
    found = graded(TEMPLATE, RIGHT_SCALE)
    assert found.verdicts[0].kind == "unfinished" and "toy.double" not in found.code
    found = graded(f"{TEMPLATE}\n    return 2 * x", RIGHT_SCALE)
    assert found.verdicts[0].kind == "unfinished" and "toy.double" in found.code


def test_the_answer_that_was_right_where_it_was_checked(graded):
    later = "def double(x):\n    return 3 * x"
    found = graded(RIGHT_DOUBLE, CHECK, later)
    verdict, (excerpt,) = found.verdicts[0], found.code["toy.double"]
    assert verdict.right and "cell 3 defines `double` anew" in verdict.message
    assert (excerpt.cell, "\n".join(excerpt.lines)) == (1, RIGHT_DOUBLE)


def test_the_last_answer_where_only_that_is_right(graded):
    found = graded("def double(x):\n    return 3 * x", CHECK, RIGHT_DOUBLE)
    assert found.verdicts[0].right and "Right after the last cell" in found.verdicts[0].message
    assert [each.cell for each in found.code["toy.double"]] == [3]


@pytest.mark.parametrize("cells", [(f"{RIGHT_DOUBLE}\n{TEMPLATE}",), (RIGHT_DOUBLE, TEMPLATE)])
def test_the_right_answer_above_the_template(graded, cells):
    found = graded(*cells)
    (excerpt,) = found.code["toy.double"]
    assert found.verdicts[0].right and "delete the template" in found.verdicts[0].message
    assert (excerpt.cell, "\n".join(excerpt.lines)) == (1, RIGHT_DOUBLE)


def test_the_page_shows_it_as_text():
    lines = ("def double(x):", "    return '</pre><script>alert(1)</script>\u202e\x07'")
    excerpt = Excerpt(4, 7, lines, told=8)
    text = feedback.page(TOY, result(code={"toy.double": (excerpt, replace(excerpt, cell=2))}))
    page = Page(text)
    assert "script" not in page.tags and page.tags.count("mark") == 2
    assert (
        "Your code: code cell 4, lines 7–8" in page.text
        and "What it calls: code cell 2" in page.text
    )
    assert text.count('<details class="own" open>') == 1
    assert 'data-line="8"' in text and "\x07" not in text
