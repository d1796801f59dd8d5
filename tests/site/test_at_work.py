"""The film of the whole model at work: its numbers are the library's, it plays, stops and answers
to mouse, finger and keys, and takes the reader's own sentence.
"""

import re

import axe
import pytest
import torch
from computed import Computed
from live_page import EVERY_FIGURE, figure

from lectures_lib import stored

pytestmark = pytest.mark.browser
PAGE = "book/through.html"
TITLE = "A translation, step by step"
FIRST = "Zwei Hunde spielen im Schnee."
OWN = "Ein Mann mit Hut liest auf einer Bank die Zeitung."
LEAST = 0.02  # a smaller weight has no line
ROUNDED = {"rtol": 0, "atol": 1.1e-3}  # stored in thousandths


@pytest.fixture(scope="module")
def computed():
    return {FIRST: Computed(FIRST), OWN: Computed(OWN)}


@pytest.fixture
def film(live):
    """A function that opens the page and gives the film, which stands at its beginning."""

    def open_it(sentence=FIRST, width=1000, **options):
        page = live(width, path=PAGE, **{"reduced_motion": "reduce", **options})
        return read(figure(page, TITLE), sentence)

    return open_it


@pytest.fixture(scope="module")
def still(tabs, address):
    """A function that gives the film of a sentence for tests that only look at it: each is opened
    once, and handed out at its beginning, of all heads, with no vector pressed.
    """
    pages = {}

    def of(sentence):
        if sentence not in pages:
            page = pages[sentence] = tabs.take(1000, 900, reduced_motion="reduce")
            page.goto(address + PAGE)
            page.wait_for_function(EVERY_FIGURE)
            read(figure(page, TITLE), sentence)
        box = figure(pages[sentence], TITLE)
        box.get_by_label("Attention of").select_option("")
        pressed = box.locator(".lv-lanes [aria-pressed=true]")
        if pressed.count():
            pressed.click()
        assert pressed.count() == 0
        go(box, 0)
        return box

    yield of
    for page in pages.values():
        assert not page.wrong
        tabs.give_back(page)


def read(box, sentence):
    """The film, once it is of this sentence."""
    if sentence != FIRST:
        translate(box, sentence)
        box.get_by_role("button", name="Pause").wait_for()
        box.get_by_role("button", name="From the start").click()
    return box


def translate(box, sentence):
    box.get_by_label("Your own sentence").fill(sentence)
    box.get_by_role("button", name="Translate", exact=True).click()


def told(box) -> str:
    return box.locator(".lv-moment").inner_text()


def go(box, step):
    box.get_by_role("slider", name="Step").fill(str(step))
    return told(box)


def press(box, *node):
    box.locator(f'[data-at="{"-".join(map(str, node))}"]').click()


def mean(computed, name, head=None):
    """A block's weights (n, m): of one head, or of all the mean."""
    weights = computed.seen[f"{name}.weights"][0]
    return weights.mean(dim=0) if head is None else weights[head]


@pytest.mark.parametrize("sentence", [FIRST, OWN])
@pytest.mark.parametrize("head", [None, 2])
@pytest.mark.parametrize("node", [("encoder", 1, 2), ("encoder", 4, 0), ("decoder", 2, 3)])
def test_each_line_is_a_weight_of_the_librarys(still, computed, sentence, head, node):
    box = still(sentence)
    if head is not None:
        box.get_by_label("Attention of").select_option(str(head))
    press(box, *node)
    stack, level, at = node
    names = ["self_attention"] + ["cross_attention"] * (stack == "decoder")
    rows = [mean(computed[sentence], f"{stack}.blocks.{level - 1}.{n}", head)[at] for n in names]
    expected = torch.cat(rows)
    found = box.locator(".lv-asked .lv-line").evaluate_all(
        "lines => lines.map((line) => Number(line.style.getPropertyValue('--share')))"
    )
    assert len(found) in (
        int((expected >= LEAST + 1e-3).sum()),
        int((expected >= LEAST - 1e-3).sum()),
    )
    sure = expected[expected >= LEAST + 1e-3]
    shown = torch.tensor([share for share in found if share >= LEAST + 1e-3])
    assert torch.allclose(shown[: len(sure)], sure, **ROUNDED)
    written = sorted(map(float, box.locator(".lv-number").all_text_contents()))
    assert written == pytest.approx(sorted(expected[expected >= 0.1].tolist()), abs=0.006)
    for row, share in zip(rows, re.findall(r"\d\.\d\d", told(box)), strict=True):
        assert float(share) == pytest.approx(float(row.max()), abs=0.006)


@pytest.mark.parametrize("sentence", [FIRST, OWN])
def test_vectors_and_what_was_written_are_the_librarys(still, computed, sentence):
    box = still(sentence)
    seen = computed[sentence].seen
    for stack, call, at in [("encoder", 0, 1), ("decoder", 1, 2)]:
        levels = [seen.each("positions")[call][0]]
        levels += [seen[f"{stack}.blocks.{i}.around_feed_forward"][0] for i in range(4)]
        for level, vectors in enumerate(levels):
            drawn = box.locator(f'[data-at="{stack}-{level}-{at}"] path').get_attribute("d")
            bars = -torch.tensor([float(y) for y in re.findall(r"v(-?[\d.]+)", drawn)])
            first = vectors[:, :12]
            size = first.pow(2).mean().sqrt()
            expected = (11 * first[at] / (2 * size)).clamp(-11, 11)
            assert torch.allclose(bars, expected, rtol=0, atol=0.2), (stack, level)
    shares = seen[""][0].softmax(dim=-1)
    n_layers, last = 4, int(box.get_by_role("slider", name="Step").get_attribute("max"))
    assert last + 1 == n_layers + 1 + (n_layers + 2) * shares.shape[0]
    for step, row in enumerate(shares):
        said = go(box, n_layers + 1 + (n_layers + 2) * (step + 1) - 1)
        numbers = [float(p) for p in re.findall(r"([\d.]+) %", said)]
        expected = 100 * row.topk(3).values
        assert numbers == pytest.approx(expected.tolist(), abs=0.1), said  # "< 0.1 %"


def test_what_the_page_says_under_its_film(still, computed):
    cross = mean(computed[FIRST], "decoder.blocks.3.cross_attention")
    assert cross[2, 2] == pytest.approx(0.63, abs=0.005)  # dogs, spielen
    assert cross[1, 1] == pytest.approx(0.87, abs=0.005)  # Two, Hunde
    box = still(FIRST)
    press(box, "decoder", 4, 2)
    assert "from “spielen” (0.63) in the source" in told(box)
    press(box, "decoder", 4, 1)
    assert "from “Hunde” (0.87) in the source" in told(box)


def test_at_the_end_it_says_the_translation(still):
    for sentence in (FIRST, OWN):
        box = still(sentence)
        said = go(box, box.get_by_role("slider", name="Step").get_attribute("max"))
        (expected,) = stored.translator("de", "en")([sentence])
        assert said.endswith(f"The translation: {expected}")
        assert box.locator(".lv-asked .lv-memory").count() == box.locator(".lv-output").count()


def test_it_plays_by_itself_once_it_is_seen_and_can_be_stopped(film):
    box = film(reduced_motion="no-preference")
    page = box.page
    step = box.get_by_role("slider", name="Step")
    box.locator(".lv-scene").scroll_into_view_if_needed()
    page.wait_for_function("input => Number(input.value) >= 3", arg=step.element_handle())
    assert box.locator(".lv-moment").get_attribute("aria-live") == "off"
    box.get_by_role("button", name="Pause").click()
    at = step.input_value()
    page.wait_for_timeout(1300)
    assert step.input_value() == at
    assert box.locator(".lv-moment").get_attribute("aria-live") == "polite"
    box.get_by_role("button", name="One step").click()
    assert int(step.input_value()) == int(at) + 1


def test_who_asked_for_less_motion_is_asked_first(film):
    box = film()
    page = box.page
    box.locator(".lv-scene").scroll_into_view_if_needed()
    page.wait_for_timeout(1500)
    assert box.get_by_role("slider", name="Step").input_value() == "0"
    assert box.locator(".lv-now .lv-vector").first.evaluate(
        "one => getComputedStyle(one).animationName"
    ) == ("none")


@pytest.mark.parametrize("width", [1000, 390])
def test_between_the_sentence_and_the_drawing_there_is_no_gap(film, width):
    """Until the decoder writes, a line says what the room above it is for."""
    box = film(width=width)
    hint = box.locator(".lv-hint")
    for step in range(6):
        go(box, step)
        assert hint.is_visible() and hint.text_content() == "it writes here"
        said, line, frame = box.evaluate("""(box) => {
          const text = document.createRange();
          text.selectNodeContents(box.querySelector(".lv-moment"));
          const at = (one) => box.querySelector(one).getBoundingClientRect();
          return [text.getBoundingClientRect().bottom, at(".lv-hint"), at(".lv-frame").top]; }""")
        assert said < line["top"] and line["bottom"] < frame
        assert frame - line["bottom"] < 40
        assert step == 0 or line["top"] - said < 75
    go(box, next(i for i in range(6, 14) if "it writes" in go(box, i)))
    assert not hint.is_visible()


def test_its_words_in_the_page_move_nothing_below_them(film):
    box = film(width=390)
    top = box.locator(".lv-scene").evaluate("one => one.getBoundingClientRect().top + scrollY")
    last = int(box.get_by_role("slider", name="Step").get_attribute("max"))
    for step in range(last + 1):
        go(box, step)
        assert (
            box.locator(".lv-scene").evaluate("one => one.getBoundingClientRect().top + scrollY")
            == top
        )


def test_keys_lead_from_vector_to_vector(film):
    box = film()
    page = box.page
    box.locator('[data-at="encoder-0-0"]').focus()
    for key in ["ArrowUp", "ArrowUp", "ArrowRight", "Enter"]:
        page.keyboard.press(key)
    pressed = box.locator(".lv-lanes [aria-pressed=true]")
    assert pressed.get_attribute("data-at") == "encoder-2-1"
    assert "Encoder, block 1" in told(box)
    page.keyboard.press(" ")  # once more: all as before
    assert pressed.count() == 0
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.at") == "decoder-2-0"
    for _ in range(9):
        page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.at") == "decoder-0-0"
    assert box.locator('.lv-lanes [tabindex="0"]').count() == 1


@pytest.mark.parametrize("text", ["😀 Hunde", "שלום עולם", "مرحبا", "Zwei\n\nHunde.", "Hund"])
def test_whatever_is_typed_is_shown_on_a_phone(film, text):
    box = film(width=390, has_touch=True, is_mobile=True)
    page = box.page
    translate(box, text)
    box.get_by_role("button", name="Pause").wait_for()
    box.get_by_role("button", name="Pause").tap()
    last = box.get_by_role("slider", name="Step").get_attribute("max")
    assert "it writes the likeliest" in go(box, last)
    box.locator(".lv-lanes .lv-vector").last.tap()
    assert box.locator(".lv-asked .lv-line").count() > 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(
    ("text", "said"),
    [("  ", "Type a sentence first"), ("x" * 2000, "63 are the most"), ("Hund " * 45, "40 are")],
)
def test_what_cannot_be_shown_is_said_and_the_film_stays(film, text, said):
    box = film()
    before = box.locator(".lv-lanes .lv-word").all_text_contents()
    translate(box, text)
    box.locator(".lv-status.lv-wrong").wait_for()
    assert said in box.get_by_role("status").inner_text()
    assert box.locator(".lv-lanes .lv-word").all_text_contents() == before


def test_a_download_that_fails_is_said_and_can_be_tried_again(film):
    box = film()
    page = box.page
    page.context.route("**/models/**", lambda route: route.fulfill(status=503))
    translate(box, OWN)
    box.locator(".lv-status.lv-wrong").wait_for()
    assert "could not be fetched (503)" in box.get_by_role("status").inner_text()
    page.context.unroute("**/models/**")
    translate(box, OWN)
    box.get_by_role("button", name="Pause").wait_for()


def test_a_resized_page_keeps_the_moment(film):
    box = film()
    page = box.page
    said = go(box, 20)
    wide = box.locator(".lv-lanes").get_attribute("width")
    page.set_viewport_size({"width": 500, "height": 900})
    page.wait_for_function(
        "wide => document.querySelector('.lv-lanes').getAttribute('width') !== wide", arg=wide
    )
    assert told(box) == said


def test_axe_finds_nothing(film):
    box = film()
    page = box.page
    for theme in ("light", "dark"):
        axe.turn(page, theme)
        for step in (0, 4, 20, 52):
            go(box, step)
            assert axe.objections(page, ".live", theme) == [], (theme, step)
    press(box, "decoder", 3, 2)
    assert axe.by_day_and_night(page, ".live") == []


def test_without_scripts_a_translation_stands_there(live):
    page = live(path=PAGE, java_script_enabled=False)
    assert re.search(r"Two +0\.87 from Hunde +writes dogs", page.content())
