"""Measures of named entities: whole names count, not words (chapter 14b; Tjong Kim Sang and De
Meulder 2003).

A sentence's labels are in the BIO scheme: "B-person" for a name's first word, "I-person" for the
others, "O" outside.
"""

from collections.abc import Sequence
from typing import NamedTuple

from lectures_lib.metrics.classification import Scores
from lectures_lib.metrics.pairs import check_pairs, check_texts

Labels = Sequence[str]


class Entity(NamedTuple):
    """A name: what it names, and its words `words[start:end]`."""

    kind: str
    start: int
    end: int


def entities(labels: Labels) -> list[Entity]:
    """The names in one sentence. An "I-" with no beginning before it begins one, as in the
    CoNLL-2003 evaluation. By seqeval.

    Raises:
        ImportError: without the package `seqeval`.
        ValueError: for a label that is neither "O" nor "B-…" nor "I-…".
    """
    bio_errors(labels)
    return [
        Entity(kind, start, last + 1) for kind, start, last in _seqeval().get_entities(list(labels))
    ]


def entity_scores(predicted: Sequence[Labels], right: Sequence[Labels]) -> Scores:
    """Precision, recall and F1 of names: one is right if its kind, its first and its last word are.
    By seqeval.

    Predictions may break the BIO scheme (a model may say "I-person" after "O"); see `entities` for
    how they are read.

    Args:
        predicted: for each sentence, a label for each word.  right: the true ones.

    Raises:
        ImportError: without the package `seqeval`.
        ValueError: for no sentences, a sentence with another number of labels than words, a label
            of another scheme, or right labels that break the scheme; the message says where.
    """
    check_pairs(predicted, right)
    for i, (p, r) in enumerate(zip(predicted, right, strict=True)):
        if len(p) != len(r):
            raise ValueError(f"sentence {i} has {len(r)} words, but {len(p)} labels were predicted")
        bio_errors(p)
        if wrong := bio_errors(r):
            raise ValueError(f"the right labels of sentence {i} break the BIO scheme: {wrong[0]}")
    lists = [list(labels) for labels in right], [list(labels) for labels in predicted]
    measures = _seqeval()
    return Scores(
        *(
            float(getattr(measures, f"{name}_score")(*lists, zero_division=0))
            for name in ("precision", "recall", "f1")
        )
    )


def bio_errors(labels: Labels) -> list[str]:
    """Where labels break the BIO scheme: one sentence for each "I-x" that follows neither "B-x" nor
    "I-x".

    Raises:
        ValueError: for a label that is neither "O" nor "B-…" nor "I-…".
    """
    if isinstance(labels, str):
        raise ValueError(
            f"a list of labels is needed, one for each word, got the string {labels!r}"
        )
    check_texts(labels, "label")
    errors = []
    before = "O"
    for i, label in enumerate(labels):
        if label != "O" and (label[:2] not in ("B-", "I-") or not label[2:]):
            raise ValueError(f"label {i} is {label!r}; in the BIO scheme a label is O, B-… or I-…")
        if label.startswith("I-") and before[2:] != label[2:]:
            errors.append(
                f"label {i} is {label}, but the label before it is "
                f"{before if i else 'missing: it is the first'}"
            )
        before = label
    return errors


def _seqeval():
    try:
        from seqeval.metrics import sequence_labeling
    except ModuleNotFoundError:
        raise ImportError(
            "names are counted by seqeval, which is not installed here: pip install seqeval"
        ) from None
    return sequence_labeling
