"""The decoder (chapter 6): its block, and the whole Transformer."""

from lectures_lib.show.drawings.canvas import Canvas

# of `whole_transformer`: who looks at whom
KINDS = (
    ("self-attention", "source looks at source"),
    ("masked self-attention", "target looks at target so far"),
    ("cross-attention", "target looks at source"),
)


def decoder_block() -> Canvas:
    """The three sublayers of a decoder block, and where Q, K and V of each attention come from."""
    drawing = Canvas(
        "decoder_block",
        720,
        780,
        "A decoder block, and where its queries, keys and values come from",
        "Read from bottom to top. The decoder's stream runs up on the right. First sublayer, "
        "masked self-attention: Q, K and V are all made from the decoder's stream, and a causal "
        "mask hides later positions. Its result is added to the stream, LayerNorm follows. Second, "
        "cross-attention: Q is made from the decoder's stream, K and V from the encoder's output, "
        "which stands on the left. Add, LayerNorm. Third, feed-forward, each position by itself. "
        "Add, LayerNorm.",
        "A decoder block, read from below. Cross-attention is the only place where the source "
        "comes in: the decoder asks, the encoder's output gives keys and values.",
    )
    drawing.box(256, 24, 440, 704, colour="decoder", radius=12)
    drawing.text(276, 50, "decoder block", "decoder", bold=True, anchor="start", size=16)
    drawing.box(24, 399, 176, 124, colour="encoder", radius=12)
    drawing.text(112, 461, "encoder's output", "ink", bold=True)
    drawing.text(112, 433, "memory", "ink", size=14)
    drawing.text(112, 490, "*n*_{source} × *d*_{model}", "ink", size=14)
    stream, box = 614, 316
    drawing.text(
        stream - 16, 752, "target so far: *n*_{target} × *d*_{model}", size=14, anchor="end"
    )
    drawing.lines(
        112, 572, ["made once for a source;", "every decoder block", "reads the same"], size=14
    )
    sublayers = (
        (706, "masked self-attention", "no later position"),
        (482, "cross-attention", "every source position"),
        (258, "feed-forward", "each position by itself"),
    )
    for y, name, note in sublayers:
        plus, top = y - 145, y - 124
        drawing.line([(stream, y + (36 if y == 706 else 18)), (stream, plus + 14)], "residual", 5)
        drawing.line([(stream, plus - 14), (stream, y - 170)], "residual", 5)
        for letter, x, colour in (
            (("V", box + 42, "value"), ("K", box + 98, "key"), ("Q", box + 154, "query"))
            if "attention" in name
            else ()
        ):
            if name == "cross-attention" and letter != "Q":
                low = y - 12 if letter == "K" else y - 30
                drawing.arrow([(200, low), (x, low), (x, y - 72)], colour, 2.5)
            else:
                low = y - {"V": 12, "K": 21, "Q": 30}[letter]
                drawing.arrow([(stream, low), (x, low), (x, y - 72)], colour, 2.5)
            drawing.text(x + 15, y - 54, f"*{letter}*", colour, size=17)
        if name == "feed-forward":
            drawing.arrow(
                [(stream, y - 21), (box + 98, y - 21), (box + 98, y - 72)], "residual", 2.5
            )
        drawing.box(box, top, 196, 52, name, bold=True, note=note)
        drawing.arrow([(box + 98, top), (box + 98, plus), (stream - 15, plus)], "residual", 2.5)
        drawing.circle(stream, plus, 14, "+", "neutral", size=19)
        drawing.box(stream - 52, y - 206, 104, 36, "LayerNorm", "neutral", size=14)
    drawing.arrow([(stream, 52), (stream, 10)], "residual", 5)
    return drawing


def whole_transformer() -> Canvas:
    """Encoder and decoder, N blocks each, with the three kinds of attention."""
    drawing = Canvas(
        "whole_transformer",
        720,
        744,
        "The whole Transformer: encoder, decoder, and three kinds of attention",
        "Two stacks, read from bottom to top. Left, the encoder: source tokens, embedding plus "
        "positions, then N blocks of self-attention and feed-forward, each followed by Add and "
        "Norm. Right, the decoder: target tokens shifted right, embedding plus positions, then N "
        "blocks of masked self-attention, cross-attention and feed-forward, each followed by Add "
        "and Norm; above them scores of all tokens and softmax: the next token. The encoder's "
        "output goes to the cross-attention of every decoder block. 1, self-attention: the source "
        "looks at the source. 2, masked self-attention: the target looks at the target so far. 3, "
        "cross-attention: the target looks at the source, Q from the decoder, K and V from the "
        "encoder.",
        "The whole Transformer, read from below. Three kinds of attention, one mechanism: only the "
        "origin of Q, K and V and the mask differ.",
    )
    for i, (name, does) in enumerate(KINDS):
        drawing.circle(40, 48 + 62 * i, 13, str(i + 1), "neutral", size=14)
        drawing.text(64, 39 + 62 * i, name, bold=True, anchor="start")
        drawing.text(64, 59 + 62 * i, does, anchor="start", size=14)

    drawing.text(64, 203, "*Q*: decoder; *K*, *V*: encoder", anchor="start", size=14)
    stacks = (
        (196, "encoder", "source", (("self-attention", 1), ("feed-forward", 0))),
        (
            524,
            "decoder",
            "target, shifted right",
            (("masked self-attention", 2), ("cross-attention", 3), ("feed-forward", 0)),
        ),
    )
    for x, colour, tokens, sublayers in stacks:
        top = 584 - 132 * len(sublayers)
        drawing.box(x - 124, top, 248, 590 - top, colour=colour, radius=12)
        if colour == "encoder":
            drawing.text(58, (top + 590) / 2, "*N* ×", anchor="end", size=18)
        else:
            drawing.text(662, (top + 590) / 2, "*N* ×", anchor="start", size=18)
        drawing.text(x, 722, tokens, bold=True)
        drawing.arrow([(x, 708), (x, 688)], "residual", 3)
        drawing.box(x - 96, 644, 192, 42, "embedding + positions", size=14)
        drawing.line([(x, 644), (x, 566)], "residual", 3)
        for i, (name, kind) in enumerate(sublayers):
            y = 584 - 132 * i
            drawing.line([(x, y + 6), (x, y - 32)], "residual", 3)
            drawing.arrow(
                [(x, y - 14), (x + 112, y - 14), (x + 112, y - 104), (x + 98, y - 104)],
                "residual",
                2,
            )
            drawing.box(x - 96, y - 74, 192, 44)
            drawing.text(x, y - 52, name, size=14)
            if kind:
                drawing.circle(x - 96, y - 74, 12, str(kind), "neutral", size=14)
            drawing.line([(x, y - 74), (x, y - 90)], "residual", 3)
            drawing.box(x - 96, y - 118, 192, 28, "Add & Norm", size=14)
            if (colour, i) != ("encoder", 1):
                drawing.line([(x, y - 118), (x, y - 126)], "residual", 3)
        drawing.text(x - 112, 610, colour, colour, bold=True, anchor="start")
    source, x, cross = 196, 524, 584 - 132 - 52
    drawing.arrow(
        [(source - 8, 334), (source - 8, 268), (372, 268), (372, cross + 2), (x - 98, cross + 2)],
        "key",
        2.5,
    )
    drawing.arrow(
        [(source + 8, 334), (source + 8, 284), (356, 284), (356, cross + 16), (x - 98, cross + 16)],
        "value",
        2.5,
    )
    drawing.text(386, cross - 15, "*K*", "key", size=17)
    drawing.text(386, cross + 34, "*V*", "value", size=17)
    drawing.line([(x, 194), (x, 158)], "residual", 3)
    drawing.box(x - 96, 120, 192, 42, "scores of all tokens", size=14)
    drawing.line([(x, 120), (x, 102)], "residual", 3)
    drawing.box(x - 96, 62, 192, 40, "softmax", size=14)
    drawing.arrow([(x, 62), (x, 42)], "prediction", 3)
    drawing.text(x, 27, "next token", "prediction", bold=True)
    return drawing
