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


FEATURES = ["noun", "verb", "animal", "human"]
MADE = {"X": (3, 4), "W_Q": (4, 2), "W_K": (4, 2), "W_V": (4, 3)}


@pytest.fixture
def of_words(open_page):
    """A function that opens a lab of words and matrices."""
    torch.manual_seed(2)
    lab = AttentionLab.of_words(
        *(torch.randn(size) for size in MADE.values()), WORDS, features=FEATURES
    )

    def open_it(*size, **options):
        page = open_page(*size, **options)
        page.evaluate(
            "html => { const main = document.querySelector('main'); "
            "main.replaceChildren(document.createRange().createContextualFragment(html)); }",
            f"<h1>Lab</h1>{lab._repr_html_()}",
        )
        page.get_by_label("sleeps, human").wait_for()
        return page

    return open_it


def boxes(page, matrix):
    """The boxes of X or one of its matrices, row by row."""
    rows, columns = MADE[matrix]
    if matrix == "X":
        names = [f"{word}, {feature}" for word in WORDS for feature in FEATURES]
    else:
        letter = matrix[-1]
        names = [
            f"W {letter} from {feature} to number {c + 1}"
            for feature in FEATURES
            for c in range(columns)
        ]
    assert len(names) == rows * columns
    return [page.get_by_label(name, exact=True) for name in names]


def entries(page, matrix):
    values = [float(box.input_value()) for box in boxes(page, matrix)]
    return torch.tensor(values, dtype=torch.float64).view(MADE[matrix])


def vectors(page, name, columns):
    """The boxes of queries, keys or values."""
    return torch.tensor(
        [
            [
                float(page.get_by_label(f"{name} of {word}, number {c + 1}").input_value())
                for c in range(columns)
            ]
            for word in WORDS
        ],
        dtype=torch.float64,
    )


def assert_follows(page, scale=True, causal=False, typed=()):
    """Everything shown is what the library makes of the words and the matrices, and of what was
    typed below them.
    """
    X = entries(page, "X")
    shown = {"Q": vectors(page, "query", 2), "K": vectors(page, "key", 2)}
    shown["V"] = vectors(page, "value", 3)
    for letter, matrix in shown.items():
        if letter not in typed:
            wanted = X @ entries(page, f"W_{letter}")
            assert torch.allclose(matrix, wanted, rtol=0, atol=5.1e-5), letter
    Q, K, V = shown.values()
    weights = attention_weights(Q if scale else Q * 2**0.5, K, causal_mask(3) if causal else None)
    told = torch.tensor(table(page, "Weights"), dtype=torch.float64)
    assert torch.allclose(told, weights, rtol=0, atol=0.0051)
    told = torch.tensor(table(page, "Output"), dtype=torch.float64)
    assert torch.allclose(told, weights @ V, rtol=1e-3, atol=0.0055)


@pytest.mark.parametrize("seed", range(2))
def test_words_and_matrices_can_be_typed_and_all_follows(of_words, seed):
    page = of_words()
    assert_follows(page)
    generator = torch.Generator().manual_seed(seed)
    for matrix in MADE:
        for box in boxes(page, matrix):
            box.fill(f"{2 * torch.randn((), generator=generator).item():.2f}")
        assert_follows(page)
    page.get_by_label("hide the future").check()
    page.get_by_label("divide by").uncheck()
    assert_follows(page, scale=False, causal=True)


def test_arrows_step_by_a_tenth_from_wherever_one_is(of_words):
    page = of_words()
    box = boxes(page, "W_Q")[3]
    for typed, key, wanted in [("0.37", "ArrowUp", 0.47), ("-1", "ArrowDown", -1.1)]:
        box.fill(typed)
        box.press(key)
        assert float(box.input_value()) == wanted
        assert_follows(page)
    query = page.get_by_label("query of cat, number 1")
    before = float(query.input_value())
    query.press("ArrowUp")
    assert abs(float(query.input_value()) - before - 0.1) < 5e-5


def test_what_is_typed_below_stays_until_something_above_changes(of_words):
    page = of_words()
    caption = page.locator("caption:has-text('Queries')")
    assert caption.inner_text() == "Queries = X WQ"
    page.get_by_label("query of cat, number 1").fill("5")
    assert caption.inner_text() == "Queries, typed"
    assert page.locator("caption:has-text('Keys')").inner_text() == "Keys = X WK"
    assert_follows(page, typed="Q")
    boxes(page, "W_K")[0].fill("2")
    assert page.get_by_label("query of cat, number 1").input_value() == "5"
    assert_follows(page, typed="Q")
    boxes(page, "X")[0].fill("3")
    assert caption.inner_text() == "Queries = X WQ"
    assert_follows(page)


def test_a_bad_entry_is_named_and_the_numbers_wait(of_words):
    page = of_words()
    before = table(page, "Weights"), vectors(page, "query", 2).tolist()
    boxes(page, "W_Q")[1].fill("")
    said = page.get_by_role("status").inner_text()
    assert said.startswith("One box needs a number: “W Q from noun to number 2”")
    assert boxes(page, "W_Q")[1].get_attribute("aria-invalid") == "true"
    assert (table(page, "Weights"), vectors(page, "query", 2).tolist()) == before
    boxes(page, "X")[5].fill("2e7")
    said = page.get_by_role("status").inner_text()
    assert said.startswith("2 boxes need a number, the first is “cat, verb”")
    boxes(page, "X")[5].fill("2")
    boxes(page, "W_Q")[1].fill("1")
    assert "largest weight" in page.get_by_role("status").inner_text()
    assert_follows(page)


def said_below(box):
    """What a screen reader adds to a box's name, and how many pixels below the box it stands."""
    return box.evaluate(
        """box => {
          const said = box.getRootNode().getElementById(box.getAttribute("aria-describedby"));
          const gap = said?.getBoundingClientRect().top - box.getBoundingClientRect().bottom;
          return said && [said.textContent, gap];
        }"""
    )


@pytest.mark.parametrize("width", [390, 1000])
def test_what_is_wrong_is_said_right_below_its_box(of_words, width):
    page = of_words(width)
    box, same_row, other = boxes(page, "W_Q")[2], boxes(page, "W_Q")[3], boxes(page, "W_K")[2]
    for typed, said in {
        "": "A number is needed here.",
        "3e9": "3e9 is too far from zero: a million at most.",
    }.items():
        box.fill(typed)
        text, gap = said_below(box)
        assert text == said
        assert 0 <= gap < 12
        assert box.evaluate("box => box.matches(':focus')")
        assert page.get_by_text(said).is_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert said_below(same_row) is None
        assert said_below(other) is None
    same_row.fill("")
    assert said_below(box)[0] == said_below(same_row)[0] == f"{said} A number is needed here."
    for one in (box, same_row):
        one.fill("1")
    assert said_below(box) is None
    assert page.locator(".al-need").count() == 0
    boxes(page, "X")[0].fill("")
    page.get_by_role("button", name="Start again").click()
    assert page.get_by_text("is needed here").count() == 0
    assert_follows(page)


def test_a_computed_box_says_that_its_number_is_too_large(of_words):
    page = of_words()
    boxes(page, "X")[0].fill("900000")
    boxes(page, "W_V")[0].fill("900000")
    text, _ = said_below(page.get_by_label("value of the, number 1"))
    assert text.endswith("is too far from zero: a million at most.")


def test_one_begins_again_with_the_first_numbers(of_words):
    page = of_words()
    before = {matrix: entries(page, matrix).tolist() for matrix in MADE}
    for matrix in MADE:
        boxes(page, matrix)[1].fill("" if matrix == "X" else "7")
    page.get_by_label("key of the, number 1").fill("9")
    page.get_by_role("button", name="Start again").click()
    assert {matrix: entries(page, matrix).tolist() for matrix in MADE} == before
    assert page.locator("caption:has-text('Keys')").inner_text() == "Keys = X WK"
    assert_follows(page)


def test_a_finger_steps_the_box_it_touched_last(of_words):
    page = of_words(390, has_touch=True, is_mobile=True)
    more = page.get_by_role("button", name="0.1 more")
    assert more.is_disabled()
    box = boxes(page, "X")[2]
    before = float(box.input_value())
    box.tap()
    more.tap()
    more.tap()
    assert abs(float(box.input_value()) - before - 0.2) < 1e-9
    page.get_by_role("button", name="0.1 less").tap()
    assert abs(float(box.input_value()) - before - 0.1) < 1e-9
    assert_follows(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_a_lab_of_words(of_words, theme):
    page = of_words(390, has_touch=True, is_mobile=True)
    page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
    boxes(page, "X")[2].tap()
    boxes(page, "W_V")[2].fill("")
    page.evaluate((ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text())
    assert [rule["id"] for rule in page.evaluate("() => axe.run()")["violations"]] == []
