"""On a phone a figure's words can be read, and a drawing is seen whole; what is wider scrolls in a
box of its own, which fades where it goes on and can be scrolled by keyboard.
"""

from functools import cache

import pytest
from live_page import EVERY_FIGURE
from sitemap import ROOT, pages

from lectures_lib.show import palette
from lectures_lib.show.contrast import contrast

pytestmark = pytest.mark.browser
PAGES = [f"notebooks/{path.stem}.html" for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
PICTURES = [page for page in pages() if page.startswith(("book/published/", "book/results/"))]


@pytest.fixture(scope="module")
def seen(tabs, address):
    """A function that opens a page and gives what was seen on it; a second time, it remembers."""
    return cache(lambda path: look(tabs, address, path))


def look(tabs, address, path) -> dict:
    """Open a page on a phone in the dark, make it light, then narrower and wider, and dark again:
    what each of the scripts below found, by its name and the width.
    """
    page = tabs.take(390, 900, color_scheme="dark")
    page.goto(address + path)
    page.wait_for_function(EVERY_FIGURE)
    seen = {
        "small": page.evaluate(SMALL),
        "width": page.evaluate("document.documentElement.scrollWidth"),
    }
    turn(page, "light")
    seen["unreached"] = page.evaluate(UNREACHED)
    seen["cut"] = page.evaluate(CUT, WHOLE.get(path, []))
    seen["layouts", 390] = page.evaluate(LAYOUTS)
    if path in PAGES:
        for width in (320, 360, 600, 1360):
            page.set_viewport_size({"width": width, "height": 900})
            seen["layouts", width] = page.evaluate(LAYOUTS)
            seen["stacks", width, "light"] = page.evaluate(STACKS)
        turn(page, "dark")
        for width in (1360, 390):
            page.set_viewport_size({"width": width, "height": 900})
            seen["stacks", width, "dark"] = page.evaluate(STACKS)
    assert not page.wrong
    tabs.give_back(page)
    return seen


def turn(page, theme: str) -> None:
    """Make the page light or dark."""
    page.emulate_media(color_scheme=theme)
    page.wait_for_selector(f"html[data-theme={theme}]")


SMALL = """async () => {
  const small = [];
  const measure = (svg, name) => {
    for (const text of svg.querySelectorAll("text")) {
      if (!text.textContent.trim()) continue;
      const { a, b } = text.getScreenCTM();
      const written = [text, ...text.querySelectorAll("tspan")].filter((part) => [...part.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
      const pixels = Math.min(...written.map((part) => parseFloat(getComputedStyle(part).fontSize))) * Math.hypot(a, b);
      if (pixels < 7.99) small.push(`${name}: ${text.textContent.trim()}: ${pixels.toFixed(1)} px`);
    }
  };
  const roots = [document];
  for (const one of document.querySelectorAll("*")) if (one.shadowRoot) roots.push(one.shadowRoot);
  for (const root of roots) for (const svg of root.querySelectorAll("svg")) if (svg.getClientRects().length) measure(svg, svg.getAttribute("aria-label") ?? svg.textContent.trim().slice(0, 40));
  const shown = [...document.querySelectorAll("img.plot")].filter((image) => image.getClientRects().length);
  const drawn = await Promise.all(shown.map(async (image) => {
    const svg = new DOMParser().parseFromString(await (await fetch(image.src)).text(), "image/svg+xml").documentElement;
    svg.setAttribute("width", image.getBoundingClientRect().width);
    svg.removeAttribute("height");
    return svg;
  }));
  const sheet = document.createElement("div"); // whose styles are its own, as an image's are
  sheet.attachShadow({ mode: "open" }).append(...drawn);
  document.body.append(sheet);
  drawn.forEach((svg, i) => measure(svg, shown[i].alt.slice(0, 60)));
  sheet.remove();
  return small;
}"""


@pytest.mark.parametrize("path", [*PAGES, *PICTURES, "book/welcome.html"])
def test_no_word_of_a_figure_is_smaller_than_8_pixels(seen, path):
    assert seen(path)["small"] == []
    assert seen(path)["width"] == 390


DRAWN = [
    page
    for page in PAGES
    if 'class="drawing d-' in (ROOT / page.replace("html", "ipynb")).read_text().replace('\\"', '"')
]
# of each drawing: by how much it scrolls, and which of its two layouts are displayed
LAYOUTS = """() => [...document.querySelectorAll("figure.drawing")].map((figure) => {
  for (let one = figure; one; one = one.parentElement) { one.hidden = false; if (one.matches("details")) one.open = true; }
  const box = figure.querySelector(".scroll"), shown = [...box.querySelectorAll("svg")].filter((svg) => svg.getClientRects().length);
  return [box.scrollWidth - box.clientWidth, shown.map((svg) => /_narrow\\b/.test(svg.getAttribute("class")))];
})"""


@pytest.mark.parametrize("width", [320, 390, 600, 1360])
@pytest.mark.parametrize("path", DRAWN)
def test_a_drawing_of_a_mechanism_is_seen_whole(seen, path, width):
    drawings = seen(path)["layouts", width]
    assert drawings
    for hidden, narrow in drawings:
        assert hidden <= 0 and len(narrow) == 1
        assert width in (600, 1360) or narrow == [True]
        assert width != 1360 or narrow == [False]


# Drawings by matplotlib, each by the first words that describe it: a plot may scroll, these need not.
WHOLE = {
    "notebooks/03_multi_head_attention.html": ["The sentence three times"],
    "notebooks/12_bert.html": ["Three bars, each 100 percent"],
    "notebooks/13c_choices.html": [
        "Five rows of three dots",
        "Three panels of dots",
        "Bars that hang down",
    ],
    "notebooks/14_fine_tuning.html": ["Two groups of four bars"],
    "notebooks/18b_what_it_costs.html": ["Four stacked bars of gigabytes"],
}
CUT = """starts => starts.filter((start) => {
  const box = document.querySelector(`img.plot[alt^="${start}"]`).closest(".plot-scroll");
  return box.scrollWidth > box.clientWidth || !box.clientWidth;
})"""


@pytest.mark.parametrize("path", WHOLE)
def test_a_drawing_by_matplotlib_is_seen_whole(seen, path):
    assert seen(path)["cut"] == []


# chapters with a figure of several panels that is too wide for a phone as it is
PANELS = [
    *("05_encoder", "06_decoder", "08_training", "08b_judging", "10b_agreement"),
    *("11b_attention_or_convolution", "13_pretraining", "15_features"),
    *("16_what_bert_learns", "16b_probing", "16c_trees", "17_sentence_bert", "18_after_bert"),
]
# of each figure of several panels: by how much it scrolls, the layouts that are displayed, its note
STACKS = """() => [...document.querySelectorAll(".plot-layouts")].map((box) => {
  for (let one = box; one; one = one.parentElement) if (one.matches("details")) one.open = true;
  const shown = [...box.querySelectorAll("img")].filter((image) => image.getClientRects().length);
  const note = box.querySelector(".plot-moved");
  return [box.scrollWidth - box.clientWidth, shown.map((image) => [image.matches(".plot-narrow"), image.matches(".plot-dark")]), note && note.getClientRects().length > 0];
})"""


@pytest.mark.parametrize(
    ("width", "narrow", "dark"), [(360, True, False), (390, True, True), (1360, False, True)]
)
@pytest.mark.parametrize("chapter", PANELS)
def test_panels_stand_below_each_other_on_a_phone(seen, chapter, width, narrow, dark):
    figures = seen(f"notebooks/{chapter}.html")["stacks", width, "dark" if dark else "light"]
    assert figures
    for hidden, shown, note in figures:
        # chapter 16's seven names of relations need the wider telephone
        assert hidden <= 0 or (width, chapter) == (360, "16_what_bert_learns")
        assert shown == [[narrow, dark]]
        assert note in (None, narrow)


def test_what_is_left_and_right_on_a_wide_page_is_said_where_it_is_not(live):
    page = live(width=390, path="notebooks/08_training.html")
    notes = page.locator(".plot-moved:visible").all_inner_texts()
    assert notes == ["Drawn for a narrow page: left is above, right is below."] * 3


def test_a_drawing_of_the_exam_is_seen_whole(seen):
    drawings = seen("book/exam.html")["layouts", 390]
    assert len(drawings) > 20 and [hidden for hidden, _ in drawings if hidden > 0] == []


# what scrolls and may not be reached by keyboard, has no name, or does not fade where it is cut
UNREACHED = """async () => {
  await document.fonts.ready;
  for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
  return [...document.querySelectorAll(".bd-article *")].filter((e) => {
    if (e.matches("pre") || !e.checkVisibility() || e.scrollWidth <= e.clientWidth + 1 || !e.clientWidth) return false;
    const style = getComputedStyle(e);
    if (!["auto", "scroll"].includes(style.overflowX)) return false;
    const named = ["group", "region"].includes(e.getAttribute("role")) && e.getAttribute("aria-label")?.trim();
    const ends = ["--fade-start", "--fade-end"].map((end) => parseFloat(style.getPropertyValue(end)));
    const fades = Math.max(...ends) > 20 && style.maskImage !== "none";
    return !(e.tabIndex === 0 && e.hasAttribute("tabindex") && named && fades);
  }).map((e) => `${e.className}: ${e.textContent.trim().slice(0, 60)}`);
}"""


@pytest.mark.parametrize("path", [*PAGES, *PICTURES, "book/teaching.html", "book/exam.html"])
def test_what_scrolls_says_so_to_eyes_keyboards_and_screen_readers(seen, path):
    assert seen(path)["unreached"] == []


def test_a_wide_table_scrolls_by_keyboard_and_names_itself_only_while_it_scrolls(live):
    page = live(width=390, path="notebooks/14b_words_and_spans.html")
    table = page.get_by_role("group", name="Table: ").last
    table.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.activeElement.scrollLeft > 0")
    page.set_viewport_size({"width": 1360, "height": 900})
    page.wait_for_function("() => !document.querySelector('[data-scrolls]')")
    assert not page.locator("figure.drawing .scroll[tabindex]").count()


def test_a_wide_figure_scrolls_and_fades_where_it_goes_on(live):
    page = live(width=320, path="notebooks/16_what_bert_learns.html")
    wide = page.locator(".plot-scroll", has=page.locator('[alt^="Four dots for each"]'))
    hidden, fade = wide.evaluate(
        "e => [e.scrollWidth - e.clientWidth, getComputedStyle(e).getPropertyValue('--fade-end')]"
    )
    assert hidden > 50 and float(fade.removesuffix("px")) > 20


def test_on_a_wide_page_no_figure_scrolls(live):
    page = live(width=1360, path="notebooks/14_fine_tuning.html")
    assert (
        page.locator(".plot-scroll").evaluate_all(
            "all => all.map(e => e.scrollWidth - e.clientWidth)"
        )
        == [0] * page.locator(".plot-scroll").count()
    )


def test_white_letters_keep_their_ground_in_the_dark(html):
    """Chapter 18's bars: white on a blue on which it can be read, not on the dark theme's light one."""
    drawn = [path.read_text() for path in (html / "_images").glob("*.dark.svg")]
    bars = [svg for svg in drawn if ">ELMo + BiLSTM<" in svg]  # wide, and for a telephone
    assert bars
    light, ground = (
        palette.colour("series_1", "dark", "mark"),
        palette.colour("share", "dark", "mark"),
    )
    kept = f"fill: rgb({' '.join(map(str, bytes.fromhex(ground[1:])))})"
    assert all(light not in svg and kept in svg for svg in bars)
    assert (
        contrast(ground, "#ffffff") >= 4.5
        and contrast(ground, palette.colour("paper", "dark")) >= 3
    )
