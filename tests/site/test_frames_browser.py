"""The slider of chapter 2, in a real browser: moving it changes the picture and says the new value."""

import pytest

pytestmark = pytest.mark.browser


def test_the_slider_moves_the_picture(browser, address):
    page = browser.new_page()
    page.goto(address + "notebooks/02_self_attention.html")
    frames = page.locator(".frames")
    picture, value, slider = frames.locator("img"), frames.locator("output"), frames.locator("input")
    assert value.inner_text() == "1"
    before = picture.get_attribute("src")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert value.inner_text() == "2"
    assert slider.get_attribute("aria-valuetext") == "2"
    assert picture.get_attribute("src") != before
    page.keyboard.press("ArrowLeft")
    assert picture.get_attribute("src") == before
    page.close()
