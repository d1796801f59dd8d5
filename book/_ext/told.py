"""What all pages tell of themselves, when each is read: the sections that the search finds, the names of
their parts, their first figure. It is kept with the environment, so that nobody has to open a page
again, which takes longer than all else that is done with it.

When a chapter has changed and the site is built again (tools/site.py), only that page is read and
written, besides those that are made of others' content and the welcome page, if what it tells others is as before: its title, its parts' names, the titles of its
sections. Otherwise all pages are written, and what they say of it is checked again.
"""

import re
import shutil
from pathlib import Path
from typing import Any

import last_changed
import section_search
import social_cards
from docutils import nodes
from kept import digest
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

IMAGE = re.compile(r"_images/([^\"'?# ]+)")


def of_pages(env: BuildEnvironment) -> dict[str, dict[str, Any]]:
    """By page: "sections", "names", "figure"."""
    if not hasattr(env, "course_told"):
        env.course_told = {}
    return env.course_told


def listen(app: Sphinx, doctree: nodes.document) -> None:
    """To the page that has just been read."""
    of_pages(app.env)[app.env.docname] = {
        "sections": list(section_search.page_sections(doctree)),
        "names": sorted({name for node in doctree.findall() for name in names(node)}),
        "figure": first_figure(app, doctree),
    }


def first_figure(app: Sphinx, doctree: nodes.document) -> dict[str, str] | None:
    """A chapter's; no other page has a card with one."""
    if not app.env.docname.startswith("notebooks/"):
        return None
    return social_cards.first_figure(app, doctree)


def names(node: nodes.Node) -> list[str]:
    """A node's names in an address; a text has none."""
    return node.get("ids", []) if isinstance(node, nodes.Element) else []


def purge(app: Sphinx, env: BuildEnvironment, page: str) -> None:
    """Forget a page that is read again, or is no more."""
    of_pages(env).pop(page, None)


def merge(app: Sphinx, env: BuildEnvironment, pages: list[str], other: BuildEnvironment) -> None:
    """Take over what another process has read."""
    for page in pages:
        if page in of_pages(other):
            of_pages(env)[page] = of_pages(other)[page]


def to_others(env: BuildEnvironment, page: str) -> str:
    """One number for what other pages may say of this one."""
    told = of_pages(env)[page]
    titles = [section["title"] for section in told["sections"]]
    return digest(env.titles[page].astext(), *told["names"], "", *titles)


def more_to_write(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """The pages that have to be written, besides those that were read: all, if one of them tells
    others something else than in the last build; the one with the chapters' pictures; and those that
    were committed meanwhile, for the day at their foot.
    """
    now = {page: to_others(env, page) for page in of_pages(env)}
    days = {page: str(last_changed.day_of(app, page)) for page in now}
    before, days_before = getattr(env, "course_before", (None, {}))
    env.course_before = (now, days)
    if before != now:
        return sorted(env.found_docs)
    return [app.config.root_doc, *(page for page in days if days[page] != days_before.get(page))]


def not_done(app: Sphinx) -> None:
    """Nothing goes on from a build that was begun by hand, for the web or for anything else, whose
    warnings nobody counted: the next one of tools/site.py, which says of its own that they are done,
    begins anew.
    """
    Path(app.outdir).with_name("done").unlink(missing_ok=True)


def keep_written(app: Sphinx, exception: Exception | None) -> None:
    """Keep the pages as Sphinx has written them, for the next build to go on from (tools/site.py);
    without the pictures that no page shows any more.
    """
    if exception is not None or app.builder.format != "html":
        return
    site, copy = Path(app.outdir), Path(app.outdir).with_name("written")
    shown = {
        name
        for page in site.glob("**/*.html")
        for name in IMAGE.findall(page.read_text(encoding="utf-8"))
    }
    for image in site.glob("_images/*"):
        if image.name not in shown:
            image.unlink()
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(site, copy)


def setup(app: Sphinx) -> dict:
    """Behind all that changes a page when it has been read."""
    app.connect("builder-inited", not_done)
    app.connect("doctree-read", listen, priority=990)
    app.connect("env-purge-doc", purge)
    app.connect("env-merge-info", merge)
    app.connect("env-updated", more_to_write)
    app.connect("build-finished", keep_written, priority=1)
    return {
        "version": "1",
        "parallel_read_safe": True,
        "parallel_write_safe": True,
        "env_version": 1,
    }
