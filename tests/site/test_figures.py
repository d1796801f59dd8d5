"""A picture is described for those who do not see it, and has a caption for those who do."""

import io
import json
import re
import sys

import lxml.html
import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
import torch
from sitemap import ROOT, pages, read

from lectures_lib.show import plots
from lectures_lib.show.contrast import contrast
from lectures_lib.show.palette import colour

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import heat_maps

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


UNSEEN = {"remove-cell", "remove-output"}


def pictures(notebook) -> list[tuple[int, dict]]:
    """The number and the metadata of every cell that shows an image."""
    shown = [
        (i, cell)
        for i, cell in enumerate(notebook.cells)
        if cell.cell_type == "code" and not UNSEEN & set(cell.metadata.get("tags", []))
    ]
    return [
        (i, cell.metadata)
        for i, cell in shown
        if any(
            kind.startswith("image/") for output in cell.outputs for kind in output.get("data", {})
        )
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_describes_its_pictures(path):
    for i, metadata in pictures(nbformat.read(path, as_version=4)):
        mystnb = metadata.get("mystnb", {})
        assert mystnb.get("image", {}).get("alt", "").strip(), (
            f"cell {i} shows a picture and has no mystnb.image.alt"
        )
        assert mystnb.get("figure", {}).get("caption", "").strip(), (
            f"cell {i} shows a picture and has no mystnb.figure.caption"
        )


@pytest.mark.parametrize("path", pages())
def test_page_describes_its_pictures(html, path):
    article = lxml.html.fromstring((html / path).read_text(encoding="utf-8")).find(".//article")
    # a card's picture says nothing that the card does not
    of_cards = {image for card in article.find_class("card-picture") for image in card.iter("img")}
    assert not [
        lxml.html.tostring(image)[:150]
        for image in article.iter("img")
        if not image.get("alt", "").strip() and image not in of_cards
    ]
    assert not [
        lxml.html.tostring(picture)[:150]
        for picture in article.iterfind(".//svg[@role='img']")
        if picture.find(".//title") is None and not picture.get("aria-label")
    ]


def test_welcome_picture_shows_what_the_model_computes():
    import importlib.util

    spec = importlib.util.spec_from_file_location(
        "welcome", ROOT / "book" / "figures" / "welcome.py"
    )
    welcome = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(welcome)
    assert welcome.FILE.read_text() == welcome.picture(welcome.weights())
    stored, computed = json.loads(welcome.ALL_HEADS.read_text()), welcome.all_heads()
    for one, other in zip(stored, computed, strict=True):
        differ = np.abs(np.subtract(one.pop("shares"), other.pop("shares")))
        assert differ.max() <= 1 and one == other  # another processor may round another way


@pytest.mark.browser
def test_in_the_dark_a_plot_stands_on_the_page_itself(tab, address):
    """The theme puts a light plate behind pictures in the dark; light letters on it cannot be
    read.
    """
    page = tab(color_scheme="dark")
    page.goto(f"{address}notebooks/05_encoder.html")
    narrow = page.locator("img.plot-narrow")  # for phones
    assert not any(narrow.nth(i).is_visible() for i in range(narrow.count()))
    plots = page.locator("img.plot:not(.plot-narrow)")
    assert plots.count() > 8
    seen = plots.evaluate_all(
        "all => all.map(one => { const s = getComputedStyle(one);"
        " return [one.classList.contains('plot-dark'), s.display, s.backgroundColor, s.filter] })"
    )
    for dark, display, background, colours in seen:
        assert (display != "none") == dark
        assert (background, colours) == ("rgba(0, 0, 0, 0)", "none")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.mark.parametrize("scale", [plots.SEQUENTIAL, plots.DIVERGING])
def test_a_scale_for_the_dark_turns_its_lightness_round(scale):
    """What says most shines, what says least is dark; and a number that is read on a square, in
    white or black, is read on the dark one in the other.
    """
    light = heat_maps.luminance(heat_maps.scale_of(scale) / 255)
    dark = heat_maps.luminance(heat_maps.dark_scale(scale) / 255)
    order = np.argsort(light)
    assert (np.diff(dark[order]) <= 0.004).all()
    assert dark.min() < 0.02 and dark.max() > 0.7
    on_white_number, on_black_number = 1.05 / (dark + 0.05), (dark + 0.05) / 0.05
    number_was_white = 1.05 / (light + 0.05) > (light + 0.05) / 0.05
    assert (np.where(number_was_white, on_black_number, on_white_number) >= 4.5).all()


def test_in_the_dark_a_heat_map_does_not_glare(html):
    """It has its scale for the dark, with its numbers in the other colour; a picture is dimmed. The
    joints between squares have the page's colour.
    """
    drawn = {path.name: path.read_text() for path in (html / "_images").glob("*.dark.svg")}
    maps = 0
    for name, svg in drawn.items():
        on_paper = (html / "_images" / name.replace(".dark", "")).read_text()
        expected, is_map = heat_maps.in_the_dark(on_paper)
        maps += is_map
        assert IMAGE.findall(svg) == IMAGE.findall(expected), name
        assert ("filter:brightness(0.85)" in svg) == ("<image" in svg and not is_map), name
        if is_map:
            numbers = [len(WHITE_WORD.findall(one)) for one in (on_paper, svg)]
            assert len(BLACK_WORD.findall(svg)) == numbers[0], name
            assert numbers[1] == len(UNCOLOURED_WORD.findall(on_paper)), name
    assert maps > 15
    light = [name.replace(".dark", "") for name in drawn]
    joined = [name for name in light if WHITE_JOINT in (html / "_images" / name).read_text()]
    assert len(joined) > 8
    assert not [name for name, svg in drawn.items() if WHITE_JOINT in svg]


@pytest.mark.parametrize("signed", [False, True])
def test_a_map_of_signed_values_has_a_key(signed):
    plots.heatmap(torch.tensor([[-1.0, 0.0], [0.5, 1.0]]), signed=signed)
    with io.StringIO() as file:
        plt.savefig(file, format="svg")
        drawn = file.getvalue()
    plt.close()
    key = lxml.html.fromstring(f"<p>{heat_maps.key(drawn)}</p>")
    assert key.text_content() == ("below 00above 0" if signed else "")
    for theme, scale in (("by-day", heat_maps.scale_of), ("by-night", heat_maps.dark_scale)):
        colours = re.findall(rf"--{theme}:[^;]*?(#\w+).*?(#\w+)\)", heat_maps.key(drawn))
        ends = ["#" + bytes(scale(plots.DIVERGING)[at].tolist()).hex() for at in (0, 255)]
        assert colours == ([tuple(ends)] if signed else [])


def test_the_signed_maps_of_the_book_have_keys(html):
    """Chapter 4 has three, chapter 11 one for all its panels."""
    found = {page: len(read(html, page).find_class("plot-key")) for page in pages()}
    assert {page: n for page, n in found.items() if n} == {
        "notebooks/04_order.html": 3,
        "notebooks/11_vision_transformer.html": 1,
    }


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_key_has_the_colours_of_its_map(tab, address, theme):
    page = tab(color_scheme=theme)
    page.goto(address + "notebooks/04_order.html")
    painted = page.locator(".plot-key i").first.evaluate(
        "one => getComputedStyle(one).backgroundImage"
    )
    scale = heat_maps.scale_of if theme == "light" else heat_maps.dark_scale
    assert f"rgb({', '.join(map(str, scale(plots.DIVERGING)[255].tolist()))})" in painted


IMAGE = re.compile(r"data:image/png;base64,([^\"]+)")
BLACK_WORD = re.compile(r"<text\b[^>]*fill: #000000")
UNCOLOURED_WORD = re.compile(r"<text\b(?![^>]*fill:)[^>]*style=[^>]*>")
WHITE_WORD = re.compile(r"<text\b[^>]*fill: #ffffff")
WHITE_JOINT = f"stroke: #ffffff; stroke-width: {plots.JOINT:g}"
GROUNDS = {theme: colour("paper", theme) for theme in ("light", "dark")}
WORD = re.compile(r"<text\b[^>]*?fill: (#[0-9a-fA-F]{6})")


@pytest.mark.parametrize("theme", GROUNDS)
def test_every_word_of_a_plot_can_be_read(html, theme):
    """White and black stand on squares and bars of a heat map or a drawing: test_plots."""
    for path in (html / "_images").glob("*.dark.svg"):
        if theme == "light":
            path = path.with_name(path.name.replace(".dark", ""))
        colours = set(WORD.findall(path.read_text())) - {"#ffffff", "#000000"}
        faint = [word for word in colours if contrast(word, GROUNDS[theme]) < 4.5]
        assert not faint, (path.name, faint)
