"""The tasks of `fine_tuning.py`: their data, how each is measured, and what a model reads and says.
(No script; `low_rank.py` and `training_size.py` take their tasks from here, too.)
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from lectures_lib import data, metrics, results
from lectures_lib.models import hugging_face, minilm
from lectures_lib.models.bert import Bert
from lectures_lib.tasks import alignment, fine_tuning
from lectures_lib.tasks.task_heads import (
    Head,
    SentenceClassifier,
    SentenceRegressor,
    SpanExtractor,
    TokenTagger,
)
from lectures_lib.tokenization import WordPiece

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
Rows = list[dict]
Measured = dict[str, float]


@dataclass(frozen=True)
class Task:
    """What is learned, and how it is measured.

    Args:
        data: the task's name in `data`.  asked: the split that is measured on: the test labels of
            GLUE and SQuAD are not public.
        kind: "text", "pair", "score", "words" or "question".
        measure: from predictions and rows to numbers.
        cpu, gpu: epochs, the longest input, and how many examples are learned from (None: all) and
            asked.
        rate: the highest learning rate on a CPU, where batches have `batch_size` examples.
    """

    data: str
    asked: str
    kind: str
    measure: Callable[[list, Rows], Measured]
    cpu: tuple[int, int, int | None, int | None]
    gpu: tuple[int, int, int | None, int | None]
    rate: float = 5e-5
    batch_size: int = 32


def accuracy(predicted: list, rows: Rows) -> Measured:
    """The share that is right."""
    return {"accuracy": metrics.accuracy(predicted, [row["label"] for row in rows])}


def correlation(predicted: list, rows: Rows) -> Measured:
    """Matthews correlation and accuracy."""
    right = [row["label"] for row in rows]
    return {
        "matthews": metrics.matthews(predicted, right),
        "accuracy": metrics.accuracy(predicted, right),
    }


def similarity(predicted: list, rows: Rows) -> Measured:
    """Pearson and Spearman; 0 for a constant, which correlates with nothing."""
    right = [row["score"] for row in rows]
    measured = {
        "pearson": metrics.pearson(predicted, right),
        "spearman": metrics.spearman(predicted, right),
    }
    return {name: 0.0 if np.isnan(number) else number for name, number in measured.items()}


def names_found(predicted: list, rows: Rows) -> Measured:
    """Precision, recall and F1 of entities."""
    return metrics.entity_scores(predicted, [row["labels"] for row in rows])._asdict()


def answers(predicted: list, rows: Rows) -> Measured:
    """Exact match and F1."""
    return metrics.answer_scores(
        predicted, [[answer["text"] for answer in row["answers"]] for row in rows]
    )._asdict()


TASKS = {
    "sst2": Task(
        "sentiment", "validation", "text", accuracy, (1, 128, None, None), (3, 128, None, None)
    ),
    "cola": Task(
        "acceptability",
        "validation",
        "text",
        correlation,
        (3, 128, None, None),
        (3, 128, None, None),
    ),
    "rte": Task(
        "entailment",
        "validation",
        "pair",
        accuracy,
        (4, 128, None, None),
        (4, 256, None, None),
        batch_size=16,
    ),
    "stsb": Task(
        "similarity",
        "validation",
        "score",
        similarity,
        (4, 128, None, None),
        (4, 128, None, None),
        batch_size=16,
    ),
    "wnut": Task(
        "entities",
        "test",
        "words",
        names_found,
        (4, 128, None, None),
        (4, 128, None, None),
        batch_size=16,
    ),
    "squad": Task(
        "questions",
        "validation",
        "question",
        answers,
        (1, 192, 6_000, 1_000),
        (2, 384, None, None),
        batch_size=16,
    ),
}


@dataclass
class Setting:
    """One run: a task, a model and a size."""

    task: Task
    model: str
    epochs: int
    max_len: int
    train: Rows
    asked: Rows
    tokenizer: WordPiece
    device: str

    def body(self) -> Bert:
        """The body with its real weights. On a CPU dropout is off: it would cost more there than a
        few epochs lose without.
        """
        name = minilm.checkpoint() if self.model == "minilm" else self.model
        return Bert.from_pretrained(name, dropout=0.0 if self.device == "cpu" else None).to(
            self.device
        )

    def sizes(self) -> Measured:
        """What two runs must share for their numbers to stand in one file."""
        return {
            "epochs": self.epochs,
            "max_len": self.max_len,
            "n_train": len(self.train),
            "n_asked": len(self.asked),
            "batch_size": self.task.batch_size,
            "rate": self.task.rate,
        }

    @property
    def names(self) -> list[str]:
        """The labels of words, "O" first."""
        found = {label for row in [*self.train, *self.asked] for label in row["labels"]}
        return ["O", *sorted(found - {"O"}, key=lambda label: (label[2:], label))]

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return 1 + max(row["label"] for row in self.train)

    def examples(self, rows: Rows) -> list[fine_tuning.Example]:
        """The rows as the model reads them."""
        if self.task.kind == "text":
            return fine_tuning.sentences(rows, self.tokenizer, self.max_len)
        if self.task.kind in ("pair", "score"):
            return fine_tuning.pairs(rows, self.tokenizer, self.max_len)
        if self.task.kind == "words":
            return fine_tuning.tagged(rows, self.tokenizer, self.names, self.max_len)
        return fine_tuning.questions(rows, self.tokenizer, self.max_len)

    def head(self) -> Head:
        """The body with a fresh head."""
        if self.task.kind == "words":
            model = TokenTagger(self.body(), len(self.names), self.names)
        elif self.task.kind == "question":
            model = SpanExtractor(self.body())
        else:
            model = (
                SentenceRegressor(self.body())
                if self.task.kind == "score"
                else SentenceClassifier(self.body(), self.n_classes)
            )
        return model.to(self.device)

    def said(self, model: Head) -> list:
        """What the model predicts, as the measures want it."""
        examples = self.examples(self.asked)
        predicted = fine_tuning.predict(model, examples)
        if self.task.kind == "words":
            return [[self.names[i] for i in labels] for labels in predicted]
        if self.task.kind == "question":
            rows = zip(examples, self.asked, predicted, strict=True)
            return [
                alignment.quote(example.reads[0], row["context"], *span)
                for example, row, span in rows
            ]
        return predicted


def prepare(name: str, model: str = "minilm", size: str = "cpu", smoke: bool = False) -> Setting:
    """The data and the sizes of a run.

    Args:
        name: of the task.
        model: "minilm", or an uncased BERT's id on the hub.
        size: "cpu" or "gpu".
        smoke: whether a hundred examples will do.
    """
    task = TASKS[name]
    epochs, max_len, n_train, n_asked = task.cpu if size == "cpu" else task.gpu
    if smoke:
        epochs, n_train, n_asked = 1, 96, 48
    train, asked = (list(data.load(task.data, split, "real")) for split in ("train", task.asked))
    order = np.random.default_rng(0).permutation(len(train))[:n_train]
    folder = (
        minilm.checkpoint()
        if model == "minilm"
        else hugging_face.checkpoint_folder(model, ("config.json", "vocab.txt"))
    )
    return Setting(
        task,
        model,
        epochs,
        max_len,
        [train[i] for i in order],
        asked[:n_asked],
        WordPiece.load(folder / "vocab.txt"),
        str(DEVICE),
    )


def measured_before(name: str, settings: Measured) -> dict:
    """What the file holds already; nothing where there is none. A file of other settings is
    refused.
    """
    try:
        measured = results.load(name)["results"]
    except FileNotFoundError:
        return {}
    if other := {
        key: measured[key] for key, value in settings.items() if measured.get(key, value) != value
    }:
        asked_for = {key: settings[key] for key in other}
        raise SystemExit(
            f"{name}.json was measured with {other}, and now {asked_for} is asked for: move the "
            f"file away first"
        )
    return measured
