"""Labels: `*d*_{model}` gives an italic d with "model" below the line, and `*W*^Q` a W with a Q above
it.
"""

import html
import re

from lectures_lib.show.drawings.grid import Number

SMALLEST = 12.0  # pixels: no text is set smaller, and no drawing is shrunk further than that
SIZE = 15.0  # of a label, unless it says otherwise
PIECE = re.compile(
    r"(?<=[*}])([_^])(?:\{([^}]*)\}|(.))|\*([^*]+)\*"
)  # below and above the line only behind an italic: split_heads is a name


def spans(text: str, size: Number) -> str:
    """The text with its italics, and what stands below and above the line, as SVG's tspans."""
    made, back = [], 0.0
    for piece, shift, kind in _pieces(text, size):
        move, back = shift - back, shift
        small = f' font-size="{max(SMALLEST, 0.75 * size):g}"' if shift else ""
        lift = f' dy="{move:.4g}"' if move else ""
        piece = html.escape(piece, quote=False)
        made.append(f"<tspan{lift}{small}{kind}>{piece}</tspan>" if move or kind else piece)
    return "".join(made)


def _pieces(text: str, size: Number) -> list[tuple[str, Number, str]]:
    """The text in pieces: each with its shift below the line and its tspan's class."""
    made, at = [], 0
    for found in PIECE.finditer(text):
        if found.start() > at:
            made.append((text[at : found.start()], 0.0, ""))
        shift = {"_": 0.28 * size, "^": -0.38 * size}.get(found[1], 0.0)
        made.append((found[4] or found[2] or found[3], shift, ' class="math"'))
        at = found.end()
    if at < len(text):
        made.append((text[at:], 0.0, ""))
    return made
