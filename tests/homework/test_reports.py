"""The grade book, the import files and the pages: right numbers, and nothing in them that acts."""

import csv
import html
import io
import json
import re
from dataclasses import replace

import pytest

from lectures_lib.homework.grader.grading.records import file_stem
from lectures_lib.homework.grader.grading.rules import Rules
from lectures_lib.homework.grader.reports import (
    canvas,
    class_report,
    feedback,
    gradebook,
    gradescope,
    moodle,
    told,
)
from lectures_lib.homework.grader.reports.everything import write_all
from lectures_lib.homework.grader.reports.page import days, marked
from lectures_lib.homework.grader.reports.spreadsheet import harmless, number
from lectures_lib.homework.questions import load, names
from lectures_lib.homework.verdict import Verdict
from tests.homework.bank import text as notebook_text
from tests.homework.toy import DOUBLE, TOY, judged
from tests.homework.toy_results import RIGHT, WRONG, Late, Page, result

FORMULAS = ['=HYPERLINK("http://x")', "+1", "-1", "@SUM(A1)", "\tx", "\r=1", "\n=1"]
MARKUP = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "`<b>`", "\ud800"]


class Given(Rules):
    """All points for everybody."""

    def score(self, homework, result):
        score = super().score(homework, result)
        return replace(score, points=score.possible)


def read(text):
    return list(csv.reader(io.StringIO(text)))


def rows(*results, rules=None):
    return read(gradebook.table(TOY, list(results), rules))


def test_a_recognised_mistake_keeps_what_differs():
    verdict = judged(DOUBLE, lambda x: x**2)
    assert verdict.mistake == "squares"
    assert verdict.message == "You made the mistake squares."
    assert verdict.differs.startswith("The result differs in 3 of 3 values")


def test_one_row_a_student():
    header, anna, ben = rows(
        result(cells=((3, "stopped"),), uses=("flash",)),
        result("ben", verdicts=(), problem="The file is empty."),
    )
    assert header == ["student", "total", "toy.double", "toy.Scale", "remarks"]
    assert anna == ["anna", "1", "0", "1", "double: squares; cell 3 stopped; mentions flash"]
    assert ben == ["ben", "0", "0", "0", "The file is empty."]


def test_more_columns_where_somebody_has_something_in_them():
    header, anna, ben = rows(
        result(name="Anna A.", handed_in="2026-11-20T10:00:00+00:00"), result("ben"), rules=Late()
    )
    assert header == [
        "student",
        "total",
        "toy.double",
        "toy.Scale",
        "name",
        "handed_in",
        "deducted",
        "remarks",
    ]
    assert anna == [
        "anna",
        "0.5",
        "0",
        "1",
        "Anna A.",
        "2026-11-20T10:00:00+00:00",
        "0.5",
        "double: squares",
    ]
    assert ben[4:7] == ["", "", "0.5"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(3, "3"), (3.0, "3"), (2.5, "2.5"), (1 / 3, "0.33"), (0.0, "0"), (-0.001, "0"), (100, "100")],
)
def test_numbers_are_short(value, text):
    assert number(value) == text


@pytest.mark.parametrize("name", FORMULAS)
def test_hostile_names_are_no_formulas(name):
    _, row = rows(result(name, problem=name))
    for text in (row[0], row[-1]):
        assert text == "'" + re.sub(r"\s(?==)", " ", name)


@pytest.mark.parametrize(
    "text",
    [
        "＝1+1",
        "\u200b=1",
        " \u202e=1",
        "\ufeff@x",
        "anna;=1+1",
        'anna; "=1',
        "anna\t-1",
        "a\u2028=1\x0b=2\x85=3\x00",
    ],
)
def test_hostile_text_is_no_formula_in_any_cell(text):
    """Not behind what nobody sees, nor in a cell that begins at a semicolon."""
    for cell in re.split(r"[;\r\n\x0b\x85\u2028]", harmless(text)):
        assert not re.match(r"[\s\u200b-\u202e\ufeff\"]*[=+\-@＝]", cell)
    assert (
        harmless("double: squares; cell 3 stopped (x - 1)")
        == "double: squares; cell 3 stopped (x - 1)"
    )


def test_canvas_gets_what_it_exports():
    """Columns and rows as in Canvas's own gradebook_exporter.rb; its importer knows the second row
    by its first words.
    """
    someone = result(name="Anna A.", ids={"canvas": "4711"})
    text, warnings = canvas.table(
        TOY, [someone, result("ben"), result("carl", ids={"canvas": "12abc"})], Late()
    )
    header, possible, anna = read(text)
    assert header == [
        "Student",
        "ID",
        "SIS User ID",
        "SIS Login ID",
        "Section",
        "Homework toy: A toy",
    ]
    assert possible == ["    Points Possible", "", "", "", "", "3"]
    assert anna == ["Anna A.", "4711", "", "", "", "0.5"]
    assert warnings == [
        "2 of 3 submissions have no number in Canvas and are not in canvas_import.csv"
    ]
    assert (
        read(canvas.table(TOY, [someone], assignment="Attention (99)")[0])[0][-1]
        == "Attention (99)"
    )
    assert canvas.table(TOY, [result("ben")]) == ("", [])


def test_moodle_finds_its_columns():
    """The columns without which importgradeslib.php refuses a worksheet, and comments that are
    HTML.
    """
    text, warnings = moodle.table(
        TOY, [result(name="Anna A.", ids={"moodle": "Participant 12"}), result("ben")]
    )
    header, anna = read(text)
    assert {"Identifier", "Grade", "Last modified (grade)", "Feedback comments"} <= set(header)
    row = dict(zip(header, anna, strict=True))
    assert (row["Identifier"], row["Full name"], row["Grade"], row["Maximum Grade"]) == (
        "Participant 12",
        "Anna A.",
        "1",
        "3",
    )
    for words in (
        "Question 1: Double: 0 of 2",
        "x**2</bdi></code> where 2 &lt; 3.",
        "On: a vector of 3 numbers",
        "[0] is 4",
        "chapter 2, masks",
    ):
        assert words in row["Feedback comments"]
    assert warnings == [
        "1 of 2 submissions have no identifier of Moodle's and are not in moodle_import.csv"
    ]
    assert moodle.table(TOY, [result(ids={"moodle": "someone"})]) == ("", [])


@pytest.mark.parametrize(
    "text", [*FORMULAS, *MARKUP, "<=WEBSERVICE(A1);", "Points Possible", "a\nb", "\u202ename"]
)
def test_hostile_text_in_import_files(text):
    ids = {"canvas": "1", "moodle": "Participant 1"}
    bad = result(
        "x",
        name=text,
        ids=ids,
        verdicts=(replace(WRONG, message=text, on=text, differs=text), RIGHT),
    )
    (_, _, row) = read(canvas.table(TOY, [bad])[0])
    assert row[1:2] == ["1"]
    assert "Points Possible" not in row[0]
    for worksheet in (
        moodle.table(TOY, [bad])[0],
        moodle.table(TOY, [replace(bad, problem=text)])[0],
    ):
        _, row = read(worksheet)
        comments = row[-1]
        assert set(Page(comments).tags) <= {"p", "b", "br", "code", "bdi", "em"}
        for cell in [row[1], *comments.split(";")]:
            assert not re.match(r"\s*[=+\-@]", cell)
        assert not set(comments) & set("\r\n\u202e")


def test_a_page_says_what_is_wrong_and_where_to_reread():
    page = Page(feedback.page(TOY, result()))
    for words in (
        "Homework toy: A toy",
        "anna",
        "1 of 3 points",
        "Squares. You use x**2 where 2 < 3.",
        "a vector of 3 numbers",
    ):
        assert words in page.text
    assert "[0] is 4, expected 2." in page.text
    assert "chapter 2, masks" in page.text
    assert all(link.endswith("/notebooks/02_self_attention.html#masks") for link in page.links)
    for words in ("lateness", "Handed in", "more than once", "Cells that stopped", "instructor"):
        assert words not in page.text


def test_a_page_numbers_questions_as_the_notebook_does():
    for name in names():
        homework = load(name)
        verdicts = tuple(Verdict(q.name, True, "right") for q in homework.questions)
        shown = feedback.page(homework, result(verdicts=verdicts))
        heads = re.findall("<h2>(.+?)</h2>", shown)
        asked = re.findall("^## (Question .+)$", notebook_text(name), flags=re.MULTILINE)
        assert [html.unescape(head) for head in heads] == asked


def test_every_report_calls_a_question_by_its_number_and_title():
    """Moodle's comment, Gradescope's tests, the class report: as the notebook and the page do."""
    homework = load("hw3")
    mistakes = [
        Verdict(q.name, False, "misconception", "You slip.", q.misconceptions[0].name)
        for q in homework.questions
    ]
    wrong = [Verdict(q.name, False, "shape", "Your shape is off.") for q in homework.questions]
    asked = re.findall("^## (Question .+)$", notebook_text("hw3"), flags=re.MULTILINE)
    class_ = [
        result(str(i), verdicts=tuple(verdicts), ids={"moodle": f"Participant {i}"})
        for i, verdicts in enumerate((mistakes, wrong))
    ]
    page = html.unescape(class_report.page(homework, class_))
    moodle_comment = html.unescape(read(moodle.table(homework, class_)[0])[1][-1])
    tests = json.loads(gradescope.results(homework, class_[1]))["tests"]
    unread = json.loads(gradescope.results(homework, result(verdicts=(), problem="Empty.")))
    assert [test["name"] for test in tests] == asked
    assert [test["name"] for test in unread["tests"]] == asked
    for heading in asked:
        assert page.count(heading) == 4, "the table, solved by nobody, a mistake, a nameless wrong"
        assert f"<b>{heading}: 0 of " in moodle_comment


def test_a_page_numbers_what_a_person_decided_about_an_unreadable_file():
    decided = Rules(decisions={"anna": {"Scale": {"points": 1.0, "comment": "Seen."}}})
    page = Page(feedback.page(TOY, result(verdicts=(), problem="Empty."), decided))
    assert "Question 2: Scale" in page.text and "Question 1" not in page.text


def test_a_page_says_when_it_came_what_it_cost_and_what_does_not_count():
    page = Page(
        feedback.page(
            TOY,
            result(name="Anna A.", handed_in="2026-11-21T23:35:00+00:00", earlier=("old.ipynb",)),
            Late(),
        )
    )
    for words in (
        "Anna A.",
        "21 November 2026, 23:35 UTC",
        "0.5 points less",
        "On day 2.",
        "Earned: 1. Counted: 0.5.",
        "old.ipynb",
    ):
        assert words in page.text
    assert "0.5 of 3 points" in page.text


def test_what_is_withdrawn_counts_nowhere():
    rules = Rules(withdrawn=["double"], cap=0.5)
    someone = result(ids={"canvas": "1", "moodle": "Participant 1"})
    assert rows(someone, rules=rules)[1][1:4] == ["0.5", "", "1"]
    page = Page(feedback.page(TOY, someone, rules)).text
    for words in ("0.5 of 0.5 points", "does not count", "At most 0.5 points count."):
        assert words in page
    assert read(canvas.table(TOY, [someone], rules)[0])[1][-1] == "0.5"
    assert "Question 1: Double: does not count" in moodle.table(TOY, [someone], rules)[0]
    assert (
        "Withdrawn, they do not count: Question 1: Double."
        in Page(class_report.page(TOY, [someone], rules)).text
    )


def test_what_the_rules_leave_open_is_told(tmp_path):
    rules = Rules(deadline="2026-11-01 12:00 UTC", extensions={"nobody": "2026-11-02 12:00 UTC"})
    warnings = write_all(TOY, [result(ids={"canvas": "1", "canvas_late": "1"})], tmp_path, rules)
    assert warnings == [
        "the rules name nobody, who handed in nothing, or are nobody in this class",
        "1 of 1 need a decision about lateness; see the remarks in grades.csv",
    ]
    assert "Canvas marks this as late" in read((tmp_path / "grades.csv").read_text())[1][-1]


def test_a_page_says_where_points_come_from_that_no_answer_earned():
    page = Page(feedback.page(TOY, result(), Given()))
    assert "3 of 3 points" in page.text
    assert "All the same, this question counts with 2 points." in page.text


@pytest.mark.parametrize("hostile", MARKUP)
def test_hostile_text_stays_text(hostile, tmp_path):
    verdict = Verdict("toy.double", False, "raised", hostile, on=hostile, differs=hostile)
    bad = result(
        hostile.encode("utf-8", "replace").decode(),
        verdicts=(verdict, RIGHT),
        cells=((1, hostile),),
        uses=(hostile,),
    )
    bad = replace(bad, name=hostile, earlier=(hostile,), handed_in=hostile)
    warnings = write_all(TOY, [bad, result(problem=hostile)], tmp_path / "out")
    assert warnings == [
        "1 of 2 files could not be read and count 0 points; class_report.html says which and why"
    ]
    pages = [tmp_path / "out" / "class_report.html", *(tmp_path / "out" / "feedback").iterdir()]
    assert len(pages) == 3
    for path in pages:
        page = Page(path.read_text(encoding="utf-8"))
        assert not {"script", "img"} & set(page.tags)
        assert not [name for name in page.attributes if name.startswith("on")]
        assert "<bdi><b>" not in path.read_text(encoding="utf-8")
        assert path.is_relative_to(tmp_path / "out")


def test_hostile_names_do_not_turn_the_page_around():
    """Right-to-left marks end where the name ends; control characters are seen."""
    name = "\u202eanna\u0007"
    for text in (
        feedback.page(TOY, result(name=name)),
        class_report.page(TOY, [result(name=name)]),
    ):
        for found in re.finditer("\u202eanna\ufffd", text):
            before = text[: found.start()]
            assert before.endswith(("<bdi>", "\N{FIRST STRONG ISOLATE}"))
    assert str(marked("`\u202ex` y")) == "<code><bdi>\u202ex</bdi></code> y"
    assert told.plain("\u202ea\u2066b\x1b[0m\n") == "ab[0m\n"


def test_emphasis_is_not_multiplication():
    assert str(marked("*may attend*, a*b*c, 2 * 3 * 4, **kwargs, `*x*`, *<b>*")) == (
        "<em>may attend</em>, a*b*c, 2 * 3 * 4, **kwargs, <code><bdi>*x*</bdi></code>, *&lt;b&gt;*"
    )
    assert str(marked("one ` only <")) == "one ` only &lt;"


def test_pages_ask_nobody_for_anything():
    for text in (feedback.page(TOY, result()), class_report.page(TOY, [result()])):
        assert not re.search(r"url\(|@import|<link|<script|src=", text)
        assert all("#" in link and "/notebooks/" in link for link in Page(text).links)


def test_everything_is_written_and_replaced(tmp_path):
    out = tmp_path / "new" / "out"
    someone = result(ids={"canvas": "1", "moodle": "Participant 2"})
    assert write_all(TOY, [result("ben", ids={"canvas": "2"}), someone], out) == [
        "1 of 2 submissions have no identifier of Moodle's and are not in moodle_import.csv"
    ]
    files = {path.name for path in out.iterdir()}
    assert files == {
        "grades.csv",
        "class_report.html",
        "canvas_import.csv",
        "moodle_import.csv",
        "written.json",
        "feedback",
    }
    assert [row[0] for row in read((out / "grades.csv").read_text())] == ["student", "anna", "ben"]
    assert write_all(TOY, [result()], out, Late()) == []
    assert {path.name for path in out.iterdir()} == {
        "grades.csv",
        "class_report.html",
        "written.json",
        "feedback",
    }
    assert read((out / "grades.csv").read_text())[1][1] == "0.5"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1.0, "1 day"),
        (2.5, "2.5 days"),
        (0.5, "12 hours"),
        (0.01, "14.4 minutes"),
        (0.0, "0 seconds"),
    ],
)
def test_times_in_words(value, words):
    assert days(value) == words


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "a/b", "", ".", "x" * 500, "ä é", "a\x00b", "<script>"]
)
def test_hostile_names_are_harmless_file_names(name):
    stem = file_stem(name)
    assert stem.isascii()
    assert len(stem) < 60
    assert not set(stem) & set('/\\.<>"\x00')
    assert stem != file_stem(name + "x")


def test_two_students_of_one_name_have_a_page_each(tmp_path):
    """Also where a disk overlooks capitals; and a name that is somebody's alone is the file's."""
    names = ["Ada Lovelace", "ada lovelace", "ben", "a/b", "a b", "a_b", file_stem("a/b")]
    feedback.write_all(TOY, [result(names[0])], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["Ada Lovelace.html"]
    feedback.write_all(TOY, [result(name) for name in names], tmp_path)
    pages = sorted(path.name for path in tmp_path.iterdir())
    assert len({page.lower() for page in pages}) == len(names)
    assert {"ben.html", "a b.html", "a_b.html"} < set(pages)
    assert "Ada Lovelace.html" not in pages and "ada lovelace.html" not in pages


def test_hostile_names_that_would_share_a_page_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(feedback, "file_stem", lambda student, shared=False: student[:3])
    with pytest.raises(ValueError, match=r"2 students would be called ada\.html"):
        feedback.write_all(TOY, [result("ada/1"), result("ada/2"), result("ben")], tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_name_s_hash_is_too_long_to_be_aimed_at():
    """Of 8 digits two that agree are found in seconds."""
    assert re.fullmatch("a_b-[0-9a-f]{16}", file_stem("a/b"))


# ------------------------------------------------------------------- a table that somebody edited


def test_an_edited_grade_book_stays_and_the_new_one_lies_beside_it(tmp_path):
    grades = tmp_path / "grades.csv"
    write_all(TOY, [result()], tmp_path)
    assert write_all(TOY, [result()], tmp_path, Late()) == [], "nobody has edited it"
    grades.write_text(grades.read_text() + "ben,3,2,1,by hand\n")
    mine = grades.read_bytes()
    for _ in range(2):
        (told,) = write_all(TOY, [result()], tmp_path)
        assert told.startswith("grades.csv was edited since it was written, so it stays as it is")
        assert "the new one is grades.new.csv" in told
        assert grades.read_bytes() == mine
        assert read((tmp_path / "grades.new.csv").read_text())[1][1] == "1"
    new = tmp_path / "grades.new.csv"
    new.write_text("mine, too\n")
    (told,) = write_all(TOY, [result()], tmp_path, Late())
    assert "grades.new.csv was edited" in told and "the new one is grades.new2.csv" in told
    assert (grades.read_bytes(), new.read_text()) == (mine, "mine, too\n")
    grades.unlink()
    new.unlink()
    assert write_all(TOY, [result()], tmp_path) == []
    assert read(grades.read_text())[1][1] == "1"
    assert not list(tmp_path.glob("grades.new*")), "what nobody edited does not stay"


def test_what_lay_beside_goes_when_nobody_s_edits_are_left(tmp_path):
    write_all(TOY, [result()], tmp_path)
    (tmp_path / "grades.csv").write_text("mine\n")
    write_all(TOY, [result()], tmp_path)
    (tmp_path / "grades.new.csv").replace(tmp_path / "grades.csv")
    assert write_all(TOY, [result()], tmp_path) == [], "the new one, taken over as it is"
    assert not list(tmp_path.glob("grades.new*"))


def test_an_edited_import_file_stays_also_where_there_is_nothing_to_import(tmp_path):
    write_all(TOY, [result(ids={"canvas": "1"})], tmp_path)
    (tmp_path / "canvas_import.csv").write_text("mine\n")
    (told,) = write_all(TOY, [result()], tmp_path)
    assert "canvas_import.csv was edited" in told and "there is no new one" in told
    assert (tmp_path / "canvas_import.csv").read_text() == "mine\n"


def test_a_table_that_nobody_remembers_is_taken_for_edited(tmp_path):
    write_all(TOY, [result()], tmp_path)
    (tmp_path / "written.json").unlink()
    assert write_all(TOY, [result()], tmp_path) == [], "it says what is to be written"
    (tmp_path / "written.json").write_text("{")
    (told,) = write_all(TOY, [result()], tmp_path, Late())
    assert "grades.csv was edited" in told
