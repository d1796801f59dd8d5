"""Words and spans (chapter 14b), for a narrow page."""

from lectures_lib.show.drawings import spans
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import WIDTH, beside
from lectures_lib.show.drawings.spans import LABELS, QUESTION, SHOWN, UNLABELLED, WORDS
from lectures_lib.show.drawings.token_row import token_row


def words_and_spans() -> Canvas:
    """The questions above the rows."""
    drawing = beside(spans.words_and_spans(), 356)
    least = (68, 70, 46, 26, 84, 22)
    row = token_row(drawing, 12, 46, WORDS, least=least, size=13, pad=4)
    drawing.text(16, 26, "which names?", bold=True, anchor="start")
    for token, label, colour in zip(row, LABELS, spans.label_kinds(), strict=True):
        wide = token.right - token.left
        drawing.box(token.left, 82, wide, 30, label, colour, size=13, radius=4)
    spans.bracketed_names(drawing, row, 118)
    drawing.line([(16, 172), (360, 172)], "neutral", 1)
    drawing.text(16, 200, QUESTION, bold=True, anchor="start")
    row = token_row(drawing, 12, 294, WORDS, least=least, size=13, pad=4)
    spans.pointers(drawing, row, ("begins", "ends"))
    return drawing


def labels_on_pieces() -> Canvas:
    """A line for each piece: the word, the piece, its label."""
    said = {
        "Three rows. Above": "Three columns. Left",
        "each word above its own": "each word beside its own",
        "Below, what a tagger": "Right, what a tagger",
    }
    drawing = beside(spans.labels_on_pieces(), 480, said)
    read = spans.pieces()
    for i, piece in enumerate(read):
        y, counts = 26 + 39 * i, piece.label != UNLABELLED
        colours = ("encoder", "prediction") if counts else ("mask", "mask")
        drawing.box(132, y, 92, 30, piece.text, colours[0], size=14, radius=4)
        drawing.box(260, y, 96, 30, piece.label, colours[1], size=14, radius=4)
        if counts:
            drawing.frame(132, y, 92, 30, "encoder", radius=4)
            drawing.arrow([(227, y + 15), (257, y + 15)], "encoder", 2.5)
    for i, word in enumerate(WORDS):
        mine = [k for k, piece in enumerate(read) if piece.word == i]
        top, bottom = 26 + 39 * mine[0], 56 + 39 * mine[-1]
        drawing.text(108, (top + bottom) / 2, word, bold=True, anchor="end", size=14)
        if len(mine) > 1:
            drawing.bracket(126, top, bottom - top, "", "left")
        else:
            drawing.line([(114, top + 15), (130, top + 15)], "ink", 1.5)
    return drawing


def span_table() -> Canvas:
    """Smaller cells; what the framed cells are is said below."""
    drawing = beside(spans.span_table(), 424)
    cell = (37, 30)
    grid = spans.table_of_spans(drawing, 104, 108, cell, 13)
    drawing.text(grid.middle[0], 24, "ends here", bold=True, size=14)
    drawing.text(12, 88, "begins", bold=True, anchor="start", size=14)
    (i, _), (a, _) = spans.best(), spans.tempting()
    notes = ((0, "no answer", "neutral"), (a, "largest start, largest end", "error"))
    for k, (row, text, colour) in enumerate((*notes, (i, "the best answer", "ink"))):
        words = f"row {spans.TOKENS[row]}: {text}"
        drawing.text(16, grid.bottom + 28 + 24 * k, words, colour, 14, "start")
    return drawing


def windows() -> Canvas:
    """The same, at half the scale."""
    drawing = beside(spans.windows(), 404)
    spans.windows_at_the_end(drawing, 16, 30, (WIDTH - 32) / (SHOWN[1] - SHOWN[0]), 108)
    return drawing
