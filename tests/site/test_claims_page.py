"""The pages of claims and of published tables, as built: everything is there, and the filter shows
what it says.
"""

import re
import sys
from collections import Counter

import pytest
from sitemap import ROOT, article, pages

sys.path.insert(0, str(ROOT / "book"))
import claims
import published

CLAIMS, PUBLISHED = "book/claims.html", "book/published.html"
TOPICS = {f"book/claims/{name}.html": topics for name, topics in claims.read()["pages"].items()}
TABLES = {f"book/published/{name}.html": name for name in published.PAGES}
pytestmark = pytest.mark.skipif(
    not {CLAIMS, PUBLISHED, *TOPICS, *TABLES} <= set(pages()),
    reason="the pages are not in _toc.yml",
)


def rows_of(path):
    return [claim for claim in claims.read()["claims"] if claim.topic in TOPICS[path]]


def test_every_claim_has_a_card_on_one_page(html):
    shown = []
    for path in TOPICS:
        cards = {card["id"]: card for card in article(html, path).select(".claim")}
        assert list(cards) == [f"claim-{claim.id}" for claim in rows_of(path)]
        for claim in rows_of(path):
            assert cards[f"claim-{claim.id}"].select_one(".verdict").text == claim.verdict
        shown += cards
    assert sorted(shown) == sorted(f"claim-{claim.id}" for claim in claims.read()["claims"])


def test_the_overview_names_the_slips_and_leads_to_them(html):
    page = article(html, CLAIMS)
    slips = [claim for claim in claims.read()["claims"] if claim.verdict == "slip"]
    links = page.select("ul.slips a[href^=claims]")
    assert [link["href"] for link in links] == [
        f"claims/{claims.page(claim.topic)}.html#claim-{claim.id}" for claim in slips
    ]


def test_the_counts_are_those_of_the_cards(html):
    page = article(html, CLAIMS)
    counted = Counter(claim.verdict for claim in claims.read()["claims"])
    last = [cell.text for cell in page.find("table").find_all("tr")[-1].find_all("td")]
    assert last[1:] == [str(n) for n in (*map(counted.get, claims.VERDICTS), sum(counted.values()))]
    for row, topic in zip(
        page.select("table.topics tbody tr"), claims.read()["topics"], strict=True
    ):
        these = Counter(c.verdict for c in claims.read()["claims"] if c.topic == topic)
        told = [int(cell.text) for cell in row.find_all("td")[1:]]
        assert told == [*(these[verdict] for verdict in claims.VERDICTS), sum(these.values())]


@pytest.mark.parametrize("path", TABLES)
def test_every_table_is_shown_with_its_source(html, path):
    page = article(html, path)
    data = published.tables(TABLES[path])
    sections = page.find("section").find_all("section", recursive=False)
    assert [section.find("h2").contents[0] for section in sections] == [
        re.sub("'", "’", table.title) for table in data
    ]
    for section, table in zip(sections, data, strict=True):
        shown = section.find("table")
        assert len(shown.find("tbody").find_all("tr")) == len(table.rows)
        assert [head.text for head in shown.find("thead").find_all(["th", "td"])] == [
            re.sub("'", "’", c.head) for c in table.columns
        ]
        assert section.find("dl").find("a")
        assert bool(section.find("svg")) == bool(table.figure)


def test_the_overview_of_tables_leads_to_each(html):
    links = article(html, PUBLISHED).select("table.overview tbody tr td:first-child a")
    assert [link["href"].partition("#")[0] for link in links] == [
        f"published/{published.page(table.name)}.html" for table in published.tables()
    ]


@pytest.mark.parametrize("path", [*TABLES, "book/results/language_models.html"])
def test_pictures_follow_the_theme_and_share_no_names(html, path):
    page = article(html, path)
    ids = [tag["id"] for picture in page.find_all("svg") for tag in picture.find_all(id=True)]
    assert len(ids) == len(set(ids))
    assert all(
        len(picture["aria-label"]) > 60 and "#000000" not in str(picture)
        for picture in page.find_all("svg")
    )


@pytest.mark.browser
@pytest.mark.parametrize("path", TOPICS)
def test_the_filter_shows_one_verdict(tab, address, path):
    page = tab()
    page.goto(address + path)
    for verdict in ("holds", "all"):
        page.get_by_role("button", name=re.compile(rf"^{verdict} \(\d+\)$")).click()
        wanted = [c.verdict for c in rows_of(path) if verdict in ("all", c.verdict)]
        assert verdicts(page) == wanted
        assert page.locator("button[aria-pressed=true]").count() == 1


def verdicts(page):
    return page.eval_on_selector_all(
        ".claim:not([hidden])", "cards => cards.map(card => card.dataset.verdict)"
    )


@pytest.mark.browser
def test_a_count_of_the_overview_leads_to_these_claims_alone(tab, address):
    page = tab()
    page.goto(address + CLAIMS)
    page.locator("table.topics tbody tr").first.locator("a[title^='loose wording']").click()
    page.wait_for_url("**/claims/attention.html?verdict=loose+wording#attention")
    page.wait_for_selector(".claim-filter")
    assert set(verdicts(page)) == {"loose wording"}


@pytest.mark.browser
def test_a_link_to_one_claim_shows_it_whatever_is_asked(tab, address):
    page = tab()
    page.goto(f"{address}book/claims/attention.html?verdict=holds#claim-listing-1")
    page.wait_for_selector(".claim-filter")
    assert page.locator("#claim-listing-1").is_visible()
