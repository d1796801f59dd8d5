"""The sheet of a narrow drawing."""

from collections.abc import Mapping

from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Number

WIDTH = 376  # pixels: what a figure has on a telephone that is 390 wide
LEAST = 9.0  # pixels: how far the smallest text is shrunk on a still narrower one


def beside(wide: Canvas, height: Number, said: Mapping[str, str] | None = None) -> Canvas:
    """An empty sheet for the narrow layout of a drawing. Its title and caption are the wide one's,
    its description too, but for the phrases that say where something stands: those in `said` are
    replaced.

    Raises:
        ValueError: for a phrase that the description of the wide one does not hold.
    """
    description = wide.description
    for phrase, instead in (said or {}).items():
        if phrase not in description:
            raise ValueError(f"the description of {wide.name} does not say {phrase!r}")
        description = description.replace(phrase, instead)
    return Canvas(
        f"{wide.name}_narrow", WIDTH, height, wide.title, description, wide.caption, least=LEAST
    )
