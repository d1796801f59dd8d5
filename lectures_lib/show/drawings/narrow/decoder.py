"""The decoder (chapter 6), for a narrow page."""

from lectures_lib.show.drawings import decoder
from lectures_lib.show.drawings.canvas import Canvas
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
            drawing.lines(x, y - 52, name, 18, size=14)
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
