"""The figure that asks two models which of two words belongs in a sentence's hole: the language model
of WikiText-2, which reads what stands before it, and the BERT that fills holes, which reads both
sides.
"""

import torch

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
