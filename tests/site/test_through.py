"""One sentence through the whole Transformer: every number is the library's, from the blocks down
to a single product, and one gets there and back by mouse, finger and keyboard.
"""

import math
import re

import axe
import pytest
import torch
from computed import Computed
from live_page import EVERY_FIGURE, figure, file_name

pytestmark = pytest.mark.browser
PAGE = "book/through.html"
TITLE = "One sentence, all the way down"
SENTENCE = "Zwei Hunde spielen im Schnee."
OTHER = "Two dogs are playing in the snow."
# Single precision, summed in another order: relative, and for numbers near 0. What is read off the
# page has also been rounded there, to three or four digits behind the point.
TOLERANCE = {"rtol": 1e-4, "atol": 2e-4}
ROUNDED = 1e-3


@pytest.fixture(scope="module")
def german():
    return Computed(SENTENCE)


def number(text: str) -> float:
    """What the page shows, as a number."""
    return float(text.replace("−", "-").replace(",", "").replace("%", "").strip())


def opened(page, sentence=None, place=""):
    """The figure, once it has translated, at a place."""
    box = figure(page, TITLE)
    if sentence is not None:
        box.get_by_label("Your sentence").fill(sentence)
    box.get_by_role("button", name="Translate, and look inside").click()
    box.locator(".lv-translation:visible").wait_for()
    if place:
        at(page, place)
    return box


def at(page, place: str):
    """Go there by the page's address."""
    page.evaluate("place => { location.hash = `#at-${place}` }", place)
    page.wait_for_function(
        "place => document.querySelector('.lv-view').dataset.place === place", arg=place
    )


def here(page) -> str:
    return page.evaluate("document.querySelector('.lv-view').dataset.place")


def steps(box) -> list[str]:
    return box.locator(".lv-steps li button").all_inner_texts()


def table(box) -> list[list[str]]:
    rows = box.locator(".lv-arithmetic").first.locator("tbody tr, tfoot tr").all()
    return [row.locator("th, td").all_inner_texts() for row in rows]


def total(box, which=0) -> float:
    """The sum at the foot of a table, or behind the last sign of equality."""
    return number(box.locator(".lv-total").nth(which).inner_text())


# ------------------------------------------------------------------------------------------ numbers


@torch.no_grad()
@pytest.mark.parametrize(
    ("sentence", "direction"), [(SENTENCE, ("de", "en")), (OTHER, ("en", "de"))]
)
def test_all_that_the_page_records_is_the_librarys(computing, sentence, direction):
    """Every part of both stacks, under the library's names, and the scores."""
    expected = Computed(sentence, direction)
    found = computing.evaluate(
        """async ([name, source, target]) => {
          const { record } = await import("/live/recording.js"), model = await live.load("Transformer", name);
          const { seen } = record(model, () => {
            const state = model.start(source);
            for (const id of target) model.step(id, state);
          });
          const plain = (rows) => (Array.isArray(rows) ? rows.map(plain) : Array.from(rows));
          return [Object.fromEntries(Object.entries(seen).map(([name, rows]) => [name, plain(rows)])), model.seen === undefined];
        }""",
        [
            "translator_{}_{}".format(*direction),
            expected.source[0].tolist(),
            expected.target[:-1],
        ],
    )
    seen, over = found
    assert over, "who looks on is gone when the work is done"
    entering = torch.cat(expected.seen.each("positions"), dim=1)[0]
    assert torch.allclose(torch.tensor(seen.pop("positions")), entering, **TOLERANCE)
    n_blocks = expected.model.config.n_layers
    # norms and sums of 2 and 3 sublayers; 4 matrices and the weights of an attention; 2 of a feed-forward
    assert len(seen) == n_blocks * (2 * 2 + 5 + 2 + 3 * 2 + 2 * 5 + 2) + 2 + 1
    for name, rows in seen.items():
        wanted = expected.seen[name][0]
        if name.startswith("decoder") and name.endswith("self_attention.weights"):
            n = wanted.shape[-1]  # the page keeps no zeros of the mask
            rows = [[row + [0.0] * (n - len(row)) for row in head] for head in rows]
        assert torch.allclose(torch.tensor(rows), wanted, **TOLERANCE), name


def test_a_query_is_computed_as_in_the_library(live, german):
    box = opened(live(path=PAGE), place="encoder-1-self_attention-2-1")
    name = "encoder.blocks.1.self_attention"
    Q, K, V = (german.head(name, matrix, 2) for matrix in ("W_Q", "W_K", "W_V"))
    weights = german.seen[f"{name}.weights"][0, 2, 1]
    box.get_by_role("slider", name="Number").fill("9")
    *rows, sums = table(box)
    powers = [number(row[3]) for row in rows]
    assert number(sums[3]) == pytest.approx(sum(powers), abs=len(rows) * ROUNDED)
    for j, (_, dot, score, power, weight, value, part) in enumerate(rows):
        product = float(Q[1] @ K[j])
        share = number(power) / number(sums[3])
        assert share == pytest.approx(float(weights[j]), abs=2 * ROUNDED)
        assert number(dot) == pytest.approx(product, abs=ROUNDED)
        assert number(score) == pytest.approx(product / math.sqrt(32), abs=ROUNDED)
        assert number(weight) == pytest.approx(100 * float(weights[j]), abs=0.06)
        assert number(value) == pytest.approx(float(V[j, 9]), abs=ROUNDED)
        assert number(part) == pytest.approx(float(weights[j] * V[j, 9]), abs=ROUNDED)
    assert len(rows) == german.source.shape[1]
    assert number(sums[-1]) == pytest.approx(float(weights @ V[:, 9]), abs=ROUNDED)


def test_an_innermost_product_is_the_librarys(live, german):
    """Query "spielen", key "Hunde": all 32 products, and number 5 of q, k and v from its vector."""
    box = opened(live(path=PAGE), place="encoder-3-self_attention-1-2-1")
    name = "encoder.blocks.3.self_attention"
    q, k, v = (
        german.head(name, matrix, 1)[i] for matrix, i in (("W_Q", 2), ("W_K", 1), ("W_V", 1))
    )
    box.get_by_label("all 32 products").check()
    *rows, sums = table(box)
    assert [int(row[0]) for row in rows] == list(range(32))
    for c, (_, a, b, product) in enumerate(rows):
        assert number(a) == pytest.approx(float(q[c]), abs=ROUNDED)
        assert number(b) == pytest.approx(float(k[c]), abs=ROUNDED)
        assert number(product) == pytest.approx(float(q[c] * k[c]), abs=ROUNDED)
    assert number(sums[-1]) == pytest.approx(float(q @ k), abs=ROUNDED)
    at(box.page, "encoder-3-self_attention-1-2-1-5")
    assert equations(box) == pytest.approx(float(q[5] * k[5]), abs=ROUNDED)
    for which, vector in enumerate((q, k, v)):
        assert total(box, which) == pytest.approx(float(vector[5]), abs=ROUNDED)


def test_cross_attention_takes_its_keys_from_the_encoder(live, german):
    box = opened(live(path=PAGE), place="decoder-2-cross_attention-3-4-5")
    name = "decoder.blocks.2.cross_attention"
    q, k, v = (
        german.head(name, matrix, 3)[i] for matrix, i in (("W_Q", 4), ("W_K", 5), ("W_V", 5))
    )
    assert total(box) == pytest.approx(float(q @ k), abs=ROUNDED)
    largest = box.locator(".lv-arithmetic tbody button").first
    c = int(largest.inner_text())
    assert c == int((q * k).abs().argmax())
    largest.click()
    assert here(box.page) == f"decoder-2-cross_attention-3-4-5-{c}"
    for which, vector in enumerate((q, k, v)):
        assert total(box, which) == pytest.approx(float(vector[c]), abs=ROUNDED)


def test_the_decoder_sees_no_later_word(live, german):
    page = live(path=PAGE)
    box = opened(page, place="decoder-0-self_attention-0-2")
    *rows, _ = table(box)
    weights = german.seen["decoder.blocks.0.self_attention.weights"][0, 0, 2]
    assert [number(row[4]) for row in rows] == pytest.approx((100 * weights[:3]).tolist(), abs=0.06)
    assert "5 later words are masked" in box.inner_text()
    assert "is to say what comes next" in box.inner_text()
    at(page, "decoder-0-self_attention-0-2-2")
    onward = box.get_by_role("button", name="The next neighbour")
    assert onward.get_attribute("aria-disabled") == "true"
    onward.press("Enter")
    assert here(page) == "decoder-0-self_attention-0-2-2"


@pytest.fixture(scope="module")
def translated(tabs, address):
    """The page, once it has translated, for the tests that go to one place and read a number there."""
    page = tabs.take(1000, 900)
    page.goto(address + PAGE)
    page.wait_for_function(EVERY_FIGURE)
    opened(page)
    yield page
    assert not page.wrong
    tabs.give_back(page)


@pytest.fixture
def number_at(translated):
    """A function: the figure at a place, with the slider at a number."""

    def go(place: str, c: int):
        at(translated, place)
        box = figure(translated, TITLE)
        box.get_by_role("slider", name="Number").fill(str(c))
        return box

    yield go
    at(translated, "")


@pytest.mark.parametrize("unit", [145, 7])
def test_a_hidden_unit_is_the_librarys(translated, german, unit):
    at(translated, f"encoder-2-feed_forward-1-{unit}")
    box = figure(translated, TITLE)
    before = float(german.seen["encoder.blocks.2.feed_forward.W_1"][0, 1, unit])
    assert (before > 0) == (unit == 145)
    assert total(box) == pytest.approx(before, abs=ROUNDED)
    assert total(box, 1) == pytest.approx(max(0, before), abs=ROUNDED)


@pytest.mark.parametrize(
    ("place", "name", "i"),
    [
        ("encoder-1-self_attention-mix-3", "encoder.blocks.1.self_attention", 3),
        ("decoder-3-cross_attention-mix-2", "decoder.blocks.3.cross_attention", 2),
        ("decoder-1-feed_forward-6", "decoder.blocks.1.feed_forward", 6),
    ],
)
def test_what_a_sublayer_says_is_the_librarys(number_at, german, place, name, i):
    box = number_at(place, 77)
    assert total(box) == pytest.approx(float(german.seen[name][0, i, 77]), abs=ROUNDED)


def equations(box) -> list[float]:
    """The numbers in a line of arithmetic, the result last."""
    return number(box.locator(".lv-formula").last.inner_text().split("=")[-1])


@pytest.mark.parametrize(
    ("place", "name", "i"),
    [
        ("encoder-0-self_attention-norm-1", "encoder.blocks.0.around_self_attention.norm", 1),
        ("decoder-2-cross_attention-norm-0", "decoder.blocks.2.around_cross_attention.norm", 0),
        ("decoder-3-feed_forward-add-7", "decoder.blocks.3.around_feed_forward", 7),
        ("decoder-1-cross_attention-add-4", "decoder.blocks.1.around_cross_attention", 4),
        ("encoder-norm-5", "encoder.norm", 5),
        ("decoder-norm-2", "decoder.norm", 2),
    ],
)
@pytest.mark.parametrize("c", [0, 90])
def test_norms_and_sums_are_the_librarys(number_at, german, place, name, i, c):
    box = number_at(place, c)
    assert equations(box) == pytest.approx(float(german.seen[name][0, i, c]), abs=ROUNDED)


@pytest.mark.parametrize(("side", "call"), [("source", 0), ("target", 1)])
@pytest.mark.parametrize("c", [0, 33])
def test_the_embedding_is_the_librarys(number_at, german, side, call, c):
    box = number_at(f"{side}-3", c)
    line = box.locator(".lv-formula").inner_text()
    assert ("cos(3 / 10000^(32/128))" if c else "sin(3 / 10000^(0/128))") in line
    entering = float(german.seen.each("positions")[call][0, 3, c])
    assert equations(box) == pytest.approx(entering, abs=ROUNDED)


def test_the_next_token_is_the_librarys(live, german):
    page = live(path=PAGE)
    box = opened(page, place="output-1")
    scores = german.seen[""][0, 1]
    best, shares = scores.topk(10), scores.softmax(dim=-1)
    for (_, score, _, share), value, token in zip(table(box), *best, strict=True):
        assert number(score) == pytest.approx(float(value), abs=ROUNDED)
        shown = 0.0 if "<" in share else number(share)
        assert shown == pytest.approx(100 * float(shares[token]), abs=0.06)
    assert "␣dogs" in box.locator(".lv-written").inner_text()
    box.locator(".lv-scores button").nth(1).click()
    assert here(page) == "output-1-1"
    assert total(box) == pytest.approx(float(best.values[1]), abs=ROUNDED)


def test_what_the_page_says_under_its_figure(live, german):
    """The numbers in "What we saw", in full; and two of them on the page."""
    seen = german.seen
    cross = seen["decoder.blocks.3.cross_attention.weights"][0, 1]
    assert cross.argmax(dim=-1)[:3].tolist() == [0, 1, 2]  # <s>, Two, dogs: Zwei, Hunde, spielen
    assert float(cross[1, 1]) > 0.9995 and float(cross[0, 0]) == pytest.approx(0.99, abs=0.005)
    active = {
        stack: [(seen[f"{stack}.blocks.{b}.feed_forward.W_1"][0] > 0).sum(dim=-1) for b in range(4)]
        for stack in ("encoder", "decoder")
    }
    assert int(active["encoder"][2][1]) == 8 and int(active["decoder"][3][1]) == 117
    encoder, last = torch.stack(active["encoder"]), active["decoder"][3]
    assert (int(encoder.min()), int(encoder.max())) == (4, 29)
    assert (int(last.min()), int(last.max())) == (48, 123)
    added = torch.stack(
        [
            seen[f"decoder.blocks.3.{name}"][0].norm(dim=-1)
            for name in ("self_attention", "cross_attention", "feed_forward")
        ]
    )
    assert added.argmax(dim=0).tolist() == [1] * 7 + [2]
    assert added[:, 1].tolist() == pytest.approx([20, 50, 35], abs=0.5)
    page = live(path=PAGE)
    box = opened(page, place="encoder-2-feed_forward-1")
    assert "8 of them are above 0" in box.inner_text()
    at(page, "decoder-3-cross_attention-add-1")
    length = re.search(r"([\d.]+) was added", box.inner_text())[1]
    assert float(length) == pytest.approx(added[1, 1].item(), abs=0.05)


# ------------------------------------------------------------------------------- the way in and out


def test_nothing_of_a_model_is_fetched_before_the_reader_asks(live):
    page = live(path=PAGE)
    page.wait_for_load_state("networkidle")
    assert not [url for url in page.asked if "/models/" in url or "worker" in url]
    opened(page)
    fetched = sorted(file_name(url) for url in page.asked if "/models/" in url)
    assert fetched == [
        "translator.json",
        "translator_de_en.safetensors",
        "translator_words_de.safetensors",
    ]


def test_by_mouse_from_the_whole_to_a_product_and_back(live):
    page = live(path=PAGE)
    box = opened(page, "Der Hund schläft.")
    assert "Der Hund" in box.locator("svg.lv-whole").text_content()
    box.get_by_role("button", name="encoder block 2").click()
    box.get_by_role("button", name="self-attention 4 heads").click()
    box.get_by_role("button", name="head 3").click()
    box.get_by_role("list", name="Queries").get_by_role("button", name="Hund").click()
    box.locator(".lv-keys-table button").first.click()
    expected = ["Transformer", "encoder block 2", "self-attention", "head 3", "“␣Hund”"]
    assert steps(box) == [*expected, "key “Der”"]
    assert page.url.endswith("#at-encoder-2-self_attention-3-1-0")
    page.go_back()
    page.wait_for_function("!location.hash.endsWith('-0')")
    assert steps(box) == expected
    box.get_by_role("button", name="encoder block 2").click()
    assert here(page) == "encoder-2"
    box.get_by_role("button", name="Transformer").click()
    assert here(page) == "" and "#" not in page.url


def test_a_heads_squares_carry_their_percent(live, german):
    page = live(path=PAGE)
    opened(page, place="decoder-3-cross_attention-1")
    written = page.locator(".lv-numbered text").all_text_contents()
    weights = 100 * german.seen["decoder.blocks.3.cross_attention.weights"][0, 1].flatten()
    found = torch.tensor([number(text or "0") for text in written])
    assert torch.allclose(found, weights, rtol=0, atol=0.51)
    assert all(int(text) > 0 for text in written if text)  # less than half a percent is not written


def test_a_row_of_the_weights_is_chosen_by_a_click_into_it(live):
    page = live(path=PAGE)
    box = opened(page, place="encoder-0-self_attention-1")
    square = box.locator(".lv-picks")
    size = square.bounding_box()
    square.click(position={"x": 5, "y": size["height"] * 2.5 / 7})
    assert here(page) == "encoder-0-self_attention-1-2"


def test_by_finger_on_a_phone(live):
    page = live(390, path=PAGE, has_touch=True, is_mobile=True)
    figure(page, TITLE).get_by_role("button", name="decoder block 1").tap()  # it also translates
    page.wait_for_function("document.querySelector('.lv-view').dataset.place === 'decoder-1'")
    box = figure(page, TITLE)
    box.get_by_role("button", name="cross-attention 4 heads").tap()
    box.get_by_role("button", name="head 0").tap()
    box.get_by_role("list", name="Queries").get_by_role("button").nth(2).tap()
    box.get_by_role("button", name="The next neighbour").tap()
    assert here(page) == "decoder-1-cross_attention-0-3"
    box.get_by_role("button", name="Out", exact=True).tap()
    assert here(page) == "decoder-1-cross_attention-0"


PLACES = [
    "encoder-1",
    "decoder-1",
    "decoder-2-cross_attention",
    "decoder-2-cross_attention-1",
    "decoder-2-cross_attention-1-3",
    "decoder-2-cross_attention-1-3-2",
    "decoder-2-cross_attention-1-3-2-31",
    "decoder-2-cross_attention-mix-3",
    "encoder-2-feed_forward-1",
    "encoder-2-feed_forward-1-7",
    "encoder-2-feed_forward-norm-1",
    "encoder-2-feed_forward-add-1",
    "source-1",
    "output-1",
    "output-1-0",
]


def test_on_a_phone_no_place_is_wider_than_the_page(live):
    page = live(390, path=PAGE, has_touch=True, is_mobile=True)
    opened(page, "Ein Mann mit Hut liest auf einer Bank die Zeitung.")
    for place in PLACES:
        at(page, place)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), place


def test_the_way_down_leads_there(live, german):
    """From any sentence, and its words are true."""
    page = live(path=PAGE)
    links = page.locator(".way-down a")
    places = [
        href.removeprefix("#at-")
        for href in links.evaluate_all("all => all.map(a => a.getAttribute('href'))")
    ]
    assert len(places) == 7
    page.get_by_label("Your sentence").last.fill("Ein Hund.")
    for i, place in enumerate(places):
        links.nth(i).click()
        page.wait_for_function(
            "place => document.querySelector('.lv-view').dataset.place === place", arg=place
        )
    assert page.get_by_label("Your sentence").last.input_value() == SENTENCE
    share = german.seen[""][0, 1].softmax(dim=-1).max()
    looks = german.seen["decoder.blocks.3.cross_attention.weights"][0, 1, 1]
    said = page.locator(".way-down").inner_text()
    assert f"{100 * share:.1f} %" in said and f"{100 * looks[1]:.1f} %" in said
    assert "Hunde" in said and looks.argmax() == 1


def test_keyboard_alone(live):
    page = live(path=PAGE)
    box = figure(page, TITLE)
    box.get_by_label("Your sentence").focus()
    page.keyboard.press("Enter")
    box.locator(".lv-translation:visible").wait_for()
    box.get_by_role("button", name="encoder block 3").focus()
    page.keyboard.press("ArrowRight")
    focused = page.locator(":focus")
    assert focused.get_attribute("data-place") == "encoder-norm-0"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert focused.get_attribute("data-place") == "encoder-2"
    page.keyboard.press("Enter")
    assert here(page) == "encoder-2"
    page.keyboard.press("ArrowLeft")
    assert here(page) == "encoder-1"
    box.get_by_role("button", name="self-attention 4 heads").press("Space")
    box.get_by_role("button", name="head 0").press("Enter")
    for _ in range(5):  # there are four
        page.keyboard.press("ArrowRight")
    assert here(page) == "encoder-1-self_attention-3"
    box.get_by_role("list", name="Queries").get_by_role("button").first.press("Enter")
    page.keyboard.press("ArrowRight")
    assert here(page) == "encoder-1-self_attention-3-1"
    slider = box.get_by_role("slider", name="Number")
    slider.focus()
    page.keyboard.press("ArrowRight")  # a slider's arrow is its own
    assert slider.input_value() == "1" and here(page) == "encoder-1-self_attention-3-1"
    for place in ("encoder-1-self_attention-3", "encoder-1-self_attention", "encoder-1"):
        page.keyboard.press("Escape")
        assert here(page) == place
    assert focused.get_attribute("data-place") == "encoder-1-self_attention"
    page.keyboard.press("Escape")
    assert here(page) == "" and focused.get_attribute("data-place") == "encoder-1"
    page.keyboard.press("Escape")
    assert here(page) == ""


def test_the_neighbours_button_keeps_the_focus(live):
    page = live(path=PAGE)
    box = opened(page, place="source-0")
    box.get_by_role("button", name="The next neighbour").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert here(page) == "source-2"
    box.get_by_role("list", name="Tokens").get_by_role("button").nth(4).press("Enter")
    page.keyboard.press("ArrowRight")
    assert here(page) == "source-5"
    assert page.locator(":focus").get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_it_zooms_unless_less_motion_is_asked_for(live, motion):
    page = live(path=PAGE, reduced_motion=motion)
    box = opened(page)
    box.get_by_role("button", name="encoder block 2").click()
    moving = page.evaluate("document.querySelector('.lv-view').getAnimations().length")
    assert (moving > 0) == (motion == "no-preference")
    page.wait_for_function("!document.querySelector('.lv-view').getAnimations().length")


def test_an_address_leads_inside_and_one_that_is_wrong_to_the_nearest_place(live):
    page = live(path=f"{PAGE}#at-encoder-1-self_attention-2-1")
    box = figure(page, TITLE)
    assert "The address leads inside" in box.locator(".lv-status").inner_text()
    assert not [url for url in page.asked if "/models/" in url]
    opened(page)
    assert here(page) == "encoder-1-self_attention-2-1"
    for wrong, nearest in {
        "encoder-1-self_attention-2-99": "encoder-1-self_attention-2",
        "encoder-9": "",
        "decoder-1-feed_forward": "decoder-1",
        "toString-1": "",
        "encoder-1-cross_attention-0": "encoder-1",
        "output-1-12": "output-1",
    }.items():
        page.evaluate("place => { location.hash = `#at-${place}` }", wrong)
        page.wait_for_function(
            "place => document.querySelector('.lv-view').dataset.place === place", arg=nearest
        )
    # an address within the page is no place
    at(page, "encoder-2")
    page.evaluate("location.hash = '#three-things-to-try'")
    page.wait_for_timeout(100)
    assert here(page) == "encoder-2"


# ------------------------------------------------------------------------- whatever a reader may do


@pytest.mark.parametrize("text", ["x" * 2000, "😀" * 300, "ein Hund " * 100], ids=lambda t: t[:8])
def test_too_long_a_text_is_said(live, text):
    page = live(390, path=PAGE, has_touch=True, is_mobile=True)
    box = figure(page, TITLE)
    box.get_by_label("Your sentence").fill(text)
    box.get_by_role("button", name="Translate, and look inside").click()
    page.wait_for_selector(".lv-wrong")
    said = box.locator(".lv-status").inner_text()
    assert "63 are the most" in said and "tokens" in said
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    opened(page, "Ein Hund.")


@pytest.mark.parametrize(
    "text",
    ["😀", "שלום עולם", "مرحبا", "a\n\nb", "<s> <b>x</b>", "ein Hund " * 20],
    ids=lambda t: t[:8],
)
def test_whatever_is_typed_can_be_looked_into(live, text):
    page = live(390, path=PAGE, has_touch=True, is_mobile=True)
    box = opened(page, text)
    places = ["encoder-3-self_attention-0", "decoder-3-cross_attention-1", "source-0", "output-0"]
    for place in places:
        at(page, place)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert box.locator(".lv-scores tbody tr").count() == 10


def test_an_empty_box_is_said(live):
    page = live(path=PAGE)
    box = opened(page, place="encoder-2")
    box.get_by_label("Your sentence").fill("  ")
    box.get_by_role("button", name="Translate, and look inside").click()
    assert "Type a sentence first" in box.get_by_role("status").inner_text()
    assert here(page) == "" and "#" not in page.url
    box.get_by_role("button", name="encoder block 1").click()
    assert "Type a sentence first" in box.get_by_role("status").inner_text()


def test_a_download_that_fails_is_said_and_can_be_tried_again(live):
    page = live(path=PAGE)
    page.context.route("**/models/**", lambda route: route.fulfill(status=503))
    box = figure(page, TITLE)
    box.get_by_role("button", name="encoder block 1").click()
    page.wait_for_selector(".lv-wrong")
    assert "could not be fetched (503)" in box.get_by_role("status").inner_text()
    page.context.unroute("**/models/**")
    opened(page)


def test_another_sentence_or_direction_begins_at_the_whole(live):
    page = live(path=PAGE)
    box = opened(page, place="encoder-2-self_attention-1-1")
    box.get_by_label("Your sentence").press_sequentially("!")
    assert here(page) == "" and "#" not in page.url
    assert "your sentence" in box.locator("svg.lv-whole").text_content()
    box.get_by_label("Direction").select_option("English → German")
    box.get_by_label("Your sentence").fill(OTHER)
    opened(page)
    assert "Zwei Hunde" in box.locator(".lv-translation").inner_text()


def test_axe_finds_nothing_at_any_place(live):
    page = live(path=PAGE, reduced_motion="reduce")
    opened(page)
    for theme in ("light", "dark"):
        axe.turn(page, theme)
        for place in ["", *PLACES]:
            at(page, place)
            assert axe.objections(page, ".live", theme) == [], (theme, place)


def test_without_scripts_the_drawing_stands_there(live):
    page = live(path=PAGE, java_script_enabled=False)
    drawing = page.locator(".lv-still svg")
    assert drawing.is_visible()
    for words in (
        "128 numbers a vector",
        "4 heads of 32 numbers",
        "1.97 million",
        "decoder block 3",
    ):
        assert words in drawing.text_content()
    assert page.locator(".live button, .live [role=button]").count() == 0
