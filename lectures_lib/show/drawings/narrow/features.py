"""Features from BERT (chapters 15 and 15b), for a narrow page."""

from lectures_lib.show.drawings import features
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside


def scalar_mix() -> Canvas:
    """The columns close together; the softmax's arrow runs below them."""
    drawing = beside(features.scalar_mix(), 374)
    places = features.MixPlaces(
        w=(66, 30),
        shares=(104, 50),
        states=(178, 30),
        mix=(282, 43),
        top=64,
        vectors=("vectors",),
    )
    features.draw_mix(drawing, places)
    low = places.top + 7 * places.high + 40
    drawing.arrow([(81, low - 34), (81, low - 6), (129, low - 6), (129, low - 34)], "neutral", 2.5)
    drawing.text(104, low + 14, "softmax", bold=True)
    return drawing


def word_states() -> Canvas:
    """The grid above, the table and the classifier below."""
    said = {
        "Left, a grid": "Above, a grid",
        "a table at the right": "a table below",
        "leads up to": "leads down to",
    }
    drawing = beside(features.word_states(), 640, said)
    grid = features.draw_states(drawing, 78, 66, (38, 23))
    table = features.draw_features(drawing, 190, 410, (146, 25), labels_right=False)
    y, first = grid.centre(features.LIGHT, 0)[1], table.centre(0, 0)[1]
    drawing.arrow(
        [(grid.right + 3, y), (361, y), (361, first), (table.right + 4, first)], "ink", 2.5
    )
    drawing.arrow([(table.middle[0], table.bottom + 26), (table.middle[0], 580)], "neutral", 2.5)
    drawing.arrow([(142, table.bottom + 26), (142, 580)], "neutral", 2.5)
    drawing.box(112, 584, 224, 40, "logistic regression")
    return drawing


def nearest_by_position() -> Canvas:
    """The three squares below each other."""
    said = {"Three squares side by side": "Three squares below each other"}
    drawing = beside(features.nearest_by_position(), 660, said)
    for i, panel in enumerate(features.PANELS):
        features.draw_panel(drawing, 104, 76 + 218 * i, (118, 46), panel, labelled=True)
    return drawing
