"""Words and spans (chapter 14b): labels on words and on pieces, a span as two pointers, windows over
a long text.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Grid, Number
from lectures_lib.show.drawings.token_row import Token, token_row

WORDS = ("Greta", "Lindqvist", "bakes", "in", "Reykjavik", ".")
LABELS = ("B-person", "I-person", "O", "O", "B-location", "O")
PIECES = (("greta",), ("lin", "##d", "##qvist"), ("ba", "##kes"), ("in",), ("reykjavik",), (".",))
QUESTION, ANSWER = "who bakes in Reykjavik?", (0, 1)
UNLABELLED = "−100"
# A span by hand: the chapter's seven tokens and their scores.
TOKENS = ("[CLS]", "who", "[SEP]", "ida", "met", "ben", "[SEP]")
START = torch.tensor([0.5, 3.0, 0.0, 1.0, 0.2, 2.0, 0.0])
END = torch.tensor([0.3, 1.0, 0.0, 2.5, 0.1, 1.0, 2.0])
TEXT = range(3, 6)
# Windows of 384 pieces, and the first answer of 30 that reaches beyond the first of them.
SIZE, LONGEST = 384, 30
STRIDES = (355, 356, 384)
SHOWN = (351, 389)  # the pieces around the end of the first window


@dataclass(frozen=True)
class Piece:
    """A piece, the word that it begins or goes on with, and what a tagger is taught there."""

    text: str
    word: int | None
    label: str


def pieces() -> list[Piece]:
    """What BERT reads of the sentence: a word's first piece has its label, the others none."""
    inside = [
        Piece(text, i, UNLABELLED if k else LABELS[i])
        for i, word in enumerate(PIECES)
        for k, text in enumerate(word)
    ]
    return [Piece("[CLS]", None, UNLABELLED), *inside, Piece("[SEP]", None, UNLABELLED)]


def names() -> list[tuple[str, int, int]]:
    """The names in the sentence: kind, first word, last word."""
    found: list[tuple[str, int, int]] = []
    for i, label in enumerate(LABELS):
        begin, _, kind = label.partition("-")
        if begin == "B":
            found.append((kind, i, i))
        if begin == "I":
            found[-1] = (kind, found[-1][1], i)
    return found


def label_kinds() -> list[str]:
    """A colour for each word: what is in a name is said by a prediction."""
    return ["neutral" if label == "O" else "prediction" for label in LABELS]


def bracketed_names(drawing: Canvas, row: list[Token], y: Number) -> None:
    """A bracket below the labels of each name, with its kind."""
    for kind, first, last in names():
        left, right = row[first].left, row[last].right
        drawing.bracket(left, y, right - left, kind, colour="ink", size=15)


def pointers(drawing: Canvas, row: list[Token], texts: tuple[str, str]) -> None:
    """A frame around the answer, and an arrow to its first and to its last word."""
    first, last = (row[i] for i in ANSWER)
    drawing.frame(
        first.left - 3, first.top - 3, last.right - first.left + 6, 36, "prediction", radius=6
    )
    for token, text in zip((first, last), texts, strict=True):
        drawing.arrow(
            [(token.middle, first.top - 36), (token.middle, first.top - 6)], "prediction", 2.5
        )
        drawing.text(token.middle, first.top - 48, text, size=14)


def words_and_spans() -> Canvas:
    """One sentence, marked twice."""
    found = "; ".join(
        f"{kind}: {' '.join(WORDS[first : last + 1])}" for kind, first, last in names()
    )
    said = ", ".join(f"{word} {label}" for word, label in zip(WORDS, LABELS, strict=True))
    answer = " ".join(WORDS[ANSWER[0] : ANSWER[1] + 1])
    drawing = Canvas(
        "words_and_spans",
        720,
        316,
        "Two ways to mark a text: a label for each word, or where an answer begins and ends",
        f"The same sentence twice. Above, the question which names there are: each word has a "
        f"label. {said}. Brackets put them together: {found}. Below, the question {QUESTION} Two "
        f"arrows point to the words where the answer begins and where it ends; the frame from the "
        f"one to the other holds the answer, {answer}.",
        "Above, a label for each word; names are put together from them (B begins one, I goes on "
        "with it, O is outside). Below, a question, and the two places where its answer begins "
        "and ends.",
    )
    least = (92, 92, 68, 44, 104, 32)
    row = token_row(drawing, 232, 36, WORDS, least=least, size=15)
    drawing.text(24, 51, "which names?", bold=True, anchor="start")
    for token, label, colour in zip(row, LABELS, label_kinds(), strict=True):
        wide = token.right - token.left
        drawing.box(token.left, 72, wide, 30, label, colour, size=14, radius=4)
    bracketed_names(drawing, row, 108)
    drawing.line([(24, 160), (696, 160)], "neutral", 1)
    row = token_row(drawing, 232, 252, WORDS, least=least, size=15)
    asked = QUESTION.split(" in ")
    asks = [asked[0], f"in {asked[1]}"]
    drawing.lines(24, 267, asks, bold=True, anchor="start")
    pointers(drawing, row, ("begins here", "ends here"))
    return drawing


def labels_on_pieces() -> Canvas:
    """Words, their pieces, and what is taught at each."""
    read = pieces()
    said = ", ".join(f"{piece.text} {piece.label}".replace("−", "minus ") for piece in read)
    drawing = Canvas(
        "labels_on_pieces",
        720,
        232,
        "Words cut into pieces, and the label that each piece is taught",
        f"Three rows. Above, the words {' '.join(WORDS)} In the middle the pieces that BERT reads, "
        f"each word above its own. Below, what a tagger is taught there: {said}. A frame is around "
        "the first piece of each word: it alone has the word's label. All others, and the special "
        "tokens, have minus 100, which leaves them out of the loss.",
        "A frame is around what counts. The first piece of a word carries its label; where −100 "
        "stands, nothing is taught and nothing is measured.",
    )
    least = [72 if piece.label.endswith("person") else 44 for piece in read]
    least[-2] = 30  # the full stop
    row = token_row(
        drawing,
        20,
        98,
        [piece.text for piece in read],
        ["mask" if piece.label == UNLABELLED else "encoder" for piece in read],
        least=least,
        size=14,
        pad=10,
        gap=5,
    )
    for i, word in enumerate(WORDS):
        mine = [token for token, piece in zip(row, read, strict=True) if piece.word == i]
        left, right = mine[0].left, mine[-1].right
        drawing.text((left + right) / 2, 52, word, bold=True)
        if len(mine) > 1:
            drawing.bracket(left, 92, right - left, "", "top")
        else:
            drawing.line([((left + right) / 2, 66), ((left + right) / 2, 92)], "ink", 1.5)
    for token, piece in zip(row, read, strict=True):
        counts = piece.label != UNLABELLED
        wide = token.right - token.left
        colour = "prediction" if counts else "mask"
        if counts:
            drawing.frame(token.left, 98, wide, 30, "encoder", radius=4)
            drawing.arrow([(token.middle, 130), (token.middle, 154)], "encoder", 2.5)
        drawing.box(token.left, 158, wide, 30, piece.label, colour, size=13, radius=4)
    return drawing


def sums() -> Tensor:
    """Start plus end of every pair, rows for where it begins."""
    return START[:, None] + END[None]


def legal() -> list[list[bool]]:
    """Which pairs lie in the text and do not end before they begin."""
    n = range(len(TOKENS))
    return [[i in TEXT and j in TEXT and i <= j for j in n] for i in n]


def best() -> tuple[int, int]:
    """The legal pair with the largest sum."""
    allowed = torch.tensor(legal())
    at = int(sums().masked_fill(~allowed, -torch.inf).argmax())
    return at // len(TOKENS), at % len(TOKENS)


def tempting() -> tuple[int, int]:
    """The best start and the best end, each by itself."""
    return int(START.argmax()), int(END.argmax())


def table_of_spans(drawing: Canvas, x: Number, y: Number, cell: tuple[int, int], size: int) -> Grid:
    """The sums as a grid whose upper left corner is x, y; its starts and ends beside it."""
    allowed, pair, no_answer = legal(), tempting(), (0, 0)
    shown = {pair, no_answer}
    values = [
        [f"{total:.1f}" if allowed[i][j] or (i, j) in shown else "" for j, total in enumerate(row)]
        for i, row in enumerate(sums().tolist())
    ]
    colours = [
        [
            "error" if (i, j) == pair else "prediction" if is_legal else "neutral"
            for j, is_legal in enumerate(row)
        ]
        for i, row in enumerate(allowed)
    ]
    hidden = [
        [not is_legal and (i, j) not in shown for j, is_legal in enumerate(row)]
        for i, row in enumerate(allowed)
    ]
    ends = [[f"{number:.1f}" for number in END.tolist()]]
    starts = [[f"{number:.1f}"] for number in START.tolist()]
    drawing.matrix(x, y - cell[1] - 8, ends, cell, columns=TOKENS, size=size)
    drawing.matrix(x - cell[0] - 8, y, starts, cell, rows=TOKENS, size=size)
    grid = drawing.matrix(x, y, values, cell, colours, hidden=hidden, size=size)
    for (i, j), colour in ((best(), "ink"), (pair, "error")):
        drawing.frame(x + j * cell[0], y + i * cell[1], *cell, colour, thick=3)
    return grid


def span_table() -> Canvas:
    """All pairs of a start and an end: which are answers, and which of them is best."""
    (i, j), (a, b) = best(), tempting()
    rows = sums()
    answers = "; ".join(
        f"{TOKENS[k]} to {TOKENS[m]}: {rows[k, m]:.1f}" for k in TEXT for m in TEXT if k <= m
    )
    scores = "; ".join(
        f"{token}: begins {start:.1f}, ends {end:.1f}"
        for token, start, end in zip(TOKENS, START.tolist(), END.tolist(), strict=True)
    )
    drawing = Canvas(
        "span_table",
        720,
        336,
        "Every pair of a beginning and an end, and the sum of its two scores",
        f"A table with a row for each token where an answer may begin and a column for each where "
        f"it may end. The tokens and their scores: {scores}. Only six of the 49 cells are answers, "
        f"in the text and not ending before they begin: {answers}. A frame is around the best, "
        f"{TOKENS[i]} to {TOKENS[j]}, {rows[i, j]:.1f}. The best start and the best end, each by "
        f"itself, meet in the cell {TOKENS[a]} to {TOKENS[b]}, {rows[a, b]:.1f}, which is no "
        f"answer. The cell of [CLS] and [CLS], {rows[0, 0]:.1f}, stands for no answer at all. The "
        "other cells are hatched.",
        "Each cell: a start's score plus an end's. Hatched cells are no answers. The two largest "
        "scores meet where no answer can be; among the legal cells the framed one "
        "is best, and has to beat the upper left one.",
    )
    cell = (56, 30)
    grid = table_of_spans(drawing, 156, 104, cell, 14)
    drawing.text(grid.middle[0], 26, "ends here", bold=True)
    drawing.text(20, 84, "begins here", bold=True, anchor="start")
    side = grid.right + 16
    notes = (
        (0, ["no answer"], "neutral"),
        (a, ["largest start,", "largest end"], "error"),
        (i, ["the best answer"], "ink"),
    )
    for row, text, colour in notes:
        y = grid.y + (row + 0.5) * cell[1]
        drawing.lines(side, y, text, 17, colour=colour, size=14, anchor="start")
    return drawing


def torn(drawing: Canvas, end: Number, off: Number, top: Number, colour: str) -> None:
    """A bar from its true end to where it is torn off, for it goes on there; top is its upper edge."""
    teeth = "".join(f"L{off + 5 * (k % 2 - 0.5):.4g} {top + 6 * k:g}" for k in range(5))
    drawing.shape(f"M{end:.4g} {top:g}{teeth}L{end:.4g} {top + 24:g}z", colour, soft=True)


def windows_at_the_end(drawing: Canvas, x: Number, y: Number, piece: Number, step: Number) -> None:
    """The end of the first window and the beginning of the second, for each stride, with the answer
    that the first one cuts; `piece` is how wide a piece is drawn.
    """
    first, last = SHOWN
    cut = SIZE - LONGEST + 1  # where the first answer begins that does not fit

    def at(place: Number) -> Number:
        return x + (place - first) * piece

    drawing.box(at(cut), y, LONGEST * piece, 28, "an answer of 30", "prediction", size=14)
    for k, stride in enumerate(STRIDES):
        top = y + 28 + k * step + (step - 62)
        whole = stride <= cut
        drawing.text(x, top - 14, f"stride {stride}", bold=True, anchor="start", size=14)
        lost = stride - cut
        lacks = "its first piece is lost" if lost == 1 else f"its first {lost} pieces are lost"
        says = "whole in the second" if whole else lacks
        colour = "ink" if whole else "error"
        drawing.text(at(last), top - 14, says, colour, 14, "end")
        middle = at(cut + LONGEST / 2)
        torn(drawing, at(SIZE), x, top, "encoder")
        drawing.text(middle, top + 12, f"first window: pieces 0 to {SIZE - 1}", size=13)
        torn(drawing, at(stride), at(last), top + 28, "encoder" if whole else "error")
        says = f"second window: pieces {stride} to {stride + SIZE - 1}"
        if stride < SIZE:
            drawing.text(middle, top + 40, says, size=13)
        for place in (cut, cut + LONGEST):
            ends = [(at(place), top - 4), (at(place), top + 56)]
            drawing.line(ends, "prediction", 2, dashed=True)


def windows() -> Canvas:
    """The place where the first window of 384 pieces ends, piece by piece."""
    cut = SIZE - LONGEST + 1
    said = "; ".join(
        f"with a stride of {stride} it begins at piece {stride}, "
        + ("and the answer lies whole in it" if stride <= cut else "and the answer does not")
        for stride in STRIDES
    )
    drawing = Canvas(
        "windows",
        720,
        404,
        "Where the first window ends and the second begins, for three strides",
        f"The pieces {SHOWN[0]} to {SHOWN[1] - 1} of a long text. An answer of {LONGEST} pieces "
        f"begins at piece {cut}; the first window, pieces 0 to {SIZE - 1}, ends one piece before the "
        f"answer does. Below, for three strides, the second window: {said}. Torn edges: there a "
        "window goes on.",
        f"The end of the first window, enlarged. The answer begins at piece {cut} and ends one "
        "piece too late for it; the second window has to begin no later than the answer. At the "
        "torn edges the windows go on.",
    )
    windows_at_the_end(drawing, 40, 30, 640 / (SHOWN[1] - SHOWN[0]), 108)
    return drawing
