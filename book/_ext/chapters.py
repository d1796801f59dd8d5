"""What every chapter has: a line that says where in the course it stands and how long it takes, with
the way to its notebook; a set-up cell that is folded away; sections that can be linked to from
anywhere; neighbours with their numbers. A page behind chapter 13 is called 13b_name. If its quiz lies
in book/quizzes itself it is a chapter too, as 13c is; if in `between`, or if it has none, it stands
between two chapters and has no number of its own.
"""

import html
import re
from collections.abc import Iterable
from typing import Any

import quizzes
from docutils import nodes
from section_search import contents_titles
from sphinx.application import Sphinx

NAME = re.compile(r"(?:^|/)(\d\d)([bc]?)_\w+(?:\.html)?$")  # a chapter's name or address
MINUTES = re.compile(r"\bTime\s+about (\d+) minutes")
NEEDS = re.compile(r"\bYou need\s+(chapters? \d+[bc]?(?:(?:,| and|, and) \d+[bc]?)*)")


def parts(app: Sphinx) -> dict[str, str]:
    """The part of the table of contents that each page belongs to."""
    root = app.config.external_site_map.root
    return {page: tree.caption or "" for tree in root.subtrees for page in tree.items}


def number(page: str) -> str:
    """A chapter's number, "1" to "18" or "10b"; empty for a page that has none. (A quiz in the folder
    `between` makes no chapter.)
    """
    name = NAME.search(page)
    if not name or (name[2] and not (quizzes.FOLDER / f"{name[1]}{name[2]}.yml").exists()):
        return ""
    return f"{int(name[1])}{name[2]}"


def key(page: str) -> str:
    """ "08" or "08b", by which a chapter's files are named; empty for what is none."""
    name = NAME.search(page)
    return f"{name[1]}{name[2]}" if name else ""


def place(page: str, pages: list[str]) -> str:
    """Where among the pages, in the order of the contents, a chapter stands, in words; empty for what
    is none. The whole numbers are counted: 10b is a part of 10, and is no chapter of 18.
    """
    if own := number(page):
        chapters = sum(number(other).isdigit() for other in pages)
        return f"chapter {own} of {chapters}" if own.isdigit() else f"chapter {own}"
    if NAME.search(page):
        at = pages.index(page)
        before, behind = (list(filter(None, map(number, p))) for p in (pages[:at], pages[at:]))
        return f"between chapters {before[-1]} and {behind[0]}"
    return ""


def needed(told: str, pages: Iterable[str], titles: dict[str, str]) -> str:
    """ "needs chapters 2 and 3", of which a page without a number of its own is called by its title."""
    named = {f"{int(one[:2])}{one[2:]}": page for page in pages if (one := key(page))}
    chapters = [one for one in re.findall(r"\d+[bc]?", told) if number(named.get(one, ""))]
    others = [
        f"“{titles[named[one]]}”"
        for one in re.findall(r"\d+[bc]?", told)
        if one in named and one not in chapters
    ]
    if not others:
        return f"needs {told}"
    first = [f"chapter{'s' if len(chapters) > 1 else ''} {', '.join(chapters)}"] if chapters else []
    return f"needs {' and '.join([*first, *others])}"


def frame(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Below the title of a chapter or a homework: its place in the course, its minutes, the chapters
    that it begins from, and its notebook on Colab and as a file.
    """
    if doctree is None or not page.startswith(("notebooks/", "exercises/")):
        return
    pages = parts(app)
    text = " ".join(doctree.astext().split())
    minutes, needs = MINUTES.search(text), NEEDS.search(text)
    said = [
        pages[page],
        place(page, list(pages)),
        f"about {minutes[1]} minutes" if minutes else "",
        needed(needs[1], pages, contents_titles(app)) if needs else "",
    ]
    options, up = app.config.html_theme_options, "../" * page.count("/")
    repository = options["repository_url"].removeprefix("https://")
    colab = (
        f"{options['launch_buttons']['colab_url']}/{repository.replace('github.com', 'github', 1)}"
        f"/blob/{options['repository_branch']}/{page}.ipynb"
    )
    line = (
        f'<p class="chapter-frame"><span>{html.escape(" · ".join(filter(None, said)))}</span> '
        f'<span class="d-print-none"><a href="{colab}">Open in Colab</a> · '
        f'<a href="{up}_sources/{page}.ipynb" download>Download</a></span></p>'
    )
    context["body"] = context["body"].replace("</h1>", f"</h1>\n{line}", 1)


def number_neighbours(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """The chapter before and the one behind are called by number and name."""
    for neighbour in filter(None, (context.get("prev"), context.get("next"))):
        if own := number(neighbour["link"]):
            neighbour["title"] = f"{own}. {neighbour['title']}"


def name_folds(app: Sphinx, doctree: nodes.document) -> None:
    """Fold the cell with the tag "setup" (a reader of the page need not see how a notebook installs
    its library), and call it and the solutions by their names.
    """
    for cell in doctree.findall(nodes.container):
        if "tag_setup" in cell["classes"]:
            cell.attributes.update(
                hide_mode="input",
                prompt_show="Show the set-up cell",
                prompt_hide="Hide the set-up cell",
            )
        elif cell.get("hide_mode") == "all" and cell.astext().startswith("# Solution"):
            cell.attributes.update(prompt_show="Solution", prompt_hide="Hide the solution")


def add_anchors(app: Sphinx, doctree: nodes.document) -> None:
    """Let a section also be found under the name that GitHub and Jupyter give it, where Sphinx
    would choose another.

    "Why divide by √d_k?" is #why-divide-by-d_k there and #why-divide-by-d-k here; one link then
    works in both.
    """
    for section in doctree.findall(nodes.section):
        slug = section.get("slug")
        if slug and slug not in section["ids"] and slug not in doctree.ids:
            section["ids"].append(slug)


def setup(app: Sphinx) -> dict:
    """Do these when a page has been read or is written."""
    app.connect("doctree-read", name_folds)
    app.connect("doctree-read", add_anchors)
    app.connect("html-page-context", frame)
    app.connect("html-page-context", number_neighbours)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
