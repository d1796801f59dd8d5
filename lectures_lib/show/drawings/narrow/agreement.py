"""Which noun a verb belongs to (chapter 10b), for a narrow page."""

from lectures_lib.show.drawings import agreement
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside


def agreement_arc() -> Canvas:
    """As wide, in smaller letters."""
    drawing = beside(agreement.agreement_arc(), 168)
    places = agreement.sentence(drawing, 6, 92, 13, 3, ["is or", "are?"])
    agreement.over(drawing, places, 92, 46, 14)
    return drawing


def one_noun_at_a_time() -> Canvas:
    """As wide, in smaller cells; the rows' names take two lines."""
    drawing = beside(agreement.one_noun_at_a_time(), 296)
    (x, y), cell = (68, 48), (60, 36)
    agreement.interventions(drawing, (x, y), cell, 22, 12, 36)
    changes = [["change", name] for name in ("subject", "noun 1", "noun 2", "noun 3")]
    for i, label in enumerate([["as it", "was"], *changes]):
        middle = agreement.row(y, i, cell) + 18
        drawing.lines(x - 8, middle, label, 14, anchor="end", size=12)
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
