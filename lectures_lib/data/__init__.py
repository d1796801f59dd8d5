"""Data for every task: an offline default that needs no network, and real data by its name on the
Hugging Face hub.

What a page prints comes from the offline default, the same everywhere. Real data is read when it is
asked for, and only then: nothing here ever switches from the one to the other by itself. See
`load`; batches by length are in `lectures_lib.data.batches`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from lectures_lib.data import labelled, rows
from lectures_lib.data.batches import (
    Batches,
    Padded,
    PairBatch,
    TextBatch,
    blocks,
    pad,
    pad_pairs,
    pad_texts,
)
from lectures_lib.data.captions import own_captions
from lectures_lib.data.documents import articles, manual_documents, sentences
from lectures_lib.data.hub import DataError, mirror, name_classes, read_split
from lectures_lib.data.images import (
    GARMENT_FILE,
    GARMENTS,
    ImageBatch,
    ImageBatches,
    handwritten_digits,
    labelled_image,
    stack,
    ten_garments,
)
from lectures_lib.data.manual import python_manual
from lectures_lib.data.numbers import number_alignment, number_tokens, number_words
from lectures_lib.data.splits import SPLITS, check_split
from lectures_lib.data.words import BOS, EOS, PAD, UNK, WordVocabulary

__all__ = [
    "BOS",
    "EOS",
    "GARMENTS",
    "GARMENT_FILE",
    "PAD",
    "SPLITS",
    "TASKS",
    "UNK",
    "Batches",
    "DataError",
    "Examples",
    "ImageBatch",
    "ImageBatches",
    "Padded",
    "PairBatch",
    "TextBatch",
    "WordVocabulary",
    "articles",
    "blocks",
    "handwritten_digits",
    "labelled_image",
    "load",
    "manual_documents",
    "mirror",
    "number_alignment",
    "number_tokens",
    "number_words",
    "own_captions",
    "pad",
    "pad_pairs",
    "pad_texts",
    "python_manual",
    "read_split",
    "sentences",
    "stack",
    "ten_garments",
]


class Examples(list):
    """A list of examples that knows where it came from: `origin`, one line for the page to show."""

    def __init__(self, examples: list, origin: str):
        super().__init__(examples)
        self.origin = origin


@dataclass(frozen=True)
class Task:
    """Where the examples of a task come from.

    Args:
        offline: makes the examples of a split, with no network; None where there is no such
            default.
        real: the hub ids that hold the task's real data; the first is meant by `source="real"`.
        example: turns a row of the hub's table into an example.
        gather: makes the examples of all of these, where one example is spread over several rows.
        named: the columns of the hub's table whose class numbers are wanted as names.
        answer: the key under which a benchmark that hides the answers of its test split puts -1.
        made: says how the offline default came about, where it is not made by `offline` on the
            spot.
    """

    offline: Callable[..., list] | None
    real: tuple[str, ...]
    example: Callable[[dict], Any]
    gather: Callable[[list], list] = list
    named: tuple[str, ...] = ()
    answer: str | None = None
    made: str = ""


def _written(task: str, *real: str, **how: Any) -> Task:
    """A task whose offline default is a small labelled set written for this book."""
    how.setdefault("example", dict)
    return Task(
        partial(labelled.examples, task),
        real,
        made=f"{task}, a small set written for this book",
        **how,
    )


TASKS = {
    # Examples are dictionaries with one sentence for each language: {"en": …, "de": …}.
    "translation": Task(
        number_words, ("bentrevett/multi30k",), lambda row: {"en": row["en"], "de": row["de"]}
    ),
    # Examples are texts, as long as the source has them: lines of WikiText, one play of
    # Shakespeare, chapters of Python's manual.
    "language_model": Task(
        python_manual,
        ("Salesforce/wikitext/wikitext-2-v1", "karpathy/tiny_shakespeare"),
        lambda row: row["text"],
    ),
    # Examples are documents, each a list of sentences.
    "pretraining": Task(
        manual_documents, ("Salesforce/wikitext/wikitext-2-v1",), lambda row: row["text"], articles
    ),
    # Examples are dictionaries with an image, a tensor (channels, height, width) of numbers from 0
    # to 1, and its label.
    "images": Task(
        handwritten_digits, ("zalando-datasets/fashion_mnist", "uoft-cs/cifar10"), labelled_image
    ),
    # Examples are dictionaries; what is in them is listed in `load`.
    "sentiment": _written("sentiment", "nyu-mll/glue/sst2", example=rows.sentence, answer="label"),
    "acceptability": _written(
        "acceptability", "nyu-mll/glue/cola", example=rows.sentence, answer="label"
    ),
    "entailment": _written(
        "entailment", "nyu-mll/glue/rte", example=rows.sentence_pair, answer="label"
    ),
    "question_entailment": Task(
        None, ("nyu-mll/glue/qnli",), rows.question_and_sentence, answer="label"
    ),
    "similarity": _written(
        "similarity", "nyu-mll/glue/stsb", example=rows.scored_pair, answer="score"
    ),
    "choices": _written("choices", "allenai/swag/regular", example=rows.choice, answer="label"),
    "entities": _written(
        "entities", "leondz/wnut_17", example=rows.tagged_words, named=("ner_tags",)
    ),
    "questions": _written(
        "questions",
        "rajpurkar/squad/plain_text",
        "rajpurkar/squad_v2/squad_v2",
        example=rows.question,
    ),
    "treebank": _written(
        "treebank",
        "universal-dependencies/universal_dependencies/en_ewt",
        example=rows.dependency_tree,
        named=("upos",),
    ),
    "senses": _written("senses"),
}


def load(task: str, split: str = "train", source: str = "offline", **options: Any) -> Examples:
    """The examples of one split of a task.

    The tasks, what an example is (a dictionary with these keys, where nothing else is said), and
    the real data:

    - "translation": "en", "de", a sentence in each language; bentrevett/multi30k.
    - "language_model": a text; Salesforce/wikitext/wikitext-2-v1, karpathy/tiny_shakespeare.
    - "pretraining": a document, which is a list of sentences; Salesforce/wikitext/wikitext-2-v1.
    - "images": "image", a tensor (channels, height, width) from 0 to 1, and "label";
      zalando-datasets/fashion_mnist, uoft-cs/cifar10.
    - "sentiment": "text" and "label", 0 negative, 1 positive; nyu-mll/glue/sst2.
    - "acceptability": "text" and "label", 0 unacceptable, 1 acceptable; nyu-mll/glue/cola.
    - "entailment": "first", "second" and "label", 0 the first entails the second, 1 it does not;
      nyu-mll/glue/rte.
    - "question_entailment": "first", a question, "second", and "label", 0 the second answers it, 1
      it does not; nyu-mll/glue/qnli, real only.
    - "similarity": "first", "second" and "score", 0 unrelated to 5 the same; nyu-mll/glue/stsb.
    - "choices": "start", "endings", a list of four, and "label", the index of the right one;
      allenai/swag/regular.
    - "entities": "words" and "labels", "O", "B-…" or "I-…" for each word; leondz/wnut_17.
    - "questions": "question", "context" and "answers", each with "text" and "start", the index of
      its first character in the context; no answers: the context does not say;
      rajpurkar/squad/plain_text (always answered), rajpurkar/squad_v2/squad_v2.
    - "treebank": "words", "upos" (parts of speech), "heads" (the number of each word's head, from
      1; 0: the root) and "relations"; universal-dependencies/universal_dependencies/en_ewt.
    - "senses": "text", "word", "index", its first character in the text, and "sense", its meaning
      there; offline only.

    From "sentiment" on, the offline default is a small set written for this book
    (`lectures_lib.data.labelled`).

    Args:
        task: one of these names.
        split: "train", "validation" or "test". No example is in two of them. GLUE and SWAG hide the
            labels of their test splits, and SQuAD has none: use "validation" there.
        source: "offline": the default that needs no network; "real": the task's first data set on
            the hub; or the hub id of another one that the list names. The hub's data is read from
            the mirror that the environment variable LECTURES_DATA names, if it is set, and from the
            hub otherwise.
        options: passed to the offline default, such as `counts=(1, 2)` to `number_words`.

    Returns:
        A list of examples, with `origin`, one line that says where they came from.

    Raises:
        ValueError: for a task, split or source that does not exist; the message lists those that
            do.
        DataError: for real data that cannot be had or read; the message says what to do about it.
    """
    if task not in TASKS:
        raise ValueError(f"no task {task!r}; there is: {', '.join(TASKS)}")
    check_split(split)
    found = TASKS[task]
    if source == "offline" and found.offline is not None:
        made = found.made or f"{found.offline.__name__}, made on this machine"
        return Examples(found.offline(split, **options), made)
    if options:
        raise ValueError(
            f"options are for the offline default, but source is {source!r}: {options}"
        )
    sources = (
        *["offline"] * (found.offline is not None),
        *["real"] * bool(found.real),
        *found.real,
    )
    if source not in sources:
        raise ValueError(f"no source {source!r} for {task!r}; there is: {', '.join(sources)}")
    try:
        return _real(found, found.real[0] if source == "real" else source, split)
    except DataError as error:
        if found.offline is None:
            raise
        raise DataError(f'{error}, or use source="offline"') from error


def _real(found: Task, hub_id: str, split: str) -> Examples:
    """A split of real data."""
    table, origin = read_split(hub_id, split)
    examples = found.gather([found.example(row) for row in name_classes(table, found.named)])
    if found.answer and all(example[found.answer] == -1 for example in examples):
        raise DataError(
            f'{hub_id} hides the answers of its {split} split (all are -1): use split="validation"'
        )
    return Examples(examples, origin)
