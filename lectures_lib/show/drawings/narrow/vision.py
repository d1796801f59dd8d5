"""Images (chapters 11 and 11b), for a narrow page."""

from lectures_lib.show.drawings import vision
from lectures_lib.show.drawings.attention import blank, numbers
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside


def image_to_class() -> Canvas:
    """Seventeen narrower columns; the framed patch's numbers stand in two rows."""
    drawing = beside(vision.image_to_class(), 600)
    image = vision.pixels(vision.ZERO)
    patches = vision.cut(image, 2)
    digit = vision.halftone(drawing, 16, 20, image, 13)
    vision.rulers(drawing, digit, 2)
    drawing.frame(digit.x + 26 * vision.FOLLOWED, digit.y, 26, 26, thick=3)
    four = numbers(patches[vision.FOLLOWED], ".2f")
    drawing.arrow([(digit.right + 6, 52), (152, 52)])
    zoom = drawing.matrix(158, 20, four, (50, 32), "neutral")
    drawing.frame(zoom.x, zoom.y, zoom.width, zoom.height, thick=3)
    drawing.arrow([(zoom.middle[0], zoom.bottom + 4), (zoom.middle[0], zoom.bottom + 24)])
    drawing.matrix(158, zoom.bottom + 28, [four[0] + four[1]], (50, 32), "neutral")
    drawing.text(zoom.middle[0] + 16, zoom.bottom + 14, "flattened", anchor="start", size=14)
    drawing.text(16, 150, "16 patches of 2 × 2", size=14, anchor="start")
    left, wide = 10, 21
    for j in range(17):
        x = left + (j + 0.5) * wide
        if j:
            vision.halftone(drawing, x - 9, 170, patches[j - 1], 9)
            drawing.line([(x, 190), (x, 204)], "residual", 1.5)
            vision.halftone(drawing, x - 9, 206, patches[j - 1].reshape(1, 4), 4.5)
            drawing.line([(x, 212), (x, 230)], "residual", 1.5)
            drawing.arrow([(x, 262), (x, 280)], "residual", 1.5)
        colour = "residual" if j else "prediction"
        drawing.matrix(x - 9, 282, blank(1, 3), (6, 20), colour)
        drawing.text(x, 312, "+", size=14)
        drawing.box(x - 10, 322, 20, 24, str(j), "position", size=12, radius=3)
        drawing.arrow([(x, 348), (x, 374)], "residual", 1.5)
        drawing.line([(x, 424), (x, 446)], "residual", 1.5)
        drawing.matrix(x - 9, 448, blank(1, 3), (6, 20), colour)
    followed = left + (vision.FOLLOWED + 1.5) * wide
    drawing.frame(followed - 11, 165, 22, 52, thick=2.5)
    says = "the same linear layer for each patch"
    drawing.box(left + wide + 20, 232, 16 * wide - 20, 28, says, size=14)
    drawing.lines(8, 247, ["class", "token"], 16, size=12, bold=True, anchor="start")
    drawing.box(8, 376, 360, 46, "encoder", "encoder", bold=True)
    cls = left + wide / 2
    drawing.frame(cls - 11, 446, 22, 24, thick=3)
    drawing.arrow([(cls, 472), (cls, 512)], "ink", 2.5)
    drawing.box(8, 514, 130, 38, "linear layer", bold=True)
    drawing.text(73, 572, "10 scores", size=14)
    drawing.arrow([(140, 533), (172, 533)], "ink", 2.5)
    drawing.box(176, 514, 90, 38, "a zero", "prediction", bold=True)
    return drawing


def patch_trap() -> Canvas:
    """The two sides below each other."""
    said = {"Left, with reshape": "Above, with reshape", "Right, with view": "Below, with view"}
    drawing = beside(vision.patch_trap(), 850, said)
    for top, name, sign, code in (
        (0, "right", "✓", "reshape, permute, reshape"),
        (424, "wrong", "✗", "view(1, 4, 4) alone"),
    ):
        colour = "error" if name == "wrong" else "neutral"
        drawing.circle(40, top + 32, 13, sign, colour, size=16)
        drawing.text(62, top + 32, code, anchor="start", bold=True, size=14)
        vision.cut_image(drawing, 188, top + 62, name, 22)
    drawing.line([(24, 426), (352, 426)], "neutral", 1)
    return drawing


def stretched_positions() -> Canvas:
    """As wide, closer together."""
    drawing = beside(vision.stretched_positions(), 316)
    made = vision.stretched()
    before = vision.position_list(drawing, (20, 34, 32, 17), made["small"])
    after = vision.position_list(drawing, (324, 34, 32, 37), made["large"])
    y, middle = before.y + 8, 160
    drawing.arrow([(before.right + 8, y), (after.x - 8, y)], "prediction", 2.5)
    drawing.text(188, y - 18, "the class token’s row, as it is", size=14)
    small = vision.halftone(drawing, 80, middle - 36, made["small"], 18)
    large = vision.halftone(drawing, 198, middle - 48, made["large"], 16)
    drawing.arrow([(before.right + 6, middle), (small.x - 6, middle)])
    drawing.arrow([(small.right + 8, middle), (large.x - 6, middle)], thick=2.5)
    drawing.arrow([(large.right + 6, middle), (after.x - 6, middle)])
    drawing.text(small.middle[0], large.bottom + 18, "4 × 4", size=14)
    drawing.text(large.middle[0], large.bottom + 18, "6 × 6", size=14)
    drawing.text(188, large.bottom + 46, "enlarge", size=14, bold=True)
    says = "one of the *d*_{model} numbers of each position"
    drawing.text(188, 304, says, "neutral", 13)
    return drawing


def moved_digit() -> Canvas:
    """As wide, with smaller pixels."""
    drawing = beside(vision.moved_digit(), 312)
    image = vision.pixels(vision.THREE)
    for name, shown, y in (("as it is", image, 56), ("moved", vision.moved(image), 196)):
        digit = vision.halftone(drawing, 12, y, shown, 11)
        vision.rulers(drawing, digit, 4)
        drawing.text(digit.middle[0], y - 18, name, bold=True, size=14)
        drawing.arrow([(digit.right + 5, digit.middle[1]), (digit.right + 24, digit.middle[1])])
        for i, patch in enumerate(vision.cut(shown, 4)):
            grid = vision.halftone(drawing, 130 + 61 * i, y + 18, patch, 13)
            if y < 100:
                drawing.text(grid.middle[0], grid.y - 16, f"word {i + 1}", size=13)
    return drawing


def same_kernel() -> Canvas:
    """The patches below the convolution."""
    said = {"Beside each the same row": "Below, each time the same row"}
    drawing = beside(vision.same_kernel(), 728, said)
    made = vision.convolved()
    drawing.text(188, 26, "convolution", bold=True, size=16)
    drawing.text(188, 408, "patches of two", bold=True, size=16)
    rows = zip(made.items(), (50, 220), (430, 566), strict=True)
    for (name, values), upper, lower in rows:
        for y in (upper, lower):
            drawing.text(12, y + 16, name, anchor="start", bold=True, size=14)
        vision.stroke_row(drawing, 90, upper, values, 40)
        vision.patch_row(drawing, 90, lower, values, 40, made["as it is"]["patches"])
    drawing.line([(24, 386), (352, 386)], "neutral", 1)
    drawing.text(188, 706, "the same places hold other words", size=14)
    return drawing
