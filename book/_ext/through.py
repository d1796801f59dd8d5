"""The figure of the page "One sentence, all the way down": the translators once more, and a drawing
of the whole Transformer with its sizes. The film on the same page is made in at_work.py.

The drawing stands there without scripts, and on paper; with them it is what one goes into: a part
that carries a place (`data-place`, as in book/live/places.js) becomes a button.
"""

import html
from functools import cache

from figures_of_writing import translators

from lectures_lib import stored

WIDE, HIGH = 360, 554
PAGE = "book/through"
SECTIONS = {
    "one-sentence-all-the-way-down": "through",
    "the-whole-model-at-work": "at_work",
}
COLOURS = ("query", "key", "value", "encoder", "decoder", "residual", "position")
BOX, STEP = 34, 42  # a block's height, and from one to the next
LOWEST = 388  # where the lowest block stands


class Drawing(str):
    """A text of a page's own making, not to be escaped."""


def part(
    place: str, x: int, y: int, label: str, kind: str, wide: int = 136, note: str = "", of: str = ""
) -> str:
    """A box that one can go into; `of`: what its name says beyond the words in it."""
    high = BOX + 14 * bool(note)
    middle = x + wide / 2
    lines = f'<text x="{middle:g}" y="{y + 22}" class="lv-name">{html.escape(label)}</text>'
    if note:
        lines += f' <text x="{middle:g}" y="{y + 38}" class="lv-note">{html.escape(note)}</text>'
    said = html.escape(" ".join(filter(None, (label, note, of))))
    return (
        f'<g data-place="{place}" class="lv-part lv-{kind}" aria-label="{said}">'
        f'<rect x="{x}" y="{y}" width="{wide}" height="{high}" rx="7"/>{lines}</g>'
    )


def way(path: str, kind: str = "way") -> str:
    """A line."""
    return f'<path d="{path}" class="lv-{kind}"/>'


def tip(x: float, y: float, kind: str = "tip", turn: int = 0) -> str:
    """An arrow's head that points up, or is turned by so many degrees."""
    return (
        f'<path d="M{x:g} {y:g}l-6 11h12z" class="lv-{kind}" '
        f'transform="rotate({turn} {x:g} {y:g})"/>'
    )


def text(x: int, y: int, words: str, kind: str = "note", says: str = "", side: str = "") -> str:
    """A line of words; `says`: the name by which a script puts others in their place; `side`: which
    end stands at x, if it is not the middle.
    """
    name = f' data-says="{says}"' if says else ""
    side = f' text-anchor="{side}"' if side else ""
    return f'<text x="{x}" y="{y}" class="lv-{kind}"{side}{name}>{html.escape(words)}</text>'


def stack(name: str, x: int, n_layers: int, tokens: str, side: str) -> list[str]:
    """An encoder or a decoder, from its tokens up to its last LayerNorm; x: its left edge."""
    middle = x + 80
    top = LOWEST - (n_layers - 1) * STEP
    blocks = [
        part(f"{name}-{i}", x + 12, LOWEST - i * STEP, f"{name} block {i}", name)
        for i in range(n_layers)
    ]
    return [
        f'<rect x="{x}" y="{top - 58}" width="160" height="{LOWEST - top + 104}" rx="10" '
        f'class="lv-frame lv-{name}"/>',
        way(f"M{middle} 510V{top - 40}"),
        *blocks,
        part(f"{name}-norm-0", x + 12, top - STEP, "LayerNorm", "plainpart", of=f"of the {name}"),
        part(
            f"{side}-0",
            x + 12,
            LOWEST + 60,
            "embedding",
            "plainpart",
            note="token + position",
            of=f"of the {side}",
        ),
        text(middle, 526, tokens, says=side),
    ]


@cache
def drawing() -> Drawing:
    """The whole Transformer of a translator, read from below, as SVG."""
    config = stored.translator("de", "en").model.config
    numbers = sum(p.numel() for p in stored.translator("de", "en").model.parameters())
    top = LOWEST - (config.n_layers - 1) * STEP - STEP
    sizes = [
        f"{config.d_model} numbers a vector",
        f"{config.n_heads} heads of {config.d_model // config.n_heads} numbers",
        f"{config.d_ff} feed-forward units",
        f"{config.vocab_size:,} tokens",
        f"in all {numbers / 1e6:.2f} million numbers",
    ]
    memory, high = 180, top - 30
    to_decoder = [
        tip(204, LOWEST - i * STEP + BOX / 2, "keytip", 90) for i in range(config.n_layers)
    ]
    parts = [
        *stack("encoder", 4, config.n_layers, "your sentence", "source"),
        *stack("decoder", 196, config.n_layers, "what is written so far", "target"),
        way(f"M84 {top}V{high}H{memory}V{LOWEST + BOX // 2}", "memory"),
        *(
            way(f"M{memory} {LOWEST - i * STEP + BOX // 2}H198", "memory")
            for i in range(config.n_layers)
        ),
        *to_decoder,
        text(172, high - 8, "K and V for each block", side="end"),
        way(f"M276 {top}V138"),
        part("output-0", 200, 96, "output", "prediction", 152, "scores, softmax"),
        way("M276 96V66", "out"),
        tip(276, 56, "outtip"),
        text(276, 44, "the next token", says="next"),
        *(text(8, 28 + 18 * i, line, side="start") for i, line in enumerate(sizes)),
    ]
    said = "The whole Transformer, read from below: an encoder of four blocks, a decoder of four."
    return Drawing(
        f'<svg viewBox="0 0 {WIDE} {HIGH}" class="lv-whole" role="img" aria-label="{said}">'
        f"{''.join(parts)}</svg>"
    )


@cache
def one_sentence() -> tuple[dict, str]:
    """The figure in which one sentence goes through the whole Transformer; the drawing of it."""
    models = translators()
    return {"models": models, "title": "One sentence, all the way down"}, drawing()


FIGURES = {"through": one_sentence}
