"""The directive {live}: a model of the course at work in the page, on what the reader types.

The model is the file that `lectures_lib.stored` reads, copied beside the site's pages; the scripts
in book/live compute with it what the library computes (a test holds the two equal). Nothing of it
is fetched before the reader asks. Until then, and without scripts, an example stands there that the
library made while the site was built.
"""

import html
import json
import shutil
from functools import cache
from pathlib import Path

import torch
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from lectures_lib import decoding, stored
from lectures_lib.show.drawings.palette import variables

SCRIPTS = Path(__file__).parents[1] / "live"
FOLDER = "live"  # of the site
COLOURS = ("paper", "ink", "query", "key", "mask", "error", "neutral")

EXAMPLES = {
    "de": [
        "Zwei Hunde spielen im Schnee.",
        "Ein Mann mit Hut liest auf einer Bank die Zeitung.",
        "Die Regierung hat ein neues Gesetz verabschiedet.",
    ],
    "en": [
        "Two dogs are playing in the snow.",
        "A woman in a red dress is standing near the water.",
        "The government passed a new law.",
    ],
}
NAMES = {"de": "German", "en": "English"}


def model(kind: str, name: str, vocabulary: str) -> dict:
    """What a page must know to fetch one."""
    weights = stored.FOLDER / f"{name}.safetensors"
    return {
        "kind": kind,
        "weights": f"models/{weights.name}",
        "vocabulary": f"models/{vocabulary}.json",
        "bytes": weights.stat().st_size,
    }


@cache
def translator() -> tuple[dict, str]:
    """The figure with the two translators; one translated sentence."""
    models = [
        {
            **model("translator", f"translator_{source}_{target}", "translator"),
            "name": f"{NAMES[source]} → {NAMES[target]}",
            "language": source,
            "examples": EXAMPLES[source],
        }
        for source, target in stored.DIRECTIONS
    ]
    sentence = EXAMPLES["de"][0]
    (translation,) = stored.translator("de", "en")([sentence])
    options = {"title": "Your sentence, translated", "models": models}
    return options, f"{sentence} → {translation}"


@cache
def writer() -> tuple[dict, str]:
    """The figure with the language model; some lines that it wrote."""
    begin = "ROMEO:\n"
    language_model, letters = stored.language_model("shakespeare")
    drawn = decoding.sample(
        language_model,
        torch.tensor([letters.encode(begin)]),
        end=letters.token_id("<end>"),
        max_len=160,
        temperature=0.8,
        generator=torch.Generator().manual_seed(0),
    )
    example = begin + letters.decode(drawn.sentences()[0])
    models = [model("language model", "language_model_shakespeare", "language_model_shakespeare")]
    options = {"title": "A play that you begin", "models": models, "begin": begin}
    return options, example


FIGURES = {"translator": translator, "writer": writer}


class Live(SphinxDirective):
    """`{live} translator` or `{live} writer`; it has no options."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The place of the figure, with its example, and the scripts that take over."""
        name = self.arguments[0]
        if name not in FIGURES:
            raise self.error(f"a live figure is one of {', '.join(FIGURES)}, not {name!r}")
        options, example = FIGURES[name]()
        up = "../" * self.env.docname.count("/")
        data = html.escape(json.dumps({"figure": name, **options}, ensure_ascii=False))
        text = (
            f'<style>\n{style()}</style>\n<div class="live" data-live="{data}">\n'
            f'<div class="lv-box"><p class="lv-title">{html.escape(options["title"])}</p>\n'
            f"<p>An example (to type your own, this page needs scripts and a browser of 2023 or "
            f"later):</p>\n<pre>{html.escape(example)}</pre></div>\n</div>\n"
            f'<script type="module" src="{up}{FOLDER}/live.js"></script>\n'
        )
        return [nodes.raw("", text, format="html")]


@cache
def style() -> str:
    """The colours in both schemes, and the rest."""
    dark = f'html[data-theme="dark"] .live{{color-scheme:dark;{variables(COLOURS, "dark")}}}'
    light = f".live{{color-scheme:light;{variables(COLOURS, 'light')}}}\n"
    return f"{light}@media screen{{{dark}}}\n" + (SCRIPTS / "live.css").read_text(encoding="utf-8")


def copy(app: Sphinx, exception: Exception | None) -> None:
    """Put the scripts and the models beside the pages."""
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir, FOLDER)
    (folder / "models").mkdir(parents=True, exist_ok=True)
    for script in SCRIPTS.glob("*.js"):
        shutil.copy(script, folder)
    for options, _ in (figure() for figure in FIGURES.values()):
        for one in options["models"]:
            for path in (one["weights"], one["vocabulary"]):
                shutil.copy(stored.FOLDER / Path(path).name, folder / path)


def setup(app: Sphinx) -> dict:
    """Add the directive."""
    app.add_directive("live", Live)
    app.connect("build-finished", copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
