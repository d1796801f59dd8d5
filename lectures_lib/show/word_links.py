"""A sentence's words in a row, and links between them: how chapter 16c draws the trees that it has
found. (The treebank's own are drawings: `drawings/syntax.py`.)
"""

from collections.abc import Collection, Sequence

from matplotlib.axes import Axes

from lectures_lib.show.drawings.syntax import level


def write_words(ax: Axes, words: Sequence[str], top: float, bottom: float) -> None:
    """The words in a row at height 0, word i at x = i; the picture's edges above and below."""
    for x, word in enumerate(words):
        ax.text(x, 0, word, ha="center", va="center")
    ax.set(xlim=(-0.6, len(words) - 0.4), ylim=(bottom, top))
    ax.set_axis_off()


def draw_links(
    ax: Axes,
    links: Collection[tuple[int, int]],
    colours: Sequence[str],
    below: bool = False,
) -> None:
    """Links over (or below) words that stand at 0, 1, 2, … in a row.

    Args:
        links: pairs of words, in either order.  colours: one for each.

    Raises:
        ValueError: where links and colours differ in number.
    """
    ordered = [(min(link), max(link)) for link in links]
    side = -1 if below else 1
    for link, colour in zip(ordered, colours, strict=True):
        (a, b), top = link, side * (0.3 + 0.6 * level(link, ordered))
        corners = [a + 0.08, a + 0.08, b - 0.08, b - 0.08]
        ax.plot(corners, [side * 0.3, top, top, side * 0.3], color=colour)
