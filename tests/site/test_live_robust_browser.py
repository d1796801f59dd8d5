"""What every live figure that takes the reader's own words owes her: a clear word where there is
nothing to read and where a download fails, and an answer to whatever she types.
"""

import pytest
from live_page import ADDRESS, EVERY_FIGURE

pytestmark = pytest.mark.browser
BOX = '.live[data-live*=\'"figure": "{}"\'] .lv-box[role=group]'
# What each says to an empty field, or to one with a blank, from which the writer goes on; two ask for
# a hole.
EMPTY = {
    "translator": "Type a sentence first.",
    "beams": "Type a sentence first.",
    "writer": "at least one letter",
    "dates": "Type a date first.",
    "remembering": "Type a date first.",
    "pieces": "Type a text first.",
    "filler": "There is no hole yet",
    "agreement": "There is no hole yet",
    "sentiment": "Type something first.",
    "similarity": "Type something first.",
    "entities": "Type something first.",
    "answers": "Type",
    "reader": "Type a sentence first.",
    "senses": "Type two sentences first.",
    "probes": "Type a sentence first.",
    "nearness": "Type two sentences at least",
    "sentence_map": "Type a sentence first.",
}
STRANGE = {
    "two thousand characters": "ein Hund " * 222,
    "emoji": "😀👩‍🚀 " * 30,
    "from the right": "שלום עולם مرحبا بالعالم",
}
# It has come to rest: neither fetching nor computing.
AT_REST = """(box) => {
  const said = box.querySelector("[role=status]").textContent;
  return !/Fetching|Starting|Computing|when you first/.test(said) && !box.querySelector(".lv-go").disabled;
}"""


def press(page, name, text=None):
    """Write this into each of the figure's fields and press its button."""
    box = page.locator(BOX.format(name))
    if text is not None:
        for field in box.locator("textarea, input[type=text]").all():
            field.fill(text)
    box.locator(".lv-go").click()
    return box


def said(box) -> str:
    return box.get_by_role("status").inner_text()


def test_an_empty_field_is_said_by_every_figure(live):
    page = live()
    for name, words in EMPTY.items():
        assert words in said(press(page, name, "" if name == "writer" else " ")), name
    assert not [url for url in page.asked if "/models/" in url], "nothing is fetched for it"


def test_a_failed_download_is_said_by_every_figure(live):
    page = live()
    page.context.route("**/models/**", lambda route: route.fulfill(status=503))
    for name in EMPTY:
        box = press(page, name)
        box.get_by_text("could not be fetched (503)").wait_for()
        assert said(box).startswith("That did not work: "), name


def test_without_its_first_answer_a_figure_begins_all_the_same(tab, address):
    page = tab()
    page.context.route("**/answers/**", lambda route: route.fulfill(status=404, body="<p>No</p>"))
    page.goto(address + ADDRESS)
    page.wait_for_function(EVERY_FIGURE)
    page.context.unroute("**/answers/**")
    assert any("/answers/" in url for url in page.asked) and not page.wrong


def test_whatever_is_typed_gets_an_answer(live):
    """In those figures that no other test asks so."""
    page = live()
    for text in STRANGE.values():
        for name, own in {
            "pieces": text,
            "dates": text,
            "remembering": text,
            "reader": text,
            "nearness": f"{text}\n{text} again",
            "senses": text,
            "similarity": text,
            "probes": text,
            "sentence_map": text,
        }.items():
            box = press(page, name, own)
            page.wait_for_function(AT_REST, arg=box.element_handle())
            assert "That did not work" not in said(box), (name, text[:9])
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
