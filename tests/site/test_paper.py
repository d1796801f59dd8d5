"""Chapters on paper: answers at the end, no empty forms. (That nothing is cut there is seen on the
visit that test_pages.py pays to every page.)
"""

import pytest
from live_page import EVERY_FIGURE, PAPER

pytestmark = pytest.mark.browser


@pytest.fixture
def paper(tab, address):
    """A function that opens a page as it is when it is printed."""

    def open_it(path, **options):
        page = tab(PAPER, 1040, **options)
        page.goto(f"{address}{path}.html", wait_until="load")
        if options.get("java_script_enabled", True):
            page.wait_for_function(EVERY_FIGURE)
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        return page

    return open_it


def test_answers_stand_at_the_end_and_their_places_name_them(paper):
    page = paper("notebooks/03_multi_head_attention")
    folded = page.locator("article details:not([class])")
    assert not folded.locator(":scope > p").first.is_visible()
    said = page.evaluate(
        "[...document.querySelectorAll('article details:not([class]) > summary')]"
        ".map(s => getComputedStyle(s, '::after').content)"
    )
    assert all(text.endswith(f't the end, no. {number}"') for number, text in enumerate(said, 1))
    assert '"Answer: at the end, no. ' in " ".join(said)
    end = page.locator("article > .paper-end")
    assert end.locator(".paper-answer").first.inner_text().startswith("1 · ")
    assert "Sixteen heads are half as wide" in end.inner_text()
    solutions = page.locator("#exercises .tag_hide-cell").count()
    quiz = page.locator(".end-card .quiz > li").count()
    assert end.locator(".paper-answer").count() == folded.count() + solutions + quiz
    assert "# Solution 1" in end.inner_text()
    assert not page.locator("#exercises").get_by_text("# Solution 1").is_visible()
    assert not page.locator("details.choice > p").first.is_visible()
    edges = page.evaluate(
        "[...document.querySelectorAll('details.choice')]"
        ".map(c => getComputedStyle(c).borderLeftColor)"
    )
    assert len(set(edges)) == 1, "the colour of its edge would tell the right choice"


def test_code_that_the_reader_has_opened_is_printed(tab, address):
    page = tab(PAPER, 1040)
    page.goto(f"{address}notebooks/05_encoder.html")
    folds = page.locator("article details.hide:not(#exercises *)")
    listings = folds.locator(".cell_input pre")
    page.emulate_media(media="print")
    assert not any(listings.nth(i).is_visible() for i in range(listings.count()))
    page.emulate_media(media="screen")
    page.get_by_role("button", name="Show all code").click()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert listings.count() == folds.count() > 5
    assert all(listings.nth(i).is_visible() for i in range(listings.count()))
    assert not folds.locator("summary").first.is_visible()
    assert not page.locator("#exercises").get_by_text("# Solution 1").is_visible()


def test_after_printing_the_page_is_as_before(paper):
    page = paper("notebooks/03_multi_head_attention")
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".paper-end").count() == 0
    assert page.locator("[data-paper]").count() == 0
    assert page.locator("article details summary").first.is_visible()


def test_the_browser_tells_the_page_that_it_is_printed_and_dark_is_light(tab, address):
    page = tab(color_scheme="dark")
    page.goto(f"{address}notebooks/08_training.html")
    page.evaluate(
        "addEventListener('beforeprint', () => setTimeout(() => 0) && (window.seen = "
        "[document.querySelectorAll('.paper-end').length, document.documentElement.dataset.theme]))"
    )
    assert page.pdf()
    assert page.evaluate("window.seen") == [1, "light"]
    assert page.locator(".paper-end").count() == 0


def test_a_live_figure_that_nobody_used_is_its_example(paper):
    page = paper("notebooks/08b_judging")
    still = page.locator(".live .lv-still")
    assert "Zwei Hunde spielen im Schnee. →" in still.inner_text()
    assert "/book/your_own/writing.html#a-translator" in still.inner_text()
    assert "needs scripts" not in still.inner_text()
    assert not page.locator(".live textarea").is_visible()
    page.locator(".live").evaluate("live => live.classList.add('lv-used')")
    assert page.locator(".live textarea").is_visible()
    assert not still.is_visible()


def test_without_scripts_answers_are_printed_where_they_stand(tab, address):
    page = tab(java_script_enabled=False)
    page.emulate_media(media="print")
    page.goto(f"{address}notebooks/03_multi_head_attention.html")
    answer = page.locator("article details:not([class]) > p").first
    assert answer.bounding_box()["height"] > 15


def test_the_title_begins_where_the_text_does(paper):
    title = paper("book/through").locator("#jb-print-docs-body > h1")
    align, size, weight = title.evaluate(
        "e => { const s = getComputedStyle(e); return [s.textAlign, s.fontSize, s.fontWeight] }"
    )
    assert (align, weight) == ("start", "650")
    assert float(size.removesuffix("px")) < 32


def test_what_is_there_to_be_pressed_is_not_printed(paper):
    assert not paper("book/claims/attention").locator(".claim-filter").is_visible()
    assert not paper("book/glossary").locator(".letters").is_visible()


def test_a_word_stays_with_its_explanation_and_a_card_in_one_piece(paper):
    style = "(e, name) => getComputedStyle(e)[name]"
    word = paper("book/glossary").locator("dl.glossary dt").first
    assert word.evaluate(style, "breakAfter") == "avoid"
    card = paper("book/welcome").locator(".chapter-cards li").first
    assert card.evaluate(style, "breakInside") == "avoid"
    folded = paper("book/teaching").locator("article details:not([class])").first
    assert folded.locator("summary").evaluate(style, "breakAfter") == "avoid"
    question = folded.locator("xpath=preceding-sibling::p[1]")
    assert question.evaluate(style, "breakAfter") == "avoid"


def test_no_page_is_begun_for_a_line(paper):
    """The ways on stand together, and the answers begin where the page before has room."""
    page = paper("notebooks/07_subwords")
    style = "(e, name) => getComputedStyle(e)[name]"
    assert page.locator(".paper-end > h2").evaluate(style, "breakBefore") == "auto"
    assert page.locator(".end-card .ways-on").evaluate(style, "breakInside") == "avoid"


def test_the_title_stands_above_the_edge_of_the_text(paper):
    page = paper("notebooks/14b_words_and_spans")
    left = "e => e.getBoundingClientRect().left + parseFloat(getComputedStyle(e).paddingLeft)"
    title = page.locator("#jb-print-docs-body > h1").evaluate(left)
    assert title == pytest.approx(page.locator("article").evaluate(left), abs=1)


def test_a_table_of_errors_ends_with_a_whole_row_and_no_plot_takes_half_a_page(paper):
    page = paper("notebooks/14b_words_and_spans")
    for table in page.locator(".error-table").all():
        rows = [row for row in table.locator("tbody tr").all() if row.is_visible()]
        box = table.locator(".et-scroll").evaluate("e => e.getBoundingClientRect().bottom")
        ends = [row.evaluate("e => e.getBoundingClientRect().bottom") for row in rows]
        assert len(rows) == 12 and max(ends) <= box
    page = paper("notebooks/10_language_model")
    page.evaluate("for (const image of document.images) image.loading = 'eager'")
    plots = page.locator("article .cell_output img.plot-light:not(.plot-narrow)")
    plots.last.evaluate("async (plot) => { await plot.decode(); }")
    high = [plot.bounding_box()["height"] for plot in plots.all() if plot.is_visible()]
    assert len(high) > 4 and max(high) < 300


def test_a_questions_points_and_its_marks_stay_with_what_they_are_of(paper):
    style = "(e, name) => getComputedStyle(e)[name]"
    page = paper("book/exam")
    points = page.locator("article h3 + p").first
    assert "points" in points.inner_text()
    assert points.evaluate(style, "breakAfter") == "avoid"
    marks = page.locator("article p:has(> strong:only-child)", has_text="Marks").first
    assert marks.evaluate(style, "breakAfter") == "avoid"
    box = page.locator("article p:has(+ details:not([class]))").first
    assert box.evaluate(style, "breakInside") == "avoid"
    caption = paper("book/results/language_models").locator("table.measured caption").first
    assert (
        caption.evaluate(style, "breakInside") == caption.evaluate(style, "breakAfter") == "avoid"
    )


def test_what_stands_at_the_end_is_called_what_it_is(paper):
    assert paper("exercises/hw1_attention").locator(".paper-end > h2").inner_text() == "Hints"
    assert paper("book/exam").locator(".paper-end > h2").inner_text() == "Answers"


def test_what_is_printed_open_has_no_sign_of_being_shut(paper):
    page = paper("book/results/fine_tuning")
    summary = page.locator("details.single-runs > summary").first
    assert summary.evaluate("e => getComputedStyle(e).listStyleType") == "none"
