"""BERT's body (chapter 12), for a narrow page."""

from lectures_lib.show.drawings import bert
from lectures_lib.show.drawings.attention import numbers
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside


def who_sees_whom() -> Canvas:
    """The squares below each other, what is said of them at their right."""
    drawing = beside(bert.who_sees_whom(), 588)
    said = {
        "ELMo": ["two readers:", "“bag” is read", "by the other"],
        "GPT": ["causal mask:", "“bag” is", "hidden from", "“light”"],
        "BERT": ["no mask:", "“light” looks", "at “bag”"],
    }
    for i, (name, square) in enumerate(bert.who_looks_at_whom().items()):
        grid = bert.sees(drawing, 50, 36 + 188 * i, (28, 20), name, square)
        drawing.text(grid.right + 14, grid.y - 12, name, bold=True, size=16, anchor="start")
        drawing.lines(grid.right + 14, grid.middle[1], said[name], 19, size=14, anchor="start")
    return drawing


def bert_input() -> Canvas:
    """A row for each token instead of a column, and the numbers below."""
    said = {
        "Ten columns for": "Ten rows for",
        "Under each token": "Beside each token",
        "At the left the sizes": "Above, the sizes",
        "The column of dog": "The row of dog",
    }
    drawing = beside(bert.bert_input(), 596, said)
    chosen = {
        "token": bert.PIECES["ids"],
        "position": range(10),
        "segment": bert.PIECES["segments"],
    }
    xs, top, high = {"token": 98, "position": 178, "segment": 258}, 56, 30
    for name, x in xs.items():
        drawing.text(x + 31, 20, name, bold=True, size=14)
        drawing.text(x + 31, 40, bert.TABLES[name], "neutral", 13)
        for j, number in enumerate(chosen[name]):
            y = top + high * j
            drawing.box(x, y + 3, 62, high - 6, str(number), bert.COLOURS[name], size=14, radius=4)
            if name != "segment":
                drawing.text(x + 71, y + high / 2, "+", size=15)
    for j, token in enumerate(bert.PIECES["tokens"]):
        drawing.text(92, top + high * (j + 0.5), token, anchor="end", bold=True, size=14)
    a = bert.PIECES["segments"].count(0)
    drawing.text(370, 53, "sentence", anchor="end", size=12)
    for letter, first, n in (("A", 0, a), ("B", a, 10 - a)):
        drawing.bracket(328, top + high * first + 4, high * n - 8, letter, "right")
    y = top + high * bert.DOG
    drawing.frame(34, y, 289, high, radius=6)
    drawing.arrow([(34, y + 15), (20, y + 15), (20, 390), (50, 390)], "ink", 2.5)
    made, cell, x = bert.embedded(), (40, 28), 110
    for i, (name, vector) in enumerate(bert.VECTORS.items()):
        row = drawing.matrix(x, 376 + 36 * i, numbers(vector[None], "g"), cell, bert.COLOURS[name])
        drawing.text(x - 9, row.middle[1], name, anchor="end", size=14)
        if i:
            drawing.text(row.right + 16, row.y - 4, "+", size=18, bold=True)
    drawing.line([(x - 4, row.bottom + 9), (row.right + 4, row.bottom + 9)], "ink", 2)
    total = drawing.matrix(x, row.bottom + 18, numbers(made["sum"][None], "g"), cell, "residual")
    drawing.text(x - 9, total.middle[1], "sum", anchor="end", size=14)
    drawing.arrow([(total.middle[0], total.bottom + 3), (total.middle[0], total.bottom + 24)])
    norm = numbers(made["norm"][None], ".2f")
    last = drawing.matrix(x - 12, total.bottom + 28, norm, (48, 28), "residual")
    drawing.text(last.x - 7, last.middle[1], "LayerNorm", anchor="end", size=13)
    return drawing


def bert_body() -> Canvas:
    """Ten narrower columns; the tokens' names stand in two heights."""
    drawing = beside(bert.bert_body(), 600)
    left, wide = 16, 34.4
    drawing.box(8, 118, 360, 428, radius=12)
    drawing.text(356, 138, "BERT's body", anchor="end", bold=True, size=15)
    for j, token in enumerate(bert.PIECES["tokens"]):
        x = left + (j + 0.5) * wide
        drawing.text(x, 566 + 18 * (j % 2), token, bold=True, size=13)
        drawing.arrow([(x, 556), (x, 526)], "residual")
        drawing.arrow([(x, 484), (x, 452)], "residual")
        drawing.arrow([(x, 366), (x, 336)], "residual")
        drawing.matrix(x - 14, 310, [[""] * 4], (7, 22), "encoder")
        if 0 < j < 9:
            drawing.line([(x, 308), (x, 286)], "encoder")
    first, middle = left + wide / 2 + 10, left + 5.5 * wide  # beside the pooler's arrow
    drawing.line([(first, 305), (first, 286), (x, 286), (x, 308)], "encoder")
    drawing.arrow([(middle, 288), (middle, 98)], "encoder", 2.5)
    drawing.text(middle + 14, 216, "hidden", bold=True, anchor="start")
    drawing.lines(middle + 14, 248, ["a vector for", "every token"], 19, size=14, anchor="start")
    drawing.box(16, 486, 344, 38, "token + position + segment, LayerNorm", size=14)
    drawing.box(16, 368, 344, 82, "", "encoder")
    drawing.text(188, 396, f"encoder, {bert.BLOCKS} blocks", bold=True)
    drawing.text(188, 422, "in each, every token attends to all", size=14)
    x = left + wide / 2
    drawing.frame(x - 17, 306, 34, 30)
    drawing.arrow([(x, 306), (x, 276)], "ink", 2.5)
    drawing.box(16, 220, 92, 54, ["pooler"], bold=True, note="linear, tanh")
    drawing.arrow([(x, 220), (x, 194)], "ink", 2.5)
    drawing.matrix(x - 14, 170, [[""] * 4], (7, 22), "encoder")
    drawing.arrow([(x, 168), (x, 98)], "ink", 2.5)
    drawing.text(x + 22, 173, "pooled", anchor="start", bold=True)
    drawing.text(x + 22, 194, "one vector", size=14, anchor="start")
    texts = ["next sentence", "(chapter 13)", "class of a text", "(chapter 14)"]
    drawing.box(8, 12, 116, 84, texts, "prediction", dashed=True, size=13)
    texts = ["masked words", "(chapter 13)", "labels of words, answers", "in a text (chapter 14b)"]
    drawing.box(132, 12, 236, 84, texts, "prediction", dashed=True, size=13)
    return drawing
