"""The site's own letters: every page has them, and a measured figure carries those that it writes."""

import base64
import io
import re
import sys
import time
from html import unescape

import pytest
from conftest import SHIFTS
from fontTools.ttLib import TTFont
from sitemap import ROOT, notebook_pages

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import formulas
import plots_in_both_themes as themes
import social_cards
import typefaces

FACE = re.compile(r"font-weight:(\d+);src:url\(data:font/woff2;base64,([^)]+)\)")
TEXT = re.compile(r"<text\b.*?</text>", re.DOTALL)


def letters_of(data: bytes) -> set[str]:
    return set(map(chr, TTFont(io.BytesIO(data)).getBestCmap()))


def cut(text: str, weight: int = typefaces.REGULAR) -> bytes:
    return typefaces.cut(typefaces.WORDS, text, weight)


def test_a_text_gets_its_letters_and_no_others_and_the_same_bytes_twice():
    assert letters_of(cut("loss 0.5")) == set("loss 0.5")
    assert cut("loss") == cut("loss")
    assert letters_of(cut("a Ġ")) == set("a "), "a letter that Figtree lacks"


def test_bold_is_another_weight():
    thin, thick = (
        TTFont(io.BytesIO(cut("l", weight))) for weight in (typefaces.REGULAR, typefaces.BOLD)
    )
    assert thick["hmtx"]["l"][0] > thin["hmtx"]["l"][0]


@pytest.mark.parametrize(
    "style", ["font: 20px 'DejaVu Sans'", "font: 20px var(--pst-font-family-base,system-ui)"]
)
def test_a_card_of_a_link_writes_the_words_of_its_figure(style):
    def dark(words: str) -> int:
        picture = social_cards.in_pixels(
            '<svg xmlns="http://www.w3.org/2000/svg" width="90pt" height="30pt" viewBox="0 0 90 30">'
            f'<text x="5" y="25" style="{style}">{words}</text></svg>'
        )
        return sum(picture.convert("L").histogram()[:128])

    assert dark("Hello") > 200
    assert dark("Ġ") > 20, "a letter that Figtree lacks"


def test_digits_can_be_of_one_width():
    """The numbers of a logarithmic axis are set digit by digit."""
    font = TTFont(io.BytesIO(cut("0123456789")))
    assert "tnum" in {one.FeatureTag for one in font["GSUB"].table.FeatureList.FeatureRecord}


def test_a_figure_says_its_bold_words_in_bold():
    plain = '<text style="font: 10px Figtree">step &amp; loss</text>'
    bold = '<text style="font: bold 10px Figtree">A</text>'
    faces = dict(FACE.findall(themes.own_letters(plain + bold)))
    assert letters_of(base64.b64decode(faces["400"])) == set("step & loss")
    assert letters_of(base64.b64decode(faces["700"])) == {"A"}
    assert [*dict(FACE.findall(themes.own_letters(plain)))] == ["400"]


def test_letters_of_a_formula_follow_each_other_without_holes():
    """In DejaVu Sans a minus is as wide as 0.84 of its size, in Figtree as 0.62."""
    dejavu = typefaces.widths(typefaces.MEASURED)
    style = 'style="font-size: 10px; font-family: Figtree"'
    svg = (
        f'<g transform="translate(50 20)"><text><tspan x="0" y="-4" {style}>−</tspan>'
        f'<tspan x="{10 * dejavu["−"]}" y="-4" {style}>3</tspan></text></g>'
    )
    drawn = themes.in_figtree(svg)
    begin, minus, three = map(float, re.findall(r'(?:translate\(|tspan x=")([-\d.]+)', drawn))
    assert "font-size: 11px" in drawn
    assert three - minus == pytest.approx(11 * typefaces.widths(typefaces.WORDS)["−"], abs=0.01)
    assert begin > 50, "its middle stays where it was"


def test_larger_words_are_no_wider_than_matplotlib_took_them_for():
    dejavu, figtree = (typefaces.widths(file) for file in (typefaces.MEASURED, typefaces.WORDS))
    for words in ("named rightly", "batches of 128 pictures", "layer 2, head 0", "0.95", "1800"):
        assert themes.LARGER * sum(map(figtree.get, words)) < sum(map(dejavu.get, words)), words


def test_every_measured_figure_of_the_site_carries_its_letters(html):
    figtree, found = letters_of(typefaces.upright(400)), 0
    for path in sorted((html / "_images").glob("*.svg")):
        svg = path.read_text(encoding="utf-8")
        if "font-family: Figtree" not in svg and "Figtree," not in svg:
            continue
        found += 1
        said = set(unescape(re.sub(r"<[^>]+>", "", "".join(TEXT.findall(svg)))))
        carried = [letters_of(base64.b64decode(data)) for _, data in FACE.findall(svg)]
        assert said & figtree <= set().union(*carried), path.name
    assert found > 100


def test_every_page_asks_for_its_letters_early(html):
    for page in ("book/welcome.html", *notebook_pages()[:3], "book/glossary.html"):
        text = (html / page).read_text(encoding="utf-8")
        assert text.count("_static/fonts/figtree-latin-wght-normal.woff2") == 1, page
    for file in typefaces.FILES:
        written = (html / typefaces.FOLDER / file.name).read_bytes()
        assert letters_of(written) <= set(typefaces.LETTERS)
        assert len(written) < 0.75 * file.stat().st_size


def test_no_page_writes_a_letter_that_was_cut_away(html):
    """A name of two typefaces would be seen."""
    figtree = [file for file in typefaces.FILES if "figtree" in file.name]
    whole = set().union(*(letters_of(file.read_bytes()) for file in figtree))
    said = set()
    for path in html.rglob("*.html"):
        text = re.sub(r"<(script|style)\b.*?</\1>", "", path.read_text("utf-8"), flags=re.DOTALL)
        said |= set(unescape(re.sub(r"<[^>]+>", "", text)))
    missed = sorted((said & whole) - set(typefaces.LETTERS))
    assert not [one for one in missed if one.isprintable()]


def test_formulas_keep_every_letter_that_is_written(html):
    """Those of the pages, and of scripts that are copied when the pages are done."""
    site = html / "_static" / "katex" / "fonts"
    said = formulas.written(html)
    assert set("αω∑√⊤") <= said and any(html.glob("live/*.js"))
    whole = formulas.KATEX / "dist" / "fonts"
    for font in whole.glob("*.woff2"):
        kept = letters_of((site / font.name).read_bytes())
        assert letters_of(font.read_bytes()) & said <= kept, font.name
    main = "KaTeX_Main-Regular.woff2"
    assert (site / main).stat().st_size < 0.6 * (whole / main).stat().st_size


LOADED = """async () => { await document.fonts.ready;
  return [...document.fonts].filter(one => one.status === "loaded").map(one => one.family.replaceAll('"', '')); }"""


@pytest.mark.browser
@pytest.mark.parametrize("page_name", ["book/welcome.html", "notebooks/02_self_attention.html"])
def test_a_page_is_set_in_them(tab, address, page_name):
    page = tab(1360, 900)
    page.goto(address + page_name, wait_until="networkidle")
    assert "Figtree" in page.evaluate(LOADED)
    family = page.evaluate("getComputedStyle(document.body).fontFamily")
    assert family.startswith('Figtree, "Like Figtree", system-ui')


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1360])
def test_no_line_moves_when_they_come_late(tab, address, tricks, width):
    """Until then the words stand in a common face, drawn as wide and as high."""

    def late(handler) -> bool:
        if "/fonts/figtree" in handler.path:
            time.sleep(5)
        return False

    tricks.append(late)
    try:
        page = tab(width, 900, init=SHIFTS)
        page.context.new_cdp_session(page).send("Network.clearBrowserCache")
        page.goto(address + "notebooks/02_self_attention.html", wait_until="domcontentloaded")
        page.wait_for_timeout(300)
        assert "Figtree" not in page.evaluate(
            "[...document.fonts].filter(f => f.status === 'loaded').map(f => f.family)"
        )
        page.evaluate("document.fonts.ready")
        page.wait_for_timeout(6000)
        assert "Figtree" in page.evaluate(LOADED)
        assert page.evaluate("shift") < 0.1
    finally:
        tricks.remove(late)
