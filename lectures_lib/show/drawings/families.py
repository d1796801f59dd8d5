"""After BERT (chapter 18): two readers that differ in their masks, and the three families."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from lectures_lib.blocks.attention import causal_mask
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Number

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


def can_say(causal: bool) -> list[str]:
    """What each position can say: of a word, whether it counts thousands, as far as that follows
    from what it sees; at the end, how many digits the number has.
    """
    known = [row[WORDS.index("thousand")] for row in sees(causal)]
    words = ["yes" if thousands else "no" for thousands in counts_thousands()]
    of_words = [word if sure else "?" for word, sure in zip(words, known, strict=False)]
    return [*of_words, f"{digits()} digits"]


def reader(
    drawing: Canvas,
    x: Number,
    y: Number,
    causal: bool,
    wides: Sequence[Number],
    high: Number,
    size: Number,
) -> None:
    """A row for each position, from y on: the words that it sees, the others hatched, and behind
    them what it can say. The columns, from x on, are as wide as `wides`.
    """
    words, colour = [*WORDS, END], "decoder" if causal else "encoder"
    name = "causal mask: what came before" if causal else "full mask: both sides"
    drawing.text(x, y - 18, name, bold=True, anchor="start")
    right = x + sum(wides)
    drawing.text(right + 10, y - 18, "can say", bold=True, anchor="start", size=14)
    for i, (row, says) in enumerate(zip(sees(causal), can_say(causal), strict=True)):
        top, left = y + i * high, x
        for j, (word, look, wide) in enumerate(zip(words, row, wides, strict=True)):
            text = [[word if look else ""]]
            drawing.matrix(left, top, text, (wide, high), colour, hidden=[[not look]], size=size)
            if j == i:
                drawing.frame(left + 2, top + 2, wide - 4, high - 4, "ink", 1.5)
            left += wide
        unsure = says == "?"
        kind = ("error" if unsure else "prediction", 18 if unsure else 14)
        drawing.text(right + 10, top + high / 2, says, *kind, "start", bold=unsure)
    drawing.frame(x, y + FOLLOWED * high, sum(wides), high)


def two_readers() -> Canvas:
    """One number in words, read under two masks, and what each position can say."""
    full, causal = (
        ", ".join(f"{word} {says}" for word, says in zip(WORDS, can_say(mask), strict=False))
        for mask in (False, True)
    )
    drawing = Canvas(
        "two_readers",
        720,
        464,
        "A number in words under a full and under a causal mask",
        f"The number {NUMBER:,} in words: {' '.join(WORDS)}, and an end mark. Two tables below each "
        "other, a row for each of these positions, with the words that it sees; its own word has a "
        "thin frame. Above, the full mask: every row sees every word. Below, the causal mask: a row "
        "sees itself and what stands before it; the rest is hatched. Behind each row stands what it "
        f"can say. Does the word count thousands? Full mask: {full}. Causal mask: {causal}, where a "
        "question mark stands for what cannot be known. At the end both can say: "
        f"{digits()} digits. A thick frame is around the row of {WORDS[FOLLOWED]} in both.",
        "What each position sees, and what it can say: of a word, whether it counts thousands, at "
        "the end, how many digits the number has. Under the causal mask the row of "
        f"“{WORDS[FOLLOWED]}”, framed, cannot know whether “thousand” comes; the end has seen all.",
    )
    for y, is_causal in ((52, False), (270, True)):
        reader(drawing, 40, y, is_causal, (88, 96, 92, 104, 80, 80), 28, 14)
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
