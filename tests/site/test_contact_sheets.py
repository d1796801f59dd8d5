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
