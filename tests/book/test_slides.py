"""The lectures' slides: every pointer into a chapter finds its place, every deck has its measure."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "book"), str(ROOT / "book" / "_ext")]
import live  # noqa: E402
import slides  # noqa: E402
from slides import pieces  # noqa: E402
from slides.page import SHOWN, page  # noqa: E402

KEYS = {
    "title",
    "minutes",
    "points",
    "formula",
    "predict",
    "given",
    "say",
    "stumble",
    "below",
    *SHOWN,
}
DECKS = slides.decks()


@pytest.fixture(autouse=True)
def no_models(monkeypatch):
    """A live figure's example is computed by its model: here it is two lines."""
    shown = "<pre>one line\nanother</pre>"
    monkeypatch.setattr(live, "parts", lambda name: (name, 'data-live="{}"', shown))


@pytest.mark.parametrize("name", DECKS)
def test_every_pointer_finds_its_place(name):
    chapter, deck = slides.Chapter.named(name), slides.read(name)
    for slide in deck["slides"]:
        for kind in {
            "code",
            "output",
            "figure",
            "widget",
            "formula",
            "predict",
            "table",
        } & slide.keys():
            assert getattr(chapter, kind)(slide[kind]), (slide["title"], kind)
        for pointer in slide.get("given", []):
            assert chapter.given(pointer).startswith(pointer)


@pytest.mark.parametrize("name", DECKS)
def test_a_deck_is_a_lecture(name):
    deck = slides.read(name)
    half = name[:2] + "b" in DECKS  # of chapter 13 there are 13 and 13c, and 13b between them
    n, minutes = slides.count(deck), slides.minutes(deck)
    live = sum("live" in slide for slide in deck["slides"])
    assert live <= 1 and ((10 if half else 15) <= n - live <= 20)
    assert (45 <= minutes <= 75) if half else minutes == 90
    assert (5 if half else 10) <= deck["discussion"] <= 20
    assert sum("predict" in slide for slide in deck["slides"]) >= 3
    least = minutes // 18  # one of each in 18 minutes
    assert sum(bool(slide.keys() & set(SHOWN)) for slide in deck["slides"]) >= least
    assert sum("stumble" in slide for slide in deck["slides"]) >= least


TALLER_THAN_A_SLIDE = {"remembering"}  # they stay on the chapter's page


@pytest.mark.parametrize("name", DECKS)
def test_a_live_figure_is_one_of_the_chapters_and_each_chapter_with_some_shows_one(name):
    text = slides.Chapter.named(name).text
    its = {
        figure
        for page, sections in live.PAGES.items()
        for section, figure in sections.items()
        if f"{page.removeprefix('book/')}.md#{section})" in text
    } - TALLER_THAN_A_SLIDE
    on_slides = [slide["live"] for slide in slides.read(name)["slides"] if "live" in slide]
    assert len(on_slides) == bool(its) and its >= set(on_slides)


def test_a_slide_brings_its_live_figures_example_and_what_starts_it():
    text = pieces.live("reader", 300)
    assert "another</pre>" in text and "Run it here" in text
    assert 'data-waits data-live="{}"' in text  # live.js leaves it alone until then
    assert "--c-query" in text
    assert pieces.wrapped("a " * 40, 300) == 26
    assert 16 < pieces.wrapped("a " * 400, 300) < 26
    assert pieces.wrapped("a " * 9000, 300) == 16


def test_an_example_too_long_for_a_slide_is_shown_as_far_as_it_fits():
    long = "<pre>" + "\n".join(f"line {i}" for i in range(40)) + "</pre>"
    assert pieces.fitting("<pre>one line\nanother</pre>", 300) == "<pre>one line\nanother</pre>"
    assert pieces.fitting(long, 300).endswith("line 12</pre>")  # 13 lines, each of 22.4 pixels


@pytest.mark.parametrize("name", DECKS)
def test_a_slide_has_few_words_and_something_to_say(name):
    for slide in slides.read(name)["slides"]:
        assert slide.keys() <= KEYS, slide["title"]
        assert len(slide["say"]) > 30 and slide["minutes"] > 0, slide["title"]
        if "predict" not in slide:
            assert 2 <= len(slide["points"]) <= 4, slide["title"]
            assert all(len(point) <= 90 for point in slide["points"]), slide["title"]


@pytest.mark.parametrize("name", DECKS)
def test_points_are_not_the_chapters_sentences(name):
    chapter = slides.Chapter.named(name)
    prose = " ".join(re.sub(r"[*`$]", "", chapter.text).split())
    for slide in slides.read(name)["slides"]:
        for point in slide.get("points", []):
            plain = re.sub(r"[*`$]", "", point)
            assert len(plain) < 45 or plain not in prose, point


@pytest.mark.parametrize("name", DECKS)
def test_a_number_on_a_slide_stands_in_the_chapter(name):
    """Numbers in points are the one thing that is copied: decimals, and those of two digits."""
    said = slides.Chapter.named(name).everything
    for slide in slides.read(name)["slides"]:
        words = " ".join([slide["title"], *slide.get("points", [])])
        for copied in re.findall(r"\d[\d,.]*\d", words):
            assert re.search(rf"(?<![\d.]){re.escape(copied)}(?!\d)", said), (copied, words)


@pytest.mark.parametrize("name", DECKS)
def test_a_deck_is_one_page_that_names_no_other_host(name):
    deck, chapter = slides.read(name), slides.Chapter.named(name)
    text = page(chapter, *slides.place(name), deck)
    assert text.count("<section") == slides.count(deck)
    assert text.count('<aside class="notes">') == slides.count(deck)
    sizes = re.findall(r'style="font-size:(\d+)px"', text)
    assert min(map(int, sizes)) >= 16  # what the last row can still read
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', text)
    assert len(chapter.discussion) == 3


def test_what_no_longer_stands_in_the_chapter_is_an_error():
    chapter = slides.Chapter.named("02")
    for kind in ("code", "output", "figure", "formula", "predict", "given", "table"):
        with pytest.raises(
            slides.LostError, match=r"02_self_attention\.ipynb: no .* for 'gone for good'"
        ):
            getattr(chapter, kind)("gone for good")


def test_a_pointer_must_be_to_one_place_and_to_code_that_fits():
    chapter = slides.Chapter.named("02")
    with pytest.raises(slides.LostError, match="code cell for 'softmax'"):
        chapter.output("softmax")
    with pytest.raises(slides.LostError, match=r"\d\d lines, 20 fit"):
        slides.Chapter.named("03").code("MultiHeadAttention")


def test_a_method_is_found_by_its_class():
    code = slides.Chapter.named("02").code("SelfAttention.forward")
    assert code.lstrip().startswith("def forward(self, X, mask=None):")


def test_a_formula_with_a_mistake_is_an_error():
    with pytest.raises(ValueError, match="nosuch"):
        pieces.formula(r"\nosuch{x}")
    assert "katex" in pieces.formula(r"\sqrt{d_k}")


def test_a_table_that_is_given_takes_the_room_of_its_rows():
    rows = ["| word | state |", "|---|---|", *["| five | (1, 0) |"] * 14]
    assert pieces.size_of(["\n".join(rows)]) < 22
    assert pieces.size_of(["\n".join(rows[:3])]) == 32


def test_the_build_brings_all_that_a_deck_loads(tmp_path):
    (written,) = slides.build(tmp_path, ["02"])
    text = written.read_text(encoding="utf-8")
    for name in re.findall(r'(?:src|href)="(assets/[^"]+)"', text):
        assert (tmp_path / name).stat().st_size > 0, name
    style = (tmp_path / "assets" / "katex.min.css").read_text(encoding="utf-8")
    for font in re.findall(r"url\((fonts/[^)]+\.woff2)\)", style):
        assert (tmp_path / "assets" / font).exists(), font


def test_a_deck_is_made_of_its_chapter_and_of_its_questions(monkeypatch):
    """A kept deck is shown again until one of these changes."""
    asked = []
    monkeypatch.setattr(slides, "of_files", lambda files: asked.extend(files) or "")
    slides.made_of("07b")
    assert {"07b_wordpiece.ipynb", "teaching.md"} <= {path.name for path in asked}
