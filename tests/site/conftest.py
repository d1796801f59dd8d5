"""The built site, a server for it, and one browser a test module."""

import os
import shutil
import threading
import time
from pathlib import Path

import pytest
from live_page import ADDRESS, MODULES
from sitemap import ROOT, load_site_tool

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items):
    """Where a browser draws beside other work, a test of it may fail once and is then run again;
    the summary says how many were. What is broken fails twice.
    """
    if "LATE_SCRIPTS" in os.environ:
        return
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))


def unavailable(reason: str) -> None:
    """Skip, or fail where nothing may be skipped."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def html() -> Path:
    """The folder of the built site."""
    folder = ROOT / "_build" / "html"
    if not (folder / "index.html").exists():
        unavailable("the site is not built: run `make book SERVE=0`")
    return folder


@pytest.fixture(scope="session")
def address(html) -> str:
    """Where `tools/site.py serve` serves it, with a slash at the end. LATE_SCRIPTS=0.5 holds every
    script back by half a second: a test that does not wait for what it reads then fails.
    """
    server = load_site_tool().server(0)
    if late := float(os.environ.get("LATE_SCRIPTS", 0)):
        at_once = server.RequestHandlerClass

        class Late(at_once):
            def do_GET(self):
                if ".js" in self.path:
                    time.sleep(late)
                super().do_GET()

        server.RequestHandlerClass = Late
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser():
    """Chromium."""
    path = next(filter(None, map(shutil.which, load_site_tool().BROWSERS)), None)
    if path is None:
        unavailable("no Chromium on this machine: `make system` installs one or says how")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield showing_everything(chromium)
        chromium.close()


def showing_everything(chromium):
    """The browser of one who only reads: nothing waits for a guess. `guessing` opens a context of
    one who predicts first.
    """
    script = "try { localStorage.setItem('course-guess-plain', 'yes'); } catch { }"

    def told(opened):
        opened.add_init_script(script)
        return opened

    context, page = chromium.new_context, chromium.new_page
    chromium.guessing = context
    chromium.new_context = lambda **options: told(context(**options))
    chromium.new_page = lambda **options: told(page(**options))
    return chromium


@pytest.fixture
def open_page(browser, source, tmp_path):
    """A function that opens the page whose text the module's fixture `source` gives; what went
    wrong there fails the test at its end.
    """
    file = tmp_path / "page.html"
    file.write_text(source, encoding="utf-8")
    contexts, wrong = [], []

    def open_it(width: int = 800, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: wrong.append(f"script error: {error}"))
        page.on(
            "console",
            lambda message: (
                wrong.append(f"console: {message.text}")
                if message.type in ("error", "warning")
                else None
            ),
        )
        page.on(
            "request",
            lambda request: (
                None
                if request.url == file.as_uri()
                else wrong.append(f"request: {request.url[:80]}")
            ),
        )
        page.add_init_script(
            "window.shift = 0; new PerformanceObserver(list => list.getEntries().forEach(e => { "
            "window.shift += e.value })).observe({type: 'layout-shift', buffered: true})"
        )
        page.goto(file.as_uri())
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert not wrong


# A figure's module is fetched when the page has loaded: until then its place holds the example.
EVERY_FIGURE = """() => [...document.querySelectorAll(".live[data-live]")].every(
  (place) => place.classList.contains("lv-on"))"""


@pytest.fixture(scope="module")
def computing(browser, address):
    """The page's modules, without its figures."""
    page = browser.new_page()
    page.goto(address + ADDRESS)
    page.evaluate(MODULES)
    yield page
    page.close()


@pytest.fixture
def live(browser, address):
    """A function that opens the page as a reader would; script errors fail the test."""
    pages, wrong = [], []

    def open_it(width=1000, path=ADDRESS, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.asked = []
        # the context also hears what a worker asks for
        context.on("request", lambda request: page.asked.append(request.url))
        page.goto(address + path)
        pages.append(context)
        if options.get("java_script_enabled", True):
            page.wait_for_function(EVERY_FIGURE)
        return page

    yield open_it
    for context in pages:
        context.close()
    assert not wrong
