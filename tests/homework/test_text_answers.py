"""Questions in words: their cells in a student notebook, and what is read out of one."""

import json

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lectures_lib.homework import load
from lectures_lib.homework.notebook import code_cells
from lectures_lib.homework.release import student_version
from lectures_lib.homework.text_answers import (
    END,
    LONGEST,
    MARKER,
    MOST,
    PLACEHOLDER,
    Asked,
    answers,
)
from tests.homework.bank import ROOT

WHY = Asked("hw1.why_scale", "Why divide?", "2 points", "Why $\\sqrt{d_k}$?\n\nTwo sentences.")
MASK = Asked("hw1.why_minus_infinity", "Why −∞?", "1 point", "Why not 0?")
SOLUTION = (ROOT / "solutions" / "hw1_attention.ipynb").read_text(encoding="utf-8")
HERE = MARKER.format("toy.why")


def of(*cells):
    """A notebook of these cells: texts, or whole cells."""
    cells = [c if isinstance(c, dict) else {"cell_type": "markdown", "source": c} for c in cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode()


def released(*asked):
    return nbformat.reads(student_version(load("hw1"), SOLUTION, asked), as_version=4)


def test_the_cells_stand_before_the_last_part_and_nothing_else_changes():
    plain, notebook = released(), released(WHY, MASK)
    sources = [cell.source for cell in notebook.cells]
    end = next(i for i, source in enumerate(sources) if source.startswith(END))
    assert end == len(sources) - 1
    first, asks, answer = sources[end - 5 : end - 2]
    assert first.startswith("## In words\n\nA person reads and marks these questions.")
    assert asks.startswith(
        "### Why divide?\n\n*2 points · marked by a person*\n\nWhy $\\sqrt{d_k}$?"
    )
    assert answer == f"{MARKER.format('hw1.why_scale')}\n\n{PLACEHOLDER}"
    written = [plain_cell.source for plain_cell in plain.cells]
    rows = "\n| | Why divide? (marked by a person) | 2 | | |\n| | Why −∞? (marked by a person) | 1 | | |"
    assert f"| 2 | 2 | 20 |{rows}\n\n" in sources[0]
    assert "\n**23 points, about two and a half hours.**\n" in sources[0]
    first = sources[0].replace(rows, "").replace("**23 points", "**20 points")
    rest = [first, *sources[1 : end - 5]]
    assert "\n\n".join([*rest, sources[end]]) == "\n\n".join(written)
    data = nbformat.writes(notebook).encode()
    assert code_cells(data) == code_cells(nbformat.writes(plain).encode())
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)


def test_a_title_stays_in_its_place_in_the_table():
    (table,) = [c.source for c in released(WHY._replace(title="a | b\nc")).cells[:1]]
    assert "\n| | a \\| b c (marked by a person) | 2 | | |\n" in table


@pytest.mark.parametrize("name", [f"hw{i}" for i in range(1, 8)])
def test_every_notebook_of_the_course_has_a_place_for_them(name):
    (path,) = (ROOT / "exercises").glob(f"{name}_*.ipynb")
    sources = [cell.source for cell in nbformat.read(path, as_version=4).cells]
    assert sum(f"\n{END}" in f"\n{source}" for source in sources) == 1
    with_table = [source for source in sources if "| | question | points |" in source]
    assert "\n**20 points, " in with_table[0], "what grows with the questions that people mark"


def test_an_answer_comes_back_as_it_was_written():
    notebook = released(WHY, MASK)
    assert answers(nbformat.writes(notebook).encode()) == {
        "hw1.why_scale": "",
        "hw1.why_minus_infinity": "",
    }
    cell = next(cell for cell in notebook.cells if cell.id == "answer-why_scale")
    cell.source = cell.source.replace(PLACEHOLDER, "Because the variance\n\nis $d_k$.")
    found = answers(nbformat.writes(notebook).encode())
    assert found["hw1.why_scale"] == "Because the variance\n\nis $d_k$."
    cell.source = f"Without the marker.\n\n{PLACEHOLDER}"
    assert answers(nbformat.writes(notebook).encode())["hw1.why_scale"] == "Without the marker."


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ((f"above\n{HERE}\nbelow",), {"toy.why": "above\n\nbelow"}),
        ((f"{HERE}\none", "no answer", f"{HERE}\ntwo"), {"toy.why": "one\n\ntwo"}),
        ((f"{HERE}\none\n{MARKER.format('toy.how')}\ntwo",), {"toy.why": "one", "toy.how": "two"}),
        (({"cell_type": "code", "source": f"{HERE}\n1 + 1"},), {"toy.why": "1 + 1"}),
        (({"cell_type": "raw", "source": [HERE, "\na", "b"]},), {"toy.why": "ab"}),
        (("<!--answer:toy.why-->x",), {"toy.why": "x"}),
        (("answer: toy.why", "<!-- answer: -->", "<!-- answer: toy.why"), {}),
        (({"source": 3}, {"source": [HERE, 3]}, {}), {}),
        (({"source": "x", "metadata": {"tags": ["a", 1, "answer:toy.why"]}},), {"toy.why": "x"}),
        (({"source": "x", "metadata": {"tags": "answer:toy.why"}}, {"metadata": []}), {}),
    ],
    ids=range(10),
)
def test_where_an_answer_may_stand(cells, found):
    assert answers(of(*cells)) == found


@pytest.mark.parametrize(
    "data",
    [b"", b"answer:", b"[" * 100_000 + b"answer:", b'{"nbformat": 4, "x": "answer:"}', b"\xffanswer:"],
    ids=range(5),
)  # fmt: skip
def test_a_file_that_cannot_be_read_has_no_answers(data):
    assert answers(data) == {}


def test_an_endless_answer_is_cut_and_so_are_countless_ones():
    found = answers(of(HERE + "x" * 3 * LONGEST))["toy.why"]
    assert len(found) < LONGEST + 60 and found.endswith("… [cut: 20,000 more characters]")
    many = answers(of(*(MARKER.format(f"toy.q{i}") + "x" for i in range(MOST + 50))))
    assert len(many) == MOST


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_an_answer(text):
    assert answers(of(f"{HERE}\n\n{text}"))["toy.why"] == text.strip()


def test_answers_in_a_file_of_utf16_are_found():
    cell = {"cell_type": "markdown", "source": f"{MARKER.format('hw1.why')}\n\nBecause."}
    data = json.dumps({"nbformat": 4, "cells": [cell]})
    assert answers(data.encode("utf-16")) == answers(data.encode()) == {"hw1.why": "Because."}
