"""What lies beyond a small model's training is said beside what it makes of it: words that it never
met, too long a text, a translation of which it is less sure than usual; and the translation stands
there all the same.
"""

import axe
import pytest
import torch
from live_page import figure

from lectures_lib import data, decoding, results, stored
from lectures_lib.stored import met_words

pytestmark = pytest.mark.browser
TITLE = "Your sentence, translated"
HALF, LONG = stored.NUMBER_WORDS
MEASURED = results.load("live_range")["results"]
TEXTS = [
    "Die Regierung hat ein neues Gesetz verabschiedet. 😀",
    "Zwei Hunde spielen im Schnee.",
    "naïve e\u0301 x2 a-b_c ½ № שלום漢字",
    "Ein Hund \u2764\ufe0f",
    "",
]


def test_words_are_cut_and_looked_up_as_in_the_library(computing):
    texts = [*TEXTS, *(side for one in data.own_captions() for side in one.values())]
    found = computing.evaluate(
        """async (texts) => {
          const { unmet, wordsOf } = await import("/live/met.js");
          const met = {};
          for (const language of ["de", "en"]) {
            const path = `/live/models/translator_words_${language}.safetensors`;
            met[language] = live.readSafetensors(await (await fetch(path)).arrayBuffer()).tensors.words.data;
          }
          return texts.map((text) => [wordsOf(text), unmet(text, met.de), unmet(text, met.en)]);
        }""",
        texts,
    )
    for text, (words, *strange) in zip(texts, found, strict=True):
        assert words == met_words.words_of(text), text
        assert strange == [met_words.unmet(text, language) for language in ("de", "en")], text


def translated(page, direction, text):
    """The translation, and the note beside it."""
    box = figure(page, TITLE)
    box.get_by_label("Direction").select_option(direction)
    box.get_by_role("textbox").fill(text)
    box.get_by_role("button", name="Translate").click()
    box.locator(".lv-found:not([hidden]) .lv-candidates li").first.wait_for()
    note = box.locator(".lv-beyond")
    return box.locator(".lv-translation").inner_text(), note.inner_text() * note.is_visible()


def share(model, source):
    """The geometric mean of the shares of what is written greedily."""
    found = decoding.greedy(
        model, torch.tensor([source]), begin=data.BOS, end=data.EOS, max_len=len(source) + 50,
        never=(data.PAD, data.BOS),
    )  # fmt: skip
    return float((found.scores[0] / found.tokens.shape[1]).exp())


def shown(one):
    """A share as it is shown where two are compared: cut off behind a tenth of a percent."""
    return f"{int(1000 * one) / 10:.1f} %"


def test_words_that_a_translator_never_met_are_named(live):
    page = live(390, has_touch=True, is_mobile=True, only="translator")
    text, translates = TEXTS[0], stored.translator("de", "en")
    said, note = translated(page, "German → English", text)
    assert [said] == translates([text])
    unmet = ", ".join(f"“{word}”" for word in met_words.unmet(text, "de"))
    assert note.startswith("Beyond what it learned: Of 9 words and signs, each counted once, 3 ")
    assert f"in the 29,000 German captions that it learned from: {unmet}." in note
    sure, rare = (
        share(translates.model, translates.source(text)),
        MEASURED["de-en"]["share"]["rare"],
    )
    assert sure < rare
    assert f"less sure than usual: {shown(sure)} a token" in note
    assert note.endswith(
        f"1,000 captions that it did not learn from, 95 in 100 get more than {shown(rare)}."
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert axe.by_day_and_night(page, ".live") == []
    assert translated(page, "German → English", "Zwei Hunde spielen im Schnee.")[1] == ""


def test_another_language_and_too_long_a_text_are_told(live):
    page = live(only="translator")
    _, note = translated(page, "English → German", "Zwei Hunde spielen im Schnee.")
    assert "Of 6 words and signs, each counted once, 5 never stood" in note
    longest = MEASURED["en-de"]["longest"]
    text = "A man and a woman are walking down the street with a dog. " * 5
    tokens = len(stored.translator("en", "de").source(text.strip())) - 1
    assert tokens > longest
    _, note = translated(page, "English → German", text)
    assert f"has {tokens} tokens; the longest that it learned from had {longest}." in note


def test_of_number_words_the_length_and_the_language_are_told(live):
    page = live(only="translator")
    direction = "Numbers, English → German"
    said, note = translated(page, direction, ", ".join(["nine"] * 6))
    assert said == " , ".join(["neun"] * 6)
    assert "The list has 6 numbers; those that it learned from had 4 at most." in note
    _, note = translated(page, direction, "drei, vier")
    assert "Of 2 words, each counted once, 2 never stood in the English lists" in note
    assert translated(page, direction, "three, four")[1] == ""
    _, note = translated(page, f"Numbers, after {HALF} steps", "three, four, five")
    assert "The list has 3 numbers; those that it learned from had 2 at most." in note


def test_what_the_reader_put_in_is_not_called_unsure(live):
    page = live(only="translator")
    box = figure(page, TITLE)
    assert translated(page, "German → English", "Zwei Hunde spielen im Schnee.")[1] == ""
    box.locator(".lv-candidates button").last.click()
    box.locator(".lv-forced").wait_for()
    page.wait_for_function(
        "document.querySelector('.live [role=status]').textContent !== 'Computing …'"
    )
    assert not box.locator(".lv-beyond").is_visible()


def test_it_is_told_of_a_beam_too(live):
    page = live(only="beams")
    box = figure(page, "A beam that grows and is pruned")
    assert not box.locator(".lv-beyond").is_visible()
    box.get_by_label("Direction").select_option("German → English")
    box.get_by_role("textbox").fill(TEXTS[0])
    box.get_by_role("button", name="Search").click()
    box.locator(".lv-beyond").wait_for()
    assert "“gesetz”" in box.locator(".lv-beyond").inner_text()
    box.get_by_role("textbox").fill("Zwei Hunde spielen im Schnee.")
    box.get_by_role("button", name="Search").click()
    box.locator(".lv-finished tbody tr").first.wait_for()
    assert not box.locator(".lv-beyond").is_visible()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("july 20, 1969", ""),
        ("20 july 2099", ""),
        ("5 may 1821", "In training the years were 1900 to 2099."),
        ("1 january 2100", "In training the years were 1900 to 2099."),
        ("31 february 1950", "There is no such day, and in training there was none."),
        ("05 may 1999", "In training there were two spellings"),
        ("20 jul 1969", "In training there were two spellings"),
        ("tomorrow", "In training there were two spellings"),
    ],
)
def test_of_a_date_it_is_told_what_it_never_met(live, text, said):
    page = live(390, has_touch=True, is_mobile=True, only="remembering")
    read(figure(page, "A cache at work"), text, "Let it write", said)
    page = live(390, has_touch=True, is_mobile=True, only="dates")
    box = figure(page, "A date, letter by letter")
    read(box, text, "Let it read", said)
    assert box.locator(".lv-source code").inner_text() == text
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def read(box, text, button, said):
    """Let a reader of dates read, and see what is told."""
    box.get_by_role("textbox", name="Your date").fill(text)
    box.get_by_role("button", name=button).click()
    box.page.wait_for_function(
        "box => !/Fetching|Starting|Computing|when you first/.test("
        "box.querySelector('[role=status]').textContent)",
        arg=box.element_handle(),
    )
    note = box.locator(".lv-beyond")
    assert note.is_visible() == bool(said)
    assert said in note.inner_text()


@pytest.mark.parametrize(
    ("name", "title", "button"),
    [
        ("through", "One sentence, all the way down", "Translate, and look inside"),
        ("at_work", "A translation, step by step", "Translate"),
    ],
)
def test_it_is_told_where_one_looks_inside(live, name, title, button):
    page = live(path="book/through.html", only=name)
    box = figure(page, title)
    note = box.locator(".lv-beyond")
    assert not note.is_visible()
    for text, says in ((TEXTS[0], "“gesetz”"), (TEXTS[1], "")):
        box.get_by_label("Direction").select_option("German → English")
        box.get_by_role("textbox").fill(text)
        box.get_by_role("button", name=button, exact=True).click()
        if says:
            note.wait_for()
            assert says in note.inner_text()
            rare = shown(MEASURED["de-en"]["share"]["rare"])
            assert (
                "less sure than usual" in note.inner_text()
                and f"more than {rare}" in note.inner_text()
            )
        else:
            note.wait_for(state="hidden")
    assert axe.by_day_and_night(page, ".live") == []
