"""The card at a chapter's foot, as its reader meets it: with a keyboard, without scripts, on paper."""

import re
from itertools import pairwise
from pathlib import Path

import axe
import lxml.html
import pytest
import yaml
from sitemap import ANIMATED, ROOT

QUIZZES = ROOT / "book" / "quizzes"
FILES = {file.stem: file for file in QUIZZES.glob("**/*.yml")}
CHAPTERS = sorted(
    path.stem
    for path in (ROOT / "notebooks").glob("[0-9]*.ipynb")
    if path.stem.split("_")[0] in FILES
)
REPOSITORY = yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]["url"]


def card_of(html, chapter: str) -> str:
    """The card's HTML."""
    text = (html / "notebooks" / f"{chapter}.html").read_text(encoding="utf-8")
    found = re.findall(r'<section id="check-yourself".*?</section>', text, re.DOTALL)
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_card_has_all_its_parts(html, chapter):
    card = card_of(html, chapter)
    quiz = yaml.safe_load(FILES[chapter.split("_")[0]].read_text(encoding="utf-8"))
    choices = sum(len(question["choices"]) for question in quiz)
    assert card.count('<details class="choice ') == choices
    assert card.count("<strong>Yes.</strong>") == len(quiz) == 3
    assert card.count("<strong>No.</strong>") == choices - 3
    can_do = card.split("<h3>Three questions")[0]
    assert 3 <= can_do.count("<li>") <= 8
    assert f'href="{REPOSITORY}/discussions"' in card
    assert ("Homework" in card) == (not chapter.startswith(("13b", "18")))
    assert len(card.encode()) < 12_000


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_card_leads_to_pages_that_exist(html, chapter):
    links = re.findall(
        r'href="(?!http|#)([^"#?]+)', card_of(html, chapter).split("Where to go on")[1]
    )
    assert links
    for link in links:
        assert (html / "notebooks" / link).resolve().exists(), link


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_contents_lead_to_the_card(html, chapter):
    text = (html / "notebooks" / f"{chapter}.html").read_text(encoding="utf-8")
    assert re.search(r'<a class="[^"]*nav-link" href="#check-yourself">Check yourself<', text)


def test_no_search_finds_a_wrong_choice(html):
    index = (html / "_static" / "search" / "index.js").read_text(encoding="utf-8")
    assert "check-yourself" not in index
    assert "decay does not pass through the gradient" not in index


@pytest.mark.browser
def test_choices_open_by_keyboard_and_without_scripts(tab, address):
    page = tab(java_script_enabled=False)
    page.goto(f"{address}notebooks/{CHAPTERS[0]}.html#check-yourself")
    first, second = (page.locator("details.choice > summary").nth(i) for i in range(2))
    first.focus()
    assert not page.locator("details.choice > p").first.is_visible()
    page.keyboard.press("Enter")
    assert page.locator("details.choice > p").first.is_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert page.locator("details.choice > p").nth(1).is_visible()
    assert page.locator("details.choice > p").first.is_visible(), "one can compare"
    assert second.evaluate("e => e === document.activeElement")


@pytest.mark.browser
def test_all_open_axe_finds_nothing_and_a_phone_is_wide_enough(tab, address):
    page = tab(390, 844)
    page.goto(f"{address}notebooks/{CHAPTERS[0]}.html")
    page.evaluate("document.querySelectorAll('details.choice').forEach(d => d.open = true)")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.wait_for_selector(f"html[data-theme={theme}]")
        page.evaluate(ANIMATED)
        assert axe.objections(page, ".end-card", theme) == [], theme
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.browser
def test_on_paper_every_choice_is_open(tab, address):
    page = tab()
    page.emulate_media(media="print")
    page.goto(f"{address}notebooks/{CHAPTERS[0]}.html")
    heights = page.evaluate(
        "[...document.querySelectorAll('details.choice > p')].map(p => p.getBoundingClientRect())"
        ".map(r => [r.top, r.bottom])"
    )
    assert all(bottom - top > 15 for top, bottom in heights)
    assert all(above[1] <= below[0] for above, below in pairwise(heights))


def test_a_card_names_all_questions_of_the_homework(html):
    assert "Homework 6: using BERT</a>, questions 2, 4 and 5" in card_of(
        html, "14b_words_and_spans"
    )
    assert "Homework 6: using BERT</a>, questions 1 and 3" in card_of(html, "14_fine_tuning")


def test_every_page_with_a_card_is_called_a_chapter(html):
    for chapter in CHAPTERS:
        assert "After this chapter you can" in (html / "notebooks" / f"{chapter}.html").read_text()


QUIZ = "notebooks/02_self_attention.html"


@pytest.fixture
def quiz(tab, address):
    """A function that opens a chapter's questions as one who has never been here; script errors fail
    the test.
    """
    pages = []

    def open_it(*size, **options):
        page = tab(*size, **options)
        pages.append(page)
        page.goto(address + QUIZ)
        page.locator(".quiz-says").wait_for(state="attached")
        return page

    yield open_it
    for page in pages:
        assert not page.wrong


def opened_choices(page):
    """The open choices: the number of the question, and the letter."""
    return page.evaluate(
        "[...document.querySelectorAll('.quiz > li')].flatMap((question, i) => "
        "[...question.querySelectorAll('details[open] b')].map((b) => `${i + 1}${b.textContent}`))"
    )


def choose(page, question, letter):
    place = page.locator(".quiz > li").nth(question - 1).locator("details.choice > summary")
    place.nth("ABCD".index(letter)).click()


@pytest.mark.browser
def test_the_first_choice_is_the_answer_and_is_there_the_next_time(quiz):
    page = quiz()
    assert page.locator(".quiz-says").is_hidden()
    choose(page, 1, "B")
    choose(page, 1, "A")  # to compare; A is right, and B stays the answer
    choose(page, 2, "C")
    told = "Answered: 2 of 3, 1 of them rightly at once. Kept in this browser."
    assert page.locator(".quiz-says [role=status]").inner_text() == told
    assert opened_choices(page) == ["1A", "1B", "2C"]

    page.reload()
    page.locator(".quiz-says").wait_for()
    assert opened_choices(page) == ["1B", "2C"]
    assert page.locator(".quiz-says [role=status]").inner_text() == told
    assert page.locator("summary:has(.quiz-mine) b").all_text_contents() == ["B", "C"]


@pytest.mark.browser
def test_one_can_begin_again(quiz):
    page = quiz()
    choose(page, 3, "C")
    choose(page, 3, "A")
    page.get_by_role("button", name="Begin again").click()
    assert opened_choices(page) == []
    assert page.locator(".quiz-mine").count() == 0 and page.locator(".quiz-says").is_hidden()
    assert page.evaluate("localStorage.getItem('course-quiz:02_self_attention.html')") is None
    assert page.evaluate("document.activeElement.matches('.quiz summary')")
    choose(page, 3, "A")
    assert page.locator("summary:has(.quiz-mine) b").all_text_contents() == ["A"]


@pytest.mark.browser
@pytest.mark.parametrize("kept", ["{", "7", "[1, null]", '["a choice that was worded anew"]'])
def test_what_is_no_choice_any_more_is_none(quiz, kept):
    page = quiz()
    page.evaluate("kept => localStorage.setItem('course-quiz:02_self_attention.html', kept)", kept)
    page.reload()
    page.locator(".quiz-says").wait_for(state="attached")
    assert opened_choices(page) == [] and page.locator(".quiz-says").is_hidden()


@pytest.mark.browser
def test_a_chapter_s_card_tells_how_many_are_answered(quiz, address):
    page = quiz()
    choose(page, 1, "D")
    choose(page, 2, "A")
    page.goto(f"{address}book/welcome.html")
    page.locator(".card-answered").wait_for()
    assert page.locator(".card-answered").all_text_contents() == ["Answered: 2 of 3 questions"]
    card = page.locator("ul.chapter-cards a:has(.card-answered)")
    assert card.get_attribute("href").endswith("02_self_attention.html")


@pytest.mark.browser
def test_of_how_many_questions_the_page_says(quiz, address):
    page = quiz()
    choose(page, 1, "D")

    def with_four(route):
        text = route.fetch().text()
        route.fulfill(
            body=text.replace('data-questions="3"', 'data-questions="4"'), content_type="text/html"
        )

    page.context.route("**/book/welcome.html", with_four)
    page.goto(f"{address}book/welcome.html")
    page.locator(".card-answered").wait_for()
    assert page.locator(".card-answered").all_text_contents() == ["Answered: 1 of 4 questions"]


def test_a_chapter_s_card_knows_how_many_questions_the_chapter_has(html):
    text = (html / "book" / "welcome.html").read_text(encoding="utf-8")
    lists = lxml.html.fromstring(text).find_class("chapter-cards")
    cards = [card for cards in lists for card in cards.iter("a")]
    told = {Path(card.get("href")).stem: card.get("data-questions") for card in cards}
    assert len(told) > 20
    for name, questions in told.items():
        text = (html / "notebooks" / f"{name}.html").read_text(encoding="utf-8")
        cards = lxml.html.fromstring(text).find_class("end-card")
        there = [li for card in cards for quiz in card.find_class("quiz") for li in quiz]
        assert questions == (str(len(there)) if there else None), name


@pytest.mark.browser
def test_axe_finds_nothing_where_an_answer_is_marked(quiz):
    page = quiz(390, 844)
    choose(page, 1, "A")
    choose(page, 2, "C")
    assert axe.by_day_and_night(page, ".end-card") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
