"""From the shifted target to the next token (chapter 6): what is read, what is said, what it costs."""

import torch
from torch import Tensor

from lectures_lib.blocks.attention import causal_mask
from lectures_lib.show.drawings.canvas import Canvas

TARGET = "1969."  # its last character is the end token
BEGIN = ">"
# of `vector_to_token`: made-up scores of five of the alphabet's characters after ">1"
SCORES = {"0": 0.5, "1": 0.0, "8": 2.0, "9": 3.0, ".": -1.0}
OTHERS, SCORE_OF_OTHERS = 37, -3.5  # and of each of the others
# of `targets`: made-up shares, a row for each position, a column for each character; the other 38
# have what is missing to 1
COLUMNS = "169."
SHARES = (
    (0.90, 0.02, 0.04, 0.02),
    (0.04, 0.09, 0.80, 0.05),
    (0.10, 0.50, 0.34, 0.04),
    (0.04, 0.30, 0.60, 0.04),
    (0.02, 0.03, 0.03, 0.90),
)


def shift() -> Canvas:
    """The target, what the decoder reads, and what each row of the causal mask lets it read."""
    target, read, mask = TARGET, shifted(TARGET), visible()
    said = "; ".join(
        f"position {i}: reads {' '.join(read[: i + 1])}, must say {target[i]}"
        for i in range(len(target))
    )
    drawing = Canvas(
        "shift",
        720,
        480,
        "The target moved one place to the right, and the rows of the causal mask",
        f"Two rows of characters. The target: {' '.join(target)}; the full stop is the end token. "
        f"What the decoder reads: {' '.join(read)}; it begins with the begin token and lacks the "
        f"target's last one. Below, one row for each position, as the causal mask cuts it: {said}.",
        "The decoder reads the right characters, one place late; the causal mask "
        "turns one sequence into as many exercises as it has positions.",
    )
    cell, x = (52, 36), 196
    says = drawing.matrix(
        x, 40, [list(target)], cell, [["prediction"] * (len(target) - 1) + ["neutral"]], size=17
    )
    reads = drawing.matrix(
        x, 124, [list(read)], cell, [["neutral"] + ["decoder"] * (len(target) - 1)], size=17
    )
    drawing.text(x - 16, 58, "target", anchor="end", bold=True)
    drawing.text(x - 16, 142, "decoder reads", anchor="end", bold=True)
    for i in range(len(target) - 1):
        drawing.arrow(
            [
                (says.centre(0, i)[0] + 6, says.bottom + 5),
                (reads.centre(0, i + 1)[0] - 6, reads.y - 4),
            ],
            "neutral",
            2,
        )
    drawing.lines(says.right + 22, 58, ["the last is the end token"], size=14, anchor="start")
    drawing.lines(reads.right + 22, 142, ["the first is the begin token"], size=14, anchor="start")
    y = 236
    hidden = (~mask).tolist()
    shown = [[read[j] if mask[i, j] else "" for j in range(len(read))] for i in range(len(read))]
    tints = [["neutral"] + ["decoder"] * (len(read) - 1)] * len(read)
    grid = drawing.matrix(
        x,
        y,
        shown,
        cell,
        tints,
        hidden=hidden,
        size=17,
        rows=[f"position {i}" for i in range(len(read))],
    )
    drawing.text(grid.middle[0], y - 22, "sees", bold=True)
    out = grid.right + 70
    drawing.text(out + 26, y - 22, "must say", bold=True)
    for i, letter in enumerate(target):
        middle = y + (i + 0.5) * cell[1]
        drawing.arrow([(grid.right + 12, middle), (out - 8, middle)], "prediction", 2.5)
        drawing.matrix(
            out,
            y + i * cell[1],
            [[letter]],
            cell,
            "prediction" if i < len(target) - 1 else "neutral",
            size=17,
        )
    drawing.matrix(out + 76, y, [[""]], (30, 22), hidden=[[True]])
    drawing.lines(
        out + 76, y + 50, ["hidden by the", "causal mask"], size=14, anchor="start", step=19
    )
    drawing.text(
        grid.middle[0], grid.bottom + 30, "all rows are trained at once", "neutral", size=14
    )
    return drawing


def shifted(target: str) -> str:
    """What the decoder reads: the begin token, then the target without its last one."""
    return BEGIN + target[:-1]


def visible() -> Tensor:
    """Which positions each position may see."""
    return causal_mask(len(TARGET))


def shares_of_scores() -> list[float]:
    """Softmax over the whole alphabet, for the characters that `vector_to_token` shows."""
    scores = [*SCORES.values(), *[SCORE_OF_OTHERS] * OTHERS]
    return torch.tensor(scores).softmax(dim=-1)[: len(SCORES)].tolist()


def with_the_rest() -> tuple[list[str], list[float]]:
    """The scores that `vector_to_token` shows, as texts, and their shares; last, what each of the
    other characters has, and what these have together.
    """
    scores, shares = [*SCORES.values(), SCORE_OF_OTHERS], shares_of_scores()
    return [f"{x:.1f}".replace("-", "−") for x in scores], [*shares, 1 - sum(shares)]


def losses_of_targets() -> list[float]:
    """−ln of the share of each position's right character."""
    shares = torch.tensor(SHARES)
    right = torch.tensor([COLUMNS.index(character) for character in TARGET])
    return (-shares.gather(1, right[:, None]).squeeze(1).log()).tolist()


def vector_to_token() -> Canvas:
    """From the decoder's vector to scores, shares and a character."""
    scores, shares = with_the_rest()
    rows = ", ".join(
        f"{token}: {score} and {share:.2f}"
        for token, score, share in zip(SCORES, scores, shares, strict=False)
    )
    best = list(SCORES)[shares.index(max(shares))]
    drawing = Canvas(
        "vector_to_token",
        720,
        388,
        "From the decoder's vector to the next character",
        "Read from left to right. The decoder has read the begin token and a 1; the vector at the "
        "last place has d model numbers. It is multiplied by E transposed, plus a bias: one score "
        "for each character of the alphabet, also called logits. Softmax makes shares of them that "
        f"sum to 1. Five characters are shown, score and share: {rows}. In a last row, marked by "
        f"dots, are the other {OTHERS}: {scores[-1]} each, and {shares[-1]:.2f} together. The largest share is "
        f"that of {best}, and that is written next.",
        "The last step. The scores (logits) of five of the 42 characters are shown, with made-up "
        f"numbers, and below them what the other {OTHERS} have; softmax turns all of them into shares, "
        "which sum to 1, and the likeliest is written.",
    )
    top, high = 72, 44
    middle = top + 3 * high
    drawing.text(84, 34, "decoder's vector", bold=True)
    vector = drawing.matrix(72, middle - 66, [[""]] * 6, (24, 22), "decoder")
    drawing.text(84, vector.bottom + 18, "*d*_{model}", "neutral", 14)
    drawing.text(84, vector.y - 18, "read: > 1", "ink", 14)
    drawing.arrow([(104, middle), (252, middle)], "decoder", 2.5)
    drawing.text(178, middle - 20, "× *E*^⊤ + *b*", size=17)
    drawing.text(320, 34, "scores", bold=True)
    names = [*SCORES, "…"]
    drawing.matrix(
        284, top, [[score] for score in scores], (72, high), "decoder", rows=names, size=16
    )
    drawing.arrow([(364, middle), (462, middle)], "decoder", 2.5)
    drawing.text(412, middle - 20, "softmax", bold=True)
    drawing.text(520, 34, "shares", bold=True)
    grid = drawing.matrix(
        472,
        top,
        [[f"{share:.2f}"] for share in shares],
        (96, high),
        "prediction",
        shares=[[share] for share in shares],
        size=16,
    )
    chosen = grid.centre(list(SCORES).index(best), 0)[1]
    drawing.arrow([(grid.right + 8, chosen), (636, chosen)], "prediction", 3)
    drawing.text(606, chosen - 20, "argmax", size=14)
    drawing.circle(664, chosen, 22, best, "prediction", size=20)
    drawing.lines(664, chosen + 52, ["written", "next"], 18, size=14)
    rest = grid.centre(len(SCORES), 0)[1]
    drawing.text(grid.right + 10, rest, f"{OTHERS} others", size=14, anchor="start")
    for x in (320, 520):
        drawing.text(x, grid.bottom + 18, "*n*_{vocab}", "neutral", 14)
    return drawing


def targets() -> Canvas:
    """What the model says at each position, what is wanted, and the loss."""
    losses = losses_of_targets()
    reads = [f"> {' '.join(TARGET[:i])}".strip() for i in range(len(TARGET))]
    rows = "; ".join(
        f"after {read}: shares {', '.join(f'{x:.2f}' for x in row)}, wanted {right}, "
        f"loss {loss:.2f}"
        for read, row, right, loss in zip(reads, SHARES, TARGET, losses, strict=True)
    )
    mean = sum(losses) / len(losses)
    drawing = Canvas(
        "targets",
        720,
        354,
        "Shares, wanted shares and the loss, position by position",
        f"Three tables side by side, a row for each position of the target {TARGET}; the columns "
        f"are the characters {', '.join(COLUMNS)}. Left, what the model says, in shares; middle, "
        "what is wanted: 1 for the right character, 0 for all others; right, the loss: minus the "
        f"logarithm of the right character's share. {rows}. The mean of the five is {mean:.2f}.",
        "Five exercises at once. What is wanted is all on one character; the loss is −ln of the "
        "share that this one gets, and the training loss is the mean. (Made-up shares of four "
        "characters; the other 38 have 0.02 together.)",
    )
    top, cell = 84, (50, 42)
    right = [[column == character for column in COLUMNS] for character in TARGET]
    colours = [["prediction" if hit else "neutral" for hit in row] for row in right]
    drawing.text(60, 34, "reads", bold=True)
    said = drawing.matrix(
        118,
        top,
        [[f"{x:.2f}" for x in row] for row in SHARES],
        cell,
        colours,
        columns=COLUMNS,
        shares=SHARES,
        size=15,
    )
    for i, read in enumerate(reads):
        drawing.text(104, said.centre(i, 0)[1], read, anchor="end", size=15)
    wanted = drawing.matrix(
        378,
        top,
        [["1" if hit else "0" for hit in row] for row in right],
        cell,
        colours,
        columns=COLUMNS,
        size=15,
    )
    loss = drawing.matrix(620, top, [[f"{x:.2f}"] for x in losses], (64, 42), "error", size=15)
    for grid, name in ((said, "the model says"), (wanted, "wanted"), (loss, "−ln")):
        drawing.text(grid.middle[0], 34, name, bold=True)
    drawing.text(
        loss.right,
        loss.bottom + 32,
        f"loss: the mean, {mean:.2f}",
        "error",
        anchor="end",
        bold=True,
    )
    return drawing
