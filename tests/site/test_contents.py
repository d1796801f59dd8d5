"""A page's Contents mark the section that is read; what is marked there, and in the list of all
pages, stands in view in its own scroll box.
"""

import pytest

pytestmark = pytest.mark.browser
PAGE = "notebooks/14_fine_tuning.html"
WINDOWS = {"desk": (1360, 480), "phone": (390, 480)}  # low: the lists are longer than their boxes
SCROLL = """(share) => scrollTo({
  top: share * (document.documentElement.scrollHeight - innerHeight), behavior: "instant" })"""
# The section that a share of the screen's height shows: that of the last heading above.
ON_SCREEN = """([links, share]) => [...document.querySelectorAll(links)].map((link) => link.hash).filter((hash) =>
  document.querySelector(`${CSS.escape(hash).replace("\\\\#", "#")} :is(h1, h2, h3)`)
    .getBoundingClientRect().top < share * innerHeight).at(-1)"""
MARKED = "#pst-page-toc-nav a[aria-current]"
LINKS = "#pst-page-toc-nav a"
IN_VIEW = """(link) => {
  const { top, bottom } = link.getBoundingClientRect();
  let box = link;
  while (box && !/auto|scroll/.test(getComputedStyle(box).overflowY)) box = box.parentElement;
  const its = box.getBoundingClientRect();
  return [box.scrollHeight > box.clientHeight, top >= its.top && bottom <= its.bottom && bottom <= innerHeight];
}"""


def settled(page) -> None:
    """Wait until the page stands still and its observers have been told."""
    page.evaluate("""async () => {
      const picture = () => new Promise((seen) => requestAnimationFrame(() => setTimeout(seen)));
      let before;
      do {
        before = scrollY;
        for (let i = 0; i < 5; i++) await picture();
      } while (scrollY !== before);
    }""")


def marked(page) -> str:
    """Where the marked entry leads; there is one at most, and its parents are marked with it."""
    found = page.locator(MARKED)
    settled(page)
    assert found.count() <= 1
    return found.evaluate("link => link.hash") if found.count() else ""


@pytest.fixture
def opened(tab, address, request):
    """The chapter in a window of this name."""
    page = tab(*WINDOWS[request.param])
    page.goto(address + PAGE, wait_until="networkidle")
    yield page
    assert not page.wrong


@pytest.mark.parametrize("opened", WINDOWS, indirect=True)
def test_wherever_one_lands_the_section_on_the_screen_is_marked(opened):
    assert marked(opened) == ""  # above the first section
    seen = set()
    for share in (0.2, 0.5, 0.8, 0.63, 0.41, 0.1):  # onwards, and back
        opened.evaluate(SCROLL, share)
        there = marked(opened)
        assert there == opened.evaluate(ON_SCREEN, [LINKS, 0.3]), share
        seen.add(there)
    assert len(seen) > 4
    last = opened.locator(LINKS).last.get_attribute("href")
    opened.evaluate(SCROLL, 1)
    assert marked(opened) == last
    opened.evaluate(SCROLL, 0)
    assert marked(opened) == ""


def test_at_the_desk_the_mark_is_in_view(tab, address):
    page = tab(*WINDOWS["desk"])
    page.goto(address + PAGE, wait_until="networkidle")
    for share in (0.5, 1, 0.1):
        page.evaluate(SCROLL, share)
        assert marked(page)
        assert page.locator(MARKED).evaluate(IN_VIEW) == [True, True], share


def test_in_a_phones_drawer_the_mark_is_in_view(tab, address):
    page = tab(*WINDOWS["phone"])
    page.goto(address + PAGE, wait_until="networkidle")
    for share in (0.5, 1):
        page.evaluate(SCROLL, share)
        assert marked(page)
        page.locator(".secondary-toggle").click()
        page.locator("dialog[open] nav.page-toc").wait_for()
        settled(page)
        assert page.locator(MARKED).evaluate(IN_VIEW) == [True, True], share
        assert not page.evaluate("scrollX")
        page.keyboard.press("Escape")
        page.locator("dialog[open]").wait_for(state="detached")


@pytest.mark.parametrize("size", WINDOWS.values(), ids=WINDOWS)
def test_the_current_page_is_in_view_in_the_list_of_pages(tab, address, size):
    page = tab(*size)
    page.goto(address + "book/running.html")  # its list stands at the top
    page.goto(address + "notebooks/18b_what_it_costs.html", wait_until="networkidle")
    if size[0] < 1000:
        page.locator(".primary-toggle").click()
        page.locator("dialog[open] .bd-docs-nav").wait_for()
        settled(page)
    current = page.locator(".bd-docs-nav .current > a").last
    assert "18b" in current.inner_text()
    assert current.evaluate(IN_VIEW) == [True, True]


@pytest.mark.parametrize("at", [0, 4, -3, -2, -1])
def test_by_keyboard_the_entry_that_one_chooses_is_marked(tab, address, at):
    """Also those at the end of a page, which has not enough below to bring them up."""
    page = tab(1360, 900)
    page.goto(address + PAGE, wait_until="networkidle")
    entry = page.locator(LINKS).nth(at)
    entry.focus()
    page.keyboard.press("Enter")
    settled(page)
    assert "#" + page.url.split("#")[1] == marked(page) == entry.get_attribute("href")
    page.evaluate(SCROLL, 0.3)
    assert marked(page) == page.evaluate(ON_SCREEN, [LINKS, 0.3])


def test_an_address_within_the_page_is_marked_and_unfolds_nothing_else(tab, address):
    page = tab(1360, 900)
    page.goto(address + PAGE + "#two-sentences", wait_until="networkidle")
    assert marked(page) == "#two-sentences"
    entries = page.locator("#pst-page-toc-nav .toc-entry.active > a").all_inner_texts()
    assert entries == ["The same head, another question", "Two sentences"]


def test_without_scripts_the_lists_stand_there(tab, address):
    page = tab(1360, 900, java_script_enabled=False)
    page.goto(address + PAGE)
    assert page.locator(LINKS).first.is_visible()
    assert page.locator(MARKED).count() == 0
    assert page.locator(".bd-docs-nav .current > a").last.is_visible()


# Whether a place on the screen shows this element and nothing that lies on it.
SHOWN_WHOLE = """(element) => {
  const { left, right, top, bottom } = element.getBoundingClientRect(), x = (left + right) / 2;
  return top >= 0 && bottom <= innerHeight && [top + 2, (top + bottom) / 2, bottom - 2]
    .every((y) => element.contains(document.elementFromPoint(x, y)));
}"""


@pytest.mark.parametrize("high", [900, 480])
@pytest.mark.parametrize("width", [1200, 1360])
@pytest.mark.parametrize("page_name", ["09_generating", "18b_what_it_costs"])
def test_the_books_name_and_the_current_page_are_whole_on_arrival(
    tab, address, page_name, width, high
):
    """The theme scrolls the list to the current page; the name above stays where it is."""
    page = tab(width, high)
    page.goto(f"{address}notebooks/{page_name}.html", wait_until="networkidle")
    settled(page)
    for part in (".navbar-brand img", ".navbar-brand .title", ".search-button-field"):
        assert page.locator(f".bd-sidebar-primary {part}").evaluate(SHOWN_WHOLE), part
    assert page.locator(".bd-docs-nav .current > a").last.evaluate(SHOWN_WHOLE)


def test_what_the_keyboard_reaches_is_not_below_the_books_name(tab, address):
    page = tab(1360, 480)
    page.goto(address + "notebooks/18b_what_it_costs.html", wait_until="networkidle")
    links = page.locator(".bd-docs-nav li > a:visible")
    links.last.focus()
    for _ in range(links.count() + 8):  # parts can be reached, too
        page.keyboard.press("Shift+Tab")
        here = page.locator(".bd-docs-nav li > a:focus")
        if here.count():
            assert here.evaluate(SHOWN_WHOLE), here.inner_text()
