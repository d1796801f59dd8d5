"""The viewer's picture for where no script runs: one head as a heat map, in SVG (GitHub, untrusted
notebooks, print).
"""

import unicodedata
from html import escape

import numpy as np

from lectures_lib.show import palette

COLOURS = ("share", "active")  # beside those of the card
CELL = 26  # pixels
FONT = 13
LONGEST = 16  # characters of a label before it is cut

# An image's style sheet knows nothing of the page's.
COLOURED = "text{{fill:{ink}}}.paper{{fill:{paper}}}.data{{fill:{share}}}.grid{{stroke:{frame}}}.chosen{{stroke:{active}}}.note{{fill:{neutral}}}"
LIGHT, DARK = (
    COLOURED.format(
        share=palette.colour("share", scheme, "mark"),  # ink is read on all of it
        active=palette.colour("active", scheme),
        **{name: palette.colour(name, scheme) for name in palette.ON_A_CARD},
    )
    for scheme in ("light", "dark")
)
STYLE = f"""
text{{font:13px system-ui,-apple-system,'Segoe UI',sans-serif}}.chosen{{fill:none;stroke-width:2}}
.small{{font-size:11px;text-anchor:middle}}.end{{text-anchor:end}}.bold{{font-weight:600}}
{LIGHT}
@media (prefers-color-scheme:dark){{{DARK}}}
"""


def shade(weights: np.ndarray) -> np.ndarray:
    """How much colour weights get, 0 to 1. The square root lifts small ones; `viewer.js` has the
    same.
    """
    return weights**0.5


def strongest(keys: list[str], row: np.ndarray, n: int = 3) -> list[str]:
    """The n keys with the largest weights, as text; none that would round to 0 %."""
    order = np.argsort(-row, kind="stable")[:n]
    return [f"{keys[j]} {100 * row[j]:.0f} %" for j in order if row[j] >= 0.005]


def describe(
    queries: list[str], keys: list[str], weights: np.ndarray, chosen: int, heading: str
) -> str:
    """The picture in words, for its alt text."""
    top = " · ".join(strongest(keys, weights[chosen])) or "nothing"
    start = f"{heading}. " if heading else ""
    return (
        f"{start}Attention weights of {len(queries)} queries (rows) on {len(keys)} keys (columns). "
        f"{queries[chosen]} → {top}."
    )


def picture(
    queries: list[str], keys: list[str], weights: np.ndarray, chosen: int, heading: str
) -> tuple[str, int, int]:
    """The heat map with one query's row marked: its SVG, width and height in pixels."""
    queries, keys = [_cut(q) for q in queries], [_cut(k) for k in keys]
    left = 20 + max(map(_width, queries))
    top = (46 if heading else 22) + max(map(_width, keys))
    right, bottom = left + CELL * len(keys), top + CELL * len(queries)
    note = f"{queries[chosen]} → {' · '.join(strongest(keys, weights[chosen])) or 'nothing'}"
    width = max(right + 14, 28 + _width(note), 28 + _width(heading))
    height = bottom + 34
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' "
        f"height='{height}'>",
        f"<style>{STYLE}</style><rect class='paper' width='{width}' height='{height}' rx='8'/>",
        f"<text class='bold' x='14' y='24'>{escape(heading)}</text>" if heading else "",
        *(
            _text(q, left - 8, top + CELL * (i + 0.5) + 4.5, "end bold" if i == chosen else "end")
            for i, q in enumerate(queries)
        ),
        *(
            _text(k, x, top - 8, turn=True)
            for x, k in ((left + CELL * (j + 0.5) + 4.5, k) for j, k in enumerate(keys))
        ),
        *_cells(weights, left, top),
        f"<path class='grid' d='{_grid(left, top, right, bottom)}'/>",
        *_numbers(weights, left, top),
        f"<rect class='chosen' x='{left}' y='{top + CELL * chosen}' width='{right - left}' "
        f"height='{CELL}' rx='2'/>",
        _text(note, 14, height - 12, "note"),
        "</svg>",
    ]
    return "".join(parts), width, height


def _cells(weights: np.ndarray, left: int, top: int) -> list[str]:
    """One path for each of 16 shades, so that a large matrix stays small."""
    levels = np.rint(16 * shade(weights)).astype(int)
    paths = []
    for level in range(1, 17):
        squares = "".join(f"M{j} {i}h1v1h-1" for i, j in np.argwhere(levels == level).tolist())
        if squares:
            paths.append(f"<path opacity='{level / 16:.4g}' d='{squares}'/>")
    return [f"<g class='data' transform='translate({left} {top})scale({CELL})'>", *paths, "</g>"]


def _numbers(weights: np.ndarray, left: int, top: int) -> list[str]:
    """Percents, where there is something to say."""
    places = np.argwhere(weights >= 0.095).tolist()
    return [
        _text(
            f"{100 * weights[i, j]:.0f}",
            left + CELL * (j + 0.5),
            top + CELL * (i + 0.5) + 4,
            "small",
        )
        for i, j in places
    ]


def _grid(left: int, top: int, right: int, bottom: int) -> str:
    rows = "".join(f"M{left} {y}H{right}" for y in range(top, bottom + 1, CELL))
    return rows + "".join(f"M{x} {top}V{bottom}" for x in range(left, right + 1, CELL))


def _text(text: str, x: float | int, y: float | int, classes: str = "", turn: bool = False) -> str:
    classes = f" class='{classes}'" if classes else ""
    if turn:
        return f"<text{classes} transform='translate({x:g} {y:g})rotate(-90)'>{escape(text)}</text>"
    return f"<text{classes} x='{x:g}' y='{y:g}'>{escape(text)}</text>"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _width(text: str) -> int:
    """A guess at a text's width in pixels: nothing here can measure a font."""
    return round(
        sum(FONT if unicodedata.east_asian_width(c) in "WF" else 0.58 * FONT for c in text)
    )
