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
