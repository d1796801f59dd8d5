"""The report on a class: every submission counted once, in the right drawer, and a page that says
so.
"""

import re
from dataclasses import replace

import pytest

from lectures_lib.homework.grader.grading.records import Result
from lectures_lib.homework.grader.reports import class_report
from lectures_lib.homework.grader.reports.class_summary import STATES, distribution, summary
from lectures_lib.homework.verdict import LOST, Verdict
from tests.homework.toy import TOY
from tests.homework.toy_results import Late, Page

RIGHT = Verdict("toy.Scale", True, "right")
SQUARES = Verdict("toy.double", False, "misconception", "You square.", "squares")


def result(student, *verdicts, **more):
    return Result(student, (f"{student}.ipynb",), "f", verdicts, **more)


def double(kind, message=""):
    return Verdict("toy.double", kind == "right", kind, message)


CLASS = [
    result("a", SQUARES, RIGHT, seconds=2.0),
    result("b", SQUARES, RIGHT, seconds=4.0, uses=("flash", "flash")),
    result("c", replace(SQUARES, mistake="reversed", message="You reverse."), RIGHT, seconds=6.0),
    result("d", double("values", "The result is 3; expected 4."), RIGHT),
    result(
        "e",
        double("values", "The result is 5; expected -6.5."),
        RIGHT,
        cells=((1, "KeyError in line 2, `x`: 'a'"), (2, "KeyError: 'b'")),
    ),
    result(
        "f",
        double("raised", "It raised TypeError: no."),
        RIGHT,
        cells=((3, "It needed more memory than it may have."),),
    ),
    result("g", double("unfinished"), RIGHT),
    result("h", double("time"), RIGHT),
    result("i", double("right"), RIGHT),
    result(
        "j",
        double("unread"),
        replace(RIGHT, right=False, kind="unread"),
        problem="The file is empty.",
    ),
]


def test_every_submission_lies_in_one_drawer():
    counted = summary(TOY, CLASS)
    assert (counted.handed_in, counted.read, counted.full, counted.late) == (10, 9, 1, 0)
    first, second = (question.counts for question in counted.questions)
    assert first == {"right": 1, "mistake": 3, "wrong": 3, "open": 1, "cut": 1}
    assert second == {"right": 9, "mistake": 0, "wrong": 0, "open": 0, "cut": 0}
    assert [(one.name, one.students) for one in counted.mistakes] == [
        ("squares", ["a", "b"]),
        ("reversed", ["c"]),
    ]
    assert [one.students for one in counted.others] == [["d", "e"], ["f"]]
    assert [(one.name, one.students) for one in counted.stopped] == [
        ("KeyError", ["e"]),
        ("It needed more memory than it may have.", ["f"]),
    ]
    assert [(one.name, one.students) for one in counted.uses] == [("flash", ["b"])]
    assert [(one.name, one.students) for one in counted.unread] == [("The file is empty.", ["j"])]
    assert [question.name for question in counted.by_everybody] == ["toy.Scale"]
    assert counted.by_nobody == []
    assert counted.mean == pytest.approx(11 / 9)
    assert counted.median == 1
    assert counted.possible == 3
    assert counted.seconds == 12
    assert counted.slowest[0] == ("c", 6.0)


@pytest.mark.parametrize(
    "kind", [*LOST, "type", "shape", "nan", "changed", "raised", "a kind of tomorrow"]
)
def test_every_kind_has_a_drawer(kind):
    (first, _) = summary(TOY, [result("a", double(kind), RIGHT)]).questions
    assert sum(first.counts.values()) == 1
    assert set(first.counts) == set(STATES) == set(class_report.STATES)
    assert first.counts["right"] == 0


@pytest.mark.parametrize(
    ("totals", "possible", "expected"),
    [
        ([0.0, 1.0, 1.0, 3.0], 3.0, {"0": 1, "1": 2, "2": 0, "3": 1}),
        ([0.5, 1.0, 3.0], 3.0, {"0–1": 1, "1–2": 1, "2–3": 0, "3": 1}),
        ([-1.0, 7.0, 21.0, 20.0], 20.0, {"0–1": 1, "6–7": 1, "20 and more": 2}),
        ([0.5, 0.9], 1.0, {"0–1": 2, "1": 0}),
        ([99.0, 100.0], 100.0, {"90–99": 1, "100": 1}),
        ([2.0], 2.5, {"2–2.5": 1, "2.5": 0}),
        ([0.0], 0.0, {"0": 1}),
    ],
)
def test_every_total_lies_in_one_bin(totals, possible, expected):
    bins = distribution(totals, possible)
    counts = {one.label: one.count for one in bins}
    assert len(counts) == len(bins) <= 13
    assert sum(counts.values()) == len(totals)
    assert counts | expected == counts


def test_the_page_says_it():
    text = class_report.page(
        TOY,
        [
            replace(one, verdicts=(*one.verdicts[:1], replace(RIGHT, right=False, kind="shape")))
            for one in CLASS
        ],
        Late(),
    )
    page = Page(text)
    words = " ".join(page.text.split())
    assert "Solved by nobody: Question 2: Scale." in words
    for said in (
        "Squares in Question 1: Double",
        "You square.",
        "chapter 2, masks",
        "22 %",
        "The file is empty.",
        "flash",
        "KeyError",
    ):
        assert said in words
    assert words.index("You square.") < words.index("You reverse.")
    assert len(re.findall(r"<h1", text)) == 1
    ids = re.findall(r' id="(\w+)"', text)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'aria-labelledby="(\w+)"', text)) == set(ids)


@pytest.mark.parametrize("some", [[], [CLASS[-1]], [CLASS[0]], [result("a", RIGHT)]])
def test_a_class_of_none_or_one(some):
    words = " ".join(Page(class_report.page(TOY, some)).text.split())
    assert f"submissions{len(some)}" in words


def test_a_large_class_stays_a_short_page():
    text = class_report.page(
        TOY, [replace(CLASS[i % 10], student=f"student {i}", name="x" * 300) for i in range(1000)]
    )
    assert len(text) < 200_000
    assert "and 188 more; grades.csv names everybody" in text


def test_two_students_of_one_name_are_two():
    stopped = (
        (1, "NameError: name 'x' is not defined."),
        (2, "NameError: name 'y' is not defined."),
    )
    namesakes = [result(who, RIGHT, name="Ada", cells=stopped) for who in ("a", "b")]
    counted = summary(TOY, namesakes)
    assert [one.students for one in counted.stopped] == [["Ada", "Ada"]]


def test_kinds_of_wrong_answers_beyond_a_dozen_are_folded_away():
    """The most frequent ones stand first; what is folded is counted."""
    kinds = "abcdefghijklmno"
    some = [result(kind, double("values", f"It is {kind}.")) for kind in kinds]
    page = class_report.page(TOY, [*some, result("z", double("values", "It is o."))])
    shown, folded, rest = page.partition(
        "<summary>3 more kinds, none of them more frequent</summary>"
    )
    assert folded and "It is o." in shown
    assert [kind for kind in kinds if f"It is {kind}." in rest] == ["l", "m", "n"]
    dozen = class_report.page(TOY, some[:12])
    assert "more kinds, none of them" not in dozen


def test_the_slowest_are_said_to_have_waited_for_their_sandbox():
    class_ = [result(f"s{i}", RIGHT, seconds=1.0) for i in range(9)]
    page = class_report.page(TOY, [*class_, result("slow", RIGHT, seconds=40.0)])
    assert "The slowest, by the clock (a first file also waits for its sandbox to start)" in page
    assert re.search(r"slow.*?\(40 s\)", page.partition("The slowest, by the clock")[2])
