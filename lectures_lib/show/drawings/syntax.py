"""Trees over a sentence: beside what a head looks at (chapter 16), as distances, by perturbed masking,
and out of a table of scores (chapter 16c).
"""

from collections.abc import Collection, Sequence
from itertools import combinations

from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Grid, Number

# The chapters' sentence, as the treebank has it, without its full stop. Governors count from 1; 0:
# the root.
WORDS = ["The", "farmer", "sold", "his", "horse", "to", "a", "stranger"]
GOVERNORS = [2, 3, 0, 5, 3, 8, 8, 3]
RELATIONS = ["det", "nsubj", "root", "nmod:poss", "obj", "case", "det", "obl"]
# Where MiniLM's head 8 of layer 2 puts more than half of a word's attention: from, to, the share.
# (A test asks the model.)
LOOKS = [(0, 1, 0.69), (3, 4, 0.61), (5, 7, 0.67), (6, 7, 0.79)]
SCORES = [[0, 1, 5], [1, 0, 4], [5, 4, 0]]  # of three words' links, as in chapter 16c
Link = tuple[int, int]


def tree() -> list[Link]:
    """The sentence's links, each with its smaller place first, in the order of the words."""
    pairs = enumerate(GOVERNORS)
    return [(min(i, g - 1), max(i, g - 1)) for i, g in pairs if g]


def level(link: Link, links: Collection[Link]) -> int:
    """How high a link is drawn, from 1 on: above all that it spans."""
    spanned = [
        other for other in links if other != link and link[0] <= other[0] and other[1] <= link[1]
    ]
    return 1 + max((level(other, links) for other in spanned), default=0)


def distances() -> list[list[int]]:
    """How many links lie between any two words of the sentence."""
    n, links = len(WORDS), tree()
    far = [
        [0 if i == j else 1 if (min(i, j), max(i, j)) in links else n for j in range(n)]
        for i in range(n)
    ]
    for k in range(n):
        far = [[min(far[i][j], far[i][k] + far[k][j]) for j in range(n)] for i in range(n)]
    return far


def trees_of_three() -> list[tuple[tuple[Link, Link], int]]:
    """All trees over three words and the sums of their scores."""
    links = ((0, 1), (1, 2), (0, 2))
    return [(pair, sum(SCORES[a][b] for a, b in pair)) for pair in combinations(links, 2)]


def links_over(
    drawing: Canvas,
    places: Sequence[Number],
    edge: Number,
    links: Sequence[Link],
    colours: Sequence[str],
    names: Sequence[str] = (),
    rise: Number = -40,
    upright: bool = False,
    arrows: bool = False,
) -> None:
    """Links between words that stand in a row, or one below the other.

    Args:
        places: of the words, along the row.
        edge: where the links begin, beside the row; a link of level n is n · `rise` away.
        links: as pairs of words; with `arrows`, from the first to the second.
        colours: one for each.
        names: written beyond each.
        upright: the words stand one below the other.
    """
    ordered = [(min(link), max(link)) for link in links]
    most = max(level(link, ordered) for link in ordered)
    for i, (link, colour) in enumerate(zip(links, colours, strict=True)):
        high = level(ordered[i], ordered)
        a, b = ordered[i]
        inset = 4 + 6 * (most - high)
        begin, end, top = places[a] + inset, places[b] - inset, edge + rise * high
        way = [(begin, edge), (begin, top), (end, top), (end, edge)]
        if upright:
            way = [(y, x) for x, y in way]
        if link[0] > link[1]:
            way.reverse()
        (drawing.arrow if arrows else drawing.line)(way, colour, 2.5, round=8)
        if names:
            away = 11 if rise > 0 else -11
            if upright:
                side = "start" if rise > 0 else "end"
                drawing.text(top + 0.6 * away, (begin + end) / 2, names[i], colour, 13, side)
            elif 9 * len(names[i]) > end - begin:  # clear of the link above it
                drawing.text(end, top + away, names[i], colour, 14, "end")
            else:
                drawing.text((begin + end) / 2, top + away, names[i], colour, 14)


def relation_names() -> list[str]:
    """Of the links, in the order of `tree`."""
    return [name for name, governor in zip(RELATIONS, GOVERNORS, strict=True) if governor]


def head_beside_tree() -> Canvas:
    """The sentence's tree above, what one head looks at below."""
    looks = "; ".join(f"{WORDS[a]} at {WORDS[b]} with {share:.2f}" for a, b, share in LOOKS)
    hangs = "; ".join(
        f"{word} on {WORDS[governor - 1]}, {name}"
        for word, governor, name in zip(WORDS, GOVERNORS, RELATIONS, strict=True)
        if governor
    )
    drawing = Canvas(
        "head_beside_tree",
        720,
        356,
        "A sentence's tree, and what one head looks at",
        f"The words {' '.join(WORDS)} in a row. Above them the tree: {hangs}. The root is sold. Below "
        "them, where head 8 of layer 2 of MiniLM puts more than half of a word's attention: "
        f"{looks}. Each of these four is a link of the tree.",
        "The tree: each word but one hangs on another word, its governor, in a relation that has a "
        "name. The head: where head 8 of MiniLM's layer 2 puts more than half of a word's attention, "
        "and how much. All four are links of the tree.",
    )
    places = [68 + 84 * i for i in range(len(WORDS))]
    for x, word in zip(places, WORDS, strict=True):
        drawing.text(x, 212, word, bold=True, size=17)
    root = GOVERNORS.index(0)
    drawing.text(places[root], 234, "root", "neutral", 14)
    links = tree()
    links_over(drawing, places, 194, links, ["ink"] * len(links), relation_names(), -44)
    drawing.text(24, 34, "the tree, by people", "ink", bold=True, anchor="start")
    looked = [(a, b) for a, b, _ in LOOKS]
    shares = [f"{share:.2f}" for *_, share in LOOKS]
    links_over(drawing, places, 230, looked, ["head_1"] * len(looked), shares, 38, arrows=True)
    drawing.text(24, 334, "head 8 of layer 2 looks", "head_1", bold=True, anchor="start")
    return drawing


def distance_table(drawing: Canvas, x: Number, y: Number, cell: Number) -> Grid:
    """The distances, a row and a column for each word; that of the second and the fifth is framed."""
    far, n = distances(), len(WORDS)
    values = [[str(number) for number in row] for row in far]
    grid = drawing.matrix(
        x,
        y,
        values,
        (cell, cell),
        rows=WORDS,
        columns=[str(i + 1) for i in range(n)],
        size=13,
    )
    drawing.frame(x + 4 * cell, y + cell, cell, cell)
    return grid


def tree_twice() -> Canvas:
    """A tree as links, and as a table of how many links lie between two words."""
    rows = "; ".join(
        f"{word}: {' '.join(map(str, row))}" for word, row in zip(WORDS, distances(), strict=True)
    )
    drawing = Canvas(
        "tree_twice",
        720,
        296,
        "A tree as links, and as distances",
        f"On one side the words {' '.join(WORDS)}, numbered from 1 to 8, with a link for each pair of "
        "the tree: "
        + ", ".join(f"{WORDS[a]} and {WORDS[b]}" for a, b in tree())
        + ". The two links from farmer over sold to horse are marked. On the other side a table says "
        f"how many links lie between any two words. {rows}. The 2 between farmer and horse is framed.",
        "A sentence's tree twice: as links, and as a table that says how many links lie between any "
        "two words. From “farmer” to “horse” there are two links, over “sold”.",
    )
    places = [38 + 49 * i for i in range(len(WORDS))]
    for i, (x, word) in enumerate(zip(places, WORDS, strict=True)):
        drawing.text(x, 210, word, bold=True, size=14)
        drawing.text(x, 232, str(i + 1), "neutral", 13)
    links_over(drawing, places, 194, tree(), path_colours(), rise=-44)
    distance_table(drawing, 492, 48, 27)
    drawing.text(600, 276, "links between two words", size=14)
    return drawing


def path_colours() -> list[str]:
    """Of the tree's links: those from the second word to the fifth are marked."""
    return ["ink" if link in ((1, 2), (2, 4)) else "neutral" for link in tree()]


def reading(
    drawing: Canvas, x: Number, y: Number, hidden: Sequence[int], cell: Number = 56
) -> Number:
    """Five words, some of them hidden, read by BERT into the vector of the first hidden one, which is
    the second word. Returns the middle of that vector.
    """
    words = ["[MASK]" if i in hidden else word for i, word in enumerate(WORDS[:5])]
    colours = [["mask" if i in hidden else "neutral" for i in range(5)]]
    grid = drawing.matrix(x, y, [words], (cell, 32), colours, size=13)
    drawing.frame(x + cell, y, cell, 32)
    return grid.right


def impact_cell(drawing: Canvas, x: Number, y: Number) -> Grid:
    """An empty table of impacts; the cell of the second and the third word is framed."""
    blank = [[""] * 5 for _ in range(5)]
    blank[1][2] = "*F*_{ij}"
    grid = drawing.matrix(x, y, blank, (30, 30), size=14)
    drawing.frame(x + 60, y + 30, 30, 30)
    drawing.text(x + 75, y - 14, "*j*: sold", size=14)
    return grid


def perturbed_masking() -> Canvas:
    """Hide one word, then another one as well: how far does the first one's vector move?"""
    drawing = Canvas(
        "perturbed_masking",
        720,
        282,
        "How much one word matters to another, by perturbed masking",
        "Step 1: in The farmer sold his horse the word farmer, i, is hidden behind [MASK]. BERT reads the "
        "words and makes a vector in its place. Step 2: the word sold, j, is hidden as well, and BERT "
        "makes another vector in the place of farmer. Step 3: the distance between the two vectors is "
        "the impact F of j on i. It goes into row i, column j of a table, whose cell is framed.",
        "Perturbed masking, for one cell. BERT reads the sentence twice (it goes on behind “horse”); both "
        "times the vector in the place of “farmer” is taken. How far it moves when “sold” is hidden as "
        "well is the impact of “sold” on “farmer”. Nothing is trained.",
    )
    ends = []
    for y, number, says, hidden in (
        (64, 1, "hide *i*, farmer", (1,)),
        (204, 2, "hide *j*, sold, as well", (1, 2)),
    ):
        drawing.step(24, y - 26, number, says)
        right = reading(drawing, 24, y, hidden)
        drawing.text(right + 12, y + 16, "…")
        drawing.arrow([(right + 24, y + 16), (right + 44, y + 16)])
        drawing.box(right + 46, y - 6, 62, 44, "BERT", "encoder")
        drawing.arrow([(right + 110, y + 16), (right + 130, y + 16)], "encoder")
        vector = drawing.matrix(right + 134, y + 5, [[""] * 4], (15, 22), "encoder")
        ends.append(vector)
    above, below = ends
    x = above.middle[0]
    drawing.line([(x, above.bottom + 4), (x, below.y - 4)], "ink", 2.5, dashed=True)
    drawing.text(x - 10, 150, "how far apart?", "ink", 14, "end")
    grid = impact_cell(drawing, 556, 75)
    drawing.arrow([(x, 120), (grid.x - 6, 120)], "ink", 2.5)
    drawing.text(grid.x - 10, 102, "*i*: farmer", anchor="end", size=14)
    drawing.lines(641, 246, ["the distance goes", "into row *i*, column *j*"], 18, size=14)
    drawing.circle(540, 246, 12, "3", size=14)
    return drawing


def small_tree(drawing: Canvas, x: Number, y: Number, links: Sequence[Link], total: int) -> None:
    """Three words with two links, each with its score, and below the sum; the largest is framed."""
    best = total == max(score for _, score in trees_of_three())
    colour = "ink" if best else "neutral"
    places = [x + 24, x + 72, x + 120]
    for i, place in enumerate(places):
        drawing.circle(place, y + 96, 13, str(i), size=14)
    scores = [str(SCORES[a][b]) for a, b in links]
    links_over(drawing, places, y + 80, links, [colour] * 2, scores, -32)
    says = " + ".join(scores) + f" = {total}"
    drawing.text(x + 72, y + 132, says, colour if best else "ink", bold=best)
    if best:
        drawing.frame(x, y - 12, 144, 164, radius=8)


def tree_of_a_table() -> Canvas:
    """Three words: their links' scores, all their trees, and the best."""
    found = trees_of_three()
    said = "; ".join(
        f"{links[0][0]}–{links[0][1]} and {links[1][0]}–{links[1][1]}: {total}"
        for links, total in found
    )
    drawing = Canvas(
        "tree_of_a_table",
        720,
        206,
        "From a table of scores to a tree",
        "A table says how much the links of three words 0, 1 and 2 score: 0–1 scores 1, 1–2 scores 4 and "
        f"0–2 scores 5. Beside it stand all trees over three words, with the sums of their scores. {said}. "
        "The largest sum is framed.",
        "From a table to a tree: of all trees over three words the one whose links score most. With "
        "eight words there are far too many to try each; Eisner's algorithm builds the best from short "
        "stretches.",
    )
    names = ["0", "1", "2"]
    values = [["" if i == j else str(SCORES[i][j]) for j in range(3)] for i in range(3)]
    drawing.matrix(52, 62, values, (38, 34), rows=names, columns=names)
    drawing.text(109, 26, "scores of links", bold=True)
    drawing.arrow([(182, 113), (212, 113)], thick=2.5)
    drawing.text(466, 26, "all trees", bold=True)
    for i, (links, total) in enumerate(found):
        small_tree(drawing, 226 + 164 * i, 44, links, total)
    return drawing
