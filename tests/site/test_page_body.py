"""Extensions that change a page's HTML, or give some pages a script, do it through one function
each.
"""

import re
import sys

import pytest
from sitemap import ROOT, pages, read

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import held_marks
import narrow_code
import narrow_tables
import page_body
import page_scripts
import whole_names


class App:
    """A build that remembers what waits for a page, and what a page loads."""

    def __init__(self):
        self.waiting, self.loaded = [], []
        self.add_js_file = self.add_css_file = self.loaded.append

    def connect(self, event, handler, priority=500):
        assert event == "html-page-context"
        self.waiting.append((priority, handler))

    def write(self, page, **context):
        for _, handler in sorted(self.waiting, key=lambda waiting: waiting[0]):
            handler(self, page, "page.html", context, None)
        return context


def test_a_body_goes_through_all_functions_in_their_order():
    app = App()
    page_body.change(app, lambda body: f"<i>{body}</i>", priority=950)
    page_body.change(app, str.upper, priority=940)
    assert app.write("book/intro", body="a", title="b") == {"body": "<i>A</i>", "title": "b"}
    assert app.write("genindex", title="b") == {"title": "b"}


@pytest.mark.parametrize(
    ("extension", "body"),
    [
        (held_marks, f'<span class="pre">{"a" * 25}</span>'),
        (whole_names, "<p>STS-B</p>"),
        (
            narrow_code,
            f'<div class="highlight-python"><div class="highlight"><pre>{"a" * 35}</pre>',
        ),
        (
            narrow_tables,
            '<table class="table"><thead><tr><th>a</th><th>b</th><th>c</th></tr></thead><tbody><tr>'
            f"<td>{'a' * 15}</td><td>{'b' * 15}</td><td>{'c' * 15}</td></tr></tbody></table>",
        ),
    ],
)
def test_an_extension_that_is_set_up_changes_a_body(extension, body):
    app = App()
    extension.setup(app)
    assert app.write("book/intro", body=body)["body"] != body


def test_only_pages_that_need_a_script_load_it():
    app = App()
    page_scripts.where(app, lambda page, body: "Predict" in body, "guess.js", "guess.css")
    app.write("book/intro", body="nothing to guess")
    app.write("genindex")
    assert app.loaded == []
    app.write("notebooks/02", body="Predict.")
    assert app.loaded == ["guess.js", "guess.css"]


@pytest.mark.parametrize("path", pages())
def test_each_of_several_answers_is_an_item_of_its_list(html, path):
    """In Markdown a number within a line begins no item: "1. So. 2. Not so."."""
    for one in read(html, path).xpath(".//li/p | .//details/p"):
        said = " ".join(one.text_content().split())
        assert not re.search(r"[.?!)] [2-5]\. [A-Z0-9]", said), said[:80]
