"""Order (chapter 4)."""

import math
from random import Random

from lectures_lib.blocks.positions import sinusoidal_positions
from lectures_lib.exam.question import Drawn, Question, asked_in, row

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=4)


@_asked("A position as clocks", points=6)
def a_position_as_clocks(chance: Random) -> Drawn:
    """The sinusoidal vector of a small position, and a dot product."""
    p, k = chance.choice([1, 2, 3]), chance.choice([1, 2])
    PE = sinusoidal_positions(p + k + 1, 4)
    dot = math.cos(k) + math.cos(k / 100)
    return Drawn(
        f"With d_model = 4 the two speeds are 1 and 1/100. Write down the vector of position {p} "
        f"(sine before cosine) and show that its dot product with the vector of position {p + k} "
        f"depends on {k} only. How large is it?",
        f"{row(PE[p])}. For each pair sin a sin b + cos a cos b = cos(a − b), so the product is "
        f"cos {k} + cos {k / 100:g} = {dot:.3f}, without {p}.",
        marks=(
            (2, "the vector"),
            (3, "the addition theorem, for each pair"),
            (1, "the number"),
        ),
        wrong="The calculator's degrees: sin 1 = 0.017.",
        reveals="Nothing about positions, but angles are radians here; worth one point less, "
        "not six.",
    )
