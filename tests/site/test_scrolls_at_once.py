"""The script that tells keyboards what scrolls measures all boxes before it changes the first."""

import pytest
from sitemap import ROOT

pytestmark = pytest.mark.browser

BOXES = "".join(
    '<div class="pst-scrollable-table-container" style="overflow: auto; width: 90px">'
    f'<table><tr><td style="min-width: {width}px">x</td></tr></table></div>'
    for width in (300, 20, 300, 300)
)
# What a page does, in order: "?" for each measure, "!" for each change.
SPY = """() => {
  window.done = "";
  const width = Object.getOwnPropertyDescriptor(Element.prototype, "scrollWidth").get;
  Object.defineProperty(Element.prototype, "scrollWidth", { get() { window.done += "?"; return width.call(this); } });
  for (const name of ["setAttribute", "removeAttribute"]) {
    const change = Element.prototype[name];
    Element.prototype[name] = function (...rest) { window.done += "!"; return change.apply(this, rest); };
  }
}"""


def test_what_scrolls_is_measured_at_once(tab):
    page = tab(width=400)
    page.set_content(f'<article class="bd-article">{BOXES}</article>')
    page.evaluate(SPY)
    page.add_script_tag(path=ROOT / "book" / "_static" / "scrolls.js")
    page.wait_for_function("document.querySelectorAll('[data-scrolls]').length === 3")
    done = page.evaluate("window.done")
    assert done.startswith("????!")
    runs = [run for run in done.split("!") if run]
    assert all(len(run) % 4 == 0 for run in runs)
