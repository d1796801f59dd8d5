"""BERT's body (chapter 12): who may look at whom, what goes in, and what stands on top."""

import torch
import torch.nn.functional as F
from torch import Tensor

from lectures_lib.blocks.attention import causal_mask
from lectures_lib.show.drawings.attention import numbers
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Grid, Number

WORDS = ("she", "left", "the", "light", "bag", "at", "home")
LOOKS, LOOKED_AT = WORDS.index("light"), WORDS.index("bag")  # the row and the cell that are framed
# below each square: what it is, and what "light" hears of "bag"
MODELS = {
    "ELMo": ("two readers:", "“bag” is read by the other"),
    "GPT": ("a causal mask:", "“bag” is hidden from “light”"),
    "BERT": ("no mask:", "“light” looks at “bag”"),
}

# The chapter's pair, with its ids in the published vocabulary, its segments, and the sizes of the
# three tables.
PIECES = {
    "tokens": ["[CLS]", "my", "dog", "is", "cute", "[SEP]", "he", "likes", "playing", "[SEP]"],
    "ids": (101, 2026, 3899, 2003, 10140, 102, 2002, 7777, 2652, 102),
    "segments": (0, 0, 0, 0, 0, 0, 1, 1, 1, 1),
}
TABLES = {"token": "30,522 rows", "position": "512 rows", "segment": "2 rows"}
DOG = PIECES["tokens"].index("dog")
# The chapter's vectors of four numbers for "dog"; their sum and its normalisation are computed.
VECTORS = {
    "token": torch.tensor([2.0, 1.0, 4.0, 5.0]),
    "position": torch.tensor([-1.0, 1.0, 0.0, 2.0]),
    "segment": torch.tensor([0.0, 1.0, 1.0, 0.0]),
}
COLOURS = {"token": "encoder", "position": "position", "segment": "neutral"}
BLOCKS = 12  # of BERT base


def who_looks_at_whom() -> dict[str, Tensor]:
    """For each model a square, a row for each word that looks: 0 where it may not, 1 where a reader
    from the left or the whole model looks, 2 where ELMo's reader from the right does.
    """
    left = causal_mask(len(WORDS)).int()
    return {"ELMo": left + 2 * (1 - left), "GPT": left, "BERT": torch.ones_like(left)}


def embedded() -> dict[str, Tensor]:
    """The sum of the three vectors of "dog", and its LayerNorm."""
    total = sum(VECTORS.values())
    return {"sum": total, "norm": F.layer_norm(total, total.shape)}


def who_sees_whom() -> Canvas:
    """Three squares of words that look and words that are looked at."""
    drawing = Canvas(
        "who_sees_whom",
        720,
        344,
        "Which words a word may look at in ELMo, GPT and BERT",
        "Three squares of seven rows and seven columns for the words she left the light bag at "
        "home; a row for each word that looks, a column for each that is looked at. ELMo: below "
        "the diagonal the reader from the left, with arrows to the right, above it the reader "
        "from the right, with arrows to the left: two halves of different colour. GPT: below the "
        "diagonal all cells are open, above it all are hatched, hidden by the causal mask. BERT: "
        "all cells are open. The row of the word light is framed, and in it the cell of bag: in "
        "ELMo it belongs to the other reader, in GPT it is hidden, in BERT it is open.",
        "Who may look at whom: one row for each word that looks, a column for each that is looked "
        "at. Follow the framed row: the word that decides what “light” means, “bag”, stands to "
        "its right.",
    )
    for i, (name, square) in enumerate(who_looks_at_whom().items()):
        grid = sees(drawing, 62 + 220 * i, 88, (29, 26), name, square, labelled=i == 0)
        drawing.text(grid.middle[0], 34, name, bold=True, size=18)
        drawing.lines(grid.middle[0], grid.bottom + 40, MODELS[name], 22, size=14)
    return drawing


def sees(
    drawing: Canvas,
    x: Number,
    y: Number,
    cell: tuple[Number, Number],
    name: str,
    square: Tensor,
    labelled: bool = True,
) -> Grid:
    """One square of `who_sees_whom`, with or without its words at the left."""
    colours = {0: "mask", 1: "encoder" if name == "BERT" else "decoder", 2: "residual"}
    signs = {0: "", 1: "→", 2: "←"} if name == "ELMo" else {0: "", 1: "", 2: ""}
    cells = square.tolist()
    grid = drawing.matrix(
        x,
        y,
        [[""] * len(row) for row in cells],
        cell,
        [[colours[c] for c in row] for row in cells],
        rows=WORDS if labelled else (),
        hidden=(square == 0).tolist(),
        size=13,
    )
    for i, row in enumerate(cells):
        for j, c in enumerate(row):
            if signs[c] and i != j:
                drawing.text(*grid.centre(i, j), signs[c], size=13)
    for j, word in enumerate(WORDS):
        drawing.text(x + (j + 0.5) * cell[0], y - 11 - 13 * (j % 2), word, size=12)
    wide, high = cell
    drawing.frame(x - 1, y + LOOKS * high, grid.width + 2, high, thick=2)
    drawing.frame(x + LOOKED_AT * wide, y + LOOKS * high, wide, high, thick=4)
    return grid


def bert_input() -> Canvas:
    """Ten columns of three boxes, each of which picks a row of a table; one column with numbers."""
    made = embedded()
    norm = ", ".join(numbers(made["norm"][None], ".2f")[0])
    drawing = Canvas(
        "bert_input",
        720,
        444,
        "BERT's input: a token, a position and a segment for each place, added and normalised",
        "Ten columns for the tokens [CLS] my dog is cute [SEP] he likes playing [SEP]. Under each "
        "token three boxes joined by plus signs: its id in the vocabulary, from 101 for [CLS] to "
        "102 for [SEP]; its position, 0 to 9; its segment, 0 for the first six, sentence A, and 1 "
        "for the last four, sentence B. At the left the sizes of the tables that the three pick a "
        "row from: 30,522, 512 and 2 rows. The column of dog is framed and followed below, with "
        "vectors of four numbers: its token vector "
        + _said("token")
        + ", its position vector "
        + _said("position")
        + ", its segment vector "
        + _said("segment")
        + f"; their sum {', '.join(numbers(made['sum'][None], 'g')[0])}; after LayerNorm {norm}.",
        "BERT's input. Every number picks a row of a learned table; the three are added and "
        "normalised. Below, the framed token with vectors of four numbers.",
    )
    left, wide, tops = 106, 60, {"token": 92, "position": 142, "segment": 192}
    chosen = {"token": PIECES["ids"], "position": range(10), "segment": PIECES["segments"]}
    a = PIECES["segments"].count(0)
    drawing.bracket(left + 6, 42, a * wide - 12, "sentence A", "top")
    drawing.bracket(left + a * wide + 6, 42, (10 - a) * wide - 12, "sentence B", "top")
    for name, top in tops.items():
        drawing.text(16, top + 7, name, anchor="start", bold=True, size=14)
        drawing.text(16, top + 25, TABLES[name], "neutral", 13, "start")
        for j, number in enumerate(chosen[name]):
            x = left + wide * j
            drawing.box(x + 5, top, wide - 10, 30, str(number), COLOURS[name], size=14, radius=4)
            if name != "segment":
                drawing.text(x + wide / 2, top + 40, "+", size=15)
    for j, token in enumerate(PIECES["tokens"]):
        drawing.text(left + (j + 0.5) * wide, 68, token, bold=True, size=14)
    middle = left + (DOG + 0.5) * wide
    drawing.frame(middle - wide / 2 - 1, 54, wide + 2, 176, radius=6)
    _by_hand(drawing, middle, 230)
    return drawing


def _said(name: str) -> str:
    return ", ".join(numbers(VECTORS[name][None], "g")[0])


def _by_hand(drawing: Canvas, middle: Number, top: Number) -> None:
    """The three vectors of "dog", their sum, and its LayerNorm, below the framed column."""
    made, cell, x = embedded(), (34, 28), middle - 68
    drawing.arrow([(middle, top), (middle, top + 26)], "ink", 2.5)
    y = top + 30
    for i, (name, vector) in enumerate(VECTORS.items()):
        row = drawing.matrix(x, y + 36 * i, numbers(vector[None], "g"), cell, COLOURS[name])
        drawing.text(x - 12, row.middle[1], name, anchor="end", size=14)
        if i:
            drawing.text(row.right + 16, row.y - 4, "+", size=18, bold=True)
    y = row.bottom + 30
    drawing.line([(x - 4, row.bottom + 10), (row.right + 4, row.bottom + 10)], "ink", 2)
    total = drawing.matrix(x, y - 10, numbers(made["sum"][None], "g"), cell, "residual")
    drawing.text(x - 12, total.middle[1], "sum", anchor="end", size=14)
    drawing.arrow([(total.right + 8, total.middle[1]), (total.right + 32, total.middle[1])])
    drawing.box(total.right + 34, total.y - 6, 92, 40, "LayerNorm", size=14)
    drawing.arrow([(total.right + 128, total.middle[1]), (total.right + 152, total.middle[1])])
    norm = numbers(made["norm"][None], ".2f")
    drawing.matrix(total.right + 156, total.y, norm, (52, 28), "residual")


def bert_body() -> Canvas:
    """From ten tokens to ten vectors and the pooled one, and which heads read which."""
    drawing = Canvas(
        "bert_body",
        720,
        560,
        "BERT's body from tokens to vectors, with the pooler, and the heads that come on top",
        "Read from below. The ten tokens [CLS] my dog is cute [SEP] he likes playing [SEP] go into "
        "a frame named BERT's body: first the embeddings, then an encoder of 12 blocks in which "
        "every token attends to all. Out come ten vectors, one for each token, called hidden. The "
        "vector of [CLS] is framed; a line leads from it alone to the pooler, one layer and a "
        "tanh, still inside the frame; it gives one vector, called pooled. Above the frame, "
        "dashed, what comes in later chapters: on the pooled vector the next sentence, chapter 13, "
        "and classes of a text or pair, chapter 14; on the hidden vectors the masked words, "
        "chapter 13, and labels of words and answers in a text, chapter 14b.",
        "BERT's body gives two things: a vector for every token, and one more made from [CLS]'s. "
        "The heads (dashed) are small, and come with the task.",
    )
    left, wide = 60, 60
    drawing.box(20, 96, 680, 424, radius=12)
    drawing.text(684, 118, "BERT's body", anchor="end", bold=True, size=16)
    for j, token in enumerate(PIECES["tokens"]):
        x = left + (j + 0.5) * wide
        drawing.text(x, 542, token, bold=True, size=14)
        drawing.arrow([(x, 530), (x, 500)], "residual")
        drawing.arrow([(x, 458), (x, 426)], "residual")
        drawing.arrow([(x, 340), (x, 310)], "residual")
        drawing.matrix(x - 22, 284, [[""] * 4], (11, 22), "encoder")
        if 0 < j < 9:
            drawing.line([(x, 282), (x, 258)], "encoder")
    first, middle = left + wide / 2 + 16, left + 5.5 * wide  # beside the pooler's arrow
    drawing.line([(first, 279), (first, 258), (x, 258), (x, 282)], "encoder")
    drawing.arrow([(middle, 260), (middle, 76)], "encoder", 2.5)
    drawing.text(middle + 16, 180, "hidden", bold=True, anchor="start")
    drawing.text(middle + 16, 202, "a vector for every token", size=14, anchor="start")
    drawing.box(40, 460, 640, 38, "token + position + segment, LayerNorm")
    drawing.box(40, 342, 640, 82, "", "encoder")
    drawing.text(360, 370, f"encoder, {BLOCKS} blocks", bold=True)
    drawing.text(360, 396, "in each, every token attends to all", size=14)
    x = left + wide / 2
    drawing.frame(x - 26, 280, 52, 30)
    drawing.arrow([(x, 280), (x, 252)], "ink", 2.5)
    drawing.box(34, 194, 112, 56, ["pooler"], bold=True, note="linear, tanh")
    drawing.arrow([(x, 194), (x, 168)], "ink", 2.5)
    drawing.matrix(x - 22, 144, [[""] * 4], (11, 22), "encoder")
    drawing.arrow([(x, 142), (x, 76)], "ink", 2.5)
    drawing.text(x + 32, 148, "pooled", anchor="start", bold=True)
    drawing.text(x + 32, 168, "one vector", size=14, anchor="start")
    texts = ["next sentence (13)", "class of a text (14)"]
    drawing.box(20, 20, 164, 54, texts, "prediction", dashed=True, size=14)
    texts = ["masked words (chapter 13)", "labels of words, answers in a text (chapter 14b)"]
    drawing.box(200, 20, 500, 54, texts, "prediction", dashed=True, size=14)
    return drawing
