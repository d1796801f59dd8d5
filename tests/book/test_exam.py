"""The exam's questions: other numbers with another seed, the same with the same one, sheets
of the points asked for, and a page that is the bank. (Is an answer right? test_exam_answers.py.)
"""

import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lectures_lib.exam import QUESTIONS, choose, draw, paper, write
from lectures_lib.exam.question import KINDS
from lectures_lib.exam.sheet import heading, page, text
from lectures_lib.exam.writing import asked, figure, solved
from tests.helpers.exam_draws import SEEDS, drawn_with

ROOT = Path(__file__).parents[2]
every_question = pytest.mark.parametrize("one", QUESTIONS, ids=lambda one: one.name)


@cache
def written(one):
    """What is asked and what is answered, for each of these draws."""
    return [(asked(each), solved(each)) for each in drawn_with(one)]


@every_question
def test_numbers_are_drawn_and_kept(one):
    assert drawn_with(one)[:5] == [draw(one, seed) for seed in SEEDS[:5]]
    assert len({asks for asks, _ in written(one)}) > 1
    assert all(each.asks.rstrip().endswith(("?", ".")) for each in drawn_with(one))
    for text_ in {"".join(both) for both in written(one)}:
        assert not re.search(r"\bnan\b|(?<![.\w])inf\b|tensor|-0\.0+\b|\de[-+]\d", text_)


@every_question
def test_the_solution_follows_the_numbers(one):
    """No question has one solution for all its numbers, and none has two for the same."""
    found = {}
    for asks, solution in written(one):
        assert found.setdefault(asks, solution) == solution
    assert len(set(found.values())) > 1


@every_question
def test_what_earns_points_is_said(one):
    for each in drawn_with(one):
        assert sum(n for n, _ in each.marks) == one.points
        assert each.wrong.endswith((".", "?")) and each.reveals.endswith(".")
    assert 0.7 * one.points <= one.minutes <= 1.5 * one.points


@every_question
def test_one_option_is_right_wherever_it_stands(one):
    for each in drawn_with(one):
        assert len(set(each.options)) == len(each.options) != 1
        assert not each.options or each.right < len(each.options)
    if drawn_with(one)[0].options:
        assert len({each.right for each in drawn_with(one)}) > 1


@every_question
def test_pictures_are_said_in_words_and_fit_a_page(one):
    for each in drawn_with(one):
        for picture in filter(None, (each.picture, each.solved)):
            assert one.name in picture.name and picture.width <= 720
            assert picture.title and len(picture.description) > 40
            assert ElementTree.fromstring(picture.svg()) is not None
            assert "\n\n" not in figure(picture)
        assert bool(each.picture) == bool(drawn_with(one)[0].picture)
        if each.picture and each.solved:
            assert each.picture.name != each.solved.name


def test_every_chapter_is_asked_about_in_several_ways():
    chapters = Counter(one.chapter for one in QUESTIONS)
    assert set(chapters) == set(range(1, 19)) and 2 <= min(chapters.values()) <= 3
    assert max(chapters.values()) <= 5
    assert len({one.name for one in QUESTIONS}) == len(QUESTIONS) >= 50
    assert {one.kind for one in QUESTIONS} == set(KINDS)
    assert sum(draw(one, 0).picture is not None for one in QUESTIONS) > len(QUESTIONS) / 3


@pytest.mark.parametrize("points", [10, 30, 60, 90])
def test_a_sheet_has_the_points_asked_for(points):
    for seed in range(20):
        chosen = choose(points, seed)
        assert points - 3 <= sum(one.points for one in chosen) <= points
        assert len(set(chosen)) == len(chosen)
    assert {one.chapter for one in choose(12, 0, chapters=(2, 3))} <= {2, 3}


def test_the_students_sheet_tells_no_solution(tmp_path):
    written = {path.name: path.read_text("utf-8") for path in write(tmp_path, 60, seed=7)}
    for ending in (".md", ".html"):
        for said in ("Solution", "Marks", "Often answered"):
            assert said not in written["questions" + ending]
            assert said in written["solutions" + ending]
    questions, solutions = written["questions.md"], written["solutions.md"]
    for one in choose(60, 7):
        assert draw(one, 7).asks in questions and draw(one, 7).asks in solutions
        assert draw(one, 7).solution not in questions


def test_the_paper_asks_no_other_host_and_leaves_no_markdown(tmp_path):
    for solutions in (False, True):
        sheet = text(QUESTIONS, 0, solutions)
        made = paper.page(sheet)
        assert made.count("</svg>") == sheet.count("</svg>") > len(QUESTIONS) / 3
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|src=|href=", made)
        assert "&lt;figure" not in made and "&lt;sup" not in made
        read = re.sub(r"<(style|svg|pre|code).*?</\1>", "", made, flags=re.DOTALL)
        assert not re.search(r"\*|`|\$|^#|^- ", re.sub(r"<[^>]*>", "", read), re.MULTILINE)
        assert made.count("<section>") == made.count("</section>") == len(QUESTIONS)
        assert ElementTree.fromstring(made).tag == "html"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--points", "2"], "2 points are too few: the smallest question is worth 4"),
        (["--chapters", "99"], "no question is about chapters [99]"),
    ],
)
def test_what_cannot_be_drawn_is_said(given, told, tmp_path):
    command = [sys.executable, "-m", "lectures_lib.exam", *given, "--out", tmp_path]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert ran.returncode == 1 and told in ran.stderr and "Traceback" not in ran.stderr


def test_a_heading_names_a_chapters_second_page():
    """And keeps the address by which the chapters link to it."""
    assert heading(6) == "## Chapter 6\n"
    assert heading(7) == "(chapter-7)=\n## Chapters 7 and 7b\n"
    assert heading(13) == "(chapter-13)=\n## Chapters 13 and 13c\n"
    assert heading(16) == "(chapter-16)=\n## Chapters 16, 16b and 16c\n"


def test_the_page_is_the_bank():
    """Made by python -m lectures_lib.exam --page book/exam.md."""
    assert (ROOT / "book/exam.md").read_text("utf-8") == page()
    assert text(QUESTIONS, 0, solutions=True).count("**Solution.**") == len(QUESTIONS)
