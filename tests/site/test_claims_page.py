"""The pages of claims and of published tables, as built: everything is there, and the filter shows
what it says.
"""

import re
import sys

import pytest
from bs4 import BeautifulSoup
from sitemap import ROOT, pages

sys.path.insert(0, str(ROOT / "book"))
import claims
import published

CLAIMS, PUBLISHED = "book/claims.html", "book/published.html"
pytestmark = pytest.mark.skipif(
    not {CLAIMS, PUBLISHED} <= set(pages()), reason="the two pages are not in _toc.yml"
)


def article(html, path):
    return BeautifulSoup((html / path).read_text(encoding="utf-8"), "html.parser").find("article")


def test_every_claim_has_a_card(html):
    page = article(html, CLAIMS)
    cards = {card["id"]: card for card in page.select(".claim")}
    rows = claims.read()["claims"]
    assert list(cards) == [f"claim-{claim.id}" for claim in rows]
    for claim in rows:
        assert cards[f"claim-{claim.id}"].select_one(".verdict").text == claim.verdict


def test_the_page_opens_on_the_slips(html):
    page = article(html, CLAIMS)
    slips = [claim for claim in claims.read()["claims"] if claim.verdict == "slip"]
    links = page.select("ul.slips a")
    assert [link["href"] for link in links] == [f"#claim-{claim.id}" for claim in slips]
    assert page.select_one("ul.slips").find_previous(class_="claim") is None


def test_the_counts_are_those_of_the_cards(html):
    page = article(html, CLAIMS)
    last = [cell.text for cell in page.find("table").find_all("tr")[-1].find_all("td")]
    counted = [len(page.select(f'.claim[data-verdict="{verdict}"]')) for verdict in claims.VERDICTS]
    assert last[1:] == [str(n) for n in (*counted, sum(counted))]


def test_every_table_is_shown_with_its_source(html):
    page = article(html, PUBLISHED)
    data = published.tables()
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


def test_pictures_follow_the_theme_and_share_no_names(html):
    page = article(html, PUBLISHED)
    ids = [tag["id"] for picture in page.find_all("svg") for tag in picture.find_all(id=True)]
    assert len(ids) == len(set(ids))
    assert all(
        len(picture["aria-label"]) > 60 and "#000000" not in str(picture)
        for picture in page.find_all("svg")
    )


@pytest.mark.browser
def test_the_filter_shows_one_verdict(browser, address):
    page = browser.new_page()
    page.goto(address + CLAIMS)
    for verdict in ("slip", "all"):
        page.get_by_role("button", name=re.compile(rf"^{verdict} \(\d+\)$")).click()
        shown = page.eval_on_selector_all(
            ".claim:not([hidden])", "cards => cards.map(card => card.dataset.verdict)"
        )
        wanted = [
            claim.verdict for claim in claims.read()["claims"] if verdict in ("all", claim.verdict)
        ]
        assert shown == wanted
        assert page.locator("button[aria-pressed=true]").count() == 1
    page.close()
