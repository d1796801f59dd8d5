"""The directive {ask}: a page that finds the sections nearest to a question, by the cosines of
chapters 17 and 17b.

The vectors of all sections and of the prepared questions are computed while the site is built, by
the course's own BERT with MiniLM's weights; the page holds them as whole numbers from -127 to 127
and compares them by itself. A reader's own question gets its vector in the page, by the same model
(live_models.py), which is fetched for it.
"""

import base64
import hashlib
import html
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import live_models
import torch
from docutils import nodes
from formula_text import printed
from queries import AFTERWARDS, QUERIES
from safetensors.torch import load_file, save_file
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from lectures_lib.data.book import Question, Section, book_questions, book_sections
from lectures_lib.files import written_whole
from lectures_lib.models import minilm
from lectures_lib.tasks.sentence_bert import SentenceBert, search

HERE = Path(__file__).parent
SHOWN = 5  # sections found, as in ask.js
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


def first_shown(
    sections: list[Section], questions: list[Question], asked: torch.Tensor, told: torch.Tensor
) -> int:
    """The question that shows best what the page can do: one whose nearest section lies in a chapter
    that answers it, and most of the others shown as well; of these the one with the clearest answer.
    """
    nearest = search(asked, told, k=min(SHOWN, len(sections)))
    fitness = []
    for question, places, scores in zip(
        questions, nearest.places.tolist(), nearest.scores.tolist(), strict=True
    ):
        right = [sections[i].number in question.chapters for i in places]
        fitness.append((right[0], sum(right), scores[0]))
    return fitness.index(max(fitness))


def how_often(
    right: Sequence[Callable[[Section], bool]],
    asked: torch.Tensor,
    told: torch.Tensor,
    sections: list[Section],
) -> tuple[int, int]:
    """For how many of some questions the first section found is right, and one of the first
    three.
    """
    places = search(asked, told, k=min(3, len(told))).places.tolist()
    found = [
        [is_right(sections[i]) for i in row] for is_right, row in zip(right, places, strict=True)
    ]
    return sum(row[0] for row in found), sum(map(any, found))


def how_often_right(
    sections: list[Section],
    questions: list[Question],
    typed: Sequence[tuple[str, str]],
    vectors: torch.Tensor,
) -> str:
    """Of how many prepared questions a right chapter is found (chapter 17b counts the same), and of
    how many words that it was not prepared for.
    """
    asked, told, more = vectors.split([len(questions), len(sections), len(typed)])
    of_questions = [lambda one, q=q: one.number in q.chapters for q in questions]
    first, among = how_often(of_questions, asked, told, sections)
    said = (
        f"Of the {len(questions)} prepared questions, the first section found lies in a chapter that "
        f"answers the question for {first}, one of the first three for {among}."
    )
    if typed:
        of_typed = [lambda one, page=page: one.page == page for _, page in typed]
        first, among = how_often(of_typed, more, told, sections)
        said += (
            f" Of {len(typed)} words and questions that nothing here was made for, such as "
            f"“{typed[0][0]}”, it lies in the one chapter that we would have named for {first}, one "
            f"of the first three for {among}."
        )
    return said


def typed_about(sections: list[Section]) -> list[tuple[str, str]]:
    """What students type into a search, and the page where we would send them, if that is one of
    these.
    """
    pages = {section.page for section in sections}
    wanted = ((words, at.split("#")[0]) for words, at in {**QUERIES, **AFTERWARDS}.items())
    return [(words, page) for words, page in wanted if page in pages]


def with_indices(text: str) -> str | None:
    """A text as HTML, if a letter in it has an index below or above it; else it is shown as it is."""
    escaped = html.escape(text)
    return shown if (shown := printed(escaped)) != escaped else None


def answer_html(sections: list[Section], asked: torch.Tensor, told: torch.Tensor) -> str:
    """The sections nearest to one question, as the page's script writes them for the others: so the
    first answer stands there before a script runs, and nothing moves when it does.

    Args:
        sections: all of them.
        asked: (width,), the question's vector as the page holds it.
        told: (sections, width).
    """
    nearest = search(asked.double()[None], told.double(), k=min(SHOWN, len(sections)))
    found = zip(nearest.places[0].tolist(), nearest.scores[0].tolist(), strict=True)
    return "".join(_result_html(sections[j], j, score) for j, score in found)


def _result_html(section: Section, j: int, score: float) -> str:
    """One section that was found, number j."""
    title, text = (printed(html.escape(each)) for each in (section.title, section.text))
    number = f"{score:.2f}".replace("-", "−")
    return (
        f'<li><p><a href="{_address(section)}">{title}</a></p>'
        f'<p class="ask-where"><span>{html.escape(section.chapter)}</span>'
        f'<span class="ask-bar" aria-hidden="true"><i style="width: {max(0, round(100 * score))}%;">'
        f"</i></span><span>cosine {number}</span>"
        f'<button type="button" class="ask-more" aria-label="More like this: '
        f'{html.escape(section.title)}" data-section="{j}">More like this</button></p>'
        f"<p>{text}</p></li>"
    )


def _address(section: Section) -> str:
    return f"../{section.page}.html#{section.anchor}"


def page_html(
    sections: list[Section],
    questions: list[Question],
    vectors: torch.Tensor,
    typed: Sequence[tuple[str, str]] = (),
) -> str:
    """The search: style, form, data, script. The vectors are those of the questions, of the
    sections, and of what is `typed` to see how often the search is right.
    """
    shown = len(questions) + len(sections)
    asked, told = vectors[: len(questions)].float(), vectors[len(questions) : shown].float()
    first = first_shown(sections, questions, asked, told)
    data = {
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
        "questions": [question.question for question in questions],
        "vectors": base64.b64encode(vectors[:shown].numpy().tobytes()).decode(),
        "first": first,
        "model": {"script": "../live/machine.js", **live_models.addresses(live_models.sentences())},
    }
    buttons = "".join(
        f'<li><button type="button">{html.escape(question.question)}</button></li>'
        for question in questions
    )
    filled = (
        (HERE / "ask.html")
        .read_text(encoding="utf-8")
        .replace("{questions}", buttons)
        .replace("{first_question}", html.escape(questions[first].question))
        .replace("{first_answer}", answer_html(sections, asked[first], told))
        .replace("{megabytes}", f"{data['model']['bytes'] / 1e6:.0f}")
        .replace("{n}", str(len(questions)))
        .replace(
            "{right}", html.escape(how_often_right(sections, questions, typed, vectors.float()))
        )
    )
    style, script = ((HERE / f"ask.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    inside = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return (
        f'<style>{style}</style>{filled}<script type="application/json" '
        f'id="ask-data">{inside}</script><script>{script}</script>'
    )


def visit_ask(translator, node: ask) -> None:
    """Compute, and write."""
    sections, questions = pages_there(translator.builder.env)
    cache = Path(translator.builder.outdir).parent / "ask"
    typed = typed_about(sections)
    texts = [question.question for question in questions] + [section.read for section in sections]
    vectors = embedded([*texts, *(words for words, _ in typed)], cache)
    translator.body.append(page_html(sections, questions, vectors, typed))
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict:
    """Add the directive and its node."""
    app.add_directive("ask", Ask)
    app.add_node(ask, html=(visit_ask, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
