"""No raw TeX where a page sets no formulas: headings, Contents, search results, "Ask the book"."""

import json
import re
import sys

import pytest
from sitemap import ROOT, pages, read

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from formula_text import printed
from printed_titles import headings

from lectures_lib.data.book import book_sections

RAW = re.compile(
    r"(?<![A-Za-z0-9_])[A-Za-zα-ω\d)][_^][({A-Za-z0-9-]{1,2}(?![A-Za-z0-9_])|\\[a-z]+|\$[^$]*\$"
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("√d_k by W^Q?", "√<i>d</i><sub>k</sub> by <i>W</i><sup>Q</sup>?"),
        ("W_i^V, 4d^2", "<i>W</i><sub>i</sub><sup>V</sup>, 4<i>d</i><sup>2</sup>"),
        ("e^(s_i) + 10^-4", "<i>e</i><sup><i>s</i><sub>i</sub></sup> + 10<sup>−4</sup>"),
        ("softmax(W_t (u, v))", "softmax(<i>W</i><sub>t</sub> (u, v))"),
        ("top_k, d_model, is_a and n_heads", "top_k, d_model, is_a and n_heads"),
        ("<code>x_1</code> &lt;_b", "<code>x_1</code> &lt;_b"),
    ],
)
def test_an_index_is_printed(text, shown):
    assert printed(text) == shown


def test_only_headings_are_changed_and_their_links_stay():
    body = '<h2>d_k<a class="headerlink" href="#d_k">#</a></h2><p>d_k</p>'
    made = '<h2><i>d</i><sub>k</sub><a class="headerlink" href="#d_k">#</a></h2><p>d_k</p>'
    assert headings(body) == made


def test_no_section_that_can_be_asked_for_shows_tex():
    shown = [printed(text) for one in book_sections() for text in (one.title, one.text)]
    assert len(shown) > 400
    assert not [text for text in shown if RAW.search(text)]


def test_no_heading_shows_tex(html):
    shown = []
    for page in pages():
        for heading in read(html, page).iter("h1", "h2", "h3", "h4"):
            if heading.find(".//code") is None and not heading.find_class("katex"):
                shown.append(heading.text_content())
    assert len(shown) > 300
    assert not [text for text in shown if RAW.search(text)]


def test_no_search_result_shows_tex(html):
    text = (html / "_static" / "search" / "index.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("CourseSearch.index = ").removesuffix(";\n"))
    shown = [one[6] if len(one) > 6 else one[2] for one in index["sections"]]
    shown += [one[3] for one in index["sections"]]
    assert not [text for text in shown if RAW.search(text)]
    assert "√<i>d</i><sub>k</sub>?" in " ".join(shown)


@pytest.mark.browser
def test_contents_search_and_ask_print_them(tab, address):
    page = tab()
    page.goto(address + "notebooks/02_self_attention.html")
    listed = page.locator("#pst-page-toc-nav, .bd-sidebar-secondary").first
    assert listed.locator("sub").count() == 1
    page.goto(address + "search.html?q=divide by d_k")
    shown = page.locator(".found-list a[href*='why-divide'] .found-title")
    shown.wait_for()
    assert shown.locator("sub").inner_text() == "k"
    page.goto(address + "book/ask.html")
    page.locator("#ask-words").fill("why divide by the square root of d_k?")
    page.keyboard.press("Enter")
    page.locator(".ask-found li a[href*='why-divide'] sub").wait_for()
    assert not page.wrong
