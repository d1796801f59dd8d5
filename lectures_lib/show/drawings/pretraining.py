"""Pre-training (chapter 13): a sentence with holes, the dice that make them, pairs of sentences, and
which vectors lead to which loss.
"""

from collections.abc import Sequence

from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Number
from lectures_lib.show.drawings.token_row import Token, token_row

WORDS = ("the", "cat", "sat", "on", "the", "?", "because", "it", "?", "warm", "there")
HOLES = tuple(i for i, word in enumerate(WORDS) if word == "?")
HELP = ((1, 2, 3, 9), (7, 9))  # which words help to fill each of them
FOR = ("where do cats sit, and where is it warm?", "“was”, not “were”")

# The chapter's sentence with its dice, its rates, and the word that takes another's place.
SENTENCE = "[CLS] the cat sat on the mat because it was warm [SEP]"
TOKENS = tuple(SENTENCE.split())
CHANCE = (0.02, 0.71, 0.11, 0.48, 0.93, 0.07, 0.60, 0.35, 0.88, 0.14, 0.26, 0.09)
FATE = (0.50, 0.12, 0.43, 0.91, 0.30, 0.86, 0.05, 0.77, 0.98, 0.95, 0.21, 0.64)
CHOSEN, MASKED, RANDOM, OTHER = 0.15, 0.8, 0.1, "run"
FATES = ("[MASK]", "another word", "itself")  # what is read in place of a chosen token
OTHERS = "the other nine are read as they are", "and not asked for"
KINDS = {"[MASK]": "mask", "another word": "error", "itself": "encoder"}

# The paper's example: two documents, and what becomes of their sentences.
A, B = "the man went to the store", "he bought a gallon of milk"
ELSEWHERE = "penguins are flightless birds"
READ = (
    (
        "IsNext",
        "heads",
        "[CLS] the man went to [MASK] store [SEP]",
        "he bought a gallon [MASK] milk [SEP]",
    ),
    (
        "NotNext",
        "tails",
        "[CLS] the man [MASK] to the store [SEP]",
        "penguin [MASK] are flight ##less birds [SEP]",
    ),
)

# The first pair of the chapter's batch: what is read, and what is asked for at which places.
PAIR = "[CLS] clash man [MASK] to [MASK] store [SEP] he bought a gallon [MASK] milk [SEP]"
BATCH = tuple(PAIR.split())
ASKED = {1: "the", 3: "went", 5: "the", 12: "of"}
# What the stored model that fills holes says there, in percent: to the right words, and at one hole
# to the likeliest ones.
RIGHT = {1: 18, 3: 9, 5: 41, 12: 84}
HOLE, LIKELIEST = 5, {"the": 41, "a": 10, "his": 10, "this": 4}


def fates() -> list[str]:
    """What becomes of each token: one of `FATES`, or "" if it is not chosen."""
    return [
        ""
        if token.startswith("[") or chance >= CHOSEN
        else FATES[(fate >= MASKED) + (fate >= MASKED + RANDOM)]
        for token, chance, fate in zip(TOKENS, CHANCE, FATE, strict=True)
    ]


def read() -> list[str]:
    """What the model reads in place of each token."""
    instead = {"[MASK]": "[MASK]", "another word": OTHER}
    return [instead.get(fate, token) for token, fate in zip(TOKENS, fates(), strict=True)]


def shares() -> list[str]:
    """Of the chosen tokens, how many have each of the `FATES`, in percent."""
    rates = (MASKED, RANDOM, 1 - MASKED - RANDOM)
    return [f"{100 * rate:.0f} %" for rate in rates]


def holes() -> Canvas:
    """A sentence with two holes, and the words on both sides that help to fill them."""
    drawing = Canvas(
        "holes",
        720,
        236,
        "A sentence with two holes, and the words that help to fill them",
        "The sentence The cat sat on the blank because it blank warm there, one box for each word, "
        "two of them empty and coloured. Lines lead into the first hole from words on both sides, "
        "cat, sat and on at its left and warm at its right: where do cats sit, and where is it "
        "warm? Lines lead into the second hole from it at its left and warm at its right: was, not "
        "were.",
        "A sentence with two holes. What helps to fill them stands on both sides.",
    )
    centres = [46 + 62.8 * i for i in range(len(WORDS))]
    word_boxes(drawing, centres, 100, WORDS, (56, 34))
    for hole, helping, says, edge, level in zip(
        HOLES, HELP, FOR, (97, 137), (62, 176), strict=True
    ):
        x = centres[hole]
        for i in helping:
            drawing.line([(centres[i], edge), (centres[i], level), (x, level)], "encoder", 2.5)
        drawing.arrow([(x, level), (x, edge)], "encoder", 2.5)
        drawing.text(x, level + (-24 if level < 100 else 24), says, size=15)
    return drawing


def word_boxes(
    drawing: Canvas,
    centres: Sequence[Number],
    y: Number,
    words: Sequence[str],
    box: tuple[Number, Number],
) -> None:
    """A box for each word around its centre, a hole's coloured."""
    wide, high = box
    for x, word in zip(centres, words, strict=True):
        colour = "prediction" if word == "?" else "neutral"
        size = 17 if word == "?" else 14 if len(word) < 7 else 12.5
        drawing.box(x - wide / 2, y, wide, high, word, colour, bold=word == "?", size=size)


def masking_dice() -> Canvas:
    """Twelve tokens, two dice each: which are chosen, and what becomes of them."""
    drawing = Canvas(
        "masking_dice",
        720,
        436,
        "Which tokens are chosen, and what the model reads in their places",
        f"Twelve columns for the tokens {' '.join(TOKENS)}, each with a first number: "
        f"{', '.join(map(str, CHANCE))}. Those below 0.15 are marked, three of them words; [CLS] "
        "and [SEP] are special and are never chosen. From each of the three an arrow leads "
        "to its second number, its fate, on a scale from 0 to 1, which is cut at 0.8 and 0.9: cat, 0.43, falls into "
        "the part for [MASK], the, 0.86, into that for another word, was, 0.95, into that for "
        f"itself. Below, what the model reads: {' '.join(read())}; and what it must predict: cat, "
        "the, was.",
        "The first number chooses, the second decides what is read in the token's place. Asked for "
        "are all three, also “was”, which looks as if nothing had been done to it.",
    )
    other = {"because": 66, "cat": 58, "it": 42, "on": 44}  # what is read there needs more, or less
    wides = [other.get(token, 52) for token in TOKENS]
    centres = [84 + sum(wides[:j]) + wides[j] / 2 for j in range(len(TOKENS))]
    for y, name in ((38, "text"), (76, "chance"), (326, "read"), (372, "asked")):
        drawing.text(14, y, name, anchor="start", bold=True, size=14)
    scale = (94, 600, 196)
    fate_scale(drawing, *scale)
    levels = iter((132, 156, 120))
    for x, wide, token, chance, fate, kind, seen in zip(
        centres, wides, TOKENS, CHANCE, FATE, fates(), read(), strict=True
    ):
        left, wide = x - wide / 2 + 1, wide - 2
        drawing.box(left, 24, wide, 28, token, "prediction" if kind else "neutral", size=13)
        drawing.text(x, 76, f"{chance:.2f}", bold=bool(kind), size=14)
        drawing.box(left, 312, wide, 28, seen, KINDS.get(kind, "neutral"), size=13)
        if token.startswith("["):
            drawing.text(x, 97, "special", "neutral", 12)
        if kind:
            drawing.frame(x - 24, 62, 48, 28, "prediction")
            drawing.box(left, 358, wide, 28, token, "prediction", size=13)
            level, end = next(levels), scale[0] + fate * scale[1]
            drawing.arrow([(x, 92), (x, level), (end, level), (end, scale[2] - 2)], "ink", 2)
            drawing.text(end + 8, scale[2] - 20, f"{fate:.2f}", size=14, anchor="start", bold=True)
    drawing.lines(14, 122, [f"below {CHOSEN}:", "chosen"], 17, anchor="start", size=13)
    drawing.text(14, scale[2] + 15, "fate", anchor="start", bold=True, size=14)
    drawing.text(396, 412, f"{OTHERS[0]}, {OTHERS[1]}", "neutral", 14)
    return drawing


def fate_scale(drawing: Canvas, x: Number, long: Number, y: Number, named: bool = True) -> None:
    """The scale of the second number, cut into its three parts, with what each is for."""
    cuts = (0.0, MASKED, MASKED + RANDOM, 1.0)
    for i, (name, share) in enumerate(zip(FATES, shares(), strict=True)):
        begin, end = cuts[i], cuts[i + 1]
        drawing.box(x + begin * long, y, (end - begin) * long, 30, "", KINDS[name], radius=0)
        middle = x + (begin + end) / 2 * long
        if named and name == "[MASK]":
            drawing.text(middle, y + 15, f"{share}: {name}", size=14)
        elif named:
            drawing.text(middle, y + 15, share, size=13)
            says = name.split()
            drawing.lines(middle, y + 52 + 8 * len(says), says, 16, size=13)
    for cut in cuts:
        drawing.text(x + cut * long, y + 42, f"{cut:g}", "neutral", 12)


def next_sentence() -> Canvas:
    """Two documents, a coin, and the two inputs that it can make."""
    drawing = Canvas(
        "next_sentence",
        720,
        432,
        "From two documents to two inputs of BERT with segments and holes",
        f"Above, two documents. The first holds A, {A}, and the sentence after it, {B}; the second "
        f"holds {ELSEWHERE}. A line leads from A to the first half of two rows of tokens below. "
        "Heads: the second half of the first row is the next sentence. Tails: the second half of "
        f"the second row is from the other document. The first row is {READ[0][2]} {READ[0][3]}, "
        f"its class IsNext; the second {READ[1][2]} {READ[1][3]}, its class NotNext. Below each "
        "row, segment 0 from [CLS] to the first [SEP], segment 1 from there to the end. The "
        "[MASK]s are grey.",
        "The paper's two examples. A coin decides where B is from; both exercises, the holes and "
        "the pair, are done at once.",
    )
    for x, name in ((44, "document 1"), (404, "document 2")):
        drawing.text(x, 26, name, anchor="start", bold=True, size=14)
    for x, y, sentence, letter, colour in (
        (44, 42, A, "A", "head_1"),
        (44, 80, B, "B", "head_1"),
        (404, 42, ELSEWHERE, "B", "head_2"),
    ):
        drawing.box(x, y, 260, 32, sentence, colour, size=14, radius=4)
        drawing.text(x + 276, y + 16, letter, bold=True)
    left, tops = 28, (200, 340)
    for top, (label, coin, a, b) in zip(tops, READ, strict=True):
        row = pair_row(drawing, left, top, a, b, size=12, other=coin == "tails")
        cut = len(a.split())
        segments(drawing, row, cut)
        drawing.arrow([(44, 58), (12, 58), (12, top + 15), (left - 2, top + 15)], "head_1")
        begin, end = row[cut].left + 2, row[-1].right - 2
        drawing.bracket(begin, top - 4, end - begin, "", "top")
        middle = (row[cut].left + row[-1].right) / 2
        way = [(174, 112), (174, 140)] if coin == "heads" else [(692, 58), (710, 58), (710, 298)]
        colour = "head_1" if coin == "heads" else "head_2"
        drawing.arrow([*way, (middle, way[-1][1]), (middle, top - 12)], colour)
        says = f"{coin}: " + ("the next sentence" if coin == "heads" else "from elsewhere")
        drawing.text(*((430, 124) if coin == "heads" else (606, 282)), says, size=14, bold=True)
        drawing.box(left, top - 44, 74, 26, label, "prediction", bold=True, size=14)
        drawing.line([(row[0].middle, top), (row[0].middle, top - 18)], "prediction")
    drawing.text(left + 84, tops[0] - 31, "for [CLS]’s vector to say", size=13, anchor="start")
    return drawing


def segments(drawing: Canvas, row: Sequence[Token], cut: int) -> None:
    """Brackets below a pair of tokens: which segment each is in."""
    for number, part in enumerate((row[:cut], row[cut:])):
        begin, end = part[0].left, part[-1].right
        drawing.bracket(begin + 2, part[0].bottom + 4, end - begin - 4, f"segment {number}")


def pair_row(
    drawing: Canvas, x: Number, y: Number, a: str, b: str, size: Number, other: bool = False
) -> list[Token]:
    """A pair's tokens as one row, coloured by the document they are from."""
    first = part_row(drawing, x, y, a, "head_1", size)
    second = part_row(drawing, first[-1].right + 3, y, b, "head_2" if other else "head_1", size)
    return [*first, *second]


def part_row(
    drawing: Canvas,
    x: Number,
    y: Number,
    part: str,
    document: str,
    size: Number = 12,
    pad: Number = 8,
    gap: Number = 3,
) -> list[Token]:
    """The tokens of A or of B, in the colour of their document."""
    tokens = part.split()
    colours = [colour_of(token, document) for token in tokens]
    return token_row(drawing, x, y, tokens, colours, size=size, gap=gap, pad=pad)


def colour_of(token: str, document: str) -> str:
    """A token's colour: its document's, or that of a hole or a mark."""
    if token == "[MASK]":
        return "mask"
    return "neutral" if token.startswith("[") else document


def two_losses() -> Canvas:
    """Fifteen tokens, the vectors of four of them lead to one loss, that of [CLS] to the other."""
    words = ", ".join(f"{word} {RIGHT[place]} %" for place, word in ASKED.items())
    likeliest = ", ".join(f"{word} {share} %" for word, share in with_the_rest().items())
    drawing = Canvas(
        "two_losses",
        720,
        612,
        "Which vectors lead to which of the two losses",
        f"Read from below. Fifteen tokens, {' '.join(BATCH)}, go into BERT's body, and fifteen "
        "vectors come out. Four of them are marked, those of the chosen places: clash, which took "
        "the place of another word, and three [MASK]s. From these four, arrows lead to the head "
        "for masked words, which gives each a score for every piece of the vocabulary; softmax makes "
        "shares of them. Above, what should have been said, and the share that a trained model "
        f"gives it: {words}. For the second [MASK] its likeliest words are listed: {likeliest}. "
        "The mean cross-entropy is the loss of the words. The "
        "vector of [CLS] leads to the pooler, a linear layer and two scores, and should say IsNext; its "
        "cross-entropy is the loss of the pair. The two are added. From the other ten vectors no "
        "arrow leads anywhere.",
        "Two losses, one sum. The vectors of the chosen places lead to the loss of the words, that "
        "of [CLS] to the loss of the pair; the others lead nowhere, and are trained only because "
        "those look at them. (Percentages: what the model of “Filling holes” below says.)",
    )
    left, wide = 44, 44
    centres = [left + (j + 0.5) * wide for j in range(len(BATCH))]
    for j, (x, token) in enumerate(zip(centres, BATCH, strict=True)):
        asked = j in ASKED
        drawing.text(x, 586, token, size=12)
        drawing.arrow([(x, 574), (x, 552)], "residual")
        drawing.arrow([(x, 506), (x, 484)], "residual")
        colour = "prediction" if asked else "encoder"
        drawing.matrix(x - 15, 462, [[""] * 3], (10, 20), colour)
        if asked:
            drawing.arrow([(x, 460), (x, 422)], "prediction", 2.5)
            drawing.arrow([(x, 356), (x, 254)], "prediction", 2.5)
            drawing.line([(x, 218), (x, 194)], "prediction", 2.5)
            drawing.box(x - 21, 220, 42, 32, ASKED[j], "prediction", bold=True, size=14)
            drawing.text(x + 8, 336, f"{RIGHT[j]} %", size=14, anchor="start")
    drawing.box(44, 508, 660, 42, "BERT’s body", "encoder")
    drawing.box(
        96, 358, 608, 62, "head for masked words", bold=True, note="a score for every piece"
    )
    cls = centres[0]
    drawing.arrow([(cls, 460), (cls, 422)], "residual", 2.5)
    drawing.box(12, 358, 78, 62)
    drawing.lines(51, 379, ["pooler,", "linear"], 18, bold=True)
    drawing.text(51, 409, "2 scores", size=14)
    drawing.arrow([(cls, 356), (cls, 254)], "residual", 2.5)
    drawing.box(14, 220, 66, 32, READ[0][0], "prediction", bold=True, size=14)
    drawing.arrow([(cls, 218), (cls, 168)], "residual", 2.5)
    first, last = (centres[j] for j in (min(ASKED), max(ASKED)))
    drawing.line([(first, 218), (first, 194), (last, 194), (last, 218)], "prediction", 2.5)
    drawing.arrow([(420, 194), (420, 168)], "prediction", 2.5)
    drawing.box(12, 128, 150, 38, "cross-entropy")
    drawing.box(320, 128, 200, 38, "mean cross-entropy")
    drawing.line([(cls, 126), (cls, 66), (250, 66)], "residual", 2.5)
    drawing.line([(420, 126), (420, 66), (280, 66)], "prediction", 2.5)
    drawing.circle(265, 66, 15, "+", "neutral", size=19)
    drawing.arrow([(265, 50), (265, 34)], "ink", 2.5)
    drawing.text(280, 24, "loss", bold=True, anchor="start", size=16)
    drawing.text(112, 96, "of the pair", anchor="start", size=14)
    drawing.text(436, 96, "of the words", anchor="start", size=14)
    drawing.lines(centres[12] + 30, 236, ["what should", "be said"], 17, size=13, anchor="start")
    says = centres[HOLE]
    drawing.arrow([(says + 4, 286), (says + 50, 286)], "neutral", 1.5)
    drawing.text(says + 46, 219, "what a trained model says here", anchor="start", size=14)
    guesses(drawing, says + 90, 244, 21, 110)
    return drawing


def with_the_rest() -> dict[str, int]:
    """The likeliest words at the hole that is looked at, in percent; last, all others together."""
    return {**LIKELIEST, "…": 100 - sum(LIKELIEST.values())}


def guesses(drawing: Canvas, x: Number, y: Number, step: Number, whole: Number) -> None:
    """Those words below each other, the bar of each from x on: `whole` pixels are 100 %."""
    for i, (word, share) in enumerate(with_the_rest().items()):
        middle, colour = y + i * step, "prediction" if word == ASKED[HOLE] else "neutral"
        drawing.text(x - 8, middle, word, anchor="end", size=14, bold=word == ASKED[HOLE])
        drawing.box(x, middle - 6, whole * share / 100, 12, colour=colour, radius=0)
        drawing.text(x + whole * share / 100 + 8, middle, f"{share} %", size=14, anchor="start")
