"""The page that says where the lectures' items are, as built: every row of lectures.yml is there,
with its links.
"""

import sys

import pytest
from bs4 import BeautifulSoup
from sitemap import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import lectures_page

ROWS = lectures_page.read()


@pytest.fixture(scope="module")
def tables(html):
    page = BeautifulSoup(
        (html / "book" / "lectures.html").read_text(encoding="utf-8"), "html.parser"
    )
    return page.find("article").select("table.lectures")


def test_every_item_stands_in_the_table_of_its_lecture(tables):
    lectures = dict.fromkeys(row.lecture for row in ROWS)
    assert len(tables) == len(lectures)
    for table, lecture in zip(tables, lectures, strict=False):
        shown = table.select("tbody tr:not(:has(td.slide))")
        assert len(shown) == sum(row.lecture == lecture for row in ROWS)


def test_every_slide_is_named_once(tables):
    named = [cell.text for table in tables for cell in table.select("td.slide")]
    assert len(named) == len({(row.lecture, row.slide) for row in ROWS})


def test_a_row_has_a_link_for_each_place_or_a_reason(tables):
    shown = [row for table in tables for row in table.select("tbody tr:not(:has(td.slide))")]
    for row, item in zip(shown, ROWS, strict=True):
        _, places = row.find_all("td")
        assert len(places.find_all("a", href=True)) == len(item.places)
        assert places.text.startswith("not here: ") != bool(item.places)


@pytest.mark.parametrize("page", ["teaching", "references"])
def test_the_page_is_found_from(html, page):
    assert 'href="lectures.html"' in (html / "book" / f"{page}.html").read_text(encoding="utf-8")


@pytest.mark.browser
def test_a_telephone_shows_both_columns_without_scrolling(tab, address):
    page = tab(390, 800)
    page.goto(address + "book/lectures.html")
    widths = "tables => tables.map(t => t.scrollWidth - t.parentElement.clientWidth)"
    assert max(page.eval_on_selector_all("table.lectures", widths)) <= 0
