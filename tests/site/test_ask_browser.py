"""The search of "Ask the book": the right order, by mouse and keyboard, on a phone, and on the
built page if it is in the book.
"""

import base64
import json
import re
import sys

import pytest
import torch
from bs4 import BeautifulSoup
from conftest import SHIFTS
from sitemap import ROOT, pages

from lectures_lib.data.book import Question, Section, book_questions
from lectures_lib.models import minilm
from lectures_lib.tasks.sentence_bert import SentenceBert, cosines, search

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import ask
import ask_orders
import section_search

pytestmark = pytest.mark.browser
PAGE = "book/ask.html"
QUESTIONS = ["Why divide by the root?", "What is a <b>head</b>?", "How does a decoder write?"]
SECTIONS = [
    Section(
        f"notebooks/0{i}_chapter",
        f"{i}. Chapter {i}",
        title,
        f"place-{i}",
        f"Text {i} about {title.lower()}.",
    )
    for i, title in enumerate(
        ["Scores", "Heads & tails", "Order", "Blocks", "Writing", "</script><b>bold</b>", "Last"],
        start=1,
    )
]


def vectors() -> torch.Tensor:
    """Questions, then sections; the first question is nearest to the third section, and so on."""
    generator = torch.Generator().manual_seed(0)
    found = torch.randn(len(QUESTIONS) + len(SECTIONS), 16, generator=generator)
    for question, section in enumerate((2, 1, 4)):
        found[question] = found[len(QUESTIONS) + section] + 0.3 * torch.randn(
            16, generator=generator
        )
    return found


@pytest.fixture(scope="module")
def made() -> tuple[str, str]:
    """The search of these questions and sections, and the script that it fetches."""
    questions = [Question(question, [1]) for question in QUESTIONS]
    return ask.page_html(SECTIONS, questions, ask.quantised(vectors()), site="")


def whole(inside: str) -> str:
    """A page with nothing but this."""
    head = (
        '<meta charset="utf-8"><meta name="viewport" '
        'content="width=device-width"><title>Ask</title>'
    )
    return (
        f"<!doctype html><html "
        f'lang="en"><head>{head}</head><body><main><h1>Ask</h1>{inside}</main></body></html>'
    )


def laid(folder, made: tuple[str, str]) -> str:
    """The page's address, and beside it the script that it fetches."""
    (folder / "page.html").write_text(whole(made[0]), encoding="utf-8")
    (folder / ask.DATA).parent.mkdir(parents=True, exist_ok=True)
    (folder / ask.DATA).write_text(made[1], encoding="utf-8")
    return (folder / "page.html").as_uri()


@pytest.fixture
def open_page(tab, tmp_path, made):
    """A function that opens the page; what went wrong there fails the test at its end."""
    url, opened = laid(tmp_path, made), []

    def open_it(width: int = 800, **options):
        page = tab(width, 900, init=SHIFTS, **options)
        opened.append(page)
        page.goto(url)
        return page

    yield open_it
    for page in opened:
        assert not page.wrong
        assert not page.said


@pytest.fixture
def on_site(tab, address):
    """The built page, if it is in the book."""
    if PAGE not in pages():
        pytest.skip(f"{PAGE} is not in the table of contents")
    page = tab()
    page.goto(address + PAGE)
    return page


def example(page, question: str):
    """The button of an example."""
    return page.get_by_role("button", name=question, exact=True)


def answered(page, question: str) -> None:
    """Wait for the answer to a question."""
    page.locator(".ask-found h2", has_text=question).wait_for()
    page.get_by_text("are shown below").wait_for()


def nearest(i: int) -> list[str]:
    """What torch says of the vectors before they were rounded: the titles of the five sections
    nearest to number i of all.
    """
    found = vectors()
    others = [j for j in range(len(SECTIONS)) if j + len(QUESTIONS) != i]
    places = (
        search(found[i : i + 1], found[[len(QUESTIONS) + j for j in others]], k=5)
        .places[0]
        .tolist()
    )
    return [SECTIONS[others[place]].title for place in places]


def held_by(script: str) -> dict:
    """What is in the script that the page fetches."""
    return json.loads(script.removeprefix("var AskedSections = ").removesuffix(";\n"))


def shown(page) -> list[str]:
    return page.locator(".ask-found li a").all_inner_texts()


def test_rounding_to_whole_numbers_moves_no_cosine_by_much():
    exact, rounded = vectors(), ask.quantised(vectors())
    assert rounded.abs().amax(dim=1).tolist() == [127] * len(exact)
    assert (cosines(exact, exact) - cosines(rounded.float(), rounded.float())).abs().max() < 0.01


def fit(chapters: list[list[int]]) -> list:
    """How fit the questions are, if these are the chapters that answer them."""
    asked, told = vectors()[: len(QUESTIONS)], vectors()[len(QUESTIONS) :]
    questions = [Question(question, of) for question, of in zip(QUESTIONS, chapters, strict=True)]
    return ask_orders.fitness(SECTIONS, questions, asked, told)


@pytest.mark.parametrize(
    ("chapters", "first"),
    [([[3], [2], [5]], None), ([[1], [1], [5]], 2), ([[3], [1], [1]], 0), ([[], [], []], None)],
)
def test_a_question_that_is_answered_is_the_fittest(chapters, first):
    """Questions 0, 1 and 2 are nearest to chapters 3, 2 and 5; where all or none are right, the
    highest cosine decides.
    """
    asked, told = vectors()[: len(QUESTIONS)], vectors()[len(QUESTIONS) :]
    best = int(search(asked, told, k=1).scores.argmax())
    found = fit(chapters)
    assert found.index(max(found)) == (best if first is None else first)


def test_of_those_the_one_that_is_answered_most_often():
    asked, told = vectors()[: len(QUESTIONS)], vectors()[len(QUESTIONS) :]
    least = int(search(asked, told, k=1).scores[:, 0].argmin())
    near = [[3], [2], [5]]
    near[least] = list(range(1, 8))  # whatever is found lies in a right chapter
    found = fit(near)
    assert found.index(max(found)) == least


def test_examples_come_from_all_over_the_book():
    assert ask_orders.best_of_each_part([1, 3, 2, 5, 4, 9, 8], parts=3) == [1, 3, 5]
    assert ask_orders.best_of_each_part([1, 3], parts=6) == [0, 1]


def test_it_begins_with_an_example_and_finds_what_torch_finds(open_page):
    page = open_page()
    first = page.locator(".ask-found h2").inner_text()
    assert shown(page) == nearest(QUESTIONS.index(first))
    assert page.get_by_role("status").inner_text().startswith("Shown:")
    assert page.locator(".ask-examples button").all_inner_texts() == QUESTIONS
    assert page.locator(".ask [aria-pressed=true]").all_inner_texts() == [first]
    assert not [url for url in page.asked if ask.DATA in url], "fetched before it was needed"
    for i, question in enumerate(QUESTIONS):
        example(page, question).click()
        answered(page, question)
        assert page.get_by_label("Your question").input_value() == question
        assert shown(page) == nearest(i)
        assert page.locator(".ask [aria-pressed=true]").all_inner_texts() == [question]
    assert len([url for url in page.asked if ask.DATA in url]) == 1
    place = SECTIONS.index(next(section for section in SECTIONS if section.title == nearest(2)[0]))
    assert (
        page.locator(".ask-found li a").first.get_attribute("href")
        == f"../notebooks/0{place + 1}_chapter.html#place-{place + 1}"
    )


def test_the_answer_that_comes_with_the_page_is_the_scripts(open_page):
    """Letter by letter."""
    page = open_page()
    came = page.locator(".ask-found").inner_html()
    question = page.locator(".ask-found h2").inner_text()
    example(page, question).click()
    answered(page, question)
    assert page.locator(".ask-found").inner_html() == came
    other = next(each for each in QUESTIONS if each != question)
    example(page, other).click()
    answered(page, other)
    assert page.locator(".ask-found").inner_html() != came
    page.get_by_role("button", name="More like this").first.click()
    page.locator(".ask-found h2", has_text="Sections like").wait_for()


def test_it_says_how_often_it_is_right():
    """Question 0 is nearest to section 2, question 1 to 1, question 2 to 4; what is typed likewise."""
    found, n = vectors(), len(QUESTIONS)
    questions = [
        Question(question, [of]) for question, of in zip(QUESTIONS, (3, 7, 5), strict=True)
    ]
    typed = [("one", {SECTIONS[2].page}), ("other", {SECTIONS[0].page})]
    more = torch.cat([found, found[:2]])
    by_words = [[2], [1, 6], [], [0], [0, 2]]
    said = ask.how_often_right(SECTIONS, questions, typed, more, by_words)
    rows = BeautifulSoup(said, "lxml").select("tr")
    heads = [cell.text for cell in rows[0].select("th")]
    assert heads == ["3 whole questions", "2 words as one types them"]
    told = {row.th.text: [int(cell.text) for cell in row.select("td")] for row in rows[2:]}
    three = [search(found[:3], found[n:], k=3).places[i].tolist() for i in range(3)]
    written = sum(place in row for place, row in zip((2, 6, 4), three, strict=True))
    among = sum(place in row for place, row in zip((2, 0), three[:2], strict=True))
    assert told["meaning"] == [2, written, 1, among]
    assert told["words"] == [1, 2, 1, 1]
    assert list(told) == list(ask.WAYS.values())
    alone = ask.how_often_right(SECTIONS, questions, [], found)
    assert alone.count("<tr>") == 3 and "as one types" not in alone


def test_two_orders_become_one():
    assert ask_orders.both([0, 1, 2], []) == [0, 1, 2]
    assert ask_orders.both([0, 1, 2], [2]) == [2, 0, 1]  # 1/8 + 2/6, 1/6, 1/7
    assert ask_orders.both([0, 1, 2, 3, 4], [4, 3])[:2] == [4, 3]
    assert ask_orders.both(list(range(9)), [8, 0])[0] == 0  # 1/6 + 2/7 against 1/14 + 2/6


# What the search by words finds for each question; of one word alone the last section is in no text.
BY_WORDS = [[6], [1, 5], []]


@pytest.fixture
def with_words(tab, tmp_path):
    """The page with a search by words: one that knows the questions and the word "heads"."""
    questions = [Question(question, [1]) for question in QUESTIONS]
    laid_out = ask.page_html(
        SECTIONS, questions, ask.quantised(vectors()), site="", by_words=BY_WORDS
    )
    found = json.dumps(dict(zip(QUESTIONS, BY_WORDS, strict=True)))
    pages_ = [[f"{section.page}.html"] for section in SECTIONS]
    index = {"pages": pages_, "sections": [[j, one.anchor] for j, one in enumerate(SECTIONS)]}
    folder = tmp_path / section_search.FOLDER
    folder.mkdir(parents=True)
    (folder / "rank.js").write_text(
        f"var CourseSearch = {{ rank: (index, text) => ({found}[text] ?? []).map(section => ({{ section }})) }};"
    )
    (folder / "index.js").write_text(f"CourseSearch.index = {json.dumps(index)};")
    page = tab(390)
    page.goto(laid(tmp_path, laid_out))
    return page


def test_one_chooses_what_counts(with_words):
    """Both, meaning, or words; the answer that came with the page is in the first order."""
    page, i = with_words, 1
    ways = page.get_by_role("radio")
    assert ways.count() == 3 and page.get_by_label("meaning and words").is_checked()
    came = shown(page)
    first = QUESTIONS.index(page.locator(".ask-found h2").inner_text())
    example(page, QUESTIONS[first]).click()
    answered(page, QUESTIONS[first])
    assert shown(page) == came
    by_meaning = [[one.title for one in SECTIONS].index(title) for title in nearest(i)]
    example(page, QUESTIONS[i]).click()
    answered(page, QUESTIONS[i])
    titles = [SECTIONS[j].title for j in ask_orders.both(by_meaning, BY_WORDS[i])[:5]]
    assert shown(page)[:2] == titles[:2]
    assert "words: no. 1" in page.locator(".ask-where").first.inner_text()
    page.get_by_label("meaning", exact=True).check()
    page.wait_for_function(
        "t => document.querySelector('.ask-found li a').text === t", arg=nearest(i)[0]
    )
    assert shown(page) == nearest(i)
    page.get_by_label("words", exact=True).check()
    page.get_by_text("The 2 sections that share most").wait_for()
    assert shown(page) == [SECTIONS[j].title for j in BY_WORDS[i]]
    example(page, QUESTIONS[2]).click()
    page.get_by_text("No section has your question's words").wait_for()
    assert shown(page) == []
    page.get_by_label("meaning and words").check()
    answered(page, QUESTIONS[2])
    assert shown(page) == nearest(2)
    page.get_by_role("button", name="More like this").first.click()
    page.locator(".ask-found h2", has_text="Sections like").wait_for()
    assert not ways.first.is_visible(), "sections are compared by meaning alone"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_without_the_other_search_it_says_so(with_words, tmp_path):
    page = with_words
    (tmp_path / section_search.FOLDER / "index.js").unlink()
    example(page, QUESTIONS[1]).click()
    page.get_by_text("That did not work: the sections could not be fetched").wait_for()


def test_the_book_is_searched_alike_in_the_page_and_in_the_build(on_site, html):
    """The table counts what the page finds."""
    page = on_site
    table = page.locator(".ask-right tbody tr")
    assert [row.split("\t")[0] for row in table.all_inner_texts()] == list(ask.WAYS.values())
    held = json.loads(page.locator("#ask-data").inner_text())
    lines = BeautifulSoup((html / PAGE).read_text(encoding="utf-8"), "lxml").select("noscript li a")
    for question, line in zip(held["examples"], lines, strict=True):
        example(page, question).click()
        answered(page, question)
        assert page.locator(".ask-found li a").first.inner_text() == line.text
    both, meaning, _ = ([*map(int, row.split("\t")[1:])] for row in table.all_inner_texts())
    assert all(b > m for b, m in zip(both, meaning, strict=True))


def test_a_letter_with_an_index_is_printed_as_in_a_formula(tab, tmp_path):
    """There alone the page holds a title or a text twice."""
    of_scores = Section("notebooks/02_x", "2. X", "Why d_k & not d", "why", "Divide by √d, say.")
    vectors = ask.quantised(torch.ones(2, 16))
    made = ask.page_html([of_scores], [Question("Why?", [2])], vectors, site="")
    page = tab()
    page.goto(laid(tmp_path, made))
    for _ in ("as it came", "as the script writes it"):
        assert (
            page.locator(".ask-found li a").inner_html() == "Why <i>d</i><sub>k</sub> &amp; not d"
        )
        assert page.locator(".ask-found li > p").last.inner_text() == "Divide by √d, say."
        example(page, "Why?").click()
        answered(page, "Why?")
    held = held_by(made[1])["sections"][0]
    assert held[4:] == ["Why <i>d</i><sub>k</sub> &amp; not d", None]
    assert page.get_by_role("button", name="More like this: Why d_k & not d").count() == 1


def test_an_answer_to_another_question_goes(open_page):
    """When one types, and when one asks for nothing."""
    page = open_page()
    answer, words = page.locator(".ask-found"), page.get_by_label("Your question")
    page.get_by_role("button", name="Ask", exact=True).click()
    assert page.get_by_role("status").inner_text() == "Type a question first."
    assert answer.is_hidden()
    words.fill(QUESTIONS[1].upper())
    page.keyboard.press("Enter")
    answered(page, QUESTIONS[1])
    words.press("End")
    words.press_sequentially("!")
    assert answer.is_hidden()
    assert page.get_by_role("status").inner_text() == ""
    assert not page.locator(".ask [aria-pressed=true]").count()
    assert open_page().locator(".ask-found").is_visible()


def test_the_cosine_is_told(open_page):
    page = open_page()
    example(page, QUESTIONS[0]).click()
    answered(page, QUESTIONS[0])
    exact = cosines(vectors()[:1], vectors()[len(QUESTIONS) :]).max().item()
    assert page.locator(".ask-where").first.inner_text().split("cosine ")[1][:4] == f"{exact:.2f}"


def test_sections_that_cannot_be_fetched_are_said_and_asked_for_again(tab, tmp_path, made):
    page = tab()
    page.goto(laid(tmp_path, made))
    file = tmp_path / ask.DATA
    file.rename(tmp_path / "away")
    example(page, QUESTIONS[1]).click()
    page.get_by_text("That did not work: the sections could not be fetched").wait_for()
    (tmp_path / "away").rename(file)
    example(page, QUESTIONS[1]).click()
    answered(page, QUESTIONS[1])
    assert shown(page) == nearest(1)


def test_the_keyboard_does_all_of_it(open_page):
    page = open_page()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "ask-words"
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    answered(page, QUESTIONS[1])
    assert page.evaluate("document.activeElement.textContent") == QUESTIONS[1], (
        "the focus stays where it was"
    )
    more = page.get_by_role("button", name="More like this").first
    title = more.get_attribute("aria-label").removeprefix("More like this: ")
    more.focus()
    page.keyboard.press("Enter")
    page.locator(".ask-found h2", has_text=f"Sections like “{title}”").wait_for()
    assert page.evaluate("document.activeElement.tagName") == "H2", (
        "the focus goes to the new results"
    )


def test_an_example_has_an_address(open_page):
    page = open_page()
    example(page, QUESTIONS[2]).click()
    answered(page, QUESTIONS[2])
    assert page.url.endswith("#how-does-a-decoder-write")
    page.evaluate("location.hash = 'why-divide-by-the-root'")
    answered(page, QUESTIONS[0])
    assert page.get_by_label("Your question").input_value() == QUESTIONS[0]


def test_back_leads_to_the_answer_before(open_page):
    """Through an example, a section's like, and a place on the page."""
    page = open_page()
    heading = page.locator(".ask-found h2")
    first = heading.inner_text()
    other = next(question for question in QUESTIONS if question != first)
    example(page, other).click()
    answered(page, other)
    page.get_by_role("button", name="More like this").first.click()
    page.locator(".ask-found h2", has_text="Sections like").wait_for()
    like = heading.inner_text()
    page.evaluate("location.hash = 'ask-heading'")
    assert heading.inner_text() == like
    for step, shown_then in ((-1, like), (-1, other), (-1, first), (2, like)):
        page.evaluate(f"history.go({step})")
        page.wait_for_function(
            "text => document.querySelector('.ask-found h2').textContent === text", arg=shown_then
        )
    page.reload()
    page.locator(".ask-found h2", has_text=like).wait_for()


def test_an_own_question_is_there_again_when_one_comes_back(on_site):
    """From the section that was found, without the model."""
    page = on_site
    page.get_by_label("Your question").fill("why do we need several heads?")
    page.keyboard.press("Enter")
    page.get_by_text("nearest to your question").wait_for()
    found = shown(page)
    page.locator(".ask-found li a").first.click()
    page.wait_for_url("**/notebooks/**")
    page.go_back()
    page.get_by_text("nearest to your question").wait_for()
    assert shown(page) == found
    assert page.get_by_label("Your question").input_value() == "why do we need several heads?"
    assert "search.html?q=why" in page.locator("#ask-count a").get_attribute("href")


def test_an_own_question_is_answered_as_in_the_library(tab, html, address):
    """The vector is made in the page, by the model in 8 bits: the sections found are those that
    the library finds in full precision, but for ties within what rounding moves.
    """
    if PAGE not in pages():
        pytest.skip(f"{PAGE} is not in the table of contents")
    encoder = SentenceBert.from_pretrained(minilm.checkpoint())
    page = tab()
    page.goto(address + PAGE)
    data = held_by((html / ask.DATA).read_text(encoding="utf-8"))
    asked = json.loads(page.locator("#ask-data").inner_text())["examples"]
    told = torch.frombuffer(bytearray(base64.b64decode(data["vectors"])), dtype=torch.int8)
    told = told.view(-1, encoder.bert.config.d_model)[len(asked) :].float()
    for text in (
        "why do we need several heads?",
        "How can I make my training faster",
        "q",
        "¿Qué es un transformer? 😀",
        "x " * 250,
    ):
        page.get_by_label("Your question").fill(text)
        page.get_by_role("button", name="Ask", exact=True).click()
        page.get_by_text("nearest to your question").wait_for()
        page.get_by_label("meaning", exact=True).check()
        heading = text.strip() if len(text) <= 160 else f"{text[:160].rstrip()} …"
        assert page.locator(".ask-found h2").inner_text() == heading
        titles = shown(page)
        exact = cosines(encoder.embed([text]), told)[0]
        for place, title in enumerate(titles):
            at = [i for i, section in enumerate(data["sections"]) if section[2] == title]
            assert exact[at].max() > exact.sort(descending=True).values[place] - 0.03
        said = page.locator(".ask-where").first.inner_text().split("cosine ")[1].split()[0]
        assert float(said.replace("−", "-")) == pytest.approx(exact.max().item(), abs=0.03)


def test_without_a_question_or_a_model_it_says_so(tab, address):
    page = tab()
    page.goto(address + PAGE)
    page.get_by_role("button", name="Ask", exact=True).click()
    assert page.locator("#ask-count").inner_text() == "Type a question first."
    page.context.route("**/models/**", lambda route: route.fulfill(status=404))
    page.get_by_label("Your question").fill("What is a head?")
    page.keyboard.press("Enter")
    page.get_by_text("could not be fetched (404)").wait_for()
    assert page.locator(".ask-found").is_hidden()


def test_nothing_moves_when_it_opens(tab, address):
    """Neither on a desk nor on a telephone."""
    if PAGE not in pages():
        pytest.skip(f"{PAGE} is not in the table of contents")
    for width in (1360, 390):
        page = tab(width, 900, init=SHIFTS)
        page.goto(address + PAGE)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("shift") < 0.02


def test_it_fits_a_phone(open_page):
    assert open_page(390).evaluate("document.documentElement.scrollWidth") <= 390


def test_without_scripts_the_examples_are_answered(open_page):
    page = open_page(java_script_enabled=False)
    assert "here none is running" in page.locator("noscript p").inner_text()
    question = page.locator(".ask-found h2").inner_text()
    assert shown(page) == nearest(QUESTIONS.index(question))
    lines = page.locator("noscript li").all()
    assert len(lines) == len(QUESTIONS)
    for i, line in enumerate(lines):
        assert line.inner_text() == f"{QUESTIONS[i]} {nearest(i)[0]}"
        place = [section.title for section in SECTIONS].index(nearest(i)[0]) + 1
        href = line.locator("a").get_attribute("href")
        assert href == f"../notebooks/0{place}_chapter.html#place-{place}"
    assert not page.get_by_role("button").count() and not page.get_by_role("searchbox").count()


def test_on_paper_stands_the_answer_and_no_button(open_page):
    page = open_page()
    page.emulate_media(media="print")
    assert page.locator(".ask-found h2").is_visible()
    assert not page.locator(".ask :is(button, input):visible").count()


def test_on_the_site_every_answer_leads_somewhere(on_site, html):
    """Every example of the built page is asked; every section that may be found is a place."""
    page = on_site
    buttons = page.locator(".ask-examples button")
    assert buttons.count() == ask_orders.EXAMPLES
    for button in buttons.all():
        button.click()
        answered(page, button.inner_text())
    texts = {}
    for section in held_by((html / ask.DATA).read_text(encoding="utf-8"))["sections"]:
        file, anchor = section[0].removeprefix("../").split("#")
        if file not in texts:
            texts[file] = (html / file).read_text(encoding="utf-8")
        assert f'id="{anchor}"' in texts[file]


def test_of_each_example_a_right_chapter_is_found_first(html):
    """As the page says."""
    if PAGE not in pages():
        pytest.skip(f"{PAGE} is not in the table of contents")
    page = BeautifulSoup((html / PAGE).read_text(encoding="utf-8"), "lxml")
    chapters = {one.question: one.chapters for one in book_questions()}
    nearest = page.select("noscript li")
    assert len(nearest) == ask_orders.EXAMPLES
    for line in nearest:
        link = line.a.extract()
        number = int(re.match(r"\.\./notebooks/(\d+)", link["href"])[1])
        assert number in chapters[line.text.strip()]


def test_what_is_compared_does_not_hold_up_the_page(html):
    """It lies in a file of its own: in the page it was nine tenths of it, and painted late."""
    if PAGE not in pages():
        pytest.skip(f"{PAGE} is not in the table of contents")
    page = (html / PAGE).read_text(encoding="utf-8")
    assert len(page.partition('<div class="ask">')[2].partition("</main>")[0]) < 40_000
