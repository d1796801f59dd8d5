"""BLEU (chapter 8b): which pieces of a translation a human wrote, too."""

from collections.abc import Sequence

from lectures_lib.metrics import corpus_bleu, n_grams
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Number
from lectures_lib.show.drawings.token_row import Token, token_row

# The chapter's own sentences; hits, shares and scores are computed from them.
HUMAN = ("Two dogs are playing in the snow .", "Nobody is sitting on the bench .")
MODEL = ("Two dogs play in the snow .", "A shirtless man is sitting on the bench .")
REFERENCE = "sechs und dreißig , sieben hundert drei"
HYPOTHESIS = "sechs dreißig , sieben hundert drei drei"
SIZES = (1, 2, 3, 4)


def hits(hypothesis: str, reference: str, n: int) -> list[bool]:
    """For each piece of n words, from left to right, whether it counts: the reference has it, and
    has not been used up by the same piece before.
    """
    words, left = hypothesis.split(), n_grams(reference.split(), n)
    counted = []
    for i in range(len(words) - n + 1):
        piece = tuple(words[i : i + n])
        counted.append(left[piece] > 0)
        left[piece] -= 1
    return counted


def links(hypothesis: str, reference: str) -> list[tuple[int, int]]:
    """Which word of the reference each word that counts is matched with: (its place, theirs)."""
    free, found = list(enumerate(reference.split())), []
    for i, word in enumerate(hypothesis.split()):
        for place in free:
            if place[1] == word:
                found.append((i, place[0]))
                free.remove(place)
                break
    return found


def shares() -> list[tuple[int, int]]:
    """Hits and pieces for 1, 2, 3, 4 words in a row."""
    all_hits = [hits(HYPOTHESIS, REFERENCE, n) for n in SIZES]
    return [(sum(found), len(found)) for found in all_hits]


def result() -> str:
    """BLEU, as the mean that it is."""
    product = " · ".join(f"{found}/{all_}" for found, all_ in shares())
    return f"⁴√({product}) = {corpus_bleu([HYPOTHESIS], [REFERENCE]) / 100:.3f}"


def said(n: int) -> str:
    """The pieces of n words that count, in words."""
    words, found = HYPOTHESIS.split(), hits(HYPOTHESIS, REFERENCE, n)
    pieces = [" ".join(words[i : i + n]) for i, hit in enumerate(found) if hit]
    return f"{n}: {sum(found)} of {len(found)}, {' | '.join(pieces)}."


def word_row(
    drawing: Canvas, x: Number, y: Number, words: Sequence[str], found: Sequence[bool], size: Number
) -> list[Token]:
    """A box for each word, filled where it counts."""
    colours = ["prediction" if hit else "paper" for hit in found]
    return token_row(drawing, x, y, words, colours, 1.9 * size, size, 0.25 * size, 0.7 * size)


def pair(drawing: Canvas, x: Number, y: Number, which: int, size: Number) -> Number:
    """A human's sentence, a model's below, and a line under every four words that count. Returns
    where the lines end.
    """
    human, model = HUMAN[which], MODEL[which]
    word_row(drawing, x, y + 22, human.split(), [False] * len(human.split()), size)
    low = y + 36 + 1.9 * size + 26
    places = word_row(drawing, x, low, model.split(), hits(model, human, 1), size)
    under = low + 1.9 * size + 8
    for i, hit in enumerate(hits(model, human, 4)):
        if hit:
            ends = (places[i].left, under), (places[i + 3].right, under)
            drawing.line(ends, "prediction", 4)
            under += 9
    drawing.text(x, y + 10, "a human", "neutral", 14, "start")
    drawing.text(x, low - 13, "the model", "neutral", 14, "start")
    return under


def counted(which: int) -> str:
    """The hits of a sentence among single words and among fours."""
    human, model = HUMAN[which], MODEL[which]
    one, four = hits(model, human, 1), hits(model, human, 4)
    return f"words {sum(one)} of {len(one)}, fours {sum(four)} of {len(four)}"


def score(which: int) -> str:
    """A sentence's BLEU."""
    return f"{corpus_bleu([MODEL[which]], [HUMAN[which]]):.0f}"


def two_scores() -> Canvas:
    """Two translations, what of them is counted, and their scores."""
    told = " ".join(
        f"Pair {i + 1}. A human: {HUMAN[i]} The model: {MODEL[i]} It has {counted(i)}; score "
        f"{score(i)}."
        for i in range(2)
    )
    drawing = Canvas(
        "two_scores",
        640,
        382,
        "Two translations, one right and one wrong, and what BLEU counts in them",
        f"Two pairs of lines, a human's translation above a model's, each word in a box. Filled are "
        f"the words of the model that the human used too; a line runs under every four words in a "
        f"row that the human wrote in the same way. {told} The first is right, the second wrong.",
        "Two translations and their scores. Filled: words that the human used too. A line: four "
        "words in a row that the human wrote in the same way. The second is wrong; as many of its "
        "words are filled, and it has three lines where the first has one.",
    )
    for i, y in enumerate((20, 196)):
        pair(drawing, 24, y, i, 17)
        drawing.circle(582, y + 66, 38, score(i), "prediction", 28)
        drawing.text(582, y + 122, "points", size=14)
    return drawing


def clipped_counts() -> Canvas:
    """Every piece of one, two, three, four words, filled where it counts."""
    words, wanted = HYPOTHESIS.split(), REFERENCE.split()
    drawing = Canvas(
        "clipped_counts",
        720,
        432,
        "BLEU by hand: which pieces of a translation are in the reference",
        f"Above, the reference: {REFERENCE}. Below it, what the model wrote: {HYPOTHESIS}. Lines "
        f"join the words that are matched; the second drei is matched with nothing, since the "
        f"reference has only one. Below that, a bar for every piece of one, two, three and four "
        f"words in a row, filled where the piece counts. {' '.join(map(said, SIZES))} Then "
        f"the geometric mean of the four shares: {result()}.",
        "A bar for every piece of the model's line, along the words that it is made of. Filled: "
        "the reference has it. The second drei finds no partner (it is clipped), and no piece with it "
        "counts; the missing und costs the three at the left.",
    )
    x, cell = 118, 74
    drawing.text(24, 43, "reference", bold=True, anchor="start")
    drawing.text(24, 123, "the model", bold=True, anchor="start")
    for i, word in enumerate(wanted):
        drawing.box(x + i * cell + 2, 28, cell - 4, 30, word, "paper", radius=4)
    matched = dict(links(HYPOTHESIS, REFERENCE))
    for i, word in enumerate(words):
        colour = "prediction" if i in matched else "paper"
        drawing.box(x + i * cell + 2, 108, cell - 4, 30, word, colour, radius=4)
        if i in matched:
            ends = (x + (matched[i] + 0.5) * cell, 60), (x + (i + 0.5) * cell, 106)
            drawing.line(ends, "prediction", 2.5)
    drawing.text(x + 6.5 * cell, 96, "clipped", size=14)
    drawing.text(x + 7 * cell + 14, 146, "found", anchor="start", size=14)
    y = 164
    for n, (found, all_) in zip(SIZES, shares(), strict=True):
        says = "1 word" if n == 1 else f"{n} in a row"
        drawing.text(24, y + 7 * n - 1, says, anchor="start")
        drawing.text(
            x + 7 * cell + 14, y + 7 * n - 1, f"{found} of {all_}", bold=True, anchor="start"
        )
        for i, hit in enumerate(hits(HYPOTHESIS, REFERENCE, n)):
            bar(drawing, x + i * cell + 3, y + i % n * 14, n * cell - 6, 11, hit)
        y += 14 * n + 20
    drawing.text(x, y + 12, result(), anchor="start", size=17, bold=True)
    return drawing


def bar(drawing: Canvas, x: Number, y: Number, wide: Number, high: Number, hit: bool) -> None:
    """A piece: filled where it counts, an empty dashed one where it does not."""
    if hit:
        drawing.box(x, y, wide, high, colour="prediction", radius=2)
    else:
        drawing.box(x, y, wide, high, colour="paper", radius=2, dashed=True)
