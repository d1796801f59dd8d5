"""A vocabulary: every token has a number, its id, and special tokens stand apart from text (chapter
7).
"""

import re
from collections.abc import Iterable
from typing import NamedTuple


class Piece(NamedTuple):
    """A stretch of a text: one special token, or the text between two of them."""

    text: str
    start: int
    special: bool


def check_several(name: str, given: Iterable[str]) -> None:
    """Refuse one string, which would be read as its characters. Raises TypeError."""
    if isinstance(given, str):
        raise TypeError(
            f"{name} must be several strings, got one: {given!r:.60}; write [{given!r:.60}]"
        )


class Vocabulary:
    """Tokens in the order of their ids: `tokens[id]` and, backwards, `ids[token]`.

    A special token ([CLS], <bos>, …) is never split and never part of another token, wherever its
    name stands in a text.

    Args:
        tokens: every token, special ones included; the first gets id 0.
        specials: the special ones among them.

    Raises:
        TypeError: for one string in place of several.
        ValueError: for a token that stands twice, or a special one that is empty or not among the
            tokens.
    """

    def __init__(self, tokens: Iterable[str], specials: Iterable[str] = ()):
        for name, given in (("tokens", tokens), ("specials", specials)):
            check_several(name, given)
        self.tokens = list(tokens)
        self.ids = {token: i for i, token in enumerate(self.tokens)}
        if len(self.ids) < len(self.tokens):
            twice = next(token for i, token in enumerate(self.tokens) if self.ids[token] != i)
            raise ValueError(
                f"every token needs an id of its own: of {len(self.tokens)} tokens, {twice!r} "
                f"stands twice"
            )
        self.specials: dict[str, int] = {}
        for token in specials:
            self.specials[token] = self.id(token)
        self._find_specials()

    def __len__(self) -> int:
        return len(self.tokens)

    def id(self, token: str) -> int:
        """The id of a token.

        Raises:
            ValueError: for a token that is not in the vocabulary; the message says which special
                tokens there are.
        """
        if token not in self.ids:
            known = ", ".join(self.specials) or "none"
            raise ValueError(
                f"{token!r} is not among the {len(self)} tokens of this vocabulary; its special "
                f"tokens: {known}"
            )
        return self.ids[token]

    def token(self, i: int) -> str:
        """The token with id i.

        Raises:
            ValueError: for an id below 0 or beyond the last token.
        """
        if not 0 <= i < len(self):
            raise ValueError(
                f"token id {i} is out of range: this vocabulary has {len(self)} tokens, ids 0 to "
                f"{len(self) - 1}"
            )
        return self.tokens[i]

    def add(self, token: str) -> int:
        """The id of a token, which is added with the next id if it is not there."""
        if token not in self.ids:
            self.ids[token] = len(self.tokens)
            self.tokens.append(token)
        return self.ids[token]

    def add_special(self, token: str) -> int:
        """The id of a token, which becomes special, and is added if it is not there."""
        self.specials[token] = self.add(token)
        self._find_specials()
        return self.specials[token]

    def split(self, text: str) -> list[Piece]:
        """Cut a text at the special tokens whose names stand in it: `"a[SEP]b"` gives "a", the
        special [SEP], "b".
        """
        if self._pattern is None:
            return [Piece(text, 0, special=False)]
        pieces, end = [], 0
        for found in self._pattern.finditer(text):
            pieces.append(Piece(text[end : found.start()], end, special=False))
            pieces.append(Piece(found.group(), found.start(), special=True))
            end = found.end()
        pieces.append(Piece(text[end:], end, special=False))
        return [piece for piece in pieces if piece.text]

    def _find_specials(self) -> None:
        if "" in self.specials:
            raise ValueError(
                "a special token needs a name: '' would be found between any two characters"
            )
        # of <s> and <s>2, the one that covers more
        longest_first = sorted(self.specials, key=len, reverse=True)
        self._pattern = (
            re.compile("|".join(map(re.escape, longest_first))) if longest_first else None
        )
