"""The stepper under mouse, finger and keyboard, in light and dark, on a narrow page, without
scripts.
"""

import os
from itertools import pairwise

import pytest
from colours import THEMES, colour, contrast

from lectures_lib.show.stepper import Stepper, bars, beside, line, note, part, pieces, table

pytestmark = pytest.mark.browser
CHAPTER = "notebooks/07_subwords.html"
LABELS = [
    "Start: single characters",
    "Merge 1: e and r become er, which is the pair that occurs most often of all the pairs that "
    "there are",
    "Merge 2: l and o",
    "Done",
]


@pytest.fixture(scope="module")
def source() -> str:
    """A page with three steppers: four frames of very different sizes, the same again, and one with
    a wide table.
    """
    words = line(
        *(
            pieces(["l", "o", "w", "er"], marked=[0, 1], shades=[0.0, 0.3, 0.6, 1.0])
            for _ in range(6)
        ),
        note("5 times"),
    )
    counts = table(["pair", "count"], [["l o", 7], ["o w", 7]], marked=[0])
    frames = [
        beside(part("Words", words), part("Pairs", counts)),
        bars({"dog": 0.75, "extraordinary": 0.25}, marked=["dog"]),
        "plain",
        words,
    ]
    shown = Stepper(frames, "Byte pairs", labels=LABELS, alt="How words become tokens", start=2)
    wide = Stepper([table(["w" * 30] * 5, [["x" * 30] * 5]), "narrow"], "Wide")
    steppers = "<p>Between.</p>".join(one._repr_html_() for one in (shown, shown, wide))
    head = (
        '<meta charset="utf-8"><meta name="viewport" '
        'content="width=device-width"><title>Steppers</title>'
    )
    return (
        f"<!doctype html><html "
        f'lang="en"><head>{head}</head><body><main><h1>Steppers</h1>{steppers}</main></body></html>'
    )


def stepper(page, index: int = 0):
    return page.get_by_role("group").nth(index)


def says(shown) -> str:
    return shown.get_by_role("status").inner_text()


def seen(shown) -> str:
    """The text of the frames that are visible."""
    return "|".join(
        frame.inner_text() for frame in shown.locator(".st-frame").all() if frame.is_visible()
    )


def button(shown, name: str):
    return shown.get_by_role("button", name=name)


def test_the_buttons_go_forth_and_back_and_stop_at_the_ends(open_page):
    page = open_page()
    shown, twin = stepper(page), stepper(page, 1)
    assert (says(shown), seen(shown)) == ("Merge 2: l and o", "plain")
    button(shown, "Next step").click()
    assert says(shown) == "Done"
    assert button(shown, "Next step").get_attribute("aria-disabled") == "true"
    button(shown, "Next step").click(force=True)
    assert says(shown) == "Done"
    for _ in range(5):
        button(shown, "Previous step").click(force=True)
    assert says(shown) == LABELS[0]
    assert "5 times" in seen(shown)
    assert "l o" in seen(shown)
    assert says(twin) == "Merge 2: l and o", "the same stepper again is another stepper"


def test_a_finger_moves_it(open_page):
    shown = stepper(open_page(390, has_touch=True, is_mobile=True))
    button(shown, "Previous step").tap()
    assert says(shown) == LABELS[1]
    slider = shown.get_by_role("slider")
    slider.tap(position={"x": slider.bounding_box()["width"] - 4, "y": 15})
    assert says(shown) == "Done"


def test_the_keyboard_does_all_that_the_mouse_does(open_page):
    page = open_page()
    shown = stepper(page)
    slider = shown.get_by_role("slider")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowLeft")
    assert says(shown) == LABELS[1], "on a button"
    assert (
        page.evaluate("document.activeElement.shadowRoot.activeElement.ariaLabel")
        == "Previous step"
    )
    assert (
        button(shown, "Previous step").evaluate("one => getComputedStyle(one).outlineStyle")
        == "solid"
    ), "the focus is seen"
    page.keyboard.press("Enter")
    assert says(shown) == LABELS[0]
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert says(shown) == LABELS[1], "on the slider"
    assert slider.get_attribute("aria-valuetext") == f"2 of 4: {LABELS[1]}"
    page.keyboard.press("End")
    assert says(shown) == "Done"
    page.keyboard.press("Home")
    assert says(shown) == LABELS[0]


def test_it_is_named_and_described(open_page):
    shown = stepper(open_page())
    assert shown.get_attribute("aria-label") == "Byte pairs"
    assert shown.locator("#about").inner_text() == "How words become tokens"
    assert shown.locator(".st-off:visible").count() == 0, "what is not shown is not read out either"


@pytest.mark.parametrize(("scheme", "attribute", "dark"), THEMES)
def test_it_follows_the_theme_of_the_page_and_can_be_read_in_it(open_page, scheme, attribute, dark):
    page = open_page(color_scheme=scheme)
    page.evaluate(attribute)
    shown = stepper(page)
    button(shown, "Next step").click()
    paper = colour(shown, "background-color")
    assert (max(paper) < 60) if dark else (min(paper) > 200)
    # shades from none to full
    for token in shown.locator(".st-frame:not(.st-off) .st-piece b").all()[:4]:
        assert contrast(colour(token, "color"), colour(token, "background-color")) >= 4.5
    for quiet in (shown.locator(".st-bar span"), shown.locator(".st-frame:not(.st-off) .st-note")):
        assert contrast(colour(quiet, "color"), paper) >= 4.5
    focus = button(shown, "Next step")
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    assert contrast(colour(focus, "outline-color"), paper) >= 3


@pytest.mark.parametrize("width", [390, 800])
def test_nothing_spills_over_or_jumps(open_page, width):
    page = open_page(width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("window.shift") < 0.01, (
        "the stepper took its room before anything was seen"
    )
    shown = stepper(page)
    heights = set()
    button(shown, "Previous step").click()
    button(shown, "Previous step").click()
    for _ in LABELS:
        heights.add(shown.bounding_box()["height"])
        button(shown, "Next step").click(force=True)
    assert len(heights) == 1


def test_a_wide_frame_scrolls_by_itself_and_by_keyboard(open_page):
    page = open_page(390)
    wide = stepper(page, 2)
    frame = wide.locator(".st-frame").first
    assert frame.get_attribute("tabindex") == "0"
    frame.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("frame => frame.scrollLeft > 0", arg=frame.element_handle())
    assert says(wide) == "Step 1"


def on_paper(page) -> list[tuple[str, str]]:
    """The frames of the first stepper that are printed, each with the label above it."""
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    frames = page.locator(".stepper").first.locator(".st-frame").all()
    label = "frame => getComputedStyle(frame, '::before').content"
    return [
        (frame.evaluate(label).strip('"'), frame.inner_text())
        for frame in frames
        if frame.is_visible()
    ]


def test_on_paper_every_frame_stands_below_its_label(open_page):
    page = open_page()
    printed = on_paper(page)
    assert [label for label, _ in printed] == [
        f"{i} / 4: {label}" for i, label in enumerate(LABELS, 1)
    ]
    assert "5 times" in printed[0][1] and printed[2][1] == "plain"
    boxes = page.locator(".stepper").first.locator(".st-frame:visible").all()
    places = [(box["y"], box["height"]) for box in (frame.bounding_box() for frame in boxes)]
    assert all(y + height <= below for (y, height), (below, _) in pairwise(places))
    shown = stepper(page)
    assert not button(shown, "Next step").is_visible()
    assert shown.locator(".st-says > *:visible").count() == 0, "no label stands there twice"
    page.emulate_media(media="screen")
    assert seen(shown) == "plain"


@pytest.mark.parametrize("n", [12, 13])
def test_of_many_frames_paper_has_the_first_the_middle_and_the_last(tab, tmp_path, n):
    long = Stepper([f"frame {i}" for i in range(n)], "Long")
    (tmp_path / "page.html").write_text(f"<p style='height: 3000px'>{long._repr_html_()}")
    page = tab(800, 900)
    page.goto((tmp_path / "page.html").as_uri())
    places = range(n) if n <= 12 else (0, 6, 12)
    assert on_paper(page) == [(f"{i + 1} / {n}: Step {i + 1}", f"frame {i}") for i in places]


def test_without_scripts_one_frame_can_be_read(open_page):
    page = open_page(java_script_enabled=False)
    assert page.get_by_text("Merge 2: l and o").count() == 2
    assert page.get_by_text("plain").first.is_visible()
    assert page.get_by_text("Start: single characters").count() == 0
    assert (
        page.locator(".st-box").first.evaluate("box => getComputedStyle(box).borderTopStyle")
        == "solid"
    )


def test_taken_over_once_even_if_the_script_runs_again(open_page):
    page = open_page()
    page.evaluate("eval(document.querySelector('script').textContent)")
    assert page.get_by_role("group").count() == 3


def test_it_answers_in_its_chapter(tab, html, address):
    if not (html / CHAPTER).exists():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(
            f"{CHAPTER} is not in the built site"
        )
    page = tab(390, 800)
    page.goto(address + CHAPTER)
    # far below, it waits for the reader to come near
    host = page.locator(".stepper[data-frames*='Byte pairs in a riddle']").first
    assert host.evaluate("(host) => host.getBoundingClientRect().top > 2 * innerHeight")
    assert host.evaluate("(host) => host.shadowRoot === null")
    host.scroll_into_view_if_needed()
    shown = page.get_by_role("group", name="Byte pairs in a riddle")
    shown.get_by_role("slider").focus()
    page.keyboard.press("Home")
    assert says(shown) == "Merge 1: c and h stand together 5 times"
    assert (
        shown.locator(".st-frame:not(.st-off) .st-piece.st-marked").all_inner_texts()
        == ["c", "h"] * 3
    )
    page.keyboard.press("End")
    assert "woodchuck" in shown.locator(".st-frame:not(.st-off) .st-piece").all_inner_texts()
    box = shown.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
