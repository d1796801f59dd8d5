"""The site as GitHub publishes a fork: below a folder of its own, from a server that knows nothing of
it.
"""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from live_page import ADDRESS, EVERY_FIGURE
from sitemap import pages

FOLDER = "your-course/"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        """Say nothing."""


@pytest.fixture(scope="module")
def published(html, tmp_path_factory):
    """Where it stands then."""
    place = tmp_path_factory.mktemp("server")
    (place / FOLDER.rstrip("/")).symlink_to(html)
    server = ThreadingHTTPServer(("localhost", 0), partial(Quiet, directory=place))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}/{FOLDER}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def opened(tab, published):
    """An empty tab, and what is not there, or lies elsewhere, of all that its pages ask for."""
    page, wrong = tab(), []

    def look(response):
        if response.status >= 400 or not response.url.startswith((published, "data:", "blob:")):
            wrong.append((response.status, response.url))

    page.on("response", look)
    yield page
    page.remove_listener("response", look)
    assert not wrong
    assert not page.wrong


@pytest.mark.browser
def test_its_front_door_opens(opened, published):
    opened.goto(published)
    opened.wait_for_url(published + pages()[0])


@pytest.mark.browser
@pytest.mark.parametrize("path", [ADDRESS, "notebooks/02_self_attention.html"])
def test_its_figures_find_their_scripts(opened, published, path):
    opened.goto(published + path)
    opened.wait_for_function(EVERY_FIGURE)
    opened.wait_for_load_state("networkidle")


@pytest.mark.browser
def test_its_search_finds(opened, published):
    opened.goto(published + "search.html?q=softmax")
    opened.wait_for_selector("#search-results li a")
