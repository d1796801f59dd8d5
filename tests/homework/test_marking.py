"""Answers that people mark: sheets without names, shared out evenly; marks that come back, and what
is said where they cannot be right.
"""

import csv
import io
import json
import math
import re
import shlex
from collections import Counter
from dataclasses import replace
from datetime import UTC, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from lectures_lib.homework.__main__ import app
from lectures_lib.homework.grader.grading.course_file import load
from lectures_lib.homework.grader.grading.late import LatePolicy
from lectures_lib.homework.grader.grading.records import Records, Result
from lectures_lib.homework.grader.grading.rules import Rules
from lectures_lib.homework.grader.grading.settings import Decision
from lectures_lib.homework.grader.marking import folder, sheets
from lectures_lib.homework.grader.marking.marks import Marks, filled
from lectures_lib.homework.grader.marking.sharing import shared_out
from lectures_lib.homework.grader.reports import (
    canvas,
    class_report,
    feedback,
    gradebook,
    gradescope,
    moodle,
)
from lectures_lib.homework.grader.reports.everything import write_all
from lectures_lib.homework.grader.reports.page import visible
from lectures_lib.homework.text_answers import MARKER, PLACEHOLDER
from tests.homework.bank import ROOT
from tests.homework.toy import TOY, notebook
from tests.homework.toy_results import DEADLINE, RIGHT, WRONG, Page

WHY, HOW = "toy.why", "toy.how"
BY_HAND = {
    "why": {"points": 2.0, "title": "Why?", "asks": "In a sentence: <why>?"},
    "how": {"points": 1.0, "title": "How?", "asks": "And how?"},
}
RULES = Rules(by_hand=BY_HAND)
POSSIBLE = {WHY: 2.0, HOW: 1.0}


def answered(student, why="Because.", how=None, **more):
    texts = {name: text for name, text in ((WHY, why), (HOW, how)) if text is not None}
    return Result(student, (f"{student}.ipynb",), "f", (WRONG, RIGHT), texts=texts, **more)


def a_class(size=12):
    return [answered(f"student_{i:02}", f"answer {i}", f"how {i}") for i in range(size)]


def rows_of(path):
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def fill(path, give):
    """Fill in a sheet: `give` takes a row, and returns points and a comment."""
    rows = rows_of(path)
    for row in rows:
        row["points"], row["comment"] = give(row)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["id", "question", "points", "comment"])
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def marking(tmp_path):
    """A folder with the sheets of two students for one marker."""
    out = tmp_path / "marking"
    people = [answered("anna", "first answer", ""), answered("ben", "second answer", "so")]
    sheets.write(TOY, people, RULES, out)
    return out, people


# --------------------------------------------------------------------------------- who marks what

ids = st.sets(st.text("bcdfg", min_size=3, max_size=6), max_size=40)
some_markers = st.integers(1, 5).map(lambda n: tuple("abcde"[:n]))


@settings(max_examples=200, deadline=None)
@given(ids, some_markers, st.integers(0, 100))
def test_everybody_marks_as_many_and_every_answer_is_marked(answers, markers, percent):
    percent = percent if len(markers) > 1 else 0
    shared = shared_out(answers, markers, percent)
    assert set(shared) == answers
    assert all(len(set(who)) == len(who) and set(who) <= set(markers) for who in shared.values())
    counts = Counter(len(who) for who in shared.values())
    assert counts[2] == round(len(answers) * percent / 100) and counts[1] + counts[2] == len(shared)
    loads = Counter(marker for who in shared.values() for marker in who)
    assert max(loads[m] for m in markers) - min(loads[m] for m in markers) <= 1
    assert shared_out(sorted(answers), markers, percent) == shared


# ------------------------------------------------------------------------------------- the sheets


def test_no_sheet_names_anybody(tmp_path):
    people = [
        answered("lovelaceada_12345", "By Ada Lovelace. ADA_LOVELACE\nor Lovelace, Ada (12345)",
                 "ada@example.org", name="Ada Lovelace",
                 ids={"canvas": "12345", "email": "ada@example.org"}),
        answered("hopper", "hopper says grasshopper", None),
        answered("eve_ng", "The eve of it.\n\n-- Eve\n**Ng**", None),
    ]  # fmt: skip
    sheets.write(TOY, people, RULES, tmp_path)
    files = [path for path in tmp_path.iterdir() if path.name != folder.FILE]
    assert {path.name for path in files} == {"marks.html", "marks.csv"}
    page = Page((tmp_path / "marks.html").read_text(encoding="utf-8")).text
    for path in files:
        text = path.read_text(encoding="utf-8").casefold()
        for name in ("ada", "lovelace", "12345", "example.org"):
            assert name not in text
    assert "The eve of it.\n\n█████\n█████" in page
    assert "█████ says grasshopper" in page and "By █████. █████\nor █████ (█████)" in page
    memory = (tmp_path / folder.FILE).read_text()
    assert "lovelace" not in memory and "hopper" not in memory
    assert (tmp_path / folder.FILE).stat().st_mode & 0o077 == 0


def test_what_is_on_a_sheet(tmp_path):
    people = [*a_class(3), answered("empty", "", None), Result("none", (), "")]
    excused = RULES.model_copy(update={"excused": {"student_00": ["why"]}})
    told = sheets.write(TOY, people, excused, tmp_path)
    assert told[0] == f"{tmp_path / 'marks.csv'}: 5 answers, to be read in marks.html"
    assert told[1].startswith("5 answers to mark, 0 of them twice. Keep marking.json to yourself")
    rows = rows_of(tmp_path / "marks.csv")
    assert [row["question"] for row in rows] == ["why"] * 2 + ["how"] * 3
    assert all(re.fullmatch("[a-z]{5}-[a-z]{5}", row["id"]) for row in rows)
    assert not any(row["points"] or row["comment"] for row in rows)
    hows = [row["id"] for row in rows if row["question"] == "how"]
    assert hows == sorted(hows), "in an order that tells nothing of the class's"
    page = (tmp_path / "marks.html").read_text(encoding="utf-8")
    assert [row["id"] for row in rows] == re.findall(r"<h3>(.*?)</h3>", page)
    for words in ("answer 1", "answer 2", "how 0", "In a sentence: &lt;why&gt;?", "0 to 2 points"):
        assert words in page
    assert "answer 0" not in page


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "</bdi></section><b>",
        "{{ 7 * 7 }} {% raw %}",
        "\u202egnp.exe\x07\x00",
        "\ud800",
        '=HYPERLINK("http://x")',
        "<style>*{display:none}</style>",
    ],
)
def test_hostile_answers_stay_text(tmp_path, text):
    sheets.write(TOY, [answered("anna", text)], RULES, tmp_path)
    source = (tmp_path / "marks.html").read_text(encoding="utf-8")
    page = Page(source)
    assert not {"script", "img", "b"} & set(page.tags) and page.tags.count("style") == 1
    assert not [name for name in page.attributes if name.startswith("on")]
    assert not page.links and "\x00" not in source
    shown = Page(source.partition("<body>")[2]).text
    assert visible(text).encode("utf-8", "backslashreplace").decode() in shown
    assert text[:3] not in (tmp_path / "marks.csv").read_text(encoding="utf-8")


def test_answers_are_shared_out_and_the_same_ones_every_time(tmp_path):
    shared = ("anna", "ben", "carl")
    sheets.write(TOY, a_class(), RULES, tmp_path / "one", shared, 25.0)
    kept = folder.read(tmp_path / "one")
    (tmp_path / "two").mkdir()
    replace(kept, path=tmp_path / "two", handed_out={}).keep()
    sheets.write(TOY, a_class()[::-1], RULES, tmp_path / "two", shared, 25.0)
    counts = []
    for name in shared:
        for ending in ("csv", "html"):
            one, two = (tmp_path / each / f"{name}.{ending}" for each in ("one", "two"))
            assert one.read_bytes() == two.read_bytes()
        counts.append(len(rows_of(tmp_path / "one" / f"{name}.csv")))
    assert counts == [10, 10, 10], "24 answers, of which 6 twice"
    twice = [who for who in kept.handed_out.values() if len(who.markers) == 2]
    assert Counter(each.question for each in twice) == {WHY: 3, HOW: 3}


def test_who_comes_later_is_on_a_further_sheet(tmp_path):
    sheets.write(TOY, a_class(4), RULES, tmp_path)
    first = fill(tmp_path / "marks.csv", lambda row: ("1", "")).read_bytes()
    assert sheets.write(TOY, a_class(4), RULES, tmp_path) == ["Nothing new to mark."]
    changed = [answered("student_00", "another answer", "how 0"), *a_class(5)[1:]]
    sheets.write(TOY, changed, RULES, tmp_path)
    assert (tmp_path / "marks.csv").read_bytes() == first
    page = (tmp_path / "marks-2.html").read_text()
    assert len(rows_of(tmp_path / "marks-2.csv")) == 3, "a changed answer, and two of a latecomer"
    assert "another answer" in page and "answer 4" in page and "answer 1" not in page
    marks = filled([tmp_path / "marks.csv"], "toy", POSSIBLE)
    assert marks.of(WHY, "student_00", "answer 0").points == 1.0
    assert marks.of(WHY, "student_00", "another answer") is None
    rules = RULES.marked(marks)
    assert rules.unused_marks(changed) == 1
    assert rules.score(TOY, changed[0]).unmarked == (WHY,)


@pytest.mark.parametrize(
    ("markers", "twice", "told"),
    [
        (("../anna",), 0, "cannot be a marker's name"),
        (("",), 0, "cannot be a marker's name"),
        (("anna-2",), 0, "cannot be a marker's name"),
        (("anna", "Anna"), 0, "name each marker once"),
        ((), 0, "name each marker once"),
        (("anna",), 10, "it takes two markers to mark an answer twice"),
        (("anna", "ben"), 101, "from 0 to 100 % can be marked twice, not 101 %"),
    ],
)
def test_what_cannot_be_shared_out_is_refused(tmp_path, markers, twice, told):
    with pytest.raises(ValueError, match=re.escape(told)):
        sheets.write(TOY, a_class(), RULES, tmp_path, markers, twice)
    assert not list(tmp_path.iterdir())


def test_a_question_that_is_in_no_notebook_is_told(tmp_path):
    """Its cell may have been left out when the homework was released."""
    told = sheets.write(TOY, [answered("ada"), answered("ben")], RULES, tmp_path / "some")
    assert told[0].startswith("toy.how: no answer in 2 submissions")
    assert "release --rules" in told[0] and "toy.why" not in told[0]
    told = sheets.write(TOY, [answered("ada", None)], RULES, tmp_path / "none")
    assert [line.split(":")[0] for line in told] == [WHY, HOW, "Nothing new to mark."]
    assert "no answer" not in " ".join(sheets.write(TOY, a_class(), RULES, tmp_path / "all"))


def test_a_folder_stays_what_it_is(marking):
    out, people = marking
    with pytest.raises(ValueError, match=r"was shared out among marks, 0 % twice: name the same"):
        sheets.write(TOY, people, RULES, out, ("anna", "ben"))
    with pytest.raises(ValueError, match="holds sheets of toy: choose another folder"):
        folder.begun(out, "hw1", ("marks",), 0.0)
    with pytest.raises(ValueError, match="have no by_hand: nothing is marked by people"):
        sheets.write(TOY, people, Rules(), out)
    (out / folder.FILE).write_text("{")
    with pytest.raises(ValueError, match=r"marking\.json is damaged"):
        sheets.write(TOY, people, RULES, out)


# --------------------------------------------------------------------------------- filled sheets


def test_marks_come_back_to_whom_they_belong(marking):
    out, (anna, ben) = marking
    text = {row["id"]: row["question"] for row in rows_of(out / "marks.csv")}
    assert sorted(text.values()) == ["how", "why", "why"]
    hers = folder.read(out).name_of(WHY, "anna", "first answer")
    fill(out / "marks.csv", lambda row: ("1,5", " good; \n=1 ") if row["id"] == hers else ("", ""))
    rules = RULES.marked(filled([out / "marks.csv"], "toy", POSSIBLE))
    score = rules.score(TOY, anna)
    assert score.points == {"toy.double": 0.0, "toy.Scale": 1.0, WHY: 1.5, HOW: 0.0}
    assert (score.total, score.out_of, score.unmarked) == (2.5, 6.0, ())
    assert score.in_words[WHY].comments == ("good; \n=1",) and score.in_words[HOW].state == "empty"
    other = rules.score(TOY, ben)
    assert (other.total, other.out_of, other.unmarked) == (1.0, 3.0, (WHY, HOW))
    assert rules.score(TOY, replace(ben, texts={})).out_of == 6.0


@pytest.mark.parametrize("between", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_sheets_as_spreadsheets_save_them(marking, between, end, mark):
    out, _ = marking
    hers = folder.read(out).name_of(WHY, "anna", "first answer")
    lines = [
        ["Points", "ID", "more", "comment", "question"],
        ["2", hers, "", "ja", "why"],
        [""] * 5,
    ]
    text = mark + end.join(between.join(line) for line in lines) + end
    (out / "marks.csv").write_bytes(text.encode())
    mark = filled([out / "marks.csv"], "toy", POSSIBLE).of(WHY, "anna", "first answer")
    assert (mark.points, mark.comments) == (2.0, ("ja",))


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (["{why},why,3,"], "marks.csv, line 2: 3 points, where at most 2 are possible"),
        (["{why},why,-1,"], "line 2: points must be a number from 0 to 2, and are '-1'"),
        (["{why},why,two,"], "line 2: points must be a number from 0 to 2, and are 'two'"),
        (["{why},why,nan,"], "points must be a number from 0 to 2, and are 'nan'"),
        (["{why},why,1e0,"], "points must be a number from 0 to 2, and are '1e0'"),
        (["{why},why,1.125,"], "line 2: points have at most two decimals, and are '1.125'"),
        (["bbbbb-ccccc,why,1,"], "line 2: no answer has the id 'bbbbb-ccccc'"),
        ([",why,1,"], "line 2: no answer has the id ''"),
        (["{why},how,1,"], "line 2: {why} is an answer to why, not to 'how'"),
        (["{why},why,1,", "{why},why,2,"],
         "line 3: {why} gets 2 points, and 1 in marks.csv, line 2"),
        (['{why},why,1,"a\nb"', "{why},why,2,"],
         "line 4: {why} gets 2 points, and 1 in marks.csv, line 2"),
        (["{why},why,1,a", "{why},why,1,b"], "line 3: {why} has another comment in marks.csv, line 2"),
        (["{why},why,1," + "x" * 2001], "line 2: the comment has 2,001 characters; up to 2,000 are"),
    ],
    ids=range(13),
)  # fmt: skip
def test_what_cannot_be_right_is_told_with_file_line_and_numbers(marking, rows, told):
    out, _ = marking
    why = folder.read(out).name_of(WHY, "anna", "first answer")
    text = "\n".join(["id,question,points,comment", *rows]).replace("{why}", why)
    (out / "marks.csv").write_text(text)
    with pytest.raises(ValueError, match=r"^the marks cannot be used:") as refusal:
        filled([out / "marks.csv"], "toy", POSSIBLE)
    assert told.replace("{why}", why) in str(refusal.value)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "its first line must name id, question, points, comment: id, question, points, "),
        (b"id,question,points\n", "must name id, question, points, comment: comment is not"),
        (b"id,id,question,points,comment\n", "comment: id is not"),
        (b"\xff\xfe", 'is no text in UTF-8: save it as "CSV UTF-8"'),
        (b"a" * ((5 << 20) + 1), "is larger than the 5 MB that are read"),
        (b'id,question,points,comment\n"' + b"x" * 200_000, "is no CSV, in line"),
    ],
    ids=range(6),
)
def test_what_is_no_sheet_is_told(marking, content, told):
    out, _ = marking
    (out / "marks.csv").write_bytes(content)
    with pytest.raises(ValueError, match="the marks cannot be used") as refusal:
        filled([out / "marks.csv"], "toy", POSSIBLE)
    assert "marks.csv" in str(refusal.value) and told in str(refusal.value)


def test_sheets_from_elsewhere(marking, tmp_path):
    out, _ = marking
    (tmp_path / "anna.csv").write_text("id,question,points,comment\n")
    with pytest.raises(FileNotFoundError, match=r"has no marking\.json, which knows the ids"):
        filled([tmp_path / "anna.csv"], "toy", POSSIBLE)
    with pytest.raises(ValueError, match="holds sheets of toy, not of hw1"):
        filled([out / "marks.csv"], "hw1", POSSIBLE)
    fill(out / "marks.csv", lambda row: ("1", ""))
    with pytest.raises(ValueError, match="by_hand in the rules has no question how any more"):
        filled([out / "marks.csv"], "toy", {WHY: 2.0})


def test_two_markers_of_one_answer(tmp_path):
    people = [answered(f"s{i}", f"answer {i}") for i in range(4)]
    sheets.write(TOY, people, RULES, tmp_path, ("anna", "ben"), 100.0)
    kept = folder.read(tmp_path)
    which = {kept.name_of(WHY, p.student, p.texts[WHY]): i for i, p in enumerate(people)}
    anna, ben = [2, 1.5, 0, 1], [1, 1.5, 0.5, None]
    for name, points in (("anna", anna), ("ben", ben)):
        given = lambda row, points=points: points[which[row["id"]]]  # noqa: E731
        fill(
            tmp_path / f"{name}.csv",
            lambda row, n=name, p=given: ("" if p(row) is None else p(row), f"{n}'s word"),
        )
    marks = filled([tmp_path / "ben.csv", tmp_path / "anna.csv"] * 2, "toy", POSSIBLE)
    assert [marks.of(WHY, p.student, p.texts[WHY]).points for p in people] == [1.5, 1.5, 0.25, 1.0]
    assert marks.of(WHY, "s0", "answer 0").comments == ("anna's word", "ben's word")
    (pair,) = marks.agreement
    differences = [1.0, 0.0, -0.5]
    mean = sum(differences) / 3
    spread = math.sqrt(sum((d - mean) ** 2 for d in differences) / 2)
    assert (pair.question, pair.first, pair.second, pair.count, pair.equal) == (
        WHY, "anna", "ben", 3, 1)  # fmt: skip
    assert (pair.mean, pair.spread) == (pytest.approx(mean), pytest.approx(spread))
    assert pair.told == (
        "toy.why: anna and ben both marked 3, 1 of them alike; mean difference +0.17 points, "
        "standard deviation 0.76"
    )
    told = write_all(TOY, people, tmp_path / "out", RULES.marked(marks))
    assert pair.told in told
    page = " ".join(Page(class_report.page(TOY, people, RULES.marked(marks))).text.split())
    assert "whyanna − ben31+0.170.76" in page


def test_an_answer_that_more_mark_than_were_to_is_a_contradiction_unless_they_agree(marking):
    out, _ = marking
    fill(out / "marks.csv", lambda row: ("1", ""))
    other = out / "ben.csv"
    other.write_text((out / "marks.csv").read_text())
    assert len(filled([out / "marks.csv", other], "toy", POSSIBLE).by_id) == 3
    fill(other, lambda row: ("0.5", ""))
    with pytest.raises(ValueError, match="was handed to one marker, and is marked by 2: 1 points "
                       r"in marks\.csv, line \d; 0\.5 points in ben\.csv, line \d"):  # fmt: skip
        filled([out / "marks.csv", other], "toy", POSSIBLE)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.integers(0, 200)), min_size=6, max_size=6),
    st.integers(-2000, 20_000),
)
def test_marks_obey_the_rules_of_all_points(tmp_path_factory, cents, minutes):
    """Lateness takes its part of them, too; no total is above what is possible, and what is not
    marked changes nothing else.
    """
    out = tmp_path_factory.mktemp("marking")
    people = [
        replace(one, handed_in=(DEADLINE.astimezone(UTC) + timedelta(minutes=minutes)).isoformat())
        for one in a_class(6)
    ]
    rules = Rules(
        by_hand=BY_HAND, deadline=DEADLINE, late=LatePolicy(percent_per_day=10), withdrawn=["how"]
    )
    sheets.write(TOY, people, rules, out)
    kept = folder.read(out)
    points = {
        kept.name_of(WHY, person.student, person.texts[WHY]): cent
        for person, cent in zip(people, cents, strict=True)
    }
    give = lambda row: ("" if points[row["id"]] is None else points[row["id"]] / 100, "")  # noqa: E731
    fill(out / "marks.csv", give)
    marked = rules.marked(filled([out / "marks.csv"], "toy", POSSIBLE))
    for person, cent in zip(people, cents, strict=True):
        before, after = rules.score(TOY, person), marked.score(TOY, person)
        assert (after.unmarked == ()) == (cent is not None)
        if cent is None:
            assert after == before
            continue
        assert after.earned == pytest.approx(before.earned + cent / 100)
        assert 0 <= after.total <= after.earned <= after.out_of == 5.0
        assert after.days_late == before.days_late
        assert (after.deducted > 0) == (after.days_late > 0)


# ------------------------------------------------------------------------------ where they are seen


def test_marks_are_shown_wherever_grades_are(marking):
    out, (anna, ben) = marking
    fill(out / "marks.csv", lambda row: ("2" if row["question"] == "why" else "", "<b>fine</b>"))
    rules = RULES.marked(filled([out / "marks.csv"], "toy", POSSIBLE))
    ids = [{"canvas": "1", "moodle": "Participant 1"}, {"canvas": "2", "moodle": "Participant 2"}]
    anna, ben = (replace(one, ids=i) for one, i in zip((anna, ben), ids, strict=True))
    rows = list(csv.reader(io.StringIO(gradebook.table(TOY, [anna, ben], rules))))
    assert rows == [
        ["student", "total", "toy.double", "toy.Scale", WHY, HOW, "possible", "remarks"],
        ["anna", "3", "0", "1", "2", "0", "", "double: squares; no answer: how"],
        ["ben", "3", "0", "1", "2", "", "5", "double: squares; not marked: how"],
    ]
    for text, warnings in (
        canvas.table(TOY, [anna, ben], rules),
        moodle.table(TOY, [anna, ben], rules),
    ):
        assert "anna" in text and "ben" not in text
        (told,) = warnings
        assert told.startswith("1 with answers that are not marked yet are not in ")
        assert text.count("6") >= 1
    for importer, name in ((canvas, "canvas_import.csv"), (moodle, "moodle_import.csv")):
        assert importer.table(TOY, [ben], rules) == (
            "",
            [f"1 with answers that are not marked yet: until then, no {name}"],
        )
    told = write_all(TOY, [anna, ben], out / "grades", rules)
    assert any(line.startswith("1 of 2 have an answer that is not marked yet") for line in told)
    page = feedback.page(TOY, anna, rules)
    assert "“<bdi>&lt;b&gt;fine&lt;/b&gt;</bdi>”" in page and "<b>fine" not in page
    assert "<span>2 of 2</span>" in page and "Nothing is written in the cell" in page
    page = feedback.page(TOY, ben, rules)
    assert "1 answer is not marked yet, and not counted for now." in page
    assert "<b>3</b> of 5 points" in page and "<span>of 1, not marked yet</span>" in page
    told = json.loads(gradescope.results(TOY, ben, rules))
    assert [(test["name"], test["score"], test["max_score"]) for test in told["tests"][2:]] == [
        ("Why?", 2.0, 2.0),
        ("How?: not marked yet", 0.0, 0.0),
    ]
    page = " ".join(Page(class_report.page(TOY, [anna, ben], rules)).text.split())
    assert "1 student has an answer that is not marked yet" in page
    assert "Why?2002.00 of 2 How?011– of 1" in page


def test_a_student_reads_beside_the_comment_what_was_marked(marking):
    _, (anna, _) = marking
    anna = replace(anna, texts={WHY: "Because 1 < 2\nand <b>so</b>.", HOW: ""})
    page = feedback.page(TOY, anna, RULES)
    shown = '<p class="written"><bdi>Because 1 &lt; 2\nand &lt;b&gt;so&lt;/b&gt;.</bdi></p>'
    assert page.count(shown) == 1 and page.count('<p class="written">') == 1
    assert "<b>so" not in page


def test_a_decision_stands_above_a_mark_and_an_excuse_above_both(marking):
    out, (anna, _) = marking
    fill(out / "marks.csv", lambda row: ("1", "hm"))
    marks = filled([out / "marks.csv"], "toy", POSSIBLE)
    decided = Rules(by_hand=BY_HAND, decisions={"anna": {"why": Decision(points=1.75)}})
    assert decided.marked(marks).score(TOY, anna).points[WHY] == 1.75
    assert decided.for_marking(TOY, anna) == {}
    excused = Rules(by_hand=BY_HAND, excused={"anna": ["toy.why"]}, extra=["how"])
    score = excused.marked(marks).score(TOY, anna)
    assert (score.excused, score.extra, score.out_of) == ((WHY,), (HOW,), 3.0)
    assert Rules(by_hand=BY_HAND, withdrawn=["why"]).score(TOY, anna).withdrawn == (WHY,)
    assert Rules(by_hand=BY_HAND, excused={"anna": "all"}).score(TOY, anna).exempt


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("by_hand: {why: {points: 2, title: Why}}", "homework.toy.by_hand.why: asks is missing"),
        ("by_hand: {why: {points: 2, title: '', asks: x}}", "by_hand.why.title: must not be empty"),
        ("by_hand: {Why: {points: 2, title: W, asks: x}}", "by_hand.Why: a name has small letters"),
        ("by_hand: {double: {points: 2, title: W, asks: x}}",
         "by_hand.double: toy has a question of this name, which the grader judges"),
        ("by_hand: {why: {points: 2, titel: W, asks: x}}",
         "by_hand.why.titel: there is no such setting; is title meant? There is points, title, asks"),
        ("marks: [a.csv]", "homework.toy.marks: needs by_hand beside it"),
        ("{by_hand: {why: {points: 1, title: W, asks: x}}, points: {why: 2}}",
         "homework.toy.points.why: toy has no question 'why'; it has double, Scale"),
        ("{by_hand: {why: {points: 1, title: W, asks: x}}, withdrawn: [wy]}",
         "toy has no question 'wy'; it has double, Scale, why"),
        ("decisions: {anna: {double: {point: 1}}}",
         "decisions.anna.double.point: there is no such setting; is points meant?"),
    ],
    ids=range(9),
)  # fmt: skip
def test_mistakes_about_questions_in_words_are_explained(tmp_path, text, told):
    inner = text if text.startswith("{") else f"{{{text}}}"
    (tmp_path / "course.yml").write_text(f"homework:\n  toy: {inner}\n")
    with pytest.raises(ValueError, match="cannot be used") as refusal:
        load(tmp_path / "course.yml", TOY)
    assert told in str(refusal.value)


def test_answers_are_remembered_with_the_result(tmp_path):
    with Records(tmp_path) as records:
        records.put(answered("anna", "why \ud800"))
        assert records.get("anna").texts == {WHY: "why \ud800"}


def test_no_marks_are_no_marks():
    assert Marks().of(WHY, "anna", "x") is None and Marks().unused([(WHY, "anna", "x")]) == 0


# -------------------------------------------------------------------------------- the commands


def told(*arguments, ok=True):
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert (done.exit_code == 0) == ok, done.output
    return " ".join(done.output.split())


def test_from_the_course_s_file_to_the_grade_book(tmp_path, pretended):
    """Release, hand in, share out, mark, grade."""
    course = tmp_path / "course.yml"
    course.write_text(
        "homework:\n  hw1:\n    by_hand:\n      why_scale:\n        points: 2\n        title: Why?\n"
        "        asks: |\n          In three sentences.\n"
    )
    told("release", "hw1", "--rules", course, "--out", tmp_path / "released")
    (student,) = (tmp_path / "released").glob("hw1_*.ipynb")
    text = student.read_text(encoding="utf-8")
    handed_in = tmp_path / "handed_in"
    handed_in.mkdir()
    for name in ("ada", "ben"):
        mine = text.replace("*Your answer here, in place of this line.*", f"I am {name}, and so.")
        (handed_in / f"{name}.ipynb").write_text(mine, encoding="utf-8")
    (handed_in / "carl.ipynb").write_bytes(notebook("1"))
    marking = ("marking", "hw1", handed_in, "--rules", course, "--out", tmp_path / "marking")
    assert "2 answers to mark, 2 of them twice" in told(
        *marking, "--markers", "anna, bob", "--twice", "100%"
    )
    assert pretended.graded == [], "nothing that was handed in is run"
    for name, points in (("anna", "2"), ("bob", "1")):
        fill(tmp_path / "marking" / f"{name}.csv", lambda row, p=points: (p, "Yes."))
    grade = ("grade", "hw1", handed_in, "--rules", course, "--out", tmp_path / "out")
    told(*grade)
    rows = rows_of(tmp_path / "out" / "grades.csv")
    assert [row["hw1.why_scale"] for row in rows] == ["", "", "0"]
    course.write_text(course.read_text() + "    marks: [marking/anna.csv]\n")
    said = told(*grade, "--marks", tmp_path / "marking" / "bob.csv")
    assert (
        "hw1.why_scale: anna and bob both marked 2, 0 of them alike; mean difference +1.00" in said
    )
    rows = rows_of(tmp_path / "out" / "grades.csv")
    assert [(row["total"], row["hw1.why_scale"]) for row in rows] == [
        ("21.5", "1.5"),
        ("21.5", "1.5"),
        ("20", "0"),
    ]
    assert len(pretended.graded) == 3, "marks need no new grading"
    told("release", "hw1", "--rules", course, "--sealed", "--out", tmp_path / "sealed")
    (student,) = (tmp_path / "sealed").glob("hw1_*.ipynb")
    assert MARKER.format("hw1.why_scale") in student.read_text(encoding="utf-8")


def test_the_example_of_the_page_runs(tmp_path, pretended, monkeypatch):
    page = (ROOT / "book" / "instructors.md").read_text(encoding="utf-8")
    part = page.partition("### Questions that people mark")[2].partition("\n### ")[0]
    (settings,) = re.findall(r"^```yaml\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)
    commands = [
        shlex.split(line)[1:]
        for block in re.findall(r"^```bash\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)
        for line in block.replace("\\\n", " ").splitlines()
    ]
    assert [command[0] for command in commands] == ["release", "marking", "grade"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "course.yml").write_text(settings, encoding="utf-8")
    release, share_out, grade = commands
    told(*release, "--solutions", ROOT / "solutions")
    (student,) = (tmp_path / release[-1]).glob("hw1_*.ipynb")
    (tmp_path / "SUBMISSIONS").mkdir()
    mine = student.read_text(encoding="utf-8").replace(PLACEHOLDER, "Because.")
    for name in ("ada", "eve"):
        (tmp_path / "SUBMISSIONS" / f"{name}.ipynb").write_text(mine, encoding="utf-8")
    told(*share_out)
    for path in (tmp_path / "marking").glob("*.csv"):
        fill(path, lambda row: ("1", ""))
    asked = "    marks: "
    assert f"# {asked.strip()}" in settings, "the line to be added is in the file as a comment"
    (tmp_path / "course.yml").write_text(settings.replace(f"    # {asked.strip()}", asked.rstrip()))
    told(*grade)
    rows = rows_of(tmp_path / "DIR" / "grades.csv")
    assert [row["hw1.why_scale"] for row in rows] == ["1", "1"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("marking", "hw1", "IN", "--rules", "COURSE", "--out", "OUT", "--twice", "some"),
         '--twice takes a percentage, such as "10%", not \'some\''),
        (("marking", "hw1", "IN", "--rules", "COURSE", "--out", "IN/out"), "lies in the folder of"),
        (("marking", "hw2", "IN", "--rules", "COURSE", "--out", "OUT"), "have no by_hand"),
        (("release", "hw1", "--rules", "COURSE"), "--rules needs --out FOLDER"),
        (("grade", "hw1", "IN", "--rules", "COURSE", "--out", "OUT", "--marks", "anna.csv"),
         "has no marking.json"),
    ],
    ids=range(5),
)  # fmt: skip
def test_what_the_commands_refuse(tmp_path, submissions, arguments, words):
    course = tmp_path / "course.yml"
    course.write_text(
        "homework: {hw1: {by_hand: {why: {points: 2, title: Why, asks: Why is it so}}}}\n"
    )
    places = {"COURSE": course, "IN": submissions, "OUT": tmp_path / "out"}
    arguments = [
        str(places.get(each, each)).replace("IN/", f"{submissions}/") for each in arguments
    ]
    assert words in told(*arguments, ok=False)


def test_a_marker_in_a_notebook_is_how_an_answer_is_found():
    """The words of the marker are part of every notebook that was ever released."""
    assert MARKER.format("hw1.why") == "<!-- answer: hw1.why (leave this line as it is) -->"
