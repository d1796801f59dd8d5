"""Every cell of a table has a head, of its column or of its line: a screen reader says it before what
the cell says.
"""

import re
import sys

import pytest
from bs4 import BeautifulSoup
from sitemap import ROOT

sys.path.insert(0, str(ROOT / "book"))

# not those of the index: they set its entries in columns
TABLE = re.compile(r"<table\b(?![^>]*indextable).*?</table>", re.DOTALL)


def headless(table: str) -> list[str]:
    """What cells say that stand neither below a head nor in a line with one."""
    lines = [line.find_all(["td", "th"]) for line in BeautifulSoup(table, "lxml").find_all("tr")]
    columns, found = set(), []
    for cells in lines:
        heads = {i for i, cell in enumerate(cells) if cell.name == "th" and cell.text.strip()}
        columns |= heads
        found += [
            cell.text
            for i, cell in enumerate(cells)
            if cell.name == "td" and cell.text.strip() and not heads and i not in columns
        ]
    return found


@pytest.mark.parametrize(
    ("lines", "without"),
    [
        ("<tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr>", []),
        ("<tr><td></td><th>b</th></tr><tr><td>1</td><td>2</td></tr>", ["1"]),
        ("<tr><td></td><th>b</th></tr><tr><th>1</th><td>2</td></tr>", []),
        ("<tr><td>1</td><td>2</td></tr>", ["1", "2"]),
    ],
)
def test_a_cell_without_a_head_is_found(lines, without):
    assert headless(f"<table>{lines}</table>") == without


def test_every_cell_has_a_head(html):
    found = {}
    for page in html.glob("**/*.html"):
        tables = TABLE.findall(page.read_text(encoding="utf-8"))
        if cells := [cell for table in tables for cell in headless(table)]:
            found[page.relative_to(html).as_posix()] = cells
    assert not found


def test_on_a_slide_the_first_cell_heads_its_line_if_a_column_has_no_head():
    from slides import pieces

    bare = pieces.prose("|  | a |\n|---|---|\n| x | 1 |\n|  | 2 |\n")
    assert re.findall(r"<(t[hd][^>]*)>(\w*)<", bare) == [
        ("th", ""),
        ("th", "a"),
        ('th scope="row"', "x"),
        ("td", "1"),
        ("td", ""),
        ("td", "2"),
    ]
    assert bare.count("</th>") == 3
    assert 'scope="row"' not in pieces.prose("| n | a |\n|---|---|\n| x | 1 |\n")
