"""The attention viewer under mouse, finger and keyboard: on a page of its own, and in the chapter
that shows it.
"""

import os
import re

import pytest
import torch
from colours import THEMES, colour

from lectures_lib.show.viewer import AttentionViewer

pytestmark = pytest.mark.browser
TOKENS = ["[CLS]", "the", "animal", "was", "tired"]
CHAPTER = "notebooks/03_multi_head_attention.html"


def weights() -> torch.Tensor:
    """Two layers of three heads. Head (1, 2) looks one to the left; in head (0, 0) "animal" (2)
    likes "tired" best.
    """
    w = torch.full((2, 3, 5, 5), 0.2)
    w[1, 2] = torch.eye(5)[[0, 0, 1, 2, 3]]
    w[0, 0, 2] = torch.tensor([0.1, 0.05, 0.2, 0.0, 0.65])
    return w


@pytest.fixture(scope="module")
def source() -> str:
    """A page with four viewers: many heads, the same again, cross-attention, and a sentence of 40
    tokens.
    """
    many = AttentionViewer(
        TOKENS, weights(), token="was", names={(1, 2): "previous token"}, title="Six heads"
    )
    cross = AttentionViewer(
        ["ein", "Tier"], [[0.9, 0.1, 0], [0, 0, 1]], keys=["an", "old", "animal"]
    )
    wide = torch.eye(40)
    wide[::2] = torch.zeros(40).index_fill(0, torch.tensor([0, 2, 4]), 1 / 3)
    long = AttentionViewer(["extraordinary", "words"] * 20, wide, mode="matrix")
    viewers = "<p>Between.</p>".join(shown._repr_html_() for shown in (many, many, cross, long))
    head = (
        '<meta charset="utf-8"><meta name="viewport" '
        'content="width=device-width"><title>Viewers</title>'
    )
    return (
        f"<!doctype html><html "
        f'lang="en"><head>{head}</head><body><main><h1>Viewers</h1>{viewers}</main></body></html>'
    )


def viewer(page, index: int = 0):
    return page.locator(".viewer").nth(index)


def token(shown, text: str):
    return shown.get_by_role("radio", name=re.compile(rf"^{re.escape(text)}(?!\w)"))


def says(shown) -> str:
    return shown.locator(".says").inner_text().replace("\xa0", " ")


def shares(shown) -> list[str]:
    return [share.replace("\xa0", " ") for share in shown.locator(".share").all_inner_texts()]


def chosen(shown) -> str:
    """The token that is kept, without its share."""
    return shown.locator(".token[aria-checked=true] .word").inner_text()


def test_a_token_under_the_pointer_shows_whom_it_attends_to(open_page):
    shown, twin = viewer(page := open_page()), viewer(page, 1)
    assert says(shown) == "was attends to [CLS] 20 % · the 20 % · animal 20 %"
    token(shown, "animal").hover()
    assert says(shown) == "animal attends to tired 65 % · animal 20 % · [CLS] 10 %"
    assert shares(shown) == ["10 %", "5 %", "20 %", "", "65 %"]
    assert shown.locator(".active .word").all_inner_texts() == ["animal"]
    assert shown.locator(".top .word").all_inner_texts() == ["tired"]
    for _ in range(600):  # colours fade in
        blueness = [-colour(word)[0] for word in shown.locator(".word").all()]
        if sorted(range(5), key=blueness.__getitem__) == [3, 1, 0, 2, 4]:
            break
        page.wait_for_timeout(100)
    assert sorted(range(5), key=blueness.__getitem__) == [3, 1, 0, 2, 4], (
        "the more weight, the more colour"
    )
    assert chosen(twin) == chosen(shown) == "was"
    assert says(twin).startswith("was"), "the same viewer again is another viewer"
    page.mouse.move(5, 5)
    assert says(shown).startswith("was"), "the pointer gone, the kept token is back"


def test_a_click_keeps_a_token(open_page):
    shown = viewer(page := open_page())
    token(shown, "animal").click()
    page.mouse.move(5, 5)
    assert says(shown).startswith("animal attends to tired 65 %")
    assert chosen(shown) == "animal"
    shown.get_by_role("button", name="is attended to by").click()
    assert says(shown).startswith("animal is attended to by")


def test_a_finger_keeps_a_token(open_page):
    shown = viewer(open_page(390, has_touch=True, is_mobile=True))
    token(shown, "animal").tap()
    assert says(shown).startswith("animal attends to tired 65 %")
    shown.get_by_role("button", name="Matrix").tap()
    box = shown.locator(".plane").bounding_box()
    shown.locator(".plane").tap(position={"x": box["width"] * 0.9, "y": box["height"] * 0.5})
    assert says(shown) == "animal → tired 65 %"


def test_the_keyboard_does_all_that_the_mouse_does(open_page):
    shown = viewer(page := open_page())
    keys = page.keyboard
    token(shown, "was").focus()
    keys.press("ArrowLeft")
    assert says(shown).startswith("animal attends to tired 65 %")
    assert page.evaluate("document.activeElement.shadowRoot.activeElement.innerText").startswith(
        "animal"
    )
    assert shown.locator(".token[tabindex='0']").count() == 1, (
        "one stop of the Tab key for all tokens"
    )
    assert (
        shown.locator(".token:focus-visible .word").evaluate(
            "word => getComputedStyle(word).outlineStyle"
        )
        == "solid"
    )
    keys.press("End")
    assert chosen(shown) == "tired"
    keys.press("ArrowRight")
    assert chosen(shown) == "[CLS]", "round the end"
    keys.press("]")
    assert shown.locator(".which").inner_text() == "Layer 0, head 1"
    keys.press("[")
    keys.press("[")
    assert shown.locator(".which").inner_text() == "Layer 1, head 2: previous token"
    shown.get_by_role("radio", name="layer 1, head 2").focus()
    keys.press("ArrowUp")
    assert shown.locator(".which").inner_text() == "Layer 0, head 2"
    shown.get_by_role("button", name="Matrix").focus()
    keys.press("Enter")
    shown.get_by_role("radiogroup", name="Queries").get_by_role("radio", name="[CLS]").focus()
    keys.press("ArrowDown")
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    assert says(shown) == "the → the 20 %"


def test_another_head_shows_its_own_weights(open_page):
    shown = viewer(open_page())
    head = shown.get_by_role("radio", name="layer 1, head 2: previous token")
    head.click()
    assert head.get_attribute("aria-checked") == "true"
    assert (
        shown.get_by_role("radiogroup", name="Heads").get_by_role("radio", checked=True).count()
        == 1
    )
    assert says(shown) == "was attends to animal 100 %"
    painted = head.locator("canvas").evaluate(
        "canvas => [...canvas.getContext('2d').getImageData(0, 0, 5, 5).data].filter((_, i) => i % "
        "4 === 3)"
    )
    assert [i for i, alpha in enumerate(painted) if alpha] == [0, 5, 11, 17, 23]


def test_rows_sum_to_one_and_columns_need_not(open_page):
    shown = viewer(open_page())
    assert shown.locator(".sum").inner_text() == "The 5 weights of its row add up to 1."
    shown.get_by_role("button", name="is attended to by").click()
    token(shown, "tired").click()
    assert says(shown) == "tired is attended to by animal 65 % · [CLS] 20 % · the 20 %"
    token(shown, "[CLS]").click()  # 4 × 0.2 and 0.1
    assert (
        shown.locator(".sum").inner_text()
        == "These 5 weights add up to ≈ 0.9. Each row adds up to 1; a column need not."
    )


def test_the_matrix_says_the_number_under_the_pointer(open_page):
    shown = viewer(page := open_page())
    shown.get_by_role("button", name="Matrix").click()
    box = shown.locator(".plane").bounding_box()
    cell = box["width"] / 5
    page.mouse.move(box["x"] + 4.5 * cell, box["y"] + 2.5 * cell)
    assert says(shown) == "animal → tired 65 %"
    assert shown.locator(".lit").all_inner_texts() == ["tired", "animal"], (
        "one column's name and one row's"
    )
    line = shown.locator(".ring").first.bounding_box()
    assert line["y"] == pytest.approx(box["y"] + 2 * cell, abs=0.5)
    assert line["width"] == pytest.approx(box["width"], abs=0.5)
    page.mouse.move(5, 5)
    assert says(shown).startswith("was")


def test_cross_attention_answers_from_both_sides(open_page):
    shown = viewer(open_page(), 2)
    assert says(shown) == "ein attends to an 90 % · old 10 %"
    token(shown, "Tier").hover()
    assert says(shown) == "Tier attends to animal 100 %"
    token(shown, "an").click()
    assert says(shown) == "an is attended to by ein 90 %"
    assert shown.get_by_role("button", pressed=True).first.inner_text() == "is attended to by"


def test_all_heads_are_asked_for_their_colour_before_one_is_drawn(tab, source):
    """Else the browser would lay the page out again for every head."""
    page = tab()
    page.evaluate(
        """() => {
          window.done = "";
          const style = window.getComputedStyle;
          window.getComputedStyle = (...of) => { window.done += "?"; return style(...of); };
          const draw = CanvasRenderingContext2D.prototype.putImageData;
          CanvasRenderingContext2D.prototype.putImageData = function (...of) {
            window.done += "!";
            draw.apply(this, of);
          };
        }"""
    )
    page.set_content(source)
    viewer(page).locator(".head canvas").first.wait_for()
    assert page.evaluate("window.done").startswith("??????!!!!!!")


@pytest.mark.parametrize(("scheme", "attribute", "dark"), THEMES)
def test_it_follows_the_theme_of_the_page(open_page, scheme, attribute, dark):
    page = open_page(color_scheme=scheme)
    page.evaluate(attribute)
    shown = viewer(page)
    page.wait_for_function("([host, dark]) => (host < 128) === dark", arg=[colour(shown)[0], dark])
    ink, paper = colour(shown, "color"), colour(shown)
    assert (max(ink) > 200 and max(paper) < 60) if dark else (max(ink) < 60 and min(paper) > 200)
    # The thumbnails are drawn again in the new colour.
    drawn = (
        "([canvas, dark]) => (canvas.getContext('2d').getImageData(4, 2, 1, 1).data[0] > 90) === "
        "dark"
    )
    page.wait_for_function(drawn, arg=[shown.locator(".head canvas").first.element_handle(), dark])


@pytest.mark.parametrize("width", [390, 800])
def test_nothing_spills_over_or_jumps(open_page, width):
    page = open_page(width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    shown = viewer(page)
    assert page.evaluate("window.shift") < 0.01, (
        "the viewer took the picture's place before anything was seen"
    )
    shown.get_by_role("button", name="Matrix").click()
    long = viewer(page, 3)
    long.get_by_role("button", name="Sentence").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    heights = set()
    # one long answer in words or a short one; a share in the first line of tokens or in the last
    for i in (0, 1, 21, 38, 39):
        long.locator(".token").nth(i).hover()
        heights.add(round(long.bounding_box()["height"]))
    assert len(heights) == 1, heights


def test_without_scripts_and_on_paper_there_is_a_picture(open_page):
    page = open_page(390, java_script_enabled=False)
    for picture in page.get_by_role("img").all():
        box = picture.bounding_box()
        assert box["height"] > 100
        assert box["x"] + box["width"] <= 390
        assert "Attention weights of" in picture.get_attribute("alt")
    assert page.get_by_role("img").count() == 4
    page = open_page()
    assert not page.locator("img").first.is_visible()
    page.emulate_media(media="print")
    assert page.locator("img").first.is_visible()
    assert not viewer(page).is_visible()


def test_taken_over_once_even_if_the_script_runs_again(open_page):
    page = open_page()
    page.evaluate("eval(document.querySelector('script').textContent)")
    assert page.locator(".viewer").count() == 4


def test_it_answers_in_its_chapter(tab, html, address):
    if not (html / CHAPTER).exists():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(
            f"{CHAPTER} is not in the built site"
        )
    page = tab()
    page.goto(address + CHAPTER)
    # far below, it waits for the reader to come near
    host = page.locator(".attention-viewer").first
    assert host.evaluate("(host) => host.getBoundingClientRect().top > 2 * innerHeight")
    assert host.evaluate("(host) => host.shadowRoot === null")
    host.scroll_into_view_if_needed()
    shown = viewer(page)
    words = shown.locator(".token")
    before = says(shown)
    other = next(
        word
        for word in words.all()
        if word.get_attribute("aria-checked") == "false" and word.is_visible()
    )
    other.hover()
    assert says(shown) != before
    assert says(shown).startswith(other.locator(".word").inner_text())
    assert any("%" in share for share in shares(shown))
