"""A probe on a frozen layer (chapter 16b), for a narrow page."""

from lectures_lib.show.drawings import probing
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside


def probe_and_control() -> Canvas:
    """The control task stands above the real one."""
    said = {"The left one": "The lower one", "the right one": "the upper one"}
    drawing = beside(probing.probe_and_control(), 862, said)
    real, drawn = probing.labels()
    x, wide = 26, 324
    for y, title, names, name, colour, says in (
        (
            26,
            "the control task: drawn labels",
            drawn,
            "probe for drawn labels",
            "neutral",
            "by heart only",
        ),
        (266, "the real task: tags", real, "probe for tags", "prediction", "read off, or by heart"),
    ):
        drawing.text(x + 162, y, title, bold=True)
        grid = probing.label_table(drawing, x, y + 50, names, colour)
        drawing.box(x + 52, y + 124, 220, 56, name, colour, bold=True, note="*W h* + *b*, trained")
        drawing.arrow([(x + 162, y + 124), (x + 162, grid.bottom + 4)], colour, 2.5)
        drawing.text(x + 172, y + 102, says, colour, 14, "start")
    vectors = probing.frozen_layers(drawing, x + 60, 506, wide - 60)
    drawing.arrow([(x + 162, 500), (x + 162, 450)], "encoder", 2.5)
    way = [
        (x + wide + 4, 478),
        (x + wide + 14, 478),
        (x + wide + 14, 232),
        (x + 250, 232),
        (x + 250, 210),
    ]
    drawing.arrow([(x + 163, 478), *way], "encoder", 2.5)
    drawing.text(vectors.x, 814, "BERT, frozen", "encoder", bold=True, anchor="start")
    drawing.text(vectors.right, 814, "no weight changes", anchor="end", size=14)
    drawing.text(vectors.x, 838, "a vector: 384 numbers", anchor="start", size=14)
    return drawing
