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
