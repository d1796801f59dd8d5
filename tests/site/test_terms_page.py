"""The explained words of a chapter and the glossary's letters, as a reader meets them."""

import re

import pytest
from sitemap import ANIMATED, ROOT

CHAPTERS = sorted(
    path.stem for path in (ROOT / "notebooks").glob("[0-9]*.ipynb") if "13b" not in path.stem
)
TERM = re.compile(
    r'<span class="term"><a href="\.\./book/glossary\.html#(term-[^"]+)" '
    r'aria-describedby="(tip-[^"]+)">[^<]+</a>'
    r'<span role="tooltip" id="(tip-[^"]+)">([^<]+)</span></span>'
)
SHOWN = """() => [...document.querySelectorAll('.term > [role=tooltip]')]
  .filter(e => e.checkVisibility()).map(e => e.id)"""


@pytest.fixture(scope="module")
def glossary(html) -> str:
    return (html / "book" / "glossary.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_dozen_words_at_most_each_once_each_with_its_entry(html, glossary, chapter):
    text = (html / "notebooks" / f"{chapter}.html").read_text(encoding="utf-8")
    found = TERM.findall(text)
    assert 2 <= len(found) <= 12
    assert len(found) == text.count('class="term"') == len(set(found))
    for anchor, described, tip, sentence in found:
        assert f'id="{anchor}"' in glossary
        assert described == tip
        assert len(sentence) <= 260
    body = "".join(re.findall(r'<span role="tooltip".*?</span>', text))
    assert len(body.encode()) < 4_000


def test_a_search_does_not_find_the_sentences(html):
    assert "tip-term" not in (html / "_static" / "search" / "index.js").read_text(encoding="utf-8")


def test_every_letter_leads_to_its_first_term(glossary):
    line = re.search(r'<nav class="letters".*?</nav>', glossary)[0]
    links = re.findall(r'href="#([^"]+)">(\w)<', line)
    assert [letter for _, letter in links] == sorted({letter for _, letter in links})
    shown = re.findall(r'<dt id="([^"]+)">(\w)', glossary)
    assert {letter.upper() for _, letter in shown} == {letter for _, letter in links}
    for anchor, letter in links:
        assert next(a for a, first in shown if first.upper() == letter) == anchor
    assert [first.upper() for _, first in shown] == sorted(first.upper() for _, first in shown)


@pytest.fixture(scope="module")
def page(browser, address):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(f"{address}notebooks/09_generating.html", wait_until="networkidle")
    yield page
    page.close()


@pytest.mark.browser
def test_the_keyboard_shows_a_sentence_and_escape_puts_it_away(page):
    assert page.evaluate(SHOWN) == []
    links = page.locator(".term > a")
    links.nth(1).focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    (shown,) = page.evaluate(SHOWN)
    assert links.nth(1).get_attribute("aria-describedby") == shown
    page.keyboard.press("Escape")
    assert page.evaluate(SHOWN) == []
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(SHOWN) == [shown], "once put away is not for ever"
    page.evaluate("document.activeElement.blur()")


@pytest.mark.browser
def test_on_a_phone_every_sentence_stays_on_the_screen(page):
    for link in page.locator(".term > a").all():
        link.scroll_into_view_if_needed()
        link.hover()
        (box,) = page.evaluate(
            "[...document.querySelectorAll('.term > [role=tooltip]')]"
            ".filter(e => e.checkVisibility()).map(e => e.getBoundingClientRect())"
            ".map(r => [r.left, r.right, r.height])"
        )
        assert box[0] >= 0
        assert box[1] <= 390
        assert box[2] < 250
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.browser
def test_axe_finds_nothing_while_a_sentence_is_shown(page):
    page.evaluate((ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text())
    link = page.locator(".term > a").first
    link.scroll_into_view_if_needed()
    link.hover()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_selector(f"html[data-theme={scheme}]")
        page.evaluate(ANIMATED)
        assert page.evaluate(SHOWN)
        found = page.evaluate(
            "axe.run('.term').then(r => r.violations.map(v => v.id + v.nodes[0].html))"
        )
        assert not found, scheme


@pytest.mark.browser
def test_it_works_without_scripts(tab, address):
    page = tab(java_script_enabled=False)
    page.goto(f"{address}notebooks/09_generating.html")
    page.locator(".term > a").first.hover()
    assert page.locator('.term > [role="tooltip"]').first.is_visible()


@pytest.mark.browser
def test_a_finger_reads_the_sentence_first_and_follows_the_link_at_its_second_touch(tab, address):
    page = tab(390, 844, has_touch=True)
    page.goto(f"{address}notebooks/09_generating.html")
    here = page.url
    words = page.locator(".term > a")
    words.nth(0).tap()
    (first,) = page.evaluate(SHOWN)
    assert page.url == here and first == words.nth(0).get_attribute("aria-describedby")
    words.nth(1).tap()
    (second,) = page.evaluate(SHOWN)
    assert page.url == here and second != first
    page.locator("article h1").tap(position={"x": 5, "y": 5})
    assert page.evaluate(SHOWN) == []
    words.nth(1).tap()
    assert page.url == here
    words.nth(1).tap()
    page.wait_for_url("**/book/glossary.html#term-*")
