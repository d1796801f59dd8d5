"""Pre-training (chapter 13), for a narrow page."""

from lectures_lib.show.drawings import pretraining
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside
from lectures_lib.show.drawings.pretraining import (
    ASKED,
    BATCH,
    CHANCE,
    CHOSEN,
    ELSEWHERE,
    FATE,
    HELP,
    HOLE,
    HOLES,
    KINDS,
    OTHERS,
    READ,
    RIGHT,
    TOKENS,
    WORDS,
    A,
    B,
    fates,
    guesses,
    part_row,
    segments,
)


def holes() -> Canvas:
    """The sentence in two lines."""
    drawing = beside(pretraining.holes(), 322, {"The sentence": "In two lines, the sentence"})
    cut = HOLES[0] + 1
    xs = [37 + 60 * i for i in range(cut)] + [52 + 64 * i for i in range(len(WORDS) - cut)]
    tops = [96] * cut + [196] * (len(WORDS) - cut)
    for begin, end, wide in ((0, cut, 54), (cut, len(WORDS), 58)):
        pretraining.word_boxes(drawing, xs[begin:end], tops[begin], WORDS[begin:end], (wide, 34))
    first, second = HOLES
    drawing.text(188, 28, pretraining.FOR[0], size=14)
    for i in HELP[0]:
        if i < cut:
            drawing.line([(xs[i], 94), (xs[i], 58), (xs[first], 58)], "encoder", 2.5)
    drawing.arrow([(xs[first], 58), (xs[first], 94)], "encoder", 2.5)
    warm = HELP[0][-1]
    way = [(xs[warm], 194), (xs[warm], 162), (xs[first], 162), (xs[first], 132)]
    drawing.arrow(way, "encoder", 2.5)
    for i in HELP[1]:
        drawing.line([(xs[i], 232), (xs[i], 268), (xs[second], 268)], "encoder", 2.5)
    drawing.arrow([(xs[second], 268), (xs[second], 232)], "encoder", 2.5)
    drawing.text(xs[second], 294, pretraining.FOR[1], size=14)
    return drawing


def masking_dice() -> Canvas:
    """A row for each token, and the scale below."""
    said = {"Twelve columns": "Twelve rows", "Below, what the model": "Beside them, what the model"}
    drawing = beside(pretraining.masking_dice(), 668, said)
    top, high = 38, 30
    xs = {"text": 46, "chance": 118, "fate": 180, "read": 252, "asked": 330}
    for name, x in xs.items():
        drawing.text(x, 22, name, bold=True, size=14)
    for j, (token, chance, fate, kind, seen) in enumerate(
        zip(TOKENS, CHANCE, FATE, fates(), pretraining.read(), strict=True)
    ):
        y = top + high * j + 2
        drawing.box(12, y, 68, 26, token, "prediction" if kind else "neutral", size=13)
        drawing.text(xs["chance"], y + 13, f"{chance:.2f}", bold=bool(kind), size=14)
        drawing.box(218, y, 68, 26, seen, KINDS.get(kind, "neutral"), size=13)
        if token.startswith("["):
            drawing.text(xs["fate"], y + 13, "special", "neutral", 13)
        if kind:
            drawing.frame(94, y - 1, 48, 28, "prediction")
            drawing.text(xs["fate"], y + 13, f"{fate:.2f}", bold=True, size=14)
            drawing.box(296, y, 68, 26, token, "prediction", size=13)
    y = top + high * len(TOKENS)
    drawing.text(20, y + 20, f"below {CHOSEN}: chosen", anchor="start", size=13)
    x, long, y = 20, 330, y + 74
    for token, fate, kind in zip(TOKENS, FATE, fates(), strict=True):
        if kind:
            tip = x + fate * long
            drawing.arrow([(tip, y - 26), (tip, y - 3)], "ink")
            aside = {"another word": -5, "itself": 5}.get(kind, 0)  # the two would touch
            drawing.text(tip + aside, y - 36, token, bold=True, size=13)
    pretraining.fate_scale(drawing, x, long, y, named=False)
    drawing.text(x, y - 16, "fate", anchor="start", size=14, bold=True)
    for i, (kind, share) in enumerate(zip(KINDS, pretraining.shares(), strict=True)):
        drawing.box(x, y + 62 + 26 * i, 20, 18, "", KINDS[kind], radius=0)
        drawing.text(x + 30, y + 71 + 26 * i, f"{share}: {kind}", size=14, anchor="start")
    drawing.lines(
        x, y + 160, [f"{OTHERS[0]},", OTHERS[1]], colour="neutral", size=14, anchor="start"
    )
    return drawing


def next_sentence() -> Canvas:
    """The documents below each other, each row of tokens in two lines."""
    said = {
        "Above, two documents. The first": "Two documents below each other. The first",
        "two rows of tokens below": "two rows of tokens, each in two lines",
    }
    drawing = beside(pretraining.next_sentence(), 606, said)
    for y, name in ((22, "document 1"), (122, "document 2")):
        drawing.text(44, y, name, anchor="start", bold=True, size=14)
    for y, sentence, letter, colour in (
        (36, A, "A", "head_1"),
        (70, B, "B", "head_1"),
        (136, ELSEWHERE, "B", "head_2"),
    ):
        drawing.box(44, y, 260, 30, sentence, colour, size=14, radius=4)
        drawing.text(318, y + 15, letter, bold=True)
    left, sides = (
        20,
        {"heads": (85, 352, "the next sentence"), "tails": (151, 367, "from elsewhere")},
    )
    for top, (label, coin, a, b) in zip((188, 396), READ, strict=True):
        y = top + 44
        first = part_row(drawing, left, y, a, "head_1", pad=5, gap=2)
        second = part_row(
            drawing, left, y + 96, b, "head_2" if coin == "tails" else "head_1", pad=5, gap=2
        )
        segments(drawing, [*first, *second], len(first))
        drawing.arrow([(44, 51), (9, 51), (9, y + 15), (left - 2, y + 15)], "head_1")
        start, side, says = sides[coin]
        way = [(330, start), (side, start), (side, y + 111), (second[-1].right + 2, y + 111)]
        other = coin == "tails"
        drawing.arrow(way, "head_2" if other else "head_1", dashed=other)
        drawing.text(left, y + 78, f"{coin}: {says}", anchor="start", size=14, bold=True)
        drawing.box(left, top, 74, 26, label, "prediction", bold=True, size=14)
        drawing.line([(first[0].middle, y), (first[0].middle, top + 26)], "prediction")
        if coin == "heads":
            says = "for [CLS]’s vector to say"
            drawing.text(left + 84, top + 13, says, size=13, anchor="start")
    return drawing


def two_losses() -> Canvas:
    """From left to right, a row for each token."""
    said = {
        "Read from below.": "Read from the left.",
        "Above, what should": "Beside it, what should",
    }
    drawing = beside(pretraining.two_losses(), 642, said)
    top, high = 18, 30
    centres = [top + (j + 0.5) * high + (22 if j else 6) for j in range(len(BATCH))]
    for j, (y, token) in enumerate(zip(centres, BATCH, strict=True)):
        drawing.text(56, y, token, anchor="end", size=13)
        drawing.arrow([(60, y), (74, y)], "residual")
        drawing.arrow([(108, y), (122, y)], "residual")
        colour = "prediction" if j in ASKED else "encoder"
        drawing.matrix(124, y - 9, [[""] * 3], (9, 18), colour)
        if j in ASKED:
            drawing.arrow([(153, y), (180, y)], "prediction", 2.5)
            drawing.arrow([(250, y), (298, y)], "prediction", 2.5)
            drawing.text(270, y - 10, f"{RIGHT[j]} %", size=12)
            drawing.box(300, y - 13, 44, 26, ASKED[j], "prediction", bold=True, size=14)
            drawing.line([(344, y), (356, y)], "prediction", 2.5)
    drawing.box(76, top, 32, high * len(BATCH) + 22, ["B", "E", "R", "T"], "encoder")
    first, last = (centres[j] for j in (min(ASKED), max(ASKED)))
    texts = ["head for", "masked", "words:", "a score", "for every", "piece"]
    drawing.box(182, first - 14, 66, last - first + 28, texts, bold=False, size=14)
    drawing.line([(270, centres[HOLE] + 4), (270, centres[HOLE] + 20)], "neutral", 1.5, dashed=True)
    drawing.lines(
        258, centres[HOLE] + 38, ["a trained", "model says:"], 16, size=13, anchor="start"
    )
    guesses(drawing, 294, centres[HOLE] + 72, 22, 32)
    y = centres[0]
    drawing.arrow([(153, y), (180, y)], "residual", 2.5)
    drawing.box(182, y - 26, 80, 52, ["pooler,", "linear:", "2 scores"], size=13)
    drawing.arrow([(262, y), (276, y)], "residual", 2.5)
    drawing.box(278, y - 13, 62, 26, READ[0][0], "prediction", bold=True, size=14)
    drawing.arrow([(340, y), (367, y), (367, 589), (342, 589)], "residual", 2.5)
    drawing.arrow([(356, first), (356, 539), (342, 539)], "prediction", 2.5)
    drawing.box(180, 522, 160, 34, "mean cross-entropy", size=14)
    drawing.box(180, 572, 160, 34, "cross-entropy", size=14)
    drawing.line([(180, 539), (130, 539), (130, 550)], "prediction", 2.5)
    drawing.line([(180, 589), (130, 589), (130, 578)], "residual", 2.5)
    drawing.circle(130, 564, 15, "+", "neutral", size=19)
    drawing.arrow([(114, 564), (84, 564)], "ink", 2.5)
    drawing.text(76, 564, "loss", bold=True, anchor="end", size=16)
    return drawing
