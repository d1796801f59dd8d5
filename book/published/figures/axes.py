"""What the pictures share: colours, a line for each name, dots, and a legend above."""

from matplotlib.axes import Axes

from lectures_lib.show.plots import GREY

SIZE = 5.0  # inches wide, which is about the width of a phone: letters keep their size there


def dots(ax: Axes, xs: list[float | None], ys: list[float], marker: str = "o", **style) -> None:
    """Dots where there is a value."""
    pairs = [(x, y) for x, y in zip(xs, ys, strict=True) if x is not None]
    ax.plot(*zip(*pairs, strict=True), linestyle="", marker=marker, **style)


def names_on(ax: Axes, names: list[str]) -> list[float]:
    """One line for each name, the first on top, with a thin rule to lead the eye; the heights of
    the lines.
    """
    ys = [float(i) for i in range(len(names))]
    ax.set(yticks=ys, yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    ax.grid(axis="y", color=GREY, linewidth=0.4, alpha=0.5)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    return ys


def legend_above(ax: Axes, columns: int) -> None:
    """The names of the colours above the axes, where they hide nothing."""
    ax.legend(
        loc="lower center",
        bbox_to_anchor=(0.35, 1.0),
        ncols=columns,
        fontsize=9,
        handletextpad=0.4,
        columnspacing=1.2,
    )
