"""What a BERT cuts, fills, looks at and holds near: figures of the page "Type your own"
(type_your_own.py).
"""

from functools import cache

import torch
from live_models import (
    MADE,
    VOCABULARY,
    address,
    model,
    part_of_pairs,
    part_of_pieces,
    sentences,
)

from lectures_lib import stored
from lectures_lib.blocks.recording import record
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert
from lectures_lib.tasks.sentence_bert import cosines
from lectures_lib.tokenization import BPE, WordPiece
from lectures_lib.training.pretraining import fill_mask

PIECES = [
    "Unbelievably, the untranslatable Donaudampfschiff sank.",
    "Zwei Hunde spielen im Schnee.",
    "2.718281828 is e, and naïve is not naive 😀",
]
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
