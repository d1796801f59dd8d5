"""Data for every task: an offline default that needs no network, and real data by its name on the Hugging Face hub.

What a page prints comes from the offline default, the same everywhere. Real data is read when it is asked for, and only then:
nothing here ever switches from the one to the other by itself. See `load`; batches by length are in `lectures_lib.data.batches`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lectures_lib.data.batches import Batches, Padded, PairBatch, TextBatch, blocks, pad, pad_pairs, pad_texts
from lectures_lib.data.documents import articles, manual_documents, sentences
from lectures_lib.data.hub import DataError, read_split
from lectures_lib.data.images import ImageBatch, ImageBatches, handwritten_digits, labelled_image, stack
from lectures_lib.data.manual import python_manual
from lectures_lib.data.numbers import number_alignment, number_tokens, number_words
from lectures_lib.data.words import BOS, EOS, PAD, UNK, WordVocabulary

__all__ = [
    "BOS",
    "EOS",
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
    "number_alignment",
    "number_tokens",
    "number_words",
    "pad",
    "pad_pairs",
    "pad_texts",
    "python_manual",
    "read_split",
    "sentences",
    "stack",
]

SPLITS = ("train", "validation", "test")


class Examples(list):
    """A list of examples that knows where it came from: `origin`, one line for the page to show."""

    def __init__(self, examples: list, origin: str):
        super().__init__(examples)
        self.origin = origin


@dataclass(frozen=True)
class Task:
    """Where the examples of a task come from.

    Args:
        offline: makes the examples of a split, with no network.
        real: the hub ids that hold the task's real data; the first is meant by `source="real"`.
        example: turns a row of the hub's table into an example.
        gather: makes the examples of all of these, where one example is spread over several rows.
    """

    offline: Callable[..., list]
    real: tuple[str, ...]
    example: Callable[[dict], Any]
    gather: Callable[[list], list] = list


TASKS = {
    # Examples are dictionaries with one sentence for each language: {"en": …, "de": …}.
    "translation": Task(number_words, ("bentrevett/multi30k",), lambda row: {"en": row["en"], "de": row["de"]}),
    # Examples are texts, as long as the source has them: lines of WikiText, one play of Shakespeare, chapters of Python's manual.
    "language_model": Task(python_manual, ("Salesforce/wikitext/wikitext-2-v1", "karpathy/tiny_shakespeare"), lambda row: row["text"]),
    # Examples are documents, each a list of sentences.
    "pretraining": Task(manual_documents, ("Salesforce/wikitext/wikitext-2-v1",), lambda row: row["text"], articles),
    # Examples are dictionaries with an image, a tensor (channels, height, width) of numbers from 0 to 1, and its label.
    "images": Task(handwritten_digits, ("zalando-datasets/fashion_mnist", "uoft-cs/cifar10"), labelled_image),
}


def load(task: str, split: str = "train", source: str = "offline", **options: Any) -> Examples:
    """The examples of one split of a task.

    Args:
        task: "translation" (examples are dictionaries of an English and a German sentence), "language_model" (texts),
            "pretraining" (documents, each a list of sentences) or "images" (dictionaries of an image and its label).
        split: "train", "validation" or "test". No example is in two of them.
        source: "offline": the default that needs no network; "real": the task's first data set on the hub; or the hub id of
            another one that `TASKS` names. The hub's data is read from the mirror that the environment variable LECTURES_DATA
            names, if it is set, and from the hub otherwise.
        options: passed to the offline default, such as `counts=(1, 2)` to `number_words`.

    Returns:
        A list of examples, with `origin`, one line that says where they came from.

    Raises:
        ValueError: for a task, split or source that does not exist; the message lists those that do.
        DataError: for real data that cannot be had or read; the message says what to do about it.
    """
    if task not in TASKS:
        raise ValueError(f"no task {task!r}; there is: {', '.join(TASKS)}")
    if split not in SPLITS:
        raise ValueError(f"no split {split!r}; there is: {', '.join(SPLITS)}")
    found = TASKS[task]
    if source == "offline":
        return Examples(found.offline(split, **options), f"{found.offline.__name__}, made on this machine")
    if options:
        raise ValueError(f"options are for the offline default, but source is {source!r}: {options}")
    hub_id = found.real[0] if source == "real" else source
    if hub_id not in found.real:
        raise ValueError(f"no source {source!r} for {task!r}; there is: offline, real, {', '.join(found.real)}")
    rows, origin = read_split(hub_id, split)
    return Examples(found.gather([found.example(row) for row in rows]), origin)
