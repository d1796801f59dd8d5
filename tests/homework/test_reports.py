"""The grade book and the feedback pages: right numbers, and nothing in them that acts."""

import csv
import io
import re
from html.parser import HTMLParser

import pytest

from lectures_lib.homework.diagnosis import Verdict
from lectures_lib.homework.grading.records import Records, Result, file_stem
from lectures_lib.homework.reports import feedback, gradebook
from tests.homework.toy import TOY

RIGHT = Verdict("toy.Scale", True, "right")
WRONG = Verdict("toy.double", False, "misconception", "You use `x**2` where 2 < 3.", "squares", "a vector of 3 numbers")


def result(student="anna", **more):
    return Result(student, (f"{student}.ipynb",), "f", **{"verdicts": (WRONG, RIGHT), **more})


def rows(*results):
    return list(csv.reader(io.StringIO(gradebook.table(TOY, list(results)))))


def test_one_row_a_student():
    header, anna, ben = rows(result(cells=((3, "stopped"),), uses=("flash",)), result("ben", verdicts=(), problem="The file is empty."))
    assert header == ["student", "total", "toy.double", "toy.Scale", "remarks"]
    assert anna == ["anna", "1", "0", "1", "double: squares; cell 3 stopped; mentions flash"]
    assert ben == ["ben", "0", "0", "0", "The file is empty."]


@pytest.mark.parametrize("name", ['=HYPERLINK("http://x")', "+1", "-1", "@SUM(A1)", "\tx", "\r=1", "\n=1"])
def test_hostile_names_are_no_formulas(name):
    _, row = rows(result(name, problem=name))
    for text in (row[0], row[-1]):
        assert text == "'" + re.sub(r"\s(?==)", " ", name)


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.links = [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name in ("href", "src")]

    def handle_data(self, data):
        self.text += data


def test_a_page_says_what_is_wrong_and_where_to_reread():
    page = Page(feedback.page(TOY, result()))
    for words in ("Homework toy: A toy", "anna", "1 of 3 points", "You use x**2 where 2 < 3.", "a vector of 3 numbers", "chapter 2, masks"):
        assert words in page.text
    assert all(link.endswith("/notebooks/02_self_attention.html#masks") for link in page.links)


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "`<b>`", "\ud800"])
def test_hostile_text_stays_text(hostile, tmp_path):
    verdict = Verdict("toy.double", False, "raised", hostile, on=hostile)
    bad = result(hostile.encode("utf-8", "replace").decode(), verdicts=(verdict, RIGHT), cells=((1, hostile),))
    feedback.write_all(TOY, [bad, result(problem=hostile)], tmp_path / "pages")
    for path in (tmp_path / "pages").iterdir():
        assert {"script", "img", "b"} - set(Page(path.read_text(encoding="utf-8")).tags) >= {"script", "img"}
        assert path.parent == tmp_path / "pages"


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "", ".", "x" * 500, "ä é", "a\x00b", "<script>"])
def test_hostile_names_are_harmless_file_names(name):
    stem = file_stem(name)
    assert stem.isascii()
    assert len(stem) < 60
    assert not set(stem) & set('/\\.<>"\x00')
    assert stem != file_stem(name + "x")


def test_records_come_back_or_not_at_all(tmp_path):
    records = Records(tmp_path)
    kept = result(cells=((1, "why"),), uses=("a",), seconds=1.5)
    records.put(kept)
    assert records.get("anna", "f") == kept
    assert records.get("anna", "another fingerprint") is None
    assert records.get("ben", "f") is None
    (path,) = tmp_path.iterdir()
    for damage in (path.read_text()[:-5], "[]", "{}", "", '{"student": "anna", "extra": 1}'):
        path.write_text(damage)
        assert records.get("anna", "f") is None
