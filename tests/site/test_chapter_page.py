"""A chapter's page as a reader meets it on a screen of 1,360 × 900: its frame, its first figure, how
much of it is code.
"""

import re

import pytest
from sitemap import ROOT

pytestmark = pytest.mark.browser
CHAPTERS = sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"))
MEASURE = """() => {
  const article = document.querySelector("article"), seen = (e) => e.checkVisibility();
  const height = (e) => e.getBoundingClientRect().height;
  const sum = (list) => [...list].filter(seen).reduce((total, e) => total + height(e), 0);
  const pictures = "img, table, iframe, svg:not(button svg), [role=group], .stepper, .attention-lab, .attention-viewer";
  const texts = [...article.querySelectorAll("div.cell_output")].filter((e) => !e.querySelector(pictures));
  const figures = [...article.querySelectorAll("figure, img, svg:not(button svg), [role=group], .attention-viewer")].filter(seen);
  const code = [...article.querySelectorAll("div.cell_input pre")].filter(seen);
  return {
    code: (sum(article.querySelectorAll("div.cell_input")) + sum(texts)) / height(article),
    figure: Math.min(...figures.filter((e) => height(e) > 60).map((e) => e.getBoundingClientRect().top + scrollY)),
    scrolling: code.filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent),
  };
}"""


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page(viewport={"width": 1360, "height": 900})
    yield page
    page.close()


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_begins_with_a_picture_and_is_more_than_code(page, address, chapter):
    page.goto(f"{address}notebooks/{chapter}.html")
    page.wait_for_load_state("load")
    found = page.evaluate(MEASURE)
    assert found["figure"] <= 700, "the first figure stands too low"
    assert found["code"] <= 0.41, "too much of the page is code and its output"
    assert not found["scrolling"], "code of 88 columns fits"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_says_where_it_stands_and_leads_to_its_notebook(html, chapter):
    text = (html / "notebooks" / f"{chapter}.html").read_text(encoding="utf-8")
    line = re.search(r'<p class="chapter-frame">.*?</p>', text)[0]
    assert re.search(rf"· chapter {int(chapter[:2])} of {len(CHAPTERS)} · about \d+ minutes<", line)
    assert f"/blob/main/notebooks/{chapter}.ipynb" in line
    assert (html / "_sources" / "notebooks" / f"{chapter}.ipynb").exists()
    around = re.findall(r'prev-next-title">(.*?)<', text)
    number = int(chapter[:2])
    if number > 1:
        assert around[0].startswith(f"{number - 1}. ")
    if number < len(CHAPTERS):
        assert around[-1].startswith(f"{number + 1}. ")
