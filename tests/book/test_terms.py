"""Which words of a chapter are explained: the first use of a glossary's term in running prose."""

import sys
from pathlib import Path

import pytest
from docutils import nodes

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book" / "_ext"))
import terms  # noqa: E402

KNOWN = {
    term: terms.Entry(term, f"term-{term}", f"What {term} is.")
    for term in ("token", "causal mask", "BERT", "treebank", "probing")
}


def page(*parts: nodes.Node | str) -> nodes.document:
    """A page of one section with these in it, texts as paragraphs."""
    section = nodes.section()
    for part in parts:
        section += nodes.paragraph("", part) if isinstance(part, str) else part
    document = nodes.document(None, None)
    document += section
    return document


def explained(document: nodes.document) -> list[tuple[int, str]]:
    """(place, word) of what would be explained there."""
    return [(start, word) for _, start, word, _ in terms.first_uses(document, KNOWN)]


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("a token, and another token", [(2, "token")]),
        ("two tokens", [(4, "tokens")]),
        ("Tokens are cut. A Treebank is a name", [(0, "Tokens")]),
        ("See the end. Treebanks are trees", [(13, "Treebanks")]),
        ("a tokenizer, sub-token and bert", []),
        ("behind a causal mask", [(9, "causal mask")]),
    ],
)
def test_words_and_their_plurals(text, wanted):
    assert explained(page(text)) == wanted


def test_only_running_prose_counts():
    heading = nodes.title("", "The token")
    code = nodes.paragraph("", "", nodes.literal("", "token"))
    link = nodes.paragraph("", "", nodes.reference("", "token", refuri="x"))
    listed = nodes.bullet_list("", nodes.list_item("", nodes.paragraph("", "a token")))
    answer = [
        nodes.raw("", "<details><summary>Answer</summary>"),
        "token",
        nodes.raw("", "</details>"),
    ]
    question = "Predict. How many tokens?"
    assert not explained(page(heading, code, link, listed, *answer, question))
    assert explained(page(code, link, *answer, "the token")) == [(4, "token")]


def test_what_a_chapter_explains_in_bold_is_left_alone():
    bold = nodes.paragraph("", "", nodes.strong("", "token"))
    assert explained(page(bold, "a token")) == []
    assert explained(page("a token", bold)) == [(2, "token")]


def test_a_page_takes_the_dozen_that_it_uses_least():
    known = {f"word{i}": terms.Entry(f"word{i}", "", "") for i in range(20)}
    text = " ".join(f"word{i} " * (20 - i) for i in range(20))
    uses = terms.first_uses(page(text), known)
    assert [use[3] for use in uses] == [f"word{i}" for i in range(8, 20)]


def test_a_sentence_that_one_can_show():
    first = nodes.paragraph("", "As it was (Kim et al. 2014). And more.")
    assert terms.first_sentence(first) == "As it was (Kim et al. 2014)."
    formula = nodes.paragraph("", "", nodes.Text("It is "), nodes.math("", "e^x"), nodes.Text("."))
    letter = nodes.paragraph("", "", nodes.Text("It is "), nodes.math("", "x"), nodes.Text("."))
    assert terms.first_sentence(formula) == ""
    assert terms.first_sentence(letter) == "It is x."
    assert terms.first_sentence(nodes.paragraph("", "w" * 300 + ".")) == ""
