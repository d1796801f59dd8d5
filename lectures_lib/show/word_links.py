"""A sentence's words in a row, and links between them: how chapters 16 and 16b draw trees."""

from collections.abc import Collection, Sequence

from matplotlib.axes import Axes


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
    names: Sequence[str] | None = None,
    below: bool = False,
) -> None:
    """Links over (or below) words that stand at 0, 1, 2, … in a row.

    Args:
        links: pairs of words, in either order.  colours: one for each.
        names: written on the links; None: none is.

    Raises:
        ValueError: where links and colours, or links and names, differ in number.
    """
    ordered = [(min(link), max(link)) for link in links]
    side = -1 if below else 1
    for link, colour, name in zip(ordered, colours, names or [""] * len(ordered), strict=True):
        (a, b), top = link, side * (0.3 + 0.6 * level(link, ordered))
        corners = [a + 0.08, a + 0.08, b - 0.08, b - 0.08]
        ax.plot(corners, [side * 0.3, top, top, side * 0.3], color=colour)
        if name:
            end = b - 0.2 - 0.055 * len(name)  # clear of the link above it
            ax.text(min((a + b) / 2, end), top + 0.1, name, ha="center", color=colour)


def level(link: tuple[int, int], links: Sequence[tuple[int, int]]) -> int:
    """How high a link is drawn, from 1 on: above all that it spans."""
    spanned = [
        other for other in links if other != link and link[0] <= other[0] and other[1] <= link[1]
    ]
    return 1 + max((level(other, links) for other in spanned), default=0)
