"""Code on a telephone is read without scrolling: long lines go on below. What is copied, and what a
wide page shows, is the code as it was written.
"""

import html
import re
import sys

import pytest
from sitemap import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import narrow_code

LINE = "    answer = function(first_argument, second_argument)"


def listing(text, kind="highlight-python notranslate"):
    return (
        f'<div class="{kind}"><div class="highlight"><pre><span></span>{text}\n</pre></div></div>'
    )


def test_a_long_line_knows_its_indentation_and_nothing_else_changes():
    text = f'x = <span class="mi">1</span>\n{LINE}\n\nshort'
    made = narrow_code.on_a_telephone(listing(text))
    assert made.count('class="on"') == 1
    assert f'<span class="on" style="--in:4">{LINE}</span>\n\nshort' in made
    assert re.sub(r'<span class="on" style="--in:\d+">([^<]*)</span>', r"\1", made) == listing(text)


def test_letters_are_counted_as_they_are_seen():
    short = '<span class="n">a</span> &lt;&lt; &quot;' + "b" * 25
    assert 'class="on"' not in narrow_code.on_a_telephone(listing(short))
    assert 'class="on"' in narrow_code.on_a_telephone(listing(short + "c"))


@pytest.mark.parametrize(("columns", "kind"), [(88, "on"), (89, "on beyond")])
def test_a_line_for_which_a_wide_page_has_no_room_is_told_apart(columns, kind):
    made = narrow_code.on_a_telephone(listing("ab " * 29 + "c" * (columns - 87)))
    assert re.findall(r'class="(on[^"]*)"', made) == [kind]


def test_tags_that_end_on_another_line_are_left_alone():
    text = f'<span class="s">{LINE}\n{LINE}</span>'
    assert narrow_code.on_a_telephone(listing(text)) == listing(text)


def test_printed_sentences_go_on_below():
    kind = "output stream highlight-myst-ansi notranslate"
    assert 'class="on"' in narrow_code.on_a_telephone(listing("a sentence " * 6, kind))


def test_a_word_that_no_line_has_room_for_may_be_broken_where_a_reader_would():
    text = (
        '        <span class="n">token</span>=words.tokens.index(<span>&quot;tired&quot;</span>),'
    )
    made = narrow_code.on_a_telephone(listing(text))
    for part in ("=<wbr>words", "words<wbr>.tokens<wbr>.index(<wbr><span>&quot;"):
        assert part in made
    assert html.unescape(narrow_code.TAG.sub("", made)) == html.unescape(
        narrow_code.TAG.sub("", listing(text))
    )
    assert "<wbr>" not in narrow_code.on_a_telephone(listing(LINE.replace("_", " ")))


FAR = "book/instructors.html"  # has lines of more than 88 columns
PAGES = ["notebooks/02_self_attention.html", "book/running.html"]
# of each listing that is no printed table: by how much it scrolls
HIDDEN = """() => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  return [...document.querySelectorAll(".bd-article .highlight pre")].filter((pre) => pre.getClientRects().length && !pre.closest(".output:not(:has(.on))"))
    .map((pre) => pre.scrollWidth - pre.clientWidth);
}"""
LONG = """() => [...document.querySelectorAll(".bd-article .on")].filter((line) => line.getClientRects().length)
  .map((line) => { const style = getComputedStyle(line); return [line.getBoundingClientRect().height / parseFloat(style.lineHeight), style.display]; })"""


@pytest.mark.browser
@pytest.mark.parametrize("path", PAGES)
def test_no_listing_scrolls_on_a_phone_and_none_wraps_on_a_wide_page(live, path):
    page = live(width=390, path=path)
    hidden = page.evaluate(HIDDEN)
    assert hidden and max(hidden) <= 0
    heights = page.evaluate(LONG)
    assert max(lines for lines, _ in heights) > 1.9
    page.set_viewport_size({"width": 1360, "height": 900})
    assert max(lines for lines, _ in page.evaluate(LONG)) < 1.9


@pytest.mark.browser
@pytest.mark.parametrize(("width", "path", "least"), [(390, PAGES[0], 20), (1360, FAR, 3)])
def test_lines_go_on_right_of_where_they_began(live, width, path, least):
    page = live(width=width, path=path)
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    begins = page.evaluate("""() => [...document.querySelectorAll(".highlight:not(.output *) .on")].filter((line) => line.getClientRects().length).map((line) => {
      const range = document.createRange(), places = [];
      const words = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
      for (let node; node = words.nextNode();) for (let i = 0; i < node.length; i++) if (/\\S/.test(node.data[i])) {
        range.setStart(node, i); range.setEnd(node, i + 1);
        const { left, top } = range.getBoundingClientRect();
        if (!places.length || top > places.at(-1)[1] + 4) places.push([left, top]);
      }
      return places.map(([left]) => left);
    })""")
    going_on = [line for line in begins if len(line) > 1]
    assert len(going_on) > least
    right = [min(rest) >= first + 15 for first, *rest in going_on]
    assert sum(right) > 0.9 * len(right)  # a word that is as long as a line begins below its place


@pytest.mark.browser
def test_no_stroke_that_a_reader_could_take_for_a_character_stands_before_what_goes_on(live):
    """The mark is a hook: what is upright in it is shorter than a letter, and it has a foot."""
    line = live(width=390, path=PAGES[0]).locator(".highlight .on:visible").first
    height, sizes = line.evaluate("""(line) => { const style = getComputedStyle(line);
      return [parseFloat(style.fontSize), style.backgroundSize]; }""")
    assert "%" not in sizes
    upright, foot = (
        [float(n.removesuffix("px")) for n in one.split()] for one in sizes.split(", ")
    )
    assert upright[0] == 1 and upright[1] < 0.7 * height
    assert foot[0] > 0.5 * height and foot[1] == 1


def test_the_copied_text_is_the_source(html):
    """Without tags, every listing of a chapter is in its notebook."""
    page = (html / PAGES[0]).read_text("utf-8")
    source = (ROOT / "notebooks" / "02_self_attention.py").read_text()
    found = re.findall(
        r'<div class="highlight-python notranslate"><div class="highlight"><pre>(.*?)</pre>',
        page,
        re.DOTALL,
    )
    texts = [unescaped(narrow_code.TAG.sub("", text)).strip() for text in found]
    assert sum(text in source for text in texts) > 0.8 * len(texts) > 20


unescaped = html.unescape
