"""The tool that makes one PDF of the chapters: its order, its numbers, and links that lead inside
it.
"""

import importlib.util
from urllib.parse import urldefrag

import pytest
from sitemap import ROOT, pages

SPEC = importlib.util.spec_from_file_location("pdf_tool", ROOT / "tools" / "pdf.py")
tool = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tool)


def test_every_chapter_is_in_it_in_the_order_of_the_site():
    of_the_book = [address for _, below in tool.contents() for _, address in below]
    chapters = [page for page in pages() if page.startswith("notebooks/")]
    assert [page for page in of_the_book if page in chapters] == chapters
    assert of_the_book == [page for page in pages() if page in of_the_book]


@pytest.fixture(scope="module")
def book(html, address, browser):
    """Two pages that lead to each other, joined: the file, what was printed, and the site's
    address.
    """
    parts = [("One", [("7b. WordPiece", "notebooks/07b_wordpiece.html")])]
    parts += [("Two", [("", "book/glossary.html")])]
    addresses = [address for _, below in parts for _, address in below]
    names, made, first = tool.asked_for(addresses), {}, 1
    page = browser.new_page(viewport={"width": 840, "height": 1188})
    for title, one in (page for _, below in parts for page in below):
        made[one] = tool.printed(page, address, title, one, names[one], first)
        first += len(made[one].pdf.pages)
    front = tool.front(page, address, parts, made, "The book")
    page.close()
    return tool.join(front, made, address, "https://example.org/"), made, names


def targets(writer, sheets):
    """Where the links on these sheets lead: a number of a sheet, or an address."""
    numbers = {sheet.indirect_reference.idnum: i for i, sheet in enumerate(writer.pages)}
    for i in sheets:
        for way in writer.pages[i].get("/Annots", []):
            way = way.get_object()
            if "/Dest" in way:
                yield numbers[way["/Dest"][0].idnum]
            elif "/A" in way:
                yield str(way["/A"]["/URI"])


@pytest.mark.browser
def test_the_numbers_go_on_and_the_contents_name_them(book):
    writer, made, _ = book
    chapter, glossary = made.values()
    assert (chapter.first, glossary.first) == (1, len(chapter.pdf.pages) + 1)
    assert glossary.title == "Glossary"
    text = writer.pages[1].extract_text()
    assert f"Glossary {glossary.first}" in text
    # the foot is the first that the browser writes
    assert writer.pages[-1].extract_text().startswith(f"{len(writer.pages) - 2}Glossary")
    assert [writer.page_labels[i] for i in (0, 1, 2)] == ["i", "ii", "1"]
    assert [one.title for one in writer.outline] == ["7b. WordPiece", "Glossary"]


@pytest.mark.browser
def test_what_another_page_asks_for_is_found_in_the_file(book):
    writer, made, names = book
    asked = names["book/glossary.html"]
    assert asked, "chapter 7b has words of the glossary"
    assert asked <= set(made["book/glossary.html"].names)
    n_chapter = len(made["notebooks/07b_wordpiece.html"].pdf.pages)
    led = list(targets(writer, range(2, 2 + n_chapter)))
    to_glossary = [there for there in led if isinstance(there, int) and there >= 2 + n_chapter]
    assert len(to_glossary) >= len(asked)
    assert len(set(to_glossary)) > 1, "not all words stand on the glossary's first sheet"


@pytest.mark.browser
def test_what_is_not_in_the_file_is_on_the_published_site(book, address):
    led = [there for there in targets(book[0], range(len(book[0].pages))) if isinstance(there, str)]
    assert any(urldefrag(there)[0].startswith("https://example.org/notebooks/") for there in led)
    assert not [there for there in led if address in there]


@pytest.mark.browser
def test_it_is_as_it_would_be_printed_on_a4(book):
    writer, _, _ = book
    text = "\n".join(sheet.extract_text() for sheet in writer.pages)
    assert "at the end, no. 1" in text
    assert [round(float(side)) for side in writer.pages[2].mediabox[2:]] == [595, 842]


def test_the_link_stands_where_the_site_has_a_place_for_it(tmp_path, monkeypatch):
    page = tmp_path / "book" / "running.html"
    page.parent.mkdir()
    page.write_text('<h2>Offline</h2><p id="as-pdf"></p><p>on</p>', encoding="utf-8")
    monkeypatch.setattr(tool, "HTML", tmp_path)
    for n_sheets in (500, 600):  # and again, after another build
        tool.show_link(n_sheets, 12_300_000)
    text = page.read_text(encoding="utf-8")
    assert text.count("as-pdf") == 1
    assert f'<a href="../{tool.NAME}">' in text and "(600 pages, 12 MB)" in text
    page.write_text("<p>nothing</p>", encoding="utf-8")
    with pytest.raises(SystemExit, match="0 places"):
        tool.show_link(1, 1)
