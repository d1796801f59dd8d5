"""The encoder (chapter 5): the residual stream with Add & Norm, and where the normalisation
stands.
"""

from lectures_lib.show.drawings.canvas import Canvas


def residual_stream() -> Canvas:
    """The stream of an encoder block, and what its two sublayers add to it."""
    drawing = Canvas(
        "residual_stream",
        720,
        356,
        "The residual stream of an encoder block with Add and Norm",
        "A thick line, the stream, runs from left to right and carries n vectors of width d model. "
        "A copy of it leaves upwards to multi-head attention, where words mix; the result comes "
        "down and is added to the stream (Add), and LayerNorm follows (Norm). A second copy goes "
        "to the feed-forward network, which works on each word by itself; its result is added too, "
        "and a second LayerNorm follows. What leaves the block has the shape of what came in.",
        "An encoder block. Neither sublayer replaces the stream: each reads a copy, and what it "
        "finds is added. Shapes in and out are the same, so blocks can be stacked.",
    )
    y, high = 214, 96
    drawing.text(30, y - 24, "*x*", size=19)
    halves = (
        (56, ["multi-head", "attention"], 112, "words mix", "around attention"),
        (374, ["feed-", "forward"], 100, "each word by itself", "around feed-forward"),
    )
    end = 20
    for x, name, wide, does, around in halves:
        plus, norm = x + wide + 54, x + wide + 84
        drawing.line([(end, y), (plus - 14, y)], "residual", 5)
        drawing.line([(plus + 14, y), (norm, y)], "residual", 5)
        drawing.arrow([(x, y), (x, high), (x + 22, high)], "residual", 2.5)
        drawing.box(x + 24, high - 32, wide, 64, name, "encoder")
        drawing.text(x + 24 + wide / 2, high - 52, does, "encoder", size=14)
        drawing.arrow([(x + 24 + wide, high), (plus, high), (plus, y - 15)], "encoder", 2.5)
        drawing.circle(plus, y, 14, "+", "encoder", size=19)
        drawing.box(norm, y - 20, 88, 40, "LayerNorm", "neutral", size=14)
        drawing.text(plus, y + 40, "Add", bold=True, size=14)
        drawing.text(norm + 44, y + 40, "Norm", bold=True, size=14)
        drawing.bracket(x, y + 62, norm + 88 - x, around, size=14)
        end = norm + 88
    drawing.arrow([(end, y), (704, y)], "residual", 5)
    drawing.text(360, 324, "everywhere on the stream: *n* × *d*_{model}", "neutral", size=14)
    return drawing


def words_through_a_block() -> Canvas:
    """Three words side by side through attention, Add & Norm, feed-forward, Add & Norm."""
    drawing = Canvas(
        "words_through_a_block",
        720,
        700,
        "Three words on their way through an encoder block",
        "Read from below. Three columns, one for each of the words dog, bites and man; each word "
        "is a vector x of four numbers. One wide box, self-attention, goes across all three "
        "columns: here the words mix, and each gets back a vector a. A line passes it on the left "
        "of each column: x itself, which is added to a; LayerNorm of the sum x plus a is z, for "
        "each word by itself. Then three separate feed-forward boxes with the same weights, one "
        "for each word, make f of z. Again a line passes: LayerNorm of z plus f. Out come three "
        "vectors of four numbers, as many and as wide as went in, and the next block reads them.",
        "Read from below. Only in self-attention do words meet; everything else is done for each "
        "word by itself, with the same weights. The lines at the side carry x and z to the "
        "sum, untouched.",
    )
    centres = {"dog": 240, "bites": 410, "man": 580}
    # before the columns: the lines at the side pass over it, they do not go through it
    drawing.box(150, 498, 520, 48, "self-attention", "encoder", note="")
    for i, (word, x) in enumerate(centres.items(), start=1):
        side = x - 68
        drawing.text(x, 676, word, bold=True, size=17)
        for low, high, plus in ((600, 548, 452), (356, 298, 208)):
            drawing.arrow([(x, low), (x, high)], "residual", 2.5)
            drawing.arrow([(x, low - 10), (side, low - 10), (side, plus)], "residual", 4)
        vector = drawing.matrix(x - 44, 630, [[""] * 4], (22, 24), "encoder")
        drawing.line([(x, vector.y - 2), (x, 600)], "residual", 2.5)
        drawing.text(vector.right + 18, vector.middle[1], f"*x*_{i}", size=17)
        drawing.arrow([(x, 497), (x, 452)], "encoder", 2.5)
        drawing.box(x - 76, 410, 152, 40, "LayerNorm(*x* + *a*)", size=14)
        drawing.line([(x, 410), (x, 396)], "residual", 2.5)
        drawing.matrix(x - 44, 372, [[""] * 4], (22, 24), "encoder")
        drawing.text(x + 62, 384, f"*z*_{i}", size=17)
        drawing.line([(x, 370), (x, 356)], "residual", 2.5)
        drawing.box(x - 56, 252, 116, 44, "feed-forward", "encoder", size=14)
        drawing.arrow([(x, 250), (x, 208)], "encoder", 2.5)
        drawing.box(x - 76, 166, 152, 40, "LayerNorm(*z* + *f*)", size=14)
        drawing.line([(x, 166), (x, 152)], "residual", 2.5)
        drawing.matrix(x - 44, 128, [[""] * 4], (22, 24), "encoder")
        drawing.arrow([(x, 126), (x, 84)], "residual", 2.5)
        drawing.text(x + 14, 478, f"*a*_{i}", size=16, anchor="start")
        drawing.text(x + 14, 232, f"*f*_{i}", size=16, anchor="start")
    drawing.box(150, 36, 520, 46, "the next block", "neutral", dashed=True, size=14)
    left = 22
    drawing.text(left, 522, "words mix", "encoder", 14, "start", bold=True)
    drawing.text(left, 430, "Add & Norm", size=14, anchor="start", bold=True)
    drawing.text(left, 186, "Add & Norm", size=14, anchor="start", bold=True)
    drawing.lines(
        left,
        274,
        ["each word", "by itself,", "same weights"],
        18,
        colour="encoder",
        size=14,
        anchor="start",
        bold=True,
    )
    for y in (642, 384, 140):
        drawing.text(left, y, "*n* × *d*_{model}", "neutral", 14, "start")
    return drawing


def pre_and_post_norm() -> Canvas:
    """Post-norm and pre-norm side by side."""
    drawing = Canvas(
        "pre_and_post_norm",
        720,
        604,
        "An encoder block with post-norm and one with pre-norm",
        "Two blocks side by side, read from bottom to top. Post-norm: the stream branches to "
        "attention, the result is added, and LayerNorm stands on the stream itself; the same again "
        "with feed-forward: LayerNorm of x plus f of x, twice. Pre-norm: LayerNorm stands on the "
        "branch, before attention and before feed-forward: x plus f of LayerNorm of x. The stream "
        "runs from bottom to top with nothing on it but the two additions; a last LayerNorm comes "
        "once, after the last block.",
        "Read from below. Post-norm (the paper's) puts LayerNorm on the stream; pre-norm puts it "
        "on the branch, and the way around stays free from the first block to the last.",
    )
    for x, title, formula in (
        (112, "post-norm", "LayerNorm(*x* + *f*(*x*))"),
        (472, "pre-norm", "*x* + *f*(LayerNorm(*x*))"),
    ):
        post = title == "post-norm"
        drawing.text(x - 62, 32, title, bold=True, size=18, anchor="start")
        drawing.text(x + 56, 32, formula, size=16, anchor="start")
        drawing.text(x, 580, "*x*", size=19)
        for y, name in ((540, "attention"), (330, "feed-forward")):
            middle, plus = x + 140, y - (130 if post else 178)
            drawing.line([(x, y + 22 if y == 540 else y + 8), (x, plus + 14)], "residual", 5)
            drawing.line([(x, plus - 14), (x, y - 210 + 8)], "residual", 5)
            top = y - 94 if post else y - 148
            drawing.box(middle - 66, top, 132, 46, name, "encoder")
            if post:
                drawing.arrow([(x, y - 12), (middle, y - 12), (middle, y - 46)], "residual", 2.5)
                drawing.box(x - 54, y - 196, 108, 38, "LayerNorm", "neutral")
            else:
                drawing.arrow([(x, y - 12), (middle, y - 12), (middle, y - 34)], "residual", 2.5)
                drawing.box(middle - 54, y - 72, 108, 38, "LayerNorm", "neutral")
                drawing.arrow([(middle, y - 74), (middle, y - 100)], "residual", 2.5)
            drawing.arrow([(middle, top), (middle, plus), (x + 15, plus)], "encoder", 2.5)
            drawing.circle(x, plus, 14, "+", "encoder", size=19)
        if post:
            drawing.arrow([(x, 128), (x, 66)], "residual", 5)
        else:
            drawing.line([(x, 128), (x, 122)], "residual", 5)
            drawing.box(x - 54, 96, 108, 34, "LayerNorm", dashed=True)
            drawing.arrow([(x, 96), (x, 60)], "residual", 5)
            drawing.lines(
                x + 66, 113, ["once, after", "the last block"], size=14, anchor="start", step=18
            )
    drawing.line([(360, 24), (360, 580)], "neutral", 1)
    return drawing
