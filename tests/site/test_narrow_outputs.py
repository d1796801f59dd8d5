"""What a cell printed in columns keeps them on a telephone, and no page has to be scrolled sideways
for it; what is copied, and what a wide page shows, is what was printed.
"""

import html
import re
import sys

import pytest
from sitemap import ROOT, notebook_pages

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import narrow_code
from narrow_outputs import FITS, SMALL, printed

OUTPUT = "output stream highlight-myst-ansi notranslate"
PAIRS = """
rollout  rank correlation with the damage  0.13   right without the first patch 0.68
ink      rank correlation with the damage  0.49   right without the first patch 0.51
chance   rank correlation with the damage -0.02   right without the first patch 0.74"""
HEAD = """
                    first loss  last loss   Spearman, three seeds
regression                0.15       0.01    0.75   0.75   0.75
in-batch negatives        0.16       0.00    0.70   0.74   0.69"""
WORDS = """
words      The       farmer    sold      his       horse     to        a         stranger
upos       DET       NOUN      VERB      PRON      NOUN      ADP       DET       NOUN
relations  det       nsubj     root      nmod:poss obj       case      det       obl"""
SENTENCES = """
1.00  A warm, funny film that never outstays its welcome.
0.84  The jokes are old, and so is the hero.
0.96  It is not bad at all."""
WIDE_APART = """
words        with cache      without
   16                72          705
 1024             4,333    2,318,848"""
LIST = """
tokens    ['[CLS]', 'my', 'dog', 'is', 'cute', '[SEP]']
segments  [0, 0, 0, 0, 0, 0]"""
TABLES = [PAIRS, HEAD, WORDS, SENTENCES, WIDE_APART, LIST]
GAP = re.compile(r'<span class="gap"> *</span>')
TAG = re.compile(r"<[^>]*>")


def made(table: str) -> str:
    return printed(table.strip("\n").split("\n"))[0]


def bands(table: str) -> list[list[str]]:
    """What is shown below one another, of each line."""
    shown = GAP.sub("", made(table)).removeprefix('<span class="bands">').split("\n")
    return [re.findall(r'<span class="(?:band[^>]*)>([^<]*)', line) for line in shown[:-1]]


@pytest.mark.parametrize("table", TABLES)
def test_nothing_printed_is_changed(table):
    text = html.unescape(TAG.sub("", made(table)))
    assert text.rstrip("\n") == table.strip("\n")


@pytest.mark.parametrize("table", TABLES)
def test_every_line_fits_or_goes_on_below(table):
    shown, small = printed(table.strip("\n").split("\n"))
    for line in GAP.sub("", shown).split("\n"):
        if 'class="on"' not in line:
            pieces = re.split(r'<span class="band[^>]*>', line)
            limit = SMALL if small else FITS
            assert all(len(html.unescape(TAG.sub("", piece))) <= limit for piece in pieces)


def test_a_line_is_cut_where_a_reader_would():
    assert [second for _, second in bands(PAIRS)] == [
        f"right without the first patch {share}" for share in ("0.68", "0.51", "0.74")
    ]


def test_below_a_head_the_columns_stay_and_names_are_repeated():
    told = re.findall(r'style="order:1" data-name="([^"]*)">([^<]*)', GAP.sub("", made(HEAD)))
    assert [name.strip() for name, _ in told] == ["", "regression", "in-batch negatives"]
    assert told[0][1].strip() == "Spearman, three seeds"
    assert len({len(name) for name, _ in told}) == 1


def test_a_word_stays_above_what_belongs_to_it():
    first, second = zip(*bands(WORDS), strict=True)
    for panel in (first, second):
        assert len({len(line.split()) for line in panel}) == 1
    assert 'data-name="relations' in made(WORDS)


@pytest.mark.parametrize(("table", "column"), [(SENTENCES, 6), (LIST, 10)])
def test_a_last_column_goes_on_below_itself(table, column):
    assert f'style="--in:{column - 3}"' in made(table)
    assert "bands" not in made(table)


def test_spaces_are_left_out_before_letters_become_small():
    assert made("a" * 20 + " " * 20 + "b" * 10 + "\nccc" + " " * 37 + "ddd").count("gap") == 2
    assert not printed(["a" * 20 + " " * 20 + "b" * 10, "ccc" + " " * 37 + "ddd"])[1]
    assert printed(["a" * 30 + "  " + "b" * 15, "ccc" + " " * 29 + "ddd"])[1]


def test_sentences_are_no_table():
    text = (
        "674 of 1000 tokens are not in what the model reads. Of their rows,\n  one     674 get it"
    )
    assert "bands" not in made(text) and made(text).count('class="on"') == 1


def test_a_listing_is_told_that_its_letters_are_small():
    rows = [f"{name:30}  {share:>15}" for name, share in (("one", 0.25), ("o" * 30, "9" * 15))]
    page = narrow_code.on_a_telephone(
        f'<div class="{OUTPUT}"><div class="highlight"><pre><span></span>{rows[0]}\n{rows[1]}\n'
        "</pre></div></div>"
    )
    assert f"{OUTPUT} output-small" in page and "<pre><span></span>one" in page


# of each output: by how much it scrolls, its letters, and how many pieces under a head are broken
SEEN = """() => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  const outputs = [...document.querySelectorAll(".cell_output .output pre")].filter((pre) => pre.getClientRects().length);
  return outputs.map((pre) => {
    const high = parseFloat(getComputedStyle(pre).lineHeight);
    const broken = [...pre.querySelectorAll(".below[data-name]")].filter((piece) => piece.getBoundingClientRect().height > 1.5 * high);
    return [pre.scrollWidth - pre.clientWidth, parseFloat(getComputedStyle(pre).fontSize), broken.length, pre.textContent.slice(0, 80)];
  });
}"""


@pytest.mark.browser
@pytest.mark.parametrize("path", notebook_pages())
def test_nothing_printed_scrolls_on_a_phone(live, path):
    page = live(width=390, path=path)
    seen = page.evaluate(SEEN)
    assert [text for over, _, _, text in seen if over > 0] == []
    assert [text for _, letters, _, text in seen if letters < 11] == []
    assert [text for _, _, broken, text in seen if broken] == []


@pytest.mark.browser
def test_a_wide_page_and_paper_show_the_lines_as_they_were_printed(live):
    page = live(width=1360, path="notebooks/16_what_bert_learns.html")
    lines = """() => [...document.querySelectorAll(".cell_output pre:has(.bands)")].map((pre) =>
      [pre.innerText.trimEnd() === pre.textContent.trimEnd(), getComputedStyle(pre.querySelector(".bands")).display])"""
    assert page.evaluate(lines) and all(line == [True, "inline"] for line in page.evaluate(lines))
    page.set_viewport_size({"width": 390, "height": 900})
    assert {display for _, display in page.evaluate(lines)} == {"grid"}
    page.emulate_media(media="print")
    assert {display for _, display in page.evaluate(lines)} == {"inline"}
