"""Two words for one hole, in the page: what the two models say is what the library says, what stays
can be compared, and what cannot be asked is said.
"""

import math
import sys

import axe
import computed
import pytest
from live_page import figure
from sitemap import ROOT

from lectures_lib import stored
from lectures_lib.models import minilm
from lectures_lib.tokenization import WordPiece

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from agreement import EXAMPLES, behind, given, in_hole

pytestmark = pytest.mark.browser
FIGURE, TITLE = "agreement", "Which of two words?"
WORDPIECE = WordPiece.load(minilm.checkpoint() / "vocab.txt")
ASK = """async ([which, task, request]) => {
  const { Machine } = await import("/live/machine.js");
  const place = document.querySelector('.live[data-live*=\\'"figure": "agreement"\\']');
  const { models } = JSON.parse(place.dataset.live);
  window.machines ??= models.map((model) => new Machine(model));
  await machines[which].load();
  return machines[which].ask(task, request).promise;
}"""
SENTENCES = [
    *((one["text"], one["words"]) for one in EXAMPLES),
    ("The songs of the film ___", ["was", "were"]),
    ("___ keys, 12 of them 😀, are naïve.", ["These", "This"]),
    ("a" * 60 + " b ___\n\nc", ["unbelievably", "😀"]),
    ("___ " + "?!" * 148, ["Why", "What"]),  # more pieces than other figures read
]


@pytest.fixture(scope="module")
def rounded(html):
    """The BERT that the page fetches, read by the library."""
    return computed.rounded(html, "fill_mask")


def leads(rounded, text, words):
    """By how many nats the first word leads, from the left and of both sides."""
    left, both = given(text)
    from_left = [behind(*stored.language_model("wikitext"), left, word) for word in words]
    of_both = [in_hole(rounded, WORDPIECE, both, word) for word in words]
    return from_left[0] - from_left[1], of_both[0] - of_both[1]


@pytest.mark.parametrize(("text", "words"), SENTENCES, ids=lambda one: str(one)[:30])
def test_both_models_say_what_the_library_says(computing, rounded, text, words):
    left, both = given(text)
    found = computing.evaluate(ASK, [0, "behind", {"text": left, "words": words}])
    expected = [behind(*stored.language_model("wikitext"), left, word) for word in words]
    assert [one["log"] for one in found] == pytest.approx(expected, abs=1e-3)
    found = computing.evaluate(ASK, [1, "inHole", {"text": both, "words": words}])
    expected = [in_hole(rounded, WORDPIECE, both, word) for word in words]
    assert [one["log"] for one in found] == pytest.approx(expected, abs=1e-3)


def test_a_share_of_almost_nothing_has_a_logarithm(computing):
    found = computing.evaluate(
        "([scores]) => [0, 1].map((id) => live.logShare(Float32Array.from(scores), id))", [[0, 300]]
    )
    assert found == pytest.approx([-300, 0])


def test_from_the_left_it_is_the_chapters_number():
    was, were = (
        behind(*stored.language_model("wikitext"), "The songs of the film", verb)
        for verb in ("was", "were")
    )
    assert was - were == pytest.approx(1.8, abs=0.06)


def ask(box, text, words=("are", "is"), press="click"):
    box.get_by_label("Your sentence").fill(text)
    for label, word in zip(("One word", "Or this one"), words, strict=True):
        box.get_by_label(label).fill(word)
    getattr(box.get_by_role("button", name="Which word?"), press)()


def answered(box):
    """The newest sentence's lines, once both models have answered."""
    box.locator(".lv-status:empty").wait_for(state="attached")
    return box.locator(".lv-pairs > li").first


def said(lead, words):
    """A lead as a line says it."""
    times = float(f"{math.exp(abs(lead)):.2g}")  # of leads below a million times
    more, less = words if lead > 0 else reversed(words)
    return f"“{more}” is {times:,.15g} times as likely as “{less}” ({abs(lead):.1f}\u00a0nats)"


@pytest.mark.parametrize(("width", "press"), [(1000, "click"), (390, "tap")])
def test_a_readers_sentence_gets_two_leads(live, rounded, width, press):
    page = live(width, has_touch=press == "tap", is_mobile=press == "tap", only="agreement")
    box, text = figure(page, TITLE), "The lamps near the old window ___ new."
    assert not [url for url in page.asked if "/models/" in url]
    ask(box, text, press=press)
    one = answered(box)
    assert "The lamps near the old window are / is new." in one.inner_text()
    expected = leads(rounded, text, ("are", "is"))
    assert one.locator("small").all_inner_texts() == [
        said(lead, ("are", "is")) for lead in expected
    ]
    # the line of each is on the side of its word, and as long as its lead
    for i, lead in enumerate(expected):
        line = one.locator("b").nth(i)
        whole, bar = line.bounding_box(), line.locator("i").bounding_box()
        middle = whole["x"] + whole["width"] / 2
        begins, ends = bar["x"] - middle, bar["x"] + bar["width"] - middle
        assert (ends if lead > 0 else begins) == pytest.approx(0, abs=1.5)
        verdict = one.locator("small").nth(i).bounding_box()
        assert verdict["x"] <= middle and verdict["y"] + verdict["height"] <= whole["y"] + 1
        share = min(1, abs(lead) / 8) * whole["width"] / 2
        assert bar["width"] == pytest.approx(share, abs=2)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_keyboard_alone(live):
    page = live(only="agreement")
    box = figure(page, TITLE)
    box.get_by_label("Your sentence").focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("There ___ a key.")
    page.keyboard.press("Tab")
    page.keyboard.type("is")
    page.keyboard.press("Tab")
    page.keyboard.type("are")
    page.keyboard.press("Enter")
    box.get_by_text("There is / are a key.").wait_for()
    assert answered(box).locator("small").nth(1).inner_text().startswith("“is” is")
    box.locator(".lv-examples button").nth(1).focus()
    page.keyboard.press("Enter")
    page.wait_for_function(
        "() => document.querySelector('.lv-pairs > li').textContent.startsWith('The keys are / is on')"
    )
    assert box.get_by_label("One word").input_value() == "are"


def test_what_cannot_be_asked_is_said(live):
    page = live(only="agreement")
    box = figure(page, TITLE)
    for text, words, why in [
        ("", ("are", "is"), "There is no hole yet"),
        ("😀 no hole", ("are", "is"), "There is no hole yet"),
        ("One ___ and [mask]", ("are", "is"), "There are 2 holes"),
        ("The keys ___", ("are", " "), "Type two words first"),
        ("The keys ___", ("are", "are "), "Type two words that differ"),
    ]:
        ask(box, text, words)
        assert why in box.get_by_role("status").inner_text()
    assert not [url for url in page.asked if "/models/" in url], "nothing is fetched for it"


@pytest.fixture(scope="module")
def used(tabs, address):
    """The chapter's page, for the tests that ask much: it fetches each file once."""
    page = tabs.take(390, 900)
    page.goto(f"{address}notebooks/10b_agreement.html")
    figure(page, TITLE).wait_for()
    yield page
    assert not page.wrong
    tabs.give_back(page)


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("untranslatable", "“untranslatable” is 5 pieces to BERT (un ##tra"),
        ("😀", "BERT has no piece for “😀”"),
        ("\u200b", "BERT has no piece for"),
        ("w" * 40, "and a hole takes one"),
    ],
)
def test_berts_hole_takes_one_piece_and_the_left_side_any_word(used, word, why):
    box = figure(used, TITLE)
    ask(box, "The text ___.", ("is", word))
    left, both = answered(box).locator("small").all_inner_texts()
    assert why in box.locator(".lv-about").inner_text()
    assert "nats" in left and both == "not one piece"
    assert used.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert "the sum over" in box.locator(".lv-about").inner_text()


@pytest.mark.parametrize("text", ["x" * 100 + " ___", "😀" * 40 + "___ مرحبا שלום", "___"])
def test_strange_sentences_get_an_answer(used, text):
    box = figure(used, TITLE)
    ask(box, text)
    answered(box)
    assert "P(are)" in box.locator(".lv-about").inner_text()
    assert used.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_too_long_a_left_side_is_said(used):
    box = figure(used, TITLE)
    ask(box, "😀" * 140 + " ___")
    box.locator(".lv-status.lv-wrong").wait_for()
    assert "256 positions" in box.get_by_role("status").inner_text()


def test_the_last_six_questions_stay(used):
    box, rows = figure(used, TITLE), figure(used, TITLE).locator(".lv-pairs > li")
    for noun in ("one", "two", "three", "four", "five", "six", "seven", "two"):
        ask(box, f"{noun} ___")
        answered(box)
    firsts = [text.split()[0] for text in rows.locator("p").all_inner_texts()]
    assert firsts == ["two", "seven", "six", "five", "four", "three"]
    box.get_by_label("Your sentence").fill("another ___")
    assert box.locator(".lv-about").inner_text() == "" and rows.count() == 6


def test_what_is_given_up_halfway_leaves_no_half_answer(live):
    page = live(only="agreement")
    box = figure(page, TITLE)
    page.context.route("**/fill_mask_8bit*", lambda route: None)  # BERT never comes
    ask(box, "The lamp ___ new.")
    box.get_by_text("The lamp are / is new.").wait_for()
    box.get_by_label("One word").press_sequentially("n")
    assert "The lamp" not in box.locator(".lv-pairs").inner_text()
    assert "Fetching the model" in box.get_by_role("status").inner_text(), "it goes on all the same"
    page.context.unroute("**/fill_mask_8bit*")


def test_without_bert_the_left_side_answers(live):
    page = live(only="agreement")
    page.context.route("**/fill_mask_8bit*", lambda route: route.fulfill(status=503))
    box = figure(page, TITLE)
    ask(box, "The lamp ___ new.")
    box.locator(".lv-status.lv-wrong").wait_for()
    assert "could not be fetched (503)" in box.get_by_role("status").inner_text()
    lines = box.locator(".lv-pairs > li").first.locator("ol li")
    assert lines.count() == 1 and "“is” is" in lines.inner_text()
    page.context.unroute("**/fill_mask_8bit*")
    ask(box, "The lamp ___ new.")
    answered(box)


def test_axe_finds_nothing(live):
    page = live(path="notebooks/10b_agreement.html")
    box = figure(page, TITLE)
    assert box.locator(".lv-pairs > li").count() == len(EXAMPLES)
    assert axe.by_day_and_night(page, ".live") == []
