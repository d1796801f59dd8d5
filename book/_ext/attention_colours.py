"""Query, key and value have the same three colours in formulas and in code as in the drawings
(`palette.css`).

Only the site's are coloured: in a notebook they stay as they are written, for no notebook's MathJax
knows the classes, and its code has the colours of its editor.
"""

import re

from docutils import nodes
from sphinx.application import Sphinx

# Names of several letters are no symbols; a command's letters are none either.
TOKENS = re.compile(
    r"\\(?:text|mathrm|mathit|operatorname\*?)\s*\{[^{}]*\}|\\[A-Za-z]+|(?P<symbol>[QKVqkv])|[A-Za-z]"
)
KINDS = {"q": "query", "k": "key", "v": "value"}
# V is the size of a vocabulary there, and k a number nearly everywhere but in chapter 2.
VOCABULARY = {"notebooks/10_language_model"}
SMALL = {"notebooks/02_self_attention"}

# In code V also is a vocabulary's size (13, 18) or all vectors of a word (12, 15).
VALUES = {
    "notebooks/02_self_attention",
    "notebooks/03_multi_head_attention",
    "notebooks/06_decoder",
    "notebooks/09b_cache",
    "notebooks/11_vision_transformer",
    "book/exam",
    "exercises/hw1_attention",
    "exercises/hw3_training_and_generating",
}
LISTING = re.compile(
    r'(<div class="highlight-(?:ipython3|python)\b[^"]*"><div class="highlight"><pre>)(.*?)(</pre>)',
    re.DOTALL,
)
# What has an element of its own is a keyword, a number, a string, a comment (its tags do not nest), and
# stays. W_Q, self.W_Q; Q, Q_wide, Q_r; q, q1. A name that goes on, or an attribute of one letter, is
# none of these.
NAME = re.compile(
    r"<(\w+)[^>]*>.*?</\1>|<[^>]*>|&[#\w]+;"
    r"|(?<!\w)W_(?P<matrix>[QKV])(?:_wide)?(?!\w)"
    r"|(?<![\w.])(?<!\.</span>)(?:(?P<large>[QKV])(?:_(?:wide|r))?|(?P<small>[qkv])\d?)(?!\w)",
    re.DOTALL,
)


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


def code_coloured(body: str, page: str) -> str:
    """A page's HTML with the names of queries, keys and values in its listings in an element of class
    `c-query`, `c-key` or `c-value`.
    """

    def paint(name: re.Match) -> str:
        letter = name["matrix"] or name["large"] or name["small"]
        if letter is None or not (name["matrix"] or named(letter, page)):
            return name[0]
        return f'<span class="c-{KINDS[letter.lower()]}">{name[0]}</span>'

    return LISTING.sub(lambda found: found[1] + NAME.sub(paint, found[2]) + found[3], body)


def named(letter: str, page: str) -> bool:
    """Whether this letter, as a name in a page's code, is a query, a key or a value."""
    if letter == "V":
        return page in VALUES
    return letter.isupper() or page in SMALL


def mend(
    app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
) -> None:
    """A page's code."""
    if "body" in context:
        context["body"] = code_coloured(context["body"], page)


def setup(app: Sphinx) -> dict:
    """Before long lines get their places to break."""
    app.connect("html-page-context", mend, priority=940)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
