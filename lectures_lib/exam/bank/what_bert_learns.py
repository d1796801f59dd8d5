"""What does BERT learn? (chapter 16)."""

from random import Random

from lectures_lib.exam.question import Drawn, Question, asked_in

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=16)


@_asked("A control for a probe", points=5)
def control_for_a_probe(chance: Random) -> Drawn:
    """Selectivity of two probes."""
    small, large = (0.92, chance.choice([0.55, 0.6])), (0.96, chance.choice([0.88, 0.9]))
    return Drawn(
        f"A linear probe finds parts of speech with {small[0]}, a large network with {large[0]}. "
        f"With control labels, drawn once at random for each word type, they reach {small[1]} and "
        f"{large[1]}. Which selectivity has each? Which number says more about the vectors?",
        f"{small[0]} − {small[1]} = {small[0] - small[1]:.2f} and {large[0]} − {large[1]} = "
        f"{large[0] - large[1]:.2f}. The large probe can learn words by heart, so its accuracy "
        f"says little about what the vectors hold; the linear one's says more.",
        marks=(
            (2, "both selectivities"),
            (3, "which says more, and why"),
        ),
        wrong="The better probe shows more of what the vectors hold.",
        reveals="Accuracy is credited to the vectors, although the probe has learned part of it"
        " by itself.",
    )
