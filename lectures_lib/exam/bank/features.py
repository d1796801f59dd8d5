"""Features from BERT (chapters 15 and 15b)."""

from random import Random

from lectures_lib.exam.pictures import curves
from lectures_lib.exam.question import Drawn, Question, asked_in, shuffled

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=15)


@_asked("A word of two pieces", points=5)
def a_word_of_two_pieces(chance: Random) -> Drawn:
    """A word's vector as the mean of its pieces, and the slip by one place."""
    a, b, c = chance.choice([((2, 4), (6, 0), (1, 1)), ((1, 5), (3, 3), (0, 2)),
                             ((4, 0), (2, 6), (5, 3))])  # fmt: skip
    mean = tuple((x + y) / 2 for x, y in zip(a, b, strict=True))
    cls, sep = (9, 9), (7, 7)
    slip = tuple((x + y) / 2 for x, y in zip(cls, a, strict=True))
    word = chance.choice([("flight", "##less"), ("sing", "##ing"), ("un", "##seen")])
    return Drawn(
        f"BERT reads [CLS] {word[0]} {word[1]} birds [SEP]; the last layer's vectors are, in this "
        f"order, {cls}, {a}, {b}, {c}, {sep}. Which vector has the word "
        f"*{word[0]}{word[1].removeprefix('##')}* as the mean of its pieces? A program counts "
        f"pieces from 0 but forgets [CLS]: which vector does it hand out? Why may such a "
        f"mistake go unnoticed when the vectors are used as features?",
        f"Pieces 1 and 2: {mean}. Without [CLS] it takes places 0 and 1: {slip}. A vector beside "
        f"the word knows much of the word too, since every layer mixes neighbours; results get "
        f"worse, not senseless. Look at the pieces that were picked.",
        marks=((2, "the mean of its own pieces"), (1, "the slip"), (2, "neighbours know much")),
        wrong=f"{a}: the first piece.",
        reveals="A rule from tagging, where the first piece carries the label; here the mean was "
        "asked for.",
    )


@_asked("Frozen or fine-tuned?", points=6, kind="choose and justify")
def frozen_or_fine_tuned(chance: Random) -> Drawn:
    """Passes through the body for some tasks, frozen and fine-tuned."""
    texts = chance.choice([1000, 2000, 5000])
    tasks, epochs = chance.choice([(8, 3), (10, 4), (5, 3)])
    frozen, tuned = texts, 3 * texts * tasks * epochs
    copies = f"{tasks} bodies"
    right = f"Frozen: {frozen:,} forward passes, one body. Fine-tuned: {tuned:,}, {copies}"
    return Drawn(
        f"{tasks} questions are asked about the same {texts:,} texts. Either the vectors are "
        f"computed once and a small model learns from them for each question, or the whole body is "
        f"fine-tuned for each, {epochs} epochs (count a training step as three forward passes, and "
        f"the small models as nothing). Which line is right? When would you fine-tune all "
        f"the same?",
        f"Frozen each text is read once, for all questions. Fine-tuned: 3 · {texts:,} · {epochs} "
        f"epochs · {tasks} questions, {tuned // frozen} times as much, and each question has a "
        f"body of its own to be stored. Fine-tuning is worth it where the body's last vectors say "
        f"little about the question, and where the scores on kept texts show it.",
        marks=((2, "the option"), (2, "both counts"), (2, "when to fine-tune")),
        wrong="Frozen vectors have to be computed anew for each question.",
        reveals="It is not seen that a frozen body gives the same vector whatever is asked.",
        **shuffled(
            chance,
            right,
            f"Frozen: {texts * tasks:,} forward passes, one body. Fine-tuned: {tuned:,}, {copies}",
            f"Frozen: {frozen:,} forward passes, one body. Fine-tuned: {tuned // tasks:,}, "
            "one body",
            f"Frozen: {texts * epochs:,} forward passes, one body. Fine-tuned: "
            f"{texts * tasks * epochs:,}, {copies}",
        ),
    )


@_asked("Which layer?", points=5)
def which_layer(chance: Random) -> Drawn:
    """Scores over layers for two tasks, to be read."""
    top = chance.choice([3, 4])
    slope = chance.choice([0.04, 0.05, 0.06])
    names = [0.55 + (0.93 - 0.55) * (1 - abs(i - top) / 6) for i in range(7)]
    senses = [0.5 + slope * i + (0.04 if i > 2 else 0) for i in range(7)]
    marks = {0.4: "0.4", 0.7: "0.7", 1.0: "1.0"}
    lines = {
        "names": [(i / 6, v) for i, v in enumerate(names)],
        "senses": [(i / 6, v) for i, v in enumerate(senses)],
    }
    best = max(range(7), key=names.__getitem__)
    return Drawn(
        "The vectors after each of six layers (0: before the first) were frozen, and a linear "
        "layer learned from them to find names, and to tell the two senses of a word. Which layer "
        "is the best for names? Which for senses, and what does layer 0 know of a sense? "
        "The best layer was picked by its score on the test: what is wrong with that, and what "
        "is a safe choice?",
        f"Names: {best}, then it falls. Senses: the last. Layer 0 has read no neighbour: a word's "
        f"vector is the same in both senses but for its position; where that tells nothing, the "
        f"score is that of guessing. Who picks by the test has fitted the test; pick on texts kept "
        f"for that, or take several layers together.",
        marks=((1, "names"), (2, "senses, and layer 0"), (2, "picked by the test; what is safe")),
        wrong="The last layer is the best for everything, as it has seen most.",
        reveals="The last layers are shaped by the task that the model was last trained for.",
        picture=curves("which_layer", "Scores over the layers for two tasks", lines, "layer",
                       "share right", 1.0, {i / 6: str(i) for i in range(7)}, marks, low=0.4),
    )  # fmt: skip
