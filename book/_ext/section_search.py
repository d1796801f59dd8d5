"""The search of the site: every section of every page, with a title, a first sentence and its words,
in one file that is fetched when a reader begins to type.

What is at home where stands in book/search/concepts.yml. The index is made by the script that
searches it (book/search/rank.js, in Node), so that both cut words alike. Sphinx's own search is
switched off.
"""

import html
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from formula_text import as_text, printed
from node import NODE
from sphinx.application import Sphinx
from sphinx.util import logging

HERE = Path(__file__).parents[1] / "search"
FOLDER = "_static/search"  # of the site
INDEX = f"{FOLDER}/index.js"
LEAD = 130  # characters of a section's beginning that a result shows
# How much a find on a page counts: first where a thing is explained, then where it is used.
WEIGHTS = {
    "notebooks/": 1.0,
    "book/primer": 0.9,
    "book/glossary": 0.7,
    "book/live": 0.8,
    "book/your_own/": 0.8,
    "book/motion": 0.8,
    "book/through": 0.8,
    "exercises/": 0.45,
    "book/exam": 0.4,
    "book/teaching": 0.4,
    "book/results": 0.3,
    "book/published": 0.3,
    "book/claims": 0.3,
    "book/references": 0.4,
}
OTHERWISE = 0.6
# Every chapter has these; they tell of its other sections.
ASIDE = {"Exercises": 0.6, "Summary": 0.6, "References": 0.3}
logger = logging.getLogger(__name__)


def weight(page: str) -> float:
    """What a find on this page counts."""
    return next((share for start, share in WEIGHTS.items() if page.startswith(start)), OTHERWISE)


def shortened(text: str, most: int = LEAD) -> str:
    """The text's beginning, cut between two words if it is longer than `most` characters."""
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    return text[: most - 1].rsplit(" ", 1)[0].rstrip(" ,;:.–—") + " …"


def said(node: nodes.Node, formulas: bool = False) -> str:
    """The words of a part of a page, in reading order; of its formulas none, or as text."""
    if isinstance(node, nodes.Text):
        return node.astext()
    if formulas and isinstance(node, nodes.math):
        return as_text(node.astext())
    if isinstance(node, (nodes.math, nodes.math_block, nodes.raw, nodes.literal_block)):
        return " "
    gap = "" if isinstance(node, (nodes.TextElement, nodes.Inline)) else " "
    return gap.join(said(child, formulas) for child in node.children)


def code(node: nodes.Node) -> str:
    """The code in a part of a page; not what it printed, nor the set-up cell."""
    if isinstance(node, nodes.Element) and {"cell_output", "tag_setup"} & set(
        node.get("classes", [])
    ):
        return ""
    if isinstance(node, nodes.literal_block):
        return node.astext()
    return " ".join(map(code, node.children))


def record(title: str, anchor: str, parts: list[nodes.Node], share: float = 1.0) -> dict[str, Any]:
    """A section as build.js reads it; how it begins is HTML."""
    first = next((p for part in parts for p in part.findall(nodes.paragraph)), None)
    text = " ".join(map(said, parts))
    lead = html.escape(shortened(said(first, formulas=True))) if first is not None else ""
    shown = html.escape(title)
    bold = [said(strong) for part in parts for strong in part.findall(nodes.strong)]
    return {
        "anchor": anchor,
        "title": title,
        "shown": printed(shown) if printed(shown) != shown else "",  # where it is another
        "lead": printed(lead),
        "text": text,
        "strong": " ".join(bold),
        "code": " ".join(map(code, parts)),
        "weight": share,
    }


def page_sections(doctree: nodes.document) -> Iterator[dict[str, Any]]:
    """The sections of a page, in its order; a glossary's entries are sections too.

    The first one is the page itself, and has no anchor.
    """
    anchor = ""
    for section in doctree.findall(nodes.section):
        title = " ".join(section.next_node(nodes.title).astext().split())
        own = [
            part for part in section.children if not isinstance(part, (nodes.section, nodes.title))
        ]
        yield record(title, anchor and section["ids"][0], own, ASIDE.get(title, 1.0))
        anchor = "#"
    for entry in doctree.findall(nodes.definition_list_item):
        term = entry.next_node(nodes.term)
        if term["ids"]:
            yield record(term.astext(), term["ids"][0], [entry.children[-1]])


def contents_titles(app: Sphinx, untitled: bool = False) -> dict[str, str]:
    """The pages that _toc.yml gives a title, with it (a chapter's has its number); `untitled`: all
    pages, in the order of the book.
    """
    site_map = app.config.external_site_map
    return {name: item.title or "" for name, item in site_map.items() if untitled or item.title}


def concepts(placed: dict[str, int]) -> list[tuple[list[str], list[int]]]:
    """Names, and the sections where they are at home. `placed`: each section's address and place."""
    homes: dict[str, list[int]] = {}
    for file in ("concepts.yml", "german.yml"):
        told = yaml.safe_load((HERE / file).read_text(encoding="utf-8"))
        for address, names in told.items():
            if address not in placed:
                logger.warning("search: %s names %s, and there is no such section", file, address)
                continue
            for name in names:
                homes.setdefault(str(name), []).append(placed[address])
    together: dict[tuple[int, ...], list[str]] = {}
    for name, places in homes.items():
        together.setdefault(tuple(places), []).append(name)
    return [(names, list(places)) for places, names in together.items()]


def collected(app: Sphinx) -> dict[str, Any]:
    """All that build.js needs to know."""
    env = app.env
    pages, sections, placed = [], [], {}
    for page, in_contents in contents_titles(app, untitled=True).items():
        if page not in env.found_docs:
            continue
        title = in_contents or env.titles[page].astext()
        for number, told_of in enumerate(env.course_told[page]["sections"]):
            section = dict(told_of)
            if number == 0:
                section["title"] = re.sub(r"^\d+\. ", "", title)
            address = f"{page}#{section['anchor']}" if section["anchor"] else page
            placed[address] = len(sections)
            sections.append({**section, "page": len(pages)})
        pages.append([f"{page}.html", title, weight(page)])
    return {"pages": pages, "sections": sections, "concepts": concepts(placed)}


def no_search_of_sphinx(app: Sphinx) -> None:
    """Neither its index nor its page."""
    app.builder.search = False


def search_page(app: Sphinx) -> list[tuple[str, dict, str]]:
    """The page with the search, and with all that was found."""
    return [("search", {"title": "Search"}, "search.html")]


def in_node(script: str, told: dict[str, Any]) -> str:
    """What a script of book/search makes of this."""
    made = subprocess.run(
        [NODE, str(HERE / script)],
        input=json.dumps(told),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    return made.stdout


def found(app: Sphinx, queries: list[str]) -> list[list[str]]:
    """For each of some queries the addresses of all sections that the search finds, the best first."""
    index = in_node("build.js", collected(app))
    return json.loads(in_node("found.js", {"index": index, "queries": queries}))


def write(app: Sphinx, exception: Exception | None) -> None:
    """Put the scripts and the index beside the pages."""
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir, FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("rank.js", "live.js", "search.css"):
        shutil.copyfile(HERE / name, folder / name)
    index = in_node("build.js", collected(app))
    Path(app.outdir, INDEX).write_text(index, encoding="utf-8")


def setup(app: Sphinx) -> dict:
    """Connect them. The index comes after `lean`: its words name no class of a style sheet."""
    app.connect("builder-inited", no_search_of_sphinx)
    app.connect("html-collect-pages", search_page)
    app.connect("build-finished", write, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
