"""Fine-tuning against frozen features against bags of words, on real data (chapter 14).

    python experiments/fine_tuning.py --task sst2
        MiniLM on a CPU, three seeds; writes book/results/fine_tuning_sst2.json
    python experiments/fine_tuning.py --task cola --seeds 0 1 2 3 4
    python experiments/fine_tuning.py --task sst2 --model bert-base-uncased --size gpu
        writes …_bert_base_uncased_gpu.json
    python experiments/fine_tuning.py --task sst2 --smoke
        a minute, writes nothing: does it run?

Tasks: sst2, cola, rte, stsb, wnut, squad. The file is written after every seed, and a seed that it
holds is not run again; a file of other settings is refused. At the CPU's size a seed takes at most
ten minutes on two cores; SQuAD is then learned from a part of its questions, and of a text only
what fits into 192 word pieces with the question is read: an answer further on is lost (and taught
as "none"). The other tasks are learned from all their examples. Seconds and the peak of memory are
kept for each seed.

What is compared, on the same data with the same measures:

- majority: always the most frequent answer.
- bag_of_words: logistic regression (STS-B: ridge regression) on counts of words and pairs of
  neighbouring words; for two sentences on
  the words of each and those of both, for tagging on the word, its neighbours, their spelling. For
      SQuAD: the sentence of the text that
  shares most words with the question, cut to nothing else.
- frozen: the body stays as it came; the same regressions on the mean of its last vectors (for two
  sentences u, v, |u - v| and u * v; for tagging the vector of a word's first piece). For SQuAD: a
  span head trained on the frozen body.
- fine_tuned: head and body are trained, from each seed with another fresh head and another order of
  the examples.
"""

import argparse
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.sparse import hstack
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

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

SEEDS = [0, 1, 2]
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


# ----------------------------------------------------------------------------------------- the ways


def majority(setting: Setting) -> list:
    """The most frequent answer, whatever is asked."""
    if setting.task.kind == "question":
        return [""] * len(setting.asked)
    if setting.task.kind == "words":
        return [["O"] * len(row["words"]) for row in setting.asked]
    if setting.task.kind == "score":
        return [float(np.mean([row["score"] for row in setting.train]))] * len(setting.asked)
    most = Counter(row["label"] for row in setting.train).most_common(1)[0][0]
    return [most] * len(setting.asked)


def bag_of_words(setting: Setting) -> list:
    """A linear model of which words there are."""
    kind = setting.task.kind
    if kind == "question":
        return [most_shared_sentence(row) for row in setting.asked]
    if kind == "words":
        vectorizer = DictVectorizer()
        train = vectorizer.fit_transform(
            [spelling(row["words"], i) for row in setting.train for i in range(len(row["words"]))]
        )
        asked = vectorizer.transform(
            [spelling(row["words"], i) for row in setting.asked for i in range(len(row["words"]))]
        )
        return by_sentence(learned(setting, train)(asked), setting)
    if kind == "text":
        vectorizer = CountVectorizer(ngram_range=(1, 2), binary=True, token_pattern=r"\S+")
        train, asked = (
            (vectorizer.fit_transform if first else vectorizer.transform)(
                [row["text"] for row in rows]
            )
            for first, rows in ((True, setting.train), (False, setting.asked))
        )
        return learned(setting, train)(asked)
    vectorizer = CountVectorizer(binary=True).fit(
        [row[side] for row in setting.train for side in ("first", "second")]
    )

    def bags(rows: Rows) -> Any:
        first, second = (
            vectorizer.transform([row[side] for row in rows]) for side in ("first", "second")
        )
        both = first.multiply(second)
        shared, sizes = both.sum(axis=1), (first.sum(axis=1), second.sum(axis=1))
        shares = np.concatenate([shared / np.maximum(size, 1) for size in sizes], axis=1)
        return hstack([first - both, second - both, both, shares]).tocsr()

    return learned(setting, bags(setting.train))(bags(setting.asked))


def frozen(setting: Setting) -> list:
    """A linear model of what the body says, which is not trained."""
    body = setting.body().eval()
    if setting.task.kind == "question":
        model = SpanExtractor(body).to(setting.device)
        body.requires_grad_(False)
        cut = fine_tuning.batches(
            setting.examples(setting.train), batch_size=setting.task.batch_size
        )
        fine_tuning.fine_tune(model, cut, epochs=setting.epochs, rate=1e-2)
        return setting.said(model)
    train, asked = (features(setting, body, rows) for rows in (setting.train, setting.asked))
    found = learned(setting, train, scaled=True)(asked)
    return by_sentence(found, setting) if setting.task.kind == "words" else found


def fine_tuned(setting: Setting, seed: int) -> list:
    """The body and a head, trained together."""
    torch.manual_seed(seed)
    model = setting.head()
    cut = fine_tuning.batches(
        setting.examples(setting.train), batch_size=setting.task.batch_size, seed=seed
    )
    fine_tuning.fine_tune(model, cut, epochs=setting.epochs, rate=setting.task.rate)
    return setting.said(model)


# ------------------------------------------------------------------------------- what they stand on


def learned(setting: Setting, train: Any, scaled: bool = False) -> Callable[[Any], list]:
    """A linear model of these features; what it says of others. For words its regularisation is
    scikit-learn's own.
    """
    # Many columns that say the same (a body's, `scaled`) need a firmer hand than words, most of
    # which are rare.
    scaler = [StandardScaler()] if scaled else []
    if setting.task.kind == "score":
        model = make_pipeline(*scaler, Ridge(alpha=100.0 if scaled else 1.0)).fit(
            train, [row["score"] for row in setting.train]
        )
    else:
        tags = (
            [label for row in setting.train for label in row["labels"]]
            if setting.task.kind == "words"
            else None
        )
        targets = tags or [row["label"] for row in setting.train]
        model = make_pipeline(
            *scaler, LogisticRegression(C=0.01 if scaled else 1.0, max_iter=1000)
        ).fit(train, targets)
    return lambda asked: model.predict(asked).tolist()


@torch.no_grad()
def features(setting: Setting, body: Bert, rows: Rows) -> np.ndarray:
    """The mean of a text's last vectors; of a pair u, v, |u - v|, u * v; of words, the vector of
    each one's first piece.
    """

    def run(reads: list) -> list[torch.Tensor]:
        found: list = [None] * len(reads)
        order = sorted(range(len(reads)), key=lambda i: len(reads[i].ids))
        for at in range(0, len(order), 64):
            tokens, lengths = data.pad([reads[i].ids for i in order[at : at + 64]])
            hidden = body(
                tokens.to(setting.device), lengths=lengths.to(setting.device)
            ).hidden.cpu()
            for i, vectors, n in zip(order[at : at + 64], hidden, lengths, strict=True):
                found[i] = vectors[:n]
        return found

    if setting.task.kind == "words":
        reads = [
            alignment.read_words(setting.tokenizer, row["words"], setting.max_len) for row in rows
        ]
        zero = torch.zeros(body.config.d_model)
        return np.stack(
            [
                zero if s is None else x[s]
                for read, x in zip(reads, run(reads), strict=True)
                for s in read.starts
            ]
        )
    sides = ("text",) if setting.task.kind == "text" else ("first", "second")
    vectors = [
        torch.stack(
            [
                x.mean(dim=0)
                for x in run(
                    [
                        alignment.read(setting.tokenizer, row[side], None, setting.max_len)
                        for row in rows
                    ]
                )
            ]
        )
        for side in sides
    ]
    if len(vectors) == 1:
        return vectors[0].numpy()
    u, v = vectors
    return torch.cat([u, v, (u - v).abs(), u * v], dim=1).numpy()


def spelling(words: list[str], i: int) -> dict[str, Any]:
    """A word, its neighbours, and how they are written: what a linear tagger knew before there were
    vectors.
    """
    found = {}
    for offset in (-1, 0, 1):
        word = words[i + offset] if 0 <= i + offset < len(words) else "<none>"
        shape = (
            "X"
            if word.isupper()
            else "Xx"
            if word[:1].isupper()
            else "9"
            if any(c.isdigit() for c in word)
            else "x"
        )
        found |= {f"word {offset}": word.lower(), f"shape {offset}": shape}
    return found | {"start": words[i][:3].lower(), "end": words[i][-3:].lower(), "first": i == 0}


def by_sentence(labels: list[str], setting: Setting) -> list[list[str]]:
    """One list of labels, cut into sentences."""
    at = iter(labels)
    return [[next(at) for _ in row["words"]] for row in setting.asked]


def most_shared_sentence(row: dict) -> str:
    """The sentence of the context with the most of the question's words."""
    asked = set(metrics.normalise_answer(row["question"]).split())
    sentences = [sentence for sentence in row["context"].split(". ") if sentence]
    return max(
        sentences, key=lambda sentence: len(asked & set(metrics.normalise_answer(sentence).split()))
    )


# --------------------------------------------------------------------------------------- the script


def prepare(options: argparse.Namespace) -> Setting:
    """The data and the sizes of a run."""
    task = TASKS[options.task]
    epochs, max_len, n_train, n_asked = task.cpu if options.size == "cpu" else task.gpu
    if options.smoke:
        epochs, n_train, n_asked = 1, 96, 48
    train, asked = (list(data.load(task.data, split, "real")) for split in ("train", task.asked))
    order = np.random.default_rng(0).permutation(len(train))[:n_train]
    folder = (
        minilm.checkpoint()
        if options.model == "minilm"
        else hugging_face.checkpoint_folder(options.model, ("config.json", "vocab.txt"))
    )
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return Setting(
        task,
        options.model,
        epochs,
        max_len,
        [train[i] for i in order],
        asked[:n_asked],
        WordPiece.load(folder / "vocab.txt"),
        device,
    )


def peak_gigabytes(forget: bool = False) -> float:
    """The most memory that this process has held, in 10^9 bytes; `forget`: count from now on. Where
    Linux is not, 0.
    """
    try:
        if forget:
            with open("/proc/self/clear_refs", "w", encoding="utf-8") as file:
                file.write("5")  # the peak is what is in use now
        with open("/proc/self/status", encoding="utf-8") as file:
            return (
                float(next(line for line in file if line.startswith("VmHWM")).split()[1])
                * 1024
                / 1e9
            )
    except OSError:
        return 0.0


def main() -> None:
    """Every way of doing the task; the fine-tuning with every seed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--task", choices=TASKS, required=True)
    parser.add_argument(
        "--model", default="minilm", help="minilm, or an uncased BERT's id on the hub"
    )
    parser.add_argument("--size", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--smoke", action="store_true", help="a hundred examples, nothing written")
    options = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1)))
    setting = prepare(options)
    name = f"fine_tuning_{options.task}" + (
        "" if options.model == "minilm" else f"_{options.model.split('/')[-1].replace('-', '_')}"
    )
    name += "" if options.size == "cpu" else f"_{options.size}"
    try:
        measured = {} if options.smoke else results.load(name)["results"]
    except FileNotFoundError:
        measured = {}
    settings = {
        "epochs": setting.epochs,
        "max_len": setting.max_len,
        "n_train": len(setting.train),
        "n_asked": len(setting.asked),
        "batch_size": setting.task.batch_size,
        "rate": setting.task.rate,
    }
    if other := {
        key: measured[key] for key, value in settings.items() if measured.get(key, value) != value
    }:
        asked_for = {key: settings[key] for key in other}
        raise SystemExit(
            f"{name}.json was measured with {other}, and now {asked_for} is asked for: move the "
            f"file away first"
        )
    measured |= settings
    n_train, where = len(setting.train), f"{setting.task.data}, {setting.task.asked}"
    title = (
        f"{options.task}: {options.model} fine-tuned on {n_train:,} examples, frozen, and a bag of "
        f"words ({where})"
    )

    def keep() -> None:
        if not options.smoke:
            results.save(name, measured, title, [int(seed) for seed in measured.get("by_seed", {})])

    for way in (majority, bag_of_words, frozen):
        if way.__name__ not in measured:
            start = time.perf_counter()
            measured[way.__name__] = setting.task.measure(way(setting), setting.asked)
            seconds = measured.setdefault("seconds", {})
            seconds[way.__name__] = time.perf_counter() - start
            print(
                f"{way.__name__}: {measured[way.__name__]}, {seconds[way.__name__]:.0f} s",
                flush=True,
            )
            keep()
    for seed in options.seeds[:1] if options.smoke else options.seeds:
        by_seed = measured.setdefault("by_seed", {})
        if str(seed) in by_seed:
            continue
        start = time.perf_counter()
        peak_gigabytes(forget=True)
        by_seed[str(seed)] = setting.task.measure(fine_tuned(setting, seed), setting.asked)
        measured["fine_tuned"] = {
            key: results.spread([found[key] for found in by_seed.values()])
            for key in by_seed[str(seed)]
        }
        peaks, seconds = (
            measured.setdefault("peak_memory_gb", {}),
            measured.setdefault("seconds", {}).setdefault("fine_tuned", {}),
        )
        peaks[str(seed)], seconds[str(seed)] = peak_gigabytes(), time.perf_counter() - start
        print(
            f"fine_tuned, seed {seed}: {by_seed[str(seed)]}, {seconds[str(seed)]:.0f} s, peak "
            f"{peaks[str(seed)]:.2f} GB",
            flush=True,
        )
        keep()


if __name__ == "__main__":
    main()
