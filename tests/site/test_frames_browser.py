"""The slider of chapter 2, in a real browser: moving it changes the picture and says the new
value.
"""

import pytest

pytestmark = pytest.mark.browser


def test_the_slider_moves_the_picture(browser, address):
    page = browser.new_page()
    page.goto(address + "notebooks/02_self_attention.html")
    frames = page.locator(".frames")
    picture, value, slider = (
        frames.locator("img"),
        frames.locator("output"),
        frames.locator("input"),
    )
    assert value.inner_text() == "1"
    before = picture.get_attribute("src")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert value.inner_text() == "4"
    assert slider.get_attribute("aria-valuetext") == "4"
    assert picture.get_attribute("src") != before
    page.wait_for_function("() => document.querySelector('.frames img').complete")
    assert picture.evaluate("image => image.naturalWidth") > 500, (
        "the next frame is a file of the site's own, and there"
    )
    page.keyboard.press("ArrowLeft")
    assert picture.get_attribute("src") == before
    page.close()


def test_a_page_holds_no_picture_as_text(html):
    """A search fetches the pages that it finds: a slider's frames would come with them."""
    for page in html.glob("notebooks/*.html"):
        assert "data:image/png;base64" not in page.read_text(encoding="utf-8"), page.name
