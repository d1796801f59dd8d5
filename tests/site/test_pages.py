"""Every page in a real browser: what it asks for, what it weighs, what it says to the console, and
whom it shuts out.
"""

from dataclasses import dataclass, field
from functools import cache
from urllib.parse import urlsplit

import pytest
from sitemap import ANIMATED, ROOT, notebook_pages, pages

pytestmark = pytest.mark.browser
PAGES = [*pages(), "search.html?q=softmax"]
FIRST_VIEW = 600_000  # bytes, compressed, as they come over the wire
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


@pytest.fixture(scope="module")
def visit(browser, address):
    """A function that opens a page and says what it saw; a second time, it remembers."""
    axe = (ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text()
    return cache(lambda path: open_page(browser, address + path, axe))


def open_page(browser, url: str, axe: str) -> Visit:
    """Open it on a desk, let axe look by day and by night, then make the window as narrow as a
    phone.
    """
    visit = Visit()
    page = browser.new_page(color_scheme="light", viewport={"width": 1280, "height": 900})
    page.on(
        "console",
        lambda message: (
            visit.errors.append(message.text) if message.type in ("error", "warning") else None
        ),
    )
    page.on("pageerror", lambda error: visit.errors.append(str(error)))
    page.on("request", lambda request: visit.requests.append(request.url))
    page.on("requestfinished", lambda request: visit.sizes.append(request.sizes()))
    page.goto(url, wait_until="networkidle")
    # the theme's script sees to it, later on a busy machine
    page.wait_for_function(ALL_SCROLL_BY_KEYBOARD, timeout=120_000)
    page.evaluate(axe)
    visit.violations["light"] = violations(page.evaluate(AXE, {}))
    page.emulate_media(color_scheme="dark")
    page.wait_for_selector("html[data-theme=dark]")
    # colours fade from one to the other
    page.evaluate(ANIMATED)
    visit.violations["dark"] = violations(
        page.evaluate(AXE, {"runOnly": ["color-contrast", "link-in-text-block"]})
    )
    page.set_viewport_size({"width": 390, "height": 844})
    visit.too_wide = page.evaluate(TOO_WIDE)
    page.close()
    return visit


def violations(found: list[dict]) -> list[str]:
    """What axe found, less what is allowed, a line for each element."""
    return [
        f"{violation['id']}: {node['target']} {node['html'][:200]}"
        for violation in found
        for node in violation["nodes"]
        if violation["id"] not in ALLOWED
    ]


# Whatever can be scrolled sideways is a stop of the Tab key.
ALL_SCROLL_BY_KEYBOARD = """() => [...document.querySelectorAll("pre, .pst-scrollable-table-container")]
  .every(e => e.scrollWidth <= e.clientWidth || e.tabIndex === 0)"""

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


def test_front_door_leads_to_the_welcome_page(browser, address):
    page = browser.new_page()
    page.goto(address)
    page.wait_for_url(address + pages()[0])
    page.close()


@pytest.mark.parametrize("path", notebook_pages())
def test_launch_menu_opens(browser, address, path):
    page = browser.new_page()
    page.goto(address + path)
    page.get_by_role("button", name="Launch interactive content").click()
    assert page.get_by_role("link", name="Colab logo Colab").is_visible()
    page.close()


def test_dark_and_light_can_be_chosen(browser, address):
    page = browser.new_page(color_scheme="light")
    page.goto(address + pages()[0])
    seen = set()
    for _ in range(3):
        page.locator("button.theme-switch-button:visible").first.click()
        seen.add(page.locator("html").get_attribute("data-theme"))
    page.close()
    assert seen == {"light", "dark"}
