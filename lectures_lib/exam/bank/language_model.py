"""The left-to-right language model (chapter 10)."""

import math
from random import Random

from lectures_lib.exam.question import Drawn, Question, asked_in

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=10)


@_asked("Nats and perplexity", points=5)
def nats_and_perplexity(chance: Random) -> Drawn:
    """From nats a token to nats a character."""
    loss, characters = chance.choice([3.2, 3.6, 4.0]), chance.choice([4, 5])
    return Drawn(
        f"A language model has a loss of {loss} nats a token, and a token has {characters} "
        f"characters on average. Give its perplexity and its loss in nats a character. Another "
        f"model, with letters as tokens, has 1.0 nats. Which is better, and why must one not "
        f"compare the perplexities?",
        f"Perplexity e<sup>{loss}</sup> = {math.exp(loss):.1f} a token; {loss} / {characters} = "
        f"{loss / characters:.2f} nats a character, "
        f"{'better' if loss / characters < 1 else 'worse'} than 1.0. Perplexities count choices "
        f"among different units: {math.exp(1):.2f} among letters, {math.exp(loss):.1f} among "
        f"pieces.",
        marks=(
            (1, "the perplexity"),
            (1, "nats a character"),
            (1, "the comparison"),
            (2, "units differ"),
        ),
        wrong="The model with perplexity 2.72 is better.",
        reveals="Perplexities are compared over different units; a piece is several letters.",
    )
