"""The book's matplotlib style: letters stay letters, the same figure twice is the same file, and
the dark theme changes paper, ink and the book's colours alone.
"""

import io
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import pytest
import torch
from matplotlib.colors import to_hex

from lectures_lib.show import plots
from lectures_lib.show.contrast import contrast
from lectures_lib.show.palette import colour

CHAPTERS = Path(__file__).parents[2] / "notebooks"
DAY, NIGHT = colour("paper"), colour("paper", "dark")


def drawn() -> str:
    """A figure with a curve, a heat map and a number on it, as a notebook stores it."""
    plots.style()
    figure, (left, right) = plt.subplots(1, 2)
    plots.curves([0, 1, 2], {"a curve": [1, 2, 4]}, ax=left, xlabel="steps")
    left.set_title("A title")
    plots.heatmap(torch.tensor([[0.0, 1.0], [0.5, 0.25]]), numbers=".2f", ax=right)
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    plt.close(figure)
    return file.getvalue()


def test_the_same_figure_is_the_same_file():
    assert drawn() == drawn()


def test_letters_stay_letters():
    assert ">a curve</text>" in drawn()
    assert ">steps</text>" in drawn()


def test_squares_have_sharp_edges():
    assert "image-rendering:pixelated" in drawn()


def test_in_the_dark_paper_and_ink_change_and_a_heat_map_does_not():
    light = drawn()
    dark = plots.in_the_dark(light)
    for name in (plots.PAPER, plots.INK, plots.BLUE):
        assert name in light and name not in dark
    # the numbers on the squares, and the squares
    assert dark.count("fill: #ffffff") == light.count("fill: #ffffff") > 0
    image = light.index("data:image/png")
    assert light[image : image + 200] in dark


@pytest.mark.parametrize("name", ["encoder", "decoder"])
def test_a_part_of_a_model_has_its_own_colours_in_a_plot_too(name):
    for role in ("line", "soft"):
        assert plots.DARK[colour(name, role=role)] == colour(name, "dark", role)
    chapter = nbformat.read(CHAPTERS / "01_bottleneck.ipynb", 4)
    lead = next(
        output.data["image/svg+xml"]
        for cell in chapter.cells
        for output in cell.get("outputs", [])
        if "image/svg+xml" in output.get("data", {})
    )
    assert f"fill: {colour(name, role='soft')}" in lead


@pytest.mark.parametrize("light", [plots.INK, plots.BLUE, plots.GREEN, plots.RED, plots.GREY])
def test_text_can_be_read_in_the_dark(light):
    assert contrast(plots.DARK[light], NIGHT) >= 4.5


@pytest.mark.parametrize("name", [*plots.CYCLE, plots.QUIET])
def test_words_in_a_lines_colour_can_be_read_in_both_themes(name):
    word = f'<path style="stroke: {name}"/><text style="fill: {name}">a</text>'
    line, written = plots.COLOUR.findall(plots.legible(word))
    assert line == name
    assert contrast(written, DAY) >= 4.5
    assert contrast(plots.COLOUR.findall(plots.in_the_dark(plots.legible(word)))[1], NIGHT) >= 4.5


def test_a_curves_own_label_can_be_read():
    ax = plots.curves([0, 1], {name: [0, 1] for name in "abcdef"})
    for label in ax.texts:
        assert contrast(label.get_color(), DAY) >= 4.5


def test_names_at_the_ends_of_lines_do_not_lie_on_one_another():
    plots.style()
    ends = {"one": 1.0, "as high": 1.0, "nearly": 0.99, "far below": 0.2}
    ax = plots.curves([0, 1], {name: [0, end] for name, end in ends.items()})
    ax.figure.canvas.draw()
    at = {text.get_text(): text.get_window_extent() for text in ax.texts}
    assert list(at) == list(ends)
    boxes = sorted(at.values(), key=lambda box: box.y0)
    assert all(below.y1 <= above.y0 + 1 for below, above in pairwise(boxes))
    assert at["far below"] is boxes[0] and at["nearly"] is boxes[1], "their order stays"
    alone = plots.curves([0, 1], {"alone": [0, 1]})
    assert alone.texts[0].get_position()[1] == pytest.approx(0), "nothing to make room for"
    plt.close("all")


def test_lines_without_a_name_get_none():
    ax = plt.subplots()[1]
    ax.plot([0, 1], [0, 1])
    plots.reference(ax, 0.5, "by chance")
    plots.name_lines(ax)
    assert [text.get_text() for text in ax.texts] == ["by chance"]
    plt.close()


@pytest.mark.parametrize("scale", [plots.SEQUENTIAL, plots.DIVERGING])
def test_a_scales_lightness_alone_carries_the_number(scale):
    colours = plots.colormaps[scale](range(256))
    on_paper = [contrast(to_hex(colour), DAY) for colour in colours]
    for half in (on_paper,) if scale == plots.SEQUENTIAL else (on_paper[127::-1], on_paper[128:]):
        assert all(a <= b + 0.02 for a, b in pairwise(half))
        assert half[0] < 1.1 and half[-1] > 4.5


@pytest.mark.parametrize("name", [*plots.CYCLE, plots.QUIET])
def test_lines_can_be_seen_in_both_themes(name):
    assert contrast(name, DAY) >= 3
    assert contrast(plots.DARK[name], NIGHT) >= 3


@pytest.mark.parametrize("signed", [False, True])
def test_a_number_can_be_read_on_its_square(signed):
    values = torch.linspace(-1.0 if signed else 0.0, 1.0, 41).view(1, -1)
    ax = plots.heatmap(values, numbers=".2f", signed=signed, limit=1.0)
    image = ax.images[0]
    for text, value in zip(ax.texts, values[0].tolist(), strict=True):
        square = to_hex(image.cmap(image.norm(value)))
        assert contrast(to_hex(text.get_color()), square) >= 4.5


def test_what_hides_has_the_cards_colour():
    assert plots.DARK[plots.GROUND] == NIGHT


def test_numbers_set_after_a_heatmap_are_written():
    ax = plots.heatmap(torch.eye(4)).set(xticks=[0, 3]) and plots.plt.gca()
    ax.figure.canvas.draw()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "3"]


def test_a_font_that_is_missing_is_no_warning(caplog):
    """One day a machine's list of fonts lacked those of mathtext, and every figure with a power of
    ten wrote eighteen lines in red.
    """
    plots.style()
    with plt.rc_context({"font.family": "No Such Font"}):
        plt.figure().text(0, 0, "a word")
        plt.savefig(io.BytesIO(), format="svg")
    plt.close()
    assert not caplog.records
