"""The figures of the page "Mechanisms in motion": no model, only a mechanism that the reader sets
going.

Each function gives what its script in book/live must know, and an example in words that the library
makes while the site is built: what stands there without scripts, and on paper.
"""

from functools import cache

WRITTEN = ["<s>", "sieben", "und", "zwanzig", ",", "sechs", "hundert", "achtzig"]


@cache
def filling() -> tuple[dict, str]:
    """The figure with a cache that fills; the counts after the last word."""
    n = len(WRITTEN)
    options = {"title": "A cache that fills", "words": WRITTEN}
    said = (
        f"{' '.join(WRITTEN)}: {n} steps.\nKeys (and as many values) computed in one "
        f"self-attention without a cache: {' + '.join(map(str, range(1, n + 1)))} = "
        f"{n * (n + 1) // 2}.\nWith a cache: {' + '.join(['1'] * n)} = {n}."
    )
    return options, said


# As in live.py: in the order of the page, and the address of each figure's section there.
FIGURES = {"filling": filling}
SECTIONS = {"a-cache-that-fills": "filling"}
PAGE = "book/motion"
