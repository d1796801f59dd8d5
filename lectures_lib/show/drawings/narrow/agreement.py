"""Which noun a verb belongs to (chapter 10b), for a narrow page."""

from lectures_lib.show.drawings import agreement
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside


def agreement_arc() -> Canvas:
    """As wide, in smaller letters."""
    drawing = beside(agreement.agreement_arc(), 168)
    places = agreement.sentence(drawing, 8, 92, 13, 4, "?")
    agreement.over(drawing, places, 92, 46, 14)
    return drawing


def one_noun_at_a_time() -> Canvas:
    """As wide, without names of the rows."""
    drawing = beside(agreement.one_noun_at_a_time(), 296)
    agreement.interventions(drawing, (8, 48), (69, 36), 24, 13)
    return drawing


def three_masks() -> Canvas:
    """The grids below each other."""
    drawing = beside(agreement.three_masks(), 536)
    for i, (model, name, sees) in enumerate(agreement.MODELS):
        grid = agreement.masked(drawing, 78, 46 + 180 * i, model, (26, 26))
        drawing.text(78, grid.y - 20, " ".join(name), bold=True, anchor="start")
        lines = sees.replace(", ", ",|").split("|")
        drawing.lines(grid.right + 14, grid.middle[1], lines, 18, size=14, anchor="start")
    return drawing
