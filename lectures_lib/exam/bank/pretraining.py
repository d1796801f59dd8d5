"""Pre-training (chapter 13)."""

from random import Random

from lectures_lib.exam.question import Drawn, Question, asked_in

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=13)


@_asked("Holes", points=6)
def holes(chance: Random) -> Drawn:
    """Expected numbers in BERT's masking."""
    n = chance.choice([200, 400, 512])
    asked = 0.15 * n
    return Drawn(
        f"A text has {n} tokens that may be chosen. How many are expected to be chosen, to become "
        f"[MASK], another word, and to stay? In how many places of the input does one see that "
        f"something was done, and at how many is a loss computed? Why are some left as they are?",
        f"Chosen {asked:g}; [MASK] {0.8 * asked:g}, another word {0.1 * asked:g}, unchanged "
        f"{0.1 * asked:g}. The input differs in at most {0.9 * asked:g} places (a random word "
        f"may be the same), the loss counts all {asked:g}. In use there is no [MASK]: a model that "
        f"need only predict where it sees one would have no reason to care for the others.",
        marks=(
            (2, "the four numbers"),
            (2, "where it shows, and where a loss is computed"),
            (2, "why some are left"),
        ),
        wrong="The loss counts only the [MASK] places.",
        reveals="Then the other two kinds would teach nothing: every chosen token is to be "
        "predicted.",
    )
