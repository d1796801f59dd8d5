"""A chapter's page: its frame, and what its folds say of themselves. (Its first figure, and how much of
it is code, are seen on the visit that test_pages.py pays to every page.)
"""

import re

import lxml.html
import pytest
from sitemap import ROOT

PAGES = sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"))
NUMBERS = {page: page.split("_")[0].lstrip("0") for page in PAGES}
CHAPTERS = [page for page in PAGES if NUMBERS[page] != "13b"]  # which stands between two of them
LAST = max(int(page[:2]) for page in PAGES)


def neighbours(page):
    """The pages before and after this one, in the order of the book; "" where there is none."""
    place = PAGES.index(page)
    return ["", *PAGES, ""][place], ["", *PAGES, ""][place + 2]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_says_where_it_stands_and_leads_to_its_notebook(html, chapter):
    text = (html / "notebooks" / f"{chapter}.html").read_text(encoding="utf-8")
    line = re.search(r'<p class="chapter-frame">.*?</p>', text)[0]
    of_all = f" of {LAST}" if NUMBERS[chapter].isdigit() else ""  # 9b is none of 18
    assert re.search(rf"· chapter {NUMBERS[chapter]}{of_all} · about \d+ minutes[ <]", line)
    assert f"/blob/main/notebooks/{chapter}.ipynb" in line
    assert (html / "_sources" / "notebooks" / f"{chapter}.ipynb").exists()
    around = re.findall(r'prev-next-title">(.*?)<', text)
    before, after = neighbours(chapter)
    if before in CHAPTERS:
        assert around[0].startswith(f"{NUMBERS[before]}. ")
    if after in CHAPTERS:
        assert around[-1].startswith(f"{NUMBERS[after]}. ")


def test_a_chapter_says_what_it_begins_from(html):
    """All but those that need no other chapter."""
    needs = {}
    for chapter in PAGES:
        text = (html / "notebooks" / f"{chapter}.html").read_text(encoding="utf-8")
        line = re.search(r'<p class="chapter-frame">.*?</p>', text)[0]
        found = re.search(r" · needs (chapters? .+?)<", line)
        needs[NUMBERS[chapter]] = found[1] if found else None
    assert {chapter for chapter, said in needs.items() if said is None} == {"1", "2", "7", "13b"}
    assert needs["5"] == "chapters 2, 3 and 4"
    assert needs["12"] == "chapters 4, 5 and 7b"
    assert needs["6"] == "chapter 5"
    # 13b has no number in the contents
    assert needs["13c"] == "chapter 13 and “How sure can we be?”"


@pytest.mark.parametrize("between", sorted(set(PAGES) - set(CHAPTERS)))
def test_a_page_between_two_chapters_says_so_and_has_no_number(html, between):
    text = (html / "notebooks" / f"{between}.html").read_text(encoding="utf-8")
    line = re.search(r'<p class="chapter-frame">.*?</p>', text)[0]
    around = [NUMBERS[neighbour] for neighbour in neighbours(between)]
    assert f"· between chapters {around[0]} and {around[1]} · about" in line
    titles = re.findall(r'prev-next-title">(.*?)<', text)
    assert [title.split(".")[0] for title in titles] == around
    title = re.search(r"<h1>(.*?)<", text)[1]
    for neighbour in neighbours(between):
        page = (html / "notebooks" / f"{neighbour}.html").read_text(encoding="utf-8")
        assert title in re.findall(r'prev-next-title">(.*?)<', page)


def test_folds_say_what_is_in_them(html):
    """A solution is called one, code is called code; what those need who write libraries is folded
    from its paragraph to the end of its section, cells included.
    """
    with_libraries = set()
    for chapter in PAGES:
        page = lxml.html.fromstring((html / "notebooks" / f"{chapter}.html").read_text("utf-8"))
        folds = page.find_class("hide")
        said = [p.text_content() for fold in folds for p in fold.find_class("collapsed")]
        solutions = page.get_element_by_id("exercises").find_class("tag_hide-cell")
        assert said.count("Solution") == len(solutions)
        assert set(said) <= {"Show the set-up cell", "Show the code", "Solution"}
        for fold in page.find_class("for-libraries"):
            with_libraries.add(chapter)
            assert fold.findtext("summary//strong") == "For those who write libraries."
            assert fold.getnext() is None or fold.getnext().tag == "section"
            assert list(fold.iter("p", "div"))
    assert with_libraries == {"02_self_attention", "03_multi_head_attention"}
