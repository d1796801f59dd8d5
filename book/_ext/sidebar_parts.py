"""The list of all pages is folded by part: the part of the page that is read is open, on a page of
no part the parts that hold chapters. It is plain HTML, so that it works without scripts. A script
(book/_static/contents.js) keeps the current page, and in the page's Contents the section that is
read, marked and in view; another (progress.js) marks the chapters that one has read.
"""

import html
from collections.abc import Callable, Iterable

from docutils import nodes
from sphinx.application import Sphinx

ARROW = (
    '<summary aria-label="Pages below this one"><span class="toctree-toggle" role="presentation">'
    '<i class="fa-solid fa-chevron-down"></i></span></summary>'
)
# On a page of no part those are open that hold chapters, or begin with one of these.
SHOWN = ("book/live",)


class Pages:
    """The list of pages as one page shows it. Sphinx's own, which resolves every link of every part
    for every page, took a quarter of the time in which pages are written.

    Args:
        app: the build.  page: which one shows it.
        path_to: gives the address of another page, seen from there.
    """

    def __init__(self, app: Sphinx, page: str, path_to: Callable[[str], str]):
        self.map, self.titles = app.config.external_site_map, app.env.titles
        self.page, self.path_to = page, path_to

    def __call__(self) -> str:
        """All parts, each of them folded or open."""
        parts = self.map.root.subtrees
        here = [part for part in parts if any(map(self.holds, part.items))]
        shown = here or [part for part in parts if any(map(is_chapter, part.items))]
        return "".join(self.part(part.caption, part.items, part in shown) for part in parts)

    def part(self, caption: str, pages: Iterable[str], is_open: bool) -> str:
        """A part."""
        current = "current " if any(map(self.holds, pages)) else ""
        return (
            f'<details class="nav-part"{" open" if is_open else ""}><summary><p aria-level="2" '
            f'class="caption" role="heading"><span class="caption-text">{html.escape(caption)}</span>'
            f'</p></summary>\n<ul class="{current}nav bd-sidenav">\n'
            f"{''.join(map(self.entry, pages))}</ul>\n</details>\n"
        )

    def entry(self, page: str, level: int = 1) -> str:
        """A page's link, and those of the pages below it."""
        below = self.below(page)
        kind = f"toctree-l{level}"
        kind += " current active" if self.holds(page) else ""
        kind += " has-children" if below else ""
        is_here = page == self.page
        title = self.map[page].title or self.titles[page].astext()
        link = (
            f'<a class="{"current " if is_here else ""}reference internal" '
            f'href="{"#" if is_here else self.path_to(page)}">{html.escape(title, quote=False)}</a>'
        )
        if below:
            listed = "".join(self.entry(one, level + 1) for one in below)
            opened = ' open="open"' if self.holds(page) else ""
            current = ' class="current"' if any(map(self.holds, below)) else ""
            link += f"<details{opened}>{ARROW}<ul{current}>\n{listed}</ul>\n</details>"
        return f'<li class="{kind}">{link}</li>\n'

    def below(self, page: str) -> list[str]:
        """The pages that _toc.yml lists below one."""
        return [one for part in self.map[page].subtrees for one in part.items]

    def holds(self, page: str) -> bool:
        """Whether the page that shows the list is this one, or below it."""
        return page == self.page or any(map(self.holds, self.below(page)))


def is_chapter(page: str) -> bool:
    """Whether a page makes its part one of those with chapters."""
    return page.startswith(("notebooks/", *SHOWN))


def offer(
    app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
) -> None:
    """Give it to the templates."""
    context["all_pages"] = Pages(app, page, context["pathto"])


def setup(app: Sphinx) -> dict:
    """Connect it."""
    app.connect("html-page-context", offer, priority=100)  # the theme renders it early
    app.add_js_file("contents.js")
    app.add_js_file("shared.js")
    app.add_js_file("progress.js")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
