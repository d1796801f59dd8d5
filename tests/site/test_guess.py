"""What a reader is asked to predict waits for her guess, and for nobody else's."""

import re

import pytest
from sitemap import ROOT

pytestmark = pytest.mark.browser
CHAPTER = "notebooks/02_self_attention.html"
CHAPTERS = sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"))
ASKED = re.compile(r"<p><strong>Predict\.</strong>")


@pytest.fixture
def opened(tab, address):
    """A function that opens a page as one who has never been here; script errors fail the test."""
    pages = []

    def open_it(path=CHAPTER, *size, **options):
        page = tab(*size, guessing=True, **options)
        pages.append(page)
        page.goto(address + path)
        return page

    yield open_it
    for page in pages:
        assert not page.wrong


def first(page):
    """The first question's form, what it covers first, and its answer."""
    output = page.locator(".cell_output:has(> .guess-cover)").first
    return page.locator("form.guess").first, output, page.locator("form.guess + details").first


def seen(output) -> bool:
    """Whether the reader sees what the cell printed."""
    return (
        output.evaluate("(node) => getComputedStyle(node.firstElementChild).visibility")
        == "visible"
    )


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_question_has_a_place_for_a_guess(html, opened, chapter):
    text = (html / "notebooks" / f"{chapter}.html").read_text(encoding="utf-8")
    page = opened(f"notebooks/{chapter}.html")
    assert page.locator("form.guess").count() == len(ASKED.findall(text)) >= 4
    assert page.locator(".guess-cover").count() >= 3


def test_what_comes_out_is_shown_after_a_guess(opened):
    page = opened()
    form, output, answer = first(page)
    kept = output.element_handle()
    assert not seen(kept)
    covered = page.locator(".guess-cover").count()

    form.locator("input").fill("about <b>half</b>")
    form.locator("input").press("Enter")

    assert seen(kept)
    assert form.inner_text() == "Your guess: about <b>half</b>"
    assert not answer.evaluate("(node) => node.open")  # first the numbers, then the reason
    assert 0 < page.locator(".guess-cover").count() < covered  # other questions still wait
    assert page.evaluate("document.activeElement.classList.contains('cell_output')")

    left = page.locator(".guess-cover").count()
    page.reload()
    page.locator(".guess-all").wait_for()
    assert page.locator("form.guess").first.inner_text() == "Your guess: about <b>half</b>"
    assert page.locator(".guess-cover").count() == left


def test_the_paragraph_that_says_what_came_out_waits_too(opened):
    page = opened()
    about = page.locator("p.guess-waits").first.element_handle()
    words = about.text_content().removesuffix("Then what it means").strip()
    assert words and page.evaluate("(p) => getComputedStyle(p).visibility", about) == "hidden"
    assert not page.locator("p.guess-waits", has_text="Predict.").count()
    about.query_selector(".guess-cover").click()
    assert page.evaluate("(p) => getComputedStyle(p).visibility", about) == "visible"
    page.emulate_media(media="print")
    hidden = "[...document.querySelectorAll('p')].filter((p) => getComputedStyle(p).visibility == 'hidden').length"
    assert page.evaluate(hidden) == 0


def test_what_a_question_offers_can_be_pressed(opened):
    page = opened()
    form, output, _ = first(page)
    kept = output.element_handle()
    offers = form.locator(".guess-offer")
    assert offers.all_inner_texts() == ["about half of it", "about 0.95 of it", "all"]
    offers.nth(1).click()
    assert seen(kept) and form.inner_text() == "Your guess: about 0.95 of it"


# How many questions of a chapter offer what can be pressed, and one of them.
OFFERS = {
    "02_self_attention": (5, ["none", "that of word 3", "all"]),
    "08_training": (2, ["about 10 %", "about 25 %", "more than 40 %"]),
    "13b_how_sure": (5, ["640", "about 1,600", "about 5,000"]),
}


@pytest.mark.parametrize("chapter", OFFERS)
def test_only_what_is_offered_becomes_a_button(opened, chapter):
    page = opened(f"notebooks/{chapter}.html")
    forms = page.locator("form.guess:has(.guess-offer)").all()
    offers = [form.locator(".guess-offer").all_inner_texts() for form in forms]
    least, one = OFFERS[chapter]
    assert len(offers) >= least and one in offers
    assert all(2 <= len(offer) <= 5 for offer in offers)
    assert not [word for offer in offers for word in offer if len(word) > 48 or "?" in word]


@pytest.mark.parametrize("way", ["cover", "answer", "button"])
def test_nobody_must_guess(opened, way):
    page = opened()
    form, output, answer = first(page)
    kept = output.element_handle()
    {
        "cover": output.locator(".guess-cover"),
        "answer": answer.locator("summary"),
        "button": form.get_by_role("button", name="Show"),
    }[way].click()
    page.wait_for_function("(node) => !node.querySelector('.guess-cover')", arg=kept)
    assert seen(kept) and form.is_hidden()


def test_one_who_only_reads_says_so_once(opened):
    page = opened()
    page.locator(".guess-all").click()
    assert page.locator(".guess-cover").count() == 0
    page.goto(page.url.replace("02_self_attention", "03_multi_head_attention"))
    page.locator(".guess-all").wait_for(state="attached")
    assert page.locator(".guess-cover").count() == 0
    assert not any(form.is_visible() for form in page.locator("form.guess").all())

    page.locator("details:has(.guess-all) > summary").click()  # the way back
    page.locator(".guess-all").click()
    assert page.locator(".guess-cover").count() > 0


def test_paper_and_pages_without_scripts_show_it(opened):
    page = opened()
    _, output, _ = first(page)
    page.emulate_media(media="print")
    assert seen(output)
    plain = opened(java_script_enabled=False)
    assert plain.locator("form.guess").count() == 0
    assert seen(plain.locator(".cell_output").first)


def test_a_phone_has_room_and_fingers(opened):
    page = opened(CHAPTER, 390, 800)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for control in page.locator("form.guess :is(input, button), .guess-all").all()[:6]:
        assert control.bounding_box()["height"] >= 24
