"""The figure that asks two models which of two words belongs in a sentence's hole: the language model
of WikiText-2, which reads what stands before it, and the BERT that fills holes, which reads both
sides.
"""

from functools import cache

import torch
from figures_of_bert import filler
from live_models import model

from lectures_lib import stored
from lectures_lib.models.bert import BertForPreTraining
from lectures_lib.models.language_model import LanguageModel
from lectures_lib.tokenization import BPE, WordPiece

HOLE = "___"
EXAMPLES = [
    {"text": f"The keys to the cabinet {HOLE} on the table.", "words": ["are", "is"]},
    {"text": f"The keys {HOLE} on the table.", "words": ["are", "is"]},
    {
        "text": f"The keys to the cabinet that the man bought {HOLE} on the table.",
        "words": ["are", "is"],
    },
    {"text": f"There {HOLE} three letters on the table.", "words": ["are", "is"]},
]


def given(text: str) -> tuple[str, str]:
    """What the two models get of a sentence with a hole: the left side, and all of it."""
    left, _, right = text.partition(HOLE)
    return left.rstrip(), f"{left}[MASK]{right}"


@torch.no_grad()
def behind(reader: LanguageModel, subwords: BPE, left: str, word: str) -> float:
    """The logarithm of a word's probability behind a text, at the beginning of a line (chapter
    10b): a sum over its subwords.
    """
    before = f"\n {left}" if left else "\n"
    ids = subwords.encode(f"{before} {word}")
    known = len(subwords.encode(before))
    return float(reader.log_probabilities(torch.tensor([ids]))[0, known - 1 :].sum())


@torch.no_grad()
def in_hole(bert: BertForPreTraining, pieces: WordPiece, text: str, word: str) -> float | None:
    """The logarithm of a word's probability at a text's [MASK]; None of what is not one piece."""
    ids = pieces.encode(word)
    if len(ids) != 1 or ids == [pieces.token_id("[UNK]")]:
        return None
    read = torch.tensor([pieces.pair(text).ids])
    scores = bert(read, at=read == pieces.token_id("[MASK]")).words[0]
    return float(scores.log_softmax(dim=-1)[ids[0]])


@cache
def agreement() -> tuple[dict, str]:
    """The figure that asks which of two words belongs in a hole, a model that reads what stands
    before it and one that reads both sides; the leads that they give one word over the other.
    """
    reader, subwords = stored.language_model("wikitext")
    bert, pieces = stored.fill_mask()
    lines, asks = ["nats by which the first word leads: only the left, both sides"], []
    for example in reversed(EXAMPLES):  # the first comes last: it stands on top of what was asked
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
        "examples": EXAMPLES,
        "asks": asks,
    }
    return options, "\n".join(lines)
