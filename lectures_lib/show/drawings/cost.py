"""What a model costs (chapter 18b): padding and packing, the row that several sentences share."""

import numpy as np
import torch
from torch import Tensor

from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Number

# Lengths like those of SST-2: a dozen tokens on average, a few far longer.
LENGTHS = tuple(int(n) for n in 2 + np.random.default_rng(7).geometric(1 / 11, 32))
ROW = 72
# Three sentences as BERT reads them, in one row.
SENTENCES = (
    "[CLS] the keys are lost . [SEP]",
    "[CLS] who has seen the cabinet ? [SEP]",
    "[CLS] nobody has . [SEP]",
)
D_MODEL, D_FF, N_HEADS, N = 768, 3072, 12, 512  # BERT base, and the length of an input
FOLLOWED = 12  # "cabinet": which of the row's tokens the frame is around


def shared_rows() -> list[list[int]]:
    """Lengths that share a row, the longest first, each in the first row that has room."""
    rows: list[list[int]] = []
    for length in sorted(LENGTHS, reverse=True):
        row = next((row for row in rows if sum(row) + length <= ROW), None)
        if row is None:
            rows.append([length])
        else:
            row.append(length)
    return rows


def padding(rows: list[list[int]], wide: int) -> float:
    """The share of rows of that width in which there is no token."""
    return 1 - sum(map(sum, rows)) / (wide * len(rows))


def bars(
    drawing: Canvas, x: Number, y: Number, rows: list[list[int]], wide: int, token: Number
) -> None:
    """A bar for each row, its sentences behind each other, the rest of it grey."""
    for i, row in enumerate(rows):
        top, left = y + 10 * i, x
        drawing.ground(x, top, wide * token, 8, "quiet")
        for length in row:
            drawing.shape(f"M{left:g} {top}h{length * token - 1.5:g}v8H{left:g}z", "encoder")
            left += length * token


def titles() -> tuple[str, str]:
    """How much padding there is in either way."""
    one_each = [[length] for length in LENGTHS]
    return (
        f"{padding(one_each, max(LENGTHS)):.0%} padding".replace("%", " %"),
        f"{padding(shared_rows(), ROW):.0%} padding".replace("%", " %"),
    )


def heading(drawing: Canvas, x: Number, y: Number, title: str) -> None:
    """The share of padding, which is the point, and behind it, on the same line, the word."""
    share, _, word = title.rpartition(" ")
    drawing.text(x, y, share, bold=True, anchor="start", size=28)
    drawing.text(x + 86, y + 0.35 * (28 - 14), word, anchor="start", size=14)


def padded_and_packed() -> Canvas:
    """The same sentences, one in a row or several."""
    alone, shared = titles()
    n = len(shared_rows())
    drawing = Canvas(
        "padded_and_packed",
        720,
        418,
        "The same sentences twice: each in a row of its own, and several in a row",
        f"{len(LENGTHS)} sentences of {min(LENGTHS)} to {max(LENGTHS)} tokens, each a bar as long "
        f"as it has tokens. Left, each has a row of its own, filled up with grey to "
        f"{max(LENGTHS)} tokens: {alone}. Right, the same bars behind each other in {n} rows of "
        f"{ROW} tokens: {shared}; only the last row is more than half grey.",
        f"A bar for each of {len(LENGTHS)} sentences, as long as it has tokens; grey is padding. "
        f"First one sentence a row; then several sentences share a row of {ROW} tokens.",
    )
    token = 5.7
    for x, title, says in (
        (24, alone, f"{len(LENGTHS)} rows of {max(LENGTHS)}"),
        (284, shared, f"{n} rows of {ROW}"),
    ):
        heading(drawing, x, 34, title)
        drawing.text(x, 64, says, anchor="start", size=14)
    bars(drawing, 24, 84, [[length] for length in LENGTHS], max(LENGTHS), token)
    bars(drawing, 284, 84, shared_rows(), ROW, token)
    drawing.text(284, 166, "the same sentences, to the same scale", anchor="start", size=14)
    return drawing


def tokens() -> list[str]:
    """The tokens of the row."""
    return [token for sentence in SENTENCES for token in sentence.split()]


def places() -> tuple[Tensor, Tensor]:
    """Of each token in the row, its position in its sentence and its sentence's number."""
    lengths = [len(sentence.split()) for sentence in SENTENCES]
    positions = torch.cat([torch.arange(n) for n in lengths])
    return positions, torch.arange(len(lengths)).repeat_interleave(torch.tensor(lengths))


def blocks(
    drawing: Canvas, x: Number, y: Number, cell: Number, gap: Number, owners: bool = False
) -> None:
    """The mask of the row, its upper left corner at x, y; at its left each token and its position,
    at its top the positions; in the blocks, if wanted, whose they are.
    """
    row, (positions, owner) = tokens(), places()
    side = cell * len(row)
    drawing.matrix(x, y, [[""]], (side, side), hidden=[[True]])
    for k in range(len(SENTENCES)):
        at = [i for i, who in enumerate(owner.tolist()) if who == k]
        start, n = x + cell * at[0], cell * len(at)
        drawing.box(start, y + cell * at[0], n, n, f"{len(at)} × {len(at)}", "encoder", radius=0)
        if owners:
            drawing.text(start + n / 2, y + cell * at[0] + n / 2 - 19, f"owner {k}", size=13)
    for i, (token, place) in enumerate(zip(row, positions.tolist(), strict=True)):
        middle = y + (i + 0.5) * cell
        drawing.text(x - gap, middle, token, size=12, anchor="end", bold=i == FOLLOWED)
        drawing.text(x - 12, middle, str(place), "position", size=12)
        drawing.text(x + (i + 0.5) * cell, y - 12, str(place), "position", size=12)
    drawing.frame(x, y + FOLLOWED * cell, side, cell)


def packed_row() -> Canvas:
    """Three sentences in a row: positions that begin anew, and a mask in blocks."""
    row, (positions, owner) = tokens(), places()
    said = "; ".join(
        f"{token}, position {place}, sentence {who}"
        for token, place, who in zip(row, positions.tolist(), owner.tolist(), strict=True)
    )
    inside = [token for token, who in zip(row, owner, strict=True) if who == owner[FOLLOWED]]
    drawing = Canvas(
        "packed_row",
        720,
        432,
        "Three sentences in one row: their positions, and who may look at whom",
        f"A row of {len(row)} tokens: {said}. Below each other they are the rows of a square, the "
        f"mask, and side by side its columns. Three blocks on the diagonal, of "
        f"{', '.join(str(len(s.split())) for s in SENTENCES)} tokens, may be looked at; all else "
        f"is hatched. A frame is around the row of {row[FOLLOWED]}: it sees "
        f"{' '.join(inside)} and nothing else.",
        "Rows look at columns. Each sentence has positions from 0 and sees its own block. The frame "
        f"is around the row of “{row[FOLLOWED]}”; it sees what is not hatched.",
    )
    blocks(drawing, 164, 66, 17, 24)
    drawing.text(334, 24, "position of each token", "position", size=14)
    notes = (
        (0, ["the keys are lost."]),
        (1, ["who has seen", "the cabinet?"]),
        (2, ["nobody has."]),
    )
    for k, words in notes:
        at = [i for i, who in enumerate(owner.tolist()) if who == k]
        middle = 66 + 17 * (at[0] + len(at) / 2)
        drawing.lines(528, middle - 10, [f"owner {k}:"], size=14, anchor="start", bold=True)
        drawing.lines(528, middle + 8 * len(words), words, 18, size=14, anchor="start")
    return drawing


def kept() -> list[tuple[str, int, int]]:
    """What one token of one block keeps for the backward pass: name, how many vectors, of which
    width; last, the weights of attention, which are kept only where they are written down.
    """
    return [
        ("the block's input", 1, D_MODEL),
        ("query, key, value", 3, D_MODEL),
        ("what the heads give to *W*^O", 1, D_MODEL),
        ("sum, for the first LayerNorm", 1, D_MODEL),
        ("what it gives to feed-forward", 1, D_MODEL),
        ("the wide layer, before GELU", 1, D_FF),
        ("the wide layer, after GELU", 1, D_FF),
        ("sum, for the second LayerNorm", 1, D_MODEL),
        ("weights of attention", 1, N_HEADS * N),
    ]


def kept_numbers() -> int:
    """How many numbers that are without the weights of attention: the two norms keep mean and
    spread as well.
    """
    return sum(n * wide for _, n, wide in kept()[:-1]) + 4


def kept_bars(drawing: Canvas, x: Number, y: Number, unit: Number, step: Number) -> Number:
    """A bar for each vector that is kept, `unit` pixels for the width of the model. The first begins
    at x, and each where the one above it ends. Below them two sums; returns the height of the first.
    """
    colours = {3: ("query", "key", "value"), 1: ("encoder",)}
    left, names = x, kept()
    for k, (_, n, wide) in enumerate(names):
        long, last = unit * wide / D_MODEL, k == len(names) - 1
        if last:
            drawing.line([(left, y), (left, y + (k + 2.6) * step)], "neutral", 1, dashed=True)
        for colour in ("mask",) if last else colours[n]:
            drawing.box(left, y + k * step, long, 20, colour=colour, radius=0, dashed=last)
            left += long
    weights = unit * names[-1][2] / D_MODEL
    low = y + (len(names) + 0.7) * step
    for i, more in enumerate((0, weights)):
        top = low + i * step
        drawing.box(x, top, left - weights - x, 24, f"{kept_numbers():,} numbers", "encoder", True)
        if more:
            says = f"+ {names[-1][2]:,}"
            drawing.box(left - more, top, more, 24, says, "mask", True, dashed=True)
    return low


def kept_for_backward() -> Canvas:
    """What a token leaves behind in each block until the backward pass has come by."""
    said = "; ".join(
        f"{name.replace('*W*^O', 'W O')}, {n if n > 1 else 'one'} of {wide:,}"
        for name, n, wide in kept()
    )
    total, weights = kept_numbers(), kept()[-1][2]
    drawing = Canvas(
        "kept_for_backward",
        720,
        400,
        "What a block keeps of one token until the backward pass has used it, drawn to scale",
        f"Bars, to scale, for BERT base with {N} tokens, below each other like steps: each begins "
        f"where the one above it ends. {said}. The last one is dashed: fused attention does not "
        f"keep it. Below, two sums. Fused attention: {total:,} numbers, 8 d plus 2 d ff plus 4, the "
        "mean and spread of the two LayerNorms; half of them are the wide layer's. By the formula: "
        f"{weights:,} more, half as much again.",
        f"One token of {N} in one block of BERT base, to scale; each bar begins where the one above "
        "it ends. The wide layer, twice, is half of the sum. What fused attention saves, dashed, is "
        "half as much again. (4: mean and spread of the two LayerNorms.)",
    )
    x, y, unit, step = 262, 20, 18.5, 28
    for k, (name, _, _) in enumerate(kept()):
        drawing.text(x - 12, y + 10 + step * k, name, size=14, anchor="end")
    low = kept_bars(drawing, x, y, unit, step) + 12
    drawing.text(x - 12, low, "fused attention", bold=True, anchor="end")
    drawing.text(x - 12, low + step, "by the formula", bold=True, anchor="end")
    drawing.text(
        x, low + step + 36, "8 *d* + 2 *d*_{ff} + 4, and *h* · *n*", size=15, anchor="start"
    )
    return drawing
