"""The tool that draws every page to be looked at: its looks, and that nothing of a page is lost."""

import importlib.util

import pytest
from PIL import Image
from sitemap import ROOT, pages

SPEC = importlib.util.spec_from_file_location(
    "contact_sheets", ROOT / "tools" / "contact_sheets.py"
)
tool = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tool)


def test_a_look_is_made_of_words():
    assert tool.look("phone+dark")["viewport"]["width"] == 390
    assert tool.look("phone+dark")["color_scheme"] == "dark"
    assert tool.look("double") == tool.LOOKS["wide"] | {"device_scale_factor": 2}
    with pytest.raises(KeyError):
        tool.look("sepia")


def test_pages_are_chosen_by_how_their_names_begin():
    assert tool.chosen([]) == pages()
    assert tool.chosen(["13c"]) == ["notebooks/13c_choices.html"]


def test_strips_stand_beside_one_another_and_a_sheet_has_an_end():
    strips = [Image.new("RGB", (1000, 50 - i), colour) for i, colour in enumerate(["red", "lime"])]
    (sheet,) = tool.sheets(strips)
    assert sheet.size == (2000 + tool.GAP, 50)
    assert sheet.getpixel((0, 0)) == (255, 0, 0)
    assert sheet.getpixel((1000 + tool.GAP, 48)) == (0, 255, 0)
    assert len(list(tool.sheets(strips * 4))) == 3


@pytest.mark.browser
@pytest.mark.parametrize("name", ["phone+dark", "plain", "print"])
def test_a_page_is_drawn_from_its_top_to_its_end(browser, address, tmp_path, monkeypatch, name):
    monkeypatch.setattr(tool, "STRIP", 700)
    page = browser.new_page(**tool.look(name))
    made = tool.draw(page, address + "book/colophon.html", name, False, tmp_path)
    height = page.evaluate(tool.HEIGHT)
    page.close()
    drawn = [Image.open(path) for path in made]
    width = tool.look(name)["viewport"]["width"]
    across = max(1, tool.SHEET // (width + tool.GAP))
    assert drawn[0].height == min(700, height)
    strips = sum((sheet.width + tool.GAP) // (width + tool.GAP) for sheet in drawn)
    assert strips == -(-height // 700) and across >= (drawn[0].width + tool.GAP) // (
        width + tool.GAP
    )
    dark = sum(drawn[0].convert("L").getpixel((5, y)) < 90 for y in range(0, 600, 50))
    assert dark > 9 if "dark" in name else dark < 3


@pytest.mark.browser
def test_a_picture_is_taken_when_nothing_slides_and_all_figures_stand(
    browser, address, tmp_path, monkeypatch
):
    monkeypatch.setattr(tool, "STRIP", 1500)
    page = browser.new_page(**tool.look("wide"))
    made = tool.draw(page, address + "book/motion.html", "wide", False, tmp_path)
    assert page.locator(".live[data-live]:not(.lv-on)").count() == 0
    page.close()
    strips = [
        strip
        for path in made
        for sheet in [Image.open(path).convert("L")]
        for at in range(0, sheet.width, 1360 + tool.GAP)
        for strip in [sheet.crop((at, 0, at + 1360, 1500))]
    ]
    # the text begins as far from the left in each: the first column in which anything is dark
    starts = [
        next(
            x
            for x in range(245, 1000)
            if strip.crop((x, 60, x + 1, strip.height)).getextrema()[0] < 120
        )
        for strip in strips[:-1]  # the last ends with the foot, which is wider
    ]
    assert len(starts) > 3 and len(set(starts)) == 1, starts
