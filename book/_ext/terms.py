"""Words of the glossary, explained where a chapter first uses them; and the glossary's letters.

A link leads to the entry; the entry's first sentence is shown beside it under the pointer and under
the keyboard's focus, and read out as the link's description. The style sheet does that; the few
lines of script let Escape put the sentence away, and show it at a finger's first touch: the second
follows the link.

A word that a chapter sets in bold is explained there and is left alone. Of the others a page takes
the dozen that it uses least: what it uses often, it is about.
"""

import html
import re
from functools import cache
from typing import NamedTuple

from chapters import key
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

GLOSSARY, MOST, LONGEST = "book/glossary", 12, 230
# Also plain English, or written as formulas: a machine cannot tell which is meant.
LEFT_OUT = set(
    [
        "agreement",
        "alignment",
        "attention",
        "head",
        "key",
        "mask",
        "score",
        "span",
        "value",
        "patch",
        "probe",
        "projection",
        "query",
        "d_k",
        "d_v",
        "d_model",
    ]
)
PLAIN = (nodes.paragraph, nodes.emphasis)  # what running prose is made of
ESCAPE = (
    "<script>addEventListener('keydown',e=>{if(e.key==='Escape')document.querySelectorAll("
    "'.term').forEach(t=>{if(t.matches(':hover,:focus-within')){t.classList.add('put-away');"
    "['mouseleave','focusout'].forEach(n=>t.addEventListener(n,()=>"
    "t.classList.remove('put-away'),{once:true}))}})});"
    "{let touch=false;addEventListener('pointerdown',e=>{touch=e.pointerType==='touch';"
    "document.querySelectorAll('.term.shown').forEach(t=>t.contains(e.target)||"
    "t.classList.remove('shown'))},true);"
    "addEventListener('click',e=>{const t=e.target.closest?.('.term');if(touch&&t&&"
    "!t.classList.contains('shown')){e.preventDefault();t.classList.add('shown')}},true)}</script>"
)


class Entry(NamedTuple):
    """A term of the glossary, where it stands, and its first sentence."""

    term: str
    anchor: str
    sentence: str


class explained(nodes.General, nodes.Inline, nodes.TextElement):  # noqa: N801
    """A word with its explanation; the text is the word."""


@cache
def entries(env: BuildEnvironment) -> tuple[Entry, ...]:
    """All terms that have a sentence one can show, in the glossary's order."""
    found = []
    for item in env.get_doctree(GLOSSARY).findall(nodes.definition_list_item):
        term = next(item.findall(nodes.term))
        paragraph = next(item.findall(nodes.paragraph))
        found.append(Entry(term.astext(), term["ids"][0], first_sentence(paragraph)))
    return tuple(found)


def first_sentence(paragraph: nodes.paragraph) -> str:
    """The first sentence as plain text, or "" where it holds a formula or is long."""
    text = "".join(
        "\0" if isinstance(part, nodes.math) and len(part.astext()) > 1 else part.astext()
        for part in paragraph.children
    )
    sentence = re.match(r".+?[.:!?](?=\s+[A-Z`“\"]|\s*$)", " ".join(text.split()))
    fits = sentence and "\0" not in sentence[0] and len(sentence[0]) <= LONGEST
    return sentence[0] if fits else ""


def pattern(terms: list[str]) -> re.Pattern:
    """Any of the terms as a word, the longest first, in the singular or the plural; with a capital
    too where a sentence begins. ("Treebank" in the middle of one is a name.)
    """
    words = [re.escape(term) for term in terms]
    words += [re.escape(term[0].upper() + term[1:]) for term in terms if term[0].islower()]
    either = "|".join(sorted(words, key=len, reverse=True))
    return re.compile(rf"(?<![\w-])({either})(s?)(?![\w-])")


def key_of(match: re.Match, text: nodes.Text, terms: dict[str, Entry]) -> str | None:
    """The term that a matched word is. None: it has a capital that no sentence's beginning gave."""
    if match[1] in terms:
        return match[1]
    before = match.string[: match.start()]
    begins = re.search(r"[.!?:]\W*$", before) or (not before and text is text.parent[0])
    return match[1][0].lower() + match[1][1:] if begins else None


def prose(doctree: nodes.document) -> list[nodes.Text]:
    """The texts of a chapter's paragraphs, without questions to predict and folded answers."""
    texts, folded = [], 0
    for node in doctree.findall(
        lambda n: isinstance(n, nodes.raw | nodes.paragraph) and isinstance(n.parent, nodes.section)
    ):
        if isinstance(node, nodes.raw):
            folded += node.astext().count("<details") - node.astext().count("</details")
        elif not folded and not node.astext().startswith("Predict."):
            texts += node.findall(nodes.Text)
    return texts


def first_uses(doctree: nodes.document, terms: dict[str, Entry]) -> list[tuple]:
    """(text, place in it, word, term) of the terms that a page shall explain, in its order."""
    uses, counts, looked = {}, {}, pattern(list(terms))
    for text in prose(doctree):
        for match in looked.finditer(text.astext()):
            term = key_of(match, text, terms)
            if term is None:
                continue
            counts[term] = counts.get(term, 0) + 1
            # None: explained in bold. A link, or code, is passed over
            plain = isinstance(text.parent, PLAIN)
            bold = isinstance(text.parent, nodes.strong)
            if term not in uses and (plain or bold):
                uses[term] = (text, match.start(), match[0], term) if plain else None
    wanted = sorted((term for term in uses if uses[term]), key=lambda t: counts[t])[:MOST]
    return [use for term, use in uses.items() if use and term in wanted]


def explain(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Replace the first use of each term in a chapter by a link with its explanation."""
    if app.builder.format != "html" or not page.startswith("notebooks/"):
        return
    if not key(page) or GLOSSARY not in app.env.found_docs:
        return
    known = {e.term: e for e in entries(app.env) if e.sentence and e.term.lower() not in LEFT_OUT}
    uri = app.builder.get_relative_uri(page, GLOSSARY)
    in_text: dict[nodes.Text, list] = {}
    for text, start, word, term in first_uses(doctree, known):
        in_text.setdefault(text, []).append((start, word, known[term]))
    for text, uses in in_text.items():
        text.parent.replace(text, cut(text.astext(), sorted(uses), uri))


def cut(text: str, uses: list[tuple[int, str, Entry]], uri: str) -> list[nodes.Node]:
    """A text with links in place of some of its words."""
    parts, done = [], 0
    for start, word, entry in uses:
        parts += [nodes.Text(text[done:start]), explained("", word, entry=entry, uri=uri)]
        done = start + len(word)
    return [*parts, nodes.Text(text[done:])]


def visit(translator, node: explained) -> None:
    """The link; its sentence stands behind it, hidden."""
    entry = node["entry"]
    translator.body.append(
        f'<span class="term"><a href="{node["uri"]}#{entry.anchor}" '
        f'aria-describedby="tip-{entry.anchor}">'
    )


def depart(translator, node: explained) -> None:
    """The end of the link, and the sentence."""
    entry = node["entry"]
    translator.body.append(
        f'</a><span role="tooltip" id="tip-{entry.anchor}">{html.escape(entry.sentence)}</span></span>'
    )


def finish(app: Sphinx, page: str, template: str, context: dict, doctree: object) -> None:
    """The script of a page with explained words; the letters of the glossary."""
    if page == GLOSSARY:
        context["body"] = context["body"].replace("</h1>", f"</h1>\n{letters(app.env)}", 1)
    elif 'role="tooltip"' in context.get("body", ""):
        context["body"] += ESCAPE


def letters(env: BuildEnvironment) -> str:
    """A line of letters; each leads to the first term that begins with it."""
    first: dict[str, str] = {}
    for entry in entries(env):
        first.setdefault(entry.term[0].upper(), entry.anchor)
    links = " ".join(f'<a href="#{first[letter]}">{letter}</a>' for letter in sorted(first))
    return f'<nav class="letters" aria-label="Glossary by letter">{links}</nav>'


def setup(app: Sphinx) -> dict:
    """Do it when the pages are written."""
    app.add_node(explained, html=(visit, depart))
    app.connect("doctree-resolved", explain)
    app.connect("html-page-context", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
