"""On a telephone most tables are seen whole: a list of numbers is read downwards, a spread stands
below its mean, and sentences take what the numbers leave them, but never a word a line.
"""

import re
import sys

import pytest
from sitemap import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import narrow_tables
from tables import written

NAMES = ("epochs", "longest input", "trained on", "asked", "batch size", "rate")
NUMBERS = ["1", "128", "67,349", "872", "32", "5.00e-05"]


@pytest.mark.parametrize("classes", ["table", "measured table", "published table"])
def test_a_table_of_one_line_becomes_a_list_of_names_and_numbers(classes):
    made = narrow_tables.with_cards(written([NUMBERS], NAMES, classes))
    assert f'class="{classes} cards one-line" role="table"' in made
    assert tuple(re.findall(r'data-head="([^"]*)"', made)) == NAMES


@pytest.mark.parametrize(
    ("rows", "heads"),
    [
        ([NUMBERS[:3]], ("a", "b", "c")),
        ([NUMBERS, NUMBERS], NAMES),
        ([["MiniLM", *NUMBERS[1:]]], ("", *NAMES[1:])),
    ],
    ids=["narrow", "two lines", "a named line"],
)
def test_other_tables_of_numbers_keep_their_columns(rows, heads):
    assert narrow_tables.with_cards(written(rows, heads)) == written(rows, heads)


def test_a_sentence_among_numbers_keeps_room():
    rows = [["MNLI", "entailment, contradiction or neither", "392k", "84.6", "86.7"]] * 2
    made = narrow_tables.with_cards(written(rows, ("task", "asks", "of", "base", "large")))
    assert made.count('<td class="says"><p>entailment') == made.count("says") == 2
    measured = written(rows, ("task", "asks", "of", "base", "large"), "measured table")
    assert narrow_tables.with_cards(measured) == measured


# of each table: by how much it scrolls, and how narrow its narrowest sentence is
FITS = """() => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  return [...document.querySelectorAll(".pst-scrollable-table-container > table")].map((table) =>
    [table.parentElement.scrollWidth - table.parentElement.clientWidth,
     Math.min(...[...table.querySelectorAll("td.says")].map((cell) => cell.clientWidth), 999)]);
}"""


@pytest.mark.browser
@pytest.mark.parametrize(
    ("path", "scroll", "of"),
    [
        ("exercises/hw1_attention.html", 0, 1),
        ("book/datasheet.html", 0, 2),
        ("book/results/attention.html", 2, 10),
        ("book/results/fine_tuning.html", 1, 20),
        ("book/results/four_tasks.html", 2, 2),
        ("notebooks/14_fine_tuning.html", 1, 2),
    ],
)
def test_few_tables_scroll(live, path, scroll, of):
    page = live(width=390, path=path)
    tables = page.evaluate(FITS)
    assert len(tables) >= of
    assert sum(hidden > 0 for hidden, _ in tables) <= scroll
    assert all(width > 80 for _, width in tables)
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.browser
def test_a_list_is_a_line_of_a_table_on_a_wide_page(live):
    page = live(width=1360, path="book/results/fine_tuning.html")
    cell = page.locator("table.one-line td").first
    look = "e => [getComputedStyle(e).display, getComputedStyle(e, '::before').content]"
    assert cell.evaluate(look) == ["table-cell", "none"]
    page.set_viewport_size({"width": 390, "height": 900})
    assert cell.evaluate(look) == ["block", '"epochs: "']


@pytest.mark.browser
def test_no_first_word_of_a_line_is_cut_into_letters(live):
    page = live(width=390, path="book/results/features.html")
    cut = page.evaluate("""() => [...document.querySelectorAll("table.measured:not(.cards) th.stub p")].filter((cell) => {
      const words = document.createRange();
      return [...cell.childNodes].some((node) => node.nodeType === 3 && [...node.data.matchAll(/[a-z]+/gi)].some((word) => {
        if (word[0].length > 12) return false;
        words.setStart(node, word.index); words.setEnd(node, word.index + word[0].length);
        return words.getClientRects().length > 1;
      }));
    }).map((cell) => cell.textContent)""")
    assert cut == []
