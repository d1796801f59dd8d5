"""Order (chapter 4)."""

import math
from collections import Counter
from random import Random

from lectures_lib.blocks.positions import sinusoidal_positions
from lectures_lib.exam.pictures import clocks
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
        f"depends on the distance {k} of the two positions only. How large is it?",
        f"{row(PE[p])}. For each pair sin a sin b + cos a cos b = cos(a − b), so the product is "
        f"cos {k} + cos {k / 100:g} = {dot:.3f}: only the distance is left, wherever the first "
        f"position is.",
        marks=(
            (2, "the vector"),
            (3, "the addition theorem, for each pair"),
            (1, "the number"),
        ),
        wrong="The calculator's degrees: sin 1 = 0.017.",
        reveals="Nothing about positions, but angles are radians here; worth one point less, "
        "not six.",
    )


@_asked("What a model without positions may guess", points=5, kind="predict")
def without_positions(chance: Random) -> Drawn:
    """The best guess about a reversed string, when only the other digits are known."""
    a, b, c, d = chance.sample(range(10), 4)
    digits = chance.sample([a, a, a, b, c, d], 6)
    asked = chance.choice([i for i in range(6) if digits[i] == a])
    others = Counter(digits[:asked] + digits[asked + 1 :])
    best, times = others.most_common(1)[0]
    right = digits[5 - asked]
    other = next(i for i in range(6) if digits[i] == b)
    return Drawn(
        f"Self-attention without positions and without a mask learns to write a number of six "
        f"digits backwards. It reads {' '.join(map(str, digits))}; places are counted from 1. What "
        f"is its best guess for place {asked + 1}, with which probability is it right, as far as "
        f"the model can tell, and what should stand there? At which other places must its "
        f"*probabilities* be exactly the same as at place {asked + 1}, and why?",
        f"It knows that place {asked + 1} has a {digits[asked]} and which five digits are "
        f"elsewhere, not where. Among them {best} occurs {times} times: the guess {best}, right "
        f"with {times}/5. There should stand {right}. At the other places with a {a}, "
        f"{' and '.join(str(i + 1) for i in range(6) if digits[i] == a and i != asked)}, the query "
        f"and the keys are the same, so is the output. At place {other + 1}, with a {b}, the "
        f"probabilities are others, whatever the best guess is.",
        marks=((1, "the guess, from the other five"), (1, "its probability"),
               (1, "what should stand there"), (2, "equal tokens get equal outputs")),
        wrong=f"{a}, but with 3/6.",
        reveals="The place's own digit is counted: the one that moves here comes from another "
        "place, as the length is even.",
    )  # fmt: skip


@_asked("What time is it?", points=6)
def what_time_is_it(chance: Random) -> Drawn:
    """A position read from two clocks, a fast one and a slow one."""
    place = chance.choice([p for p in range(5, 16) if p % 4])  # the fast hand alone tells it wrong
    fast, slow = place % 4 * 90.0, place * 22.5
    same = [p for p in range(16) if p % 4 == place % 4 and p != place]
    later = (place + 3) % 16
    return Drawn(
        "A position vector of four numbers is drawn as two clocks; both hands pointed up at "
        "position 0. With every token the fast one turns by 90 degrees clockwise, the slow one by "
        "22.5. Which position from 0 to 15 is it? Which other positions have the same fast hand, "
        "and why are both clocks needed? Where do the hands point three tokens later, and "
        "by which angles has each turned?",
        f"Position {place}: the slow hand has turned by {slow:g} degrees = {place} · 22.5, "
        f"and the fast one stands at {fast:g} degrees, {place} · 90 less whole turns. The same "
        f"fast hand: {', '.join(map(str, same))}. The fast hand tells neighbours well apart and "
        f"is soon back; the slow one repeats late but moves little from one word to the next. "
        f"Three tokens later the fast one stands at {later % 4 * 90} degrees and the slow one at "
        f"{later * 22.5:g}; they have turned by 270 and 67.5, wherever one begins.",
        marks=((2, "the position"), (2, "the others, and why two"), (2, "three tokens later")),
        wrong=f"Position {place % 4}.",
        reveals="Only the fast hand is read. One clock repeats; all of them together tell the "
        "place.",
        picture=clocks("what_time_is_it", {"fast": fast, "slow": slow}),
    )
