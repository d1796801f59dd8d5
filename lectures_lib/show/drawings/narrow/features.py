"""Features from BERT (chapters 15 and 15b), for a narrow page."""

from lectures_lib.show.drawings import features
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside


def scalar_mix() -> Canvas:
    """The columns close together; the softmax's arrow runs below them."""
    drawing = beside(features.scalar_mix(), 386)
    places = features.MixPlaces(
        w=(66, 34), shares=(114, 52), states=(186, 31), mix=(296, 36), top=76
    )
    features.draw_mix(drawing, places)
    low = places.top + 7 * places.high + 40
    drawing.arrow([(83, low - 34), (83, low - 6), (140, low - 6), (140, low - 34)], "neutral", 2.5)
    drawing.text(112, low + 14, "softmax", bold=True)
    return drawing
