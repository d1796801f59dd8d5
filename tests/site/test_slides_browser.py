"""The decks in a real browser: nothing taller than its slide, no request to another host, keys,
speaker view, paper.
"""

import sys
from itertools import pairwise

import pytest
from sitemap import ROOT

sys.path.insert(0, str(ROOT / "book"))
import slides

SEE_ALL = """async () => {
  for (let at = 0; at < Reveal.getTotalSlides(); at++) {
    Reveal.slide(at, 0, 99);
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  }
}"""
TOO_LARGE = """() => [...document.querySelectorAll('.slides section')].map((section, at) => {
  Reveal.slide(at, 0, 99);
  const scale = Reveal.getScale(), box = section.getBoundingClientRect();
  const parts = [...section.querySelectorAll('.body *, h1, h2, p')]
    .filter(it => !it.closest('aside, svg, .katex-mathml, .vlist-t, .katex') || it.matches('svg'));
  const over = parts.filter(it => {
    const its = it.getBoundingClientRect();
    return its.bottom > box.bottom - 20 * scale || its.right > box.right - 20 * scale
      || it.scrollWidth > it.clientWidth + 2 && it.matches('pre, table, .formula');
  });
  for (const it of section.querySelectorAll('.formula')) {
    const its = it.getBoundingClientRect();
    if ([...it.querySelectorAll('.katex-base')].some(base => {
      const b = base.getBoundingClientRect();
      return b.right > its.right - 6 * scale || b.left < its.left + 6 * scale;
    })) over.push(it);
  }
  return over.length ? [at + 1, over[0].tagName, over[0].textContent.slice(0, 60)] : null;
}).filter(Boolean)"""


@pytest.fixture(scope="module")
def folder(html):
    """All decks, as they were built with the site."""
    return html / "slides"


@pytest.fixture
def open_deck(tab, folder):
    """A function that opens a deck; scripts that fail and requests elsewhere fail the test."""
    pages = []
    ours = folder.as_uri(), (ROOT / "node_modules" / "axe-core").as_uri()

    def open_it(name: str, query: str = "", **options):
        page = tab(1280, 720, **options)
        pages.append(page)
        page.goto(f"{(folder / f'{name}.html').as_uri()}{query}")
        page.wait_for_function("Reveal.isReady()")
        return page

    yield open_it
    for page in pages:
        assert not page.wrong
        assert not page.failed
        allowed = (*ours, "data:", "blob:", "about:")
        assert not [url[:90] for url in page.asked if not url.startswith(allowed)]


@pytest.mark.parametrize("name", slides.decks())
def test_nothing_is_taller_than_its_slide(open_deck, name):
    page = open_deck(name)
    page.evaluate(SEE_ALL)  # a font is fetched when a slide first needs it
    page.evaluate("document.fonts.ready")
    assert page.evaluate(TOO_LARGE) == []
    assert page.evaluate("Reveal.getTotalSlides()") == slides.count(slides.read(name))
    shown = page.evaluate("[...document.images].every(it => it.complete && it.naturalWidth > 50)")
    assert shown


def test_a_key_goes_on_and_an_answer_waits_for_the_second(open_deck):
    page = open_deck("02", "#/3")
    answer = page.locator("section.present .answer")
    assert "0.95" in page.locator("section.present .question").inner_text()
    assert answer.evaluate("it => getComputedStyle(it).visibility") == "hidden"
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "getComputedStyle(document.querySelector('section.present .answer')).visibility == 'visible'"
    )
    page.keyboard.press("ArrowRight")
    page.wait_for_function("Reveal.getIndices().h == 4")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_follow_the_system_and_a_key(open_deck, scheme):
    page = open_deck("02", color_scheme=scheme)
    theme = "document.documentElement.dataset.theme"
    assert page.evaluate(theme) == scheme
    page.keyboard.press("t")
    assert page.evaluate(theme) != scheme
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(20, 24, 30)" if scheme == "light" else "rgb(255, 255, 255)"
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_that_axe_objects_to(open_deck, theme):
    page = open_deck("06", f"?theme={theme}")
    page.add_script_tag(path=ROOT / "node_modules" / "axe-core" / "axe.min.js")
    for at in range(page.evaluate("Reveal.getTotalSlides()")):
        page.evaluate("at => Reveal.slide(at, 0, 99)", at)
        found = page.evaluate(
            "axe.run({preload: false}).then(it => it.violations.map(v => [v.id, v.nodes[0].html]))"
        )
        assert found == [], at


def test_the_speaker_view_has_the_notes(open_deck):
    page = open_deck("02", "#/2")
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    notes = opened.value.locator(".speaker-controls-notes .value")
    notes.get_by_text("four volunteers").wait_for(timeout=120_000)
    assert "Where people stumble" in notes.inner_text()
    assert opened.value.locator(".pacing").is_visible()  # ahead of the minutes, or behind


def test_on_paper_a_slide_is_a_page(open_deck):
    page = open_deck("02", "?print-pdf")
    page.wait_for_selector(".pdf-page")
    paper = page.pdf(prefer_css_page_size=True, print_background=True)
    assert paper.count(b"/Type /Page\n") == slides.count(slides.read("02"))
    inset = "section => getComputedStyle(section).paddingLeft"
    assert page.locator(".pdf-page section").nth(2).evaluate(inset) == "52px"


def test_the_site_offers_every_deck(html):
    text = (html / "book" / "teaching.html").read_text(encoding="utf-8")
    for name in slides.decks():
        assert f'href="../slides/{name}.html"' in text
        assert (html / "slides" / f"{name}.html").exists()


def test_without_scripts_the_slides_stand_below_each_other(tab, folder):
    page = tab(1280, 720, java_script_enabled=False)
    page.goto((folder / "02.html").as_uri())
    boxes = [one.bounding_box() for one in page.locator(".slides > section").all()]
    assert len(boxes) == slides.count(slides.read("02"))
    for above, below in pairwise(boxes):
        assert above["y"] + above["height"] <= below["y"] + 1
    answer = page.locator(".predict .answer").first
    assert answer.evaluate("e => e.checkVisibility({opacityProperty: true})")


def test_printed_as_it_is_a_picture_stands_there_once(open_deck):
    page = open_deck("02")
    page.emulate_media(media="print")
    assert page.locator(".shown .plot-light:visible").count() > 0
    assert page.locator(".shown .plot-dark:visible").count() == 0


CUT = """() => [...document.querySelectorAll('.slides :is(pre, table, .formula, img, svg.drawing)')].filter(it => {
  if (!it.getClientRects().length) return false;
  const { left, right } = it.getBoundingClientRect();
  const inside = it.matches('.formula') ? [...it.querySelectorAll('.katex-base')].map(base => base.getBoundingClientRect().right) : [];
  return left < 0 || right > innerWidth || it.scrollWidth > it.clientWidth + 2 || inside.some(its => its > right);
}).map(it => [it.tagName, it.textContent.slice(0, 60)])"""


@pytest.mark.parametrize("name", slides.decks())
def test_printed_as_it_is_nothing_is_cut(tab, folder, name):
    page = tab(718, 1040)  # A4 between its margins
    page.goto((folder / f"{name}.html").as_uri())
    page.wait_for_function("Reveal.isReady()")
    page.emulate_media(media="print")
    page.evaluate("document.fonts.ready")
    assert page.evaluate(CUT) == []


def test_printed_as_it_is_a_line_of_code_is_a_line(tab, folder):
    page = tab(718, 1040)
    page.goto((folder / "03.html").as_uri())
    page.wait_for_function("Reveal.isReady()")
    page.emulate_media(media="print")
    code = page.locator("pre.code", has_text="def split_heads").first
    lines, height, line = code.evaluate(
        """code => {
          const style = getComputedStyle(code), text = code.textContent.trimEnd();
          const padding = parseFloat(style.paddingTop) + parseFloat(style.paddingBottom);
          return [text.split("\\n").length, code.clientHeight - padding, parseFloat(style.lineHeight)];
        }"""
    )
    assert height == pytest.approx(lines * line, abs=0.6 * line)


LIVE = next(i for i, slide in enumerate(slides.read("09b")["slides"]) if "live" in slide) + 2
AT = "Reveal.getIndices().h"


@pytest.fixture
def with_figure(tab, address):
    """A deck on the site, at its live figure."""
    page = tab(1280, 720)
    page.goto(f"{address}slides/09b.html#/{LIVE}")
    page.wait_for_function("Reveal.isReady()")
    yield page
    assert not page.wrong


def test_a_live_figure_is_fetched_when_its_button_is_pressed(with_figure):
    page = with_figure
    page.wait_for_load_state("networkidle")
    assert page.locator("section.present .lv-still pre").is_visible()
    assert not [url for url in page.asked if "/live/" in url]
    page.keyboard.press("Tab")
    while not page.evaluate("document.activeElement.closest('.run')"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator("section.present .lv-on").wait_for()
    assert not page.locator("section.present .lv-still").is_visible()
    assert [url for url in page.asked if "/live/filling.js" in url]
    assert page.evaluate("document.activeElement.closest('.live') !== null")
    assert page.evaluate(TOO_LARGE) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["16b", "16c"])
def test_a_figure_with_a_large_table_fits_its_slide(tab, address, name, theme):
    at = next(i for i, slide in enumerate(slides.read(name)["slides"]) if "live" in slide) + 2
    page = tab(1280, 720)
    page.goto(f"{address}slides/{name}.html?theme={theme}#/{at}")
    page.wait_for_function("Reveal.isReady()")
    page.get_by_role("button", name="Run it here").click()
    host = page.locator("section.present .live.lv-on")
    host.locator("table").first.wait_for()
    assert host.evaluate("it => it.scrollHeight <= it.clientHeight")
    assert host.evaluate("it => it.scrollWidth <= it.clientWidth")
    if name == "16c":
        page.get_by_role("button", name="The treebank").click()
        assert host.evaluate("it => it.scrollHeight <= it.clientHeight")
    assert page.evaluate(TOO_LARGE) == []
    assert not page.wrong


def test_its_keys_are_its_own_until_escape(with_figure):
    page = with_figure
    page.get_by_role("button", name="Run it here").click()
    page.locator("section.present .lv-on").wait_for()
    slider = page.locator("section.present input[type=range]").first
    slider.focus()
    before = slider.input_value()
    page.keyboard.press("ArrowRight")
    assert slider.input_value() != before and page.evaluate(AT) == LIVE
    page.locator("section.present .lv-on button").first.focus()
    for key in ("ArrowRight", "ArrowLeft", "t", "Escape"):
        page.keyboard.press(key)
        assert page.evaluate(AT) == LIVE
    assert not page.evaluate("Reveal.isOverview()")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"{AT} == {LIVE + 1}")


def test_beside_the_live_figure_the_keys_turn_the_slides(with_figure):
    page = with_figure
    page.locator("section.present .run button").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(f"{AT} == {LIVE - 1}")


def test_a_deck_without_the_site_says_so(open_deck):
    """From a file, a browser imports no module."""
    page = open_deck("09b", f"#/{LIVE}")
    page.get_by_role("button", name="Run it here").click()
    page.get_by_text("only there when the deck is opened on the site").wait_for()
    page.failed.clear()
    page.asked[:] = [url for url in page.asked if "/live/" not in url]


@pytest.mark.parametrize("query", ["?print-pdf", ""])
def test_on_paper_a_live_figure_is_its_example(open_deck, query):
    page = open_deck("09b", query)
    if query:
        page.wait_for_selector(".pdf-page")
    page.emulate_media(media="print")
    figure = page.locator(".live")
    assert figure.locator("pre").is_visible()
    assert not figure.locator(".run").is_visible()


def test_a_dial_on_a_slide_keeps_its_keys_until_escape(open_deck):
    at = next(i for i, slide in enumerate(slides.read("04")["slides"]) if "widget" in slide) + 2
    page = open_deck("04", f"#/{at}")
    slider = page.locator("section.present .widget input")
    slider.focus()
    before = int(slider.input_value())
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"{AT} == {at}")
    assert int(slider.input_value()) == before + 1
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"{AT} == {at + 1}")
