"""Fine-tuning (chapter 14)."""

from random import Random

from lectures_lib.exam.question import Drawn, Question, asked_in
from lectures_lib.metrics.classification import matthews, precision_recall_f1
from lectures_lib.metrics.entities import entities, entity_scores

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=14)


@_asked("Accuracy, and what it hides", points=6)
def what_accuracy_hides(chance: Random) -> Drawn:
    """F1 and Matthews of a skewed test."""
    hits, misses, false = chance.choice([(6, 4, 4), (5, 5, 5), (8, 2, 6)])
    right = [1] * (hits + misses) + [0] * 90
    said = [1] * hits + [0] * misses + [1] * false + [0] * (90 - false)
    scores = precision_recall_f1(said, right)
    accuracy = (hits + 90 - false) / 100
    return Drawn(
        f"Of 100 texts 10 are spam. A filter marks {hits} of them, and {false} others. Give "
        f"accuracy, precision, recall and F1 for spam, and the accuracy of a filter that marks "
        f"nothing. Matthews' correlation is {matthews(said, right):.2f} for the first: what is it "
        f"worth for the second?",
        f"Accuracy {accuracy:.2f}; precision {hits}/{hits + false} = {scores.precision:.2f}, "
        f"recall {hits}/10 = {scores.recall:.2f}, F1 {scores.f1:.2f}. Marking nothing: 0.90, "
        f"which shows little. Its Matthews correlation is 0 by convention: it tells nothing apart.",
        marks=(
            (4, "accuracy, precision, recall, F1"),
            (1, "marking nothing"),
            (1, "its correlation is 0"),
        ),
        wrong="Recall divides by all texts that were marked.",
        reveals="Precision and recall are exchanged: recall asks of the spam how much was found.",
    )


@_asked("Names, not words", points=6)
def names_not_words(chance: Random) -> Drawn:
    """Entity F1 from BIO labels."""
    right = ["B-PER", "I-PER", "O", "B-LOC", "O", "B-ORG"]
    said = chance.choice(
        [
            ["B-PER", "O", "O", "B-LOC", "O", "B-ORG"],
            ["B-PER", "I-PER", "O", "B-ORG", "O", "O"],
        ]
    )
    scores = entity_scores([said], [right])
    words = sum(a == b for a, b in zip(said, right, strict=True))
    return Drawn(
        f"Right labels: {' '.join(right)}. Predicted: {' '.join(said)}. How many words are right? "
        f"Give precision, recall and F1 of the *entities*. Why is the second stricter?",
        f"{words} of 6 words. Entities predicted {len(entities(said))}, right among them "
        f"{round(scores.precision * len(entities(said)))}; there are 3. Precision "
        f"{scores.precision:.2f}, recall {scores.recall:.2f}, F1 {scores.f1:.2f}. An entity counts "
        f"only with all its words and its kind.",
        marks=(
            (1, "words right"),
            (3, "precision, recall, F1 of entities"),
            (2, "all words and the kind must be right"),
        ),
        wrong="The entity that was cut short counts as half.",
        reveals="Entities are counted as words; the usual score knows no half-right entity.",
    )
