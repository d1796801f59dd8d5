"""A figure of one panel is pressed together for a telephone: the same words, none on another or on a
point, and what stood at one place stands there still.
"""

import io
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
import torch
from matplotlib.transforms import Affine2D

from lectures_lib.show import plots

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book" / "_ext"))
import plots_in_both_themes as themes  # noqa: E402
import squeezed_plots  # noqa: E402
import stacked_plots  # noqa: E402


def stored() -> dict[str, str]:
    """Every stored figure that a telephone is too narrow for and that has no panels to move, by
    notebook and cell.
    """
    found = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for i, cell in enumerate(nbformat.read(path, as_version=4).cells):
            for output in cell.get("outputs", []):
                svg = output.get("data", {}).get("image/svg+xml", "")
                wide = plots.PAPER.lower() in svg and themes.least_width(svg) > themes.PHONE
                if wide and stacked_plots.stacked(svg, themes.least_width, themes.PHONE) is None:
                    found[f"{path.stem}-{i}"] = svg
    return found


STORED = stored()


def pressed(svg: str) -> str | None:
    """The layout for a telephone."""
    return squeezed_plots.squeezed(svg, themes.least_width, themes.PHONE)


def drawn(draw, size=(6.4, 3.4)) -> str:
    """A figure as a notebook stores it, with what `draw` puts on its axes."""
    plots.style()
    figure, ax = plt.subplots(figsize=size)
    draw(ax)
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    plt.close(figure)
    return file.getvalue()


def words(svg: str) -> list[tuple[str, squeezed_plots.Word]]:
    """The words of a figure and where they stand."""
    root = ET.fromstring(svg)
    said = list(root.iter(f"{squeezed_plots.SVG}text"))
    places = [list(squeezed_plots.written(text, Affine2D())) for text in said]
    assert [len(place) for place in places] == [1] * len(said), "a formula has several"
    placed = squeezed_plots.written(root, Affine2D())
    return list(zip(("".join(text.itertext()) for text in said), placed, strict=True))


def middle(word: squeezed_plots.Word) -> float:
    """Where a word has its middle, from the left."""
    return (word.box.x0 + word.box.x1) / 2


@pytest.mark.parametrize("name", STORED)
def test_every_stored_figure_is_seen_whole_on_a_telephone(name):
    layout = pressed(STORED[name])
    assert layout is not None
    assert 0.97 * themes.PHONE < themes.least_width(layout) <= themes.PHONE
    texts = [re.findall(r">\s*([^<>\s][^<>]*?)\s*</t", svg) for svg in (STORED[name], layout)]
    assert texts[0] == texts[1]
    root = ET.fromstring(layout)
    width = float(root.get("viewBox").split()[2])
    for word in squeezed_plots.written(root, Affine2D()):
        assert -1 < word.box.x0 and word.box.x1 < width
    for one in (themes.light(layout), themes.dark(layout)):
        ET.fromstring(one)


def test_bars_stay_above_their_names_and_ticks():
    def draw(ax):
        ax.bar(["one", "two\nlines", "three"], [1, 2, 3])
        ax.tick_params(labelsize=9)

    layout = pressed(drawn(draw))
    root = ET.fromstring(layout)
    ticks = [float(use.get("x")) for use in root.iter(f"{squeezed_plots.SVG}use")][:3]
    bars = re.findall(r'd="M ([\d.]+) [\d.]+\s+L ([\d.]+) [^"]*z\s*" clip-path', layout)
    said = dict(words(layout))
    for tick, bar, name in zip(ticks, bars, ("one", "lines", "three"), strict=True):
        assert abs(sum(map(float, bar)) / 2 - tick) < 0.1
        assert abs(middle(said[name]) - tick) < 1.5


def test_areas_curves_points_and_heat_maps_go_with_their_axis():
    def draw(ax):
        x = np.array([0.0, 1.0, 2.0])
        ax.fill_between(x, x, x + 1)
        ax.plot(x, x, marker="o")
        ax.scatter([2.0], [2.5])
        ax.set_xticks(x, ["a", "b", "c"], fontsize=9)
        ax.set_xlim(0, 2)

    svg = drawn(draw)
    layout = pressed(svg)
    (frame,) = [piece.frame for piece in squeezed_plots.pieces_of(layout)]
    (old,) = [piece.frame for piece in squeezed_plots.pieces_of(svg)]
    assert abs(frame.x0 - old.x0) < 0.1 and frame.width < 0.95 * old.width
    root = ET.fromstring(layout)
    area = re.search(r'"FillBetween\w+">\s*<path d="([^"]*)"', layout)[1]
    xs = [float(x) for x in squeezed_plots.NUMBER.findall(area)[::2]]
    assert abs(min(xs) - frame.x0) < 0.1 and abs(max(xs) - frame.x1) < 0.1
    assert max(x for x, _ in squeezed_plots.points(root)) == pytest.approx(frame.x1, abs=0.1)

    def squares(ax):
        plots.heatmap(torch.rand(2, 9), [1, 2], list("abcdefghi"), ax=ax, numbers=".1f")

    svg = drawn(squares, (7.4, 2))
    share = re.search(r'<image[^>]*transform="matrix\(([\d.]+) 0 0 1 ([\d.]+) 0\) ', pressed(svg))
    (old,) = [piece.frame for piece in squeezed_plots.pieces_of(svg)]
    (frame,) = [piece.frame for piece in squeezed_plots.pieces_of(pressed(svg))]
    scale, begin = map(float, share.groups())
    assert scale * old.x0 + begin == pytest.approx(frame.x0, abs=0.1)
    assert scale * old.x1 + begin == pytest.approx(frame.x1, abs=0.1)


def test_a_legend_keeps_its_side():
    for place, x in (("upper left", 0.0), ("upper center", 0.5), ("upper right", 1.0)):

        def draw(ax, place=place):
            ax.plot([0, 1], label="a line")
            ax.legend(loc=place, fontsize=9)

        layout = pressed(drawn(draw))
        (frame,) = [piece.frame for piece in squeezed_plots.pieces_of(layout)]
        (word,) = [word for name, word in words(layout) if name == "a line"]
        assert abs(middle(word) - frame.x0 - (0.12 + 0.8 * x) * frame.width) < 40


@pytest.mark.parametrize("kind", ["words", "points", "edge", "picture", "hexagons", "fits"])
def test_what_would_become_unreadable_stays_as_it_is(kind):
    def draw(ax):
        ax.set(xlim=(0, 1), ylim=(0, 1))
        ax.tick_params(labelsize=9)
        if kind == "words":
            ax.text(0.0, 0.5, "m" * 24, fontsize=9)
            ax.text(1.0, 0.5, "m" * 24, fontsize=9, ha="right")
        if kind == "points":
            ax.text(0.0, 0.5, "m" * 24, fontsize=9)
            ax.plot(0.54, 0.51, "o")
        if kind == "edge":
            ax.text(0.6, 0.5, "m" * 19, fontsize=9)
        if kind == "hexagons":
            ax.hexbin([0, 0.5, 1], [0, 0.5, 1], gridsize=4)
        if kind == "picture":
            ax.imshow(np.random.default_rng(0).random((4, 8)), extent=(0, 1, 0, 1), aspect="auto")

    svg = drawn(draw, (5, 3) if kind == "fits" else (6.4, 3.4))
    if kind == "fits":
        assert themes.narrow(svg) is None
    else:
        assert themes.least_width(svg) > themes.PHONE
        assert pressed(svg) is None
        assert pressed(drawn(lambda ax: ax.tick_params(labelsize=9))) is not None


def test_words_that_slant_alike_may_stand_close():
    def draw(ax):
        ax.set_xticks(range(10), ["a long name"] * 10, rotation=60, fontsize=9)

    assert pressed(drawn(draw)) is not None
