"""A formula in a page's first paragraph: its letters come with the page, and no line moves."""

import sys
from types import SimpleNamespace

import pytest
from conftest import SHIFTS
from docutils import nodes
from sitemap import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import formulas


@pytest.mark.parametrize("at", [0, 1])
def test_its_letters_are_fetched_early_only_there(at):
    paragraphs = [nodes.paragraph("", "Words"), nodes.paragraph("", "More words")]
    paragraphs[at] += nodes.math("", "x")
    app, context = SimpleNamespace(add_css_file=lambda name: None), {}
    formulas.link_style(app, "page", "", context, nodes.section("", *paragraphs))
    assert context["formula_first"] == (at == 0)


@pytest.mark.browser
def test_no_line_moves_when_they_have_come(tab, address):
    page = tab(390, 844, init=SHIFTS)
    page.context.new_cdp_session(page).send("Network.clearBrowserCache")
    page.goto(address + "notebooks/05_encoder.html")
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(300)
    assert page.evaluate("shift") < 0.05


@pytest.mark.browser
@pytest.mark.parametrize(
    "page_name", ["01_bottleneck", "02_self_attention", "03_multi_head_attention"]
)
def test_a_formula_wider_than_a_phone_scrolls_in_a_box_that_is_seen(tab, address, page_name):
    page = tab(390, 844)
    page.goto(f"{address}notebooks/{page_name}.html", wait_until="networkidle")
    wide = page.locator(".formula-scroll[data-scrolls]")
    wide.first.wait_for()
    paper = page.locator("body").evaluate("body => getComputedStyle(body).backgroundColor")
    for box in wide.all():
        ground, right, overflow = box.evaluate("""(box) => { const style = getComputedStyle(box);
          return [style.backgroundColor, box.getBoundingClientRect().right, style.overflowX]; }""")
        assert ground not in (paper, "rgba(0, 0, 0, 0)")
        assert right <= 390 and overflow == "auto"
