"""One vector for each word (chapter 15), for a narrow page."""

from lectures_lib.show.drawings import word_vectors
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside
from lectures_lib.show.drawings.word_vectors import NEAR, SENTENCE, AskedPlaces, Stage, V, signed


def skip_gram() -> Canvas:
    """The word's vector stands below the sentence; what is computed stands above the columns."""
    drawing = beside(word_vectors.skip_gram(), 396)
    tokens = word_vectors.draw_window(drawing, 12, 60, 16)
    vector = drawing.matrix(286, 61, [[signed(x) for x in V.tolist()]], (34, 34), "encoder")
    drawing.text(vector.middle[0], vector.bottom + 18, "*v* of “tree”", size=14)
    places = AskedPlaces(12, (90, 38), (178, 34), (224, 44), (320, 48), top=200, size=13)
    word_vectors.draw_questions(drawing, places)
    drawing.text(195, places.top - 18, "*v*′ · *v*", size=14)
    drawing.text(344, places.top - 18, "−ln", size=14)
    start = tokens[SENTENCE.index(NEAR)]
    drawing.arrow(
        [(start.middle, start.bottom + 5), (start.middle, 134), (28, 134), (28, 192)], "ink", 2
    )
    return drawing


def one_row_or_a_vector_each() -> Canvas:
    """As wide, with everything closer together."""
    drawing = beside(word_vectors.one_row_or_a_vector_each(), 414)
    stage = Stage(left=8, box=(170, 58), plane=246, across=124, side=110, size=12, pad=6)
    drawing.text(12, 30, "a table", anchor="start", bold=True, size=16)
    word_vectors.draw_table(drawing, 50, stage)
    drawing.line([(0, 206), (376, 206)], "neutral", 1)
    drawing.text(12, 234, "BERT", anchor="start", bold=True, size=16)
    word_vectors.draw_bert(drawing, 254, stage)
    return drawing
