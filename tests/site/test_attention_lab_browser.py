"""The attention lab under mouse, finger and keyboard: its numbers are the library's, whatever is
typed.
"""

import pytest
import torch
from sitemap import ROOT

from lectures_lib.blocks.attention import attention_weights, causal_mask
from lectures_lib.show.attention_lab import AttentionLab

pytestmark = pytest.mark.browser
WORDS = ["the", "cat", "sleeps"]


@pytest.fixture(scope="module")
def source() -> str:
    torch.manual_seed(0)
    lab = AttentionLab(*(torch.randn(3, 2) for _ in range(3)), WORDS)._repr_html_()
    head = (
        '<meta charset="utf-8"><meta name="viewport" '
        'content="width=device-width"><title>Lab</title>'
    )
    return (
        f"<!doctype html><html "
        f'lang="en"><head>{head}</head><body><main><h1>Lab</h1>{lab}</main></body></html>'
    )


def table(page, caption):
    """The numbers of one of the tables; a hidden score is None."""
    rows = page.locator(f"[role=group] table:has(caption:text-is('{caption}')) tbody tr").all()
    cells = [[cell.inner_text() for cell in row.locator("td").all()] for row in rows]
    return [
        [None if cell == "−∞" else float(cell.replace("−", "-")) for cell in row] for row in cells
    ]


def given(page, caption):
    rows = page.locator(f"[role=group] table:has(caption:text-is('{caption}')) tbody tr").all()
    return torch.tensor(
        [[float(box.input_value()) for box in row.locator("input").all()] for row in rows],
        dtype=torch.float64,
    )


def expected(page, scale, causal):
    Q, K, V = (given(page, name) for name in ("Queries", "Keys", "Values"))
    weights = attention_weights(
        Q if scale else Q * Q.shape[1] ** 0.5, K, causal_mask(len(Q)) if causal else None
    )
    return weights, weights @ V


def assert_shown(page, scale, causal):
    weights, output = expected(page, scale, causal)
    assert torch.allclose(
        torch.tensor(table(page, "Weights"), dtype=torch.float64), weights, atol=0.0051
    )
    assert torch.allclose(
        torch.tensor(table(page, "Output"), dtype=torch.float64), output, rtol=1e-6, atol=0.0051
    )


@pytest.mark.parametrize("seed", range(3))
def test_what_is_typed_is_computed_as_in_the_library(open_page, seed):
    page = open_page()
    generator = torch.Generator().manual_seed(seed)
    for box in page.locator("input[type=number]").all():
        box.fill(f"{3 * torch.randn((), generator=generator).item():.2f}")
    for scale, causal in ((True, False), (False, False), (False, True), (True, True)):
        page.get_by_label("divide by").set_checked(scale)
        page.get_by_label("hide the future").set_checked(causal)
        assert_shown(page, scale, causal)
        hidden = [score for row in table(page, "Scores") for score in row].count(None)
        assert hidden == (3 if causal else 0)


def test_huge_numbers_do_not_overflow(open_page):
    page = open_page()
    page.get_by_label("query of cat, number 1").fill("900000")
    page.get_by_label("key of the, number 1").fill("900000")
    assert_shown(page, True, False)
    assert table(page, "Weights")[1][0] == 1.0


def test_an_empty_box_is_said_and_nothing_is_lost(open_page):
    page = open_page()
    before = table(page, "Weights")
    page.get_by_label("value of sleeps, number 2").fill("")
    assert "One box needs a number" in page.get_by_role("status").inner_text()
    assert table(page, "Weights") == before
    page.get_by_label("key of the, number 1").fill("3e9")
    assert "2 boxes need a number" in page.get_by_role("status").inner_text()
    page.get_by_role("button", name="Start again").click()
    assert "largest weight" in page.get_by_role("status").inner_text()
    assert_shown(page, True, False)


def test_the_keyboard_reaches_and_changes_everything(open_page):
    page = open_page()
    page.keyboard.press("Tab")
    before = page.get_by_label("query of the, number 1").input_value()
    page.keyboard.press("ArrowUp")
    assert page.get_by_label("query of the, number 1").input_value() != before
    assert_shown(page, True, False)
    for _ in range(18):
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert not page.get_by_label("divide by").is_checked()
    assert_shown(page, False, False)


def test_a_finger_and_a_narrow_page(open_page):
    page = open_page(390, has_touch=True, is_mobile=True)
    page.get_by_label("hide the future").tap()
    assert_shown(page, True, True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(open_page, theme):
    page = open_page()
    page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
    page.get_by_label("hide the future").check()
    page.evaluate((ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text())
    assert [rule["id"] for rule in page.evaluate("() => axe.run()")["violations"]] == []


def test_without_scripts_the_numbers_stand_there(open_page):
    page = open_page(java_script_enabled=False)
    assert page.locator("table:has(caption:text-is('Weights')) td").nth(1).is_visible()
    assert page.locator("input").count() == 0


def test_a_box_is_called_by_what_its_number_means(open_page, source):
    """Columns with names, in the heads of the tables and to a screen reader."""
    named = AttentionLab(
        *(torch.eye(3)[:, :2] for _ in range(3)), WORDS, asked=["noun", "verb"], told=["one", "two"]
    )
    page = open_page()
    assert page.get_by_label("query of cat, number 2").count() == 1
    page.set_content(f"<main>{named._repr_html_()}</main>")
    assert page.get_by_label("key of cat, verb").input_value() == "1"
    assert page.get_by_label("value of the, one").input_value() == "1"
    for caption, names in {
        "Queries": "noun verb",
        "Values": "one two",
        "Output": "one two",
    }.items():
        head = page.locator(f"[role=group] table:has(caption:text-is('{caption}')) thead th")
        assert head.all_text_contents() == names.split()
