"""What a reader is asked to predict waits for her guess, and for nobody else's; then the page says
whether it came out.
"""

import re

import axe
import pytest
from sitemap import ROOT

pytestmark = pytest.mark.browser
CHAPTER = "notebooks/02_self_attention.html"
CHAPTERS = sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"))
ASKED = re.compile(r"<p(?: data-[^>]*)?><strong>Predict\.</strong>")


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
    told = "Your guess: about <b>half</b>. What comes out: about 0.95 of it."
    assert form.inner_text() == told
    assert not answer.evaluate("(node) => node.open")  # first the numbers, then the reason
    assert 0 < page.locator(".guess-cover").count() < covered  # other questions still wait
    assert page.evaluate("document.activeElement.classList.contains('cell_output')")

    left = page.locator(".guess-cover").count()
    page.reload()
    page.locator(".guess-all").wait_for()
    assert page.locator("form.guess").first.inner_text() == told
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
    assert offers.all_inner_texts() == ["about half of it", "about 0.95 of it", "all of it"]
    offers.nth(1).click()
    assert seen(kept)
    assert form.inner_text() == "Your guess: about 0.95 of it. That is what comes out."


def guess(page, words, number=0):
    """Type a guess at a question, in one's own words."""
    field = page.locator("form.guess").nth(number).locator("input")
    field.fill(words)
    field.press("Enter")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("all of it", "Your guess: all of it. What comes out: about 0.95 of it."),
        ("About 0.95 of it", "Your guess: About 0.95 of it. That is what comes out."),
        ("0.95", "Your guess: 0.95. What comes out: about 0.95 of it."),
    ],
)
def test_the_page_says_what_comes_out_and_says_it_again(opened, words, told):
    page = opened()
    says = page.locator("form.guess").first.get_by_role("status")
    assert says.text_content() == ""  # it is there before it speaks: a screen reader listens
    guess(page, words)
    assert says.text_content() == told
    page.reload()
    page.locator(".guess-all").wait_for()
    assert says.text_content() == told


def test_where_no_offer_is_right_the_page_repeats_the_guess(opened):
    page = opened("notebooks/12_bert.html")
    doubtful = "p[data-offers]:not([data-right]) + form.guess"
    form = page.locator(doubtful).first
    form.locator(".guess-offer", has_text="half").click()
    assert form.inner_text() == "Your guess: half"
    assert page.locator(".guess-score").is_hidden()


def test_the_card_at_the_foot_counts_what_came_out(opened):
    page = opened()
    score = page.locator(".end-card .guess-score")
    assert score.is_hidden()
    guess(page, "1 %")  # no verdict on one's own words
    assert score.is_hidden()
    guess(page, "0.88", 1)
    assert score.inner_text() == "Predicted: 1 of 1 right."
    guess(page, "about 8 times", 2)
    assert score.inner_text() == "Predicted: 1 of 2 right."
    page.reload()
    score.wait_for()
    assert score.inner_text() == "Predicted: 1 of 2 right."


def test_axe_finds_nothing_before_and_after_a_guess(opened):
    page = opened(CHAPTER, 390, 844)
    guess(page, "all")
    guess(page, "0.88", 1)
    for place in ("form.guess", ".guess-score"):
        assert axe.by_day_and_night(page, place) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


TALLEST = 8 * 16 + 1  # pixels


@pytest.mark.parametrize("chapter", ["01_bottleneck", "02_self_attention", "16c_trees"])
@pytest.mark.parametrize("width", [390, 1280])
def test_what_waits_takes_little_room(opened, chapter, width):
    page = opened(f"notebooks/{chapter}.html", width, 800)
    heights = "[...document.querySelectorAll('.guess-waits')].map((e) => e.offsetHeight)"
    waiting = page.locator(".guess-waits").element_handles()
    assert max(page.evaluate(heights)) <= TALLEST
    page.emulate_media(media="print")
    on_paper = page.evaluate(heights)
    assert max(on_paper) > 2 * TALLEST
    page.emulate_media(media="screen")
    page.locator(".guess-all").click()
    assert max(each.evaluate("(e) => e.offsetHeight") for each in waiting) > 2 * TALLEST


def top(element) -> float:
    """How far below the edge of the screen something begins."""
    return element.evaluate("(e) => e.getBoundingClientRect().top")


def after_a_while(page) -> None:
    """Once the browser has laid the page out again, and moved it as it likes."""
    page.evaluate("new Promise((done) => setTimeout(done, 200))")


def scrolled(page, element, below=150) -> float:
    """Scroll until an element is so far below the screen's edge, clear of the page's head."""
    element.evaluate(
        "(e, below) => scrollBy({ top: e.getBoundingClientRect().top - below, behavior: 'instant' })",
        below,
    )
    return top(element)


@pytest.fixture
def waiting(opened):
    """The first question whose conclusion waits too: the page, the question, its form, and that
    paragraph.
    """
    page = opened(CHAPTER, 1280, 1200)
    conclusion = page.locator("p.guess-waits").first.element_handle()
    form = conclusion.evaluate_handle(
        "(e) => { while (!e.matches('form.guess')) e = e.previousElementSibling; return e; }"
    )
    question = form.evaluate_handle("(e) => e.previousElementSibling")
    return page, question, form, conclusion


@pytest.mark.parametrize(
    ("pressed", "selector"),
    [
        ("form", ".guess-offer"),
        ("form", "input + button"),
        ("conclusion", ".guess-cover"),
        ("answer", "summary"),
    ],
)
def test_the_question_stays_where_it_is(waiting, pressed, selector):
    page, question, form, conclusion = waiting
    answer = form.evaluate_handle("(e) => e.nextElementSibling")
    before = scrolled(page, question)
    height = conclusion.evaluate("(e) => document.documentElement.scrollHeight")
    place = {"form": form, "conclusion": conclusion, "answer": answer}[pressed]
    place.query_selector(selector).click()
    after_a_while(page)
    assert conclusion.evaluate("(e) => document.documentElement.scrollHeight") > height + 50
    assert abs(top(question) - before) <= 2


def test_what_is_pressed_below_its_question_stays_there(waiting):
    """A reader who has scrolled past the question."""
    page, question, _, conclusion = waiting
    before = scrolled(page, conclusion, 110)
    assert top(question) < 0
    conclusion.query_selector(".guess-cover").click()
    after_a_while(page)
    assert abs(top(conclusion) - before) <= 2


def test_an_address_within_the_page_leads_there(opened):
    page = opened(f"{CHAPTER}#exercises")
    after_a_while(page)
    assert -5 <= top(page.locator("#exercises > h2")) < 200


# How many questions of a chapter offer what can be pressed, and one of them.
OFFERS = {
    "02_self_attention": (5, ["none", "word 3 only", "all"]),
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

    page.locator(".guess-all").click()  # the way back, on every page
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


@pytest.mark.browser
def test_a_question_its_guess_and_its_answer_are_one_card_and_an_answer_alone_is_one(live):
    corners = "e => getComputedStyle(e).borderTopRightRadius"
    page = live(path="notebooks/02_self_attention.html")
    joined = page.locator("form.guess + details:not([class])")
    assert joined.count() > 3
    assert {one.evaluate(corners) for one in joined.all()} == {"0px"}
    alone = page.locator("ol + details:not([class])")
    assert {one.evaluate(corners) for one in alone.all()} == {"6px"}
