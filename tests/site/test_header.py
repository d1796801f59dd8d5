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


COLOUR = """(element, [name, variable]) => {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.color = `var(${variable})`;
  const expected = getComputedStyle(probe).color;
  probe.remove();
  return [getComputedStyle(element)[name], expected];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_button_to_the_top_is_of_the_palette_and_not_on_a_phone(tab, address, scheme):
    page = tab(1000, 900, color_scheme=scheme)
    page.goto(address + CHAPTER)
    button = page.locator("#pst-back-to-top")
    button.evaluate("button => { button.style.display = 'block' }")  # as the theme's script does
    assert button.is_visible()
    found, expected = button.evaluate(COLOUR, ["backgroundColor", "--c-control"])
    assert found == expected
    page.set_viewport_size({"width": 390, "height": 844})
    assert not button.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "path", ["book/welcome.html", "notebooks/04_order.html", "book/your_own/writing.html"]
)
def test_what_can_be_pulled_has_the_palettes_colour(tab, address, path, scheme):
    page = tab(1360, 900, color_scheme=scheme)
    page.goto(address + path, wait_until="networkidle")
    sliders = page.locator("input[type=range]")
    assert sliders.count()
    for slider in sliders.all():
        found, expected = slider.evaluate(COLOUR, ["accentColor", "--c-control"])
        assert found == expected


def test_where_the_keyboard_is_has_the_palettes_colour(tab, address):
    page = tab(1360, 900)
    page.goto(address + CHAPTER)
    page.locator(".bd-sidebar-primary .search-button-field").click()
    search = page.locator("dialog[open] .bd-search")
    search.locator("input").focus()
    page.wait_for_function(
        "() => getComputedStyle(document.activeElement.closest('form')).boxShadow"
    )
    found, expected = search.evaluate(COLOUR, ["boxShadow", "--c-active"])
    assert expected in found
