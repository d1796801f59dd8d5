"""The four ways of doing a task that `fine_tuning.py` compares: the most frequent answer, a bag of
words, the frozen body, and fine-tuning. Each takes a setting and gives one answer for each row that
is asked. (No script.)
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from fine_tuning_tasks import Rows, Setting
from scipy.sparse import hstack
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lectures_lib import data, metrics
from lectures_lib.models.bert import Bert
from lectures_lib.tasks import alignment, fine_tuning
from lectures_lib.tasks.task_heads import SpanExtractor


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
    bags = {"words": tagged_bags, "text": text_bags}.get(kind, pair_bags)
    train, asked = bags(setting.train, setting.asked)
    found = learned(setting, train)(asked)
    return by_sentence(found, setting) if kind == "words" else found


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


def text_bags(train: Rows, asked: Rows) -> tuple[Any, Any]:
    """Which words and pairs of neighbours each text has."""
    vectorizer = CountVectorizer(ngram_range=(1, 2), binary=True, token_pattern=r"\S+")
    known = vectorizer.fit_transform([row["text"] for row in train])
    return known, vectorizer.transform([row["text"] for row in asked])


def pair_bags(train: Rows, asked: Rows) -> tuple[Any, Any]:
    """Which words only one of two sentences has, which both, and how large a part of each these
    are.
    """
    vectorizer = CountVectorizer(binary=True).fit(
        [row[side] for row in train for side in ("first", "second")]
    )

    def bags(rows: Rows) -> Any:
        first, second = (
            vectorizer.transform([row[side] for row in rows]) for side in ("first", "second")
        )
        both = first.multiply(second)
        shared, sizes = both.sum(axis=1), (first.sum(axis=1), second.sum(axis=1))
        shares = np.concatenate([shared / np.maximum(size, 1) for size in sizes], axis=1)
        return hstack([first - both, second - both, both, shares]).tocsr()

    return bags(train), bags(asked)


def tagged_bags(train: Rows, asked: Rows) -> tuple[Any, Any]:
    """Each word with its neighbours and their spelling."""
    vectorizer = DictVectorizer()
    known, new = (
        [spelling(row["words"], i) for row in rows for i in range(len(row["words"]))]
        for rows in (train, asked)
    )
    return vectorizer.fit_transform(known), vectorizer.transform(new)


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


def features(setting: Setting, body: Bert, rows: Rows) -> np.ndarray:
    """The mean of a text's last vectors; of a pair u, v, |u - v|, u * v; of words, the vector of
    each one's first piece.
    """
    if setting.task.kind == "words":
        reads = [
            alignment.read_words(setting.tokenizer, row["words"], setting.max_len) for row in rows
        ]
        zero = torch.zeros(body.config.d_model)  # of a word that was cut off
        return np.stack(
            [
                zero if start is None else x[start]
                for read, x in zip(reads, last_vectors(setting, body, reads), strict=True)
                for start in read.starts
            ]
        )

    def means(side: str) -> torch.Tensor:
        reads = [
            alignment.read(setting.tokenizer, row[side], None, setting.max_len) for row in rows
        ]
        return torch.stack([x.mean(dim=0) for x in last_vectors(setting, body, reads)])

    if setting.task.kind == "text":
        return means("text").numpy()
    u, v = means("first"), means("second")
    return torch.cat([u, v, (u - v).abs(), u * v], dim=1).numpy()


@torch.no_grad()
def last_vectors(setting: Setting, body: Bert, reads: list) -> list[torch.Tensor]:
    """The body's last vectors of each text, (n, d_model); texts of a length go together."""
    found: list = [None] * len(reads)
    order = sorted(range(len(reads)), key=lambda i: len(reads[i].ids))
    for at in range(0, len(order), 64):
        tokens, lengths = data.pad([reads[i].ids for i in order[at : at + 64]])
        hidden = body(tokens.to(setting.device), lengths=lengths.to(setting.device)).hidden.cpu()
        for i, vectors, n in zip(order[at : at + 64], hidden, lengths, strict=True):
            found[i] = vectors[:n]
    return found


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
