"""`tools/site.py serve`: compressed, cached, and clear about what is wrong."""

import gzip
from urllib.parse import urlsplit

import pytest
from asking import ask
from live_page import PAGE_OF
from sitemap import load_site_tool, pages


def test_pages_come_compressed_to_those_who_can_read_that(address, html):
    page = pages()[0]
    response, body = ask(address, page, Accept_Encoding="gzip")
    assert (
        response.headers["Content-Encoding"] == "gzip"
        and gzip.decompress(body) == (html / page).read_bytes()
    )
    response, body = ask(address, page)
    assert response.headers["Content-Encoding"] is None and body == (html / page).read_bytes()


def test_what_has_not_changed_is_not_sent_again(address):
    first, _ = ask(address, pages()[0])
    again, body = ask(address, pages()[0], If_None_Match=first.headers["ETag"])
    assert (again.status, body) == (304, b"")


def test_versioned_files_are_kept_for_good(address):
    response, _ = ask(address, "_static/course.css?v=1")
    assert "immutable" in response.headers["Cache-Control"]
    response, _ = ask(address, "_static/course.css")
    assert response.headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize("path", ["nothing-here.html", "../_config.yml", "%2e%2e/_config.yml"])
def test_nothing_else_is_served(address, path):
    assert ask(address, path)[0].status == 404


def test_a_port_in_use_is_named(address):
    port = urlsplit(address).port
    with pytest.raises(SystemExit, match=rf"{port}.*make serve PORT={port + 1}"):
        load_site_tool().server(port)


def test_without_a_site_it_says_what_to_do(tmp_path):
    tool = load_site_tool()
    tool.HTML = tmp_path
    with pytest.raises(SystemExit, match="make book"):
        tool.server(0)


def test_of_a_pages_live_figures_a_test_may_ask_for_one(address):
    path = PAGE_OF["dates"]
    one, whole = (ask(address, f"{path}{only}")[1] for only in ("?only=dates", ""))
    assert one.count(b"data-live=") == 1 and b"A date, letter by letter" in one
    assert whole.count(b"data-live=") > 3
