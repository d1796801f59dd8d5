"""Names as they are shown: in grade books, on feedback pages, in a terminal.

This is the one place where a name that came from outside becomes harmless to look at. Everything
that `collect` gives out has been through it: the student, the name, the ids, the files. What a
*format* demands beyond that (HTML, CSV, a file's name) is left to whoever writes that format.
"""

import hashlib
import unicodedata
from collections.abc import Iterable

LONGEST = 120
# invisible, but part of the spelling in Persian and in several languages of India
_JOINERS = "\u200c\u200d"
# Control characters and line breaks, marks that turn the direction of writing, halves of
# characters, and what is no character at all.
_NOT_SHOWN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def shown(text: str, longest: int = LONGEST) -> str:
    """A text on one line, in one direction's own letters, without anything invisible, at most so
    many characters long.

    What cannot be shown becomes "\N{REPLACEMENT CHARACTER}". Letters that are written from right to
    left stay as they are.
    """
    text = "".join(map(_shown, normal(text[: 4 * longest]))).strip()
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _shown(character: str) -> str:
    if unicodedata.category(character) in _NOT_SHOWN and character not in _JOINERS:
        return "\N{REPLACEMENT CHARACTER}"
    return " " if character.isspace() else character


def normal(text: str) -> str:
    """The same text, however its accents are encoded: a Macintosh writes an e and an accent where
    others write é.
    """
    return unicodedata.normalize("NFC", text)


def distinct(texts: Iterable[str]) -> dict[str, str]:
    """How each text is shown, by `normal(text)`: no two alike, and each the same in every run.

    A text that is harmless stays as it is. One that had to be changed gets a few digits of its
    hash, so that two such stay two.
    """
    texts = sorted(set(map(normal, texts)))
    found = {text: text for text in texts if shown(text) == text and text}
    taken = set(found)
    for text in texts:
        digits = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        length = 6
        while text not in found:
            name = f"{shown(text, LONGEST - length - 1) or 'unnamed'}~{digits[:length]}"
            length += 2
            if name not in taken:
                found[text] = name
                taken.add(name)
    return found
