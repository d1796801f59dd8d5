"""Several heads (chapter 3)."""

from random import Random

from lectures_lib.exam.question import Drawn, Question, asked_in

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=3)


@_asked("Shapes of heads", points=6)
def shapes_of_heads(chance: Random) -> Drawn:
    """Shapes from the input to the output, and the parameters."""
    h = chance.choice([4, 8, 12])
    d = h * chance.choice([16, 32, 64])
    batch, n = chance.choice([2, 8]), chance.choice([10, 24])
    return Drawn(
        f"Multi-head attention with h = {h} and d_model = {d} reads a batch of {batch} sentences "
        f"of {n} words. Give the shapes of Q after the projection, of Q cut into heads, of the "
        f"weights and of the output. How many parameters have the four matrices, without biases?",
        f"({batch}, {n}, {d}); ({batch}, {h}, {n}, {d // h}); ({batch}, {h}, {n}, {n}); "
        f"({batch}, {n}, {d}). Parameters: 4 · {d}² = {4 * d * d:,}, whatever h is.",
        marks=(
            (4, "one for each shape"),
            (2, "four square matrices, with their number"),
        ),
        wrong="The parameters are multiplied by h once more.",
        reveals="Heads are thought to be added; they are a cut of one projection, d_model / h "
        "columns each.",
    )


@_asked("One head or two", points=5)
def one_head_or_two(chance: Random) -> Drawn:
    """Why averages cannot replace concatenation."""
    a, b = chance.sample([(1, 0), (0, 1), (1, 1)], 2)
    mean = [(x + y) / 2 for x, y in zip(a, b, strict=True)]
    return Drawn(
        f"The word on the left has the value {a}, the one on the right {b}. One head gives each "
        f"half of its attention. Two heads look left and right. Write down the results, and those "
        f"with left and right exchanged. Which can tell the two sentences apart?",
        f"One head: {tuple(mean)} both times. Two heads: {a + b}, and exchanged {b + a}. Only "
        f"what is put side by side still tells who was where.",
        marks=(
            (2, "the single head, equal both times"),
            (2, "two heads, and exchanged"),
            (1, "only what is put side by side tells"),
        ),
        wrong="Two heads give the mean of both values, too.",
        reveals="Concatenation is taken for averaging; the heads' outputs get places of their own.",
    )
