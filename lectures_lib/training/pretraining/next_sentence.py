"""Next sentence prediction: pairs of neighbouring pieces of text, half of them not neighbours
(chapter 13; Devlin et al. 2019, sections 3.1, task 2, and A.1).
"""

import random
from collections.abc import Sequence
from typing import NamedTuple

Document = Sequence[Sequence[int]]  # sentences, as token ids


class Pair(NamedTuple):
    """Two pieces of text for the model to read together.

    Args:
        first, second: token ids, without special tokens.
        is_random: 0 if the second follows the first in its document, 1 if it comes from another
            one.
    """

    first: list[int]
    second: list[int]
    is_random: int


def sentence_pairs(
    documents: Sequence[Document], max_len: int, rng: random.Random, random_share: float = 0.5
) -> list[Pair]:
    """Cut documents into pairs of neighbouring pieces, and exchange the second piece of half of
    them (section A.1).

    A piece is one sentence or several, until the pair fills `max_len` tokens with [CLS] and two
    [SEP]. Where a piece was exchanged, the sentences that it took the place of begin the next pair.
    A single one left at a document's end is dropped.

    Args:
        documents: at least two.
        max_len: the most tokens of an input.
        rng: where chance comes from.
        random_share: the share of pairs whose second piece is from elsewhere.

    Raises:
        ValueError: for fewer than two documents, an empty one, or a max_len with no room for two
            tokens.
    """
    check_documents(documents, max_len)
    room = max_len - 3  # [CLS] and two [SEP] need a place each
    pairs = []
    for number, document in enumerate(documents):
        at = 0  # the sentence that the next pair begins with
        while at < len(document) - 1:
            chunk = _sentences_that_fill(document, at, room)
            cut = rng.randint(1, len(chunk) - 1)
            first = _joined(chunk[:cut])
            is_random = rng.random() < random_share
            if is_random:
                second = _from_elsewhere(documents, number, room - len(first), rng)
                at += cut  # the rest of the chunk was not used: it begins the next pair
            else:
                second = _joined(chunk[cut:])
                at += len(chunk)
            _shorten(first, second, room, rng)
            pairs.append(Pair(first, second, int(is_random)))
    rng.shuffle(pairs)
    return pairs


def check_documents(documents: Sequence[Document], max_len: int) -> None:
    """Refuse documents that no pairs can be made of.

    Raises:
        ValueError: as in `sentence_pairs`; the message gives how many there are, and max_len.
    """
    n_empty = sum(not document for document in documents)
    if len(documents) < 2 or n_empty or max_len < 5:
        raise ValueError(
            f"pairs need at least 2 documents, none of them empty, and max_len of at least 5, got "
            f"{len(documents)} documents ({n_empty} empty) and max_len = {max_len}"
        )


def _sentences_that_fill(document: Document, at: int, room: int) -> list[Sequence[int]]:
    """The sentences from `at` on that fill the room, two at least."""
    chunk, length = [], 0
    for sentence in document[at:]:
        if len(chunk) >= 2 and length >= room:
            break
        chunk.append(sentence)
        length += len(sentence)
    return chunk


def _from_elsewhere(
    documents: Sequence[Document], number: int, room: int, rng: random.Random
) -> list[int]:
    """A piece of any document but this one, from a random sentence on, until the room is full."""
    other = rng.randrange(len(documents) - 1)
    if other >= number:
        other += 1  # step over this document: all others are equally likely
    start = rng.randrange(len(documents[other]))
    piece: list[int] = []
    for sentence in documents[other][start:]:
        piece += sentence
        if piece and len(piece) >= room:  # something, even where no room is left
            break
    return piece


def _joined(sentences: Sequence[Sequence[int]]) -> list[int]:
    return [token for sentence in sentences for token in sentence]


def _shorten(first: list[int], second: list[int], room: int, rng: random.Random) -> None:
    """Take away what is too much, in place: always from the longer piece, at its front or its back
    by chance.
    """
    while (too_many := len(first) + len(second) - room) > 0:
        longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
        # Down to the other's length in one go; once they are equally long, one token each in turn.
        n = max(len(longer) - len(shorter), 1)
        n = min(n, too_many)
        if rng.random() < 0.5:
            del longer[:n]
        else:
            del longer[-n:]
