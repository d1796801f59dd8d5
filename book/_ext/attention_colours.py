"""Query, key and value have the same three colours in formulas as in the drawings (`palette.css`).

Only the site's formulas are coloured: in a notebook they stay as they are written, for no
notebook's MathJax knows the classes.
"""

import re

# Names of several letters are no symbols; a command's letters are none either.
TOKENS = re.compile(
    r"\\(?:text|mathrm|mathit|operatorname\*?)\s*\{[^{}]*\}|\\[A-Za-z]+|(?P<symbol>[QKVqkv])|[A-Za-z]"
)
KINDS = {"q": "query", "k": "key", "v": "value"}
# V is the size of a vocabulary there, and k a number nearly everywhere but in chapter 2.
VOCABULARY = {"notebooks/10_language_model"}
SMALL = {"notebooks/02_self_attention"}


def coloured(tex: str, page: str) -> str:
    """The formula with KaTeX's class `c-query` around each Q, `c-key` around each K, `c-value`
    around each V, and around q, k and v where they are vectors.
    """

    def paint(token: re.Match) -> str:
        symbol, before, after = token["symbol"], tex[: token.start()], tex[token.end() :]
        if symbol is None or not meant(symbol, before.rstrip(), after.lstrip(), page):
            return token[0]
        return f"{{\\htmlClass{{c-{KINDS[symbol.lower()]}}}{{{symbol}}}}}"

    return TOKENS.sub(paint, tex)


def meant(symbol: str, before: str, after: str, page: str) -> bool:
    """Whether this letter stands for a query, a key or a value."""
    if symbol == "V":
        return (
            page not in VOCABULARY and not before.endswith("/") and not after.startswith("\\times")
        )
    if symbol.isupper():
        return True
    an_index = before.endswith(("_", "_{", "-"))  # d_k; k tokens earlier
    weights = symbol == "v" and after.startswith("^")  # those of the additive score
    return page in SMALL and not an_index and not weights
