"""The exam's page under one who works through it: what is chosen, shown and ticked, and what is there
the next time.
"""

import json

import axe
import pytest

from lectures_lib.exam import QUESTIONS
from lectures_lib.exam.sheet import heading

pytestmark = pytest.mark.browser
EXAM = "book/exam.html"
SHOWN = ".bd-article > section > section > section:visible"
POINTS = sum(one.points for one in QUESTIONS)


@pytest.fixture
def opened(tab, address):
    """A function that opens the exam as one who has never been here; script errors fail the test."""
    pages = []

    def open_it(asked="", *size, **options):
        page = tab(*size, **options)
        pages.append(page)
        page.goto(address + EXAM + asked)
        if options.get("java_script_enabled", True):
            page.locator(".exam-bar").wait_for()
        return page

    yield open_it
    for page in pages:
        assert not page.wrong


def of_chapters(*numbers):
    """How many questions are about these chapters, and what they are worth."""
    these = [one for one in QUESTIONS if one.chapter in numbers]
    return len(these), sum(one.points for one in these)


def said(page):
    return page.get_by_role("status").inner_text()


def test_all_questions_are_there_at_first_and_no_solution_is_open(opened):
    page = opened()
    assert page.locator(SHOWN).count() == len(QUESTIONS)
    assert page.locator("article details[open]").count() == 0
    assert said(page) == (
        f"Here: {len(QUESTIONS)} questions, {POINTS} points. "
        f"Ticked in all: 0 of {len(QUESTIONS)}, 0 of {POINTS} points."
    )


@pytest.mark.parametrize(
    ("about", "chapters"),
    [("3", [3]), ("The Transformer", range(5, 11)), ("Using BERT", range(14, 19))],
)
def test_a_part_or_a_chapter_is_shown_alone_and_stays_in_the_address(opened, about, chapters):
    page = opened()
    page.get_by_label("About").select_option(about)
    n, points = of_chapters(*chapters)
    assert said(page).startswith(f"Here: {n} questions, {points} points.")
    assert page.locator(SHOWN).count() == n
    headings = page.locator(".bd-article > section > section:visible > h2").all_inner_texts()
    assert [text.rstrip("#") for text in headings] == [
        heading(number).split("## ")[1].strip() for number in chapters
    ]
    page.reload()
    page.locator(".exam-bar").wait_for()
    assert page.get_by_label("About").input_value() == about
    assert page.locator(SHOWN).count() == n


def test_all_chapters_again_are_no_longer_asked_for_in_the_address(opened):
    page = opened("?about=3#what-training-needs")
    page.get_by_label("About").select_option("4")
    assert page.evaluate("location.search + location.hash") == "?about=4"
    page.get_by_label("About").select_option("")
    assert page.evaluate("location.search + location.hash") == ""
    page.reload()
    page.locator(".exam-bar").wait_for()
    assert page.locator(SHOWN).count() == len(QUESTIONS)


def test_what_another_tab_ticked_is_kept(opened):
    page = opened()
    page.get_by_label("I knew this").nth(0).check()
    ids = (
        "[...document.querySelectorAll('.bd-article > section > section > section')].map(e => e.id)"
    )
    first, _, third = page.evaluate(ids)[:3]
    page.evaluate("kept => localStorage.setItem('course-exam', kept)", json.dumps([first, third]))
    page.get_by_label("I knew this").nth(1).check()
    page.reload()
    page.locator(".exam-bar").wait_for()
    boxes = [page.get_by_label("I knew this").nth(i) for i in range(3)]
    assert [box.is_checked() for box in boxes] == [True] * 3


def listed(page):
    """Where the entries of the page's contents lead that can be seen."""
    links = page.locator("#pst-page-toc-nav a:visible")
    return links.evaluate_all("all => all.map((one) => one.hash)")


def test_the_contents_list_what_is_shown(opened):
    page = opened("?about=7")
    shown = page.locator(SHOWN).evaluate_all("all => all.map((one) => `#${one.id}`)")
    assert listed(page) == ["#chapters-7-and-7b", *shown]
    page.locator(f"{SHOWN} .exam-knew input").first.check()
    page.get_by_label("only what I have not ticked").check()
    assert listed(page) == ["#chapters-7-and-7b", *shown[1:]]
    page.get_by_label("only what I have not ticked").uncheck()
    page.get_by_label("About").select_option("")
    chapters = len({one.chapter for one in QUESTIONS})
    assert len(listed(page)) == len(QUESTIONS) + chapters


def test_what_teachers_need_is_folded_away_before_the_first_question(opened):
    page = opened()
    command = page.get_by_text("python -m lectures_lib.exam")
    assert not command.is_visible()
    page.get_by_text("For teachers.").click()
    assert command.is_visible()


def test_every_chapter_can_be_chosen_by_its_title(opened):
    page = opened()
    options = page.get_by_label("About").locator("optgroup > option")
    titles = [text for text in options.all_text_contents() if not text.endswith(": all of it")]
    assert len(titles) == 18
    assert all(title.startswith(f"{number}. ") for number, title in enumerate(titles, 1))


def test_an_address_that_asks_for_no_chapter_shows_all(opened):
    page = opened("?about=99")
    assert page.locator(SHOWN).count() == len(QUESTIONS)
    assert page.get_by_label("About").input_value() == ""


def test_solutions_are_shown_and_hidden_together(opened):
    page = opened()
    page.get_by_label("About").select_option("3")
    n, _ = of_chapters(3)
    page.get_by_role("button", name="Show all solutions").click()
    # those that are not shown stay folded
    assert page.locator("article details[open]").count() == n
    page.get_by_role("button", name="Hide all solutions").click()
    assert page.locator("article details[open]").count() == 0


def test_ticks_are_there_the_next_time_and_can_be_left_out(opened):
    page = opened()
    for place in (0, 2):
        page.get_by_label("I knew this").nth(place).check()
    worth = QUESTIONS[0].points + QUESTIONS[2].points
    ticked = f"Ticked in all: 2 of {len(QUESTIONS)}, {worth} of {POINTS} points."
    assert said(page).endswith(ticked)
    page.reload()
    page.locator(".exam-bar").wait_for()
    assert said(page).endswith(ticked)
    assert [page.get_by_label("I knew this").nth(i).is_checked() for i in range(3)] == [
        True,
        False,
        True,
    ]

    page.get_by_label("only what I have not ticked").check()
    assert page.locator(SHOWN).count() == len(QUESTIONS) - 2
    page.get_by_label("I knew this").nth(1).check()  # the first that is left
    assert page.locator(SHOWN).count() == len(QUESTIONS) - 2, "nothing vanishes under the pointer"

    page.get_by_label("only what I have not ticked").uncheck()
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.get_by_role("button", name="Untick all").click()
    assert "Ticked in all: 3" in said(page)
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Untick all").click()
    assert "Ticked in all: 0" in said(page)
    assert page.evaluate("localStorage.getItem('course-exam')") is None
    assert page.get_by_role("button", name="Untick all").is_hidden()


def test_a_chapter_of_which_all_is_ticked_has_nothing_left(opened):
    page = opened("?about=1")
    for box in page.locator(f"{SHOWN} .exam-knew input").all():
        box.check()
    page.get_by_label("only what I have not ticked").check()
    assert said(page).startswith("Nothing is left here")
    assert page.locator(SHOWN).count() == 0


@pytest.mark.parametrize("kept", ["{", "3", '{"a": 1}', '["no-such-question", 5, null]'])
def test_what_another_program_left_there_does_no_harm(opened, kept):
    page = opened()
    page.evaluate(f"localStorage.setItem('course-exam', {json.dumps(kept)})")
    page.reload()
    page.locator(".exam-bar").wait_for()
    assert "Ticked in all: 0" in said(page)


def test_a_link_to_a_question_shows_it_whatever_is_chosen(opened):
    page = opened("?about=1#what-training-needs")
    assert page.locator("#what-training-needs").is_visible()
    page.get_by_label("About").select_option("2")
    page.evaluate("location.hash = 'what-training-needs'")
    page.wait_for_function("!document.getElementById('what-training-needs').closest('[hidden]')")
    assert page.evaluate("location.search + location.hash") == "#what-training-needs"


def test_a_link_to_a_question_far_below_goes_there(opened):
    page = opened("?about=1")
    last = page.locator(SHOWN.replace(":visible", "")).last
    assert last.is_hidden()
    page.evaluate("id => { location.hash = id; }", last.get_attribute("id"))
    last.wait_for()
    top, height = last.evaluate("e => [e.getBoundingClientRect().top, innerHeight]")
    assert 0 <= top < height


def test_a_chapter_leads_to_its_questions(opened, address):
    page = opened()
    page.goto(f"{address}notebooks/08b_judging.html")
    page.get_by_role("link", name="questions about chapter 8").click()
    page.locator(".exam-bar").wait_for()
    assert page.locator(SHOWN).count() == of_chapters(8)[0]


def test_without_scripts_everything_can_be_read(opened):
    page = opened("?about=3", java_script_enabled=False)
    assert page.locator(SHOWN).count() == len(QUESTIONS)
    assert page.locator("article :is(input, select, button)").count() == 0
    page.locator("article details > summary").first.click()
    assert page.locator("article details > p").first.is_visible()


def test_on_paper_there_is_what_is_shown(opened):
    page = opened("?about=3")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator(".paper-answer").count() == of_chapters(3)[0]
    assert page.locator("article input:visible, .exam-bar:visible").count() == 0


def test_axe_finds_nothing_and_a_phone_is_wide_enough(opened):
    page = opened("?about=3", 390, 844)
    page.locator(".exam-knew:visible input").first.check()
    page.get_by_role("button", name="Show all solutions").click()
    assert axe.by_day_and_night(page, "article") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for control in page.locator(".exam-bar :is(select, button, label):visible").all():
        assert control.bounding_box()["height"] >= 24
