"""MiniLM adapted to tasks: figures of the page "Type your own" (type_your_own.py)."""

from functools import cache

import torch.nn.functional as F
from live_models import adapted

from lectures_lib import stored
from lectures_lib.models import minilm
from lectures_lib.tasks import alignment, fine_tuning

JUDGED = [
    "A warm, funny film that never outstays its welcome.",
    "The jokes are old, and so is the hero.",
    "It is not bad at all.",
    "The soup was cold.",
]
PAIRS = [
    ("A man is playing a guitar.", "Someone plays the guitar."),
    ("The dog bites the man.", "The man bites the dog."),
    ("I do not know his whereabouts.", "I have no idea where he is."),
    ("She likes coffee.", "She does not like coffee."),
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
def similarity() -> tuple[dict, str]:
    """The figure that says how alike two sentences are; the scores of its pairs, and the cosines of
    MiniLM's vectors.
    """
    judge, tokenizer = stored.similarity()
    rows = [{"first": one, "second": other, "score": 0.0} for one, other in PAIRS]
    scores = fine_tuning.predict(judge, fine_tuning.pairs(rows, tokenizer))
    lines = []
    for (one, other), score in zip(PAIRS, scores, strict=True):
        both = [minilm.read(text).hidden[-1].mean(dim=0) for text in (one, other)]
        cosine = F.cosine_similarity(*both, dim=0)
        lines.append(f"{score:.1f} of 5, cosine {cosine:.2f}  {one} / {other}")
    options = {
        "title": "How alike are two sentences?",
        "models": [adapted("similarity")],
        "examples": PAIRS,
        "asks": [{"task": "alike", "first": PAIRS[0][0], "second": PAIRS[0][1]}],
    }
    return options, "\n".join(lines)


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
