"""Every page in a real browser: what it asks for, what it weighs, what it says to the console, and
whom it shuts out.
"""

from dataclasses import dataclass, field
from functools import cache
from urllib.parse import urlsplit

import axe
import pytest
from sitemap import ANIMATED, notebook_pages, pages

pytestmark = pytest.mark.browser
PAGES = [*pages(), "search.html?q=softmax"]
FIRST_VIEW = 350_000  # bytes, compressed, as they come over the wire
# What axe may find on a page: the rule's name and why it is not mended. Nothing so far.
ALLOWED: dict[str, str] = {}


@dataclass
class Visit:
    """What was seen on one page."""

    requests: list[str] = field(default_factory=list)
    sizes: list[dict] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    violations: dict[str, list[str]] = field(default_factory=dict)
    too_wide: list[str] = field(default_factory=list)
    launches: bool = False


@pytest.fixture(scope="module")
def visit(tabs, address):
    """A function that opens a page and says what it saw; a second time, it remembers."""
    return cache(lambda path: open_page(tabs, address + path))


def open_page(tabs, url: str) -> Visit:
    """Open it on a desk, let axe look by day and by night, make the window as narrow as a phone, and
    as wide again for the launch menu.
    """
    visit, page = Visit(), tabs.take(1280, 900)
    # what it weighs for one who has never been here
    page.context.new_cdp_session(page).send("Network.clearBrowserCache")

    def weigh(request):
        visit.sizes.append(request.sizes())

    page.on("requestfinished", weigh)
    page.goto(url)
    page.evaluate(axe.script())
    page.wait_for_load_state("networkidle")
    # scrolls.js sees to it, later on a busy machine
    page.wait_for_function(ALL_SCROLL_BY_KEYBOARD, timeout=120_000)
    page.evaluate(ONE_OF_A_KIND)
    visit.violations["light"] = violations(page.evaluate(AXE, {}))
    page.emulate_media(color_scheme="dark")
    page.wait_for_selector("html[data-theme=dark]")
    # colours fade from one to the other
    page.evaluate(ANIMATED)
    page.evaluate(ONE_OF_A_KIND)
    visit.violations["dark"] = violations(page.evaluate(AXE, {"runOnly": axe.COLOURS}))
    page.set_viewport_size({"width": 390, "height": 844})
    visit.too_wide = page.evaluate(TOO_WIDE)
    page.set_viewport_size({"width": 1280, "height": 900})
    launch = page.get_by_role("button", name="Launch interactive content")
    if launch.count():
        launch.click()
        visit.launches = page.get_by_role("link", name="Colab logo Colab").is_visible()
    page.remove_listener("requestfinished", weigh)
    visit.requests, visit.errors = page.asked, [*page.said, *page.wrong]
    tabs.give_back(page)
    return visit


def violations(found: list[dict]) -> list[str]:
    """What axe found, less what is allowed, a line for each element."""
    return [
        f"{violation['id']}: {node['target']} {node['html'][:200]}"
        for violation in found
        for node in violation["nodes"]
        if violation["id"] not in ALLOWED
    ]


# Whatever can be scrolled sideways is a stop of the Tab key, as soon as it is seen.
ALL_SCROLL_BY_KEYBOARD = """() => [...document.querySelectorAll("pre, .pst-scrollable-table-container")]
  .every(e => !e.checkVisibility() || e.scrollWidth <= e.clientWidth + 1 || e.tabIndex === 0)"""

# A chapter's code is thousands of words in a handful of colours. Of those that stand in the same line
# or block and look the same, axe sees the first: the others keep their place, but not their ink.
ONE_OF_A_KIND = """() => {
  const looks = new Map(), words = [...document.querySelectorAll("pre span")].filter((e) => !e.firstElementChild);
  for (const word of words) word.style.visibility = "";
  const again = words.filter((word) => {
    if (!word.checkVisibility()) return false;
    const style = getComputedStyle(word), kinds = looks.get(word.parentElement) ?? new Set();
    looks.set(word.parentElement, kinds);
    const kind = ["color", "backgroundColor", "backgroundImage", "fontSize", "fontWeight", "opacity", "textShadow"].map((name) => style[name]).join();
    return kinds.has(kind) || !kinds.add(kind);
  });
  for (const word of again) word.style.visibility = "hidden";
}"""

# Formulas are left out: thousands of boxes that screen readers skip (they read the MathML beside
# them), in the colour of the text.
AXE = """options => axe.run({ exclude: [".katex-html"] }, { resultTypes: ["violations"], ...options })
  .then(report => report.violations)"""

# What sticks out of the window on the right, if the page can be scrolled sideways at all.
TOO_WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] :
  [...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1)
    .map(e => e.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("path", PAGES)
def test_asks_nothing_of_another_host(visit, address, path):
    assert {
        urlsplit(url).netloc for url in visit(path).requests if not url.startswith("data:")
    } == {urlsplit(address).netloc}


@pytest.mark.parametrize("path", PAGES)
def test_first_view_is_light(visit, path):
    assert (
        sum(size["responseBodySize"] + size["responseHeadersSize"] for size in visit(path).sizes)
        < FIRST_VIEW
    )


@pytest.mark.parametrize("path", PAGES)
def test_fits_a_phone(visit, path):
    assert not visit(path).too_wide


@pytest.mark.parametrize("path", PAGES)
def test_no_script_error(visit, path):
    assert not visit(path).errors


@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_nothing(visit, path):
    assert visit(path).violations == {"light": [], "dark": []}


@pytest.mark.parametrize(
    ("chapter", "kind"), [("06_decoder", "pre"), ("11b_attention_or_convolution", "[data-scrolls]")]
)
def test_what_scrolls_in_a_fold_is_reached_once_it_is_open(tab, address, chapter, kind):
    page = tab(width=390)
    page.goto(f"{address}notebooks/{chapter}.html")
    page.add_style_tag(content="details pre { width: 4rem !important }")  # no line fits in
    page.wait_for_function(ALL_SCROLL_BY_KEYBOARD)
    page.evaluate("() => { for (const e of document.querySelectorAll('details')) e.open = true }")
    page.wait_for_function(ALL_SCROLL_BY_KEYBOARD)
    assert page.evaluate(
        "(kind) => [...document.querySelectorAll(`details ${kind}`)].some((e) => e.tabIndex === 0)",
        kind,
    )


def test_front_door_leads_to_the_welcome_page(tab, address):
    page = tab()
    page.goto(address)
    page.wait_for_url(address + pages()[0])


@pytest.mark.parametrize("path", notebook_pages())
def test_launch_menu_opens(visit, path):
    assert visit(path).launches


def test_dark_and_light_can_be_chosen(tab, address):
    page = tab(color_scheme="light")
    page.goto(address + pages()[0])
    seen = set()
    for _ in range(3):
        page.locator("button.theme-switch-button:visible").first.click()
        seen.add(page.locator("html").get_attribute("data-theme"))
    assert seen == {"light", "dark"}
