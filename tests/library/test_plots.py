"""The book's matplotlib style: letters stay letters, the same figure twice is the same file, and
the dark theme changes paper, ink and the book's colours alone.
"""

import io
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
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


TOKENS, LOOK = ("a", "long", "sentence", "here"), torch.tensor([0.01, 0.66, 0.3, 0.03])


def test_arcs_are_as_thick_as_their_shares_and_end_at_their_words():
    ax = plots.arcs(LOOK, TOKENS, asks=3, title="head 0")
    words = {text.get_text(): text for text in ax.texts}
    thick = [arc.get_linewidth() for arc in ax.patches]
    assert len(thick) == 2, "none for 0.01, none to itself"
    assert thick == sorted(thick, reverse=True)
    for arc, word in zip(ax.patches, TOKENS[1:3], strict=True):
        begin, *_, end = arc.get_path().vertices[:, 0]
        assert (begin, end) == (words["here"].get_position()[0], words[word].get_position()[0])
    assert set(words) == {*TOKENS, "0.66", "0.30", "0.03"} and ax.get_title("left") == "head 0"
    heavy = [word for word in TOKENS if words[word].get_fontweight() == "bold"]
    assert heavy == ["long", "here"], "where most goes, and who asks"
    plt.close(ax.figure)


def test_words_under_arcs_stand_apart():
    ax = plots.arcs(LOOK, TOKENS, asks=0)
    ax.figure.set_size_inches(4, 2)
    boxes = [
        text.get_window_extent(ax.figure.canvas.get_renderer())
        for text in ax.texts
        if text.get_text() in TOKENS
    ]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    plt.close(ax.figure)


def test_arcs_for_another_sentence_are_refused():
    with pytest.raises(ValueError, match="4 weights for 3 tokens"):
        plots.arcs(LOOK, TOKENS[:3], asks=0)


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
