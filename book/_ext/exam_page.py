"""The page of exam questions can be worked through: book/_static/exam.js, which is told here which
chapters each part of the book has.
"""

import json

import page_scripts
from chapters import number, parts
from docutils import nodes
from section_search import contents_titles
from sphinx.application import Sphinx

PAGE = "book/exam"


def chapters_of_parts(app: Sphinx) -> list[tuple[str, list[tuple[str, str]]]]:
    """For each part of the contents that has any, its chapters: number and title. The second page of
    a chapter, such as 8b, has no questions of its own.
    """
    titles, found = contents_titles(app), {}
    for page, part in parts(app).items():
        if number(page).isdigit():
            found.setdefault(part, []).append((number(page), titles[page]))
    return list(found.items())


def add_parts(
    app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
) -> None:
    """What the script is told."""
    if page == PAGE:
        data = json.dumps(chapters_of_parts(app)).replace("<", r"\u003c")
        context["body"] += f'<script type="application/json" id="exam-parts">{data}</script>\n'


def setup(app: Sphinx) -> dict:
    """This page alone gets the list, the script and its style."""
    app.connect("html-page-context", add_parts, priority=500)
    page_scripts.where(app, lambda page, body: page == PAGE, "shared.js", "exam.js", "exam.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
