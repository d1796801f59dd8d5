"""What a convolution knows of a stroke that moves (chapter 11b), for a narrow page."""

from lectures_lib.show.drawings import convolution
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside
from lectures_lib.show.drawings.pixels import cut, halftone, rulers


def moved_digit() -> Canvas:
    """As wide, with smaller pixels."""
    drawing = beside(convolution.moved_digit(), 312)
    image = convolution.three()
    for name, shown, y in (("as it is", image, 56), ("moved", convolution.moved(image), 196)):
        digit = halftone(drawing, 12, y, shown, 11)
        rulers(drawing, digit, 4)
        drawing.text(digit.middle[0], y - 18, name, bold=True, size=14)
        drawing.arrow([(digit.right + 5, digit.middle[1]), (digit.right + 24, digit.middle[1])])
        for i, patch in enumerate(cut(shown, 4)):
            grid = halftone(drawing, 130 + 61 * i, y + 18, patch, 13)
            if y < 100:
                drawing.text(grid.middle[0], grid.y - 16, f"word {i + 1}", size=13)
    return drawing


def same_kernel() -> Canvas:
    """The patches below the convolution."""
    said = {"Beside each the same row": "Below, each time the same row"}
    drawing = beside(convolution.same_kernel(), 728, said)
    made = convolution.convolved()
    drawing.text(188, 26, "convolution", bold=True, size=16)
    drawing.text(188, 408, "patches of two", bold=True, size=16)
    rows = zip(made.items(), (50, 220), (430, 566), strict=True)
    for (name, values), upper, lower in rows:
        for y in (upper, lower):
            drawing.text(12, y + 16, name, anchor="start", bold=True, size=14)
        convolution.stroke_row(drawing, 90, upper, values, 40)
        convolution.patch_row(drawing, 90, lower, values, 40, made["as it is"]["patches"])
    drawing.line([(24, 386), (352, 386)], "neutral", 1)
    drawing.text(188, 706, "the same places hold other words", size=14)
    return drawing
