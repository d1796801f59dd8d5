"""From words and characters to word pieces and back: what labels and answers need before BERT can
learn them (chapter 14b).

BERT reads pieces. Labels are given for words ("Reykjavik" is a place), answers as characters of a
text (from 17 to 26). Here stands the arithmetic between them, with every text cut to what BERT can
read.
"""

import warnings
from collections.abc import Sequence
from typing import NamedTuple

from lectures_lib.tasks.task_heads import UNLABELLED
from lectures_lib.tokenization import WordPiece
from lectures_lib.tokenization.basic import clean_character

MAX_LEN = 512  # BERT has no more positions


class Read(NamedTuple):
    """A text or a pair as BERT reads it: [CLS] first [SEP], or [CLS] first [SEP] second [SEP].

    Args:
        ids: the pieces.  segments: 0 up to the first [SEP], 1 behind it.
        spans: for each piece the characters `text[start:end]` it stands for, of the first or the
            second text; None for [CLS], [SEP].
    """

    ids: list[int]
    segments: list[int]
    spans: list[tuple[int, int] | None]


def read(
    tokenizer: WordPiece, first: str, second: str | None = None, max_len: int = MAX_LEN
) -> Read:
    """One text, or two. What is too long is cut at the end of the longer one, piece by piece, as in
    BERT's code.

    Words that the vocabulary cannot spell are read as [UNK]; a text of nothing else is still read,
    and says nothing.

    Raises:
        ValueError: for a text with no words at all, or a max_len without room for one piece of
            each.
    """
    pair = tokenizer.pair(first, second, max_len)
    texts = [first] if second is None else [first, second]
    special = _special_places(pair.segments)
    for segment, text in enumerate(texts):
        if pair.segments.count(segment) == (2 if segment == 0 else 1):
            which = ("first", "second")[segment]
            raise ValueError(
                f"the {which} text has no words to read: {text[:40]!r} ({len(text)} characters)"
            )
    return Read(
        pair.ids,
        pair.segments,
        [None if i in special else span for i, span in enumerate(pair.offsets)],
    )


def n_pieces(tokenizer: WordPiece, first: str, second: str | None = None) -> int:
    """How many pieces a text or a pair would be if nothing were cut off, [CLS] and [SEP]
    counted.
    """
    return len(tokenizer.pair(first, second).ids)


def warn_of_cuts(lengths: Sequence[int], max_len: int, stacklevel: int = 2) -> None:
    """One warning for all texts that are longer than max_len; none where there are none.

    Args:
        lengths: of every text or pair, in pieces, if nothing were cut off.  max_len: how many are
            read.
        stacklevel: whose line the warning shows, as in `warnings.warn`; 1: that which calls this
            function.
    """
    long = [n for n in lengths if n > max_len]
    if long:
        have = "has" if len(long) == 1 else "have"
        warnings.warn(
            f"{len(long)} of {len(lengths)} texts {have} more than {max_len} word pieces with "
            f"[CLS] and [SEP], the longest {max(long)}: "
            "their ends are cut off",
            stacklevel=stacklevel + 1,
        )


def read_question(
    tokenizer: WordPiece, question: str, context: str, max_len: int = MAX_LEN
) -> Read:
    """A question and the text that may answer it. Only the text is cut: half a question asks
    something else.

    Raises:
        ValueError: for a question or context with no words, or a question that leaves no room for
            the context.
    """
    n_question, n_context = len(tokenizer.encode(question)), len(tokenizer.encode(context))
    room = max_len - n_question - 3
    if room < 1:
        raise ValueError(
            f"a question of {n_question} pieces, [CLS] and two [SEP] leave no room for the context "
            f"in {max_len}"
        )
    whole = read(tokenizer, question, context, max(n_question, 1) + max(n_context, 1) + 3)
    end = len(whole.ids) - 1 - max(0, n_context - room)  # the last [SEP] stays
    return Read(*([*part[:end], part[-1]] for part in whole))


class ReadWords(NamedTuple):
    """A sentence that comes in words, as BERT reads it: [CLS] pieces [SEP].

    Args:
        ids: the pieces.  segments: all 0.
        starts: for each word, where its first piece stands; None for a word that was cut off at the
            end.
    """

    ids: list[int]
    segments: list[int]
    starts: list[int | None]


def read_words(tokenizer: WordPiece, words: Sequence[str], max_len: int = MAX_LEN) -> ReadWords:
    """The pieces of every word, and where each word begins.

    A word that nothing is left of when the text is cleaned (a lone control character) is read as
    [UNK], so that every word has a piece to be labelled at. The last word may lose pieces to
    `max_len`, but not its first.

    Raises:
        ValueError: for no words, or a max_len without room for one piece.
    """
    if not words or max_len < 3:
        raise ValueError(
            f"at least one word, and room for [CLS], a piece and [SEP], are needed; got "
            f"{len(words)} words, max_len = {max_len}"
        )
    ids, starts = [tokenizer.token_id("[CLS]")], []
    for word in words:
        starts.append(len(ids) if len(ids) < max_len - 1 else None)
        ids += tokenizer.encode(word) or [tokenizer.token_id("[UNK]")]
    ids = [*ids[: max_len - 1], tokenizer.token_id("[SEP]")]
    return ReadWords(ids, [0] * len(ids), starts)


def align(words: ReadWords, labels: Sequence[int]) -> list[int]:
    """A label for each piece: the word's at its first piece, `UNLABELLED` at the others, at [CLS]
    and at [SEP].

    Devlin et al. 2019, section 5.3: "the representation of the first sub-token [is] the input to
    the token-level classifier".

    Raises:
        ValueError: for another number of labels than words.
    """
    if len(labels) != len(words.starts):
        raise ValueError(
            f"one label for each word is needed, got {len(labels)} labels for "
            f"{len(words.starts)} words"
        )
    aligned = [UNLABELLED] * len(words.ids)
    for start, label in zip(words.starts, labels, strict=True):
        if start is not None:
            aligned[start] = label
    return aligned


def words_of(words: ReadWords, of_pieces: Sequence[int], cut_off: int = 0) -> list[int]:
    """The way back: what was said at each word's first piece, and `cut_off` for words that were not
    read.
    """
    return [cut_off if start is None else of_pieces[start] for start in words.starts]


def find_answer(pair: Read, context: str, start: int, answer: str) -> tuple[int, int]:
    """The first and the last piece of an answer that is given as characters of the context; (0, 0)
    if it was cut off.

    Where the answer begins or ends inside a piece, the whole piece belongs to it.

    Args:
        pair: what `read_question` made.  context: the whole text.
        start: the answer's first character.  answer: its text.

    Raises:
        ValueError: for an answer that does not stand in the context at this place; the message says
            what does.
    """
    end = start + len(answer)
    if not answer.strip() or start < 0 or context[start:end] != answer:
        raise ValueError(
            f"the answer {answer!r} is not in the context at character {start}: there stands "
            f"{context[max(start, 0) : end]!r}"
        )
    inside = [
        i for i in context_places(pair) if pair.spans[i][0] < end and pair.spans[i][1] > start
    ]
    # What the cleaning of the text drops has no piece; if anything else is left behind the last
    # one, the rest was cut off.
    missing = inside and any(
        clean_character(c, False, False).strip() for c in context[pair.spans[inside[-1]][1] : end]
    )
    return (inside[0], inside[-1]) if inside and not missing else (0, 0)


def quote(pair: Read, context: str, first: int, last: int) -> str:
    """The characters of the context from one piece to another, as they stand there; "" for (0, 0),
    no answer.

    Raises:
        ValueError: for pieces that are not of the context, or a last before the first.
    """
    if (first, last) == (0, 0):
        return ""
    places = context_places(pair)
    if first > last or first not in places or last not in places:
        raise ValueError(
            f"an answer goes from a piece of the context, {places[0]} … {places[-1]}, to a later "
            f"one, got {first} to {last}"
        )
    return context[pair.spans[first][0] : pair.spans[last][1]]


def context_places(pair: Read) -> list[int]:
    """Where an answer may stand: the pieces of the second text, without its [SEP]."""
    return [i for i, span in enumerate(pair.spans) if span is not None and pair.segments[i] == 1]


def _special_places(segments: Sequence[int]) -> set[int]:
    """[CLS], and the [SEP] at the end of each segment."""
    return {0, segments.count(0) - 1, len(segments) - 1}
