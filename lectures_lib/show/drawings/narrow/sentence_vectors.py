"""Sentence vectors (chapters 17 and 17b), for a narrow page."""

from lectures_lib.show.drawings import sentence_vectors
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside


def two_encoders() -> Canvas:
    """One below the other."""
    said = {"Left, the cross": "Above, the cross", "Right, the bi": "Below, the bi"}
    drawing = beside(sentence_vectors.two_encoders(), 908, said)
    sentence_vectors.cross(drawing, 30, 28)
    drawing.line([(16, 452), (360, 452)], "neutral", 1)
    sentence_vectors.bi(drawing, 30, 478)
    return drawing


def pooling() -> Canvas:
    """Two and two."""
    drawing = beside(sentence_vectors.pooling(), 568)
    for k, way in enumerate(sentence_vectors.pooled()):
        top = 54 + 264 * (k // 2)
        sentence_vectors.one_pooling(drawing, 110 + 134 * (k % 2), top, way)
    for top in (54, 318):
        for i, text in enumerate(sentence_vectors.ROWS):
            drawing.text(98, top + 16 + 32 * i, text, anchor="end", size=14)
        drawing.text(98, top + 185, "the vector", anchor="end", bold=True, size=14)
    return drawing


def in_batch() -> Canvas:
    """The same table, smaller; what the frame is stands below."""
    drawing = beside(sentence_vectors.in_batch(), 342)
    sentence_vectors.table_of_pairs(drawing, 96, 98, (90, 54), 12.5)
    drawing.text(14, 74, "first: *u*", anchor="start", size=14)
    drawing.text(231, 28, "second: *v*", size=14)
    says = ["in the frame, one exercise: softmax over", "the row's cosines, each times 20"]
    drawing.lines(188, 306, says, 20, size=14)
    return drawing


def searching() -> Canvas:
    """The same; the question's way goes down, and its vector's up at the right."""
    drawing = beside(sentence_vectors.searching(), 410)
    drawing.text(14, 24, "once", bold=True, anchor="start")
    for k, title in enumerate(sentence_vectors.SECTIONS):
        left = sentence_vectors.encoded(drawing, 10, 64 + 36 * k, 138, 96, title)
    drawing.box(153, 44, 64, 148, "MiniLM", "encoder", size=14)
    drawing.frame(left - 8, 44, 96, 148)
    drawing.text(left + 40, 28, "kept", bold=True, size=14)
    drawing.line([(14, 248), (344, 248)], "neutral", 1)
    drawing.text(14, 270, "when a question comes", bold=True, anchor="start")
    drawing.box(10, 288, 230, 46, sentence_vectors.QUESTION, size=13, radius=4)
    drawing.arrow([(125, 336), (125, 352)], "encoder")
    drawing.box(79, 354, 92, 36, "MiniLM", "encoder", size=14)
    drawing.arrow([(173, 372), (240, 372)], "encoder")
    vector = drawing.matrix(left, 361, [[""] * 5], (16, 22), "query")
    drawing.arrow([(vector.right + 4, 372), (358, 372), (358, 118), (337, 118)], "query", 2.5)
    drawing.text(348, 230, "a dot product with each row", size=14, anchor="end")
    found = 64 + 36 * sentence_vectors.NEAREST
    drawing.frame(left, found - 13, 80, 26, "prediction", thick=3.5)
    says = f"largest: {sentence_vectors.SECTIONS[sentence_vectors.NEAREST]}"
    drawing.text(348, 210, says, "prediction", 14, "end", True)
    return drawing
