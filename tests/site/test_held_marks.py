"""No line of the running text begins with a comma or a full stop that belongs to code before it."""

import re
import sys

import pytest
from sitemap import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import held_marks

# marks that begin a line behind code, and what stands before them
BEGINS = r"""() => [...document.querySelectorAll(".bd-article :is(p, li) code.literal")].filter((code) => {
  const next = code.nextSibling;
  if (next?.nodeType !== 3 || !/^[,.;:!?)\]”’…]/.test(next.data) || !code.getClientRects().length) return false;
  const range = document.createRange();
  range.setStart(next, 0);
  range.setEnd(next, 1);
  return range.getBoundingClientRect().top > [...code.getClientRects()].at(-1).bottom - 4;
}).map((code) => code.textContent)"""


def test_only_long_pieces_may_be_broken():
    def pre(text):
        return f'<code class="docutils literal notranslate"><span class="pre">{text}</span></code>'

    body = pre("a" * 24) + pre("b" * 25) + pre("&lt;" * 24) + pre("&lt;" * 25)
    made = held_marks.marked(body)
    assert re.findall(r'class="pre long">(.)', made) == ["b", "&"]
    assert made.replace("pre long", "pre") == body


@pytest.mark.browser
@pytest.mark.parametrize(
    "path",
    [
        *("notebooks/13_pretraining.html", "exercises/hw2_transformer.html", "book/primer.html"),
        *("book/notation.html", "book/instructors.html"),
    ],
)
def test_no_line_begins_with_a_mark_that_belongs_to_code(live, path):
    page = live(width=390, path=path)
    for width in (390, 360, 412):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(BEGINS) == []
        assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.browser
def test_dashes_of_an_option_stay_with_it(live):
    page = live(width=390, path="book/instructors.html")
    pieces = page.locator(
        "tbody :is(p, li) > code.literal .pre, section > p > code.literal .pre"
    ).evaluate_all(
        "all => all.filter(e => e.textContent.startsWith('--') && e.textContent.length < 25).map(e => e.getClientRects().length)"
    )
    assert pieces and set(pieces) <= {0, 1}
