"""Padding as the sentences come, batches by length, and packed rows, on sentences of SST-2."""

import random
from collections.abc import Iterator
from typing import Any

import torch
from turns import DEVICE, Turn, classifier, compared, step

from lectures_lib import data
from lectures_lib.models import minilm
from lectures_lib.tokenization import WordPiece
from lectures_lib.training import packing

MAX_TOKENS = 2_048  # of a batch, padding included
ROWS = (72, 144)  # lengths of packed rows; the longest sentence has 66 word pieces
SENTENCES = 8_000


def sentences() -> list[tuple[list[int], int]]:
    """Sentences of SST-2, as word pieces with [CLS] and [SEP], and their labels."""
    tokenizer = WordPiece.load(minilm.checkpoint() / "vocab.txt")
    rows, _ = data.read_split("nyu-mll/glue/sst2", "train")
    chosen = random.Random(0).sample(range(len(rows)), SENTENCES)
    return [(tokenizer.pair(rows[i]["sentence"]).ids, rows[i]["label"]) for i in chosen]


def plans(examples: list[tuple[list[int], int]], way: str) -> Iterator[list[int]]:
    """Which examples make up batch after batch: at most MAX_TOKENS each, counted with padding
    unless they are packed.
    """
    if way.startswith("packed"):
        yield from packed_plans([len(ids) for ids, _ in examples], row=int(way.split("_")[1]))
    batches = data.Batches(
        [(ids,) for ids, _ in examples],
        data.pad_texts,
        max_tokens=MAX_TOKENS,
        by_length=way == "by_length",
    )
    epoch = 0
    while True:
        yield from batches.plan(epoch)
        epoch += 1


def packed_plans(lengths: list[int], row: int) -> Iterator[list[int]]:
    """Random examples, as many as surely fit into MAX_TOKENS when packed into rows."""
    rng = random.Random(0)
    budget = MAX_TOKENS - row  # what first-fit leaves empty here is less than one row
    while True:
        order = rng.sample(range(len(lengths)), len(lengths))
        batch: list[int] = []
        for i in order:
            if sum(lengths[j] for j in batch) + lengths[i] > budget:
                yield batch
                batch = []
            batch.append(i)


def batching(rounds: int) -> dict[str, Any]:
    """Padding as the sentences come, batches by length, and packed rows."""
    examples = sentences()
    model, head, optimizer = classifier()
    sizes: dict[str, list[tuple[int, int]]] = {}

    def turn(way: str) -> Turn:
        stream, sizes[way] = plans(examples, way), []

        def run() -> int:
            chosen = [examples[i] for i in next(stream)]
            ids, labels = (
                [ids for ids, _ in chosen],
                torch.tensor([label for _, label in chosen], device=DEVICE),
            )
            useful = sum(map(len, ids))
            if way.startswith("packed"):
                packed = packing.Packed(
                    *(part.to(DEVICE) for part in packing.pack(ids, int(way.split("_")[1])))
                )
                step(lambda: packing.encode(model, packed).pooled, head, optimizer, labels)
                sizes[way].append((useful, packed.tokens.numel()))
            else:
                padded = data.pad(ids)
                step(
                    lambda: model(padded.ids.to(DEVICE), lengths=padded.lengths.to(DEVICE)).pooled,
                    head,
                    optimizer,
                    labels,
                )
                sizes[way].append((useful, padded.ids.numel()))
            return useful

        return Turn(run, tokens=lambda useful: useful)

    turns = {
        way: turn(way) for way in ("as_they_come", "by_length", *(f"packed_{row}" for row in ROWS))
    }
    over = compared(turns, rounds, "as_they_come")
    # And the same against length buckets, the cheaper way to save padding.
    packed_over_buckets = compared(
        {way: turn(way) for way in ("by_length", f"packed_{ROWS[0]}")}, rounds, "by_length"
    )
    lengths = [len(ids) for ids, _ in examples]
    return {
        "over_as_they_come": over,
        "over_by_length": packed_over_buckets,
        "padding": {
            way: 1 - sum(useful for useful, _ in s) / sum(size for _, size in s)
            for way, s in sizes.items()
        },
        "mean_length": sum(lengths) / len(lengths),
        "longest": max(lengths),
    }
