"""The bottleneck (chapter 1)."""

from random import Random

import torch

from lectures_lib.exam import pictures
from lectures_lib.exam.question import Drawn, Question, asked_in

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=1)


@_asked("A chain, or a look", points=4, kind="predict")
def chain_or_look(chance: Random) -> Drawn:
    """Steps one after another: n against one."""
    n = chance.choice([20, 50, 128])
    return Drawn(
        f"A sentence has {n} words. How many steps must a GRU layer take one after the other, and "
        f"how many a self-attention layer, if a machine can do everything at once that does not "
        f"wait for something else? How many scores does the attention layer compute? When is the "
        f"GRU the cheaper one all the same?",
        f"{n} steps against one (score, softmax, average: a fixed number that does not grow with "
        f"the sentence). Scores: {n} · {n} = {n * n}. The GRU's work grows with "
        f"n · d², the attention's with n² · d, for a width of d: where n is larger than the width, "
        f"or the machine cannot do much at once, a long text costs the GRU less.",
        marks=(
            (1, "the GRU's steps"),
            (1, "the attention's one"),
            (1, "the scores"),
            (
                1,
                "when the GRU is cheaper: n larger than the width, or long texts where little can "
                "be done at once",
            ),
        ),
        wrong='n steps for both, because the layer "has n queries".',
        reveals="Work and waiting are confused: n² scores are more work, but none waits for "
        "another.",
    )


@_asked("What a gate lets through", points=5)
def what_a_gate_lets_through(chance: Random) -> Drawn:
    """A gate's power after some words, and the gate that would keep half."""
    gate, words = chance.choice([(0.8, 3), (0.9, 2), (0.5, 4), (0.9, 4), (0.8, 2)])
    kept, needed = gate**words, 0.5 ** (1 / words)
    return Drawn(
        f"One number of a GRU's state is 1. At each of the next {words} words its gate is z = "
        f"{gate} and the candidate n is 0; h′ = z · h + (1 − z) · n. What is the number then? "
        f"How large must a gate be, the same at every word, if half of the number is to survive "
        f"{words} words? What does this say about long sentences?",
        f"{gate}<sup>{words}</sup> = {kept:.4g}. Half survives if z<sup>{words}</sup> = ½: "
        f"z = {needed:.3f}. What is kept falls with the power of the words: to remember over "
        f"many, a gate must stay very close to 1 at every single one.",
        marks=(
            (2, "the power and its value"),
            (2, "the root that keeps half"),
            (1, "the gate must stay near 1 at every word"),
        ),
        wrong=f"{gate} is left after all {words} words: the gate keeps that much.",
        reveals="The gate is taken for something that happens once; it acts at every word, and "
        "what is left is multiplied each time.",
    )


@_asked("Where it looked", points=7)
def where_it_looked(chance: Random) -> Drawn:
    """A map of attention with two numbers to be found, and what may be concluded."""
    unit, ten, german = chance.choice(
        [("six", "thirty", ("sechs", "dreißig")), ("four", "fifty", ("vier", "fünfzig")),
         ("seven", "eighty", ("sieben", "achtzig"))]
    )  # fmt: skip
    most = chance.choice([0.7, 0.75, 0.8])
    split = chance.choice([0.4, 0.45])
    weights = torch.tensor(
        [
            [0.95 - most, most, 0.05],
            [split, 0.9 - split, 0.1],
            [most + 0.05, 0.9 - most, 0.05],
            [0.1, 0.15, 0.75],
        ]
    )
    rows, columns = [german[0], "und", german[1], "END"], [ten, unit, "END"]
    picture = pictures.heat(
        "where_it_looked",
        f"Where a decoder looked while it wrote {german[0]} und {german[1]}",
        weights, rows, columns, unknown=((0, 1), (2, 0)),
    )  # fmt: skip
    return Drawn(
        f"A decoder with attention translates *{ten} {unit}*. Each row shows where it looked while "
        f"it wrote a word; two numbers are missing. Find them. Which word does each of the rows "
        f"*{german[0]}* and *{german[1]}* mostly read, and what would a map along the diagonal "
        f"have got wrong? Somebody concludes from the row *und* that the model cannot "
        f"make up its mind. Name another reason, and say why no weight proves which word was used.",
        f"Each row sums to 1: {weights[0, 1]:.2f} ({german[0]}, at {unit}) and {weights[2, 0]:.2f} "
        f"({german[1]}, at {ten}). The two looks cross, since German says the unit first; the "
        f"diagonal would pair {german[0]} with {ten}. *Und* joins two words and has no English "
        f"word of its own, so both may serve. The weights say which encoder *states* were read, "
        f"and a state read in both directions also knows its neighbours.",
        marks=(
            (2, "the two numbers"),
            (2, "the right pairs, and that they cross"),
            (1, "und has no word of its own"),
            (2, "what is read is a state, which knows more than its word"),
        ),
        wrong="The columns are made to sum to 1.",
        reveals="It is not clear who shares out what: each query, a row, distributes one unit of "
        "attention among the keys.",
        picture=picture,
    )
