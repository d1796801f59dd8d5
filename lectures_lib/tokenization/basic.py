"""What BERT does to a text before WordPiece: clean it, lower-case it, cut it into words and signs
(chapter 7b; Devlin et al. 2019).

BERT's code calls this the BasicTokenizer. It is the lossy part of WordPiece: case, accents and
white space do not come back.
"""

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

# The blocks of Chinese characters in BERT's code. Chinese is written without spaces, so each
# character becomes a word. (The `tokenizers` library has 2B920 for 2B820, and leaves the 256 rare
# characters between the two attached.)
CHINESE = [
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
]


class Word(NamedTuple):
    """A word or a sign, cleaned, and for each of its characters the position in the text that it
    came from.
    """

    text: str
    origins: list[int]


@dataclass(frozen=True)
class BasicTokenizer:
    """Text to words: controls dropped, white space as a border, every sign and every Chinese
    character a word of its own.

    Each character is cleaned by itself, as in the `tokenizers` library: a Greek Σ becomes σ, also
    at the end of a word.

    Args:
        lowercase: whether to write every character small, as "uncased" models do.
        strip_accents: whether to drop accents ("é" becomes "e"); None: if lowercase.
    """

    lowercase: bool = True
    strip_accents: bool | None = None

    def words(self, text: str) -> list[Word]:
        """The words of a text, in order."""
        strips_accents = self.strips_accents
        words: list[tuple[list[str], list[int]]] = []
        inside = False  # whether the next character continues the last word
        for position, character in enumerate(text):
            for c in clean_character(character, self.lowercase, strips_accents):
                if c == " ":
                    inside = False
                    continue
                if not inside:
                    words.append(([], []))
                    inside = True
                words[-1][0].append(c)
                words[-1][1].append(position)
        return [Word("".join(characters), origins) for characters, origins in words]

    @property
    def strips_accents(self) -> bool:
        """Whether accents are dropped."""
        return self.lowercase if self.strip_accents is None else self.strip_accents


@lru_cache(maxsize=100_000)
def clean_character(character: str, lowercase: bool, strip_accents: bool) -> str:
    """What becomes of one character: nothing, a space, its small form; between spaces if it is a
    word of its own.
    """
    if is_white_space(character):
        return " "
    if is_control(character):
        return ""
    cleaned = character
    if strip_accents:
        # NFD writes é as e and a combining accent, a character of category Mn ("mark, nonspacing").
        cleaned = "".join(
            c for c in unicodedata.normalize("NFD", cleaned) if unicodedata.category(c) != "Mn"
        )
    if lowercase:
        cleaned = cleaned.lower()
    if is_chinese(character):
        return f" {cleaned} "
    return "".join(f" {c} " if is_punctuation(c) else c for c in cleaned)


def is_white_space(character: str) -> bool:
    """Tab, line feed, carriage return, and what Unicode calls a separator (category Z)."""
    return character in "\t\n\r" or unicodedata.category(character)[0] == "Z"


def is_control(character: str) -> bool:
    """Characters that stand for nothing one could read: controls, formatting, private use, the
    replacement character.
    """
    return character == "\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Co")


def is_punctuation(character: str) -> bool:
    """Unicode's punctuation, and every sign of ASCII: BERT takes $ + < = > ^ ` | ~ for punctuation
    too.
    """
    ascii_sign = "!" <= character <= "~" and not character.isalnum()
    return ascii_sign or unicodedata.category(character)[0] == "P"


def is_chinese(character: str) -> bool:
    """Whether the character stands in one of the blocks of `CHINESE`. Japanese kana and Korean
    hangul do not.
    """
    return any(first <= ord(character) <= last for first, last in CHINESE)
