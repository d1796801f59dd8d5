"""A row of tokens, each in a box about as wide as its text."""

from collections.abc import Sequence
from dataclasses import dataclass

from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Number

LETTER, BROAD, EXTRA = 0.6, "mwMW@", 0.3  # widths as shares of a letter's size


def text_width(text: str, size: Number) -> Number:
    """About how wide a text is, rather more than less."""
    return size * (LETTER * len(text) + EXTRA * sum(letter in BROAD for letter in text))


@dataclass(frozen=True)
class Token:
    """Where one of them was drawn."""

    left: Number
    right: Number
    top: Number
    bottom: Number

    @property
    def middle(self) -> Number:
        """Between left and right."""
        return (self.left + self.right) / 2


def token_row(
    drawing: Canvas,
    x: Number,
    y: Number,
    tokens: Sequence[str],
    colours: str | Sequence[str] = "neutral",
    height: Number = 30,
    size: Number = 14,
    gap: Number = 4,
    pad: Number = 12,
    least: Number | Sequence[Number] = 0,
) -> list[Token]:
    """Boxes from x to the right, their upper edge at y.

    Args:
        colours: of all, or of each; "paper" has a neutral edge.
        gap: between two boxes.
        pad: how much wider a box is than its text.
        least: no box is narrower than that; for all, or for each.
    """
    kinds = [colours] * len(tokens) if isinstance(colours, str) else colours
    bounds = [least] * len(tokens) if isinstance(least, int | float) else least
    made = []
    for token, colour, bound in zip(tokens, kinds, bounds, strict=True):
        wide = round(max(bound, text_width(token, size) + pad))
        drawing.box(x, y, wide, height, token, colour, size=size, radius=4)
        made.append(Token(x, x + wide, y, y + height))
        x += wide + gap
    return made
