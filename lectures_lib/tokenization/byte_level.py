"""Bytes as characters, and text cut into words: the two ideas below GPT-2's BPE (chapter 7; Radford
et al. 2019, section 2.2).

Any text is a sequence of bytes (UTF-8), and there are only 256 of them: a vocabulary that holds
them all never meets an unknown character. To be able to *print* tokens, each byte is shown as a
visible character: letters as themselves, a space as Ġ.
"""

# like Python's re, but knows Unicode's classes: \p{L} is any letter, \p{N} any digit or number
import regex

# GPT-2's cut: an English contraction, letters, numbers or signs, each with the space before it, or
# white space. Where white space precedes a word, its last space belongs to the word: hence "not
# followed by non-space" before the last case.
WORD = regex.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")


def _visible_bytes() -> dict[int, str]:
    """Each byte's character: its own Latin-1 character where that is visible, else the next unused
    one from U+0100 on.
    """
    visible = [
        *range(ord("!"), ord("~") + 1),
        *range(ord("¡"), ord("¬") + 1),
        *range(ord("®"), ord("ÿ") + 1),
    ]
    hidden = [byte for byte in range(256) if byte not in visible]
    return {byte: chr(byte) for byte in visible} | {
        byte: chr(256 + i) for i, byte in enumerate(hidden)
    }


CHARACTER_OF_BYTE = _visible_bytes()
BYTE_OF_CHARACTER = {character: byte for byte, character in CHARACTER_OF_BYTE.items()}
# in GPT-2's order, which is also that of the code points
ALPHABET = list(CHARACTER_OF_BYTE.values())


def visible(data: bytes) -> str:
    """Bytes, each shown as its character: `visible(b" caf\\xc3\\xa9")` is `"ĠcafÃ©"`."""
    return "".join(CHARACTER_OF_BYTE[byte] for byte in data)


def to_bytes(token: str) -> bytes:
    """The inverse of `visible`.

    Raises:
        ValueError: for a character that stands for no byte.
    """
    strange = [character for character in token if character not in BYTE_OF_CHARACTER]
    if strange:
        raise ValueError(
            f"the token {token!r} is not made of bytes: {strange[0]!r} is none of the 256 "
            f"characters that stand for one"
        )
    return bytes(BYTE_OF_CHARACTER[character] for character in token)


def character_of_each_byte(word: str) -> list[int]:
    """For each byte of the word's UTF-8 form, the position of the character that it belongs to:
    "né!" gives 0 1 1 2.
    """
    return [i for i, character in enumerate(word) for _ in character.encode("utf-8")]
