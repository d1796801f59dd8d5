"""The left-to-right language model (chapter 10), for a narrow page."""

from lectures_lib.show.drawings import language_model
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside


def chain_rule() -> Canvas:
    """As wide, without gaps; the perplexity stands below."""
    drawing = beside(language_model.chain_rule(), 304)
    language_model.pencilled(drawing, (8, 182, 242, 306), 50, 54, 56)
    drawing.box(190, 236, 174, 54, language_model.to_perplexity(), "error", bold=True)
    drawing.arrow([(334, 210), (334, 230)], "error", 2.5)
    return drawing


def decoder_only() -> Canvas:
    """As wide, with narrower columns."""
    drawing = beside(language_model.decoder_only(), 580)
    attention, gone = ["masked", "self-attention"], ["cross-attention", "no source:", "falls away"]
    language_model.old_block(drawing, 4, 138, attention, gone)
    language_model.gpt(drawing, 188, 128, attention, 366)
    language_model.stays(drawing, 138, 184, 12)
    return drawing


def five_exercises() -> Canvas:
    """As wide, in smaller cells."""
    drawing = beside(language_model.five_exercises(), 316)
    language_model.unroll(drawing, 11, 26, (59, 34), 13)
    language_model.legend(drawing, (11, 11, 11), 214, 32)
    return drawing
