"""Labelled examples: what a model reads of a task's rows, and what it should say (chapters 14 and
14b).
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from lectures_lib.tasks import alignment
from lectures_lib.tasks.alignment import MAX_LEN, Read, ReadWords
from lectures_lib.tokenization import WordPiece


class Example(NamedTuple):
    """What a model reads, and what it should say.

    Args:
        reads: one text or pair; for a multiple choice one for each ending.
        target: a class; a number (float); a label for each piece (list); or the first and last
            piece of an answer (tuple).
    """

    reads: tuple[Read | ReadWords, ...]
    target: int | float | list[int] | tuple[int, int]


def sentences(rows: Iterable[dict], tokenizer: WordPiece, max_len: int = MAX_LEN) -> list[Example]:
    """Examples of single sentences with a class, from dictionaries {"text", "label"} (SST-2, CoLA).

    Longer texts are cut at their ends, and a warning says how many were.

    Raises:
        ValueError: for an empty text.
    """
    return _examples(
        rows, tokenizer, max_len, lambda row: [(row["text"], None)], lambda row: int(row["label"])
    )


def pairs(rows: Iterable[dict], tokenizer: WordPiece, max_len: int = MAX_LEN) -> list[Example]:
    """Examples of pairs with a class, from {"first", "second", "label"} (RTE, QNLI), or with a
    number, {"first", "second", "score"} (STS-B).

    Longer pairs are cut at the end of the longer text, and a warning says how many were.

    Raises:
        ValueError: for an empty text.
    """

    def target(row: dict) -> int | float:
        return float(row["score"]) if "score" in row else int(row["label"])

    return _examples(rows, tokenizer, max_len, lambda row: [(row["first"], row["second"])], target)


def choices(rows: Iterable[dict], tokenizer: WordPiece, max_len: int = MAX_LEN) -> list[Example]:
    """Examples of a beginning and its possible endings, from {"start", "endings", "label"} (SWAG).

    What is longer is cut, and a warning says how many were.

    Raises:
        ValueError: for an empty text, or fewer than two endings.
    """

    def texts(row: dict) -> list[tuple[str, str]]:
        if len(row["endings"]) < 2:
            raise ValueError(f"a choice needs at least 2 endings, got {len(row['endings'])}")
        return [(row["start"], ending) for ending in row["endings"]]

    return _examples(rows, tokenizer, max_len, texts, lambda row: int(row["label"]))


def tagged(
    rows: Iterable[dict], tokenizer: WordPiece, names: Sequence[str], max_len: int = MAX_LEN
) -> list[Example]:
    """Examples of words with labels, from {"words", "labels"}: each word's first piece is labelled,
    the rest is not (WNUT-17).

    Args:
        rows: the examples.  tokenizer: cuts them into pieces.
        names: the labels there are, in the order of their ids.
        max_len: what is longer is cut, and a warning says how many were.

    Raises:
        ValueError: for a label that is not among the names, another number of labels than words, or
            no words.
    """
    rows, ids = list(rows), {name: i for i, name in enumerate(names)}
    if unknown := {label for row in rows for label in row["labels"]} - ids.keys():
        raise ValueError(
            f"labels {sorted(unknown)} are not among the {len(ids)} there are: {', '.join(ids)}"
        )
    examples, lengths = [], []
    for i, row in enumerate(rows):
        with _naming(i):
            read = alignment.read_words(tokenizer, row["words"], max_len)
            examples.append(
                Example((read,), alignment.align(read, [ids[label] for label in row["labels"]]))
            )
        lengths.append(
            len(read.ids)
            if len(read.ids) < max_len
            else len(alignment.read_words(tokenizer, row["words"], sys.maxsize).ids)
        )
    alignment.warn_of_cuts(lengths, max_len, stacklevel=2)
    return examples


def questions(rows: Iterable[dict], tokenizer: WordPiece, max_len: int = 384) -> list[Example]:
    """Examples of questions about a text, from {"question", "context", "answers"} (SQuAD): the
    first answer's pieces are learned.

    Of a long text only the beginning is read (the authors' code goes on with the rest in further
    examples, and so does not lose answers there). Where the answer was cut off, or there is none,
    the target is (0, 0), [CLS].

    Raises:
        ValueError: for an answer that is not in its context, an empty text, or a question too long
            for max_len.
    """
    examples = []
    for i, row in enumerate(rows):
        with _naming(i):
            pair = alignment.read_question(tokenizer, row["question"], row["context"], max_len)
            answers = [
                alignment.find_answer(pair, row["context"], answer["start"], answer["text"])
                for answer in row["answers"][:1]
            ]
            examples.append(Example((pair,), answers[0] if answers else (0, 0)))
    return examples


def _examples(
    rows: Iterable[dict],
    tokenizer: WordPiece,
    max_len: int,
    texts: Callable[[dict], list[tuple[str, str | None]]],
    target: Callable[[dict], int | float],
) -> list[Example]:
    """Every row's texts read, and its target. Errors name the row; one warning tells how much was
    cut off.
    """
    examples, lengths = [], []
    for i, row in enumerate(rows):
        with _naming(i):
            found = texts(row)
            reads = tuple(alignment.read(tokenizer, *text, max_len) for text in found)
            examples.append(Example(reads, target(row)))
        for read, text in zip(reads, found, strict=True):
            lengths.append(
                len(read.ids) if len(read.ids) < max_len else alignment.n_pieces(tokenizer, *text)
            )
    alignment.warn_of_cuts(lengths, max_len, stacklevel=3)
    return examples


@contextmanager
def _naming(i: int) -> Iterator[None]:
    """Errors say which example they are about."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"example {i}: {error}") from error
