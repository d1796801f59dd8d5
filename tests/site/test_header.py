"""The bar above a page."""

from itertools import pairwise

import pytest

pytestmark = pytest.mark.browser
CHAPTER = "notebooks/05_encoder.html"
NAME = "From Attention to BERT"
ITEMS = """() => [...document.querySelectorAll(".bd-header-article :is(a.course-name, button.btn)")]
  .filter((e) => e.checkVisibility() && !e.closest(".dropdown-menu")).map((e) => { const { left, right, top, bottom } = e.getBoundingClientRect();
    return [left, right, top, bottom]; })"""


@pytest.mark.parametrize("width", [320, 360, 390, 430, 600, 900])
def test_on_a_phone_the_book_has_its_name_above_the_page(tab, address, width):
    page = tab(width, 844)
    page.goto(address + CHAPTER)
    name = page.locator(".bd-header-article").get_by_role("link", name=NAME)
    assert name.is_visible()
    items = page.evaluate(ITEMS)
    assert len(items) >= 5
    for (_, right, top, bottom), (left, *_) in pairwise(items):
        assert right <= left + 1 and 24 <= bottom - top <= 48
    assert items[-1][1] <= width
    name.click()
    page.wait_for_url(address + "book/welcome.html")


def test_on_a_desk_the_name_stands_once(tab, address):
    page = tab(1360, 900)
    page.goto(address + CHAPTER)
    named = page.get_by_role("link", name=NAME)
    shown = [link.get_attribute("class") for link in named.all() if link.is_visible()]
    assert [kind for kind in shown if "course-name" in kind] == []
    assert [kind for kind in shown if "navbar-brand" in kind]


def test_the_first_stop_of_the_keyboard_leads_past_the_bars(tab, address):
    page = tab(1360, 900)
    page.goto(address + CHAPTER)
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to main content")
    assert skip.evaluate("e => e === document.activeElement")
    box = skip.bounding_box()
    assert box["y"] >= 0 and box["height"] > 15
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")
