"""A reader whose system is dark and whose browser runs no scripts gets dark pages, too."""

import sys

import pytest
from sitemap import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from dark_without_scripts import dark_rules

LIGHTNESS = """(e) => { const [r, g, b] = getComputedStyle(e).%s.match(/\\d+/g).map(Number); return (r + g + b) / 765 }"""


def test_the_dark_rules_are_written_for_the_light_page():
    css = """/* html[data-theme="dark"] p { } */ a { color: red }
    html[data-theme="dark"] p:is(a, b), p.x { color: white } html[data-theme=light] p { color: black }
    @media screen { html[data-theme=dark] q, body.vscode-dark q { --c: #fff } i { top: 0 } }
    @media print { html[data-theme="dark"] q { color: red } }"""
    light = 'html[data-theme="light"]'
    assert dark_rules(css) == (
        f"{light} p:is(a, b){{color: white}}\n@media screen{{{light} q{{--c: #fff}}}}"
    )


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_without_scripts_the_system_chooses(live, scheme):
    page = live(
        path="notebooks/02_self_attention.html", color_scheme=scheme, java_script_enabled=False
    )
    dark = scheme == "dark"
    body = page.locator("body").evaluate(LIGHTNESS % "backgroundColor")
    assert (body < 0.2) == dark
    for text in (".bd-article p", ".highlight pre", "svg.drawing text >> nth=0"):
        what = "fill" if "svg" in text else "color"
        assert (page.locator(text).first.evaluate(LIGHTNESS % what) > 0.5) == dark, text
    assert page.locator("img.plot-dark").first.is_visible() == dark
    assert page.locator("img.plot-light").first.is_visible() != dark


@pytest.mark.browser
def test_without_scripts_a_viewers_picture_stands_on_its_card(live):
    page = live(
        path="notebooks/02_self_attention.html", color_scheme="dark", java_script_enabled=False
    )
    pictures = page.locator(".cell_output img.figure-card")
    assert pictures.count()
    for picture in pictures.all():
        assert picture.evaluate(LIGHTNESS % "backgroundColor") < 0.2


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1360])
def test_without_scripts_no_button_is_dead_and_the_chapters_are_one_link_away(live, width):
    page = live(width, path="notebooks/05_encoder.html", java_script_enabled=False)
    buttons = page.locator(".bd-header-article .sidebar-toggle")
    assert buttons.count() and not any(button.is_visible() for button in buttons.all())
    way = page.get_by_role("link", name="All chapters")
    assert way.is_visible()
    box = way.bounding_box()
    assert 0 <= box["x"] and box["x"] + box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    way.click()
    page.wait_for_url("**/book/welcome.html#the-chapters")
    assert page.locator("#the-chapters .chapter-cards").first.is_visible()


@pytest.mark.browser
@pytest.mark.parametrize("path", ["notebooks/02_self_attention.html", "notebooks/06_decoder.html"])
def test_without_scripts_a_figure_that_is_still_says_why(live, path):
    figures = ":is(.attention-viewer, .attention-lab, .stepper, .dial)"
    page = live(path=path, java_script_enabled=False)
    said = page.locator(f"{figures} + noscript .still-figure")
    assert said.count() == page.locator(figures).count() > 0
    assert all("moves only with scripts" in line.inner_text() for line in said.all())
    page = live(path=path)
    assert page.locator(".still-figure").count() == 0  # nothing but text in <noscript>


@pytest.mark.browser
@pytest.mark.parametrize("scripts", [True, False])
def test_behind_a_cells_rounded_corners_nothing_shines_through(live, scripts):
    page = live(path="notebooks/05_encoder.html", color_scheme="dark", java_script_enabled=scripts)
    cell = page.locator(".cell_input:has(pre):visible").first
    assert cell.evaluate(LIGHTNESS % "backgroundColor") < 0.2
