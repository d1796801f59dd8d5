"""The built site, a server for it, and one browser for all test modules that a process runs."""

import asyncio
import json
import os
import shutil
import threading
import time
from functools import cache
from pathlib import Path

import pytest
from live_page import ADDRESS, EVERY_FIGURE, MODULES, PAGE_OF, with_one_figure
from sitemap import ROOT, load_site_tool
from tabs import Tabs, shown

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
def tricks() -> list:
    """Of a bad network: functions that get the handler of a request before the server does, and say
    whether they have answered.
    """
    return []


@pytest.fixture(scope="session")
def address(html, tricks, tmp_path_factory) -> str:
    """Where `tools/site.py serve` serves it, with a slash at the end; of a page's live figures
    `?only=dates` leaves this one. LATE_SCRIPTS=0.5 holds every script back by half a second: a test
    that does not wait for what it reads then fails.
    """
    server, late = load_site_tool().server(0), float(os.environ.get("LATE_SCRIPTS", 0))
    folder = tmp_path_factory.mktemp("only")

    @cache
    def only(path: str, figure: str) -> str:
        page = folder / f"{path.strip('/').replace('/', '_')}_{figure}.html"
        page.write_bytes(with_one_figure(Path(path).read_bytes(), figure))
        return str(page)

    making = threading.Lock()

    class Handler(server.RequestHandlerClass):
        def do_GET(self):
            if ".js" in self.path:
                time.sleep(late)
            if not any([trick(self) for trick in tricks]):
                super().do_GET()

        def translate_path(self, path):
            name, _, figure = path.partition("?only=")
            path = super().translate_path(name)
            with making:
                return only(path, figure) if figure else path

    server.RequestHandlerClass = Handler
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}/"
    server.shutdown()
    server.server_close()


LOOP = pytest.StashKey[asyncio.AbstractEventLoop]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Playwright's loop runs from the first test with a browser to the end. Tests elsewhere do not
    see it: where a loop runs, asyncio begins no other.
    """
    here = item.path.is_relative_to(Path(__file__).parent)
    with shown(item.config.stash.get(LOOP, None) if here else None):
        return (yield)


@pytest.fixture(scope="session")
def chromium(pytestconfig):
    """A function that gives Chromium; to the next module another one, where the last has crashed."""
    path = next(filter(None, map(shutil.which, load_site_tool().BROWSERS)), None)
    if path is None:
        unavailable("no Chromium on this machine: `make system` installs one or says how")
    from playwright.sync_api import Error, sync_playwright

    launched = []

    def answers(one) -> bool:
        try:
            one.new_browser_cdp_session().detach()
        except Error:
            return False
        return True

    def running():
        if not (launched and answers(launched[-1])):
            one = playwright.chromium.launch(executable_path=path, args=FLAGS)
            launched.append(showing_everything(one))
        return launched[-1]

    with sync_playwright() as playwright:
        pytestconfig.stash[LOOP] = asyncio.get_running_loop()
        yield running
        asyncio._set_running_loop(pytestconfig.stash[LOOP])  # the last test may be one elsewhere
        for one in launched:
            one.close()


@pytest.fixture(scope="module")
def browser(chromium):
    """Chromium. What a module has opened there is closed behind it."""
    one = chromium()
    yield one
    if one.is_connected():
        for context in one.contexts:
            context.close()


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


@pytest.fixture(scope="module")
def tabs(browser):
    """The module's tabs (`Tabs`)."""
    kept = Tabs(browser)
    yield kept
    kept.close()


@pytest.fixture
def tab(tabs):
    """A function that gives an empty tab (`Tabs.take`), as if nobody had used it before."""
    taken = []

    def take(*size, **options):
        taken.append(tabs.take(*size, **options))
        return taken[-1]

    yield take
    for page in taken:
        if "LATE_SCRIPTS" in os.environ:
            page.context.close()  # what is in the cache would not be late
        else:
            tabs.give_back(page)


SHIFTS = (
    "window.shift = 0; new PerformanceObserver(list => list.getEntries().forEach(e => { "
    "window.shift += e.value })).observe({type: 'layout-shift', buffered: true})"
)


@pytest.fixture
def open_page(tab, source, tmp_path):
    """A function that opens the page whose text the module's fixture `source` gives; what went
    wrong there fails the test at its end.
    """
    file = tmp_path / "page.html"
    file.write_text(source, encoding="utf-8")
    opened = []

    def open_it(width: int = 800, **options):
        page = tab(width, 900, init=SHIFTS, **options)
        opened.append(page)
        page.goto(file.as_uri())
        return page

    yield open_it
    for page in opened:
        assert not page.wrong
        assert not page.said
        assert not [url[:80] for url in page.asked if url != file.as_uri()]


class Computing:
    """The page's modules, without its figures."""

    def __init__(self, page):
        self._page = page

    def evaluate(self, script: str, given=None):
        """What a function of JavaScript returns. It goes over as one text: Playwright would pass on
        each of a hundred thousand numbers by itself.
        """
        by_text = f"async (text) => JSON.stringify(await ({script})(JSON.parse(text)))"
        text = self._page.evaluate(by_text, json.dumps(given))
        return text and json.loads(text)


@pytest.fixture(scope="module")
def computing(browser, address, request):
    """The page's modules, without its figures; on the page of the figure that a file of tests names
    as its FIGURE, if it asks that figure for something.
    """
    page = browser.new_page()
    page.goto(address + PAGE_OF.get(getattr(request.module, "FIGURE", ""), ADDRESS))
    page.evaluate(MODULES)
    yield Computing(page)
    page.close()


@pytest.fixture
def timed(browser):
    """A function that opens an address for one who asked for less motion, or did not; there time
    stands still, and goes on by `page.clock.run_for`.
    """
    opened = []

    def open_it(url: str, motion: str):
        page = browser.new_page(reduced_motion=motion)
        opened.append(page)
        page.clock.install(time=0)
        page.goto(url)
        page.wait_for_function(EVERY_FIGURE)
        page.clock.pause_at(3600)
        return page

    yield open_it
    for page in opened:
        page.context.close()


@pytest.fixture
def live(tab, address):
    """A function that opens the page as a reader would; script errors fail the test. `only`: of its
    live figures the one that the test uses (each costs time, and all are seen by test_pages.py).
    Without a path it is the figure's page of "Type your own".
    """
    opened = []

    def open_it(width=1000, path="", only="", **options):
        page, path = tab(width, 900, **options), path or PAGE_OF.get(only, ADDRESS)
        opened.append(page)
        page.goto(address + path + (only and f"?only={only}"))
        if options.get("java_script_enabled", True):
            page.wait_for_function(EVERY_FIGURE)
        return page

    yield open_it
    for page in opened:
        assert not page.wrong
