"""What the small sets written for this book can show: chance, bags of words, and MiniLM as it comes
(the datasheet; chapters 14, 15).

    python experiments/labelled_sets.py
        ten minutes on one core; writes book/results/labelled_sets.json

Every set is measured on its test split. Strengths of regularisation and layers are chosen on the
validation split.

- chance: the most frequent answer; for a number none; for questions always "no answer"; for senses
  a guess.
- bag_of_words: logistic regression on counts of words and pairs of neighbours, with the words that
  two sentences share; for tagging on the word and its neighbours; for similarity the share of
  common words; for choices the number of common words; for senses the nearest sentence by common
  words.
- frozen: the same on MiniLM's vectors: the mean of a sentence's in one layer (two sentences: u, v,
  |u - v| and u * v), the word's in one layer for tags and senses, the cosine for similarity and
  choices. MiniLM was trained to compare sentences, and that shows.
- fine_tuned, for questions only, which have no simple model: the whole MiniLM with a span head,
  from three seeds.
"""

import re
from collections.abc import Callable

import numpy as np
import torch
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lectures_lib import data, metrics, results
from lectures_lib.analysis import features
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert
from lectures_lib.tasks import alignment, fine_tuning, task_heads
from lectures_lib.tasks.word_level import Cut, cut_words
from lectures_lib.tokenization import WordPiece

SEEDS = [0, 1, 2]
STRENGTHS = (0.001, 0.01, 0.1, 1.0, 10.0)
TOKENIZER = WordPiece.load(minilm.checkpoint() / "vocab.txt")
MODEL = Bert.from_pretrained(minilm.checkpoint()).eval()
# from a strength to a measure on validation and on test
Fit = Callable[[float], tuple[float, float]]


def splits(task: str) -> list[list[dict]]:
    """Train, validation and test."""
    return [data.load(task, split) for split in data.SPLITS]


def chosen(fits: list[Fit]) -> float:
    """The measure on the test split of the layer and the strength that are best on the validation
    split.
    """
    return max(
        (fit(strength) for fit in fits for strength in STRENGTHS), key=lambda measured: measured[0]
    )[1]


def classes(inputs: list, labels: list[list]) -> Fit:
    """Logistic regression; the inputs are tables of numbers for the three splits."""

    def fit(strength: float) -> tuple[float, float]:
        model = make_pipeline(
            StandardScaler(with_mean=False), LogisticRegression(C=strength, max_iter=2000)
        )
        model.fit(inputs[0], labels[0])
        return tuple(model.score(x, y) for x, y in zip(inputs[1:], labels[1:], strict=True))

    return fit


def counted(texts: list[list[str]]) -> list:
    """Counts of words and of pairs of neighbours, known from the training split."""
    counter = CountVectorizer(ngram_range=(1, 2), token_pattern=r"\w+").fit(texts[0])
    return [counter.transform(part).toarray() for part in texts]


def words(text: str) -> set[str]:
    """The different words."""
    return set(re.findall(r"\w+", text.lower()))


def vectors(texts: list[str]) -> np.ndarray:
    """The mean of each text's vectors in each hidden state: (states, texts, d_model)."""
    ids = [TOKENIZER.pair(text).ids for text in texts]
    found = features.word_vectors(MODEL, [Cut(i, [list(range(len(i)))]) for i in ids], "mean")
    return torch.cat(found, dim=1).numpy()


def cosine(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Of rows with rows."""
    return (u * v).sum(-1) / np.linalg.norm(u, axis=-1) / np.linalg.norm(v, axis=-1)


def sentences(task: str) -> dict[str, float]:
    """Sentiment and acceptability: accuracy."""
    rows = splits(task)
    texts, labels = (
        [[e["text"] for e in part] for part in rows],
        [[e["label"] for e in part] for part in rows],
    )
    states = [vectors(part) for part in texts]
    layers = [classes([part[i] for part in states], labels) for i in range(1, len(states[0]))]
    return {
        "chance": 0.5,
        "bag_of_words": chosen([classes(counted(texts), labels)]),
        "frozen": chosen(layers),
    }


def entailment() -> dict[str, float]:
    """Accuracy."""
    rows = splits("entailment")
    labels = [[e["label"] for e in part] for part in rows]
    shared = [
        [[len(words(e["first"]) & words(e["second"])) / len(words(e["second"]))] for e in part]
        for part in rows
    ]
    counts = [
        np.hstack([c, s])
        for c, s in zip(
            counted([[e["second"] for e in part] for part in rows]), shared, strict=True
        )
    ]
    u, v = ([vectors([e[side] for e in part]) for part in rows] for side in ("first", "second"))
    layers = [
        classes(
            [
                np.hstack([a[i], b[i], abs(a[i] - b[i]), a[i] * b[i]])
                for a, b in zip(u, v, strict=True)
            ],
            labels,
        )
        for i in range(1, len(u[0]))
    ]
    return {
        "chance": 0.5,
        "bag_of_words": chosen([classes(counts, labels)]),
        "frozen": chosen(layers),
    }


def similarity() -> dict[str, float]:
    """Spearman's correlation with the scores. Nothing is learned."""
    test = data.load("similarity", "test")
    pairs = [(words(e["first"]), words(e["second"])) for e in test]
    u, v = (vectors([e[side] for e in test])[-1] for side in ("first", "second"))
    scores = [e["score"] for e in test]
    return {
        "bag_of_words": metrics.spearman([len(a & b) / len(a | b) for a, b in pairs], scores),
        "frozen": metrics.spearman(cosine(u, v).tolist(), scores),
    }


def choices() -> dict[str, float]:
    """Accuracy. Nothing is learned; endings that share equally many words share the point."""
    test = data.load("choices", "test")
    right = [e["label"] for e in test]
    common = [[len(words(e["start"]) & words(ending)) for ending in e["endings"]] for e in test]
    start = vectors([e["start"] for e in test])[-1]
    endings = vectors([ending for e in test for ending in e["endings"]])[-1].reshape(
        len(test), 4, -1
    )
    best = cosine(start[:, None], endings).argmax(axis=1)
    guessed = np.mean(
        [(row[i] == max(row)) / row.count(max(row)) for row, i in zip(common, right, strict=True)]
    )
    return {"chance": 0.25, "bag_of_words": float(guessed), "frozen": float(np.mean(best == right))}


def entities() -> dict[str, float]:
    """F1 of whole names."""
    rows = splits("entities")
    labels = [[e["labels"] for e in part] for part in rows]

    def tagging(inputs: list[list]) -> Fit:
        def fit(strength: float) -> tuple[float, float]:
            model = LogisticRegression(C=strength, max_iter=2000)
            model.fit(np.concatenate(inputs[0]), np.concatenate(labels[0]))
            said = [[list(model.predict(sentence)) for sentence in part] for part in inputs[1:]]
            return tuple(
                metrics.entity_scores(p, r).f1 for p, r in zip(said, labels[1:], strict=True)
            )

        return fit

    def windows(sentence: list[str]) -> list[dict]:
        padded = ["[", *(word.lower() for word in sentence), "]"]
        return [
            {"before": a, "word": b, "behind": c}
            for a, b, c in zip(padded, padded[1:], padded[2:], strict=False)
        ]

    counter = DictVectorizer(sparse=False).fit([w for e in rows[0] for w in windows(e["words"])])
    counts = [[counter.transform(windows(e["words"])) for e in part] for part in rows]
    states = [
        features.word_vectors(MODEL, [cut_words(TOKENIZER, e["words"]) for e in part])
        for part in rows
    ]
    layers = [
        tagging([[sentence[i].numpy() for sentence in part] for part in states])
        for i in range(1, len(states[0][0]))
    ]
    return {"chance": 0.0, "bag_of_words": chosen([tagging(counts)]), "frozen": chosen(layers)}


def senses() -> dict[str, float]:
    """Accuracy of the nearest neighbour among the other splits' sentences with the word, for test
    sentences.
    """
    parts = splits("senses")
    rows = [e for part in parts for e in part]
    split = torch.tensor([i for i, part in enumerate(parts) for _ in part])
    word = [e["word"] for e in rows]
    same = torch.tensor([[a == b for b in word] for a in word])
    labels = [f"{e['word']}: {e['sense']}" for e in rows]
    found = features.word_vectors(
        MODEL, [features.cut_text(TOKENIZER, e["text"], e["word"], e["index"]) for e in rows]
    )
    states = torch.stack([f[:, 0] for f in found], dim=1)

    def accuracy(similarity: torch.Tensor, asked: int, known: list[int]) -> float:
        may = same & (split == asked)[:, None] & torch.isin(split, torch.tensor(known))
        return features.nearest_neighbour_accuracy(similarity, labels, may)

    bags = [words(e["text"]) for e in rows]
    common = torch.tensor([[len(a & b) / len(a | b) for b in bags] for a in bags])
    place = torch.tensor([float(len(e["text"][: e["index"]].split())) for e in rows])
    similarities = features.cosines_among(states)
    layer = max(range(1, len(states)), key=lambda i: accuracy(similarities[i], 1, [0]))
    return {
        "chance": 0.5,
        "position": accuracy(-(place[:, None] - place).abs(), 2, [0, 1]),
        "bag_of_words": accuracy(common, 2, [0, 1]),
        "frozen": accuracy(similarities[layer], 2, [0, 1]),
    }


def questions() -> dict:
    """F1 of the words of the answers."""
    rows = splits("questions")
    right = [[answer["text"] for answer in e["answers"]] for e in rows[2]]
    train, _, test = ([*fine_tuning.questions(part, TOKENIZER)] for part in rows)
    measured = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        model = task_heads.SpanExtractor(Bert.from_pretrained(minilm.checkpoint()))
        fine_tuning.fine_tune(
            model, fine_tuning.batches(train, batch_size=16, seed=seed), epochs=12, rate=1.5e-4
        )
        spans = fine_tuning.predict(model, test, threshold=0.0)
        said = [
            alignment.quote(e.reads[0], row["context"], *span)
            for e, row, span in zip(test, rows[2], spans, strict=True)
        ]
        measured.append(metrics.answer_scores(said, right).f1)
    return {
        "chance": metrics.answer_scores([""] * len(right), right).f1,
        "fine_tuned": results.spread(measured),
    }


if __name__ == "__main__":
    measured = {
        "sentiment": sentences("sentiment"),
        "acceptability": sentences("acceptability"),
        "entailment": entailment(),
        "similarity": similarity(),
        "choices": choices(),
        "entities": entities(),
        "senses": senses(),
    }
    print(measured)
    measured["questions"] = questions()
    results.save(
        "labelled_sets",
        measured,
        "The small sets written for this book: chance, bags of words, MiniLM as it comes",
        SEEDS,
    )
