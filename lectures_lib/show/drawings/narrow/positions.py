"""Positions (chapter 4), for a narrow page."""

from lectures_lib.blocks.positions import frequencies
from lectures_lib.show.drawings import positions
from lectures_lib.show.drawings.attention import numbers
from lectures_lib.show.drawings.canvas import Canvas
from lectures_lib.show.drawings.narrow.sheet import beside
from lectures_lib.show.drawings.positions import D_MODEL, FRAMED, SHOWN, STARTS, STEP, WIDTH, N


def clocks() -> Canvas:
    """As wide, with smaller clocks; a row's name stands above it."""
    drawing = beside(positions.clocks(), 442)
    tips = positions.hands(N, D_MODEL)
    vector = [f"{v:.2f}".replace("-", "−") for v in tips[FRAMED].flatten().tolist()]
    left, top, wide, high, radius = 8, 56, 45, 74, 21
    drawing.text(12, 20, "position", anchor="start", bold=True)
    for j in range(N):
        drawing.text(left + (j + 0.5) * wide, 42, str(j), bold=True)
    for i, omega in enumerate(frequencies(D_MODEL).tolist()):
        y = top + i * high
        drawing.text(12, y + 12, f"clock {i + 1}", anchor="start", bold=True, size=13)
        drawing.text(68, y + 12, f"*ω* = {omega:g}", anchor="start", size=13)
        for j in range(N):
            positions.clock(drawing, left + (j + 0.5) * wide, y + 46, radius, tips[j, i])
    drawing.frame(left + FRAMED * wide, top + 4, wide, 4 * high - 4, radius=8)
    half = len(vector) // 2
    drawing.text(40, 376, f"*PE*_{FRAMED} = ({', '.join(vector[:half])},", anchor="start")
    drawing.text(94, 398, f"{', '.join(vector[half:])})", anchor="start")
    says = "sine, cosine of clock 1; sine, cosine of clock 2; …"
    drawing.text(188, 424, says, "neutral", size=13)
    return drawing


def addition() -> Canvas:
    """The three tables below each other."""
    said = {
        "with a plus and an equals sign between them": "one below the other, with a plus and an "
        "equals sign between them"
    }
    drawing = beside(positions.addition(), 452, said)
    made, cell = positions.summands(), (48, 28)
    tables = (
        (
            "tokens",
            ".1f",
            "neutral",
            ("dog", "bites", "man"),
            ["word"],
            "(batch, *n*, *d*_{model})",
        ),
        ("positions", ".2f", "position", "012", ["position"], "(*n*, *d*_{model})"),
        ("sum", ".2f", "residual", "", ["the first", "layer reads"], "(batch, *n*, *d*_{model})"),
    )
    for i, (name, spec, colour, rows, says, shape) in enumerate(tables):
        grid = drawing.matrix(62, 22 + 150 * i, numbers(made[name], spec), cell, colour, rows=rows)
        drawing.lines(grid.right + 12, grid.middle[1], says, 20, anchor="start", bold=True, size=14)
        drawing.text(grid.middle[0], grid.bottom + 18, shape, "neutral", 14)
        if i:
            drawing.text(grid.middle[0], grid.y - 22, "+="[i - 1], size=20, bold=True)
    return drawing


def rotation() -> Canvas:
    """As wide; where a row's hands start stands above it."""
    drawing = beside(positions.rotation(), 470)
    tips = positions.hands(max(STARTS) + STEP + 1, WIDTH)
    angles, speeds = positions.turned_by(STEP, WIDTH)[:SHOWN], frequencies(WIDTH).tolist()[:SHOWN]
    radius, tops = 52, (46, 234)
    for start, top in zip(STARTS, tops, strict=True):
        says = f"from {start} to {start} + {STEP} = {start + STEP}"
        drawing.text(16, top + 10, says, anchor="start", bold=True)
    for j, (angle, omega) in enumerate(zip(angles, speeds, strict=True)):
        x = 66 + 122 * j
        drawing.text(x, 24, f"*ω* = {omega:.2g}", size=16)
        for start, top in zip(STARTS, tops, strict=True):
            y = top + 82
            positions.clock(drawing, x, y, radius, tips[start, j], "neutral")
            positions.hand(drawing, x, y, radius, tips[start + STEP, j], "position")
            before, turn = start * omega, STEP * omega
            drawing.arc(x, y, radius - 16, before + 0.03, before + turn - 0.03, "ink", 2)
            drawing.text(x, y + radius + 18, f"turned by {angle:.0f}°", size=14)
    says = f"*PE*_{{pos+{STEP}}} = *M*_{STEP} · *PE*_{{pos}}   for every *pos*"
    drawing.text(188, 440, says, size=16)
    return drawing
