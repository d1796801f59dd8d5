"""What every subword tokenizer does: cut the text into words, turn each word into ids once, and
remember them (chapters 7 and 7b).
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

import regex

from lectures_lib.checks.tensors import whole_numbers
from lectures_lib.tokenization.vocabulary import Vocabulary

# Few words make up most of a text, so a tokenizer remembers how it encoded the words it has met:
# this many, none longer than that.
REMEMBERED_WORDS, REMEMBERED_LENGTH = 100_000, 100


class Encoding(NamedTuple):
    """A text as tokens: the ids, the tokens themselves, and for each one where in the text it
    stands, as `text[start:end]`.
    """

    ids: list[int]
    tokens: list[str]
    offsets: list[tuple[int, int]]


class EncodedWord(NamedTuple):
    """One word as tokens: the ids, and for each the characters `word[start:end]` that it stands
    for.
    """

    ids: list[int]
    offsets: list[tuple[int, int]]


class WordMemory(dict[str, EncodedWord]):
    """A dictionary of encoded words that encodes what it does not hold: Python calls `__missing__`
    for a key it cannot find.
    """

    def __init__(self, encode_word: Callable[[str], EncodedWord]):
        super().__init__()
        self.encode_word = encode_word

    def __missing__(self, word: str) -> EncodedWord:
        encoded = self.encode_word(word)
        if len(word) <= REMEMBERED_LENGTH:
            if len(self) >= REMEMBERED_WORDS:
                self.clear()
            self[word] = encoded
        return encoded


class Tokenizer(ABC):
    """The part that BPE and WordPiece share. A subclass says what a word is and how one word
    becomes ids.

    The name of a special token in a text becomes that token, so text from strangers can contain
    one.
    """

    word_pattern: regex.Pattern[str]  # finds the words of a text

    def __init__(self, vocabulary: Vocabulary):
        self.vocabulary = vocabulary
        self._memory = WordMemory(self.encode_word)

    def __len__(self) -> int:
        """The number of tokens."""
        return len(self.vocabulary)

    @property
    def specials(self) -> dict[str, int]:
        """The special tokens and their ids."""
        return dict(self.vocabulary.specials)

    def token_id(self, token: str) -> int:
        """The id of one token, for example `token_id("[MASK]")`.

        Raises:
            ValueError: for a token that is not in the vocabulary.
        """
        return self.vocabulary.id(token)

    def add_special(self, token: str) -> int:
        """Make `token` special; a new one gets the next id. Returns its id."""
        return self.vocabulary.add_special(check_text(token))

    @abstractmethod
    def encode_word(self, word: str) -> EncodedWord:
        """The tokens of one word."""

    def encode(self, text: str) -> list[int]:
        """The ids of a text.

        Raises:
            ValueError: for a text with half a character (a lone surrogate) in it.
        """
        ids: list[int] = []
        for piece in self.vocabulary.split(check_text(text)):
            if piece.special:
                ids.append(self.vocabulary.ids[piece.text])
            else:
                for word in self.word_pattern.findall(piece.text):
                    ids += self._memory[word].ids
        return ids

    def tokenize(self, text: str) -> Encoding:
        """The ids of a text, the same as `encode` gives, with their tokens and the places where
        these stand in the text.
        """
        ids: list[int] = []
        offsets: list[tuple[int, int]] = []
        for piece in self.vocabulary.split(check_text(text)):
            if piece.special:
                ids.append(self.vocabulary.ids[piece.text])
                offsets.append((piece.start, piece.start + len(piece.text)))
                continue
            for found in self.word_pattern.finditer(piece.text):
                word, word_start = self._memory[found.group()], piece.start + found.start()
                ids += word.ids
                offsets += [(word_start + start, word_start + end) for start, end in word.offsets]
        return Encoding(ids, [self.vocabulary.tokens[i] for i in ids], offsets)

    @abstractmethod
    def decode(self, ids: Iterable[int], skip_specials: bool = False) -> str:
        """The text of the ids."""

    def known_tokens(self, ids: Iterable[int], skip_specials: bool = False) -> list[str]:
        """The tokens of the ids, or only those that are not special.

        Raises:
            TypeError: for text in place of ids, or an id that is no whole number.
            ValueError: for an id that is out of range.
        """
        tokens = [self.vocabulary.token(i) for i in whole_numbers(ids)]
        return [
            token for token in tokens if not (skip_specials and token in self.vocabulary.specials)
        ]


def check_text(text: str) -> str:
    """The text itself.

    Raises:
        TypeError: for what is no text.
        ValueError: for a lone surrogate, half of a character that UTF-16 writes in two parts. UTF-8
            has no form for it.
    """
    if not isinstance(text, str):
        raise TypeError(f"text is needed, got a {type(text).__name__}: {text!r:.60}")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        half = f"U+{ord(text[error.start]):04X}"
        raise ValueError(
            f"character {error.start} of the text is {half}, a lone surrogate: half of a "
            f"character, not text"
        ) from None
    return text


def count_words(texts: Iterable[str], words: Callable[[str], Iterable[str]]) -> Counter[str]:
    """How often each word occurs in the texts; `words` cuts one text into words.

    Raises:
        ValueError: for one text in place of several, or where there are no words at all.
    """
    if isinstance(texts, str):
        raise ValueError(
            f"training takes several texts, got one of {len(texts)} characters; write [text]"
        )
    counts: Counter[str] = Counter()
    n_texts = 0
    for text in texts:
        counts.update(words(check_text(text)))
        n_texts += 1
    if not counts:
        raise ValueError(f"nothing to learn from: {n_texts} texts with 0 words")
    return counts
