"""Trees over a sentence (chapters 16 and 16c), for a narrow page: the words stand one below the other."""

from lectures_lib.show.drawings import syntax
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside
from lectures_lib.show.drawings.syntax import LOOKS, RELATIONS, WORDS, links_over, tree


def head_beside_tree() -> Canvas:
    """The tree at the left of the words, the head at their right."""
    said = {
        "in a row. Above them the tree": "one below the other. At their left the tree",
        "Below them, where": "At their right, where",
    }
    drawing = beside(syntax.head_beside_tree(), 452, said)
    places = [70 + 48 * i for i in range(len(WORDS))]
    for y, word, name in zip(places, WORDS, RELATIONS, strict=True):
        drawing.text(190, y - 8, word, bold=True, size=16)
        drawing.text(190, y + 10, name, "ink" if name != "root" else "neutral", 13)
    links = tree()
    links_over(drawing, places, 144, links, ["ink"] * len(links), rise=-38, upright=True)
    drawing.lines(
        24, 36, ["the tree,", "by people"], 18, anchor="start", bold=True, colour="ink", size=14
    )
    looked = [(a, b) for a, b, _ in LOOKS]
    shares = [f"{share:.2f}" for *_, share in LOOKS]
    links_over(
        drawing,
        places,
        232,
        looked,
        ["head_1"] * len(looked),
        shares,
        40,
        upright=True,
        arrows=True,
    )
    drawing.lines(
        352,
        36,
        ["head 8 of", "layer 2 looks"],
        18,
        anchor="end",
        bold=True,
        colour="head_1",
        size=14,
    )
    return drawing


def tree_twice() -> Canvas:
    """The table stands below the links."""
    drawing = beside(syntax.tree_twice(), 716)
    places = [32 + 44 * i for i in range(len(WORDS))]
    for i, (y, word) in enumerate(zip(places, WORDS, strict=True)):
        drawing.text(226, y, str(i + 1), "neutral", 13)
        drawing.text(244, y, word, bold=True, size=15, anchor="start")
    links_over(drawing, places, 208, tree(), syntax.path_colours(), rise=-44, upright=True)
    syntax.distance_table(drawing, 92, 414, 32)
    drawing.text(220, 694, "links between two words", size=14)
    return drawing


def perturbed_masking() -> Canvas:
    """The two readings below each other, the table below both."""
    drawing = beside(syntax.perturbed_masking(), 600)
    ends = []
    for y, number, says, hidden in (
        (62, 1, "hide *i*, farmer", (1,)),
        (240, 2, "hide *j*, sold, as well", (1, 2)),
    ):
        drawing.step(24, y - 26, number, says)
        right = syntax.reading(drawing, 24, y, hidden, 60)
        drawing.text(right + 14, y + 16, "…")
        drawing.arrow([(114, y + 36), (114, y + 56)])
        drawing.box(24, y + 58, 180, 36, "BERT", "encoder")
        drawing.arrow([(206, y + 76), (246, y + 76)], "encoder")
        ends.append(drawing.matrix(252, y + 65, [[""] * 4], (15, 22), "encoder"))
    above, below = ends
    x = above.middle[0]
    drawing.line([(x, above.bottom + 4), (x, 236)], "ink", 2.5, dashed=True)
    drawing.line([(x, 276), (x, below.y - 4)], "ink", 2.5, dashed=True)
    drawing.text(x - 10, 182, "how far apart?", "ink", 14, "end")
    drawing.step(24, 366, 3, "the distance goes into *i*, *j*")
    grid = syntax.impact_cell(drawing, 130, 424)
    drawing.text(grid.x - 10, 469, "*i*: farmer", anchor="end", size=14)
    return drawing


def tree_of_a_table() -> Canvas:
    """The trees stand below the table, the best last."""
    drawing = beside(syntax.tree_of_a_table(), 560, {"Beside it": "Below it"})
    names = ["0", "1", "2"]
    scores = syntax.SCORES
    values = [["" if i == j else str(scores[i][j]) for j in range(3)] for i in range(3)]
    drawing.matrix(131, 62, values, (38, 34), rows=names, columns=names)
    drawing.text(188, 26, "scores of links", bold=True)
    drawing.arrow([(188, 172), (188, 196)], thick=2.5)
    drawing.text(188, 214, "all trees", bold=True)
    places = ((34, 232), (198, 232), (116, 394))
    for (x, y), (links, total) in zip(places, syntax.trees_of_three(), strict=True):
        syntax.small_tree(drawing, x, y, links, total)
    return drawing
