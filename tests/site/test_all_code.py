"""One button opens all the code of a chapter, and of those that are read after it."""

import pytest

pytestmark = pytest.mark.browser
CHAPTER, NEXT = "notebooks/05_encoder.html", "notebooks/06_decoder.html"
FOLDS = ".bd-article details.hide"


def test_all_code_is_shown_and_folded_again(tab, address):
    page = tab()
    page.goto(address + CHAPTER)
    button = page.get_by_role("button", name="Show all code")
    solutions = page.locator(f"#exercises {FOLDS.split()[1]}")
    folded = page.locator(FOLDS).count() - solutions.count()
    assert folded > 2
    assert page.locator(f"{FOLDS}[open]").count() == 0
    button.focus()
    page.keyboard.press("Enter")
    assert page.locator(f"{FOLDS}[open]").count() == folded
    assert page.locator("#exercises details.hide[open]").count() == 0, "solutions stay shut"

    page.goto(address + NEXT)
    page.get_by_role("button", name="Fold the code again").click()
    assert page.locator(f"{FOLDS}[open]").count() == 0
    page.reload()
    page.get_by_role("button", name="Show all code").wait_for()
    assert page.locator(f"{FOLDS}[open]").count() == 0
    assert not page.wrong


def test_without_scripts_there_is_no_button(tab, address):
    page = tab(java_script_enabled=False)
    page.goto(address + CHAPTER)
    assert not page.locator(".all-code").is_visible()
    assert page.locator(".chapter-frame").inner_text().rstrip().endswith("Download")
    assert page.locator(FOLDS).count() > 2
