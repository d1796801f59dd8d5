"""Sections that have moved: an old address leads to the new place, and whatever is not in the list
stays where it was asked for.
"""

import re
import sys
from functools import cache

import pytest
from sitemap import ROOT, pages

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import moved

ALL = moved.load()
RENAMED = moved.renamed(ALL)
TOLD = {old: new for old, new in ALL.items() if old not in RENAMED}
# One old address for each pair of pages; that all anchors exist is seen without a browser.
ONE_EACH = {(old.partition("#")[0], new.partition("#")[0]): old for old, new in TOLD.items()}


def address_of(place: str) -> str:
    """An address of moved.yml as a browser writes it."""
    page, _, anchor = place.partition("#")
    return f"{page}.html#{anchor}"


@cache
def ids(html, place: str) -> list[str]:
    """The anchors of the page that an address of moved.yml lies on."""
    page = html / f"{place.partition('#')[0]}.html"
    return re.findall(r'\bid="([^"]*)"', page.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("just words", "no list of old: new"),
        ("notebooks/a: notebooks/b#c", "notebooks/a is not page#anchor"),
        ("notebooks/a#b: notebooks/c", "notebooks/c is not page#anchor"),
        ("notebooks/a.html#b: notebooks/c#d", "notebooks/a.html#b is not page#anchor"),
        ("a#b: c#d\nc#d: e#f", "a#b leads to c#d, which has moved on itself"),
    ],
)
def test_a_line_that_is_no_move_is_refused(tmp_path, line, said):
    file = tmp_path / "moved.yml"
    file.write_text(line, encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(said)):
        moved.load(file)


def test_nothing_but_comments_is_no_move(tmp_path):
    file = tmp_path / "moved.yml"
    file.write_text("# nothing yet\n", encoding="utf-8")
    assert moved.load(file) == {}


@pytest.mark.parametrize("old", TOLD)
def test_every_new_place_exists_and_no_old_one_is_in_use(html, old):
    assert TOLD[old].partition("#")[2] in ids(html, TOLD[old])
    assert old.partition("#")[2] not in ids(html, old)


def test_a_page_may_have_another_name(tmp_path):
    file = tmp_path / "moved.yml"
    file.write_text("a: b\na#c: b#d", encoding="utf-8")
    told = moved.load(file)
    assert moved.renamed(told) == {"a": "b"} and moved.of_page("a", told) == {"c": "b#d"}


@pytest.mark.browser
@pytest.mark.parametrize("old", RENAMED)
def test_a_page_s_old_name_leads_to_the_section_that_was_asked_for(tab, html, address, old):
    new = RENAMED[old]
    anchor = next(name for name in ids(html, new) if name.count("-") > 1)
    for asked in ("", f"#{anchor}"):
        page = tab()
        page.goto(f"{address}{old}.html{asked}")
        page.wait_for_url(f"{address}{new}.html{asked}")


@pytest.mark.parametrize("path", pages())
def test_only_pages_that_lost_a_section_have_the_script(html, path):
    text = (html / path).read_text(encoding="utf-8")
    assert ("const moved=" in text) == bool(moved.of_page(path.removesuffix(".html"), TOLD))


@pytest.mark.browser
@pytest.mark.parametrize("old", ONE_EACH.values())
def test_an_old_address_leads_to_the_new_place(tab, address, old):
    page = tab()
    page.goto(address + address_of(old))
    page.wait_for_url(address + address_of(TOLD[old]))
    page.wait_for_load_state("load")
    top = "id => document.getElementById(id).getBoundingClientRect().top"
    assert -5 <= page.evaluate(top, TOLD[old].partition("#")[2]) < 800


@pytest.fixture
def pair(tab, tmp_path):
    """Two pages: old.html has lost "gone" and "why-√d" to new.html, and has kept "kept"."""
    script = moved.script({"gone": "new.html#here", "why-√d": "new.html#here"})
    body = '<h2 id="kept">Kept</h2><a href="#gone">gone</a>'
    old, new = tmp_path / "old.html", tmp_path / "new.html"
    old.write_text(f"<!doctype html><head>{script}</head>{body}", encoding="utf-8")
    new.write_text('<!doctype html><h2 id="here">Here</h2>', encoding="utf-8")
    return tab(), old.as_uri(), new.as_uri()


@pytest.mark.browser
@pytest.mark.parametrize("anchor", ["gone", "why-√d", "why-%E2%88%9Ad"])
def test_a_moved_anchor_is_followed_with_what_was_asked(pair, anchor):
    page, old, new = pair
    page.goto(f"{old}?q=1#{anchor}")
    page.wait_for_url(f"{new}?q=1#here")


@pytest.mark.browser
def test_a_link_on_the_open_page_is_followed_and_back_is_no_trap(pair):
    page, old, new = pair
    page.goto(f"{old}#kept")
    page.get_by_role("link").click()
    page.wait_for_url(f"{new}#here")
    page.go_back()
    page.wait_for_url(f"{old}#kept")


@pytest.mark.browser
@pytest.mark.parametrize("anchor", ["", "#kept", "#toString", "#%E2%88", "#unknown"])
def test_any_other_anchor_stays(pair, anchor):
    page, old, _ = pair
    page.goto(old + anchor)
    page.wait_for_timeout(100)
    assert page.url == old + anchor


def test_what_stood_on_the_three_long_pages_is_led_on():
    """All sections that they had when they were split; what came later had no address there."""
    count = {page: len(moved.of_page(f"book/{page}", TOLD)) for page in ("results", "claims")}
    assert count == {"results": 46, "claims": 10 + 132}
    assert len(moved.of_page("book/published", TOLD)) == 14
