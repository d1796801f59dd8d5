"""What every live figure that takes the reader's own words owes her: a clear word where there is
nothing to read, where a text is longer than its field and where a download fails, and an answer to
whatever she types.
"""

import re

import pytest
from live_page import AT_REST, EVERY_FIGURE, PAGE_OF, YOUR_OWN, box_of, said

pytestmark = pytest.mark.browser
MOTION, THROUGH = "book/motion.html", "book/through.html"
# What each says to an empty field, or to one with a blank, from which the writer goes on; two ask for
# a hole.
SAID = {
    "translator": "Type a sentence first.",
    "beams": "Type a sentence first.",
    "writer": "at least one letter",
    "dates": "Type a date first.",
    "remembering": "Type a date first.",
    "pieces": "Type a text first.",
    "filler": "There is no hole yet",
    "agreement": "There is no hole yet",
    "hiding": "Type a sentence first.",
    "sentiment": "Type something first.",
    "similarity": "Type something first.",
    "entities": "Type something first.",
    "answers": "Type something first.",
    "reader": "Type a sentence first.",
    "senses": "Type two sentences first.",
    "probes": "Type a sentence first.",
    "nearness": "Type two sentences at least",
    "sentence_map": "Type a sentence first.",
}
EMPTY = {
    **{
        path: {name: SAID[name] for name in names if name in SAID}
        for path, names in YOUR_OWN.items()
        if set(names) & set(SAID)
    },
    MOTION: {"dice": "Type a sentence first.", "filling": "Type a word or more."},
    THROUGH: {"through": "Type a sentence first.", "at_work": "Type a sentence first."},
}
FIELDS = ".live :is(textarea, input[type=text])"
WITH_FIELDS = """(fields) => [...new Set([...document.querySelectorAll(fields)].map(
  (field) => JSON.parse(field.closest(".live").dataset.live).figure))]"""


def press(page, name, text=None):
    """Write this into each of the figure's fields and press its button."""
    box = box_of(page, name)
    if text is not None:
        for field in box.locator("textarea, input[type=text]").all():
            field.fill(text)
    if name != "filling":  # it reads what is typed at once
        box.locator(".lv-go").click()
    return box


@pytest.mark.parametrize("path", EMPTY)
def test_an_empty_field_is_said_by_every_figure(live, path):
    page = live(path=path)
    assert sorted(page.evaluate(WITH_FIELDS, FIELDS)) == sorted(EMPTY[path])
    for name, words in EMPTY[path].items():
        assert words in said(press(page, name, "" if name == "writer" else " ")), name
    assert not [url for url in page.asked if "/models/" in url], "nothing is fetched for it"


@pytest.mark.parametrize("path", EMPTY)
def test_a_failed_download_is_said_by_every_figure(live, path):
    page = live(path=path)
    page.context.route("**/models/**", lambda route: route.fulfill(status=503))
    for name in set(EMPTY[path]) - {"filling"}:  # which has no model
        box = press(page, name)
        box.get_by_text("could not be fetched (503)").wait_for()
        assert re.match(r"That did not work: /live/models/[\w.]+ could", said(box)), name


def test_without_its_first_answer_a_figure_begins_all_the_same(tab, address):
    page = tab()
    page.context.route("**/answers/**", lambda route: route.fulfill(status=404, body="<p>No</p>"))
    page.goto(address + PAGE_OF["reader"])
    page.wait_for_function(EVERY_FIGURE)
    page.context.unroute("**/answers/**")
    assert any("/answers/" in url for url in page.asked) and not page.wrong


# The first is longer than any field of a sentence.
STRANGE = {
    "long": "ein Hund " * 230,
    "emoji": "😀👩‍🚀 " * 30,
    "from the right": "שלום עולם مرحبا بالعالم",
}
# What is typed into the fields of a figure, of such a text.
OWN = {
    "writer": lambda text: [text],
    "dates": lambda text: [text, text],
    "remembering": lambda text: [text],
    "pieces": lambda text: [text],
    "filler": lambda text: [f"{text[:8]} [MASK] {text[8:]}"],
    "agreement": lambda text: [f"{text[:8]} ___ {text[8:]}", text, f"not {text}"],
    "hiding": lambda text: [text],
    "entities": lambda text: [text],
    "answers": lambda text: [text, text],
    "reader": lambda text: [text, text],
    "senses": lambda text: [text, text],
    "similarity": lambda text: [text, text],
    "probes": lambda text: [text, text],
    "nearness": lambda text: [f"{text[:90]}\n{text}"],
    "sentence_map": lambda text: [text],
    "dice": lambda text: [text],
    "filling": lambda text: [text],
}
# The other figures have such a test beside their own.
ELSEWHERE = {"translator", "beams", "sentiment", "through", "at_work"}
TOO_LONG = {"filler": "512 positions", "dates": "places for 32", "remembering": "places for 32"}


def write(field, text: str) -> int:
    """Put a text in the place of a field's own, as a reader would; how many characters it takes."""
    field.focus()
    field.press("Control+A")
    field.page.keyboard.insert_text(text)
    return field.evaluate("field => field.maxLength")


def test_every_figure_with_a_field_is_asked_strange_things():
    assert {*OWN, *ELSEWHERE} == {name for names in EMPTY.values() for name in names}


@pytest.mark.parametrize("name", OWN)
def test_whatever_is_typed_gets_an_answer(live, name):
    path = next(path for path, names in EMPTY.items() if name in names)
    page = live(390, path=path, only=name)
    box = box_of(page, name)
    for kind, text in STRANGE.items():
        fields = box.locator("textarea, input[type=text]").all()
        for field, own in zip(fields, OWN[name](text), strict=True):
            most = write(field, own)
            if kind == "long" and most < len(own):
                notice = f"The field takes {most:,} characters; what is longer is cut."
                box.get_by_role("status").get_by_text(notice).wait_for()
                assert len(field.input_value()) == most
        if name == "writer":
            write_on_and_stop(box)
        elif name != "filling":
            box.locator(".lv-go").click()
            page.wait_for_function(AT_REST, arg=box.element_handle())
        if kind == "long" and name in TOO_LONG:
            assert TOO_LONG[name] in said(box)
        else:
            assert "That did not work" not in said(box), (kind, said(box))
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), kind


def write_on_and_stop(box):
    """It must go on from this text, whatever it is."""
    text = box.get_by_label("Your beginning")
    begin = text.input_value()
    box.locator(".lv-go").click()
    box.page.wait_for_function(
        "([text, n]) => text.value.length > n", arg=[text.element_handle(), len(begin) + 3]
    )
    box.get_by_role("button", name="Stop").click()
    box.locator(".lv-candidates li").first.wait_for()
    assert text.input_value().startswith(begin)


def test_what_fits_its_field_is_not_called_cut(live):
    """A date fills the field for the right answer to the brim."""
    page = live(only="dates")
    box = box_of(page, "dates")
    answer = box.get_by_label("The right answer")
    assert write(answer, "2017-06-12") == 10
    page.evaluate("() => new Promise((done) => setTimeout(done, 20))")
    assert "The field takes" not in said(box)
    answer.press("End")
    answer.press("3")
    box.get_by_text("The field takes 10 characters").wait_for()
    answer.press("Backspace")
    write(answer, "2017-06-1")
    page.evaluate("() => new Promise((done) => setTimeout(done, 20))")
    box.locator(".lv-examples button").first.click()  # another text: nothing is cut
    page.wait_for_function(AT_REST, arg=box.element_handle())
    assert "The field takes" not in said(box)


@pytest.mark.parametrize("text", ["\u200d", "\u200f \u200d"], ids=ascii)
def test_a_text_in_which_there_is_nothing_to_read_is_said(live, text):
    page = live(only="answers")
    box = box_of(page, "answers")
    write(box.get_by_label("A text"), text)
    box.locator(".lv-go").click()
    box.get_by_text("In the text there is nothing that MiniLM reads.").wait_for()
    assert not box.locator(".lv-answer").is_visible()


WELCOME_SAYS = "The model is here|too long for one line|It takes two words"


def test_the_welcome_pages_picture_takes_whatever_is_typed(tab, address):
    page = tab(390, 844)
    page.goto(f"{address}book/welcome.html")
    picture = page.locator(".welcome")
    field, status = (
        picture.get_by_label("Your own sentence"),
        picture.locator(".welcome-own output"),
    )
    for kind, text in STRANGE.items():
        most = write(field, text)
        if kind == "long":
            status.get_by_text(f"The field takes {most} characters").wait_for()
        page.keyboard.press("Enter")
        status.get_by_text(re.compile(WELCOME_SAYS)).wait_for()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), kind
    write(field, "")
    page.keyboard.press("Delete")
    page.keyboard.press("Enter")
    status.get_by_text("Type a sentence first").wait_for()
    assert not page.wrong


def test_ask_takes_whatever_is_typed(tab, address):
    page = tab(390, 844)
    page.goto(f"{address}book/ask.html")
    field, status = page.get_by_label("Your question"), page.locator("#ask-count")
    for kind, text in STRANGE.items():
        most = write(field, text)
        if kind == "long":
            status.get_by_text(f"The field takes {most:,} characters").wait_for()
        page.keyboard.press("Enter")
        status.get_by_text("nearest to your question").wait_for()
        assert page.locator(".ask-found li").count() == 5
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), kind
    assert not page.wrong
