"""A date, letter by letter: the page's numbers are the library's, what the mask hides cannot change a
row, and the figure answers to mouse, finger and keys.
"""

import datetime
import random

import axe
import pytest
import torch
from live_page import PAGE_OF, figure, file_name, press

from lectures_lib import decoding, stored
from lectures_lib.data import dates

pytestmark = pytest.mark.browser
TITLE = "A date, letter by letter"
LENGTH = 11
TOLERANCE = 1e-4  # the same single-precision numbers, summed in another order
FIRST, ANSWER = "june 12, 2017", "2017-06-12"


@torch.no_grad()
def taught(text, given, steps=150):
    """The shares of all letters behind each of the given ones."""
    source, lengths = dates.to_ids([text])
    return stored.dates(steps)(source, dates.to_ids([f">{given}"])[0], lengths)[0].softmax(dim=-1)


def written(text, steps=150, forced=""):
    """What is written behind letters that somebody chose."""
    model, (source, lengths) = stored.dates(steps), dates.to_ids([text])
    line = forced
    with torch.no_grad():
        while len(line) < LENGTH and not line.endswith("."):
            scores = model(source, dates.to_ids([f">{line}"])[0], lengths)[0, -1]
            line += dates.ALPHABET[int(scores.argmax())]
    return line


@pytest.fixture
def box(live):
    """The figure on a phone; what is there at the end fits it, and a wide page too."""
    page = live(390, has_touch=True, is_mobile=True, only="dates")
    yield figure(page, TITLE)
    for width in (390, 1000):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.fixture(params=[(1000, False), (390, True)], ids=["mouse", "finger"])
def either(live, request):
    """The figure where one points by mouse, and where by finger."""
    width, touch = request.param
    page = live(width, has_touch=touch, is_mobile=touch, only="dates")
    yield figure(page, TITLE)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def ask(box, text, answer=None, steps=None):
    """Let a model read this."""
    if steps:
        box.get_by_label("The model after").select_option(f"{steps:,} steps")
    box.get_by_label("Your date").fill(text)
    if answer is not None:
        box.get_by_label("The right answer").fill(answer)
    press(box.get_by_role("button", name="Let it read"))
    box.locator(".lv-source code").get_by_text(text.lower(), exact=True).wait_for()
    rest(box)


def rest(box):
    box.page.wait_for_function(
        "box => !/Fetching|Starting|Computing|when you first/.test("
        "box.querySelector('[role=status]').textContent)",
        arg=box.element_handle(),
    )


def rows(box, side):
    return box.locator(f".lv-half.lv-{side} .lv-triangle button")


def go(box, step):
    box.get_by_role("slider", name="Step").fill(str(step))


def losses(box):
    return [
        float(one)
        for one in rows(box, "training").locator("small:nth-of-type(1)").all_text_contents()
    ]


def wrote(box):
    return "".join(rows(box, "writing").locator(".lv-says").all_text_contents()).replace("␣", " ")


@pytest.mark.parametrize("steps", stored.DATES)
def test_both_ways_of_reading_are_the_librarys(computing, steps):
    """All at once and one by one, on random letters; and greedily, on random days."""
    model, generator = stored.dates(steps), torch.Generator().manual_seed(0)
    for n in (1, 7, 32):
        source = torch.randint(3, 42, (1, n), generator=generator)
        target = torch.randint(3, 42, (1, LENGTH), generator=generator)
        target[0, 0] = dates.BEGIN
        with torch.no_grad():
            expected = model(source, target)[0]
        found = computing.evaluate(
            """async ([steps, source, target]) => {
              const model = await live.load("Transformer", `dates_${steps}`), state = model.start(source);
              const rows = [model.read(target, model.start(source)), target.map((id) => model.step(id, state).scores)];
              return rows.map((some) => some.map((row) => Array.from(row)));
            }""",
            [steps, source[0].tolist(), target[0].tolist()],
        )
        for one in found:
            assert torch.allclose(torch.tensor(one), expected, rtol=0, atol=TOLERANCE)


def test_what_is_right_is_what_the_library_holds(computing):
    rng, first = random.Random(0), datetime.date(1000, 1, 1)
    days = [first + datetime.timedelta(rng.randrange(700_000)) for _ in range(200)]
    days += [datetime.date(2024, 2, 29)]
    texts = [text for day in days for text in dates.spellings(day)]
    none = [
        "31 february 1950",
        "29 february 2023",
        "0 may 1999",
        "july 20 1969",
        "20 jul 1969",
        "",
        "x",
    ]
    found = computing.evaluate(
        "async (texts) => { const { iso } = await import('/live/days.js'); return texts.map(iso); }",
        texts + none,
    )
    assert found == [day.isoformat() for day in days for _ in range(2)] + [""] * len(none)


def test_a_first_date_stands_there_before_a_model_is_fetched(box):
    expected = taught(FIRST, ANSWER)
    right = [dates.ALPHABET.index(letter) for letter in f"{ANSWER}."]
    assert losses(box) == pytest.approx(
        [-float(row[i].log()) for row, i in zip(expected, right, strict=True)], abs=0.0051
    )
    go(box, 11)
    assert wrote(box) == written(FIRST) != f"{ANSWER}."
    assert not [url for url in box.page.asked if "/models/" in url or "worker" in url]
    ask(box, FIRST)
    asked = [file_name(url) for url in box.page.asked if "/models/" in url]
    assert asked == ["dates_150.safetensors"]
    assert wrote(box) == written(FIRST)


def test_training_is_one_pass_and_writing_is_many(either):
    box = either
    done = {side: rows(box, side).locator(".lv-says:visible") for side in ("training", "writing")}
    for step, counts in ((0, (0, 0)), (1, (11, 1)), (5, (11, 5)), (11, (11, 11))):
        go(box, step)
        assert tuple(one.count() for one in done.values()) == counts
        assert f"{min(step, 1)} of 1 pass" in box.locator(".lv-training .lv-pass").inner_text()
        assert f"{step} of 11 passes" in box.locator(".lv-writing .lv-pass").inner_text()
    hidden = rows(box, "training").locator(".lv-hidden")
    assert hidden.count() == 10 * 11 / 2
    assert rows(box, "training").nth(3).locator(".lv-hidden").count() == 7


@pytest.mark.parametrize(("at", "letter"), [(0, "1"), (4, "7"), (8, "2"), (9, "-")])
def test_a_spoilt_letter_changes_only_what_sees_it(box, at, letter):
    before = losses(box)
    press(rows(box, "training").nth(at + 1))
    press(box.get_by_role("button", name=f"give {letter}"))
    box.locator(".lv-training .lv-spoilt").first.wait_for()
    given = ANSWER[:at] + letter + ANSWER[at + 1 :]
    expected = taught(FIRST, given)
    right = [dates.ALPHABET.index(one) for one in f"{ANSWER}."]
    after = losses(box)
    assert after[: at + 1] == before[: at + 1]
    assert after == pytest.approx(
        [-float(row[i].log()) for row, i in zip(expected, right, strict=True)], abs=0.0051
    )
    assert after[at + 1 :] != before[at + 1 :]
    signs = rows(box, "training").locator("small:nth-of-type(2)").all_text_contents()
    assert [sign == "=" for sign in signs] == [i <= at for i in range(LENGTH)]
    said = box.locator(".lv-foot.lv-training .lv-about").inner_text()
    assert "cannot see what you spoilt: every number is the same as before" in said
    assert rows(box, "training").locator(".lv-spoilt").count() == LENGTH - 1 - at
    press(box.get_by_role("button", name="which is right"))
    box.locator(".lv-training .lv-spoilt").first.wait_for(state="detached")
    assert losses(box) == before


def test_a_button_means_what_is_shown_and_not_what_is_typed_meanwhile(box):
    press(rows(box, "training").nth(4))
    box.get_by_label("Your date").fill("tomorrow")
    press(box.get_by_role("button", name="give 9"))
    box.locator(".lv-training .lv-spoilt").first.wait_for()
    assert box.locator(".lv-source code").inner_text() == FIRST


def test_writing_goes_on_from_the_readers_letter(either):
    box = either
    go(box, 9)
    candidates = box.locator(".lv-foot .lv-candidates button")
    letter = candidates.nth(1).locator("span").inner_text()
    candidates.nth(1).focus()
    box.page.keyboard.press("Enter")
    box.locator(".lv-forced").wait_for()
    own = written(FIRST)
    expected = written(FIRST, forced=own[:8] + letter)
    go(box, 11)
    assert wrote(box) == expected and expected[8] == letter != own[8]
    go(box, 9)
    assert candidates.nth(1).get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("5 may 1821", "1821-05-05"),
        ("July 4, 1976", "1976-07-04"),
        ("31 february 1950", ""),
        ("yes", ""),
    ],
)
def test_own_dates_are_read_by_the_longer_trained_model(box, text, answer):
    ask(box, text, steps=6000)
    assert box.get_by_label("The right answer").input_value() == answer
    go(box, 11)
    source, lengths = dates.to_ids([text.lower()])
    found = decoding.greedy(
        stored.dates(6000), source, lengths, begin=dates.BEGIN, end=dates.END, max_len=LENGTH
    )
    assert wrote(box).rstrip(".") == dates.to_text(found.sentences()[0])
    assert rows(box, "training").count() == (LENGTH if answer else 0)
    if not answer:
        assert "type the right answer" in box.get_by_role("status").inner_text()
        ask(box, text, answer="1950-03")
        right = [dates.ALPHABET.index(one) for one in "1950-03."]
        expected = taught(text.lower(), "1950-03", 6000)
        assert losses(box) == pytest.approx(
            [-float(row[i].log()) for row, i in zip(expected, right, strict=True)], abs=0.01
        )


UNREAD = [
    (" ", None, "Type a date first."),
    ("ein Hund " * 222, None, "places for 32"),
    ("😀 may 1999", None, "alphabet has no “😀”"),
    ("שלום עולם", None, "alphabet has no “ש”"),
    ("7/4/1976", None, "alphabet has no “/”"),
    ("a.", None, "alphabet has no “.”"),
    (FIRST, "٢٠١٧", "alphabet has no “٢”"),
]


def test_what_cannot_be_read_is_said(box):
    status = box.get_by_role("status")
    for text, answer, said in UNREAD:
        box.get_by_label("Your date").fill(text)
        if answer:
            box.get_by_label("The right answer").fill(answer)
        assert said not in status.inner_text(), "it is not what was said before"
        press(box.get_by_role("button", name="Let it read"))
        assert said in status.inner_text(), text
        assert rows(box, "training").count() == LENGTH
        assert box.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), text
    assert not [url for url in box.page.asked if "/models/" in url]


def test_a_failed_download_is_said_and_can_be_tried_again(box):
    context = box.page.context
    context.route("**/models/**", lambda route: route.fulfill(status=503))
    press(box.get_by_role("button", name="Let it read"))
    box.get_by_text("could not be fetched (503)").wait_for()
    context.unroute("**/models/**")
    ask(box, "july 20, 1969")
    assert wrote(box) == written("july 20, 1969")


def test_it_plays_pauses_and_answers_to_keys(either):
    box = either
    page, step = box.page, box.get_by_role("slider", name="Step")
    press(box.get_by_role("button", name="From the start"))
    press(box.get_by_role("button", name="Play"))
    page.wait_for_function("input => Number(input.value) >= 2", arg=step.element_handle())
    press(box.get_by_role("button", name="Pause"))
    at = int(step.input_value())
    page.wait_for_timeout(1000)
    assert int(step.input_value()) == at
    press(box.get_by_role("button", name="One step"))
    assert int(step.input_value()) == at + 1
    rows(box, "training").nth(at).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert int(step.input_value()) == at + 2
    pressed = box.locator(".lv-triangle [aria-pressed=true]")
    assert pressed.count() == 2
    assert pressed.first.evaluate("one => one === document.activeElement")
    assert box.locator('.lv-triangle [tabindex="0"]').count() == 2


def test_who_asked_for_less_motion_gets_none(live):
    box = figure(live(reduced_motion="reduce", only="dates"), TITLE)
    go(box, 1)
    names = box.locator(".lv-new b").evaluate_all(
        "all => all.map((b) => getComputedStyle(b).animationName)"
    )
    assert len(names) > LENGTH and set(names) == {"none"}


def test_axe_finds_nothing(live):
    page = live(only="dates")
    box = figure(page, TITLE)
    for step in (0, 1, 5, 11):
        go(box, step)
    press(rows(box, "training").nth(4))
    press(box.get_by_role("button", name="give 4"))
    box.locator(".lv-training .lv-spoilt").first.wait_for()
    press(box.locator(".lv-foot .lv-candidates button").nth(1))
    box.locator(".lv-forced").wait_for()
    assert axe.by_day_and_night(page, ".live") == []


def test_without_scripts_the_first_date_stands_there(live):
    page = live(path=PAGE_OF["dates"], java_script_enabled=False)
    assert "june 12, 2017, in training, all at once" in page.inner_text("main")
