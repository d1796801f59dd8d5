"""What search engines, social networks and lost readers are given."""

import sys
from functools import cache
from types import SimpleNamespace
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
import yaml
from asking import ask
from bs4 import BeautifulSoup
from docutils import nodes
from PIL import Image
from sitemap import ROOT, pages

from lectures_lib.show import palette
from lectures_lib.show.drawings import DRAWINGS, draw

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import being_found
import social_cards

UNLISTED = ["search.html", "404.html", "genindex.html"]


@pytest.fixture(scope="module")
def base() -> str:
    """Where the site is published, from the one setting."""
    return being_found.published_at(
        yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]
    )


@pytest.fixture(scope="module")
def head(html):
    """A function: what a page's head says, by name or property; each is read once, without its
    body.
    """

    @cache
    def read(path: str) -> dict[str, list[str]]:
        text = (html / path).read_text(encoding="utf-8").partition("</head>")[0]
        soup = BeautifulSoup(text, "html.parser").head
        said = {"title": [soup.title.get_text()]}
        for tag in soup.find_all("meta", content=True):
            name = tag.get("name") or tag.get("property")
            said.setdefault(name, []).append(tag["content"])
        links = soup.find_all("link", rel="canonical")
        return {**said, "canonical": [link["href"] for link in links]}

    return read


@pytest.mark.parametrize(
    ("repository", "address"),
    [
        ("https://github.com/Ada/course/", "https://ada.github.io/course/"),
        ("https://github.com/ada/ada.github.io", "https://ada.github.io/"),
    ],
)
def test_a_fork_is_published_elsewhere(repository, address):
    assert being_found.published_at(repository) == address


@pytest.mark.parametrize("path", [*pages(), *UNLISTED])
def test_one_viewport_and_one_address(head, base, path):
    said = head(path)
    assert len(said["viewport"]) == 1
    assert said["canonical"] == [base + path]


def test_each_page_has_its_own_description(head):
    told = {path: head(path)["description"] for path in pages()}
    assert all(len(texts) == 1 for texts in told.values())
    texts = {path: text[0] for path, text in told.items()}
    assert len(set(texts.values())) == len(texts)
    for path, text in texts.items():
        assert 50 <= len(text) <= 161, (path, text)
        assert text.endswith((".", "?", "!", "…", ".”")), (path, text)
        title = head(path)["title"][0].split(" — ")[0]
        assert not text.startswith(title), (path, text)


def test_a_description_stops_between_sentences_or_words():
    from docutils.core import publish_doctree

    def said(text):
        return being_found.description("book/any", publish_doctree(text))

    sentence = "Twelve words stand in this line, which is long enough to be one. "
    assert said(sentence * 2) == (sentence * 2).strip()
    assert said(sentence * 5) == (sentence * 2).strip()
    assert said("word " * 50) == "word " * 31 + "…"
    assert said("Short.\n\nAnd " + "word " * 20) == ("Short. And " + "word " * 20).strip()


def test_every_chapter_has_its_lines():
    told = being_found.chapter_lines()
    assert [f"{name}.html" for name in told] == [p for p in pages() if p.startswith("notebooks/")]
    for lines in told.values():
        assert len(lines["question"]) <= being_found.MOST
        assert len(lines["able"]) <= 90


def test_a_chapters_tab_has_its_number(head):
    title = head("notebooks/03_multi_head_attention.html")["title"][0]
    assert title == "3. Multi-head attention — From Attention to BERT"
    assert head(pages()[0])["title"] == ["From Attention to BERT"]


@pytest.mark.parametrize("path", ["index.html", *pages()])
def test_a_link_has_a_preview(head, html, base, path):
    said = head(path)
    assert said["og:title"] == said["title"]
    assert said["og:description"] == said["description"]
    assert said["og:url"] == said["canonical"]
    assert said["twitter:card"] == ["summary_large_image"]
    (picture,) = said["og:image"]
    assert said["og:image:alt"][0]
    file = html / picture.removeprefix(base)
    assert (file.stem == "course") != path.startswith("notebooks/")
    with Image.open(file) as card:
        assert card.size == (1200, 630)
    assert file.stat().st_size < 200_000


def test_the_map_of_the_site_has_all_its_pages(html, base):
    urls = ElementTree.parse(html / "sitemap.xml").getroot()
    listed = [url.findtext("{*}loc") for url in urls]
    assert listed == [base + page for page in pages()]
    assert f"Sitemap: {base}sitemap.xml" in (html / "robots.txt").read_text()


@pytest.mark.parametrize("path", UNLISTED)
def test_what_is_no_page_is_not_listed(head, path):
    assert head(path)["robots"] == ["noindex"]


def test_lost_addresses_are_answered_in_every_folder(html, address, base):
    top = urlsplit(base).path
    response, body = ask(address, "notebooks/99_nothing.html")
    assert response.status == 404
    links = BeautifulSoup(body, "html.parser").find_all(href=True)
    inside = [link["href"] for link in links if not urlsplit(link["href"]).netloc]
    assert {link[0] for link in inside} == {"#", "/"}
    for link in inside:
        if link.startswith("/"):
            assert link.startswith(top)
            assert ask(address, urlsplit(link).path[1:])[0].status == 200, link


@pytest.mark.browser
def test_a_lost_reader_can_search(tab, address):
    page = tab()
    page.set_default_timeout(30_000)
    page.goto(address + "notebooks/deep/nothing.html")
    page.get_by_role("searchbox").fill("beam search")
    found = page.locator("#search-results a").first
    found.wait_for()
    found.click()
    page.wait_for_url("**/notebooks/09_generating.html#beam-search")


@pytest.mark.browser
def test_a_lost_address_promises_no_search_that_needs_scripts(tab, address):
    plain = tab(java_script_enabled=False)
    plain.goto(f"{address}no/such/page.html")
    said = " ".join(plain.locator(".bd-search-container").inner_text().split())
    assert said.endswith("perhaps a page has moved. Start at the list of chapters.")
    page = tab()
    page.goto(f"{address}no/such/page.html")
    said = " ".join(page.locator(".bd-search-container p").inner_text().split())
    assert said.endswith("Search for what you wanted, or start at the list of chapters.")


def test_a_card_has_the_first_picture_of_its_chapter(tmp_path):
    """Be it a drawing or a plot; each in the colours of both themes."""
    plot = tmp_path / "plot.svg"
    plot.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="40pt" height="30pt" viewBox="0 0 40 30">'
        '<path d="M0 0L40 0L40 30L0 30z" style="fill: #fffffe"/></svg>'
    )
    image = nodes.image(uri="plot.svg")
    drawing = nodes.raw("", draw("clocks")._repr_html_(), format="html")

    def first(*page):
        tree = nodes.section("", *page)
        return social_cards.first_figure(SimpleNamespace(srcdir=tmp_path), tree)

    assert first(nodes.paragraph()) is None
    assert first(image, drawing)["light"] == plot.read_text()
    shown = first(drawing.deepcopy(), image.deepcopy())
    for theme, paper in (
        ("light", palette.colour("paper")),
        ("dark", palette.colour("paper", "dark")),
    ):
        assert "var(" not in shown[theme]
        seen = dict((c, n) for n, c in social_cards.in_pixels(shown[theme], paper).getcolors(99999))
        wanted = palette.colour("position", theme)
        assert seen.get((*bytes.fromhex(wanted[1:]), 255), 0) > 100


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", DRAWINGS)
def test_a_card_knows_every_colour_of_a_drawing(name, theme):
    assert "var(" not in social_cards.coloured(draw(name).svg(), theme)
