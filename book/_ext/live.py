"""The directive {live}: a model of the course at work in the page, on what the reader types.

In a notebook, whose cells know no directives, a link to the figure's section on the page "Type your
own" (or "Mechanisms in motion", whose figures need no model: motion.py) brings it: the figure stands
behind the paragraph with the link.

The model is the file that `lectures_lib.stored` reads, copied beside the site's pages (the largest
in 8 bits). The scripts in book/live compute with it what the library computes, and a test holds the
two equal. Nothing of it is fetched before the reader asks. Until then, and without scripts, an
example stands there that the library made while the site was built.
"""

import html
import json
import shutil
from functools import cache
from pathlib import Path

import motion
import through
import torch
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from lectures_lib import data, decoding, stored
from lectures_lib.blocks.recording import record
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert
from lectures_lib.show.drawings.palette import schemes
from lectures_lib.tasks import alignment, fine_tuning
from lectures_lib.tokenization import WordPiece
from lectures_lib.training.pretraining import fill_mask

SCRIPTS = Path(__file__).parents[1] / "live"
FOLDER = "live"  # of the site
MADE = Path(__file__).parents[2] / "_build" / "live"  # what is made for the site
VOCABULARY = minilm.checkpoint() / "vocab.txt"
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
HOLES = [
    "The keys to the cabinet [MASK] on the table.",
    "He went to the bank to deposit his [MASK].",
    "In [MASK] the leaves turn red, and the days get [MASK].",
]
READ = [
    "The keys to the cabinet are on the table.",
    "The animal didn't cross the street because it was too tired.",
    "The dog chased the cat because it was angry.",
    "Time flies like an arrow, and fruit flies like a banana.",
]
# A head that has something to show, asked of the first of these tokens that a sentence has.
SHOWN_FIRST = {"layer": 3, "head": 1, "tokens": ["it", "are", "is", "was"]}
PIECES = [
    "Unbelievably, the untranslatable Donaudampfschiff sank.",
    "Zwei Hunde spielen im Schnee.",
    "2.718281828 is e, and naïve is not naive 😀",
]
SENSES = [
    ("She turned on the light in the hall.", "The bag is light enough to carry.", "light"),
    ("She turned on the light in the hall.", "The light of the sun woke him.", "light"),
    ("He rowed to the bank of the river.", "The bank lent her the money.", "bank"),
    ("The keys are on the table.", "The table on page 9 lists the prices.", "table"),
]
NEAR = [
    "A man is playing the guitar.",
    "Someone makes music on an instrument.",
    "The stock market fell on Monday.",
    "Shares lost value at the start of the week.",
    "A man is eating a guitar.",
]
JUDGED = [
    "A warm, funny film that never outstays its welcome.",
    "The jokes are old, and so is the hero.",
    "It is not bad at all.",
    "The soup was cold.",
]
TAGGED = [
    "Met Emma Watson at Heathrow today, she flew in from New York",
    "New album by Arcade Fire is out, listening to it on my iPhone",
    "my cat is asleep on the sofa",
]
CONTEXT = (
    "The ferry to the island leaves at seven in the morning and returns at dusk. In winter it does "
    "not run, because ice closes the harbour. A ticket costs four crowns; children under six "
    "travel free. The island's only inn belongs to Greta Lind, who also keeps the lighthouse."
)
ASKED = [
    "When does the ferry leave?",
    "Why does it not run in winter?",
    "Who keeps the lighthouse?",
    "How tall is the lighthouse?",
]
BEAM = 3
SHOWN = (2, 4, 9)  # digits whose first test image is offered
NAMES = {"de": "German", "en": "English"}


def model(
    kind: str, weights: Path, vocabulary: Path | None = None, learned: Path | None = None
) -> dict:
    """What a page must know to fetch one, and where the files are now. `learned`: differences to
    the weights.
    """
    return {
        "kind": kind,
        "weights": f"models/{weights.name}",
        "vocabulary": vocabulary and f"models/{vocabulary.name}",
        "learned": learned and f"models/{learned.name}",
        "bytes": sum(file.stat().st_size for file in (weights, learned) if file),
        "files": [file for file in (weights, vocabulary, learned) if file],
    }


def addresses(one: dict) -> dict:
    """The same, without where the files are now."""
    return {key: one[key] for key in one if key != "files"}


@cache
def translator() -> tuple[dict, str]:
    """The figure with the two translators; one translated sentence."""
    models = [
        {
            **model(
                "translator",
                stored.FOLDER / f"translator_{source}_{target}.safetensors",
                stored.FOLDER / "translator.json",
            ),
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
def one_sentence() -> tuple[dict, str]:
    """The figure in which one sentence goes through the whole Transformer; the drawing of it."""
    options, _ = translator()
    return {**options, "title": "One sentence, all the way down"}, through.drawing()


@cache
def beams() -> tuple[dict, str]:
    """The figure with the translators' beam search; what it finds for one sentence."""
    options, _ = translator()
    sentence, translates = EXAMPLES["de"][1], stored.translator("de", "en")
    found, _ = decoding.n_best(
        translates.model,
        torch.tensor([translates.source(sentence)]),
        width=BEAM,
        begin=data.BOS,
        end=data.EOS,
        max_len=60,
        never=(data.PAD, data.BOS),
    )
    lines = [
        f"{score:.2f}  {translates.subwords.decode(tokens.tolist(), skip_specials=True)}"
        for tokens, score in zip(found.tokens[0], found.scores[0], strict=True)
    ]
    return {**options, "title": "A beam that grows and is pruned"}, "\n".join([sentence, *lines])


@cache
def pieces() -> tuple[dict, str]:
    """The figure with two vocabularies; one text in word pieces."""
    paths = {"pieces": VOCABULARY, "pairs": stored.FOLDER / "translator.json"}
    names = {
        "pieces": "BERT's word pieces (30,522, English)",
        "pairs": "Our translator's byte pairs (German and English)",
    }
    options = {
        "title": "Your text in pieces",
        "models": [],
        "vocabularies": [
            {"kind": kind, "path": f"models/{path.name}", "name": names[kind]}
            for kind, path in paths.items()
        ],
        "bytes": sum(path.stat().st_size for path in paths.values()),
        "examples": PIECES,
    }
    cut = WordPiece.load(VOCABULARY)
    return options, " ".join(cut.known_tokens(cut.encode(PIECES[0])))


@cache
def senses() -> tuple[dict, str]:
    """The figure with one word in two sentences; its cosines, layer by layer."""
    one, other, word = SENSES[0]
    vectors = [
        [state[read.tokens.index(word)] for state in read.hidden]
        for read in (minilm.read(one), minilm.read(other))
    ]
    cosines = [torch.cosine_similarity(a, b, dim=0) for a, b in zip(*vectors, strict=True)]
    options = {
        "title": "One word, two sentences",
        "models": [sentences()],
        "examples": SENSES,
    }
    said = ", ".join(f"{cosine:.2f}" for cosine in cosines)
    return options, f"“{word}” in “{one}” and “{other}”: cosines from the input up {said}"


@cache
def nearness() -> tuple[dict, str]:
    """The figure that compares sentences; the cosines of the first with the others."""
    vectors = torch.stack([minilm.read(sentence).hidden[-1].mean(dim=0) for sentence in NEAR])
    cosines = torch.cosine_similarity(vectors[:1], vectors)
    lines = [f"{cosine:.2f}  {sentence}" for cosine, sentence in zip(cosines, NEAR, strict=True)]
    options = {"title": "Near by meaning", "models": [sentences()], "examples": NEAR}
    return options, "\n".join(lines)


def adapted(task: str) -> dict:
    """MiniLM as a page fetches it, and what was learned for one task beside it."""
    (weights, vocabulary) = sentences()["files"]
    return model("adapted", weights, vocabulary, stored.FOLDER / f"{task}.safetensors")


@cache
def sentiment() -> tuple[dict, str]:
    """The figure that tells praise from complaint; the verdicts on its examples."""
    judge, tokenizer = stored.sentiment()
    rows = [{"text": text, "label": 0} for text in JUDGED]
    scores = fine_tuning.scores(judge, fine_tuning.sentences(rows, tokenizer))
    lines = [
        f"{row.softmax(dim=-1)[1]:.2f}  {text}" for row, text in zip(scores, JUDGED, strict=True)
    ]
    options = {
        "title": "Praise or complaint?",
        "models": [adapted("sentiment")],
        "examples": JUDGED,
    }
    return options, "\n".join(["share of praise", *lines])


@cache
def entities() -> tuple[dict, str]:
    """The figure that finds names; what it finds in one message."""
    tagger, tokenizer = stored.entities()
    words = TAGGED[0].split()
    rows = [{"words": words, "labels": ["O"] * len(words)}]
    (found,) = fine_tuning.predict(tagger, fine_tuning.tagged(rows, tokenizer, tagger.names))
    said = [
        f"{word} [{tagger.names[i]}]" if i else word for word, i in zip(words, found, strict=True)
    ]
    options = {"title": "Names in a message", "models": [adapted("entities")], "examples": TAGGED}
    return options, " ".join(said)


@cache
def answers() -> tuple[dict, str]:
    """The figure that answers a question about a text; what it says of one."""
    extractor, tokenizer = stored.answers()
    rows = [{"question": ASKED[0], "context": CONTEXT, "answers": []}]
    examples = fine_tuning.questions(rows, tokenizer, 192)
    (span,) = fine_tuning.predict(extractor, examples)
    options = {
        "title": "A question about a text",
        "models": [adapted("answers")],
        "examples": [{"question": question, "text": CONTEXT} for question in ASKED],
    }
    said = alignment.quote(examples[0].reads[0], CONTEXT, *span)
    return options, f"{CONTEXT}\n\n{ASKED[0]} → {said}"


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
    whole_lines, _, _ = letters.decode(drawn.sentences()[0]).rpartition("\n")
    example = f"{begin}{whole_lines}\n…"
    file = stored.FOLDER / "language_model_shakespeare.safetensors"
    models = [model("language model", file, file.with_suffix(".json"))]
    options = {"title": "A play that you begin", "models": models, "begin": begin}
    return options, example


@cache
def filler() -> tuple[dict, str]:
    """The figure with the model that fills holes; what it says of one."""
    bert, pieces = stored.fill_mask()
    MADE.mkdir(parents=True, exist_ok=True)
    file = MADE / "fill_mask_8bit.safetensors"
    stored.save_eight_bits(bert, file)
    guesses = fill_mask(bert, pieces, HOLES[0])[0]
    said = ", ".join(f"{guess.token} {100 * guess.probability:.0f} %" for guess in guesses)
    models = [model("masked words", file, VOCABULARY)]
    options = {"title": "Holes in your sentence", "models": models, "examples": HOLES}
    return options, f"{HOLES[0]} → {said}"


@cache
def sentences() -> dict:
    """MiniLM as it is published: it also turns a question into a vector, on the page "Ask the
    book".
    """
    MADE.mkdir(parents=True, exist_ok=True)
    file = MADE / "minilm_8bit.safetensors"
    stored.save_eight_bits(Bert.from_pretrained(minilm.checkpoint()), file)
    return model("sentences", file, VOCABULARY)


@cache
def reader() -> tuple[dict, str]:
    """The figure with BERT's attention; where one word of an example looks."""
    bert, pieces = Bert.from_pretrained(minilm.checkpoint()), WordPiece.load(VOCABULARY)
    pair = pieces.pair(READ[0])
    layer, head = SHOWN_FIRST["layer"], SHOWN_FIRST["head"]
    word = next(token for token in SHOWN_FIRST["tokens"] if token in pair.tokens)
    table = f"encoder.blocks.{layer}.self_attention.weights"
    with torch.no_grad(), record(bert, table) as seen:
        bert(torch.tensor([pair.ids]))
    (weights,) = seen.all(table)
    row = weights[0, head, pair.tokens.index(word)]
    said = ", ".join(
        f"{token} {100 * share:.0f} %" for token, share in zip(pair.tokens, row, strict=True)
    )
    options = {
        "title": "Where a BERT looks",
        "models": [sentences()],
        "examples": READ,
        "layers": bert.config.n_layers,
        "heads": bert.config.n_heads,
        "first": SHOWN_FIRST,
    }
    return options, f"“{word}” in layer {layer}, head {head}: {said}"


@cache
def digits() -> tuple[dict, str]:
    """The figure with the ViT that reads digits; one image of the test set, and what it is taken
    for. The greys of the data set are sixteenths.
    """
    test = data.load("images", "test")
    first = {digit: next(one["image"] for one in test if one["label"] == digit) for digit in SHOWN}
    examples = [
        {"digit": digit, "image": (16 * image).int().flatten().tolist()}
        for digit, image in first.items()
    ]
    with torch.no_grad():
        said = int(stored.digits()(first[SHOWN[0]][None]).argmax())
    rows = ["".join(f"{'.:+#'[int(3.99 * grey)]} " for grey in row) for row in first[SHOWN[0]][0]]
    options = {
        "title": "A digit that you draw",
        "models": [model("images", stored.FOLDER / "digits.safetensors")],
        "examples": examples,
    }
    return options, "\n".join([*rows, f"→ {said}"])


# In the order of the page "Type your own", each with the address of its section there.
FIGURES = {
    "translator": translator,
    "beams": beams,
    "writer": writer,
    "pieces": pieces,
    "filler": filler,
    "sentiment": sentiment,
    "entities": entities,
    "answers": answers,
    "reader": reader,
    "senses": senses,
    "nearness": nearness,
    "digits": digits,
    "through": one_sentence,
    **motion.FIGURES,
}
SECTIONS = {
    "a-translator": "translator",
    "a-beam": "beams",
    "a-writer": "writer",
    "words-in-pieces": "pieces",
    "a-bert-that-fills-holes": "filler",
    "praise-or-complaint": "sentiment",
    "names-in-a-message": "entities",
    "a-question-about-a-text": "answers",
    "where-a-bert-looks": "reader",
    "one-word-two-sentences": "senses",
    "near-by-meaning": "nearness",
    "a-vit-that-reads-your-digit": "digits",
}
PAGES = {"book/live": SECTIONS, motion.PAGE: motion.SECTIONS, through.PAGE: through.SECTIONS}
# Of some figures there is more: colours, and a style sheet beside live.css.
MORE = {
    **dict.fromkeys(motion.FIGURES, (("value",), "motion.css")),
    "through": (through.COLOURS, "through.css"),
}


class Live(SphinxDirective):
    """`{live} NAME`, a name of `FIGURES`; it has no options."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The place of the figure, with its example, and the scripts that take over."""
        name = self.arguments[0]
        if name not in FIGURES:
            raise self.error(f"a live figure is one of {', '.join(FIGURES)}, not {name!r}")
        return [placed(name, self.env)]


def placed(name: str, env: BuildEnvironment) -> nodes.raw:
    """The place of a figure on the page that is read, with its example, which is also what paper
    shows of it, and the scripts that take over.
    """
    options, example = FIGURES[name]()
    drawn = isinstance(example, through.Drawing)
    shown = example if drawn else f"<pre>{html.escape(example)}</pre>"
    models = list(map(addresses, options.get("models", [])))
    told = {**options, "figure": name, "models": models}
    data = html.escape(json.dumps(told, ensure_ascii=False))
    at = next(
        f"{page}.html#{section}"
        for page, sections in PAGES.items()
        for section, figure in sections.items()
        if figure == name
    )
    where = f"{env.app.config.html_baseurl}{at}"
    text = (
        f'<style>\n{style(*MORE.get(name, ()))}</style>\n<div class="live" data-live="{data}">\n'
        f'<div class="lv-box lv-still"><p class="lv-title">{html.escape(options["title"])}</p>\n'
        f'<p class="lv-screen">An example (to type your own, this page needs scripts and a browser '
        f'of 2023 or later):</p>\n<p class="lv-paper">An example; your own is computed in a '
        f"browser, at {html.escape(where)}:</p>\n{shown}</div>\n</div>\n"
        f'<script type="module" src="{"../" * env.docname.count("/")}{FOLDER}/live.js"></script>\n'
    )
    return nodes.raw("", text, format="html")


def bring(app: Sphinx, doctree: nodes.document) -> None:
    """Behind a paragraph that links to a figure's section: the figure, once a page."""
    page, brought = app.env.docname, set()
    if page in PAGES:
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
    return schemes(".live", (*COLOURS, *colours)) + "".join(
        (SCRIPTS / file).read_text(encoding="utf-8") for file in files
    )


def copy(app: Sphinx, exception: Exception | None) -> None:
    """Put the scripts and the models beside the pages."""
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir, FOLDER)
    (folder / "models").mkdir(parents=True, exist_ok=True)
    for script in SCRIPTS.glob("*.js"):
        shutil.copyfile(script, folder / script.name)
    models = [one for figure in FIGURES.values() for one in figure()[0].get("models", [])]
    for file in {file for one in models for file in one["files"]}:
        shutil.copyfile(file, folder / "models" / file.name)


def setup(app: Sphinx) -> dict:
    """Add the directive."""
    app.add_directive("live", Live)
    app.connect("doctree-read", bring)
    app.connect("build-finished", copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
