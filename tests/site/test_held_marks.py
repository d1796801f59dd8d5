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


# marks right behind a short formula that begin a line, and opening brackets that end the one before
TORN = r"""() => [...document.querySelectorAll(".bd-article :is(p, li) .katex")].map((katex) => katex.parentElement).filter((math) => {
  if (!math.getClientRects().length || math.closest(".formula") || (math.querySelector(".katex-html")?.textContent ?? "").length > 8) return false;
  const rects = [...math.getClientRects()];
  const at = (text, from) => {
    const range = document.createRange();
    range.setStart(text, from);
    range.setEnd(text, from + 1);
    return range.getBoundingClientRect();
  };
  const { nextSibling: next, previousSibling: before } = math;
  return (next?.nodeType === 3 && /^[,.;:!?)\]”’…]/.test(next.data) && at(next, 0).top > rects.at(-1).bottom - 4)
    || (before?.nodeType === 3 && /[(\[“‘]$/.test(before.data) && at(before, before.length - 1).bottom < rects[0].top + 4);
}).map((math) => math.textContent + math.nextSibling?.data?.slice(0, 9))"""


@pytest.mark.browser
@pytest.mark.parametrize(
    "path", ["notebooks/02_self_attention.html", "notebooks/05_encoder.html", "book/notation.html"]
)
def test_no_line_begins_with_a_mark_that_belongs_to_a_formula(live, path):
    page = live(width=390, path=path)
    assert page.locator(".bd-article p .katex").count()
    for width in range(330, 440, 9):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(TORN) == []


def test_what_a_formula_is_held_together_with():
    import formulas
    from docutils import nodes

    def held(before, tex, behind):
        paragraph = nodes.paragraph(
            "", "", nodes.Text(before), nodes.math("", tex), nodes.Text(behind)
        )
        document = nodes.document(None, None)
        document += paragraph
        formulas.hold_marks(None, document, "")
        return [piece.astext() for piece in paragraph if isinstance(piece, nodes.inline)]

    assert held("a width (", "d_k", "), or") == ["(d_k),"]
    assert held("a width ", "d_k", " or") == []
    assert held("the scores ", r"\sqrt{d_k}", ".") == [r"\sqrt{d_k}."]
    assert held("", r"a + b + c + d + e + f + g", ".") == []
