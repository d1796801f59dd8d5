"""A page that asks its reader to predict waits for her guess before it shows what comes out, and
then says whether it is that.

What a question offers ("…: about half, nearly all, or none?") is read off its wording when the site
is built. Which of it comes out, the chapter says in its answer, in a comment that nobody sees:

    <!-- right offer: about half -->

or `<!-- no right offer -->`, where it depends, or where more is asked than the offers are about.
Both go into the page, as `data-offers` and `data-right` of the question's paragraph; the script
(book/_static/guess.js) does the rest in the browser. A page without it shows everything.
"""

import html
import json
import re
from typing import NamedTuple

import page_scripts
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

QUESTION = "<strong>Predict.</strong>"
PARAGRAPH = f"<p>{QUESTION}"
SENTENCE = re.compile(r"[^?]*\?")
OFFERS = re.compile(r":\s*([^:]+?)\?$")
BETWEEN = re.compile(r",\s*or\s+|,\s+|\s+or\s+")
# An enumeration inside an offer, or a sentence after it, is cut at the wrong places.
ODD = re.compile(r"\0|\. |^(which|who|and|say|is|does|will)\b|^\d+ and \d+ as ")
MOST, LONGEST = 5, 48  # offers, and letters of one
MARK = re.compile(r"(?:<!--)?\s*(?:right offer:\s+(?P<right>.+?)|no right offer)\s*(?:-->)?\s*")
STRAIGHT = str.maketrans("“”‘’", "\"\"''")


class Question(NamedTuple):
    """What a question says, and what its answer marks: None where there is no mark, "" where no
    offer is right.
    """

    text: str
    mark: str | None


def offers(question: str) -> list[str]:
    """What a question offers, if it offers it once and in few words without formulas (each of which
    is a null byte in the text).
    """
    sentences = SENTENCE.findall(" ".join(question.split()))
    lists = [found[1] for one in sentences if (found := OFFERS.search(one))]
    lists = [one for one in lists if re.search(r"\bor\b", one)]
    if len(lists) != 1:
        return []
    found = [one.strip() for one in BETWEEN.split(lists[0])]
    clean = all(one and len(one) <= LONGEST and not ODD.search(one) for one in found)
    return found if clean and 1 < len(found) <= MOST else []


def questions(doctree: nodes.document) -> list[Question]:
    """The page's questions, in their order."""
    found: list[Question] = []
    for node in doctree.findall(nodes.TextElement):
        if isinstance(node, nodes.paragraph) and is_question(node):
            found.append(Question(told(node), None))
        elif (
            found
            and isinstance(node, nodes.comment | nodes.raw)
            and (mark := MARK.fullmatch(node.astext()))
        ):
            if found[-1].mark is not None:
                raise ValueError(f"two marks for one question: {found[-1].text[:60]}")
            found[-1] = found[-1]._replace(mark=(mark["right"] or "").translate(STRAIGHT))
    return found


def is_question(paragraph: nodes.paragraph) -> bool:
    """Whether a paragraph begins with **Predict.**"""
    first = next((node for node in paragraph.children if node.astext()), None)
    return isinstance(first, nodes.strong) and first.astext() == "Predict."


def told(paragraph: nodes.paragraph) -> str:
    """A question's words; a null byte for each formula."""
    words = paragraph.deepcopy()
    for formula in list(words.findall(nodes.math)):
        formula.parent.replace(formula, nodes.Text("\0"))
    return words.astext()


def attributes(question: Question) -> str:
    """What the script is to know of a question, as attributes; nothing, if it offers nothing.

    Raises:
        ValueError: if the answer does not mark one of the offers, or that none is right; or marks
            something though nothing is offered.
    """
    offered = offers(question.text)
    if bool(offered) != (question.mark is not None):
        raise ValueError(
            f"it offers {offered or 'nothing'}; its answer "
            + ("does not mark what comes out" if offered else "marks an offer")
        )
    if not offered:
        return ""
    right = [one for one in offered if one.translate(STRAIGHT) == question.mark]
    if question.mark and not right:
        raise ValueError(f"what its answer marks, {question.mark!r}, is not one of {offered}")
    data = f' data-offers="{html.escape(json.dumps(offered, ensure_ascii=False))}"'
    return data + (f' data-right="{html.escape(right[0])}"' if right else "")


def with_offers(body: str, asked: list[Question]) -> str:
    """A page's HTML, each of its questions with its offers.

    Raises:
        ValueError: see `attributes`; or if the page has other questions than its text.
    """
    parts = body.split(PARAGRAPH)
    if len(parts) != len(asked) + 1:
        raise ValueError(f"{len(asked)} questions are {len(parts) - 1} paragraphs of the page")
    made = parts[0]
    for question, part in zip(asked, parts[1:], strict=True):
        try:
            made += f"<p{attributes(question)}>{QUESTION}{part}"
        except ValueError as error:
            raise ValueError(f"“{question.text[:70]} …”: {error}") from None
    return made


def add_offers(
    app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
) -> None:
    """Write each question's offers into the page."""
    if doctree is None or PARAGRAPH not in context.get("body", ""):
        return
    try:
        context["body"] = with_offers(context["body"], questions(doctree))
    except ValueError as error:
        raise ExtensionError(f"{page}: {error}") from error


def setup(app: Sphinx) -> dict:
    """Only a page with such a question gets the script and its style."""
    app.connect("html-page-context", add_offers, priority=450)
    page_scripts.where(
        app, lambda page, body: QUESTION in body, "shared.js", "guess.js", "guess.css"
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
