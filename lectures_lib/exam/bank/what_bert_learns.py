"""What does BERT learn? (chapters 16 and 16b)."""

from random import Random

import torch

from lectures_lib.exam.pictures import heat
from lectures_lib.exam.question import Drawn, Question, asked_in, row

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=16)


@_asked("A control for a probe", points=5, kind="explain")
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


@_asked("From pieces to words", points=6)
def from_pieces_to_words(chance: Random) -> Drawn:
    """Attention between pieces becomes attention between words: sum to, mean from."""
    one, *word = chance.choice(
        [("birds", "flight", "##less"), ("dogs", "sleep", "##ing"), ("we", "un", "##do")]
    )
    weights = torch.tensor(
        chance.choice(
            [[[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.6, 0.2, 0.2]],
             [[0.4, 0.4, 0.2], [0.7, 0.2, 0.1], [0.3, 0.5, 0.2]],
             [[0.2, 0.7, 0.1], [0.4, 0.1, 0.5], [0.8, 0.1, 0.1]]]
        )
    )  # fmt: skip
    to = torch.tensor([[1.0, 0, 0], [0, 1, 1]])
    words = (to / to.sum(dim=-1, keepdim=True)) @ weights @ to.T
    pieces, whole = [one, *word], [one, "".join(word).replace("##", "")]
    return Drawn(
        f"A head's weights between three pieces; *{word[0]}* and *{word[1]}* are one word. Compute "
        f"the 2 × 2 table of weights between the two words. Which rule holds for the rows "
        f"(who looks), which for the columns (who is looked at), and why are they not the "
        f"same? How do you check the result?",
        f"What either piece is given, the word is given: columns are added. Each piece had a whole "
        f"unit to give: rows are averaged. {one}: {row(words[0])}; {whole[1]}: {row(words[1])}. "
        f"Each row still sums to 1.",
        marks=((3, "the four numbers"), (2, "sum to, mean from, with the reason"),
               (1, "rows sum to 1")),
        wrong="Rows and columns are both added.",
        reveals=f"Then the row of {whole[1]} sums to 2: a word of two pieces would have twice the "
        "attention to give.",
        picture=heat("from_pieces_to_words", "Weights between three pieces", weights, pieces,
                     pieces),
        solved=heat("from_pieces_to_words_solved", "Weights between two words", words, whole,
                    whole),
    )  # fmt: skip


@_asked("Does the head know grammar?", points=6, kind="explain")
def does_the_head_know_grammar(chance: Random) -> Drawn:
    """A head that hits subjects, held against a fixed offset."""
    n = 8
    distances = chance.choice([(1, 1, 1, 2, 3), (1, 1, 2, 1, 3), (1, 2, 1, 1, 4)])
    hits = chance.choice([(1, 1, 1, 0, 1), (1, 1, 0, 1, 1), (1, 1, 1, 1, 0)])
    offset = max(set(distances), key=distances.count)
    most = distances.count(offset)
    head = sum(hits)
    far = sum(h for h, d in zip(hits, distances, strict=True) if d != offset)
    lines = "; ".join(
        f"distance {d}: {'right' if h else 'wrong'}" for h, d in zip(hits, distances, strict=True)
    )
    return Drawn(
        f"In five sentences a head looks from the verb, and should find its subject. How many "
        f"words before the verb the subject stood, and whether the head found it: {lines}. How "
        f"often was the head right? How often is a rule right that always looks {offset} to the "
        f"left? Which cases speak for the head? It was chosen on these five, as the "
        f"best of {n * 9} heads: what is wrong with that?",
        f"The head {head}/5, the rule {most}/5. For the head speak the cases in which the subject "
        f"is not at {offset}: it found {far} of {5 - most}. The best of many is lucky by choice, "
        f"even untrained heads are; a head must be chosen on some sentences and counted on others.",
        marks=((2, "both shares"), (2, "the other distances"), (2, "chosen and counted on the "
               "same sentences")),
        wrong=f"With {head} of 5 the head knows what a subject is.",
        reveals="A share is read without a baseline: where most subjects stand at one "
        "distance, a habit of place does as well.",
    )  # fmt: skip
