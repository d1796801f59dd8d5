"""A probe on a layer of a frozen model, and its control task (chapter 16b)."""

import torch

from lectures_lib.analysis.probing import control_labels
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Grid, Number

WORDS = ["a", "light", "lamp", "is", "a", "light"]
NAMES = ["DET", "NOUN", "AUX", "ADJ"]
TAGS = [0, 3, 1, 2, 0, 1]  # of the words, places among the names
SEED = 7  # of the draw that the chapter shows
CELL = (54, 30)


def labels() -> tuple[list[str], list[str]]:
    """The words' tags, and their labels in the control task, as the chapter draws them."""
    drawn = control_labels(WORDS, torch.tensor(TAGS), seed=SEED).tolist()
    return [NAMES[tag] for tag in TAGS], [NAMES[label] for label in drawn]


def twice() -> list[int]:
    """The places of the word that stands in two roles: one type, two tags."""
    real, _ = labels()
    tags_of = {
        word: {tag for w, tag in zip(WORDS, real, strict=True) if w == word} for word in WORDS
    }
    return [place for place, word in enumerate(WORDS) if len(tags_of[word]) > 1]


def label_table(
    drawing: Canvas, x: Number, y: Number, names: list[str], colour: str, cell: tuple = CELL
) -> Grid:
    """The words, and below each what the probe is to say of it; the word of two roles is framed."""
    for j, word in enumerate(WORDS):
        drawing.text(x + (j + 0.5) * cell[0], y - 14, word, size=14)
    grid = drawing.matrix(x, y, [names], cell, colour, size=14)
    for place in twice():
        drawing.frame(x + place * cell[0], y - 26, cell[0], cell[1] + 26)
    return grid


def frozen_layers(drawing: Canvas, x: Number, y: Number, wide: Number) -> Grid:
    """The words, the layers that read them, and above these the vectors of state 2, from y down;
    the states are named at the left.
    """
    step = wide / len(WORDS)
    vectors = drawing.matrix(x, y, [[""] * len(WORDS)], (step, 26), "encoder")
    top = vectors.bottom + 26
    drawing.box(x - 14, top, wide + 28, 178, colour="encoder", radius=12)
    for i, name in enumerate(("layer 1", "layer 0", "embeddings")):
        drawing.box(x, top + 12 + 54 * i, wide, 38, name, size=14)
    for j, word in enumerate(WORDS):
        middle = x + (j + 0.5) * step
        drawing.arrow([(middle, top), (middle, vectors.bottom + 3)], "encoder")
        for above in (top + 50, top + 104):
            drawing.line([(middle, above), (middle, above + 16)], "encoder")
        drawing.arrow([(middle, top + 202), (middle, top + 160)], "encoder")
        drawing.text(middle, top + 216, word, bold=True, size=14)
    drawing.frame(x - 4, y - 4, wide + 8, 34, "encoder")
    for state, middle in enumerate((top + 112, top + 58, y + 13)):
        drawing.text(x - 20, middle, f"state {state}", bold=state == 2, anchor="end", size=14)
    return vectors


def probe_and_control() -> Canvas:
    """A layer's vectors of six words, and two probes that read them: tags, and drawn labels."""
    real, drawn = labels()
    pairs = "; ".join(f"{w}: {t}, {d}" for w, t, d in zip(WORDS, real, drawn, strict=True))
    drawing = Canvas(
        "probe_and_control",
        720,
        548,
        "A probe on a frozen layer, and its control task",
        "From below upwards. The six words a light lamp is a light go into the embeddings, layer "
        "0 and layer 1 of BERT, which is frozen. Below, between and above these two are the states 0, 1 and 2; state 2 is one vector for each "
        "word. Two probes read these vectors, and only they are trained. The left one is to say each "
        "word's tag, the right one a label drawn at random for each type. Word, tag, drawn label: "
        f"{pairs}. The word light has two tags and one drawn label.",
        "Of all that is drawn here, only the two probes are trained. One has to find the tags; “light” "
        "has two of them. The other has to find labels that were drawn by chance, one for each type: "
        "“light” has the same one wherever it stands. What that probe gets right, it has learned by "
        "heart.",
    )
    for x, title, names, name, colour, says in (
        (24, "the real task: tags", real, "probe for tags", "prediction", "read off, or by heart"),
        (
            372,
            "the control task: drawn labels",
            drawn,
            "probe for drawn labels",
            "neutral",
            "by heart only",
        ),
    ):
        drawing.text(x + 162, 26, title, bold=True)
        grid = label_table(drawing, x, 76, names, colour)
        drawing.box(x + 52, 146, 220, 56, name, colour, bold=True, note="*W h* + *b*, trained")
        drawing.arrow([(x + 162, 146), (x + 162, grid.bottom + 4)], colour, 2.5)
        drawing.text(x + 172, 126, says, colour, 14, "start")
    vectors = frozen_layers(drawing, 198, 256, 324)
    middle = vectors.middle[0]
    for start, end in ((middle - 60, 186), (middle + 60, 534)):
        drawing.arrow([(start, 250), (start, 230), (end, 230), (end, 206)], "encoder", 2.5)
    drawing.text(536, 269, "384 numbers a word", anchor="start", size=14)
    drawing.text(548, 386, "BERT, frozen", "encoder", bold=True, anchor="start")
    drawing.text(548, 408, "no weight changes", anchor="start", size=14)
    return drawing
