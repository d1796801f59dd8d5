"""Images (chapters 11 and 11b), for a narrow page."""

from lectures_lib.show.drawings import vision
from lectures_lib.show.drawings.attention import numbers
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside


def image_to_class() -> Canvas:
    """Only the first patches and the last; the framed patch's numbers stand in two rows."""
    said = {
        "Below, the 16 patches stand side by side, each": "Below, the 16 patches stand side by side, "
        "the first three and the last drawn, dots for those between, each"
    }
    drawing = beside(vision.image_to_class(), 600, said)
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
    drawing.text(16, 150, "16 patches of 2 × 2", size=13, anchor="start")
    left, wide = 8, 60
    for column, j in enumerate((0, 1, 2, 3, None, 16)):
        x = left + (column + 0.5) * wide
        if j is None:
            for y in (180, 206, 292, 334, 458):
                drawing.text(x, y, "…", bold=True)
            continue
        if j:
            vision.halftone(drawing, x - 13, 166, patches[j - 1], 13)
            drawing.line([(x, 194), (x, 200)], "residual", 1.5)
            vision.halftone(drawing, x - 24, 202, patches[j - 1].reshape(1, 4), 12)
            drawing.line([(x, 216), (x, 230)], "residual", 1.5)
            drawing.arrow([(x, 262), (x, 280)], "residual", 1.5)
        vision.through(drawing, x, j)
    followed = left + (vision.FOLLOWED + 1.5) * wide
    drawing.frame(followed - 28, 162, 56, 56, thick=3)
    says = "the same linear layer for each patch"
    drawing.box(left + wide, 232, 5 * wide, 28, says, size=14)
    drawing.lines(left + wide / 2, 247, ["class", "token"], 16, size=13, bold=True)
    drawing.box(8, 376, 360, 46, "encoder", "encoder", bold=True)
    cls = left + wide / 2
    drawing.frame(cls - 18, 446, 36, 24, thick=3)
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
    drawing = beside(vision.stretched_positions(), 330)
    made = vision.stretched()
    before = vision.position_list(drawing, (22, 34, 26, 17), made["small"])
    after = vision.position_list(drawing, (328, 34, 26, 37), made["large"])
    y, middle = before.y + 8, 160
    drawing.arrow([(before.right + 8, y), (after.x - 8, y)], "prediction", 2.5)
    drawing.text(188, y - 18, "the class token’s row, as it is", size=14)
    small = vision.halftone(drawing, 76, middle - 32, made["small"], 16)
    large = vision.halftone(drawing, 216, middle - 42, made["large"], 14)
    drawing.arrow([(before.right + 6, middle), (small.x - 6, middle)])
    drawing.arrow([(small.right + 8, middle), (large.x - 6, middle)], thick=2.5)
    drawing.arrow([(large.right + 6, middle), (after.x - 6, middle)])
    drawing.text(small.middle[0], large.bottom + 18, "4 × 4", size=14)
    drawing.text(large.middle[0], large.bottom + 18, "6 × 6", size=14)
    drawing.text((small.right + large.x) / 2, middle - 16, "enlarge", size=14, bold=True)
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
