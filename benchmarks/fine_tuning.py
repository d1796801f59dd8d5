"""An epoch of fine-tuning on sentences of real lengths: ours, batches by length, against Hugging
Face's Trainer (chapter 14).

    LECTURES_DATA=<mirror> python benchmarks/fine_tuning.py
        a tenth of SST-2, 5 rounds; writes book/results/fine_tuning_speed.json
    LECTURES_DATA=<mirror> python benchmarks/fine_tuning.py --examples 67349 --rounds 2
        all of it
    LECTURES_DATA=<mirror> python benchmarks/fine_tuning.py --smoke
        two small turns, nothing written

MiniLM and the same fresh head, the same sentences, batch size, learning rates and optimizer,
dropout off; `Trainer` with `DataCollatorWithPadding`, which pads every batch to its longest
sentence, and its usual random batches. Cutting the sentences into pieces is not counted. Every turn
is a process of its own, so that its peak memory is its own; the two take turns, and each ratio is
that of two turns side by side. Both are then asked for the sentiment of the validation split.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from lectures_lib import data, metrics, results
from lectures_lib.models import minilm
from lectures_lib.models.bert import Bert
from lectures_lib.tasks import fine_tuning
from lectures_lib.tasks.task_heads import SentenceClassifier
from lectures_lib.tokenization import WordPiece

BATCH, RATE, MAX_LEN, WARMUP = 32, 5e-5, 128, 0.1


def sentences(n: int, seed: int) -> tuple[list[dict], list[dict]]:
    """That many training sentences, others for every seed, and the validation split."""
    train = list(data.load("sentiment", "train", "real"))
    return random.Random(seed).sample(train, min(n, len(train))), list(
        data.load("sentiment", "validation", "real")
    )


def fresh(seed: int) -> SentenceClassifier:
    """MiniLM with a fresh head."""
    torch.manual_seed(seed)
    return SentenceClassifier(Bert.from_pretrained(minilm.checkpoint(), dropout=0.0), 2)


def measured(train: Any, accuracy: Any) -> dict[str, float]:
    """Seconds of a training, accuracy afterwards, and this process's peak memory."""
    start = time.perf_counter()
    train()
    seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "accuracy": accuracy(),
        "peak_gib": results.peak_memory() / 2**30,
    }


def ours(n: int, seed: int) -> dict[str, float]:
    """A turn of ours."""
    tokenizer = WordPiece.load(minilm.checkpoint() / "vocab.txt")
    train, asked = (fine_tuning.sentences(rows, tokenizer, MAX_LEN) for rows in sentences(n, seed))
    model = fresh(seed)
    batches = fine_tuning.batches(train, batch_size=BATCH, seed=seed)

    def accuracy() -> float:
        return metrics.accuracy(
            fine_tuning.predict(model, asked), [example.target for example in asked]
        )

    return measured(
        lambda: fine_tuning.fine_tune(
            model, batches, epochs=1, rate=RATE, warmup=WARMUP, progress=False
        ),
        accuracy,
    )


def hugging_face(n: int, seed: int) -> dict[str, float]:
    """A turn of Hugging Face's."""
    from datasets import Dataset
    from transformers import (
        AutoModelForSequenceClassification,
        AutoTokenizer,
        DataCollatorWithPadding,
        Trainer,
        TrainingArguments,
    )

    tokenizer = AutoTokenizer.from_pretrained(minilm.checkpoint())
    train, asked = (
        Dataset.from_list(
            [
                tokenizer(row["text"], truncation=True, max_length=MAX_LEN)
                | {"labels": row["label"]}
                for row in rows
            ]
        )
        for rows in sentences(n, seed)
    )
    with tempfile.TemporaryDirectory() as folder:
        model = AutoModelForSequenceClassification.from_pretrained(
            fresh(seed).save_pretrained(Path(folder) / "model")
        )
        arguments = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=BATCH,
            per_device_eval_batch_size=64,
            num_train_epochs=1,
            learning_rate=RATE,
            weight_decay=0.01,
            warmup_steps=int(WARMUP * -(-len(train) // BATCH)),
            max_grad_norm=1.0,
            seed=seed,
            use_cpu=True,
            save_strategy="no",
            logging_strategy="no",
            report_to="none",
            disable_tqdm=True,
        )
        trainer = Trainer(
            model=model,
            args=arguments,
            train_dataset=train,
            data_collator=DataCollatorWithPadding(tokenizer),
        )

        def accuracy() -> float:
            logits = trainer.predict(asked).predictions
            return metrics.accuracy(logits.argmax(axis=-1), asked["labels"])

        return measured(trainer.train, accuracy)


CONTESTANTS = {"ours": ours, "hugging_face": hugging_face}


def turn(name: str, n: int, seed: int) -> dict[str, float]:
    """A turn in a process of its own."""
    command = [sys.executable, __file__, "--turn", name, "--examples", str(n), "--seed", str(seed)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found = json.loads(output.splitlines()[-1])
    print(
        f"seed {seed}, {name}: accuracy {found['accuracy']:.3f}, {found['seconds']:.0f} s, peak "
        f"{found['peak_gib']:.2f} GiB",
        flush=True,
    )
    return found


def main() -> None:
    """Measure and write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--examples", type=int, default=6_735)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--turn", choices=CONTESTANTS, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1)))
    if options.turn:
        print(json.dumps(CONTESTANTS[options.turn](options.examples, options.seed)))
        return
    n, rounds = (128, 1) if options.smoke else (options.examples, options.rounds)
    found: dict[str, list[dict[str, float]]] = {name: [] for name in CONTESTANTS}
    for seed in range(rounds):
        # neither always goes first
        for name in CONTESTANTS if seed % 2 == 0 else reversed(CONTESTANTS):
            found[name].append(turn(name, n, seed))
        faster = [
            theirs["seconds"] / our["seconds"] for our, theirs in zip(*found.values(), strict=True)
        ]
        if options.smoke:
            continue
        record = {
            "ours_over_hugging_face": results.spread(faster),
            "n_train": n,
            "batch_size": BATCH,
            **{
                name: {
                    key: results.spread([turn[key] for turn in turns])
                    for key in ("accuracy", "peak_gib")
                }
                for name, turns in found.items()
            },
        }
        title = (
            f"How many times faster an epoch on {n:,} sentences of SST-2 is than Hugging Face's "
            f"Trainer with random batches (MiniLM, CPU)"
        )
        results.save("fine_tuning_speed", record, title, list(range(seed + 1)))
    ratio = results.spread(faster)
    print(
        f"ours {ratio['median']:.2f} times as fast as Hugging Face's Trainer ({ratio['min']:.2f} "
        f"to {ratio['max']:.2f})"
    )


if __name__ == "__main__":
    main()
