"""After BERT (chapter 18)."""

from random import Random

from lectures_lib.exam.question import Drawn, Question, asked_in

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=18)


@_asked("What training needs", points=5)
def what_training_needs(chance: Random) -> Drawn:
    """Bytes for weights, gradients and Adam."""
    millions = chance.choice([110, 340])
    return Drawn(
        f"A model has {millions} million parameters in four bytes each. How much memory do "
        f"weights, gradients and Adam's two moments take? How much do the weights alone need for "
        f"use, in two bytes and in one?",
        f"16 bytes a parameter: {16 * millions / 1000:.2f} GB. For use {2 * millions} MB in two "
        f"bytes, {millions} MB in one (activations come on top in both cases).",
        marks=(
            (3, "four numbers of four bytes each"),
            (2, "use, in two bytes and in one"),
        ),
        wrong="Weights and gradients only: half of it.",
        reveals="Adam's two moments are forgotten; each is as large as the weights.",
    )
