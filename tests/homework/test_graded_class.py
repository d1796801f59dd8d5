"""A class for every homework, graded in the real sandbox: nothing done, all right, and mistakes as
students write them.
"""

import csv
import functools
import importlib

import pytest
from jaxtyping import config
from typer.testing import CliRunner

from lectures_lib.homework import find, load
from lectures_lib.homework.__main__ import app
from lectures_lib.homework.grader.grading import grade_class
from tests.homework.bank import (
    ROOT,
    each,
    judged,
    key,
    questions,
    right_answers,
    students,
    with_students,
)
from tests.homework.toy import notebook

pytestmark = pytest.mark.sandbox

SEED = 20_000  # the same every time; that any other will do, `test_many_seeds` finds out
HOMEWORK = with_students()
every_homework = pytest.mark.parametrize("homework", HOMEWORK)


def mistakes(homework):
    """{question: [(mistake, answer), ...]}"""
    found = {name: [] for name in questions(homework)}
    for name, mistake, answer in each(students(homework)):
        found[name].append((mistake, answer))
    return found


def rounds(homework):
    """So many students make mistakes: all there are, or five where an answer trains a model."""
    most = max(map(len, mistakes(homework).values()))
    return (
        most
        if all(question.seconds <= 10 for question in load(homework).questions)
        else min(most, 5)
    )


def wrong(homework, i):
    """{question: (mistake, answer)}: everybody's i-th mistake; a question with fewer begins again
    from its first.
    """
    return {name: found[i % len(found)] for name, found in mistakes(homework).items()}


def ways(homework):
    """In so many ways is every question answered rightly."""
    return min(map(len, right_answers(homework).values()))


# With each change three students make mistakes and one answers rightly in other words; at night all
# of them do. (`test_banks` judges every one of these answers with each change, but not in the
# sandbox.)
EACH_CHANGE = {"wrong": 3, "in_other_words": 1}


def students_of(kind, count):
    """(homework, i) for the tests' parameters: the first few with each change, all at night."""
    few = EACH_CHANGE[kind]
    return [
        pytest.param(homework, i, marks=pytest.mark.long if i >= few else ())
        for homework in HOMEWORK
        for i in range(count(homework))
    ]


def named(module, answers):
    """The source of a module of answers as a cell, and a cell that gives these answers the names of
    their questions.
    """
    source = (ROOT / "tests" / "homework" / f"{module}.py").read_text(encoding="utf-8")
    return notebook(
        source,
        "\n".join(
            f"{name.split('.')[1]} = {called(module, name, answer)}"
            for name, answer in answers.items()
        ),
    )


def called(module, question, answer):
    """What gives this answer in its module: its name, or its place among the students' answers
    where a function made it.
    """
    there = importlib.import_module(f"tests.homework.{module}")
    if getattr(there, answer.__name__, None) is answer:
        return answer.__name__
    return next(
        f"STUDENTS[{question!r}][{mistake!r}][{made.index(answer)}]"
        for mistake, made in there.STUDENTS[question].items()
        if answer in made
    )


def submissions(homework, at_night):
    """The class: {student: notebook}."""
    n_wrong, n_right = rounds(homework), ways(homework)
    if not at_night:
        n_wrong, n_right = (
            min(n_wrong, EACH_CHANGE["wrong"]),
            min(n_right, EACH_CHANGE["in_other_words"]),
        )
    handed_in = {
        f"wrong_{i}": named(
            f"students_{homework}",
            {name: answer for name, (_, answer) in wrong(homework, i).items()},
        )
        for i in range(n_wrong)
    }
    for student, folder in (("unanswered", "exercises"), ("right", "solutions")):
        (path,) = (ROOT / folder).glob(f"{homework}_*.ipynb")
        handed_in[student] = path.read_bytes()
    for i in range(n_right):
        answers = {name: answers[i] for name, answers in right_answers(homework).items()}
        handed_in[f"in_other_words_{i}"] = named(f"right_answers_{homework}", answers)
    return handed_in


@pytest.fixture(scope="module")
def graded(request, tmp_path_factory):
    """grades.csv of a homework, by student, after one run of the command."""
    at_night = any(
        item.get_closest_marker("long")
        for item in request.session.items
        if item.path == request.path
    )

    @functools.cache
    def rows(homework):
        folder = tmp_path_factory.mktemp(homework)
        (folder / "submissions").mkdir()
        for student, data in submissions(homework, at_night).items():
            (folder / "submissions" / f"{student}.ipynb").write_bytes(data)
        command = ["grade", homework, folder / "submissions", "--out", folder / "grades"]
        # one worker goes on with the sandbox in which the doors were tried; a second starts its own
        command += ["--workers", "1", "--seed", SEED]
        config.update("jaxtyping_disable", True)  # as on an instructor's machine

        def same(asked, seed):
            assert asked == find(asked.name)
            return key(asked.name, seed)

        with pytest.MonkeyPatch.context() as patch:
            # the keys that grade the class are those of `judged`: worked out once
            patch.setattr(grade_class, "AnswerKey", same)
            done = CliRunner().invoke(app, list(map(str, command)))
        config.update("jaxtyping_disable", False)
        assert done.exit_code == 0, done.output
        with (folder / "grades" / "grades.csv").open(newline="", encoding="utf-8") as file:
            return {row["student"]: row for row in csv.DictReader(file)}

    return rows


@every_homework
def test_unanswered_gets_nothing(graded, homework):
    assert graded(homework)["unanswered"]["total"] == "0"


@every_homework
def test_the_solution_gets_all_points_and_no_remark(graded, homework):
    row = graded(homework)["right"]
    assert (row["total"], row["remarks"]) == ("20", "")


@pytest.mark.parametrize(("homework", "i"), students_of("in_other_words", ways))
def test_right_answers_in_other_words_get_all_points(graded, homework, i):
    row = graded(homework)[f"in_other_words_{i}"]
    assert row["total"] == "20", row["remarks"]


@pytest.mark.parametrize(("homework", "i"), students_of("wrong", rounds))
def test_mistakes_are_named(graded, homework, i):
    row, total = graded(homework)[f"wrong_{i}"], 0.0
    for name, (mistake, answer) in wrong(homework, i).items():
        assert f"{name.split('.')[1]}: {mistake}" in row["remarks"], name
        asked = find(name).demands  # without any, a wrong answer earns nothing, whatever it does
        held = dict(judged(name, answer, SEED).demands) if asked else {}
        earned = sum(demand.points for demand in asked if held.get(demand.says))
        assert float(row[name]) == earned, name
        total += earned
    assert float(row["total"]) == total
