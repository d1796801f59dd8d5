"""Query, key and value in formulas and in code: which letters are meant, and that they have the
colours of the drawings.
"""

import re
import sys

import pytest
from colours import colour, contrast
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sitemap import ROOT

from lectures_lib.show.palette import PALETTE

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from attention_colours import code_coloured, coloured

NAMED = re.compile(r'<span class="c-(query|key|value)">(\w+)</span>')
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


def listing(code: str) -> str:
    """A cell's code as the page has it before this."""
    made = highlight(code, PythonLexer(), HtmlFormatter(nowrap=True))
    made = re.sub(r'<span class="(?:n|p|w)">(.*?)</span>', r"\1", made)
    return f'<div class="highlight-ipython3 notranslate"><div class="highlight"><pre>{made}</pre></div></div>'


@pytest.mark.parametrize(
    ("page", "code", "names"),
    [
        (SELF_ATTENTION, "w = softmax(Q @ K.T / s)\nz = w @ V", ["Q", "K", "V"]),
        (SELF_ATTENTION, "q1 @ k2  # not q\nfor k, v in zip(K, V): q", ["q1", "k2", "k", "v", "K", "V", "q"]),
        ("notebooks/05_encoder", "self.W_Q(x), block.W_V", ["W_Q", "W_V"]),
        ("notebooks/03_multi_head_attention", "W_Q_wide = W_O[d_k:d_v], Q_wide", ["W_Q_wide", "Q_wide"]),
        ("notebooks/13_pretraining", "V = len(tokenizer); ask(text, k=5)", []),
        ("notebooks/18_after_bert", "f(Q, K, Q_r, k, V)", ["Q", "K", "Q_r"]),
        ("notebooks/15_features", "for v in V: v", []),
        ("notebooks/17_sentence_bert", "u, v = model(texts)", []),
        ("notebooks/06_decoder", 'names = ("Q", "K"); KV, model.V, Query = x', []),
    ],
)  # fmt: skip
def test_which_names_are_meant_in_code(page, code, names):
    made = listing(code)
    found = code_coloured(made, page)
    assert [name for _, name in NAMED.findall(found)] == names
    assert all(kind[0] in name.lower() for kind, name in NAMED.findall(found))
    assert NAMED.sub(r"\2", found) == made, "nothing else is changed"


def test_what_a_cell_printed_is_no_code():
    printed = (
        '<div class="highlight-none output"><div class="highlight"><pre>Q K V</pre></div></div>'
    )
    assert code_coloured(printed, SELF_ATTENTION) == printed


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


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_name_in_code_has_them_too_and_can_be_read(tab, address, theme):
    page = tab(color_scheme=theme)
    page.goto(address + SELF_ATTENTION + ".html")
    page.wait_for_selector(f"html[data-theme={theme}]")
    ground = colour(page.locator(".cell_input .highlight pre").first)
    for name in ("query", "key", "value"):
        drawn = colour(page.locator(f".cell_input .highlight .c-{name}").first, "color")
        assert "#" + bytes(map(round, drawn)).hex() == PALETTE[name][theme]["line"]
        assert contrast(drawn, ground) >= 4.5
