"""The pages of measured results, claims and published tables as built: all numbers are there, and no
page is longer than a person reads.
"""

import sys
from collections import Counter
from functools import cache

import pytest
from sitemap import ROOT, article, pages

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import results
import results_layout as layout

FILES = sorted(path.stem for path in results.FOLDER.glob("*.json"))
LONG = {1360: 9_000, 390: 10_000}  # pixels that an article of these pages may be high
FIRST = 1_500  # pixels of what an overview says before its lines, on a phone
LINE = 190  # pixels that a file's line of the overview may be high on a phone, on average
WEIGHT = 120_000  # bytes of such a page, not compressed
LOOKED_UP = [
    page for page in pages() if page.startswith(("book/results", "book/claims", "book/published"))
]


def shown(cell) -> tuple[str, ...]:
    """A cell's number, with the median, the extremes and the count of runs that it shows."""
    small = [span.get_text() for span in cell.select(".spread")]
    words = cell.get_text().removesuffix("".join(f" {line}" for line in small))
    return (" ".join(words.split()), *small)


@pytest.mark.parametrize("name", FILES)
def test_a_page_shows_every_number_of_its_files(html, name):
    section = article(html, f"book/results/{results.home(name)}.html").find(id=results.anchor(name))
    record = results.load(name)["results"]
    usual = layout.usual_runs(record)
    wanted = Counter(
        tuple(filter(None, layout.told(value, usual))) for _, value in layout.leaves(record)
    )
    cells = Counter(shown(cell) for cell in section.select("table.measured td"))
    cells.pop(("",), None)
    assert cells == wanted


def test_a_file_is_on_one_page(html):
    anchors = {
        path: {element["id"] for element in article(html, path).find_all(id=True)}
        for path in LOOKED_UP
        if path.startswith("book/results/")
    }
    for name in FILES:
        there = [path for path, ids in anchors.items() if results.anchor(name) in ids]
        assert there == [f"book/results/{results.home(name)}.html"]


def test_the_overview_has_a_line_for_each_file_and_leads_to_it(html):
    page = article(html, "book/results.html")
    links = [row.find("a")["href"] for row in page.select("table.overview tbody tr")]
    assert links == [
        f"results/{there}.html#{results.anchor(name)}"
        for there, files in results.pages().items()
        for name in files
    ]


@pytest.mark.parametrize("page", results.pages())
def test_a_page_begins_with_a_few_of_its_answers(html, page):
    lines = article(html, f"book/results/{page}.html").select(".in-short li")
    files = {f"#{results.anchor(name)}": name for name in results.pages()[page]}
    assert 2 <= len(lines) <= 3
    for line in lines:
        said = " ".join(line.get_text().split()).replace("’", "'")
        assert said.endswith(results.answer(files[line.find("a")["href"]]))


@pytest.mark.parametrize("page", ["results", "models"])
def test_an_overview_begins_with_a_few_facts_and_says_how_to_read_it(html, page):
    first, second = article(html, f"book/{page}.html").select("section section")[:2]
    facts = [item.get_text() for item in first.select("li")]
    assert 3 <= len(facts) <= 5 and all(any(map(str.isdigit, fact)) for fact in facts)
    assert second.find("h2").get_text().startswith("How to read")
    assert not first.find("table")


def test_a_result_says_who_quotes_it(html):
    section = article(html, "book/results/attention.html").find(id="order")
    links = [link["href"] for link in section.select(".measured-what a")]
    assert links == ["../../notebooks/04_order.html"]


@pytest.mark.parametrize("path", LOOKED_UP)
def test_a_page_is_light(html, path):
    assert (html / path).stat().st_size < WEIGHT


def test_published_tables_of_one_page_have_one_subject():
    """GLUE of 2018 and its leaderboard stand beside each other, and beside nothing else."""
    sys.path.insert(0, str(ROOT / "book"))
    import published

    assert published.PAGES["glue"] == ("glue_tasks", "glue", "glue_leaderboard")
    assert len(published.tables()) == len(list((ROOT / "book" / "published").glob("*.yml")))


@pytest.fixture(scope="module")
def seen(tabs, address):
    """A function that opens a page and gives what was seen on it; a second time, it remembers."""
    return cache(lambda path: look(tabs, address, path))


def look(tabs, address, path) -> dict:
    """What there is of a page on a desk, on a telephone and on paper."""
    page, seen = tabs.take(), {}
    page.goto(address + path)
    for width in LONG:
        page.set_viewport_size({"width": width, "height": 900})
        seen[width] = page.evaluate(SIZE)
    seen["spilled"] = page.evaluate(SPILLED)
    page.set_viewport_size({"width": 718, "height": 1040})
    page.emulate_media(media="print")
    seen["broken"] = page.evaluate(BROKEN)
    tabs.give_back(page)
    return seen


# What is on the first screen leads into the tables, and is not counted.
SIZE = """[document.querySelector("article").offsetHeight -
  (document.querySelector(".in-short")?.offsetHeight ?? 0), document.documentElement.scrollWidth]"""


@pytest.mark.browser
@pytest.mark.parametrize("path", LOOKED_UP)
def test_a_page_is_no_longer_than_a_person_reads(seen, path):
    for width, most in LONG.items():
        if path == "book/results.html":  # a list: it grows with the files
            most = max(most, FIRST + LINE * len(FILES))
        high, wide = seen(path)[width]
        assert high < most
        assert wide <= width


@pytest.mark.browser
def test_single_runs_can_be_unfolded(tab, address):
    page = tab()
    page.goto(address + "book/results/fine_tuning.html")
    runs = page.locator("details.single-runs").first
    assert not runs.locator("table").first.is_visible()
    runs.locator("summary").click()
    assert runs.locator("table").first.is_visible()


@pytest.mark.browser
def test_a_telephone_shows_the_overview_without_scrolling_it(tab, address):
    page = tab(390, 800)
    page.goto(address + "book/results.html")
    widths = "tables => tables.map(t => t.scrollWidth - t.parentElement.clientWidth)"
    assert max(page.eval_on_selector_all("table.overview", widths)) <= 0


SPILLED = """() => [...document.querySelectorAll("table :is(td, th)")]
  .filter((cell) => cell.checkVisibility() && cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent)"""
# A word is broken where its letters stand in more than one line.
BROKEN = """() => [...document.querySelectorAll("table th:not(.stub) p")].filter((p) => p.checkVisibility()).flatMap((p) => {
  const broken = [], text = p.firstChild;
  for (const word of p.textContent.matchAll(/\\w+/g)) {
    if (text.nodeType !== 3 || word.index + word[0].length > text.length) continue;
    const range = document.createRange();
    range.setStart(text, word.index);
    range.setEnd(text, word.index + word[0].length);
    if (range.getClientRects().length > 1) broken.push(word[0]);
  }
  return broken;
})"""


@pytest.mark.browser
@pytest.mark.parametrize("path", LOOKED_UP)
def test_on_a_telephone_no_cell_runs_into_its_neighbour(seen, path):
    assert seen(path)["spilled"] == []


@pytest.mark.browser
@pytest.mark.parametrize("path", LOOKED_UP)
def test_on_paper_no_word_of_a_tables_head_is_broken(seen, path):
    assert seen(path)["broken"] == []


def test_a_title_is_written_as_a_sentence():
    told = results.titled("sst2: minilm by `otter run`")
    assert [part.astext() for part in told] == ["SST-2: MiniLM by ", "otter run", ""]
    assert layout.named(("exact_match",)) == "exact match"


def test_numbers_are_not_parted_from_their_signs():
    from whole_names import whole

    assert whole("<p>97 % of 8 × 64, GPT-2 % 3</p>") == (
        '<p><span class="whole">97 %</span> of <span class="whole">8 × 64</span>, '
        '<span class="whole">GPT-2</span> % 3</p>'
    )


@pytest.mark.browser
def test_what_follows_the_last_date_is_a_paragraph_of_its_own(tab, address):
    page = tab()
    page.goto(f"{address}book/results/fine_tuning.html")
    line = page.locator("section:has(> .measured-what) + p")
    assert line.count() == 1
    last = page.locator("section:has(> .measured-what) > dl.field-list").last.bounding_box()
    assert line.bounding_box()["y"] - (last["y"] + last["height"]) > 12
