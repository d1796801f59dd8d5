"""Which noun a verb belongs to (chapter 10b): the sentence with its two attractors, one noun changed at
a time, and the masks of three models.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from lectures_lib.blocks.attention import causal_mask
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Grid, Number

SENTENCE = ("the", "keys", "to", "the", "cabinet", "near", "the", "door")
SUBJECT, TEMPTING = 1, (4, 7)
# of `one_noun_at_a_time`: the subject, and three nouns in between of the other number
NOUNS = ("keys", "cabinet", "door", "lamp")
BACK = 3  # so many nouns back the rule looks
# of `three_masks`
TARGET, N_SOURCE = ("light", "as", "a", "feather"), 3
MODELS = (
    ("encoder", ("encoder",), "both sides"),
    ("translator", ("decoder of", "a translator"), "source, and the left"),
    ("decoder", ("decoder alone",), "the left"),
)


def is_plural(noun: str) -> bool:
    """Whether it ends in s."""
    return noun.endswith("s")


def agreement_arc() -> Canvas:
    """The verb's place, and the noun that it has to agree with."""
    drawing = Canvas(
        "agreement_arc",
        720,
        196,
        "The keys to the cabinet near the door, and the verb that is missing",
        f"The words {' '.join(SENTENCE)}, and a question mark where is or are has to stand. An "
        "arrow leads from the question mark over door and cabinet back to keys. Below keys stands "
        "plural, below cabinet and below door singular: they tempt.",
        "The verb agrees with the noun at the far end of the arrow. The two nouns under it have "
        "the other number; they are called attractors, because they tempt.",
    )
    places = sentence(drawing, 20, 104, 17, 12, ["is or are?"])
    over(drawing, places, 104, 62, 15)
    return drawing


def sentence(
    drawing: Canvas, x: Number, y: Number, size: Number, gap: Number, verb: list[str]
) -> list[tuple[Number, Number]]:
    """The words in boxes, the verb in one or two lines, with the nouns' numbers below; returns the
    middle and width of each.
    """
    places, high = [], (2.3 if len(verb) == 1 else 2.7) * size
    colours = {SUBJECT: "prediction", len(SENTENCE): "prediction"}
    colours |= dict.fromkeys(TEMPTING, "error")
    for i, word in enumerate((*SENTENCE, verb)):
        longest = max(map(len, word)) if i == len(SENTENCE) else len(word)
        wide = round(size * (0.62 * longest + (1.0 if gap > 8 else 0.45)))
        colour = colours.get(i, "neutral")
        drawing.box(x, y, wide, high, word, colour, bold=i in colours, size=size, radius=5)
        middle = x + wide / 2
        if i in colours and i < len(SENTENCE):
            number = "plural" if is_plural(word) else "singular"
            drawing.text(middle, y + high + 18, number, colour, bold=True, size=min(size, 15))
        places.append((middle, wide))
        x += wide + gap
    return places


def over(
    drawing: Canvas, places: Sequence[tuple[Number, Number]], y: Number, rise: Number, size: Number
) -> None:
    """The arrow from the verb's place to its noun."""
    verb, noun = places[-1][0], places[SUBJECT][0]
    way = [(verb, y - 4), (verb, y - rise), (noun, y - rise), (noun, y - 5)]
    drawing.arrow(way, "prediction", 4, round=34)
    drawing.text((verb + noun) / 2, y - rise - 18, "agrees with", "prediction", size, bold=True)


def three_back(plural: Sequence[bool]) -> bool:
    """The chapter's rule: the number of the farthest noun, but no more than three back."""
    return plural[-BACK:][0]


def changed(noun: str) -> str:
    """Its other number."""
    return noun[:-1] if is_plural(noun) else f"{noun}s"


def verbs() -> list[tuple[tuple[str, ...], str]]:
    """The nouns as they are, then with one of them changed; each with the verb of the rule."""
    rows = [NOUNS]
    rows += [
        tuple(changed(noun) if i == j else noun for i, noun in enumerate(NOUNS))
        for j in range(len(NOUNS))
    ]
    return [
        (nouns, "are" if three_back([is_plural(noun) for noun in nouns]) else "is")
        for nouns in rows
    ]


def one_noun_at_a_time() -> Canvas:
    """Which change of a noun changes the verb."""
    told = "; ".join(f"{', '.join(nouns)}: {verb}" for nouns, verb in verbs())
    drawing = Canvas(
        "one_noun_at_a_time",
        720,
        318,
        "One noun is changed at a time: which change turns the verb?",
        "Five rows of four nouns, the subject and three in between, with the verb that the rule "
        f"says: the farthest noun, but at most {BACK} back. The first row is as it was; in each "
        f"other row one noun, framed, has its other number. {told}. Only the change of the first "
        "noun after the subject turns the verb.",
        f"The rule “the farthest noun, but at most {BACK} back”, with three nouns in between. Only "
        "the first noun after the subject turns the verb; the subject is not heard.",
    )
    (x, y), cell = (150, 62), (96, 36)
    interventions(drawing, (x, y), cell, 62, 15)
    labels = [
        "as it was",
        *(f"change {name}" for name in ("subject", "noun 1", "noun 2", "noun 3")),
    ]
    for i, label in enumerate(labels):
        drawing.text(x - 14, row(y, i, cell) + 18, label, anchor="end", size=14)
    return drawing


def row(y: Number, i: int, cell: tuple[Number, Number]) -> Number:
    """The top of row i; the first stands apart."""
    return y + i * cell[1] + (14 if i else 0)


def interventions(
    drawing: Canvas,
    place: tuple[Number, Number],
    cell: tuple[Number, Number],
    gap: Number,
    size: Number,
    verb_wide: Number = 60,
) -> None:
    """The rows of nouns and their verbs."""
    x, y = place
    wide, high = cell
    n = len(NOUNS)
    before = verbs()[0][1]
    for i, (nouns, verb) in enumerate(verbs()):
        top = row(y, i, cell)
        grid = drawing.matrix(x, top, [nouns], cell, size=size)
        drawing.arrow([(grid.right + 6, top + high / 2), (grid.right + gap - 6, top + high / 2)])
        turned = verb != before
        colour = "prediction" if turned else "neutral"
        drawing.matrix(grid.right + gap, top, [[verb]], (verb_wide, high), colour, size=size)
    small = min(14, size + 1)
    for i in range(n):
        drawing.frame(x + i * wide, row(y, i + 1, cell), wide, high)
    for j, name in enumerate(("subject", "noun 1", "noun 2", "noun 3")):
        drawing.text(x + (j + 0.5) * wide, y - 18, name, size=small, bold=True)
    drawing.text(x + n * wide + gap + verb_wide / 2, y - 18, "verb", size=small, bold=True)
    bottom = row(y, n + 1, cell)
    says = f"the rule looks at these {BACK}"
    drawing.bracket(x + (n - BACK) * wide + 4, bottom + 8, BACK * wide - 8, says, size=14)


def visible(model: str) -> Tensor:
    """Which columns each position of the target sees; a translator's source comes first."""
    n = len(TARGET)
    if model == "encoder":
        return torch.ones(n, n, dtype=torch.bool)
    if model == "decoder":
        return causal_mask(n)
    return torch.cat([torch.ones(n, N_SOURCE, dtype=torch.bool), causal_mask(n)], dim=1)


def three_masks() -> Canvas:
    """The masks of an encoder, of a translator's decoder, and of a decoder alone."""
    told = "; ".join(f"{' '.join(name)}: {sees}" for _, name, sees in MODELS)
    drawing = Canvas(
        "three_masks",
        720,
        272,
        "What each word may see in three models",
        f"Three grids, a row for each of the words {' '.join(TARGET)}, a column for each position "
        "that it may or, hatched, may not see. The encoder has no hatched square. The decoder of a "
        f"translator sees all {N_SOURCE} positions of the source and, of its own text, a "
        f"triangle. The decoder alone sees the triangle. Framed is the row of {TARGET[0]}, whose "
        f"clue, {TARGET[-1]}, comes after it. What one vector knows: {told}.",
        f"What a word may see in three models; the one in the middle has an attention for the source "
        f"and one for its own text. Framed: the row of “{TARGET[0]}”; hatched is "
        f"hidden. Its clue, “{TARGET[-1]}”, comes after it; only the encoder sees it.",
    )
    for x, (model, name, sees) in zip((80, 280, 578), MODELS, strict=True):
        grid = masked(drawing, x, 72, model, (29, 32))
        drawing.lines(grid.middle[0], 40, name, 18, bold=True)
        drawing.text(grid.middle[0], grid.bottom + 46, sees, size=14)
    return drawing


def masked(drawing: Canvas, x: Number, y: Number, model: str, cell: tuple[Number, Number]) -> Grid:
    """One of the grids."""
    sees = visible(model)
    n = sees.shape[1] - len(TARGET)  # positions of a source
    kind = "encoder" if model == "encoder" else "decoder"
    colours = [["encoder"] * n + [kind] * len(TARGET)] * len(TARGET)
    blank = [[""] * sees.shape[1]] * len(TARGET)
    grid = drawing.matrix(x, y, blank, cell, colours, rows=TARGET, hidden=(~sees).tolist())
    drawing.frame(x, y, grid.width, cell[1])
    if n:
        drawing.text(x + n * cell[0] / 2, grid.bottom + 15, "source", "encoder", 14)
        middle = x + (n + len(TARGET) / 2) * cell[0]
        drawing.text(middle, grid.bottom + 15, "own text", "decoder", 14)
    return grid
