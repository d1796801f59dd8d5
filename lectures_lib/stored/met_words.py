"""Which words stood in the captions that a translator learned from, without the captions.

What is kept is a Bloom filter (Bloom 1970): a row of bits, three of which are set for each word. A
word whose three bits are not all set was never there. Of two hundred words that were never there,
one or so finds its bits set by others; none of those that were there is missed.
"""

import json
import unicodedata
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import torch
from jaxtyping import Int8
from safetensors.torch import load_file, save_file
from torch import Tensor

from lectures_lib.files import written_whole
from lectures_lib.stored.whole_models import FOLDER

BITS, HASHES = 1 << 18, 3
LETTER, MARK, SIGN = ("L", "N"), "M", ("P", "S")  # general categories of Unicode
WHOLE = 0xFFFFFFFF


def words_of(text: str) -> list[str]:
    """Runs of letters, digits and accents, in small letters; every other sign by itself."""
    words, before = [], False
    for character in text.lower():
        kind = unicodedata.category(character)[0]
        inside = kind in LETTER or (kind == MARK and before)  # an emoji's mark is no word
        if inside and before:
            words[-1] += character
        elif inside or kind in SIGN:
            words.append(character)
        before = inside
    return words


def bits_of(word: str) -> list[int]:
    """The numbers of a word's bits: FNV-1a of its bytes, and of that the last step of MurmurHash3
    with another summand for each.
    """
    whole = 0x811C9DC5
    for byte in word.encode():
        whole = ((whole ^ byte) * 0x01000193) & WHOLE
    found = []
    for i in range(HASHES):
        mixed = (whole + i * 0x9E3779B9) & WHOLE
        mixed = ((mixed ^ mixed >> 16) * 0x85EBCA6B) & WHOLE
        mixed = ((mixed ^ mixed >> 13) * 0xC2B2AE35) & WHOLE
        found.append((mixed ^ mixed >> 16) % BITS)
    return found


def path_of(language: str) -> Path:
    """Where the words of a language are kept."""
    return FOLDER / f"translator_words_{language}.safetensors"


def save(words: Iterable[str], language: str) -> None:
    """Write the filter of these words."""
    kept = bytearray(BITS // 8)
    for word in words:
        for bit in bits_of(word):
            kept[bit >> 3] |= 1 << (bit & 7)
    tensor = torch.frombuffer(kept, dtype=torch.int8)
    about = {"config": json.dumps({"hashes": HASHES})}
    with written_whole(path_of(language)) as draft:
        save_file({"words": tensor}, draft, metadata=about)


@cache
def _kept(language: str) -> Int8[Tensor, " bytes"]:
    return load_file(path_of(language))["words"]


def unmet(text: str, language: str) -> list[str]:
    """A text's words that stood in none of the captions of this language, each once."""
    kept = _kept(language)
    return [
        word
        for word in dict.fromkeys(words_of(text))
        if not all(int(kept[bit >> 3]) >> (bit & 7) & 1 for bit in bits_of(word))
    ]
