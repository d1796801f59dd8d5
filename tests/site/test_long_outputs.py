"""What a cell printed, and a name with a hyphen, stay whole or wrap where a reader expects it."""

import sys

import pytest
from sitemap import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from long_outputs import kind
from whole_names import whole

SENTENCE = "The bark is peeled off every nine years without felling the tree. " * 2
ROW = "the    " + "farmer    " * 9
SCROLLS = """() => [...document.querySelectorAll(".cell_output .output pre")]
  .filter((e) => e.getClientRects().length && e.scrollWidth - e.clientWidth > 1).map((e) => e.textContent.slice(0, 80))"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SENTENCE, "prose"),
        (f"short\n{SENTENCE}\nx    y", "prose"),
        (f"{ROW}\n{ROW}", "wide"),
        (f"{ROW}{ROW}\n{ROW}", ""),
        ("x" * 88, ""),
        ("\x1b[31m" + "x" * 88 + "\x1b[0m", ""),
    ],
)
def test_sentences_wrap_and_tables_keep_their_columns(text, expected):
    assert kind(text) == expected


@pytest.mark.browser
@pytest.mark.parametrize(
    "chapter",
    [
        "09_generating",
        "10b_agreement",
        "14b_words_and_spans",
        "16_what_bert_learns",
        "16b_probing",
        "16c_trees",
    ],
)
def test_on_a_wide_page_nothing_printed_scrolls_sideways(live, chapter):
    page = live(width=1360, path=f"notebooks/{chapter}.html")
    assert page.evaluate(SCROLLS) == []


def test_a_name_with_a_hyphen_is_kept_together_where_it_is_text():
    tagged = '<p title="STS-B">On STS-B, GPT-2 and WikiText-2, top-k</p><pre>STS-B</pre>'
    assert whole(tagged) == (
        '<p title="STS-B">On <span class="whole">STS-B</span>, <span class="whole">GPT-2</span> '
        "and WikiText-2, top-k</p><pre>STS-B</pre>"
    )
    assert whole("<p>on MNLI-MM and STS-Bs</p>") == "<p>on MNLI-MM and STS-Bs</p>"


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_old_lines_of_a_diff_are_red_and_new_ones_green(live, scheme):
    page = live(path="notebooks/09b_cache.html", color_scheme=scheme)
    for token, strongest in (("gd", 0), ("gi", 1)):
        colour = page.locator(f".highlight-diff .{token}").first.evaluate(
            "e => getComputedStyle(e).color.match(/\\d+/g).map(Number)"
        )
        assert max(range(3), key=colour.__getitem__) == strongest, colour
