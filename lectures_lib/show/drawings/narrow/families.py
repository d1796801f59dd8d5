"""After BERT (chapter 18), for a narrow page."""

from lectures_lib.show.drawings import families
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside


def two_readers() -> Canvas:
    """As wide, in narrow columns."""
    drawing = beside(families.two_readers(), 444)
    for y, is_causal in ((48, False), (260, True)):
        families.reader(drawing, 8, y, is_causal, (41, 58, 50, 63, 34, 38), 27, 12)
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
