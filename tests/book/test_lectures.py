"""The page that says where each item of the lectures is: every place exists, every lecture is there
slide by slide, and what is missing has a reason.
"""

import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book" / "_ext"))
import lectures_page  # noqa: E402
from claims import read as read_claims  # noqa: E402

ROWS = lectures_page.read()
AT_LEAST = {"hkust": 115, "bert_talk": 82, "umass": 70, "vsb": 65, "neu": 60}


def test_every_place_exists_and_what_has_none_says_why():
    assert [problem for row in ROWS for problem in lectures_page.problems(row)] == []


def test_the_page_is_read_again_where_a_chapter_it_links_to_is_another(monkeypatch):
    """It takes the sections from the executed notebooks; a text twin may be changed long before."""
    noted = []
    directive = object.__new__(lectures_page.Lectures)
    settings = SimpleNamespace(env=SimpleNamespace(note_dependency=noted.append))
    directive.state = SimpleNamespace(document=SimpleNamespace(settings=settings))
    monkeypatch.setattr(lectures_page, "read", lambda: [lectures_page.Item("x", "x", "x", ())])
    monkeypatch.setattr(directive, "error", RuntimeError)
    with pytest.raises(RuntimeError, match="no place, and no reason why"):
        directive.run()
    sections = [written for row in ROWS for written in row.places if written[0].isdigit()]
    places = map(lectures_page.place, sections)
    chapters = {ROOT / place.address.removeprefix("../").partition("#")[0] for place in places}
    assert {str(file) for file in chapters if file.suffix == ".ipynb"} <= {*noted}


def test_every_lecture_is_there_and_whole():
    counted = Counter(row.lecture for row in ROWS)
    assert set(counted) == set(AT_LEAST) == set(read_claims()["lectures"])
    assert all(counted[lecture] >= least for lecture, least in AT_LEAST.items()), counted


def test_nearly_everything_has_a_place():
    assert sum(not row.places for row in ROWS) <= 12


def test_no_item_stands_twice_and_no_place_twice_in_one():
    names = [(row.lecture, row.slide, row.says) for row in ROWS]
    assert len(names) == len(set(names))
    assert all(len(set(row.places)) == len(row.places) for row in ROWS)


def test_no_slide_is_written_twice():
    """YAML would keep the second and forget the first."""
    node = yaml.compose(lectures_page.FILE.read_text(encoding="utf-8"))
    for name, slides in [("the file", node), *((k.value, v) for k, v in node.value)]:
        keys = [key.value for key, _ in slides.value]
        assert len(keys) == len(set(keys)), name


def test_every_checked_claim_is_named_beside_its_item():
    """Nobody should have to look for it on the other page."""
    named = {
        (row.lecture, written.partition("#")[2])
        for row in ROWS
        for written in row.places
        if written.startswith("claims#")
    }
    wrong = {(claim.lecture, claim.id) for claim in read_claims()["claims"]} ^ named
    assert not wrong


@pytest.mark.parametrize(
    ("written", "address", "words"),
    [
        ("04#clocks", "../notebooks/04_order.ipynb#clocks", "4, Clocks"),
        ("claims#base-1000", "claims/blocks.md#claim-base-1000", "checked: slip"),
        ("published#glue", "published/glue.md#glue-when-bert-came-out", "Table: GLUE when"),
        ("hw2", "../exercises/hw2_transformer.ipynb", "Homework 2"),
        ("references", "references.md", "References"),
        ("live#a-translator", "your_own/writing.md#a-translator", "Type your own: A translator"),
    ],
)
def test_a_place_leads_somewhere(written, address, words):
    found = lectures_page.place(written)
    assert found.address == address and found.words.startswith(words)


@pytest.mark.parametrize(
    "written",
    ["04#no", "04", "19#clocks", "claims#no", "published#no", "hw9", "hw2#a", "live#no", "no", "!"],
)
def test_a_place_that_leads_nowhere_is_noticed(written):
    with pytest.raises(LookupError):
        lectures_page.place(written)
    row = lectures_page.item("neu", "Positional Encoding", f"Waves => {written}")
    assert list(lectures_page.problems(row))


@pytest.mark.parametrize("row", ["Waves", " => 04#clocks", "Waves -> 04#clocks"])
def test_a_line_that_is_no_row_is_refused(row):
    with pytest.raises(ValueError, match="no `item => places`"):
        lectures_page.item("neu", "Positional Encoding", row)


def test_no_place_needs_a_reason():
    assert list(lectures_page.problems(lectures_page.item("neu", "x", "Waves => none, no time")))
    row = lectures_page.item("neu", "x", "Dates => none, the running of that class")
    assert row.places == () and not list(lectures_page.problems(row))
