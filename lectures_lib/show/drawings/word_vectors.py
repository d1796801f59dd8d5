"""One vector for each word (chapter 15): skip-gram's questions, and what a table cannot do."""

import math
from typing import NamedTuple

import torch

from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Number
from lectures_lib.show.drawings.token_row import Token, token_row

# The chapter's pair, (tree, old), with the vectors that it computes with, and two drawn words.
SENTENCE, WORD, NEAR, REACH = ("the", "old", "tree", "fell"), "tree", "old", 1
V = torch.tensor([1.0, 2.0])
CANDIDATES = {"old": (0.5, 0.25), "soup": (1.0, -1.0), "key": (0.0, 0.5)}

# Two of the chapter's sentences, cut short; directions in degrees, chosen freely.
TWO_LIGHTS = (("light", "in", "the", "hall"), ("bike", "is", "very", "light"))
LAMP, BAG, PULL = 78, 6, 16


# ---------------------------------------------------------------------------------------- skip-gram


class Asked(NamedTuple):
    """One question of negative sampling: the word, what the model says, and what that costs."""

    word: str
    vector: tuple[float, float]
    dot: float
    yes: float
    wanted: bool
    loss: float


def questions() -> list[Asked]:
    """Did it stand near? Once for the word that did, then for those that were drawn."""
    made = []
    for word, vector in CANDIDATES.items():
        dot = float(torch.tensor(vector) @ V)
        yes = 1 / (1 + math.exp(-dot))
        right = yes if word == NEAR else 1 - yes
        made.append(Asked(word, vector, dot, yes, word == NEAR, -math.log(right)))
    return made


def signed(x: float) -> str:
    """A number with the minus sign of print."""
    return f"{x:g}".replace("-", "−")


class AskedPlaces(NamedTuple):
    """Where the columns of `skip_gram` begin, and how wide their cells are."""

    word: Number
    vector: tuple[Number, Number]
    dot: tuple[Number, Number]
    answers: tuple[Number, Number]
    loss: tuple[Number, Number]
    top: Number
    step: Number = 56
    high: Number = 34
    size: Number = 15


def skip_gram() -> Canvas:
    """A word, its window, and three questions about it."""
    asked = questions()
    said = "; ".join(
        f"{a.word}, vector ({', '.join(map(signed, a.vector))}), product {signed(a.dot)}, yes "
        f"{a.yes:.2f}, no {1 - a.yes:.2f}, right is {'yes' if a.wanted else 'no'}, loss "
        f"{a.loss:.3f}"
        for a in asked
    )
    total = sum(a.loss for a in asked)
    drawing = Canvas(
        "skip_gram",
        720,
        372,
        "Skip-gram with negative sampling: one true neighbour and two drawn words",
        f"Above, the sentence {' '.join(SENTENCE)}. A frame is around the word {WORD}, whose "
        f"vector v is ({', '.join(map(signed, V.tolist()))}); a bracket shows its window, one word "
        f"to either side. From its neighbour {NEAR} an arrow leads down to the first of three "
        "questions, one a row: did this word stand near? Each row has the word's other vector, "
        "its product with v, the shares of yes and no that the sigmoid gives, the right one "
        f"framed, and minus the logarithm of that one. {said}. The loss of the pair is the sum, "
        f"{total:.3f}.",
        "One pair of skip-gram, (tree, old), and two words drawn at random. Each is asked: did it "
        "stand near “tree”? What is framed is right, and −ln of its share is what the answer "
        "costs.",
    )
    tokens = draw_window(drawing, 32, 64, 17)
    vector = drawing.matrix(410, 65, [[signed(x) for x in V.tolist()]], (48, 34), "encoder")
    drawing.text(vector.x - 12, vector.middle[1], "*v* of “tree”", anchor="end", size=16)
    places = AskedPlaces(84, (206, 48), (350, 54), (462, 62), (638, 60), top=176)
    draw_questions(drawing, places)
    middle = places.top + places.step + places.high / 2
    for left, right, says in ((302, 350, "· *v*"), (404, 462, "*σ*"), (586, 638, "−ln")):
        for i in range(3):
            y = middle + (i - 1) * places.step
            drawing.arrow([(left + 4, y), (right - 5, y)], "neutral", 2)
            drawing.text((left + right) / 2 - 1, y - 15, says, size=14)
    start = tokens[SENTENCE.index(NEAR)]
    drawing.arrow([(start.middle, start.bottom + 5), (start.middle, 168)], "ink", 2)
    return drawing


def draw_window(drawing: Canvas, x: Number, y: Number, size: Number) -> list[Token]:
    """The sentence, a frame around the word that looks, and the bracket of its window."""
    at = SENTENCE.index(WORD)
    colours = ["encoder" if word == WORD else "neutral" for word in SENTENCE]
    tokens = token_row(drawing, x, y, SENTENCE, colours, height=36, size=size, gap=8)
    word, first, last = tokens[at], tokens[at - REACH], tokens[at + REACH]
    drawing.frame(word.left - 3, word.top - 3, word.right - word.left + 6, 42, radius=6)
    drawing.bracket(first.left, y - 8, last.right - first.left, f"its window: reach {REACH}", "top")
    return tokens


def draw_questions(drawing: Canvas, places: AskedPlaces) -> None:
    """A row for each question, the heads above them and the sum below."""
    asked, high, size = questions(), places.high, places.size
    for i, a in enumerate(asked):
        y = places.top + i * places.step
        drawing.text(places.word, y + 8, a.word, anchor="start", bold=True, size=size + 1)
        origin = "stood near" if a.wanted else "drawn"
        drawing.text(places.word, y + 27, origin, anchor="start", size=13)
        left, wide = places.vector
        drawing.matrix(left, y, [[signed(x) for x in a.vector]], (wide, high), size=size - 1)
        left, wide = places.dot
        drawing.matrix(left, y, [[signed(a.dot)]], (wide, high), size=size)
        left, wide = places.answers
        shares = [f"{a.yes:.2f}", f"{1 - a.yes:.2f}"]
        drawing.matrix(left, y, [shares], (wide, high), "prediction", size=size)
        drawing.frame(left + (0 if a.wanted else wide) + 1, y - 1, wide - 2, high + 2)
        left, wide = places.loss
        drawing.matrix(left, y, [[f"{a.loss:.3f}"]], (wide, high), "error", size=size)
    heads = (
        (places.vector[0] + places.vector[1], "*v*′"),
        (places.answers[0] + places.answers[1] / 2, "yes"),
        (places.answers[0] + 1.5 * places.answers[1], "no"),
    )
    for x, head in heads:
        drawing.text(x, places.top - 18, head, bold=True)
    left, wide = places.loss
    low = places.top + 3 * places.step
    total = sum(a.loss for a in asked)
    drawing.text(left + wide, low + 4, f"loss: {total:.3f}", "error", anchor="end", bold=True)
    says = "summed before rounding"
    drawing.text(left + wide - 104, low + 4, says, "neutral", 13, "end")


# --------------------------------------------------------------------------- a table, and a sentence


class Stage(NamedTuple):
    """Measures of one half of `one_row_or_a_vector_each`."""

    left: Number
    box: tuple[Number, Number]
    plane: Number
    across: Number
    side: Number
    size: Number
    pad: Number


def one_row_or_a_vector_each() -> Canvas:
    """The same two sentences, read by a table and by BERT."""
    drawing = Canvas(
        "one_row_or_a_vector_each",
        720,
        414,
        "A table has one vector for light, BERT one for each sentence",
        "Two halves, each read from left to right, with the same two sentences: "
        f"{' '.join(TWO_LIGHTS[0])}, and {' '.join(TWO_LIGHTS[1])}. Above, a table. From each "
        "sentence only the word light, framed, leads to it, and both arrows end at one row. Out "
        "comes one arrow, halfway between the dashed directions of lamp and bag. Below, BERT. Each "
        "sentence enters as a whole, and each gives its light an arrow of its own: that of the "
        "first sentence, light (hall), lies near lamp, that of the second, light (bike), near bag.",
        "Two sentences with “light”. A table looks at the word alone: one row, one arrow. BERT "
        "reads the sentence, and computes an arrow for each. (Two directions of many, chosen "
        "freely.)",
    )
    stage = Stage(left=28, box=(330, 130), plane=552, across=152, side=136, size=15, pad=14)
    drawing.text(28, 30, "a table", anchor="start", bold=True, size=16)
    draw_table(drawing, 50, stage)
    drawing.line([(0, 206), (720, 206)], "neutral", 1)
    drawing.text(28, 234, "BERT", anchor="start", bold=True, size=16)
    draw_bert(drawing, 254, stage)
    return drawing


def rows_of_lights(drawing: Canvas, top: Number, stage: Stage) -> list[list[Token]]:
    """Both sentences below each other, "light" framed."""
    made = []
    for i, sentence in enumerate(TWO_LIGHTS):
        y = top + 4 + i * 78
        tokens = token_row(drawing, stage.left, y, sentence, size=stage.size, pad=stage.pad)
        word = tokens[sentence.index("light")]
        drawing.frame(word.left - 1, word.top - 1, word.right - word.left + 2, 32, radius=5)
        made.append(tokens)
    return made


def draw_table(drawing: Canvas, top: Number, stage: Stage) -> None:
    """Both words lead to one row, and one arrow comes out."""
    first, second = (
        tokens[sentence.index("light")]
        for tokens, sentence in zip(rows_of_lights(drawing, top, stage), TWO_LIGHTS, strict=True)
    )
    left, wide = stage.box
    middle = top + 58
    for word, y, edge in ((first, middle - 7, "bottom"), (second, middle + 7, "top")):
        start = getattr(word, edge) + (3 if edge == "bottom" else -3)
        drawing.arrow([(word.middle, start), (word.middle, y), (left - 5, y)], "ink", 2, round=6)
    drawing.box(
        left, middle - 22, wide, 44, ["the row", "of “light”"], size=max(12, stage.size - 1)
    )
    drawing.arrow([(left + wide + 4, middle), (stage.plane - 3, middle)], "ink", 2.5)
    draw_plane(drawing, top, stage, {(LAMP + BAG) / 2: ("light", "ink")})


def draw_bert(drawing: Canvas, top: Number, stage: Stage) -> None:
    """Both sentences go in, and two arrows come out."""
    left, wide = stage.box
    drawing.box(left, top - 2, wide, 122, ["BERT"], "encoder")
    for tokens in rows_of_lights(drawing, top, stage):
        y = (tokens[0].top + tokens[0].bottom) / 2
        drawing.arrow([(tokens[-1].right + 4, y), (left - 5, y)], "ink", 2.5)
        drawing.arrow([(left + wide + 4, y), (stage.plane - 3, y)], "encoder", 2.5)
    arrows = {LAMP - PULL: ("light (hall)", "encoder"), BAG + PULL: ("light (bike)", "encoder")}
    draw_plane(drawing, top, stage, arrows)


def draw_plane(
    drawing: Canvas, top: Number, stage: Stage, arrows: dict[Number, tuple[str, str]]
) -> None:
    """A frame in which there are two dashed directions, and between them the arrows of "light": for
    each angle its name and its colour.
    """
    side, right = stage.side, stage.plane + stage.across
    drawing.frame(stage.plane, top - 11, stage.across, 140, "neutral", thick=1, radius=6)
    ox, oy, far = stage.plane + 14, top + 45 + side / 2, side - 42
    for angle, name in ((LAMP, "lamp"), (BAG, "bag")):
        end = _tip(ox, oy, angle, far)
        drawing.line([(ox, oy), end], "neutral", 1.5, dashed=True)
        drawing.text(*_tip(ox, oy, angle, far + 16), name, size=13)
    for angle, (name, colour) in arrows.items():
        tx, ty = _tip(ox, oy, angle, 0.8 * far)
        drawing.arrow([(ox, oy), (tx, ty)], colour, 3.5)
        small = stage.size <= 13  # and no room for broad letters
        size = stage.size - (not small)
        drawing.text(right - 7, ty - 18, name, size=size, anchor="end", bold=not small)


def _tip(x: Number, y: Number, angle: Number, far: Number) -> tuple[Number, Number]:
    """How far one gets from (x, y) in this direction, in degrees above the horizontal."""
    turn = math.radians(angle)
    return x + far * math.cos(turn), y - far * math.sin(turn)
