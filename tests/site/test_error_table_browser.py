"""The table of errors under mouse and keyboard, in light and dark, on a narrow page, without
scripts.
"""

import numpy as np
import pytest
from sitemap import ROOT

from lectures_lib.show.error_table import ErrorTable

pytestmark = pytest.mark.browser
COLUMNS = {
    "sentence": ["bravo " * 12, "alpha", "delta", "charlie"],
    "said": ["good", "bad", "good", "good"],
    "sure": [0.9, 0.55, 0.7, 0.1],
}
TABLE = ErrorTable("Sentiment", COLUMNS, [True, False, True, False])


@pytest.fixture
def open_page(tab):
    """A function that opens a page with the same table twice."""

    def open_it(table=TABLE, *size, **options):
        head = (
            '<meta charset="utf-8"><meta name="viewport" '
            'content="width=device-width"><title>Errors</title>'
        )
        body = (
            f"<main><h1>Errors</h1>{table._repr_html_()}<p>Between.</p>{table._repr_html_()}</main>"
        )
        page = tab(*size, **options)
        page.set_content(
            f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>'
        )
        return page

    return open_it


def first_words(page, index=0):
    rows = page.get_by_role("group").nth(index).locator("tbody tr")
    return [row.inner_text().split()[0] for row in rows.all() if row.is_visible()]


def test_a_press_sorts_and_another_turns_round(open_page):
    page = open_page()
    table = page.get_by_role("group").first
    sure = table.get_by_role("button", name="sure")
    sure.click()
    assert first_words(page) == ["charlie", "alpha", "delta", "bravo"]
    assert sure.locator("..").get_attribute("aria-sort") == "ascending"
    sure.click()
    assert first_words(page) == ["bravo", "delta", "alpha", "charlie"]
    assert sure.locator("..").get_attribute("aria-sort") == "descending"
    table.get_by_role("button", name="sentence").click()
    assert first_words(page) == ["alpha", "bravo", "charlie", "delta"]
    assert sure.locator("..").get_attribute("aria-sort") == "none"
    # the twin is its own
    assert first_words(page, 1) == ["bravo", "alpha", "delta", "charlie"] and not page.wrong


@pytest.mark.parametrize(
    ("cells", "upwards", "downwards"),
    [
        ([np.int64(10), np.int64(9), np.int64(100)], "bac", "cab"),
        ([0.5, float("nan"), -1.0, float("nan"), 2.0], "caebd", "eacbd"),
        ([float("inf"), 1.0, float("-inf"), float("nan"), float("inf")], "cbaed", "aebcd"),
        (["x", 2, float("nan"), 1, "w", None], "dbfeac", "bdaefc"),  # of two kinds: None is a text
    ],
)
def test_numbers_are_sorted_as_numbers_and_nan_is_last(open_page, cells, upwards, downwards):
    names = "abcdef"[: len(cells)]
    page = open_page(
        ErrorTable("Numbers", {"name": list(names), "number": cells}, [False] * len(cells))
    )
    button = page.get_by_role("group").first.get_by_role("button", name="number")
    for expected in (upwards, downwards, upwards):
        button.click()
        assert "".join(first_words(page)) == expected
    assert not page.wrong


def test_the_keyboard_does_all_of_it(open_page):
    page = open_page()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert first_words(page) == ["bravo", "delta"]  # only what is wrong
    page.keyboard.press("Tab")  # the window that scrolls
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert first_words(page) == ["bravo", "delta"]
    page.keyboard.press("Enter")
    assert first_words(page) == ["delta", "bravo"]


def test_without_scripts_it_is_a_table(open_page):
    page = open_page(java_script_enabled=False)
    assert first_words(page) == ["bravo", "alpha", "delta", "charlie"]


def test_it_fits_a_phone(open_page):
    page = open_page(TABLE, 390, 844)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    narrow = page.get_by_role("region").first
    assert narrow.evaluate("e => e.scrollWidth <= e.clientWidth")  # no column is out of sight
    cells = narrow.locator("tbody tr").first.locator("td")
    sentence, said, sure = (cell.bounding_box() for cell in cells.all())
    assert said["y"] >= sentence["y"] + sentence["height"] and sure["x"] > said["x"]
    head = narrow.get_by_role("columnheader", name="sure").bounding_box()
    assert abs(head["x"] - sure["x"]) < 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(open_page, scheme):
    page = open_page(color_scheme=scheme)
    page.evaluate((ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text())
    found = page.evaluate(
        '() => axe.run({rules: {"duplicate-id": {enabled: false}, "landmark-unique": {enabled: '
        "false}}})"
    )["violations"]
    assert not found, [(v["id"], [n["html"][:150] for n in v["nodes"]]) for v in found]


@pytest.mark.parametrize(
    ("chapter", "title", "n", "sort_by"),
    [
        ("14_fine_tuning", "Sentiment", 80, "how sure"),
        ("14b_words_and_spans", "Names", 60, "words"),
    ],
)
def test_on_the_site_the_wrong_ones_are_kept_and_sorted(tab, address, chapter, title, n, sort_by):
    """The tables of chapters 14 and 14b, on the built pages."""
    page = tab()
    page.goto(f"{address}notebooks/{chapter}.html")
    table = page.get_by_role("group", name=title)
    rows = table.locator("tbody tr")
    assert rows.count() == n
    table.get_by_role("checkbox").check()
    visible = [row for row in rows.all() if row.is_visible()]
    assert 0 < len(visible) < n / 2
    button = table.get_by_role("button", name=sort_by)
    column = table.get_by_role("columnheader").all_inner_texts().index(button.inner_text())
    orders = []
    for _ in range(2):
        button.click()
        orders.append(
            [
                float(row.locator("td").nth(column).inner_text())
                for row in rows.all()
                if row.is_visible()
            ]
        )
    assert orders[0] == sorted(orders[0]) and orders[1] == sorted(orders[1], reverse=True)
