"""Fine-tuning (chapter 14)."""

from random import Random

from lectures_lib.exam.pictures import table
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
        f"which shows little. Its Matthews correlation is 0/0, by convention 0: it tells "
        f"nothing apart.",
        marks=(
            (4, "accuracy, precision, recall, F1"),
            (1, "marking nothing"),
            (1, "its correlation is 0, or not defined"),
        ),
        wrong="Recall divides by all texts that were marked.",
        reveals="Precision and recall are exchanged: recall asks of the spam how much was found.",
    )


@_asked("Names, not words", points=6)
def names_not_words(chance: Random) -> Drawn:
    """Entity F1 from BIO labels."""
    right = ["B-PER", "I-PER", "O", "B-LOC", "O", "B-ORG"]
    said, wrong, reveals = chance.choice(
        [
            (
                ["B-PER", "O", "O", "B-LOC", "O", "B-ORG"],
                "The entity that was cut short counts as half.",
                "Entities are counted as words; the usual score knows no half-right entity.",
            ),
            (
                ["B-PER", "I-PER", "O", "B-ORG", "O", "O"],
                "Two of three are right: the place was found, only its kind is wrong.",
                "An entity must have the right words *and* the right kind.",
            ),
        ]
    )
    scores = entity_scores([said], [right])
    words = sum(a == b for a, b in zip(said, right, strict=True))
    return Drawn(
        f"Right labels: {' '.join(right)}. Predicted: {' '.join(said)}. How many words are right? "
        f"Give precision, recall and F1 of the *entities*. Why is the score of "
        f"entities stricter than that of words?",
        f"{words} of 6 words. Entities predicted {len(entities(said))}, right among them "
        f"{round(scores.precision * len(entities(said)))}; there are 3. Precision "
        f"{scores.precision:.2f}, recall {scores.recall:.2f}, F1 {scores.f1:.2f}. An entity counts "
        f"only with all its words and its kind.",
        marks=(
            (1, "words right"),
            (3, "precision, recall, F1 of entities"),
            (2, "all words and the kind must be right"),
        ),
        picture=table(
            "names_not_words",
            "The labels of six words",
            {"word": [str(i) for i in range(1, 7)], "right": right, "predicted": said},
        ),
        wrong=wrong,
        reveals=reveals,
    )


@_asked("Where is the answer?", points=6)
def where_is_the_answer(chance: Random) -> Drawn:
    """The best legal span from start and end scores; the naive pair is not legal."""
    tokens = ["[CLS]", "who", "[SEP]", "Ann", "met", "old", "Bob", "[SEP]"]
    a, b, c = chance.choice([(6, 5, 4), (7, 5, 3), (8, 6, 4)])
    if chance.random() < 0.5:
        b, c = c, b
    starts = [0, 1, 0, b, 0, 1, a, 0]
    ends = [0, 2, 0, a, 1, 0, c, 0]
    if chance.random() < 0.5:
        starts[5], starts[6] = a, 1
    low, high = 3, 6
    spans = {(i, j): starts[i] + ends[j] for i in range(low, high + 1) for j in range(i, high + 1)}
    best = max(spans, key=spans.get)
    assert sum(score == spans[best] for score in spans.values()) == 1
    naive = (starts.index(max(starts)), ends.index(max(ends)))
    return Drawn(
        "A head gives each token a score as the start and one as the end of the answer. The "
        "context runs from *Ann* to *Bob*. Which span do the two largest scores "
        "name, and what is wrong with it? Which legal span is the best, with which score? "
        "How many legal spans are there?",
        f"The largest are start *{tokens[naive[0]]}* and end *{tokens[naive[1]]}*: the end stands "
        f"before the start. Legal are spans inside the context whose end is not before the start: "
        f"4 + 3 + 2 + 1 = {len(spans)}. The best is *{' '.join(tokens[best[0] : best[1] + 1])}* "
        f"with {starts[best[0]]} + {ends[best[1]]} = {spans[best]}.",
        marks=((2, "the illegal pair"), (3, "the best legal span and its score"),
               (1, "the number of spans")),
        wrong="The answer is empty, since the end is before the start.",
        reveals="The two maxima are taken one by one; what is sought is the best pair among those "
        "that are allowed.",
        picture=table("where_is_the_answer", "Scores of start and end for eight tokens",
                      {"token": tokens, "start": list(map(str, starts)),
                       "end": list(map(str, ends))}, ["key", "prediction", "prediction"]),
    )  # fmt: skip


@_asked("A label on every piece", points=5, kind="find the bug")
def a_label_on_every_piece(chance: Random) -> Drawn:
    """Labels of words brought to pieces."""
    code = [
        "def to_pieces(labels, words, ignore=-100):",
        '    """words: for each piece the index of its word, None for [CLS], [SEP].',
        '    The first piece of a word carries its label, no other does."""',
        "    made, before = [], None",
        "    for word in words:",
        "        first = word is not None and word != before",
        "        made.append(labels[word] if first else ignore)",
        "        before = word",
        "    return made",
    ]
    kind = chance.choice(["every", "shifted"])
    if kind == "every":
        line, bad = 6, "        first = word is not None"
        says = (
            "Every piece carries the label, so a word of three pieces counts three times in the "
            "loss, and B- stands on pieces that begin nothing: one name becomes several"
        )
    else:
        line, bad = 8, "        before = labels[word] if first else ignore"
        says = (
            "What is remembered is a label and not the word, so a word's second piece "
            "is taken for the first one of another word, and carries a label too; and a word whose "
            "index happens to be the label before it gets none"
        )
    mended, code[line - 1] = code[line - 1], bad
    return Drawn(
        "Words have labels; a tokenizer cuts them into pieces. This brings the labels to the "
        "pieces. One line is wrong. Which, and how should it read? What does it do to the "
        "training, and which input shows it?",
        f"{says}. An input: word 0 in two pieces, with the label 3; the second must get -100.",
        marks=((2, "the line"), (1, "mended"), (1, "what it does"), (1, "a word of two pieces")),
        wrong="[CLS] should carry the label O.",
        reveals="O is a label of words, and would be learned; what is no word is left out.",
        code="\n".join(code), line=line, mended=mended,
    )  # fmt: skip
