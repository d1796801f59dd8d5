"""The directive {ask}: a page that finds the sections nearest to a question, by the cosines of
chapters 17 and 17b.

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
import itertools
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
EXAMPLES = 6
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


def fitness(
    sections: list[Section], questions: list[Question], asked: torch.Tensor, told: torch.Tensor
) -> list[tuple[bool, int, float]]:
    """How well each question shows what the page can do, to be compared: whether the nearest section
    lies in a chapter that answers it, how many of those that are shown do, and how near the first is.
    """
    nearest = search(asked, told, k=min(SHOWN, len(sections)))
    found = []
    for question, places, scores in zip(
        questions, nearest.places.tolist(), nearest.scores.tolist(), strict=True
    ):
        right = [sections[i].number in question.chapters for i in places]
        found.append((right[0], sum(right), scores[0]))
    return found


def best_of_each_part(fitness: list, parts: int = EXAMPLES) -> list[int]:
    """The places of the fittest in each of some parts, which are as long as each other but for one:
    questions stand in the order of the book, so that examples come from all over it.
    """
    n, parts = len(fitness), min(parts, len(fitness))
    edges = [n * part // parts for part in range(parts + 1)]
    return [
        max(range(start, end), key=fitness.__getitem__) for start, end in itertools.pairwise(edges)
    ]


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
    """Of how many whole questions a right chapter is found (chapter 17b counts the same), and of how
    many words from a search box.
    """
    asked, told, more = vectors.split([len(questions), len(sections), len(typed)])
    of_questions = [lambda one, q=q: one.number in q.chapters for q in questions]
    first, among = how_often(of_questions, asked, told, sections)
    said = (
        f"Of {len(questions)} whole questions that were written to test this, the first section found "
        f"lies in a chapter that answers the question for {first}, one of the first three for {among}."
    )
    if typed:
        of_typed = [lambda one, page=page: one.page == page for _, page in typed]
        first, among = how_often(of_typed, more, told, sections)
        said += (
            f" Of {len(typed)} words and short questions as one types them into a search box, such as "
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
    typed: Sequence[tuple[str, str]] = (),
    folder: str = "../",
) -> tuple[str, str]:
    """The search (style, form, script), and the script that it fetches. The vectors are those of the
    questions, of the sections, and of what is `typed` to see how often the search is right; `folder`
    is that of the site, seen from the page.
    """
    asked, told, _ = vectors.split([len(questions), len(sections), len(typed)])
    fit = fitness(sections, questions, asked.float(), told.float())
    examples = best_of_each_part(fit)
    first = max(examples, key=fit.__getitem__)
    nearest = search(asked[examples].float(), told.float(), k=1).places[:, 0].tolist()
    script_told = data_script(sections, torch.cat([asked[examples], told]))
    version = hashlib.sha256(script_told.encode()).hexdigest()[:8]
    data = {
        "examples": [questions[i].question for i in examples],
        "first": examples.index(first),
        "sections": f"{folder}{DATA}?{version}",
        "model": {"script": "../live/machine.js", **live_models.addresses(live_models.sentences())},
    }
    said = {
        "examples": "".join(
            f'<li><button type="button">{html.escape(question)}</button></li>'
            for question in data["examples"]
        ),
        "first_question": html.escape(questions[first].question),
        "first_answer": answer_html(sections, asked[first].float(), told.float()),
        "answered": "".join(
            _answered_html(questions[i], sections[j])
            for i, j in zip(examples, nearest, strict=True)
        ),
        "megabytes": f"{data['model']['bytes'] / 1e6:.0f}",
        "right": html.escape(how_often_right(sections, questions, typed, vectors.float())),
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


def visit_ask(translator, node: ask) -> None:
    """Compute, and write."""
    sections, questions = pages_there(translator.builder.env)
    site = Path(translator.builder.outdir)
    typed = typed_about(sections)
    texts = [question.question for question in questions] + [section.read for section in sections]
    vectors = embedded([*texts, *(words for words, _ in typed)], site.parent / "ask")
    page, data = page_html(sections, questions, vectors, typed)
    (site / DATA).parent.mkdir(parents=True, exist_ok=True)
    (site / DATA).write_text(data, encoding="utf-8")
    translator.body.append(page)
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict:
    """Add the directive and its node."""
    app.add_directive("ask", Ask)
    app.add_node(ask, html=(visit_ask, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
