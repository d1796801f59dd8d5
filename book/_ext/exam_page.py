"""The page of exam questions can be worked through: book/_static/exam.js, which is told here which
chapters each part of the book has.
"""

import json

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


def add_script(
    app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
) -> None:
    """This page alone gets the script, its style and the list."""
    if page != PAGE:
        return
    data = json.dumps(chapters_of_parts(app)).replace("<", r"\u003c")
    context["body"] += f'<script type="application/json" id="exam-parts">{data}</script>\n'
    app.add_js_file("kept.js")
    app.add_js_file("exam.js")
    app.add_css_file("exam.css")


def setup(app: Sphinx) -> dict:
    """Do it when a page is written."""
    app.connect("html-page-context", add_script, priority=500)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
