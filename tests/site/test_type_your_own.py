"""The page "Type your own": cards that lead to every live figure with a model, and to the chapter that
each is from.
"""

import re
from pathlib import PurePosixPath

import axe
import pytest
from live_page import IN_CHAPTERS, OVERVIEW, PAGE_OF
from sitemap import article, pages

HIGH = {1360: 2_200, 390: 3_800}  # pixels; on a desk it was 27,500 with all figures in one page
FIGURES_STAND = ("notebooks/", "book/your_own/", "book/motion", "book/through", "book/welcome")


@pytest.fixture
def lines(html):
    """The lines of the cards that lead to a figure: {figure: line}."""
    found = {}
    for line in article(html, OVERVIEW).select(".to-try li li"):
        page, _, anchor = line.find("a")["href"].partition("#")
        if page.startswith("your_own/"):
            section = article(html, f"book/{page}").find(id=anchor)
            told = section.select_one("[data-live]")["data-live"]
            found[re.search(r'"figure": "(\w+)"', told)[1]] = line
    return found


def test_the_cards_lead_to_each_figure(lines):
    assert sorted(lines) == sorted(PAGE_OF)


def test_a_line_names_a_chapter_where_the_figure_stands(lines):
    for name, line in lines.items():
        chapter = PurePosixPath(line.find_all("a")[-1]["href"]).stem
        assert name in IN_CHAPTERS[chapter], name


def test_a_link_brings_a_figure_to_chapters_and_nowhere_else(html):
    with_figures = [page for page in pages() if "data-live=" in (html / page).read_text("utf-8")]
    assert not [page for page in with_figures if not page.startswith(FIGURES_STAND)]


@pytest.mark.browser
@pytest.mark.parametrize("width", HIGH)
def test_it_is_seen_at_once(tab, address, width):
    page = tab(width, 900)
    page.goto(address + OVERVIEW)
    page.wait_for_load_state("networkidle")
    high, wide = page.evaluate(
        "[document.querySelector('article').offsetHeight, document.documentElement.scrollWidth]"
    )
    assert high < HIGH[width] and wide <= width
    assert not [url for url in page.asked if "/live/" in url]
    assert axe.by_day_and_night(page, "article") == []
