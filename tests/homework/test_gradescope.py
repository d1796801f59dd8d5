"""Gradescope's results.json: as its specification has it, whatever was graded."""

import json
import re
from dataclasses import replace

import pytest

from lectures_lib.homework.grader.grading.records import Result
from lectures_lib.homework.grader.reports import gradescope
from lectures_lib.homework.grader.reports.not_graded import not_graded
from lectures_lib.homework.verdict import Verdict
from tests.homework.gradescope_format import conforming
from tests.homework.toy import TOY
from tests.homework.toy_results import Late, result


def test_results_as_gradescope_reads_them():
    told = conforming(gradescope.results(TOY, result(cells=((2, "KeyError: 'a'"),)), Late()))
    assert told["score"] == 0.5
    assert told["stdout_visibility"] == "hidden"
    assert "Late: 0.5 points less." in told["output"]
    assert "Code cell 2 stopped" in told["output"]
    wrong, right = told["tests"]
    assert (wrong["name"], wrong["score"], wrong["max_score"], wrong["status"]) == (
        "Question 1: Double – squares",
        0.0,
        2.0,
        "failed",
    )
    assert (
        right["name"],
        right["score"],
        right["max_score"],
        right["status"],
        right["output"],
    ) == ("Question 2: Scale", 1.0, 1.0, "passed", "")
    for words in (
        "where 2 < 3",
        "On: a vector of 3 numbers.",
        "[0] is 4, expected 2.",
        "Reread: chapter 2, masks",
    ):
        assert words in wrong["output"]


def test_results_of_a_file_that_could_not_be_read():
    told = conforming(gradescope.results(TOY, result(verdicts=(), problem="The file is empty.")))
    assert (told["score"], told["output"]) == (
        0.0,
        "The file could not be graded. The file is empty.",
    )
    assert [(test["score"], test["max_score"], test["status"]) for test in told["tests"]] == [
        (0.0, 2.0, "failed"),
        (0.0, 1.0, "failed"),
    ]


@pytest.mark.parametrize(
    "hostile", ["\ud800", "\x00\x1b[31m", "\u202egnp", "<script>", '"}], "score": 100, "x": [{"']
)
def test_hostile_text_in_results(hostile):
    verdict = Verdict("toy.double", False, "raised", hostile, on=hostile)
    told = conforming(
        gradescope.results(TOY, result(verdicts=(verdict, verdict), cells=((1, hostile),)))
    )
    assert told["score"] == 0.0
    assert not re.search("[\x00-\x08\x1b\u202e\ud800]", json.dumps(told, ensure_ascii=False))
    conforming(gradescope.results(TOY, result(problem=hostile)))


def test_one_notebook_counts_whatever_lies_beside_it():
    picture = Result("picture", ("picture.png",), "", problem="This is no notebook: picture.png.")
    assert conforming(gradescope.for_one_student(TOY, [result(), picture]))["score"] == 1.0
    assert "This is no notebook" in conforming(gradescope.for_one_student(TOY, [picture]))["output"]
    renamed = replace(result(), files=("hw1.ipynb.json",))  # as some browsers save it
    table = Result("data", ("data.csv",), "", problem="This is no notebook: data.csv.")
    assert conforming(gradescope.for_one_student(TOY, [table, renamed]))["score"] == 1.0
    told = conforming(gradescope.for_one_student(TOY, [result(), result("ben")]))
    assert told["score"] == 0.0
    assert (
        "There are 2 notebooks: anna.ipynb, ben.ipynb. Hand in the one that counts"
        in told["output"]
    )
    with pytest.raises(ValueError, match="no submission"):
        gradescope.for_one_student(TOY, [])


def test_what_was_not_graded_gives_no_points_and_hides_the_reason_from_students():
    told = conforming(json.dumps(not_graded("bwrap: {no}", "hw3")))
    assert [(test["score"], test["max_score"], test["visibility"]) for test in told["tests"]] == [
        (0.0, 0.0, "visible"),
        (0.0, 0.0, "hidden"),
    ]
    student, instructor = told["output"] + told["tests"][0]["output"], told["tests"][1]["output"]
    assert "bwrap: {no}" in instructor
    assert "bwrap: {no}" not in student


def test_what_was_not_graded_tells_each_what_to_do():
    """The student nothing of the machinery; the instructor commands that run as they stand."""
    told = not_graded("bwrap: no", "hw3")
    for words in ("has arrived", "not your fault", "no grade", "tell your instructor"):
        assert words in told["output"]
    for words in ("sandbox", "hw3", "HOMEWORK", "namespace", "--"):
        assert words not in told["output"]
    instructor = told["tests"][1]["output"]
    commands = re.findall(r"^    lectures-homework (.*)$", instructor, re.MULTILINE)
    assert [command.split()[:2] for command in commands] == [
        ["grade", "hw3"],
        ["autograder", "hw3"],
    ]
    assert not re.search(r"\b[A-Z]{3,}\b|[@{}<>]", instructor)
