"""A tab that was used is as good as a new one; a test that it serves sees nothing of the one before.
All test modules use one browser, of which tests elsewhere see nothing.
"""

import asyncio
import contextlib
from pathlib import Path
from types import SimpleNamespace

import pytest
from playwright.sync_api import Error
from sitemap import ROOT

pytestmark = pytest.mark.browser
LEFT = """() => ({
  kept: [localStorage.length, sessionStorage.length],
  size: [innerWidth, innerHeight],
  dark: matchMedia("(prefers-color-scheme: dark)").matches,
  still: matchMedia("(prefers-reduced-motion: reduce)").matches,
  paper: matchMedia("print").matches,
  mine: typeof window.mine,
})"""
PAGE = "book/welcome.html"


def test_a_used_tab_remembers_nothing(tabs, address):
    page = tabs.take()
    page.goto(address + PAGE, wait_until="networkidle")  # a live figure's modules come late
    new = page.evaluate(LEFT)
    asked = sorted(set(page.asked))
    page.evaluate("localStorage.mine = sessionStorage.mine = window.mine = 1")
    page.evaluate("setTimeout(() => { throw new Error('late') }, 0); console.error('said')")
    page.context.route("**/*.css*", lambda route: route.abort())
    page.emulate_media(media="print", color_scheme="dark", reduced_motion="reduce")
    page.set_viewport_size({"width": 390, "height": 800})
    page.context.new_page()
    page.goto(address + PAGE)
    assert page.failed and page.wrong and page.said
    assert page.evaluate(LEFT) != new
    tabs.give_back(page)

    again = tabs.take()
    assert again is page and again.url == "about:blank"
    assert len(again.context.pages) == 1
    again.goto(address + PAGE, wait_until="networkidle")
    assert again.evaluate(LEFT) == new
    assert sorted(set(again.asked)) == asked
    assert not (again.failed or again.wrong or again.said)
    tabs.give_back(again)


def test_a_tab_that_is_in_use_or_of_another_kind_or_closed_is_not_given_out(tabs):
    page = tabs.take()
    others = [tabs.take(), tabs.take(guessing=True), tabs.take(has_touch=True)]
    assert page not in others
    tabs.give_back(page)
    assert tabs.take(java_script_enabled=False) is not page
    assert tabs.take() is page
    page.close()
    tabs.give_back(page)
    assert tabs.take() is not page


@pytest.fixture
def around(request):
    """A function that gives what conftest.py puts around a test of this file."""
    conftest = str(Path(__file__).with_name("conftest.py"))
    plugins = request.config.pluginmanager.get_plugins()
    (ours,) = [one for one in plugins if getattr(one, "__file__", None) == conftest]

    def of(path):
        return ours.pytest_runtest_protocol(SimpleNamespace(path=path, config=request.config))

    return of


def test_where_no_browser_is_used_a_loop_can_begin(browser, around):
    loop = asyncio.get_running_loop()
    for path, seen in [
        (ROOT / "tests" / "homework" / "test_dask.py", None),
        (ROOT / "notebooks" / "01_bottleneck.ipynb", None),
        (Path(__file__).with_name("test_server.py"), loop),
    ]:
        test = around(path)
        next(test)
        assert asyncio._get_running_loop() is seen, path
        if seen is None:
            assert asyncio.run(asyncio.sleep(0, "done")) == "done"
        with pytest.raises(StopIteration):
            next(test)
        assert asyncio.get_running_loop() is loop


def test_a_browser_that_has_crashed_is_replaced(chromium):
    one = chromium()
    assert chromium() is one
    with contextlib.suppress(Error):
        one.new_browser_cdp_session().send("Browser.crash")
    another = chromium()
    assert another is not one and another.new_page().evaluate("1 + 1") == 2
