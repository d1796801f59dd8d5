"""After BERT (chapter 18), for a narrow page."""

from lectures_lib.show.drawings import families
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside


def two_readers() -> Canvas:
    """One mask below the other."""
    said = {"Left, the full mask": "Above, the full mask", "Right, the causal": "Below, the causal"}
    drawing = beside(families.two_readers(), 510, said)
    for y, causal in ((54, False), (306, True)):
        grid = families.reader_mask(drawing, 88, y, causal, (30, 28), True)
        families.answers(drawing, grid.right + 16, y + 14, 28)
        drawing.text(grid.right + 16, y - 20, "has to say", bold=True, anchor="start", size=14)
    return drawing


def three_families() -> Canvas:
    """One below the other, the words at the right."""
    drawing = beside(families.three_families(), 520)
    for k, family in enumerate(families.FAMILIES):
        y = 44 + 166 * k
        drawing.text(70, y - 20, family.name, bold=True, anchor="start")
        right, _ = families.family_mask(drawing, 70, y, family, 28)
        families.family_words(drawing, right + 18, y + 8, family, "start")
    return drawing
