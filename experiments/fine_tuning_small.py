"""Fine-tuning MiniLM on the small sets written for this book, and how much it learns from fewer
examples (chapter 14).

    python experiments/fine_tuning_small.py
        half an hour on one core; writes book/results/fine_tuning_small.json
    python experiments/fine_tuning_small.py --only entities --seeds 0

Each set is learned from every seed: another fresh head, another order of the examples. The settings
were chosen on the validation splits; both splits are kept. What chance, bags of words and frozen
vectors reach on the same test splits is in labelled_sets.json.

A control: the task "acceptability_untrained" is acceptability once more, by a body of the same size
with fresh weights, for three times as many epochs (after seven it says the same of every sentence).
What it gets right, the sentences taught it.

The curve: sentiment from 14 to 220 sentences, half of each kind, drawn anew for each seed, always
for the same number of steps; bags of words and logistic regression on the mean of the frozen last
vectors beside it.
"""

import argparse
import random
from dataclasses import dataclass, replace

import torch
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from lectures_lib import data, metrics, results
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert, BertConfig
from lectures_lib.tasks import alignment, fine_tuning
from lectures_lib.tasks.task_heads import (
    Head,
    MultipleChoice,
    SentenceClassifier,
    SentenceRegressor,
    SpanExtractor,
    TokenTagger,
)
from lectures_lib.tokenization import WordPiece

SEEDS = [0, 1, 2, 3, 4]
SIZES, STEPS, CURVE_BATCH = [14, 28, 56, 110, 220], 56, 16
NAMES = [
    "O",
    *(
        f"{place}-{kind}"
        for kind in ("person", "location", "organisation", "product")
        for place in "BI"
    ),
]
TOKENIZER = WordPiece.load(minilm.checkpoint() / "vocab.txt")


@dataclass(frozen=True)
class Setting:
    """How a set is learned, on one core in about ten seconds."""

    epochs: int
    rate: float
    batch_size: int = 16


SETTINGS = {
    "sentiment": Setting(4, 1e-4),
    "acceptability": Setting(7, 1.5e-4),
    "entailment": Setting(6, 1e-4),
    "similarity": Setting(6, 3e-4),
    "choices": Setting(4, 3e-4, 8),
    "entities": Setting(5, 3e-4),
    "questions": Setting(4, 3e-4, 8),
    "acceptability_untrained": Setting(21, 1.5e-4),
}
CONTROL = "_untrained"


def body(trained: bool = True) -> Bert:
    """MiniLM (or a body of its size with fresh weights), with no dropout: with these few steps it
    does not help, and it costs time.
    """
    return (
        Bert.from_pretrained(minilm.checkpoint(), dropout=0.0)
        if trained
        else Bert(replace(BertConfig.MINILM, dropout=0.0))
    )


def fresh(task: str) -> Head:
    """MiniLM with the head that the task asks for."""
    if task == "entities":
        return TokenTagger(body(), len(NAMES), NAMES)
    if task in ("similarity", "choices", "questions"):
        return {
            "similarity": SentenceRegressor,
            "choices": MultipleChoice,
            "questions": SpanExtractor,
        }[task](body())
    return SentenceClassifier(body(trained=not task.endswith(CONTROL)), 2)


def examples(task: str, rows: list[dict]) -> list[fine_tuning.Example]:
    """The rows as the model reads them."""
    if task == "entities":
        return fine_tuning.tagged(rows, TOKENIZER, NAMES)
    make = {
        "similarity": fine_tuning.pairs,
        "entailment": fine_tuning.pairs,
        "choices": fine_tuning.choices,
        "questions": fine_tuning.questions,
    }
    return make.get(task, fine_tuning.sentences)(rows, TOKENIZER)


def measure(task: str, model: Head, rows: list[dict]) -> dict[str, float]:
    """The task's measures on some rows."""
    asked = examples(task, rows)
    said = fine_tuning.predict(model, asked, **({"threshold": 0.0} if task == "questions" else {}))
    if task == "entities":
        return metrics.entity_scores(
            [[NAMES[i] for i in labels] for labels in said], [row["labels"] for row in rows]
        )._asdict()
    if task == "similarity":
        return {"spearman": metrics.spearman(said, [row["score"] for row in rows])}
    if task == "questions":
        answers = [
            alignment.quote(e.reads[0], row["context"], *span)
            for e, row, span in zip(asked, rows, said, strict=True)
        ]
        return metrics.answer_scores(
            answers, [[a["text"] for a in row["answers"]] for row in rows]
        )._asdict()
    return {"accuracy": metrics.accuracy(said, [row["label"] for row in rows])}


def learn(task: str, rows: list[dict], setting: Setting, seed: int) -> Head:
    """A model fine-tuned on these rows."""
    torch.manual_seed(seed)
    model = fresh(task)
    batches = fine_tuning.batches(examples(task, rows), batch_size=setting.batch_size, seed=seed)
    fine_tuning.fine_tune(model, batches, epochs=setting.epochs, rate=setting.rate, progress=False)
    return model


@torch.no_grad()
def means(rows: list[dict]) -> list[list[float]]:
    """The mean of each text's last vectors, from MiniLM as it comes."""
    model = body()
    return [
        model(torch.tensor([alignment.read(TOKENIZER, row["text"]).ids]))
        .hidden[0]
        .mean(dim=0)
        .tolist()
        for row in rows
    ]


def curve(seed: int) -> dict[str, dict[str, float]]:
    """Accuracy on the test split, for each number of sentences learned from."""
    train, asked = data.load("sentiment", "train"), data.load("sentiment", "test")
    right = [row["label"] for row in asked]
    rng = random.Random(seed)
    kinds = [
        rng.sample([row for row in train if row["label"] == label], len(train) // 2)
        for label in (0, 1)
    ]
    found = {}
    for n in SIZES:
        rows = [row for kind in kinds for row in kind[: n // 2]]
        labels = [row["label"] for row in rows]
        counter = CountVectorizer(ngram_range=(1, 2), token_pattern=r"\w+").fit(
            [row["text"] for row in rows]
        )
        bags = LogisticRegression(max_iter=1000).fit(
            counter.transform([row["text"] for row in rows]), labels
        )
        frozen = LogisticRegression(C=10.0, max_iter=1000).fit(means(rows), labels)
        setting = Setting(
            max(1, STEPS // -(-n // CURVE_BATCH)), SETTINGS["sentiment"].rate, CURVE_BATCH
        )
        found[str(n)] = {
            "bag_of_words": metrics.accuracy(
                bags.predict(counter.transform([row["text"] for row in asked])), right
            ),
            "frozen": metrics.accuracy(frozen.predict(means(asked)), right),
            "fine_tuned": measure("sentiment", learn("sentiment", rows, setting, seed), asked)[
                "accuracy"
            ],
        }
    return found


def main() -> None:
    """Every set and the curve with every seed; what the file holds already is kept."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", nargs="*", choices=[*SETTINGS, "curve"], default=[*SETTINGS, "curve"]
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    try:
        measured = results.load("fine_tuning_small")["results"]
    except FileNotFoundError:
        measured = {}
    for task in options.only:
        by_seed = measured.setdefault(task, {}).setdefault("by_seed", {})
        for seed in options.seeds:
            if str(seed) in by_seed:
                continue
            if task == "curve":
                by_seed[str(seed)] = curve(seed)
            else:
                rows = {
                    split: data.load(task.removesuffix(CONTROL), split)
                    for split in ("train", "validation", "test")
                }
                model = learn(task, rows["train"], SETTINGS[task], seed)
                by_seed[str(seed)] = {
                    split: measure(task, model, rows[split]) for split in ("validation", "test")
                }
            print(task, seed, by_seed[str(seed)], flush=True)
            measured[task] |= results.spreads(list(by_seed.values()))
            title = (
                "MiniLM fine-tuned on the small sets of this book: validation and test splits, and "
                "sentiment from fewer sentences"
            )
            results.save(
                "fine_tuning_small",
                measured,
                title,
                sorted({int(s) for found in measured.values() for s in found["by_seed"]}),
            )


if __name__ == "__main__":
    main()
