"""The directive {ask}: a page that finds the sections nearest to a question, by the cosines of
chapters 17 and 17b, by its words (section_search.py), or by both.

The vectors of all sections and of some questions are computed while the site is built, by the
course's own BERT with MiniLM's weights. The page compares them by itself: as whole numbers from -127
to 127 they lie with the sections' words in a script beside it, fetched when a reader begins; in the
page they would be nine tenths of it, and hold up its first paint. A reader's own question gets its
vector in the page, by the same model (live_models.py), which is fetched for it.

With the questions it is counted how often the search is right; a few are the page's examples.
"""

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from pathlib import Path

import live_models
import section_search
import torch
from ask_orders import (
    SHOWN,
    best_of_each_part,
    fitness,
    found_by_words,
    how_often,
    orders,
    typed_about,
)
from docutils import nodes
from formula_text import printed
from safetensors.torch import load_file, save_file
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from lectures_lib.data.book import Question, Section, book_questions, book_sections
from lectures_lib.files import written_whole
from lectures_lib.models import minilm
from lectures_lib.tasks.sentence_bert import SentenceBert, cosines

HERE = Path(__file__).parent
WAYS = {"both": "meaning and words", "meaning": "meaning", "words": "words"}
DATA = "_static/ask/sections.js"  # of the site
logger = logging.getLogger(__name__)


class ask(nodes.General, nodes.Element):  # noqa: N801
    """Where the search stands on its page."""


class Ask(SphinxDirective):
    """The directive; it has no options."""

    def run(self) -> list[nodes.Node]:
        """A place for the search. What is in it is known when all pages have been read."""
        self.env.note_reread()
        return [ask()]


def pages_there(env: BuildEnvironment) -> tuple[list[Section], list[Question]]:
    """The sections of pages that the table of contents has, with the addresses that Sphinx gave
    them; the questions about these.
    """
    there = [section for section in book_sections() if section.page in env.found_docs]
    placed = []
    for section in there:
        slugs = env.metadata[section.page].get("myst_slugs", {})
        if section.anchor in slugs:
            placed.append(section._replace(anchor=slugs[section.anchor][1]))
        else:
            logger.warning(
                "ask: %s has no section %r: run `python tools/sections.py write`",
                section.page,
                section.anchor,
            )
    chapters = {section.number for section in placed}
    return placed, [question for question in book_questions() if chapters & set(question.chapters)]


def embedded(texts: list[str], cache: Path) -> torch.Tensor:
    """The texts' vectors, quantised; kept in a file that is named by what was read, so that a
    second build need not compute them.
    """
    weights = hashlib.sha256((minilm.checkpoint() / "model.safetensors").read_bytes()).hexdigest()
    key = hashlib.sha256(json.dumps([weights, texts]).encode()).hexdigest()[:20]
    file = cache / f"{key}.safetensors"
    if not file.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with written_whole(file) as draft:
            save_file(
                {
                    "vectors": quantised(
                        SentenceBert.from_pretrained(minilm.checkpoint()).embed(texts)
                    )
                },
                draft,
            )
    return load_file(file)["vectors"]


def quantised(vectors: torch.Tensor) -> torch.Tensor:
    """Each vector stretched until its largest number is 127, and rounded: one byte a number in
    place of four.

    The stretching changes no cosine, the rounding changes it by less than 0.01.
    """
    return (vectors / vectors.abs().amax(dim=1, keepdim=True) * 127).round().to(torch.int8)


def how_often_right(
    sections: list[Section],
    questions: list[Question],
    typed: Sequence[tuple[str, set[str]]],
    vectors: torch.Tensor,
    by_words: Sequence[Sequence[int]] | None = None,
) -> str:
    """A table: of how many whole questions a right chapter is found (chapter 17b counts the same),
    and of how many words from a search box, in each way.
    """
    n = len(questions)
    asked, told, more = vectors.split([n, len(sections), len(typed)])
    of_questions = [lambda one, q=q: one.number in q.chapters for q in questions]
    of_typed = [lambda one, right=right: one.page in right for _, right in typed]
    parts = [(of_questions, orders(asked, told, by_words and by_words[:n]))]
    if typed:
        parts.append((of_typed, orders(more, told, by_words and by_words[n:])))
    rows = "".join(
        f'<tr><th scope="row">{name}</th>'
        + "".join(
            f"<td>{first}</td><td>{among}</td>"
            for right, found in parts
            for first, among in [how_often(right, found[way], sections)]
        )
        + "</tr>"
        for way, name in WAYS.items()
        if way in parts[0][1]
    )
    heads = [f"{n} whole questions", f"{len(typed)} words as one types them"][: len(parts)]
    return (
        '<table class="ask-right"><thead><tr><td></td>'
        + "".join(f'<th colspan="2" scope="colgroup">{head}</th>' for head in heads)
        + '</tr><tr><th scope="col">order by</th>'
        + '<th scope="col">first</th><th scope="col">in three</th>' * len(parts)
        + f"</tr></thead><tbody>{rows}</tbody></table>"
    )


def with_indices(text: str) -> str | None:
    """A text as HTML, if a letter in it has an index below or above it; else it is shown as it is."""
    escaped = html.escape(text)
    return shown if (shown := printed(escaped)) != escaped else None


def answer_html(
    sections: list[Section],
    asked: torch.Tensor,
    told: torch.Tensor,
    by_words: Sequence[int] | None = None,
) -> str:
    """The sections found for one question, as the page's script writes them for the others: so the
    first answer stands there before a script runs, and nothing moves when it does.

    Args:
        sections: all of them.
        asked: (width,), the question's vector as the page holds it.
        told: (sections, width).
        by_words: what the search by words finds, where there is one.
    """
    words = None if by_words is None else [by_words]
    (shown, *_) = orders(asked[None], told, words).values()
    scores = cosines(asked.double()[None], told.double())[0].tolist()
    return "".join(
        _result_html(sections[j], j, scores[j], by_words or []) for j in shown[0][:SHOWN]
    )


def _result_html(section: Section, j: int, score: float, by_words: Sequence[int]) -> str:
    """One section that was found, number j."""
    title, text = (printed(html.escape(each)) for each in (section.title, section.text))
    number = f"{score:.2f}".replace("-", "−")
    words = f"<span>words: no. {by_words.index(j) + 1}</span>" if j in by_words else ""
    return (
        f'<li><p><a href="{_address(section)}">{title}</a></p>'
        f'<p class="ask-where"><span>{html.escape(section.chapter)}</span>'
        f'<span class="ask-bar" aria-hidden="true"><i style="width: {max(0, round(100 * score))}%;">'
        f"</i></span><span>cosine {number}</span>{words}"
        f'<button type="button" class="ask-more" aria-label="More like this: '
        f'{html.escape(section.title)}" data-section="{j}">More like this</button></p>'
        f"<p>{text}</p></li>"
    )


def _address(section: Section) -> str:
    return f"../{section.page}.html#{section.anchor}"


def _answered_html(question: Question, section: Section) -> str:
    """A question and the section nearest to it, for who has no script."""
    title = printed(html.escape(section.title))
    return f'<li>{html.escape(question.question)} <a href="{_address(section)}">{title}</a></li>'


def data_script(sections: list[Section], vectors: torch.Tensor) -> str:
    """What questions are compared with. The vectors are those of the examples and of the sections."""
    told = {
        "sections": [
            [
                _address(section),
                section.chapter,
                section.title,
                section.text,
                with_indices(section.title),
                with_indices(section.text),
            ]
            for section in sections
        ],
        "vectors": base64.b64encode(vectors.numpy().tobytes()).decode(),
    }
    return f"var AskedSections = {_as_json(told)};\n"


def _as_json(told: dict) -> str:
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def page_html(
    sections: list[Section],
    questions: list[Question],
    vectors: torch.Tensor,
    typed: Sequence[tuple[str, set[str]]] = (),
    site: str = "../",
    by_words: Sequence[Sequence[int]] | None = None,
) -> tuple[str, str]:
    """The search (style, form, script), and the script that it fetches.

    Args:
        sections: what is found.  questions: with which it is counted how often that is right.
        vectors: those of the questions, of the sections, and of what is `typed`.
        typed: words, and the pages on which one would look for them.
        site: the folder of the site, seen from the page.
        by_words: what the search by words finds for each question and then for what is typed; without
            it there is one way to search.
    """
    asked, told, _ = vectors.split([len(questions), len(sections), len(typed)])
    of_questions = by_words and by_words[: len(questions)]
    fit = fitness(sections, questions, asked.float(), told.float(), of_questions)
    examples = best_of_each_part(fit)
    first = max(examples, key=fit.__getitem__)
    ways = orders(asked, told, of_questions)
    best = [next(iter(ways.values()))[i][0] for i in examples]
    script_told = data_script(sections, torch.cat([asked[examples], told]))
    version = hashlib.sha256(script_told.encode()).hexdigest()[:8]
    data = {
        "examples": [questions[i].question for i in examples],
        "first": examples.index(first),
        "sections": f"{site}{DATA}?{version}",
        "words": [f"{site}{section_search.FOLDER}/{name}.js" for name in ("rank", "index")]
        if by_words
        else [],
        "model": {"script": "../live/machine.js", **live_models.addresses(live_models.sentences())},
    }
    said = {
        "examples": "".join(
            f'<li><button type="button">{html.escape(question)}</button></li>'
            for question in data["examples"]
        ),
        "ways": _ways_html(ways) if len(ways) > 1 else "",
        "first_question": html.escape(questions[first].question),
        "first_answer": answer_html(
            sections, asked[first], told, of_questions and of_questions[first]
        ),
        "answered": "".join(
            _answered_html(questions[i], sections[j]) for i, j in zip(examples, best, strict=True)
        ),
        "megabytes": f"{data['model']['bytes'] / 1e6:.0f}",
        "right": how_often_right(sections, questions, typed, vectors, by_words),
    }
    filled = (HERE / "ask.html").read_text(encoding="utf-8")
    for name, text in said.items():
        filled = filled.replace(f"{{{name}}}", text)
    style, script = ((HERE / f"ask.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    inside = _as_json(data).replace("</", "<\\/")
    page = (
        f'<style>{style}</style>{filled}<script type="application/json" '
        f'id="ask-data">{inside}</script><script>{script}</script>'
    )
    return page, script_told


def _ways_html(ways: dict) -> str:
    """The choice between them."""
    choices = "".join(
        f'<label><input type="radio" name="ask-way" value="{way}"{" checked" * (i == 0)}> '
        f"{WAYS[way]}</label>"
        for i, way in enumerate(ways)
    )
    return f'<fieldset class="ask-ways"><legend>Order by</legend>{choices}</fieldset>'


def visit_ask(translator, node: ask) -> None:
    """Compute, and write."""
    sections, questions = pages_there(translator.builder.env)
    site = Path(translator.builder.outdir)
    typed = typed_about(sections)
    texts = [question.question for question in questions]
    words = [one for one, _ in typed]
    vectors = embedded(
        [*texts, *(section.read for section in sections), *words], site.parent / "ask"
    )
    by_words = found_by_words(translator.builder.app, sections, texts + words)
    page, data = page_html(sections, questions, vectors, typed, by_words=by_words)
    (site / DATA).parent.mkdir(parents=True, exist_ok=True)
    (site / DATA).write_text(data, encoding="utf-8")
    translator.body.append(page)
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict:
    """Add the directive and its node."""
    app.add_directive("ask", Ask)
    app.add_node(ask, html=(visit_ask, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
