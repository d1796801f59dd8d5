"""Every live figure by finger on a phone, and every one that takes text by keyboard alone: it is
written into, started, and a part of its answer answers again. Dials turn by the arrow keys.
"""

import json
from dataclasses import dataclass

import pytest
from live_page import AT_REST, PAGE_OF, YOUR_OWN, box_of, said

pytestmark = pytest.mark.browser
MOTION, THROUGH = "book/motion.html", "book/through.html"
KEYS = 120  # presses of Tab at the most, on a page with one figure


@dataclass
class Hand:
    """A figure as one uses it.

    text: what is written into its first field.  part: of the answer, the first that one reaches by
    Tab (`keys`: what leads there).  then: what it answers to.  touched: what a finger touches
    there, if that is another.  starts: the key that starts.
    """

    path: str = ""  # of the figure on "Type your own"
    text: str | None = None
    part: str | None = None
    keys: str = "Tab"
    then: str = "Enter"
    touched: str = ""
    starts: str = "Enter"
    at: float = 0.77  # of a slider's width is touched: where it does not stand already


SENTENCE = "Ein Hund schläft."
SLIDER = {"part": "input[type=range]", "then": "ArrowLeft"}
HANDS = {
    "translator": Hand(text=SENTENCE, part=".lv-tokens button:not([aria-pressed=true])"),
    "beams": Hand(
        text="three, seventeen", part="[type=range][value='1']", then="ArrowLeft", at=0.2
    ),
    "writer": Hand(text="ROMEO:\n", part=".lv-candidates button", starts="Control+Enter"),
    "dates": Hand(
        text="5 may 1821", **SLIDER, touched=".lv-writing .lv-triangle li:nth-child(3) button"
    ),
    "remembering": Hand(text="5 may 1821", **SLIDER, touched=".lv-recall button"),
    "pieces": Hand(text="the keys", part=".lv-tokens button"),
    "filler": Hand(text="The [MASK] barks.", part=".lv-candidates button"),
    "agreement": Hand(text="The keys ___ here."),
    "hiding": Hand(text="The dog barks at the cat.", part="input[type=range]", then="ArrowRight"),
    "sentiment": Hand(text="What a film!"),
    "similarity": Hand(text="A man plays a guitar."),
    "entities": Hand(text="Met Emma Watson at Heathrow"),
    "answers": Hand(text="Greta keeps the lighthouse.", starts="Control+Enter"),
    "reader": Hand(text="The dog barks.", part=".lv-looking button:not([aria-pressed=true])"),
    "senses": Hand(text="The bank is closed.", part=".lv-tokens button:not([aria-pressed=true])"),
    "probes": Hand(text="They watch it.", part="[type=checkbox]", then="Space"),
    "nearness": Hand(text="A dog.\nA cat.", part=".lv-scroll", then="", starts="Control+Enter"),
    "sentence_map": Hand(text="A cow eats grass.", part=".lv-typed button"),
    "digits": Hand(touched=".lv-examples button:nth-child(2)"),
    "gate": Hand(MOTION, **SLIDER),
    "stream": Hand(MOTION, **SLIDER),
    "smoothing": Hand(MOTION, **SLIDER),
    "filling": Hand(MOTION, text="a b c", part="input[type=range]", then="ArrowRight", starts=""),
    "dice": Hand(MOTION, text="The dog barks.", touched=".lv-row button:nth-child(2)"),
    "examining": Hand(MOTION, **SLIDER),
    "mixing": Hand(MOTION, **SLIDER, touched=".lv-occurrences [aria-pressed=false]"),
    "linking": Hand(MOTION, **SLIDER, touched=".lv-links g"),
    "pulling": Hand(MOTION, **SLIDER),
    "through": Hand(THROUGH, text=SENTENCE, part=".lv-view [data-place]"),
    "at_work": Hand(
        THROUGH,
        text=SENTENCE,
        part=".lv-lanes [tabindex='0']",
        keys="Shift+Tab",
        touched=".lv-vector",
    ),
}
TEXTS = [name for name, hand in HANDS.items() if hand.text]
DIALS = ["gate", "stream", "smoothing", "filling", "examining", "mixing", "pulling"]


def opened(live, name, **options):
    """The figure, alone on its page where that has several."""
    hand = HANDS[name]
    page = live(
        path=hand.path,
        only="" if hand.path == THROUGH else name,
        reduced_motion="reduce",
        **options,
    )
    return box_of(page, name)


def rest(box, name):
    """Until it has answered; the writer is stopped."""
    if name == "writer":
        box.page.wait_for_function("document.querySelector('.lv-play').value.length > 20")
        return
    box.page.wait_for_function(AT_REST, arg=box.element_handle())
    assert "did not work" not in said(box) and "first" not in said(box), said(box)


def look(box) -> str:
    """All that can be seen of it, as text: also what is pressed, or where a slider stands."""
    return box.evaluate(
        """(box) => box.outerHTML + [...box.querySelectorAll("input, textarea")].map(
          (one) => [one.value, one.checked]).join()"""
    )


def wait_for_change(box, before: str) -> None:
    box.page.wait_for_function(
        """([box, before]) => before !== box.outerHTML + [...box.querySelectorAll("input, textarea")].map(
          (one) => [one.value, one.checked]).join()""",
        arg=[box.element_handle(), before],
    )


@pytest.mark.parametrize("path", [*YOUR_OWN, MOTION, THROUGH])
def test_no_figure_is_forgotten(live, path):
    page = live(path=path)
    told = page.locator(".live").evaluate_all("all => all.map((one) => one.dataset.live)")
    names = [json.loads(one)["figure"] for one in told]
    expected = (name for name, hand in HANDS.items() if (hand.path or PAGE_OF[name]) == path)
    assert sorted(names) == sorted(expected)
    fields = ".live :is(textarea, input[type=text])"
    with_fields = page.locator(fields).evaluate_all(
        "all => all.map((one) => JSON.parse(one.closest('.live').dataset.live).figure)"
    )
    assert set(with_fields) == set(names) & set(TEXTS)


@pytest.mark.parametrize("name", HANDS)
def test_by_finger(live, name):
    hand = HANDS[name]
    box = opened(live, name, width=390, has_touch=True, is_mobile=True)
    page = box.page
    if hand.text:
        field = box.locator("textarea, input[type=text]").first
        field.tap()
        assert field.evaluate("field => field === document.activeElement")
        field.press("Control+A")
        page.keyboard.insert_text(hand.text)
        if hand.starts:
            box.locator(".lv-go").tap()
            rest(box, name)
        if name == "writer":
            box.get_by_role("button", name="Stop").tap()
            box.locator(hand.part).first.wait_for()
    touched = hand.touched or hand.part
    if touched and touched != ".lv-scroll":
        before, part = look(box), box.locator(touched).first
        if part.get_attribute("type") == "range":
            size = part.bounding_box()
            part.tap(position={"x": hand.at * size["width"], "y": size["height"] / 2})
        else:
            part.tap()
        wait_for_change(box, before)
    elif not hand.part:  # an answer in words only
        before = look(box)
        box.locator(".lv-examples button").last.tap()
        wait_for_change(box, before)
        rest(box, name)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def reach(page, box, part: str, key: str) -> None:
    """Press Tab until the focus is on such a part; one must see that it is there."""
    here = """([box, part]) => box.contains(document.activeElement) && document.activeElement.matches(part)"""
    for _ in range(KEYS):
        page.keyboard.press(key)
        if page.evaluate(here, [box.element_handle(), part]):
            break
    else:
        pytest.fail(f"{key} does not lead to {part}")
    assert page.evaluate(SEEN), "the focus is seen"


# Whether what has the focus, or a part of it, looks otherwise than without.
SEEN = """() => {
  const focused = document.activeElement;
  const look = () => [focused, ...focused.querySelectorAll("*")].map((one) => {
    const { outlineStyle, outlineWidth, stroke, strokeWidth } = getComputedStyle(one);
    return [outlineStyle !== "none" && outlineWidth, stroke, strokeWidth].join();
  }).join();
  const now = look();
  focused.blur();
  const without = look();
  focused.focus();
  return now !== without;
}"""


@pytest.mark.parametrize("name", TEXTS)
def test_by_keyboard(live, name):
    hand = HANDS[name]
    box = opened(live, name)
    page = box.page
    field = box.locator("textarea, input[type=text]").first
    field.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type(hand.text)
    assert field.input_value() == hand.text
    if hand.starts:
        page.keyboard.press(hand.starts)
        rest(box, name)
    if name == "writer":
        reach(page, box, "button:not(.lv-go)", "Tab")
        page.keyboard.press("Enter")
        box.locator(hand.part).first.wait_for()
    if not hand.part:  # the answer is words
        return
    reach(page, box, hand.part, hand.keys)
    before = look(box)
    if hand.then:
        page.keyboard.press(hand.then)
        wait_for_change(box, before)


@pytest.mark.parametrize("name", ["senses", "probes", "reader", "dates", "agreement"])
def test_enter_starts_from_the_last_field_too(live, name):
    box = opened(live, name)
    page = box.page
    field = box.locator("textarea, input[type=text]").last
    field.focus()
    before = field.input_value()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    rest(box, name)
    assert field.input_value() == before


def test_a_composition_is_ended_by_enter_and_nothing_starts(live):
    box = opened(live, "reader")
    box.locator("textarea").first.evaluate(
        "field => field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, cancelable: true }))"
    )
    assert "Fetching" not in said(box)


@pytest.mark.parametrize("name", DIALS)
def test_dials_turn_by_the_arrow_keys(live, name):
    box = opened(live, name)
    page = box.page
    sliders = box.locator("input[type=range]").all()
    assert sliders
    for slider in sliders:
        for keys in (("ArrowRight", "ArrowLeft"), ("ArrowLeft", "ArrowRight")):
            slider.focus()
            told, before = slider.get_attribute("aria-valuetext"), look(box)
            page.keyboard.press(keys[0])
            if slider.get_attribute("aria-valuetext") != told:
                break  # the first key finds it at its end
        assert slider.get_attribute("aria-valuetext") != told, "it says where it stands"
        assert look(box) != before
        assert slider.evaluate("one => one === document.activeElement")
        page.keyboard.press(keys[1])
        assert slider.get_attribute("aria-valuetext") == told


@pytest.mark.parametrize("width", [1000, 390])
def test_the_welcome_pages_picture_by_finger_and_by_keyboard(tab, address, width):
    page = tab(width, 844, has_touch=True, is_mobile=width == 390)
    page.goto(f"{address}book/welcome.html")
    picture = page.locator(".welcome")
    field = picture.get_by_label("Your own sentence")
    if width == 390:
        field.tap()
        page.keyboard.insert_text("the dog is here")
        picture.locator(".welcome-own button").tap()
    else:
        field.focus()
        page.keyboard.type("the dog is here")
        page.keyboard.press("Enter")
    picture.get_by_text("The model is here").wait_for()
    word = picture.get_by_role("button", name="dog", exact=True)
    if width == 390:
        word.tap()
    else:
        for _ in range(20):
            page.keyboard.press("Shift+Tab")
            if word.evaluate("word => word === document.activeElement"):
                break
        page.keyboard.press("Enter")
    picture.locator("text.asks", has_text="dog").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not page.wrong


def test_ask_by_finger(tab, address):
    page = tab(390, 844, has_touch=True, is_mobile=True)
    page.goto(f"{address}book/ask.html")
    page.get_by_label("Your question").tap()
    page.keyboard.insert_text("what is a head?")
    page.get_by_role("button", name="Ask", exact=True).tap()
    page.get_by_text("nearest to your question").wait_for()
    page.get_by_role("button", name="More like this").first.tap()
    assert page.locator(".ask-found h2").inner_text().startswith("Sections like")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not page.wrong


def test_ask_by_keyboard(tab, address):
    page = tab()
    page.goto(f"{address}book/ask.html")
    page.get_by_label("Your question").focus()
    page.keyboard.type("what is a head?")
    page.keyboard.press("Enter")
    page.get_by_text("nearest to your question").wait_for()
    for _ in range(KEYS):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.ask-found li a')"):
            break
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.locator(".ask-found h2").inner_text().startswith("Sections like")
    assert not page.wrong
