"""The left-to-right language model (chapter 10), for a narrow page."""

from lectures_lib.show.drawings import language_model
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.language_model import pencil, power
from lectures_lib.show.drawings.narrow.sheet import beside


def chain_rule() -> Canvas:
    """As wide, without gaps; the perplexity stands below."""
    drawing = beside(language_model.chain_rule(), 290)
    *_, mean, perplexity = pencil()
    language_model.pencilled(drawing, (8, 182, 242, 306), 50, 54, 56)
    drawing.box(190, 238, 174, 38, f"perplexity 2{power(mean)} = {perplexity}", "error", bold=True)
    drawing.arrow([(340, 212), (340, 232)], "error", 2.5)
    return drawing


def decoder_only() -> Canvas:
    """As wide, with narrower columns."""
    drawing = beside(language_model.decoder_only(), 580)
    attention, gone = ["masked", "self-attention"], ["cross-attention", "falls away"]
    language_model.old_block(drawing, 6, 138, attention, gone)
    language_model.gpt(drawing, 188, 128, attention, 366)
    for y in (239, 383):
        drawing.arrow([(136, y), (184, y)], "decoder", 2.5)
    drawing.text(176, 330, "*N* ×", anchor="end", size=15)
    return drawing


def five_exercises() -> Canvas:
    """As wide, in smaller cells."""
    drawing = beside(language_model.five_exercises(), 316)
    language_model.unroll(drawing, 11, 26, (59, 34), 13)
    language_model.legend(drawing, (11, 11, 11), 214, 32)
    return drawing
