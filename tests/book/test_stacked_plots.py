"""A figure's second layout, for telephones: the same panels and words, below each other, none on top
of another, all on the sheet.
"""

import io
import re
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from itertools import combinations
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import pytest
from matplotlib.transforms import Affine2D, Bbox

from lectures_lib.show import plots

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book" / "_ext"))
import plots_in_both_themes as themes  # noqa: E402
import stacked_plots  # noqa: E402

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MOVED = re.compile(r'^  <g transform="translate\([^)]*\)">\n.*?^  </g>\n  </g>\n', re.M | re.S)
WORD = re.compile(r"<t(?:ext|span)\b[^>]*>\s*([^<]*?)\s*</t")


def stored() -> dict[str, str]:
    """Every stored figure that a telephone is too narrow for, by notebook and cell."""
    found = {}
    for path in NOTEBOOKS:
        for i, cell in enumerate(nbformat.read(path, as_version=4).cells):
            for output in cell.get("outputs", []):
                svg = output.get("data", {}).get("image/svg+xml", "")
                if plots.PAPER.lower() in svg and themes.least_width(svg) > themes.PHONE:
                    found[f"{path.stem}-{i}"] = svg
    return found


STORED = stored()
LAYOUTS = {
    name: stacked_plots.stacked(svg, themes.least_width, themes.PHONE)
    for name, svg in STORED.items()
}


def drawn(draw, shape=(1, 2), size=(8, 3), **options) -> str:
    """A figure as a notebook stores it, wider than a telephone, with what `draw` puts on its axes."""
    plots.style()
    figure, axes = plt.subplots(*shape, figsize=size, squeeze=False, **options)
    draw(*axes.flat)
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    plt.close(figure)
    return file.getvalue()


def places(layout: str) -> list[Bbox]:
    """What each panel, title and legend of a layout takes."""
    roots = [
        ET.fromstring(f"<g {stacked_plots.NAMESPACES}>{part}</g>") for part in MOVED.findall(layout)
    ]
    return [Bbox.union(list(stacked_plots.boxes(root, Affine2D()))) for root in roots]


@pytest.mark.parametrize("name", [name for name, layout in LAYOUTS.items() if layout])
def test_a_stored_figure_keeps_its_words_and_no_panel_covers_another(name):
    layout = LAYOUTS[name]
    ET.fromstring(layout)
    assert not Counter(WORD.findall(STORED[name])) - Counter(WORD.findall(layout))
    assert themes.least_width(layout) <= themes.PHONE
    width, height = map(float, themes.POINTS.search(layout).groups())
    taken = places(layout)
    assert len(taken) == len(stacked_plots.pieces_of(STORED[name]))
    for box in taken:
        assert -1 < box.x0 and box.x1 < width + 1 and -1 < box.y0 and box.y1 < height + 1
    slack = stacked_plots.OVERLAP + 0.1
    for one, other in combinations(taken, 2):
        both = Bbox.intersection(one, other)
        assert both is None or min(both.width, both.height) <= slack


def test_most_figures_of_several_panels_have_such_a_layout():
    several = [name for name, svg in STORED.items() if 'id="axes_2"' in svg]
    without = [name for name in several if LAYOUTS[name] is None]
    assert len(several) > 15
    assert len(without) <= 1, without


def test_panels_that_share_their_numbers_have_them_in_each_row():
    def draw(left, right):
        for axes in (left, right):
            axes.plot([0, 1], [3, 7])
        left.set(ylabel="height", yticks=[3, 5, 7])

    layout = themes.narrow(drawn(draw, sharey=True))
    assert Counter(WORD.findall(layout))["height"] == 2
    assert Counter(WORD.findall(layout))["5"] == 2
    first, second = places(layout)
    assert second.y0 >= first.y1


def test_a_panel_without_ticks_may_have_any_scale_and_gets_no_numbers():
    def draw(left, right):
        left.plot([0, 1], [3, 7])
        left.set_yticks([3, 5, 7])
        right.plot([0, 1], [1000, 2000])
        right.set_yticks([])

    assert Counter(WORD.findall(themes.narrow(drawn(draw))))["5"] == 1


def test_a_colour_bar_stays_with_its_map():
    def draw(left, right):
        image = left.imshow([[0, 1]])
        right.imshow([[1, 0]])
        left.figure.colorbar(image, ax=right, shrink=0.6, label="share")

    layout = themes.narrow(drawn(draw, sharey=True))
    first, second, bar = places(layout)
    assert second.y0 >= first.y1
    assert second.x1 <= bar.x0 + stacked_plots.OVERLAP
    assert bar.y0 < second.y1
    assert second.y0 < bar.y1


def test_panels_in_a_grid_that_all_have_titles_are_read_line_by_line():
    def draw(*panels):
        for number, axes in enumerate(panels):
            axes.set_title(f"panel {number}")

    said = WORD.findall(themes.narrow(drawn(draw, (2, 2), (8, 5))))
    assert [word for word in said if word.startswith("panel")] == [f"panel {i}" for i in range(4)]


def test_lower_panels_without_titles_stay_below_those_that_have_them():
    def draw(*panels):
        for number, axes in enumerate(panels[:3]):
            axes.set_title(f"state {number}")

    layout = themes.narrow(drawn(draw, (2, 3), (9, 5)))
    upper, lower, *_ = places(layout)
    assert lower.x0 < upper.x1
    assert upper.y1 <= lower.y0 + 1
    said = WORD.findall(layout)
    assert said.index("state 1") < said.index("state 2")


def test_what_fits_or_has_one_panel_has_one_layout():
    fits = drawn(lambda *_: None, size=(5, 3))
    assert themes.least_width(fits) <= themes.PHONE
    assert themes.narrow(fits) is None
    alone = drawn(lambda *_: None, (1, 1))
    assert themes.least_width(alone) > themes.PHONE
    assert stacked_plots.stacked(alone, themes.least_width, themes.PHONE) is None
