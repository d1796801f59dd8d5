"""Tabs that are opened once and used again: each test gets one that remembers nothing, for a third
of what a new one costs (a process, the style sheets, the scripts compiled again). And the loop that
Playwright keeps while it is there.
"""

import asyncio
from contextlib import contextmanager

from playwright.sync_api import Error

# What a reader leaves behind in a tab besides the page itself; the theme's script still writes where
# the sidebar stood when she leaves.
FORGET = """() => addEventListener("pagehide", () => {
  try { localStorage.clear(); sessionStorage.clear(); } catch { }
})"""


class Tabs:
    """The tabs of one browser. A tab lists what its pages did since it was handed out: `asked`, all
    addresses, a worker's too, and `failed` of these; `wrong`, errors of scripts; `said`, errors and
    warnings on the console.
    """

    def __init__(self, browser):
        self._browser = browser
        self._free = {}

    def take(self, width=1280, height=720, *, guessing=False, init="", **options):
        """An empty tab of this size. `guessing`: of one who predicts first; `init`: a script that
        runs before a page's own; options: of the browser's context.
        """
        seen = {
            "color_scheme": options.pop("color_scheme", "light"),
            "reduced_motion": options.pop("reduced_motion", "no-preference"),
        }
        kind = repr((guessing, init, sorted(options.items())))
        free = self._free.setdefault(kind, [])
        page = free.pop() if free else self._opened(guessing, init, options)
        page.kind, page.asked, page.failed, page.wrong, page.said = kind, [], [], [], []
        page.set_default_timeout(180_000)  # against one that hangs, not one on a busy machine
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(media="null", **seen)
        return page

    def _opened(self, guessing, init, options):
        new_context = self._browser.guessing if guessing else self._browser.new_context
        context = new_context(**options)
        if init:
            context.add_init_script(init)
        page = context.new_page()
        context.on("request", lambda request: page.asked.append(request.url))
        page.on("requestfailed", lambda request: page.failed.append(request.url))
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        page.on(
            "console",
            lambda message: (
                page.said.append(message.text) if message.type in ("error", "warning") else None
            ),
        )
        return page

    def give_back(self, page) -> None:
        """Leave the page and forget what it kept; a tab that cannot is closed."""
        context = page.context
        try:
            context.unroute_all()
            for other in context.pages:
                if other is not page:
                    other.close()
            page.evaluate(FORGET)
            page.goto("about:blank")
            self._free[page.kind].append(page)
        except Error:
            context.close()

    def close(self) -> None:
        for pages in self._free.values():
            for page in pages:
                page.context.close()


@contextmanager
def shown(loop):
    """This loop, or none, is the one that asyncio takes to be running."""
    before = asyncio._get_running_loop()
    asyncio._set_running_loop(loop)
    try:
        yield
    finally:
        asyncio._set_running_loop(before)
