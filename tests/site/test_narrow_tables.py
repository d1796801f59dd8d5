"""Tables on a telephone: sentences are cards, numbers scroll beside the names of their lines."""

import re
import sys

import axe
import pytest
from sitemap import ROOT, pages
from tables import written

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import narrow_tables

TEXT = [
    ["a long cell, which says what something is", "another one, which is about as long as that"],
    ["short", "a sentence that explains what is short"],
]


def test_each_cell_gets_the_head_of_its_column():
    made = narrow_tables.with_cards(written([[f"line {i}", *row] for i, row in enumerate(TEXT)]))
    assert made.startswith('<table class="table cards" role="table">')
    assert re.findall(r'data-head="([^"]*)"', made) == ["what it is", "what it does"] * 2
    assert made.count('role="row"') == 3
    assert made.count('role="cell"') == 6
    assert made.count('role="columnheader"') == 3
    assert 'role="cell"><p>line 0' in made
    assert re.sub(r' (role|data-head)="[^"]*"| cards', "", made) == written(
        [[f"line {i}", *row] for i, row in enumerate(TEXT)]
    )


@pytest.mark.parametrize(
    "table",
    [
        written([["model", "0.71", "0.72"], ["another", "0.81", "0.82"]]),
        written([[f"{i}", *row] for i, row in enumerate(TEXT)], classes="measured table"),
        written([[row[0], row[1]] for row in TEXT], heads=("what it is", "what it does")),
        written([[f"{i}", *row] for i, row in enumerate(TEXT)]).replace("<td>", '<td colspan="2">'),
        written([["a", *TEXT[0]]], heads=('<span class="katex">x</span>', "b", "c")),
        written([["one", "two", "three sentences at most"]]),
    ],
    ids=["numbers", "measured", "two columns", "a wide cell", "a formula", "narrow"],
)
def test_other_tables_stay_as_they_are(table):
    assert narrow_tables.with_cards(table) == table


def test_a_quote_in_a_head_does_no_harm():
    made = narrow_tables.with_cards(
        written([["x", *TEXT[0]]], heads=("", 'the "best" &amp; worst', "c"))
    )
    assert 'data-head="the &quot;best&quot; &amp; worst"' in made


CARDS = [
    *("notebooks/02_self_attention.html", "notebooks/10b_agreement.html", "book/handing_in.html"),
    *("notebooks/12_bert.html", "notebooks/18_after_bert.html", "book/notation.html"),
    *("book/published/glue.html", "book/teaching.html", "book/instructors.html"),
]
SEEN = """() => [...document.querySelectorAll("table.cards")].map((table) => {
  for (let one = table; one; one = one.parentElement) if (one.matches("details")) one.open = true;
  const box = table.parentElement, cell = table.querySelector("[data-head]");
  return [box.scrollWidth - box.clientWidth, getComputedStyle(cell, "::before").content.slice(1, -3) === cell.dataset.head, getComputedStyle(cell).display];
})"""


@pytest.mark.browser
@pytest.mark.parametrize("path", CARDS)
def test_lines_are_cards_on_a_phone_and_lines_on_a_wide_page(live, path):
    page = live(width=390, path=path)
    tables = page.evaluate(SEEN)
    assert tables
    for hidden, named, display in tables:
        assert hidden <= 0
        assert named
        assert display == "block"
    page.set_viewport_size({"width": 1360, "height": 900})
    assert {display for *_, display in page.evaluate(SEEN)} == {"table-cell"}
    assert {named for _, named, _ in page.evaluate(SEEN)} == {False}


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_where_numbers_scroll_the_names_of_the_lines_stay(live, theme):
    page = live(width=390, path="book/published/glue.html", color_scheme=theme)
    box = page.locator(".pst-scrollable-table-container", has_text="BiLSTM + ELMo").first
    name = box.locator("tbody td").first
    before = name.bounding_box()["x"]
    assert box.evaluate("box => (box.scrollLeft = 120) && box.scrollLeft") == 120
    assert abs(name.bounding_box()["x"] - before) < 1
    for cell in box.locator("tr > :first-child").all():
        ground = cell.evaluate("cell => getComputedStyle(cell).backgroundColor")
        assert ground.startswith("rgb("), "what scrolls below it would be seen through it"
        assert cell.evaluate("cell => cell.scrollWidth <= cell.clientWidth + 1")


@pytest.mark.browser
def test_two_columns_fit(live):
    for path in ("notebooks/13b_how_sure.html", "book/notation.html"):
        page = live(width=390, path=path)
        over = page.evaluate(
            "[...document.querySelectorAll('table.table:not(:has(tr > :nth-child(3)))')]"
            ".map(table => table.parentElement.scrollWidth - table.parentElement.clientWidth)"
        )
        assert over and max(over) <= 0


@pytest.mark.browser
def test_axe_finds_nothing_in_cards(live):
    page = live(width=390, path="notebooks/12_bert.html")
    assert axe.by_day_and_night(page, "#learn-once-use-often") == []


def test_the_book_has_tables_of_sentences(html):
    found = sum((html / page).read_text("utf-8").count('class="table cards"') for page in pages())
    assert found > 15
