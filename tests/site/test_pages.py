"""Every page in a real browser: what it asks for, what it weighs, what it says to the console, and
whom it shuts out.
"""

from dataclasses import dataclass, field
from functools import cache
from urllib.parse import urlsplit

import axe
import pytest
from live_page import EVERY_FIGURE, IN_CHAPTERS, PAPER
from sitemap import ANIMATED, notebook_pages, pages

pytestmark = pytest.mark.browser
PAGES = [*pages(), "search.html?q=softmax"]
FIRST_VIEW = 350_000  # bytes, compressed, as they come over the wire
FIRST = 520  # pixels down to a chapter's first figure
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
    measured: dict = field(default_factory=dict)
    cut: list[str] = field(default_factory=list)
    cut_on_paper: list[str] = field(default_factory=list)
    figures: list[list] = field(default_factory=list)
    launches: bool = False


@pytest.fixture(scope="module")
def visit(tabs, address):
    """A function that opens a page and says what it saw; a second time, it remembers."""
    return cache(lambda path: open_page(tabs, address + path))


def open_page(tabs, url: str) -> Visit:
    """Open it on a desk by night, print it, make the window as narrow as a phone and as wide again,
    let axe look by night and by day, and open the launch menu.
    """
    visit, page = Visit(), tabs.take(1280, 900, color_scheme="dark")
    # what it weighs for one who has never been here
    page.context.new_cdp_session(page).send("Network.clearBrowserCache")

    def weigh(request):
        visit.sizes.append(request.sizes())

    page.on("requestfinished", weigh)
    page.goto(url)
    page.wait_for_load_state("networkidle")
    page.wait_for_function(EVERY_FIGURE)
    page.remove_listener("requestfinished", weigh)  # the rest is no first view
    visit.figures = page.evaluate(FIGURES)
    page.set_viewport_size({"width": 1360, "height": 900})
    visit.cut = page.evaluate(CUT)
    if "search.html" not in url:  # its results are no article
        visit.measured = page.evaluate(MEASURE)
        visit.cut_on_paper = printed(page)
    page.set_viewport_size({"width": 390, "height": 844})
    visit.too_wide = page.evaluate(TOO_WIDE)
    page.set_viewport_size({"width": 1280, "height": 900})
    # scrolls.js sees to it, later on a busy machine
    page.wait_for_function(ALL_SCROLL_BY_KEYBOARD, timeout=120_000)
    page.evaluate(axe.script())
    assert page.evaluate(ONE_OF_A_KIND) == [], "a formula is built otherwise now"
    page.evaluate(FIRST_OF_A_LOOK)
    visit.violations["dark"] = violations(page.evaluate(AXE, {"runOnly": axe.COLOURS}))
    page.emulate_media(color_scheme="light")
    page.wait_for_selector("html[data-theme=light]")
    # colours fade from one to the other
    page.evaluate(ANIMATED)
    page.evaluate(FIRST_OF_A_LOOK)
    visit.violations["light"] = violations(page.evaluate(AXE, {}))
    launch = page.get_by_role("button", name="Launch interactive content")
    if launch.count():
        launch.click()
        visit.launches = page.get_by_role("link", name="Colab logo Colab").is_visible()
    visit.requests, visit.errors = page.asked, [*page.said, *page.wrong]
    tabs.give_back(page)
    return visit


def printed(page) -> list[str]:
    """What is cut on paper; the page is then as it was."""
    page.set_viewport_size({"width": PAPER, "height": 1040})
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    cut = page.evaluate(CUT_ON_PAPER)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="null")
    page.evaluate(ANIMATED)
    return cut


def violations(found: list[list[str]]) -> list[str]:
    """What axe found, less what is allowed, a line for each element."""
    return [f"{rule}: {where} {what}" for rule, where, what in found if rule not in ALLOWED]


# Whatever can be scrolled sideways is a stop of the Tab key, as soon as it is seen.
ALL_SCROLL_BY_KEYBOARD = """() => [...document.querySelectorAll("pre, .pst-scrollable-table-container")]
  .every(e => !e.checkVisibility() || e.scrollWidth <= e.clientWidth + 1 || e.tabIndex === 0)"""

# A chapter's code is thousands of words in a handful of colours. Of those that stand in the same line
# or block, are of the same class and look the same, axe sees the first: the others become plain text
# of the line, which it sees once, too. And formulas are left out, thousands of boxes that screen readers
# skip (they read the MathML beside them), in the colour of the text: each keeps its size and place.
ONE_OF_A_KIND = """() => {
  const looks = new Map(), words = [...document.querySelectorAll("pre span")].filter((e) => !e.firstElementChild);
  const again = words.filter((word) => {
    if (!word.checkVisibility()) return false;
    const style = getComputedStyle(word), kinds = looks.get(word.parentElement) ?? new Set();
    looks.set(word.parentElement, kinds);
    const look = ["color", "backgroundColor", "backgroundImage", "fontSize", "fontWeight", "opacity", "textShadow"].map((name) => style[name]);
    const kind = [word.className, word.getAttribute("style"), ...look].join();
    return kinds.has(kind) || !kinds.add(kind);
  });
  const formulas = [...document.querySelectorAll(".katex-html .katex-base")].map((base) => [base, base.getBoundingClientRect().width]);
  for (const word of again) word.replaceWith(word.textContent);
  for (const line of looks.keys()) line.normalize();
  for (const math of document.querySelectorAll(".katex-mathml > math")) math.textContent = math.textContent;
  for (const [base, width] of formulas) {
    base.replaceChildren(...base.querySelectorAll(":scope > .katex-strut"));
    base.style.width = `${width}px`;
  }
  return [...document.querySelectorAll(".katex-html")].filter((formula) => formula.querySelector(".mord, .mrel")).map((formula) => formula.textContent);
}"""

# How a text stands out from its ground, axe works out for each element that has one, and that is most of what
# it does on a page. Two that look the same, in places that are of the same classes and look the same all the
# way up, stand out alike: the first of them is asked, all others are left to axe's other rules. (What is
# placed anywhere else than the text's flow may have any ground: it is a kind of its own.)
FIRST_OF_A_LOOK = """() => {
  const kinds = new Map(), seen = new Set();
  const kindOf = (e) => {
    if (!e) return "";
    if (kinds.has(e)) return kinds.get(e);
    const style = getComputedStyle(e), placed = ["absolute", "fixed", "sticky"].includes(style.position) || style.float !== "none";
    const look = ["backgroundColor", "backgroundImage", "opacity", "filter", "mixBlendMode", "zIndex", "transform", "display"].map((name) => style[name]);
    const text = [kindOf(e.parentElement), e.tagName, e.getAttribute("class"), e.getAttribute("style"), ...look, placed && kinds.size].join();
    if (!kindOf.numbers.has(text)) kindOf.numbers.set(text, kindOf.numbers.size);
    kinds.set(e, kindOf.numbers.get(text));
    return kinds.get(e);
  };
  kindOf.numbers = new Map();
  for (const e of document.body.querySelectorAll("*")) {
    e.removeAttribute("data-first-of-a-look");
    if (e.matches("math, title, desc, style, script") || ![...e.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
    const style = getComputedStyle(e);
    const look = [kindOf(e), ...["color", "fill", "fontSize", "fontWeight", "textShadow", "webkitTextStroke", "visibility"].map((name) => style[name])].join();
    if (seen.has(look)) continue;
    seen.add(look);
    e.setAttribute("data-first-of-a-look", "");
  }
  return [seen.size, document.body.querySelectorAll("*").length];
}"""

# What axe finds: the rule, where, and what stands there. That is read for these elements alone: axe itself would
# write out all that it looks at, the whole page too.
AXE = """async (options) => {
  axe.configure({ noHtml: true, rules: [{ id: "color-contrast", selector: "[data-first-of-a-look]" }] });
  const { violations } = await axe.run({ exclude: [".katex-html"] }, { resultTypes: ["violations"], elementRef: true, ...options });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target, element }) => [id, String(target), element.outerHTML.slice(0, 200)]));
}"""

# The live figures in their order, and whether each has its box.
FIGURES = """() => [...document.querySelectorAll(".live[data-live]")]
  .map((place) => [JSON.parse(place.dataset.live).figure, place.querySelector(".lv-box[role=group]") !== null])"""

# Listings that have to be scrolled sideways, those in folds too; each fold is left as it was.
CUT = """() => {
  const folds = [...document.querySelectorAll("article details:not([open])")];
  for (const fold of folds) fold.open = true;
  const cut = [...document.querySelectorAll("article .highlight pre")].filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1);
  const begins = cut.map(e => e.textContent.slice(0, 80));
  for (const fold of folds) fold.open = false;
  return begins;
}"""

CUT_ON_PAPER = """() => {
  const right = document.querySelector("article").getBoundingClientRect().right;
  const seen = [...document.querySelectorAll("article :is(img, svg, table, pre, .katex-display, .lv-box, td, th)")];
  const inside = (e) => [...(function* () { for (let p = e.parentElement; p.tagName !== "ARTICLE"; p = p.parentElement) yield p; })()]
    .every((p) => !/auto|scroll|hidden/.test(getComputedStyle(p).overflowX) || p.scrollWidth <= p.clientWidth + 1);
  return seen.filter((e) => e.checkVisibility() && e.getBoundingClientRect().width > 1 && !e.closest("[role=tooltip], .katex svg"))
    .filter((e) => e.getBoundingClientRect().right > right + 1 || !inside(e)).map((e) => e.outerHTML.slice(0, 90));
}"""

# A chapter's page on a desk: where its first figure stands, and how much of it is code.
MEASURE = """() => {
  const article = document.querySelector("article"), seen = (e) => e.checkVisibility();
  const height = (e) => e.getBoundingClientRect().height;
  const sum = (list) => [...list].filter(seen).reduce((total, e) => total + height(e), 0);
  const pictures = "img, table, iframe, svg:not(button svg), [role=group], .stepper, .attention-lab, .attention-viewer";
  const texts = [...article.querySelectorAll("div.cell_output")].filter((e) => !e.querySelector(pictures));
  const figures = [...article.querySelectorAll("figure, img, svg:not(button svg), [role=group], .attention-viewer")].filter(seen);
  const code = [...article.querySelectorAll("div.cell_input pre")].filter(seen);
  const first = Math.min(...figures.filter((e) => height(e) > 60).map((e) => e.getBoundingClientRect().top));
  return {
    code: (sum(article.querySelectorAll("div.cell_input")) + sum(texts)) / height(article),
    figure: first + scrollY,
    bars: [...article.querySelectorAll("details.hide")].filter((e) => e.getBoundingClientRect().top < first).length,
    scrolling: code.filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent),
  };
}"""

# What sticks out of the window on the right, if the page can be scrolled sideways at all.
TOO_WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] :
  [...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1)
    .map(e => e.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("path", PAGES)
def test_no_listing_is_cut_on_a_desk(visit, path):
    assert visit(path).cut == []


@pytest.mark.parametrize("path", pages())
def test_nothing_is_cut_on_paper(visit, path):
    assert visit(path).cut_on_paper == []


@pytest.mark.parametrize("page", [page for page in pages() if page.startswith("notebooks/")])
def test_a_chapter_begins_with_a_picture_and_is_more_than_code(visit, page):
    found = visit(page).measured
    assert found["figure"] <= FIRST, "the first figure stands too low"
    assert not found["bars"], "folded code stands before the first figure"
    assert found["code"] <= 0.41, "too much of the page is code and its output"
    assert not found["scrolling"], "code of 88 columns fits"


@pytest.mark.parametrize("path", PAGES)
def test_asks_nothing_of_another_host(visit, address, path):
    assert {
        urlsplit(url).netloc for url in visit(path).requests if not url.startswith("data:")
    } == {urlsplit(address).netloc}


@pytest.mark.parametrize("chapter", IN_CHAPTERS)
def test_a_chapter_has_its_figures_and_fetches_no_model_for_them(visit, chapter):
    seen = visit(f"notebooks/{chapter}.html")
    assert seen.figures == [[name, True] for name in IN_CHAPTERS[chapter]]
    assert not [url for url in seen.requests if "/models/" in url or "worker" in url]


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


# no line fits in, nor any table
TOO_WIDE_FOR_A_FOLD = """details pre { width: 4rem !important }
  details table { display: table !important; min-width: 60rem !important }"""


@pytest.mark.parametrize(
    ("chapter", "kind"), [("06_decoder", "pre"), ("11b_attention_or_convolution", "[data-scrolls]")]
)
def test_what_scrolls_in_a_fold_is_reached_once_it_is_open(tab, address, chapter, kind):
    page = tab(width=390)
    page.goto(f"{address}notebooks/{chapter}.html")
    page.add_style_tag(content=TOO_WIDE_FOR_A_FOLD)
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
