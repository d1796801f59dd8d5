"""The directive {live}: a model of the course at work in the page, on what the reader types.

In a notebook, whose cells know no directives, and on the first page, a link to the figure's section
brings it: the figure stands behind the paragraph with the link. Elsewhere a link is a link. The sections are those of the pages "Type your own"
(type_your_own.py), "Mechanisms in motion", whose figures need no model (motion.py), and "One
sentence, all the way down" (at_work.py, through.py).

The model is copied beside the site's pages (live_models.py). The scripts in book/live compute with
it what the library computes, and a test holds the two equal. Nothing of it is fetched before the
reader asks. Until then an example's answer stands there (first_answers.py); without scripts, and on
paper, an example in words, which the library made while the site was built.
"""

import hashlib
import html
import json
import shutil
from functools import cache
from pathlib import Path

import at_work
import motion
import results
import sentence_map
import through
import torch
import type_your_own
import yaml
from docutils import nodes
from first_answers import answers
from kept import result
from live_models import address, addresses
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from lectures_lib.show.palette import card

SCRIPTS = Path(__file__).parents[1] / "live"
FOLDER = "live"  # of the site
COLOURS = ("share", "prediction", "error", "control", "active", "quiet")  # beside those of the card
FIGURES = {**type_your_own.FIGURES, **at_work.FIGURES, **through.FIGURES, **motion.FIGURES}
PAGES = type_your_own.PAGES | {one.PAGE: one.SECTIONS for one in (motion, through)}
# Of some figures there is more: colours, and a style sheet beside live.css.
MORE = {
    **dict.fromkeys(motion.FIGURES, (motion.COLOURS, "motion.css")),
    "through": (through.COLOURS, "through.css"),
    "reader": (through.COLOURS, "through.css"),  # the arithmetic of a share
    "at_work": (through.COLOURS, "at_work.css"),
    "sentence_map": (sentence_map.COLOURS, "sentence_map.css"),
    "probes": ((), "probes.css"),
    "dates": (("decoder", "mask", "right"), "dates.css"),
    "remembering": (("query", "key", "value"), "remembering.css"),
    "digits": (("position",), "digits.css"),
    "agreement": ((), "agreement.css"),
    "hiding": (("mask", "right", "series_1"), "hiding.css"),
}
# What rounding changes in a figure's model: {figure: {file of results: line}}.
ROUNDING = yaml.safe_load((SCRIPTS / "rounding.yml").read_text(encoding="utf-8"))
MOST = 4_000  # letters of first answers that stand in a page; longer ones are a file beside it
LATER = ("through.css", "inside.css")  # style sheets that a script fetches when it needs them


class Live(SphinxDirective):
    """`{live} NAME`, a name of `FIGURES`; it has no options."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The place of the figure, with its example, and the scripts that take over."""
        name = self.arguments[0]
        if name not in FIGURES:
            raise self.error(f"a live figure is one of {', '.join(FIGURES)}, not {name!r}")
        return [placed(name, self.env)]


def made(name: str) -> tuple[dict, str]:
    """A figure's options and its example, of which models have something to say."""
    return FIGURES[name]()


@cache
def figure(name: str) -> tuple[dict, str]:
    """The same, from the last build if neither models nor scripts have changed."""
    kept = result(made, name)
    there = all(
        file.exists() and address(file) in model.values()
        for model in kept[0].get("models", [])
        for file in model["files"]
    )
    return kept if there else made(name)


def parts(name: str) -> tuple[str, str, str]:
    """A figure's title, the attributes of its place that say what its script must know, and its
    example, as HTML.
    """
    options, example = figure(name)
    shown = (
        example if isinstance(example, through.Drawing) else f"<pre>{html.escape(example)}</pre>"
    )
    told = {key: options[key] for key in options if key not in ("asks", "shows")}
    told |= {"figure": name, "models": list(map(addresses, options.get("models", [])))}
    first = first_answer(name)
    attributes = (
        f'data-live="{html.escape(json.dumps(told, ensure_ascii=False))}" '
        f'data-answers="{html.escape(first if len(first) <= MOST else file_of(name))}"'
    )
    return html.escape(options["title"]), attributes, shown


def placed(name: str, env: BuildEnvironment) -> nodes.raw:
    """The place of a figure on the page that is read, with its example, which is also what paper
    shows of it, and the scripts that take over.
    """
    title, attributes, shown = parts(name)
    at = next(
        f"{page}.html#{section}"
        for page, sections in PAGES.items()
        for section, figure in sections.items()
        if figure == name
    )
    where = f"{env.app.config.html_baseurl}{at}"
    text = (
        f'<style>\n{style(*MORE.get(name, ()))}</style>\n<div class="live" {attributes}>\n'
        f'<div class="lv-box lv-still figure-card"><p class="lv-title">{title}</p>\n'
        f'<p class="lv-screen">An example (to type your own, this page needs scripts and a browser '
        f'of 2023 or later):</p>\n<p class="lv-paper">An example; your own is computed in a '
        f"browser, at {html.escape(where)}:</p>\n{shown}</div>\n</div>\n{rounding(name)}"
        f'<script type="module" src="{"../" * env.docname.count("/")}{FOLDER}/live.js"></script>\n'
    )
    return nodes.raw("", text, format="html")


def rounding(figure: str) -> str:
    """What 8 bits change in its model, in a line, and where it was measured."""
    return "".join(
        f'<p class="lv-rounding">{html.escape(results.filled(line, file))}</p>\n'
        for file, line in ROUNDING.get(figure, {}).items()
    )


def bring(app: Sphinx, doctree: nodes.document) -> None:
    """Behind a paragraph that links to a figure's section: the figure, once a page. Of chapters, and
    of the first page.
    """
    page, brought = app.env.docname, set()
    if not page.startswith("notebooks/") and page != app.config.root_doc:
        return
    for link in list(doctree.findall(addnodes.pending_xref)):
        target = str(link.get("reftarget", ""))
        sections = next((PAGES[one] for one in PAGES if target.endswith(one)), {})
        name = sections.get(str(link.get("reftargetid")))
        if name is None or name in brought:
            continue
        paragraph = link
        while not isinstance(paragraph.parent, nodes.section):
            paragraph = paragraph.parent
        brought.add(name)
        paragraph.parent.insert(paragraph.parent.index(paragraph) + 1, placed(name, app.env))


@cache
def style(colours: tuple[str, ...] = (), more: str = "") -> str:
    """The colours in both schemes, and the rest; of some figures there is more of both."""
    files = ["live.css", more] if more else ["live.css"]
    return card(".live", (*COLOURS, *colours)) + "".join(
        (SCRIPTS / file).read_text(encoding="utf-8") for file in files
    )


@cache
def first_answers() -> dict[str, list[dict]]:
    """What the models answer to the figures' first examples."""
    return answers({name: figure(name)[0] for name in FIGURES})


def first_answer(name: str) -> str:
    """The first answers of a figure, as JSON. One without a model says itself what it "shows"."""
    first = figure(name)[0].get("shows") or first_answers().get(name, [])
    return json.dumps(first, ensure_ascii=False, separators=(",", ":"))


def file_of(name: str) -> str:
    """Where those of a figure lie that are too long for a page: they are fetched with its script."""
    return f"answers/{name}.json?{hashlib.sha256(first_answer(name).encode()).hexdigest()[:8]}"


def make_examples(app: Sphinx) -> None:
    """All examples, before the build divides the pages among processes: each would load the models
    again. One thread, for a process that has started threads cannot be divided.
    """
    torch.set_num_threads(1)
    first_answers()


def copy(app: Sphinx, exception: Exception | None) -> None:
    """Put the scripts and the models beside the pages."""
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir, FOLDER)
    (folder / "models").mkdir(parents=True, exist_ok=True)
    for file in [*SCRIPTS.glob("*.js"), *(SCRIPTS / name for name in LATER)]:
        shutil.copyfile(file, folder / file.name)
    (folder / "answers").mkdir(exist_ok=True)
    for name in FIGURES:
        if len(first := first_answer(name)) > MOST:
            (folder / "answers" / f"{name}.json").write_text(first, encoding="utf-8")
    models = [one for name in FIGURES for one in figure(name)[0].get("models", [])]
    for file in {file for one in models for file in one["files"]}:
        shutil.copyfile(file, folder / "models" / file.name)


def setup(app: Sphinx) -> dict:
    """Add the directive."""
    app.add_directive("live", Live)
    app.connect("builder-inited", make_examples)
    app.connect("doctree-read", bring)
    app.connect("build-finished", copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
