"""Query, key and value in formulas: which letters are meant, and that they have the colours of the
drawings.
"""

import re
import sys

import pytest
from colours import colour
from sitemap import ROOT

from lectures_lib.show.drawings.palette import PALETTE

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from attention_colours import coloured

SELF_ATTENTION, LANGUAGE_MODEL = "notebooks/02_self_attention", "notebooks/10_language_model"
MEANT = re.compile(r"\{\\htmlClass\{c-(\w+)\}\{(\w)\}\}")


@pytest.mark.parametrize(
    ("page", "tex", "letters"),
    [
        (
            SELF_ATTENTION,
            r"\operatorname{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V",
            "QKV",
        ),
        (SELF_ATTENTION, r"q_i = x_i W^Q, \qquad k_j = x_j W^K, \qquad v_j = x_j W^V", "qQkKvV"),
        (SELF_ATTENTION, r"v^\top \tanh(W_q\, q + W_k\, k)", "qk"),
        ("book/notation", r"\mathrm{Attention}(XW^Q_i) = QK^\top", "QQK"),
        ("notebooks/05_encoder", r"O(k \cdot n \cdot d^2)", ""),
        ("notebooks/08_training", r"v \leftarrow \beta_2 v", ""),
        (LANGUAGE_MODEL, "V", ""),
        ("book/glossary", r"V \times E", ""),
        ("notebooks/06_decoder", r"\text{Q} \operatorname{KV} \Vert", ""),
    ],
)
def test_which_letters_are_meant(page, tex, letters):
    found = coloured(tex, page)
    assert "".join(letter for _, letter in MEANT.findall(found)) == letters
    assert all(kind[0] == letter.lower() for kind, letter in MEANT.findall(found) if kind != "key")
    assert MEANT.sub(r"\2", found) == tex, "nothing else is changed"


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_formula_has_the_colours_of_the_drawings(tab, address, theme):
    page = tab(color_scheme=theme)
    page.goto(address + SELF_ATTENTION + ".html")
    page.wait_for_selector(f"html[data-theme={theme}]")
    for name in ("query", "key", "value"):
        letter = page.locator(f".katex .c-{name}").first
        assert (
            "#" + bytes(map(round, colour(letter, "color"))).hex() == PALETTE[name][theme]["line"]
        )
    assert not page.wrong
