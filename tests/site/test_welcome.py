"""The front page: two ways in, and a card for every chapter; how a page looks without scripts and on
paper.
"""

import pytest
from bs4 import BeautifulSoup
from PIL import Image
from sitemap import pages

CHAPTERS = [page for page in pages() if page.startswith("notebooks/")]


@pytest.fixture(scope="module")
def front(html):
    return BeautifulSoup((html / pages()[0]).read_text(encoding="utf-8"), "html.parser").main


def test_two_ways_in(front):
    start, colab = front.select(".start a")
    assert start.get_text() == "Start with chapter 2"
    assert start["href"] == "../notebooks/02_self_attention.html"
    assert colab["href"].startswith("https://colab.research.google.com/github/")
    assert colab["href"].endswith("/blob/main/notebooks/02_self_attention.ipynb")


def test_a_card_for_each_chapter_in_order(front, html):
    cards = front.select(".chapter-cards a")
    assert [card["href"].removeprefix("../") for card in cards] == CHAPTERS
    titles = [card.select_one(".card-title").get_text() for card in cards]
    # the page between chapters 13 and 14 has no number
    titles.remove("How sure can we be?")
    for path, title in zip([c for c in CHAPTERS if "13b" not in c], titles, strict=True):
        number = path.removeprefix("notebooks/").split("_")[0].lstrip("0")
        assert title.startswith(f"{number}. ")
    for card in cards:
        assert card.select_one(".card-able").get_text().endswith(".")
        file = html / card.img["src"].removeprefix("../")
        with Image.open(file) as picture:
            assert picture.size == (int(card.img["width"]), int(card.img["height"]))
        assert file.stat().st_size < 40_000


def test_four_ways_through(front):
    assert len(front.select(".routes > ul > li")) == 4


@pytest.mark.browser
def test_without_scripts_a_page_has_its_colours(tab, address):
    page = tab(java_script_enabled=False)
    page.goto(address + pages()[0])
    assert page.locator("html").get_attribute("data-theme") == "light"


@pytest.mark.browser
def test_on_paper_long_code_wraps(tab, address):
    page = tab(700, 1000)
    page.goto(address + "notebooks/05_encoder.html")
    page.emulate_media(media="print")
    wide = """[...document.querySelectorAll(".bd-article pre")]
        .filter(pre => pre.scrollWidth > pre.clientWidth + 1).length"""
    assert page.evaluate(wide) == 0
    page.emulate_media(media="screen")
    assert page.evaluate(wide) > 0, "the window is wide enough for all code: this tests nothing"
