"""From the shifted target to the next token (chapter 6), for a narrow page."""

from lectures_lib.show.drawings import next_token
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside
from lectures_lib.show.drawings.next_token import COLUMNS, SCORES, SHARES, TARGET


def shift() -> Canvas:
    """As wide, with smaller cells."""
    drawing = beside(next_token.shift(), 492)
    target, read, mask = TARGET, next_token.shifted(TARGET), next_token.visible()
    cell, x, rest = (36, 34), 98, len(TARGET) - 1
    says = drawing.matrix(
        x, 24, [list(target)], cell, [["prediction"] * rest + ["neutral"]], size=17
    )
    reads = drawing.matrix(x, 104, [list(read)], cell, [["neutral"] + ["decoder"] * rest], size=17)
    drawing.text(x - 12, 41, "target", anchor="end", bold=True, size=14)
    drawing.lines(x - 12, 121, ["decoder", "reads"], 18, anchor="end", bold=True, size=14)
    for i in range(rest):
        start, end = says.centre(0, i)[0] + 5, reads.centre(0, i + 1)[0] - 5
        drawing.arrow([(start, says.bottom + 5), (end, reads.y - 4)])
    drawing.lines(
        says.right + 10, 41, ["the last is", "the end", "token"], 17, size=13, anchor="start"
    )
    begins = ["the first is", "the begin", "token"]
    drawing.lines(reads.right + 10, 121, begins, 17, size=13, anchor="start")
    y = 212
    shown = [[read[j] if mask[i, j] else "" for j in range(len(read))] for i in range(len(read))]
    grid = drawing.matrix(
        x,
        y,
        shown,
        cell,
        [["neutral"] + ["decoder"] * rest] * len(read),
        hidden=(~mask).tolist(),
        size=14,
        rows=[f"position {i}" for i in range(len(read))],
    )
    drawing.text(grid.middle[0], y - 18, "sees", bold=True)
    out = grid.right + 44
    drawing.text(out + 10, y - 18, "must say", bold=True, size=14)
    for i, letter in enumerate(target):
        middle = y + (i + 0.5) * cell[1]
        drawing.arrow([(grid.right + 8, middle), (out - 6, middle)], "prediction", 2.5)
        tint = "prediction" if i < rest else "neutral"
        drawing.matrix(out, y + i * cell[1], [[letter]], cell, tint, size=17)
    drawing.matrix(x, grid.bottom + 28, [[""]], (30, 22), hidden=[[True]])
    drawing.text(x + 42, grid.bottom + 39, "hidden by the causal mask", size=14, anchor="start")
    drawing.text(188, grid.bottom + 84, "all rows are trained at once", "neutral", size=14)
    return drawing


def vector_to_token() -> Canvas:
    """From top to bottom; the characters side by side."""
    said = {"Read from left to right": "Read from top to bottom"}
    drawing = beside(next_token.vector_to_token(), 484, said)
    scores, shares = next_token.with_the_rest()
    left, wide = 72, 41
    middle = left + 3 * wide
    drawing.text(middle, 26, "decoder's vector", bold=True)
    vector = drawing.matrix(middle - 72, 46, [[""] * 6], (24, 24), "decoder")
    drawing.text(vector.x - 14, 58, "read: > 1", anchor="end", size=14)
    drawing.text(vector.right + 12, 58, "*d*_{model}", "neutral", 14, "start")
    drawing.arrow([(middle, 74), (middle, 134)], "decoder", 2.5)
    drawing.text(middle + 16, 102, "× *E*^⊤ + *b*", size=17, anchor="start")
    drawing.matrix(left, 162, [scores], (wide, 40), "decoder", columns=[*SCORES, "…"], size=15)
    drawing.text(left - 10, 182, "scores", anchor="end", bold=True, size=14)
    drawing.arrow([(middle, 210), (middle, 262)], "decoder", 2.5)
    drawing.text(middle + 16, 234, "softmax", bold=True, anchor="start")
    grid = drawing.matrix(
        left,
        268,
        [[f"{share:.2f}" for share in shares]],
        (wide, 40),
        "prediction",
        shares=[shares],
        size=15,
    )
    drawing.text(left - 10, 288, "shares", anchor="end", bold=True, size=14)
    for y in (182, 288):
        drawing.text(grid.right + 4, y, "*n*_{vocab}", "neutral", 13, "start")
    rest = f"{next_token.OTHERS} others"
    drawing.text(grid.right + 6, grid.bottom + 16, rest, size=13, anchor="end")
    best = shares.index(max(shares))
    chosen = grid.centre(0, best)[0]
    drawing.arrow([(chosen, grid.bottom + 6), (chosen, 378)], "prediction", 3)
    drawing.text(chosen + 14, 358, "argmax", size=14, anchor="start")
    drawing.circle(chosen, 404, 22, list(SCORES)[best], "prediction", size=20)
    drawing.text(chosen, 446, "written next", size=14)
    return drawing


def targets() -> Canvas:
    """What is wanted stands below what the model says, with the loss beside it."""
    said = {
        "Three tables side by side": "Three tables",
        "Left, what the model says": "Above, what the model says",
        "middle, what is wanted": "below it, what is wanted",
        "right, the loss": "beside that, the loss",
    }
    drawing = beside(next_token.targets(), 624, said)
    losses = next_token.losses_of_targets()
    reads = [f"> {' '.join(TARGET[:i])}".strip() for i in range(len(TARGET))]
    right = [[column == character for column in COLUMNS] for character in TARGET]
    colours = [["prediction" if hit else "neutral" for hit in row] for row in right]
    x, cell, options = 88, (48, 40), {"columns": COLUMNS, "rows": reads, "size": 15}
    shares = [[f"{share:.2f}" for share in row] for row in SHARES]
    said = drawing.matrix(x, 70, shares, cell, colours, shares=SHARES, **options)
    wanted = [["1" if hit else "0" for hit in row] for row in right]
    wanted = drawing.matrix(x, 368, wanted, cell, colours, **options)
    loss = drawing.matrix(
        wanted.right + 22, wanted.y, [[f"{x:.2f}"] for x in losses], (56, 40), "error", size=15
    )
    for grid, name in ((said, "the model says"), (wanted, "wanted"), (loss, "−ln")):
        drawing.text(grid.middle[0], grid.y - 42, name, bold=True)
    for grid in (said, wanted):
        drawing.text(x - 9, grid.y - 42, "reads", bold=True, anchor="end")
    mean = f"loss: the mean, {sum(losses) / len(losses):.2f}"
    drawing.text(loss.right, loss.bottom + 30, mean, "error", anchor="end", bold=True)
    return drawing
