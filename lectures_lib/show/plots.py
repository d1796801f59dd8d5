"""The book's figures: one style, and the few kinds of picture that chapters draw again and again.

Colours are the palette's (`palette.json`), which colour-blind eyes tell apart; heat maps use
one sequential map whose lightness alone carries the number, so that they also survive a grey
printer. In a notebook a figure is an SVG on white. The site gives it a second one for its dark
theme, in which paper, ink and the colours below change and nothing else does (`in_the_dark`).
"""

import logging
import re
import sys
from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Float
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from numpy.typing import ArrayLike
from torch import Tensor

from lectures_lib.show.contrast import contrast
from lectures_lib.show.palette import PALETTE, colour

# Curves and bars by number, and what they are compared with, in grey. In a plot no colour stands for a
# query, a key or anything else that has one in the drawings.
BLUE, ORANGE, GREEN, RED, PURPLE = (colour(f"series_{n}", role="mark") for n in range(1, 6))
GREY, PALE = colour("neutral"), colour("neutral", role="soft")
QUIET = colour("quiet", role="mark")
FRAME = colour("frame")  # a grid, an edge, a solid of which another part is the point
CYCLE = (BLUE, ORANGE, GREEN, RED, PURPLE, GREY)
# The ground a figure is drawn on is a step beside white, so that it can be told from a white line in
# a heat map or a white number on it; ink is no black, as some of those numbers are.
PAPER, INK = "#fffffe", colour("ink")
GROUND = "#fffeff"  # where something is to be hidden: the card's colour, which paper has not
# A line may be paler than a word: words in these colours are written a shade darker, 4.5 : 1.
WRITTEN = {
    ORANGE: colour("series_2"),
    GREEN: colour("series_3"),
    PURPLE: colour("series_5"),
    QUIET: colour("quiet"),
}
JOINT = 1.2  # points between the squares of a heat map


def _scale(name: str, *stops: str) -> str:
    """Make a heat map's scale known to matplotlib under this name; its colours, the lowest value's
    first, change in lightness from one to the next.
    """
    colormaps.register(LinearSegmentedColormap.from_list(name, stops), force=True)
    return name


# For weights, from 0 up, in the hue of a share; and for signed values, around 0.
SHARE = (colour("share", role="mark"), colour("share"))
SEQUENTIAL = _scale("shares", "#f7fafe", "#cfe3fa", "#8fc1f4", *SHARE, "#083f70")
DIVERGING = _scale(  # both ends as dark as each other, so that in the dark theme both shine
    "signs", "#5746af", "#a99ee2", "#d8d2f4", "#fbfbfd", "#f9d6a2", "#e6953a", "#8a4600"
)
# What changes in the dark theme.
DARK = {PAPER: "none", GROUND: colour("paper", "dark")} | {
    colour(name, role=role): colour(name, "dark", role)
    for name in ("ink", "neutral", "quiet", "frame", *(f"series_{n}" for n in range(1, 6)))
    for role in ("line", "mark", "soft")
    if role in PALETTE[name]["light"]
}
WHITE, BLACK = "#ffffff", "#000000"  # numbers on the squares of a heat map
COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")
TEXT = re.compile(r"<text\b[^>]*>")


def style() -> None:
    """Set the book's matplotlib style: sizes that stay readable on a phone, no clutter, repeatable
    SVG, with letters that stay letters. A machine that lacks a font draws with the next one and
    says nothing.
    """
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    plt.rcParams.update(
        {
            **dict.fromkeys(("figure.facecolor", "axes.facecolor"), PAPER),
            **dict.fromkeys(("text.color", "axes.titlecolor"), INK),
            # what is measured is louder than what it is measured with
            **dict.fromkeys(("axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"), GREY),
            **dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), QUIET),
            "figure.figsize": (6.8, 3.3),
            "figure.dpi": 110,
            "savefig.bbox": "tight",
            "figure.constrained_layout.use": True,
            "font.size": 10.5,  # on a wide page as large as the letters of a drawing
            "axes.titlesize": 10.5,
            "axes.titlelocation": "left",
            "axes.titlepad": 8,
            **dict.fromkeys(("axes.spines.top", "axes.spines.right", "axes.spines.left"), False),
            "axes.axisbelow": True,
            "axes.grid": True,
            "axes.grid.axis": "y",
            "grid.linewidth": 0.7,
            "ytick.major.size": 0,
            "xtick.major.size": 3,
            **dict.fromkeys(("grid.color", "legend.edgecolor"), FRAME),
            "axes.prop_cycle": plt.cycler(color=CYCLE),
            "lines.linewidth": 2.2,
            "lines.solid_capstyle": "round",
            "legend.frameon": False,
            "legend.facecolor": GROUND,
            "image.cmap": SEQUENTIAL,
            "image.interpolation": "none",  # a square of a heat map has sharp edges
            "svg.hashsalt": "from-attention-to-bert",
            "svg.fonttype": "none",
        }
    )
    if "ipykernel" in sys.modules:
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("svg", metadata={"Date": None})


def in_the_dark(svg: str) -> str:
    """A figure of `style` with the colours of the dark theme."""
    return COLOUR.sub(lambda found: DARK.get(found[0].lower(), found[0]), svg)


def legible(svg: str) -> str:
    """A figure of `style` in which words of a line's colour can be read on white."""
    return TEXT.sub(
        lambda text: COLOUR.sub(lambda found: WRITTEN.get(found[0].lower(), found[0]), text[0]), svg
    )


def heatmap(
    values: Float[Tensor, "rows columns"],
    rows: Sequence[object] | None = None,
    columns: Sequence[object] | None = None,
    ax: Axes | None = None,
    title: str = "",
    numbers: str | None = None,
    signed: bool = False,
    limit: float | None = None,
) -> Axes:
    """A matrix as coloured squares, row 0 on top.

    Args:
        values: the matrix; a square whose value is nan stays empty.
        rows, columns: labels; for attention weights the queries and the keys.
        ax: where to draw; None: a new figure.
        title: above the matrix, left.
        numbers: a format such as ".2f" to write into each square; None: colours only.
        signed: colour around zero (two hues) instead of from zero up (one hue).
        limit: the value of the darkest colour; None: the largest there is.

    Raises:
        ValueError: when the labels are not as many as rows or columns.
    """
    array = np.asarray(values.detach().cpu(), dtype=float)
    for name, labels, size in (
        ("rows", rows, array.shape[0]),
        ("columns", columns, array.shape[1]),
    ):
        if labels is not None and len(labels) != size:
            raise ValueError(f"{len(labels)} labels for {size} {name}")
    ax = plt.subplots()[1] if ax is None else ax
    limit = float(np.nanmax(np.abs(array))) or 1.0 if limit is None else limit
    cmap = colormaps[DIVERGING if signed else SEQUENTIAL]
    image = ax.imshow(array, cmap=cmap, vmin=-limit if signed else 0.0, vmax=limit, aspect="equal")
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.tick_params(which="both", length=0)
    ax.grid(False)
    _label(ax, rows, columns)
    # white joints between the squares, as long as there is room for them
    if max(array.shape) <= 20:
        ax.set_xticks(np.arange(0.5, array.shape[1] - 1), minor=True)
        ax.set_yticks(np.arange(0.5, array.shape[0] - 1), minor=True)
        ax.grid(which="minor", axis="both", color="white", linewidth=JOINT)
    if numbers is not None:
        _write_numbers(ax, array, numbers, image)
    ax.set_title(title)
    return ax


def arcs(
    weights: Float[Tensor, "tokens"],
    tokens: Sequence[str],
    asks: int,
    ax: Axes | None = None,
    title: str = "",
    least: float = 0.02,
) -> Axes:
    """One row of attention weights as arcs over the sentence: the thicker, the more of its weight
    the word that asks gives to the other. Below the words, the weights.

    Args:
        weights: of the one word that asks, for every token.
        tokens: the sentence.
        asks: the place of the word that asks.
        ax: where to draw; None: a new figure.
        title: above the arcs, left.
        least: a smaller weight has no arc and no number.

    Raises:
        ValueError: when the weights are not as many as the tokens.
    """
    if len(weights) != len(tokens):
        raise ValueError(f"{len(weights)} weights for {len(tokens)} tokens")
    ax = plt.subplots()[1] if ax is None else ax
    shares = weights.detach().cpu().tolist()
    size = plt.rcParams["font.size"]
    widths = [TextPath((0, 0), token, size=size).get_extents().width for token in tokens]
    ends = np.cumsum([width + 0.7 * size for width in widths])
    places = (ends - np.array(widths) / 2).tolist()
    reach = max(abs(place - places[asks]) for place in places)
    most = max(range(len(tokens)), key=lambda j: shares[j])
    for j, (place, token, share) in enumerate(zip(places, tokens, shares, strict=True)):
        shown = {"ha": "center", "color": BLUE if j == asks else INK if j == most else GREY}
        ax.text(
            place, 0, token, va="top", fontweight="bold" if j in (asks, most) else None, **shown
        )
        if share < least:
            continue
        ax.text(place, -0.3, f"{share:.2f}", va="top", **shown)
        if j != asks:
            top = 0.15 + 1.2 * abs(place - places[asks]) / reach
            curve = [(places[asks], 0.05), (places[asks], top), (place, top), (place, 0.05)]
            style = {"edgecolor": BLUE, "linewidth": 0.8 + 6 * share, "alpha": 0.3 + 0.7 * share}
            codes = [Path.MOVETO, *[Path.CURVE4] * 3]
            ax.add_patch(PathPatch(Path(curve, codes), fill=False, capstyle="round", **style))
    ax.set(xlim=(0, ends[-1] + 0.7 * size), ylim=(-0.55, 1.15))
    ax.set_axis_off()
    ax.set_title(title)
    return ax


def small_multiples(
    n: int, columns: int = 4, size: tuple[float, float] = (1.7, 1.8)
) -> tuple[Figure, list[Axes]]:
    """A figure with n equal panels in reading order; unused places of the last row stay empty."""
    rows = -(-n // columns)
    columns = min(n, columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(size[0] * columns, size[1] * rows), squeeze=False
    )
    panels = list(axes.flat)
    for ax in panels[n:]:
        ax.set_axis_off()
    return figure, panels[:n]


def curves(
    x: ArrayLike,
    ys: dict[str, ArrayLike],
    ax: Axes | None = None,
    xlabel: str = "",
    ylabel: str = "",
    direct_labels: bool = True,
) -> Axes:
    """Named lines over x, each labelled at its right end (or in a legend), so that no colour must
    be looked up.
    """
    ax = plt.subplots()[1] if ax is None else ax
    x = np.asarray(x, dtype=float)
    for name, y in ys.items():
        ax.plot(x, np.asarray(y, dtype=float), label=name)
    if direct_labels:
        name_lines(ax)
    else:
        ax.legend()
    ax.set(xlabel=xlabel, ylabel=ylabel)
    return ax


def name_lines(ax: Axes) -> None:
    """Write the label of each line at its right end, in its colour; names that would lie on one
    another are moved apart. Set the axis's limits before.
    """
    lines = [line for line in ax.lines if not line.get_label().startswith("_")]
    ends = [(float(line.get_xdata()[-1]), float(line.get_ydata()[-1])) for line in lines]
    points = 72 / ax.figure.dpi
    heights = [points * float(ax.transData.transform(end)[1]) for end in ends]
    for line, end, own, height in zip(lines, ends, heights, _apart(heights), strict=True):
        ax.annotate(
            line.get_label(),
            end,
            xytext=(6, height - own),
            textcoords="offset points",
            va="center",
            color=WRITTEN.get(line.get_color(), line.get_color()),
        )


def _apart(heights: list[float], room: float = 13.0) -> list[float]:
    """The heights, in points, moved as little as leaves `room` between neighbours."""
    order = np.argsort(heights)
    moved = np.array(heights, dtype=float)[order]
    for _ in range(100):
        lacking = np.clip(room - np.diff(moved), 0, None)
        moved[1:] += lacking / 2
        moved[:-1] -= lacking / 2
    found = np.empty_like(moved)
    found[order] = moved
    return found.tolist()


def reference(ax: Axes, height: float, name: str = "", side: str = "left") -> None:
    """A thin dashed line across the axes: what the rest is compared with, and its name above it at
    the "left" or the "right".
    """
    ax.axhline(height, color=QUIET, linewidth=1, linestyle=(0, (3, 3)), zorder=1)
    if name:
        ax.annotate(
            name,
            (float(side == "right"), height),
            xycoords=ax.get_yaxis_transform(),
            xytext=(-4 if side == "right" else 4, 3),
            textcoords="offset points",
            ha=side,
            color=GREY,
            fontsize=9.5,
        )


def _label(ax: Axes, rows: Sequence[object] | None, columns: Sequence[object] | None) -> None:
    for put, labels in ((ax.set_yticks, rows), (ax.set_xticks, columns)):
        if labels is None:
            put([])  # no labels given here: numbers may be set later, and are written then
        else:
            put(range(len(labels)), [str(label) for label in labels])
    if columns is not None and max(len(str(c)) for c in columns) > 5:
        ax.tick_params(axis="x", rotation=60)
        for label in ax.get_xticklabels():
            label.set_ha("right")
            label.set_rotation_mode("anchor")
            label.set_va("center")  # its end, not its foot, under the square


def _write_numbers(ax: Axes, array: np.ndarray, spec: str, image: object) -> None:
    for (i, j), value in np.ndenumerate(array):
        if np.isnan(value):
            continue
        square = to_hex(image.cmap(image.norm(value)))
        dark = contrast(WHITE, square) > contrast(BLACK, square)
        ax.text(
            j,
            i,
            f"{value:{spec}}",
            ha="center",
            va="center",
            fontsize=9,
            color="white" if dark else "black",
        )
