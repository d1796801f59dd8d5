"""On a phone a figure's words can be read, and a wide figure scrolls in its own box."""

import pytest
from sitemap import ROOT, pages

pytestmark = pytest.mark.browser
PAGES = [f"notebooks/{path.stem}.html" for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
PICTURES = [page for page in pages() if page.startswith(("book/published/", "book/results/"))]
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
  for (const image of document.querySelectorAll("img.plot")) {
    const { width } = image.getBoundingClientRect();
    if (!width) continue;
    const svg = new DOMParser().parseFromString(await (await fetch(image.src)).text(), "image/svg+xml").documentElement;
    svg.setAttribute("width", width);
    svg.removeAttribute("height");
    document.body.append(svg);
    measure(svg, image.alt.slice(0, 60));
    svg.remove();
  }
  return small;
}"""


@pytest.mark.parametrize("path", [*PAGES, *PICTURES, "book/welcome.html"])
def test_no_word_of_a_figure_is_smaller_than_8_pixels(live, path):
    page = live(width=390, path=path, color_scheme="dark")
    assert page.evaluate(SMALL) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_a_wide_figure_scrolls_and_fades_where_it_goes_on(live):
    page = live(width=390, path="notebooks/14_fine_tuning.html")
    wide = page.locator(".plot-scroll").first
    hidden, fade = wide.evaluate(
        "e => [e.scrollWidth - e.clientWidth, getComputedStyle(e).getPropertyValue('--fade-end')]"
    )
    assert hidden > 100 and float(fade.removesuffix("px")) > 20


def test_on_a_wide_page_no_figure_scrolls(live):
    page = live(width=1360, path="notebooks/14_fine_tuning.html")
    assert (
        page.locator(".plot-scroll").evaluate_all(
            "all => all.map(e => e.scrollWidth - e.clientWidth)"
        )
        == [0] * page.locator(".plot-scroll").count()
    )


def test_white_letters_keep_their_ground_in_the_dark(html):
    """Chapter 14's five heads: white on blue, not on the dark theme's light blue."""
    drawn = [path.read_text() for path in (html / "_images").glob("*.dark.svg")]
    (heads,) = (svg for svg in drawn if ">##quist<" in svg)
    assert "#56AEE8" not in heads and "fill: rgb(0 114 178)" in heads
