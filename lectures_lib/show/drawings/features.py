"""Features from BERT (chapters 15 and 15b): a word's vectors in all layers, and one made of them."""

from typing import NamedTuple

import torch
from torch import Tensor

from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Number

# of `scalar_mix`: made-up weights of MiniLM's seven states, and a word's vectors, two numbers each
MIX_W = (0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 1.0)
MIX_STATES = tuple((float(i), 6.0 - i) for i in range(7))


# ------------------------------------------------------------------------------------ the scalar mix


class MixPlaces(NamedTuple):
    """Where the columns of `scalar_mix` begin, from left to right, and how wide their cells are."""

    w: tuple[Number, Number]
    shares: tuple[Number, Number]
    states: tuple[Number, Number]
    mix: tuple[Number, Number]
    top: Number = 92
    high: Number = 34


def mixed() -> tuple[Tensor, Tensor]:
    """The shares of the seven states, and the vector that is mixed of them."""
    shares = torch.tensor(MIX_W).softmax(dim=0)
    return shares, shares @ torch.tensor(MIX_STATES)


def scalar_mix() -> Canvas:
    """Seven states of a word, their shares, and the one vector that they become."""
    shares, mix = mixed()
    rows = "; ".join(
        f"state {i}: {w:g}, {share:.2f}, ({', '.join(f'{x:g}' for x in state)})"
        for i, (w, share, state) in enumerate(zip(MIX_W, shares, MIX_STATES, strict=True))
    )
    drawing = Canvas(
        "scalar_mix",
        720,
        366,
        "A scalar mix: of seven vectors of one word, one is made",
        "Read from left to right. Seven rows, one for each state of a word, state 6 at the top. "
        "Each has a number w, the softmax of the seven numbers gives each a share, and beside the "
        f"share stands the word's vector in that state, here of two numbers. {rows}. From every "
        "vector a line leads to the mix, as thick as the share is large. The mix is gamma times "
        "the sum of share times vector, with gamma 1: "
        f"({', '.join(f'{x:.2f}' for x in mix.tolist())}). Framed, because they are learned: the "
        "seven numbers w, and gamma.",
        "A scalar mix. Each of a word's seven vectors gets a share, and their sum, weighted in this "
        "way, is one vector. What is framed is learned together with the task. (Made-up numbers, "
        "two in each vector; MiniLM has 384.)",
    )
    places = MixPlaces(w=(112, 50), shares=(270, 76), states=(392, 46), mix=(584, 54))
    draw_mix(drawing, places)
    middle = places.top + 3.5 * places.high
    drawing.arrow([(172, middle), (260, middle)], "neutral", 2.5)
    drawing.text(216, middle - 18, "softmax", bold=True)
    return drawing


def draw_mix(drawing: Canvas, places: MixPlaces) -> None:
    """The columns of `scalar_mix`, and the lines to the mix."""
    shares, mix = mixed()
    top, high = places.top, places.high
    w, s, x = (
        drawing.matrix(left, top, values[::-1], (wide, high), colour, **more)
        for (left, wide), values, colour, more in (
            (places.w, [[f"{w:g}"] for w in MIX_W], "neutral", {"rows": STATES[::-1]}),
            (
                places.shares,
                [[f"{share:.2f}"] for share in shares],
                "neutral",
                {"shares": [[share] for share in shares.tolist()[::-1]]},
            ),
            (places.states, [[f"{n:g}" for n in state] for state in MIX_STATES], "encoder", {}),
        )
    )
    drawing.frame(w.x - 2, w.y - 2, w.width + 4, w.height + 4)
    left, wide = places.mix
    middle = top + 3.5 * high
    for i, share in enumerate(shares.tolist()[::-1]):
        y = top + (i + 0.5) * high
        drawing.line([(x.right + 3, y), (left - 4, middle)], "encoder", 1 + 12 * share)
    one = [[f"{number:.2f}" for number in mix.tolist()]]
    grid = drawing.matrix(left, middle - high / 2, one, (wide, high), "encoder")
    for column, heads in ((w, ["*w*"]), (s, ["shares"]), (x, ["the word's", "vectors"])):
        drawing.lines(column.middle[0], top - 32, heads, 19, bold=True)
    drawing.text(grid.middle[0], grid.y - 20, "the mix", bold=True)
    drawing.text((s.right + x.x) / 2, middle, "×", size=17, bold=True)
    drawing.text(grid.middle[0], grid.bottom + 28, "*γ* = 1", size=16)
    drawing.frame(grid.middle[0] - 34, grid.bottom + 13, 68, 30)


STATES = [f"state {i}" for i in range(7)]
