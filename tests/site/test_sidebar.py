"""The list of all pages beside each page: folded by part, and complete."""

import io

import lxml.html
import pytest
from PIL import Image
from sitemap import pages


def listed(html, page: str) -> tuple[list[str], dict[str, tuple[bool, int]]]:
    """The addresses that are listed outside of any part; of each part whether it is open, and how
    many pages it lists.
    """
    root = lxml.html.fromstring((html / page).read_text(encoding="utf-8"))
    (nav,) = root.xpath('//nav[contains(@class, "bd-docs-nav")]')
    parts = {
        part.find("summary").text_content().strip(): (
            "open" in part.attrib,
            len(part.xpath(".//li")),
        )
        for part in nav.iter("details")
        if part.get("class") == "nav-part"
    }
    free = [a.get("href") for a in nav.iter("a") if not a.xpath("ancestor::details")]
    return free, parts


CHAPTERS = {"In your browser", "Attention", "The Transformer", "Images and BERT", "Using BERT"}


def test_on_the_welcome_page_the_chapters_are_open(html):
    free, parts = listed(html, "book/welcome.html")
    assert len(free) == 1  # the page itself
    assert {name for name, (is_open, _) in parts.items() if is_open} == CHAPTERS
    assert len(parts) > len(CHAPTERS) and all(n for _, n in parts.values())


@pytest.mark.parametrize(
    ("page", "part"),
    [("notebooks/05_encoder.html", "The Transformer"), ("book/primer.html", "Before you start")],
)
def test_the_part_of_the_page_is_open(html, page, part):
    _, parts = listed(html, page)
    assert [name for name, (is_open, _) in parts.items() if is_open] == [part]


def test_each_page_lists_the_same_parts(html):
    _, expected = listed(html, "book/welcome.html")
    for page in pages():
        assert list(listed(html, page)[1]) == list(expected), page


@pytest.mark.browser
def test_nothing_of_a_list_that_is_scrolled_is_seen_above_the_books_name(tab, address):
    page = tab(1360, 900)
    page.goto(f"{address}book/results/probes.html", wait_until="load")
    page.wait_for_function("document.querySelector('.bd-sidebar-primary').scrollTop > 100")
    picture = page.screenshot(clip={"x": 4, "y": 0, "width": 230, "height": 20})
    assert Image.open(io.BytesIO(picture)).convert("L").getextrema()[0] > 200
