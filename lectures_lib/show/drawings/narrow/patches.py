"""How an image becomes a sentence (chapter 11), for a narrow page."""

from lectures_lib.show.drawings import patches
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside
from lectures_lib.show.drawings.patches import FOLLOWED, SIDE
from lectures_lib.show.drawings.pixels import cut, halftone


def image_to_class() -> Canvas:
    """Of the patches only the first, the framed one and the last."""
    said = {
        "Below, the 16 patches stand side by side;": "Below, the 16 patches stand side by side, the "
        "first, the framed one and the last drawn, dots for those between;"
    }
    drawing = beside(patches.image_to_class(), 748, said)
    made = cut(patches.garment(), SIDE)
    picture = patches.whole(drawing, 16, 16, 196)
    says = f"16 patches of {SIDE} × {SIDE}"
    drawing.text(114, 230, says, size=14)
    drawing.arrow([(picture.right + 10, 80), (picture.right + 40, 80)])
    zoom = drawing.picture(picture.right + 48, 38, 84, made[FOLLOWED].tolist())
    drawing.frame(zoom.x, zoom.y, zoom.width, zoom.height, thick=3)
    x = zoom.middle[0]
    drawing.arrow([(x, zoom.bottom + 6), (x, 252)])
    patches.flattened(drawing, 16, 284, 344)
    left, wide, top = 8, 60, 348
    for column, j in enumerate((0, 1, None, FOLLOWED + 1, None, 16)):
        x = left + (column + 0.5) * wide
        if j is None:
            for y in (top + 20, top + 112, top + 154, top + 278):
                drawing.text(x, y, "…", bold=True)
            continue
        if j:
            small = drawing.picture(x - 21, top, 42, made[j - 1].tolist())
            drawing.frame(small.x, small.y, 42, 42, "encoder", thick=1, radius=0)
            drawing.line([(x, small.bottom + 2), (x, top + 50)], "residual", 1.5)
            drawing.arrow([(x, top + 82), (x, top + 100)], "residual", 1.5)
            if j == FOLLOWED + 1:
                drawing.frame(small.x - 2, small.y - 2, 46, 46, thick=3)
        patches.through(drawing, x, top + 102, j)
    says = "flattened; the same linear layer"
    drawing.box(left + wide, top + 52, 5 * wide, 28, says, size=14)
    cls = left + wide / 2
    drawing.lines(cls, top + 67, ["class", "token"], 16, size=13, bold=True)
    drawing.box(8, top + 196, 360, 46, "encoder", "encoder")
    patches.answer(drawing, cls, 8, top + 266)
    return drawing


def patch_trap() -> Canvas:
    """The two sides below each other."""
    said = {"Left, with reshape": "Above, with reshape", "Right, with view": "Below, with view"}
    drawing = beside(patches.patch_trap(), 850, said)
    for top, name, sign, code in (
        (0, "right", "✓", "reshape, permute, reshape"),
        (424, "wrong", "✗", "view(1, 4, 4) alone"),
    ):
        colour = "error" if name == "wrong" else "neutral"
        drawing.circle(40, top + 32, 13, sign, colour, size=16)
        drawing.text(62, top + 32, code, anchor="start", bold=True, size=14)
        patches.cut_image(drawing, 188, top + 62, name, 22)
    drawing.line([(24, 426), (352, 426)], "neutral", 1)
    return drawing


def stretched_positions() -> Canvas:
    """As wide, closer together."""
    drawing = beside(patches.stretched_positions(), 330)
    made = patches.stretched()
    before = patches.position_list(drawing, (22, 34, 26, 17), made["small"])
    after = patches.position_list(drawing, (328, 34, 26, 37), made["large"])
    y, middle = before.y + 8, 160
    drawing.arrow([(before.right + 8, y), (after.x - 8, y)], "prediction", 2.5)
    drawing.text(188, y - 18, "the class token’s row, as it is", size=14)
    small = halftone(drawing, 76, middle - 32, made["small"], 16)
    large = halftone(drawing, 216, middle - 42, made["large"], 14)
    drawing.arrow([(before.right + 6, middle), (small.x - 6, middle)])
    drawing.arrow([(small.right + 8, middle), (large.x - 6, middle)], thick=2.5)
    drawing.arrow([(large.right + 6, middle), (after.x - 6, middle)])
    drawing.text(small.middle[0], large.bottom + 18, "4 × 4", size=14)
    drawing.text(large.middle[0], large.bottom + 18, "6 × 6", size=14)
    drawing.text((small.right + large.x) / 2, middle - 16, "enlarge", size=14, bold=True)
    says = "one of the *d*_{model} numbers of each position"
    drawing.text(188, 304, says, "neutral", 13)
    return drawing
