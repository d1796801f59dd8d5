"""After BERT (chapter 18): two readers that differ in their masks, and the three families."""

from dataclasses import dataclass

import torch

from lectures_lib.blocks.attention import causal_mask
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Grid, Number

NUMBER, WORDS = 312_005, ("three", "hundred", "twelve", "thousand", "five")
FOLLOWED = 1  # "hundred"
END = "(end)"


@dataclass(frozen=True)
class Family:
    """Models of one kind: what they read and write, what they are trained to do and taken for."""

    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    learns: tuple[str, ...]
    models: str
    use: tuple[str, ...]


FAMILIES = (
    Family(
        "encoder",
        ("the", "film", "[MASK]", "good"),
        (),
        ("learns to fill", "masked words"),
        "BERT, RoBERTa",
        ("for a class, labels,", "a span, search"),
    ),
    Family(
        "decoder",
        (),
        ("the", "film", "was", "good"),
        ("learns to say", "the next word"),
        "GPT, Llama",
        ("for free text: chat,", "stories, code"),
    ),
    Family(
        "both",
        ("der", "Film"),
        ("begin", "the"),
        ("learns to restore", "damaged text"),
        "T5, BART",
        ("for translation", "and summary"),
    ),
)


def digits() -> int:
    """How many digits the number has."""
    return len(str(NUMBER))


def counts_thousands() -> list[bool]:
    """For each word, whether it counts thousands: those before the word itself."""
    return [i < WORDS.index("thousand") for i in range(len(WORDS))]


def sees(causal: bool) -> list[list[bool]]:
    """Who may look at whom, the end mark included."""
    n = len(WORDS) + 1
    return (causal_mask(n) if causal else torch.ones(n, n, dtype=torch.bool)).tolist()


def reader_mask(
    drawing: Canvas, x: Number, y: Number, causal: bool, cell: tuple[int, int], labels: bool
) -> Grid:
    """A reader's mask, its upper left corner at x, y, with the words at its left if wanted and what
    each position has to say at its right.
    """
    looks = sees(causal)
    colour = "decoder" if causal else "encoder"
    words = [*WORDS, END]
    grid = drawing.matrix(
        x,
        y,
        [[""] * len(words)] * len(words),
        cell,
        colour,
        hidden=[[not look for look in row] for row in looks],
        rows=words if labels else (),
    )
    drawing.frame(x, y + FOLLOWED * cell[1], grid.width, cell[1])
    name = "causal mask" if causal else "full mask"
    drawing.text(grid.middle[0], y - 20, name, bold=True)
    return grid


def answers(drawing: Canvas, x: Number, y: Number, step: Number) -> None:
    """What each row has to say, from x on, the first at height y."""
    for i, thousands in enumerate(counts_thousands()):
        drawing.text(x, y + i * step, "yes" if thousands else "no", "prediction", 14, "start")
    end = y + len(WORDS) * step
    drawing.text(x, end, f"{digits()} digits", "prediction", 14, "start")


def two_readers() -> Canvas:
    """One number in words, read under two masks."""
    said = ", ".join(
        f"{word} {'yes' if thousands else 'no'}"
        for word, thousands in zip(WORDS, counts_thousands(), strict=True)
    )
    drawing = Canvas(
        "two_readers",
        720,
        316,
        "A number in words under a full and under a causal mask",
        f"The number {NUMBER:,} in words: {' '.join(WORDS)}, and an end mark. Two squares, whose "
        "rows look at their columns. Left, the full mask: every row sees every word. Right, the "
        "causal mask: a row sees itself and what stands before it; the rest is hatched. Beside "
        f"the rows stands what they have to say. Does the word count thousands? {said}. At the "
        f"end: {digits()} digits. A frame is around the row of {WORDS[FOLLOWED]} in both.",
        "Rows look at columns; hatched is what a row does not see. Beside each row stands what it "
        "has to say: of a word, whether it counts thousands, at the end, how many digits the number "
        f"has. Framed: under the causal mask “{WORDS[FOLLOWED]}” cannot know yet whether "
        "“thousand” comes.",
    )
    for x, causal in ((96, False), (396, True)):
        grid = reader_mask(drawing, x, 72, causal, (34, 34), not causal)
        answers(drawing, grid.right + 16, 72 + 17, 34)
        drawing.text(grid.right + 16, 52, "has to say", bold=True, anchor="start", size=14)
    return drawing


def family_mask(
    drawing: Canvas, x: Number, y: Number, family: Family, cell: Number
) -> tuple[Number, Number]:
    """Who looks at whom in a family's models; right edge and lower edge of what was drawn."""
    words, n = [*family.reads, *family.writes], len(family.reads)
    total = len(words)
    looks = [[j < n if i < n or j < n else j <= i for j in range(total)] for i in range(total)]
    colours = ["encoder" if j < n else "decoder" for j in range(total)]
    grid = drawing.matrix(
        x,
        y,
        [[""] * total] * total,
        (cell, cell),
        [colours] * total,
        hidden=[[not look for look in row] for row in looks],
        rows=words,
        size=13,
    )
    if 0 < n < total:
        for begin, end, name in ((0, n, "source"), (n, total, "own text")):
            middle = x + cell * (begin + end) / 2
            drawing.text(middle, grid.bottom + 13, name, "encoder" if begin == 0 else "decoder", 13)
    return grid.right, grid.bottom


def family_words(drawing: Canvas, x: Number, y: Number, family: Family, anchor: str) -> None:
    """A family's members, what they learn and what they are for, in lines from y down."""
    drawing.text(x, y, family.models, bold=True, size=15, anchor=anchor)
    for k, text in enumerate((*family.learns, *family.use)):
        drawing.text(x, y + 22 + 19 * k + (4 if k > 1 else 0), text, size=14, anchor=anchor)


def three_families() -> Canvas:
    """Three masks, and who has them."""
    said = " ".join(
        f"{family.name.capitalize()}: reads {' '.join(family.reads) or 'nothing'}, writes "
        f"{' '.join(family.writes) or 'nothing'}; "
        f"{family.models}; {' '.join(family.learns)}, {' '.join(family.use)}."
        for family in FAMILIES
    )
    drawing = Canvas(
        "three_families",
        720,
        346,
        "Three families: who sees what, what is trained, and what it is good for",
        f"Three squares, whose rows look at their columns. Encoder: all is seen. Decoder: what "
        f"came before, and the place itself; the rest is hatched. Both: the words that are read "
        f"see each other; those that are written see all of them, and their own text so far. "
        f"{said}",
        "Rows look at columns; hatched is what they do not see. In the third, what is written sees "
        "all of the source (in T5 and BART by cross-attention), and its own text so far.",
    )
    for family, x in zip(FAMILIES, (88, 322, 556), strict=True):
        middle = x + 64
        drawing.text(middle, 32, family.name, bold=True, size=16)
        family_mask(drawing, x, 60, family, 32)
        family_words(drawing, middle, 230, family, "middle")
    return drawing
