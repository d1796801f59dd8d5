"""Every figure stands on the same card, whatever it is: a drawing, a plot, a viewer, a table, a figure
that runs in the page; and each brings the colours that it uses.
"""

import re
import sys

import pytest
from colours import colour
from sitemap import ROOT, pages, read

from lectures_lib.show import palette

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import live as live_figures

# On these pages are, together, all kinds of figures.
KINDS = {
    "notebooks/02_self_attention.html": {
        "drawing": "figure.drawing",
        "plot": "figure:has(img.plot)",
        "viewer": ".viewer",
        "lab": ".al-box",
        "dial": ".dl-box",
        "live": ".lv-box:not(.lv-still)",
    },
    "notebooks/14_fine_tuning.html": {
        "drawing": "figure.drawing",
        "table": ".error-table",
        "plot": "figure:has(img.plot)",
    },
    "notebooks/07_subwords.html": {"stepper": ".st-box", "drawing": "figure.drawing"},
    "book/published/transformer.html": {"plot": "figure.picture.plot"},
}
LOOKS = (
    *("border-top-left-radius", "border-bottom-right-radius", "border-left-width"),
    *(
        "border-top-width",
        "border-top-style",
        "border-top-color",
        "border-left-color",
        "background-color",
    ),
)


@pytest.mark.browser
@pytest.mark.parametrize("width", [1360, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", KINDS)
def test_all_kinds_of_figures_stand_on_one_card(tab, address, path, theme, width):
    page = tab(width, 900, color_scheme=theme)
    page.goto(address + path)
    page.wait_for_selector(f"html[data-theme={theme}]")
    seen, places = {}, {}
    for kind, selector in KINDS[path].items():
        card = page.locator(f"article {selector} >> visible=true").first
        card.scroll_into_view_if_needed()
        seen[kind] = card.evaluate(
            "(card, looks) => looks.map((look) => getComputedStyle(card)[look])", list(LOOKS)
        )
        # In the page itself: a live figure that is just redrawn has no box for the driver. One that
        # was replaced between being found and being asked has none at all: ask again.
        for _ in range(20):
            box = card.evaluate("(card) => card.getBoundingClientRect().toJSON()")
            if box["width"]:
                break
            page.wait_for_timeout(100)
        places[kind] = (round(box["left"]), round(box["right"]))
        drawn = [colour(card, look) for look in ("background-color", "border-top-color")]
        paper, frame = (
            list(bytes.fromhex(palette.colour(name, theme)[1:])) for name in ("paper", "frame")
        )
        soft = [0.6 * line + 0.4 * ground for line, ground in zip(frame, paper, strict=True)]
        assert drawn == [pytest.approx(paper), pytest.approx(soft, abs=1)], kind
    assert {tuple(looks) for looks in seen.values()} == {tuple(next(iter(seen.values())))}, seen
    ends = ["12px", "12px", "1px"] if width > 600 else ["0px"] * 3  # as wide as a phone's page
    assert next(iter(seen.values()))[:5] == [*ends, "1px", "solid"]
    assert len(set(places.values())) == 1, places
    assert not page.wrong


def test_no_figure_of_a_page_stands_beside_a_card(html):
    bare = {
        path: figures
        for path in pages()
        if (figures := [f for f in read(html, path).iter("figure") if not of_a_card(f)])
    }
    assert not bare


def of_a_card(figure) -> bool:
    """Is this one?"""
    return "figure-card" in figure.get("class", "").split()


@pytest.mark.parametrize("name", live_figures.FIGURES)
def test_a_live_figure_brings_every_colour_that_it_uses_in_both_schemes(name):
    """Also on a slide, where the page has none."""
    style = live_figures.style(*live_figures.MORE.get(name, ()))
    rules = style
    if name in ("through", "reader", "at_work"):  # one goes on into another
        rules += "".join((ROOT / "book" / "live" / s).read_text() for s in live_figures.LATER)
    used = set(re.findall(r"var\((--c-[\w-]+)", rules))
    assert "--c-frame" in used
    for scheme in style.split("@media screen", 1):
        assert used <= set(re.findall(r"(--c-[\w-]+):#", scheme)), name
