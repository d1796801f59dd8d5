"""What a question offers is read off its wording, and its answer marks which of it comes out."""

import json
import re
import sys

import lxml.html
import pytest
from docutils import nodes
from docutils.utils import new_document
from sitemap import ROOT

from lectures_lib import results as quoted_numbers

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import guess
import results

CHAPTERS = sorted((ROOT / "notebooks").glob("[0-9]*.py"))


@pytest.mark.parametrize(
    ("question", "offered"),
    [
        ("How many: none, about half, or all?", ["none", "about half", "all"]),
        ("What does it give: 0.54, 0.88 or 1.00?", ["0.54", "0.88", "1.00"]),
        ("Which is it: “is” or “are”?", ["“is”", "“are”"]),
        ("How many: half\nof it, or all? (Think: why?)", ["half of it", "all"]),
        ("How many are right?", []),
        ("How much: a third, two thirds, all?", []),  # no "or": it may be a list of things
        ("Is it: \0 or 4?", []),  # a formula
        ("How many: none or all? And then: few or many?", []),  # twice
        ("Compare: about 3. How many, 3 or 4?", []),
        ("One does: say nothing, or speak?", []),
        (f"How many: {'very ' * 10}many, or few?", []),
        ("Which: a, b, c, d, e or f?", []),
    ],
)
def test_what_is_offered_once_and_in_few_words_is_cut(question, offered):
    assert guess.offers(question) == offered


def asked(question: str, *marks: str) -> list[guess.Question]:
    page = new_document("page")
    strong = nodes.strong("", "Predict.")  # Markdown puts an empty text before it
    page += nodes.paragraph("", "", nodes.Text(""), strong, nodes.Text(f" {question}"))
    page += nodes.raw("", "<details><summary>Answer</summary>", format="html")
    for mark in marks:
        page += nodes.raw("", f"<!-- {mark} -->\n", format="html")
    page += nodes.paragraph("", "It is so.")
    page += nodes.raw("", "</details>", format="html")
    return guess.questions(page)


BODY = "<p>Before.</p><p><strong>Predict.</strong> How?</p>"


def test_a_mark_is_written_into_the_page_with_the_offers():
    page = guess.with_offers(BODY, asked("Which: “is” or “are”?", 'right offer: "are"'))
    paragraph = lxml.html.fromstring(page).findall("p")[1]
    assert json.loads(paragraph.get("data-offers")) == ["“is”", "“are”"]
    assert paragraph.get("data-right") == "“are”"
    none = guess.with_offers(BODY, asked("How many: none or all?", "no right offer"))
    assert "data-offers" in none and "data-right" not in none
    assert guess.with_offers(BODY, asked("How many?")) == BODY


@pytest.mark.parametrize(
    ("question", "marks", "told"),
    [
        ("How many: none or all?", [], "does not mark"),
        ("How many: none or all?", ["fast: runs/one .2f"], "does not mark"),
        ("How many: none or all?", ["right offer: half"], "'half', is not one of"),
        ("How many?", ["right offer: all"], "marks an offer"),
    ],
)
def test_a_build_with_a_wrong_mark_stops(question, marks, told):
    with pytest.raises(ValueError, match=told):
        guess.with_offers(BODY, asked(question, *marks))


def test_a_page_with_another_number_of_questions_stops_the_build():
    with pytest.raises(ValueError, match="1 questions are 2 paragraphs"):
        guess.with_offers(BODY + BODY, asked("How many?"))


def test_no_mark_is_taken_for_a_measured_number():
    marks = [
        mark
        for path in CHAPTERS
        for mark in re.findall(r"<!-- (?:no )?right offer.*?-->", path.read_text("utf-8"))
    ]
    assert len(marks) > 100
    for mark in marks:
        assert guess.MARK.fullmatch(mark), mark
        assert not results.QUOTE.search(mark) and not quoted_numbers.QUOTE.search(f"5 {mark}")


def questions(html) -> list[lxml.html.HtmlElement]:
    """The questions of the built site."""
    pages = [html / "notebooks" / f"{path.stem}.html" for path in CHAPTERS]
    trees = [lxml.html.fromstring(page.read_text("utf-8")) for page in pages]
    return [p for tree in trees for p in tree.iter("p") if p.text_content().startswith("Predict.")]


def test_most_questions_tell_what_comes_out(html):
    there = questions(html)
    offered = [json.loads(p.get("data-offers")) for p in there if p.get("data-offers")]
    right = [p for p in there if p.get("data-right")]
    assert len(there) > 185
    assert len(offered) >= 130 and all(2 <= len(one) <= 5 for one in offered)
    assert all(p.get("data-right") in json.loads(p.get("data-offers")) for p in right)
    assert len(right) >= 0.6 * len(there)
    assert len({json.loads(p.get("data-offers")).index(p.get("data-right")) for p in right}) > 2


def test_no_reader_and_no_search_sees_a_mark(html):
    """(No slide either.)"""
    for path in html.rglob("*"):
        if path.suffix in {".html", ".js", ".json"} and "right offer" in path.read_text("utf-8"):
            pytest.fail(str(path))
