"""axe-core, as several tests ask it."""

from functools import cache

from sitemap import ANIMATED, ROOT

# What depends on the theme; the other rules are about the page's structure, the same by day and by
# night.
COLOURS = ["color-contrast", "link-in-text-block"]
# What axe looks for only if it is asked to, and Lighthouse asks.
BESIDES = {"td-has-header": {"enabled": True}}


@cache
def script() -> str:
    """axe itself, for `page.evaluate`."""
    return (ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text()


def objections(page, within: str, theme: str) -> list:
    """The rules that axe finds broken within a part of the page, each with one place: all rules in
    the light, those about colours in the dark. axe itself would write out all that it looks at, the
    whole part too: that is read for what it objects to alone.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(script())
    only = {"rules": BESIDES} if theme == "light" else {"runOnly": COLOURS}
    return page.evaluate(
        "async ([within, only]) => { axe.configure({ noHtml: true }); "
        "const found = await axe.run(within, "
        "{ resultTypes: ['violations'], elementRef: true, ...only }); return found.violations"
        ".map((v) => [v.id, v.nodes[0].element.outerHTML.slice(0, 300)]) }",
        [within, only],
    )


def turn(page, theme: str) -> None:
    """Make the page light or dark, and wait for its colours: they fade from one to the other."""
    page.emulate_media(color_scheme=theme)
    page.wait_for_selector(f"html[data-theme={theme}]")
    page.evaluate(ANIMATED)


def by_day_and_night(page, within: str) -> list:
    """What axe objects to in either theme, with the theme's name before it; the page is turned
    from one to the other as it stands, and is light in the end.
    """
    found = []
    for theme in ("light", "dark"):
        turn(page, theme)
        found += [[theme, *each] for each in objections(page, within, theme)]
    turn(page, "light")
    return found
