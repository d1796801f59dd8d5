"""Grading a class: a run goes on where it stopped, a question is put again, a later file is taken in;
and which seed is drawn.
"""

import csv
import json
import warnings
from dataclasses import replace

import pytest
import torch

from lectures_lib.homework.grader.grading import grade_class, grade_one
from lectures_lib.homework.grader.grading.executors import Threads
from lectures_lib.homework.grader.grading.records import Records
from lectures_lib.homework.grader.sandbox.template import Limits
from lectures_lib.homework.grader.submissions.collect import collect
from lectures_lib.homework.questions import Case, Homework, Misconception
from tests.homework.toy import (
    DOUBLE,
    QUICK,
    RIGHT_DOUBLE,
    RIGHT_SCALE,
    TOY,
    notebook,
    question,
)


def test_an_interrupted_run_goes_on(submissions, pretended, tmp_path):
    out = tmp_path / "grades"
    pretended.broken["carl"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        grade_class.grade(TOY, submissions, out)
    assert not (out / "grades.csv").exists()
    seed = json.loads((out / "grading.json").read_text())["seed"]
    del pretended.broken["carl"]
    first = list(pretended.graded)
    results = grade_class.grade(TOY, submissions, out)
    assert [result.student for result in results] == ["anna", "ben", "carl", "dora"]
    again = pretended.graded[len(first) :]
    assert "carl" in again
    assert "anna" not in again
    assert json.loads((out / "grading.json").read_text())["seed"] == seed
    (submissions / "ben.ipynb").write_bytes(notebook("# changed"))
    done = len(pretended.graded)
    grade_class.grade(TOY, submissions, out, Threads(3))
    assert pretended.graded[done:] == ["ben"]
    assert len(list((out / "feedback").iterdir())) == 4


def test_one_thread_gives_results_in_the_order_in_which_they_came_in(submissions, pretended):
    for i in range(60):
        (submissions / f"student{i:02d}.ipynb").write_bytes(notebook("# more"))
    job = grade_one.Job(TOY, 1, (), Limits())
    given = [result.student for result in Threads(1).results(list(collect(submissions)), job)]
    assert given == pretended.graded
    assert len(given) == 64


def test_one_folder_holds_one_run(submissions, pretended, tmp_path):
    out = tmp_path / "grades"
    grade_class.grade(TOY, submissions, out, seed=7)
    grade_class.grade(TOY, submissions, out, seed=7)
    with pytest.raises(ValueError, match="with seed 7"):
        grade_class.grade(TOY, submissions, out, seed=8)
    with pytest.raises(ValueError, match="lies in the folder"):
        grade_class.grade(TOY, submissions, submissions / "grades")
    first, second = (tmp_path / name for name in ("one", "two"))
    for folder in (first, second):
        grade_class.grade(TOY, submissions, folder)
    seeds = [
        json.loads((folder / "grading.json").read_text())["seed"] for folder in (first, second)
    ]
    assert seeds[0] != seeds[1]


@pytest.mark.sandbox
def test_a_class_in_the_sandbox(tmp_path):
    """Names that are formulas or markup, files that are no notebooks, and honest work, in one
    run.
    """
    folder = tmp_path / "submissions"
    folder.mkdir()
    right = notebook("import lectures_lib", "lectures_lib.setup()", RIGHT_DOUBLE, RIGHT_SCALE)
    (folder / '=HYPERLINK("http:,,x").ipynb').write_bytes(right)
    (folder / "<script>alert(1)<,script>.ipynb").write_bytes(
        notebook("def double(x):\n    return x**2")
    )
    (folder / "zero.ipynb").write_bytes(b"")
    (folder / "deep.ipynb").write_bytes(b"[" * 100_000)
    results = grade_class.grade(TOY, folder, tmp_path / "grades", Threads(2), limits=QUICK)
    assert [sum(verdict.right for verdict in result.verdicts) for result in results] == [0, 2, 0, 0]
    with (tmp_path / "grades" / "grades.csv").open(newline="") as file:
        table = list(csv.reader(file))
    assert table[2][:4] == ['\'=HYPERLINK("http:,,x")', "3", "2", "1"]
    assert table[1][-1] == "double: squares; Scale: missing"
    assert not [
        path
        for path in (tmp_path / "grades" / "feedback").iterdir()
        if "<script" in path.read_text(encoding="utf-8")
    ]


def again(submissions, out, *questions):
    return grade_class.grade(TOY, submissions, out, again=questions)


def test_one_question_is_put_again_to_everybody(submissions, pretended, tmp_path):
    """The others' verdicts stay; a new file is asked everything."""
    out = tmp_path / "grades"
    grade_class.grade(TOY, submissions, out)
    (submissions / "eva.ipynb").write_bytes(notebook("# eva"))
    results = again(submissions, out, "toy.double")
    assert sorted(pretended.questions[-5:]) == [
        ("anna", 1),
        ("ben", 1),
        ("carl", 1),
        ("dora", 1),
        ("eva", 2),
    ]
    assert all(
        [verdict.question for verdict in result.verdicts] == ["toy.double", "toy.Scale"]
        for result in results
    )
    with pytest.raises(KeyError, match=r"toy.double, toy.Scale"):
        again(submissions, out, "toy.nothing")


def test_a_later_file_of_a_student_is_graded_and_the_earlier_result_is_kept(
    submissions, pretended, tmp_path
):
    out = tmp_path / "grades"
    grade_class.grade(TOY, submissions, out)
    (submissions / "ben.ipynb").write_bytes(notebook("# better"))
    grade_class.grade(TOY, submissions, out)
    with Records(out) as records:
        assert sorted(student for student, _ in records.written()) == [
            "anna",
            "ben",
            "ben",
            "carl",
            "dora",
        ]


def test_two_graders_do_not_share_a_folder(submissions, pretended, tmp_path):
    out = tmp_path / "grades"
    grade_class.grade(TOY, submissions, out)
    with grade_class.only_one(out), pytest.raises(ValueError, match="another grader is at work"):
        grade_class.grade(TOY, submissions, out)


def test_a_seed_with_which_an_argument_does_not_matter_is_not_drawn(monkeypatch):
    """Nobody listed the mistake of leaving `lengths` out; with the first seed's inputs it is
    right.
    """
    seeds = iter([1, 12, 23])
    monkeypatch.setattr(grade_class.secrets, "randbits", lambda bits: next(seeds))

    def inputs(generator):
        return [Case((torch.tensor([1.0, 2.0]), 1 if generator.initial_seed() == 1 else 2))]

    times = replace(question("times", lambda x, n, unused=0: x * n), cases=inputs)
    assert grade_class.drawn(Homework("toy", "A toy", (times,))) == 12


def test_what_a_known_mistake_makes_python_warn_of_is_not_shown(monkeypatch, recwarn):
    """With some seeds a known mistake of multi-head attention makes a layer without weights."""

    def warns(x):
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=1)
        return 0.0

    mistaken = Misconception("warns", "It warns.", warns)
    seen = replace(
        question("seen", lambda x: 1.0),
        cases=lambda generator: [Case((1.0,))],
        misconceptions=(mistaken,),
    )
    monkeypatch.setattr(grade_class.secrets, "randbits", lambda bits: 12)
    assert grade_class.drawn(Homework("toy", "A toy", (seen,))) == 12
    assert not recwarn.list


def test_a_seed_on_which_a_mistake_does_not_show_is_not_drawn(monkeypatch):
    """A vector that reads the same backwards cannot tell `reversed` from the right answer."""
    seeds = iter([1, 12, 23])
    monkeypatch.setattr(grade_class.secrets, "randbits", lambda bits: next(seeds))
    palindromes = question(
        "double", DOUBLE.reference, mistakes=(("reversed", lambda x: 2 * x.flip(0)),)
    )
    shown = replace(
        palindromes,
        cases=lambda g: [Case((torch.tensor([1.0, 2.0, 1.0 if g.initial_seed() == 1 else 3.0]),))],
    )
    assert grade_class.drawn(Homework("toy", "A toy", (shown,))) == 12
    never = replace(shown, cases=lambda g: [Case((torch.zeros(2),), shows="nothing")])
    monkeypatch.setattr(grade_class.secrets, "randbits", lambda bits: 0)
    with pytest.raises(
        ValueError, match=r"none tells all mistakes apart.*reversed is judged right"
    ):
        grade_class.drawn(Homework("toy", "A toy", (never,)))
