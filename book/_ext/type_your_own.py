"""The figures of the page "Type your own": the course's models at work on what the reader types.

Each function gives what its script in book/live must know, and an example that the library makes
while the site is built: what stands there without scripts, and on paper.
"""

import base64
import datetime
from functools import cache

import torch
from agreement import EXAMPLES as SENTENCES
from agreement import behind, given, in_hole
from live_models import (
    MADE,
    VOCABULARY,
    adapted,
    address,
    model,
    part_of_pairs,
    part_of_pieces,
    sentences,
)
from probes import probes
from sentence_map import sentence_map
from torch import Tensor

from lectures_lib import data, decoding, stored
from lectures_lib.blocks.recording import record
from lectures_lib.data import dates
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert
from lectures_lib.models.vit import ViT
from lectures_lib.tasks import alignment, fine_tuning
from lectures_lib.tasks.sentence_bert import cosines
from lectures_lib.tokenization import BPE, WordPiece
from lectures_lib.training.pretraining import fill_mask

PAGE = "book/live"
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
BEAM, ALPHA = 3, 0.6  # of the beam search: width and length penalty, as in book/live/beams.js
DRAWN = {"temperature": 0.8, "topK": 1e9, "topP": 1}  # how the writer draws at first: from all
DAY = datetime.date(2017, 6, 12)
DATED = ["july 20, 1969", "5 may 1821", "31 february 1950", "1969 july 20", "tomorrow"]
FIRST_STEP = 6  # of the walk through the first date
SHOWN = (2, 4, 9)  # digits whose first test image is offered
CLOTHES = (
    "The pictures are from Fashion-MNIST (Xiao, Rasul and Vollgraf 2017; © Zalando SE, MIT "
    "licence), where they are light on black: of each class the first in the test set. Press one "
    "again, and it is as it was."
)
NAMES = {"de": "German", "en": "English"}


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
    options = {
        "title": "Your sentence, translated",
        "models": models,
        "asks": [{"task": "translate", "text": sentence, "forced": []}],
    }
    return options, f"{sentence} → {translation}"


@cache
def beams() -> tuple[dict, str]:
    """The figure with the translators' beam search; what it finds for one sentence."""
    models = translator()[0]["models"]
    sentence, translates = EXAMPLES["de"][0], stored.translator("de", "en")
    found, _ = decoding.n_best(
        translates.model,
        torch.tensor([translates.source(sentence)]),
        width=BEAM,
        alpha=ALPHA,
        begin=data.BOS,
        end=data.EOS,
        max_len=60,
        never=(data.PAD, data.BOS),
    )
    lines = [
        f"{score:.2f}  {translates.subwords.decode(tokens.tolist(), skip_specials=True)}"
        for tokens, score in zip(found.tokens[0], found.scores[0], strict=True)
    ]
    options = {
        "title": "A beam that grows and is pruned",
        "models": models,
        "asks": [{"task": "beam", "text": sentence, "width": BEAM, "alpha": ALPHA}],
    }
    return options, "\n".join([sentence, *lines])


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
        temperature=DRAWN["temperature"],
        generator=torch.Generator().manual_seed(0),
    )
    whole_lines, _, _ = letters.decode(drawn.sentences()[0]).rpartition("\n")
    example = f"{begin}{whole_lines}\n…"
    file = stored.FOLDER / "language_model_shakespeare.safetensors"
    models = [model("language model", file, file.with_suffix(".json"))]
    options = {
        "title": "A play that you begin",
        "models": models,
        "begin": begin,
        "asks": [{"task": "next", "text": begin, "options": DRAWN}],
    }
    return options, example


@cache
def pieces() -> tuple[dict, str]:
    """The figure with two vocabularies; one text in word pieces."""
    paths = {"pieces": VOCABULARY, "pairs": stored.FOLDER / "translator.json"}
    cut, pairs = WordPiece.load(paths["pieces"]), BPE.load(paths["pairs"])
    names = {
        "pieces": "BERT's word pieces (30,522, English)",
        "pairs": "Our translator's byte pairs (German and English)",
    }
    options = {
        "title": "Your text in pieces",
        "models": [],
        "vocabularies": [
            {"kind": kind, "path": address(path), "name": names[kind]}
            for kind, path in paths.items()
        ],
        "bytes": sum(path.stat().st_size for path in paths.values()),
        "examples": PIECES,
        "shows": [part_of_pieces(cut, PIECES[0]), part_of_pairs(pairs, PIECES[0])],
    }
    return options, " ".join(cut.known_tokens(cut.encode(PIECES[0])))


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
    options = {
        "title": "Holes in your sentence",
        "models": models,
        "examples": HOLES,
        "asks": [{"task": "fill", "text": HOLES[0]}],
    }
    return options, f"{HOLES[0]} → {said}"


@cache
def agreement() -> tuple[dict, str]:
    """The figure that asks which of two words belongs in a hole, a model that reads what stands
    before it and one that reads both sides; the leads that they give one word over the other.
    """
    reader, subwords = stored.language_model("wikitext")
    bert, pieces = stored.fill_mask()
    lines, asks = ["nats by which the first word leads: only the left, both sides"], []
    for example in reversed(SENTENCES):  # the first comes last: it stands on top of what was asked
        words = example["words"]
        left, text = given(example["text"])
        asks += [
            {"task": "behind", "text": left, "words": words},
            {"task": "inHole", "model": 1, "text": text, "words": words},
        ]
        leads = [
            behind(reader, subwords, left, words[0]) - behind(reader, subwords, left, words[1]),
            in_hole(bert, pieces, text, words[0]) - in_hole(bert, pieces, text, words[1]),
        ]
        said = [*map("{:+5.1f}".format, leads), f" {' / '.join(words)}: {example['text']}"]
        lines.insert(1, " ".join(said))
    file = stored.FOLDER / "language_model_wikitext.safetensors"
    options = {
        "title": "Which of two words?",
        "models": [
            model("language model", file, file.with_suffix(".json")),
            *filler()[0]["models"],
        ],
        "examples": SENTENCES,
        "asks": asks,
    }
    return options, "\n".join(lines)


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
        "asks": [{"task": "judge", "text": JUDGED[0]}],
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
    options = {
        "title": "Names in a message",
        "models": [adapted("entities")],
        "examples": TAGGED,
        "asks": [{"task": "tag", "text": TAGGED[0]}],
    }
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
        "asks": [{"task": "answer", "question": ASKED[0], "text": CONTEXT}],
    }
    said = alignment.quote(examples[0].reads[0], CONTEXT, *span)
    return options, f"{CONTEXT}\n\n{ASKED[0]} → {said}"


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
        "asks": [{"task": "look", "text": READ[0], "second": "", "places": 5}],
    }
    return options, f"“{word}” in layer {layer}, head {head}: {said}"


@cache
def senses() -> tuple[dict, str]:
    """The figure with one word in two sentences; its cosines, layer by layer."""
    one, other, word = SENSES[0]
    vectors = [
        [state[read.tokens.index(word)] for state in read.hidden]
        for read in (minilm.read(one), minilm.read(other))
    ]
    near = [torch.cosine_similarity(a, b, dim=0) for a, b in zip(*vectors, strict=True)]
    options = {
        "title": "One word, two sentences",
        "models": [sentences()],
        "examples": SENSES,
        "asks": [
            {"task": "states", "text": sentence, "only": [word], "places": 4}
            for sentence in (one, other)
        ],
    }
    said = ", ".join(f"{cosine:.2f}" for cosine in near)
    return options, f"“{word}” in “{one}” and “{other}”: cosines from the input up {said}"


@cache
def nearness() -> tuple[dict, str]:
    """The figure that compares sentences; the cosines of the first with the others."""
    vectors = torch.stack([minilm.read(sentence).hidden[-1].mean(dim=0) for sentence in NEAR])
    (near,) = cosines(vectors[:1], vectors)
    lines = [f"{cosine:.2f}  {sentence}" for cosine, sentence in zip(near, NEAR, strict=True)]
    options = {
        "title": "Near by meaning",
        "models": [sentences()],
        "examples": NEAR,
        "asks": [{"task": "embed", "text": sentence, "places": 4} for sentence in NEAR],
    }
    return options, "\n".join(lines)


def drawn(kind: str, vit: ViT, shades: int, examples: dict[str, Tensor]) -> dict:
    """What the figure must know of a kind of picture; "alike" are the cosines of every two patches'
    positions. The greys of an example are whole numbers, up to `shades`; they travel as bytes, in
    base64.
    """
    places = vit.positions.detach()[1:]  # 0 is the class token's
    greys = {name: (shades * image).round().byte() for name, image in examples.items()}
    return {
        "kind": kind,
        "side": vit.config.image_size,
        "shades": shades,
        "classes": list(vit.names or map(str, range(10))),
        "alike": [[round(value, 4) for value in row] for row in cosines(places, places).tolist()],
        "examples": [
            {"name": name, "image": base64.b64encode(grey.numpy().tobytes()).decode()}
            for name, grey in greys.items()
        ],
    }


@cache
def digits() -> tuple[dict, str]:
    """The figure with the ViTs that read digits and garments; one digit of the test set, and what
    it is taken for.
    """
    test = data.load("images", "test")
    first = {digit: next(one["image"] for one in test if one["label"] == digit) for digit in SHOWN}
    clothes = {data.GARMENTS[one["label"]]: one["image"] for one in data.ten_garments()}
    tests = {f"a test image: {digit}": image for digit, image in first.items()}
    kinds = [
        {"name": "A digit", **drawn("digit", stored.digits(), 16, tests)},
        {
            "name": "A garment",
            **drawn("garment", stored.garments(), 255, clothes),
            "pictured": True,
            "source": CLOTHES,
        },
    ]
    with torch.no_grad():
        said = int(stored.digits()(first[SHOWN[0]][None]).argmax())
    rows = ["".join(f"{'.:+#'[int(3.99 * grey)]} " for grey in row) for row in first[SHOWN[0]][0]]
    options = {
        "title": "A digit or a garment that you draw",
        "models": [
            model("images", stored.FOLDER / f"{name}.safetensors")
            for name in ("digits", "garments")
        ],
        "kinds": kinds,
        "asks": [{"task": "classify", "image": first[SHOWN[0]].flatten().tolist()}],
    }
    return options, "\n".join([*rows, f"→ {said}"])


@cache
@torch.no_grad()
def dates_by_letter() -> tuple[dict, str]:
    """The figure with the translators of dates; for one date the shares of all letters, with a
    teacher and alone.
    """
    translates, answer = stored.dates(stored.DATES[0]), DAY.isoformat()
    text = dates.spellings(DAY)[1]
    source, lengths = dates.to_ids([text])
    found = decoding.greedy(
        translates, source, lengths, begin=dates.BEGIN, end=dates.END, max_len=len(answer) + 1
    )
    written = dates.to_text(found.tokens[0])

    def shares(letters: str) -> list[list[float]]:
        """Of the letter behind each of these."""
        scores = translates(source, dates.to_ids([letters])[0], lengths)[0]
        return [[round(share, 5) for share in row] for row in scores.softmax(dim=-1).tolist()]

    taught = shares(f">{answer}")
    run = {
        "text": text,
        "answer": answer,
        "written": written,
        "taught": taught,
        "rows": shares(f">{written[:-1]}"),
    }
    options = {
        "title": "A date, letter by letter",
        "models": [
            {
                **model("translator", stored.FOLDER / f"dates_{steps}.safetensors"),
                "name": f"{steps:,} steps",
            }
            for steps in stored.DATES
        ],
        "alphabet": dates.ALPHABET,
        "room": translates.config.max_len,
        "examples": DATED,
        "run": run,
        "first": FIRST_STEP,
    }
    said = [
        f"reads >{answer[:i]:10}  right is {letter}, share {row[dates.ALPHABET.index(letter)]:.3f}"
        for i, (letter, row) in enumerate(zip(f"{answer}.", taught, strict=True))
    ]
    return options, "\n".join([f"{text}, in training, all at once:", *said, f"written: {written}"])


# In the order of the page.
FIGURES = {
    "translator": translator,
    "beams": beams,
    "writer": writer,
    "dates": dates_by_letter,
    "pieces": pieces,
    "filler": filler,
    "agreement": agreement,
    "sentiment": sentiment,
    "entities": entities,
    "answers": answers,
    "reader": reader,
    "senses": senses,
    "probes": probes,
    "nearness": nearness,
    "sentence_map": sentence_map,
    "digits": digits,
}
# The address of each figure's section there.
SECTIONS = {
    "a-translator": "translator",
    "a-beam": "beams",
    "a-writer": "writer",
    "a-date-letter-by-letter": "dates",
    "words-in-pieces": "pieces",
    "a-bert-that-fills-holes": "filler",
    "which-of-two-words": "agreement",
    "praise-or-complaint": "sentiment",
    "names-in-a-message": "entities",
    "a-question-about-a-text": "answers",
    "where-a-bert-looks": "reader",
    "one-word-two-sentences": "senses",
    "a-sentence-read-by-probes": "probes",
    "near-by-meaning": "nearness",
    "a-map-of-sentences": "sentence_map",
    "a-vit-that-reads-your-digit": "digits",
}
