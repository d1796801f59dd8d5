"""Training (chapter 8): the loop with numbers, smoothed targets, batches by length."""

import random
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lectures_lib import data
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.grid import Number, Point

SCORES, RIGHT = (2.0, 1.0, 0.0), 0  # the chapter's three words, of which the first is right
RATE, LONGEST, SMOOTHING = 0.01, 1.0, 0.1
SURE = (8.0, 0.0, 0.0)  # scores of a model that is very sure
LISTS, SIZE = 16, 4  # of `batches_by_length`: lists of one to four numbers, and lists in a batch


def signed(values: Tensor, spec: str = "+.2f") -> list[str]:
    """Numbers with their signs."""
    return [f"{value:{spec}}".replace("-", "−") for value in values.tolist()]


def plain(values: Tensor, spec: str = ".2f") -> list[str]:
    """Numbers."""
    return [f"{value:{spec}}".replace("-", "−") for value in values.tolist()]


def one_step() -> dict[str, Any]:
    """One step of training, where the model is nothing but three scores: what each part makes."""
    scores = nn.Parameter(torch.tensor(SCORES))
    optimizer = torch.optim.Adam([scores], lr=RATE, betas=(0.9, 0.98))
    loss = F.cross_entropy(scores, torch.tensor(RIGHT))
    loss.backward()
    made = {
        "probabilities": scores.detach().softmax(dim=-1),
        "loss": loss.item(),
        "gradient": scores.grad.clone(),
        "length": nn.utils.clip_grad_norm_([scores], LONGEST).item(),
        "clipped": scores.grad.clone(),
    }
    optimizer.step()
    return made | {"scores": scores.detach()}


class Part(NamedTuple):
    """A part of a step: its line of code, what it makes, as numbers and in words."""

    name: str
    code: str
    colour: str
    numbers: list[str]
    says: tuple[str, ...]


def parts_of_a_step() -> list[Part]:
    """All six, in their order."""
    made = one_step()
    probabilities = ", ".join(plain(made["probabilities"]))
    gradient, clipped = signed(made["gradient"]), signed(made["clipped"])
    length = f"its length is {made['length']:.2f},"
    return [
        Part(
            "batch",
            "pad_pairs(…)",
            "neutral",
            ["1", "0", "0"],
            ("target: the first", "word is right"),
        ),
        Part(
            "forward",
            "logits = model(…)",
            "prediction",
            plain(torch.tensor(SCORES)),
            ("scores: here they", "are the weights"),
        ),
        Part(
            "loss",
            "F.cross_entropy(…)",
            "error",
            [f"{made['loss']:.2f}"],
            (f"softmax: {probabilities};", "−ln of what the first got"),
        ),
        Part(
            "backward", "loss.backward()", "error", gradient, ("gradient:", "probability − target")
        ),
        Part("clip", "clip_grad_norm_(…)", "error", clipped, (length, "under 1: it stays")),
        Part(
            "step",
            "optimizer.step()",
            "residual",
            plain(made["scores"]),
            ("every weight moves", f"by the rate, {RATE}"),
        ),
    ]


def training_step() -> Canvas:
    """The loop, followed with three weights: the scores of the chapter's three words."""
    parts = parts_of_a_step()
    before = ", ".join(plain(torch.tensor(SCORES)))
    told = " ".join(
        f"{i}, {part.name}, {part.code}: {', '.join(part.numbers)}; {' '.join(part.says)}."
        for i, part in enumerate(parts, start=1)
    )
    drawing = Canvas(
        "training_step",
        640,
        490,
        "One step of training in six parts, with numbers, and the way back to the next batch",
        f"A loop, read from above. The model is as small as can be: its three weights are the "
        f"scores of three words, {before} before the step. {told} An arrow leads from the last "
        f"part back to the first: the next batch, with the weights as they are now and at the rate "
        f"that schedule.step() sets.",
        "One step of the loop, with a model that is nothing but three weights, the scores of three "
        "words, at a rate of 0.01 without a schedule. It is Adam's first step, and so each moves by "
        "the whole rate, against its gradient.",
    )
    y, step, left = 54, 74, 80
    for number, part in enumerate(parts, start=1):
        drawing.step(left, y, number, part.name)
        drawing.text(left + 32, y + 22, part.code, "neutral", 14, "start")
        cells = drawing.matrix(268, y - 14, [part.numbers], (58, 34), part.colour, size=15)
        drawing.lines(cells.right + 14, y + 3, part.says, 19, size=14, anchor="start")
        if number < len(parts):
            drawing.arrow([(left + 12, y + 16), (left + 12, y + step - 16)])
        y += step
    way_back(drawing, left, 54, y - step, 36)
    return drawing


def way_back(drawing: Canvas, left: Number, top: Number, low: Number, x: Number) -> None:
    """The arrow from the last part to the first."""
    drawing.arrow([(left - 4, low), (x, low), (x, top), (left - 4, top)], thick=2.5, round=16)
    drawing.text(x - 6, top - 32, "with the next batch", bold=True, anchor="start", size=14)


def targets() -> dict[str, Tensor]:
    """The target without and with smoothing."""
    hard = F.one_hot(torch.tensor(RIGHT), len(SCORES)).float()
    return {
        "ε = 0": hard,
        f"ε = {SMOOTHING}": (1 - SMOOTHING) * hard + SMOOTHING / len(SCORES),
    }


def gradients() -> dict[tuple[str, str], Tensor]:
    """The loss's gradient at the scores, for a model that is not sure and one that is."""
    found = {}
    for name, values in (("not sure", SCORES), ("very sure", SURE)):
        for smoothing in (0, SMOOTHING):
            scores = torch.tensor(values, requires_grad=True)
            F.cross_entropy(scores, torch.tensor(RIGHT), label_smoothing=smoothing).backward()
            found[name, f"ε = {smoothing}"] = scores.grad
    return found


def models_say() -> dict[str, Tensor]:
    """What two models give the three words."""
    return {
        "not sure": torch.tensor(SCORES).softmax(dim=-1),
        "very sure": torch.tensor(SURE).softmax(dim=-1),
    }


def verdict(gradient: Tensor) -> str:
    """Where the right word's score is pushed: descent goes against the gradient."""
    return "up" if gradient[RIGHT] < 0 else "down"


def smoothed_targets() -> Canvas:
    """Probability minus target: two models, two targets."""
    drawing = Canvas(
        "smoothed_targets",
        720,
        358,
        "Probability minus target for two models, with and without label smoothing",
        f"A table. Its columns are two targets over three words, the first of which is right: "
        f"{_told(targets())}. Its rows are what two models say: {_told(models_say())}. In each "
        f"field stands the gradient, the probability minus the target: {_told_gradients()} Only "
        f"the model that is very sure, against the smoothed target, has the right word's score "
        f"pushed down; that field is framed.",
        "Probability minus target. The right word comes first, and its score is pushed against the "
        "sign: up, as long as it gets less than the target asks. Framed: surer than the smoothed "
        "target, and pushed down.",
    )
    cell, xs, ys = (62, 32), (304, 510), (54, 148, 262)
    for x, (name, target) in zip(xs, targets().items(), strict=True):
        drawing.text(x + 93, 32, f"target, {name}", bold=True)
        drawing.matrix(x, ys[0], [plain(target, ".3f")], cell, shares=[target.tolist()])
    for y, (name, says) in zip(ys[1:], models_say().items(), strict=True):
        drawing.text(24, y - 18, f"a model that is {name}", bold=True, anchor="start")
        drawing.matrix(24, y, [plain(says, ".3f")], cell, "prediction", shares=[says.tolist()])
        drawing.text(255, y + 16, "− target =", size=14)
    draw_gradients(drawing, xs, ys[1:], cell)
    return drawing


def draw_gradients(
    drawing: Canvas, xs: tuple[Number, ...], ys: tuple[Number, ...], cell: Point, size: Number = 14
) -> None:
    """The four fields, each with where it pushes the right word."""
    found = gradients()
    for y, model in zip(ys, models_say(), strict=True):
        for x, target in zip(xs, targets(), strict=True):
            gradient = found[model, target]
            grid = drawing.matrix(x, y, [signed(gradient, "+.3f")], cell, "error", size=size)
            way, middle = verdict(gradient), x + cell[0] / 2
            tip, tail = (y + 40, y + 64) if way == "up" else (y + 64, y + 40)
            drawing.arrow([(middle, tail), (middle, tip)], "ink", 2.5)
            drawing.text(middle + 14, y + 53, f"right word {way}", size=size, anchor="start")
            if way == "down":
                drawing.frame(x - 7, y - 7, grid.width + 14, 80, radius=6)


def _told(rows: dict[str, Tensor]) -> str:
    return "; ".join(f"{name}: {', '.join(plain(row, '.3f'))}" for name, row in rows.items())


def _told_gradients() -> str:
    return " ".join(
        f"{model}, {target}: {', '.join(signed(row, '+.3f'))}, the right word goes {verdict(row)}."
        for (model, target), row in gradients().items()
    )


def lengths() -> list[int]:
    """How many target tokens the first lists have, with begin and end."""
    lists = data.load("translation", counts=(1, 2, 3, 4), size=LISTS)
    return [len(data.number_tokens(pair["de"])) + 2 for pair in lists]


def batches() -> dict[str, list[list[int]]]:
    """Their lengths in batches: as they come, and sorted, cut and shuffled."""
    rows = lengths()
    ways = {}
    for name, row in (("as they come", rows), ("by length", sorted(rows))):
        ways[name] = [row[i : i + SIZE] for i in range(0, LISTS, SIZE)]
    random.Random(1).shuffle(ways["by length"])
    return ways


def padding(cut: list[list[int]]) -> float:
    """The share of all places that holds no word."""
    places = sum(len(batch) * max(batch) for batch in cut)
    return 1 - sum(map(sum, cut)) / places


def batches_by_length() -> Canvas:
    """Sixteen lists in four batches, two ways."""
    ways = batches()
    told = " ".join(
        f"{name.capitalize()}: {'; '.join(' '.join(map(str, batch)) for batch in cut)}; "
        f"{100 * padding(cut):.0f} percent is padding."
        for name, cut in ways.items()
    )
    drawing = Canvas(
        "batches_by_length",
        720,
        452,
        "Sixteen lists in four batches of four: as they come, and by length",
        f"Two columns of four grids. A row is a list, a cell a token, and a grid is as wide as "
        f"its longest row; what is left of a row is hatched: padding. The lengths, batch by batch. "
        f"{told} By length, the four batches come in an order drawn by chance.",
        "Sixteen lists of one to four numbers, in small batches: four of four. A cell is a token, a "
        "batch is as wide as its longest list, and hatched cells are computed for nothing. By "
        "length: sorted, cut, and the batches shuffled.",
    )
    for x, (name, cut) in zip((24, 378), ways.items(), strict=True):
        drawing.text(x, 30, name, bold=True, anchor="start", size=16)
        drawing.text(x + 318, 30, f"{100 * padding(cut):.0f} % padding", anchor="end")
        draw_batches(drawing, x, 54, cut, 12.6)
    return drawing


def draw_batches(drawing: Canvas, x: Number, y: Number, cut: list[list[int]], wide: Number) -> None:
    """A grid for each batch, below each other: a row for each list, padding hatched."""
    high = 20
    for batch in cut:
        longest = max(batch)
        for i, length in enumerate(batch):
            drawing.ground(x, y + i * high + 0.75, length * wide, high - 1.5, "decoder", deep=True)
            if length < longest:
                rest = (longest - length) * wide, high
                drawing.matrix(x + length * wide, y + i * high, [[""]], rest, hidden=[[True]])
        for column in range(1, longest):
            place = x + column * wide
            drawing.line([(place, y), (place, y + len(batch) * high)], "paper", 1.5)
        y += len(batch) * high + 18
