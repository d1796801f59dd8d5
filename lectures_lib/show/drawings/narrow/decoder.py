"""The decoder (chapter 6), for a narrow page."""

from lectures_lib.show.drawings import decoder
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.decoder import COLUMNS, SCORES, SHARES, TARGET
from lectures_lib.show.drawings.grid import Number
from lectures_lib.show.drawings.narrow.sheet import beside


def decoder_block() -> Canvas:
    """As wide, with narrower boxes."""
    drawing = beside(decoder.decoder_block(), 812)
    drawing.box(114, 24, 256, 736, colour="decoder", radius=12)
    drawing.text(128, 48, "decoder block", "decoder", bold=True, anchor="start", size=16)
    drawing.box(8, 408, 92, 134, colour="encoder", radius=12)
    drawing.text(54, 430, "memory", size=14)
    drawing.lines(54, 463, ["encoder's", "output"], bold=True)
    drawing.lines(54, 508, ["*n*_{source}", "× *d*_{model}"], size=14)
    says = ["made once", "for a source;", "every decoder", "block reads", "the same"]
    drawing.lines(57, 602, says, 18, size=13)
    stream, box, wide = 322, 124, 148
    middle = box + wide / 2
    drawing.text(
        stream - 14, 786, "target so far: *n*_{target} × *d*_{model}", size=14, anchor="end"
    )
    sublayers = (
        (738, ["masked", "self-attention"], ["no later position"]),
        (504, ["cross-attention"], ["every source", "position"]),
        (270, ["feed-forward"], ["each position", "by itself"]),
    )
    for y, name, note in sublayers:
        plus, top, foot = y - 156, y - 136, y - 60
        drawing.line([(stream, y + (36 if y == 738 else 18)), (stream, plus + 14)], "residual", 5)
        drawing.line([(stream, plus - 14), (stream, y - 182)], "residual", 5)
        kinds = (("V", -44, "value"), ("K", 0, "key"), ("Q", 44, "query"))
        for letter, shift, colour in kinds if "attention" in name[-1] else ():
            x = middle + shift
            if name == ["cross-attention"] and letter != "Q":
                low, start = y - (12 if letter == "K" else 30), 100
            else:
                low, start = y - {"V": 8, "K": 18, "Q": 28}[letter], stream
            drawing.arrow([(start, low), (x, low), (x, foot)], colour, 2.5)
            drawing.text(x + 14, y - 46, f"*{letter}*", colour, size=17)
        if name == ["feed-forward"]:
            drawing.arrow([(stream, y - 21), (middle, y - 21), (middle, foot)], "residual", 2.5)
        drawing.box(box, top, wide, 76)
        drawing.lines(middle, top + 9 + 9 * len(name), name, 18, bold=True, size=14)
        drawing.lines(middle, top + 67 - 8 * len(note), note, 17, size=13)
        drawing.arrow([(middle, top), (middle, plus), (stream - 15, plus)], "residual", 2.5)
        drawing.circle(stream, plus, 14, "+", "neutral", size=19)
        drawing.box(stream - 43, y - 218, 86, 36, "LayerNorm", "neutral", size=14)
    drawing.arrow([(stream, 52), (stream, 8)], "residual", 5)
    return drawing


def shift() -> Canvas:
    """As wide, with smaller cells."""
    drawing = beside(decoder.shift(), 492)
    target, read, mask = TARGET, decoder.shifted(TARGET), decoder.visible()
    cell, x, rest = (36, 34), 98, len(TARGET) - 1
    says = drawing.matrix(
        x, 24, [list(target)], cell, [["prediction"] * rest + ["neutral"]], size=17
    )
    reads = drawing.matrix(x, 104, [list(read)], cell, [["neutral"] + ["decoder"] * rest], size=17)
    drawing.text(x - 12, 41, "target", anchor="end", bold=True, size=14)
    drawing.lines(x - 12, 121, ["decoder", "reads"], 18, anchor="end", bold=True, size=14)
    for i in range(rest):
        start, end = says.centre(0, i)[0] + 5, reads.centre(0, i + 1)[0] - 5
        drawing.arrow([(start, says.bottom + 5), (end, reads.y - 4)])
    drawing.lines(
        says.right + 10, 41, ["the last is", "the end", "token"], 17, size=13, anchor="start"
    )
    begins = ["the first is", "the begin", "token"]
    drawing.lines(reads.right + 10, 121, begins, 17, size=13, anchor="start")
    y = 212
    shown = [[read[j] if mask[i, j] else "" for j in range(len(read))] for i in range(len(read))]
    grid = drawing.matrix(
        x,
        y,
        shown,
        cell,
        [["neutral"] + ["decoder"] * rest] * len(read),
        hidden=(~mask).tolist(),
        size=14,
        rows=[f"position {i}" for i in range(len(read))],
    )
    drawing.text(grid.middle[0], y - 18, "sees", bold=True)
    out = grid.right + 44
    drawing.text(out + 10, y - 18, "must say", bold=True, size=14)
    for i, letter in enumerate(target):
        middle = y + (i + 0.5) * cell[1]
        drawing.arrow([(grid.right + 8, middle), (out - 6, middle)], "prediction", 2.5)
        tint = "prediction" if i < rest else "neutral"
        drawing.matrix(out, y + i * cell[1], [[letter]], cell, tint, size=17)
    drawing.matrix(x, grid.bottom + 28, [[""]], (30, 22), hidden=[[True]])
    drawing.text(x + 42, grid.bottom + 39, "hidden by the causal mask", size=14, anchor="start")
    drawing.text(188, grid.bottom + 84, "all rows are trained at once", "neutral", size=14)
    return drawing


def vector_to_token() -> Canvas:
    """From top to bottom; the characters side by side."""
    said = {"Read from left to right": "Read from top to bottom"}
    drawing = beside(decoder.vector_to_token(), 484, said)
    scores, shares = decoder.with_the_rest()
    left, wide = 72, 41
    middle = left + 3 * wide
    drawing.text(middle, 26, "decoder's vector", bold=True)
    vector = drawing.matrix(middle - 72, 46, [[""] * 6], (24, 24), "decoder")
    drawing.text(vector.x - 14, 58, "read: > 1", anchor="end", size=14)
    drawing.text(vector.right + 12, 58, "*d*_{model}", "neutral", 14, "start")
    drawing.arrow([(middle, 74), (middle, 134)], "decoder", 2.5)
    drawing.text(middle + 16, 102, "× *E*^⊤ + *b*", size=17, anchor="start")
    drawing.matrix(left, 162, [scores], (wide, 40), "decoder", columns=[*SCORES, "…"], size=15)
    drawing.text(left - 10, 182, "scores", anchor="end", bold=True, size=14)
    drawing.arrow([(middle, 210), (middle, 262)], "decoder", 2.5)
    drawing.text(middle + 16, 234, "softmax", bold=True, anchor="start")
    grid = drawing.matrix(
        left,
        268,
        [[f"{share:.2f}" for share in shares]],
        (wide, 40),
        "prediction",
        shares=[shares],
        size=15,
    )
    drawing.text(left - 10, 288, "shares", anchor="end", bold=True, size=14)
    for y in (182, 288):
        drawing.text(grid.right + 4, y, "*n*_{vocab}", "neutral", 13, "start")
    rest = f"{decoder.OTHERS} others"
    drawing.text(grid.right + 6, grid.bottom + 16, rest, size=13, anchor="end")
    best = shares.index(max(shares))
    chosen = grid.centre(0, best)[0]
    drawing.arrow([(chosen, grid.bottom + 6), (chosen, 378)], "prediction", 3)
    drawing.text(chosen + 14, 358, "argmax", size=14, anchor="start")
    drawing.circle(chosen, 404, 22, list(SCORES)[best], "prediction", size=20)
    drawing.text(chosen, 446, "written next", size=14)
    return drawing


def targets() -> Canvas:
    """What is wanted stands below what the model says, with the loss beside it."""
    said = {
        "Three tables side by side": "Three tables",
        "Left, what the model says": "Above, what the model says",
        "middle, what is wanted": "below it, what is wanted",
        "right, the loss": "beside that, the loss",
    }
    drawing = beside(decoder.targets(), 624, said)
    losses = decoder.losses_of_targets()
    reads = [f"> {' '.join(TARGET[:i])}".strip() for i in range(len(TARGET))]
    right = [[column == character for column in COLUMNS] for character in TARGET]
    colours = [["prediction" if hit else "neutral" for hit in row] for row in right]
    x, cell, options = 88, (48, 40), {"columns": COLUMNS, "rows": reads, "size": 15}
    shares = [[f"{share:.2f}" for share in row] for row in SHARES]
    said = drawing.matrix(x, 70, shares, cell, colours, shares=SHARES, **options)
    wanted = [["1" if hit else "0" for hit in row] for row in right]
    wanted = drawing.matrix(x, 368, wanted, cell, colours, **options)
    loss = drawing.matrix(
        wanted.right + 22, wanted.y, [[f"{x:.2f}"] for x in losses], (56, 40), "error", size=15
    )
    for grid, name in ((said, "the model says"), (wanted, "wanted"), (loss, "−ln")):
        drawing.text(grid.middle[0], grid.y - 42, name, bold=True)
    for grid in (said, wanted):
        drawing.text(x - 9, grid.y - 42, "reads", bold=True, anchor="end")
    mean = f"loss: the mean, {sum(losses) / len(losses):.2f}"
    drawing.text(loss.right, loss.bottom + 30, mean, "error", anchor="end", bold=True)
    return drawing


def whole_transformer() -> Canvas:
    """As wide, with narrower stacks; the three kinds of attention are named below."""
    drawing = beside(decoder.whole_transformer(), 956)
    stacks = (
        (90, "encoder", "source", ((["self-attention"], 1), (["feed-forward"], 0))),
        (
            284,
            "decoder",
            "target, shifted right",
            (
                (["masked", "self-attention"], 2),
                (["cross-", "attention"], 3),
                (["feed-forward"], 0),
            ),
        ),
    )
    for x, colour, tokens, sublayers in stacks:
        top = 584 - 136 * len(sublayers)
        drawing.box(x - 82, top, 166, 590 - top, colour=colour, radius=12)
        drawing.text(x - 76, 610, colour, colour, bold=True, anchor="start", size=14)
        drawing.text(x + 14, 610, "*N* ×", anchor="start", size=17)
        drawing.text(x, 730, tokens, bold=True, size=14)
        drawing.arrow([(x, 716), (x, 694)], "residual", 3)
        drawing.box(x - 62, 640, 124, 52, ["embedding", "+ positions"], size=14)
        drawing.line([(x, 640), (x, 566)], "residual", 3)
        for i, (name, kind) in enumerate(sublayers):
            y = 584 - 136 * i
            drawing.line([(x, y + 8), (x, y - 26)], "residual", 3)
            way = [(x, y - 10), (x + 74, y - 10), (x + 74, y - 108), (x + 64, y - 108)]
            drawing.arrow(way, "residual")
            drawing.box(x - 62, y - 78, 124, 52)
            drawing.lines(x, y - 52, name, 18, bold=True, size=14)
            if kind:
                drawing.circle(x - 62, y - 78, 12, str(kind), "neutral", size=14)
            drawing.line([(x, y - 78), (x, y - 94)], "residual", 3)
            drawing.box(x - 62, y - 122, 124, 28, "Add & Norm", size=14)
            if (colour, i) != ("encoder", 1):
                drawing.line([(x, y - 122), (x, y - 130)], "residual", 3)
    source, x, cross = 90, 284, 584 - 136 - 52
    for letter, colour, shift, level, side, end in (
        ("K", "key", -8, 266, 194, cross - 6),
        ("V", "value", 8, 282, 182, cross + 8),
    ):
        start = (source + shift, 584 - 136 - 122)
        way = [start, (start[0], level), (side, level), (side, end), (x - 64, end)]
        drawing.arrow(way, colour, 2.5)
        drawing.text(140, level + (-13 if letter == "K" else 14), f"*{letter}*", colour, size=16)
    drawing.line([(x, 184), (x, 158)], "residual", 3)
    drawing.box(x - 62, 108, 124, 50, ["scores of", "all tokens"], size=14)
    drawing.line([(x, 108), (x, 92)], "residual", 3)
    drawing.box(x - 62, 56, 124, 36, "softmax", size=14)
    drawing.arrow([(x, 56), (x, 38)], "prediction", 3)
    drawing.text(x, 24, "next token", "prediction", bold=True)
    _kinds(drawing, 776)
    return drawing


def _kinds(drawing: Canvas, y: Number) -> None:
    """The three kinds of attention in words, from y on."""
    for i, (name, does) in enumerate(decoder.KINDS):
        drawing.circle(32, y + 62 * i, 13, str(i + 1), "neutral", size=14)
        drawing.text(56, y - 9 + 62 * i, name, bold=True, anchor="start")
        drawing.text(56, y + 11 + 62 * i, does, anchor="start", size=14)
    drawing.text(56, y + 155, "*Q*: decoder; *K*, *V*: encoder", anchor="start", size=14)
