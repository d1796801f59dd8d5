"""How many examples does fine-tuning need? SST-2 with 100 to 10,000 phrases, beside frozen vectors
and a bag of words (chapter 14).

    python experiments/training_size.py
        three draws of each size; writes book/results/training_size.json
    python experiments/training_size.py --smoke
        the smallest size alone, once; writes nothing

A draw is a random part of the training split, the larger sizes containing the smaller; its seed is
also that of the head and of the order. Every way sees the same phrases, and all are asked the 872
sentences of the validation split. Fine-tuning goes over them twice, or as often as makes 100 steps
of 16. The file is written after every size, and what it holds is not run again. About ten minutes a
draw on one core.
"""

import argparse
import math
import os
from dataclasses import replace

import numpy as np
import torch
from fine_tuning_tasks import TASKS, Setting, prepare
from fine_tuning_ways import bag_of_words, fine_tuned, frozen

from lectures_lib import results

SIZES = (100, 300, 1_000, 3_000, 10_000)
DRAWS = (0, 1, 2)
BATCH_SIZE, STEPS = 16, 100
NAME = "training_size"


def drawn(setting: Setting, size: int, draw: int) -> Setting:
    """The same task with `size` training examples, and epochs to match."""
    order = np.random.default_rng(draw).permutation(len(setting.train))[:size]
    epochs = max(2, math.ceil(STEPS * BATCH_SIZE / size))
    return replace(
        setting,
        train=[setting.train[i] for i in order],
        epochs=epochs,
        task=replace(setting.task, batch_size=BATCH_SIZE),
    )


def main() -> None:
    """Every size, every draw, every way."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--smoke", action="store_true", help="the smallest size alone, once; nothing is written"
    )
    options = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1)))
    whole = prepare("sst2")
    try:
        by_size = {} if options.smoke else results.load(NAME)["results"]["by_size"]
    except FileNotFoundError:
        by_size = {}
    for draw in DRAWS[: 1 if options.smoke else None]:
        for size in SIZES[: 1 if options.smoke else None]:
            found = by_size.setdefault(str(size), {})
            if all(
                str(draw) in found.get(way, {}) for way in ("bag_of_words", "frozen", "fine_tuned")
            ):
                continue
            setting = drawn(whole, size, draw)
            said = {
                "bag_of_words": bag_of_words(setting),
                "frozen": frozen(setting),
                "fine_tuned": fine_tuned(setting, draw),
            }
            for way, answers in said.items():
                found.setdefault(way, {})[str(draw)] = TASKS["sst2"].measure(
                    answers, setting.asked
                )["accuracy"]
            print(size, draw, {way: f"{found[way][str(draw)]:.3f}" for way in said}, flush=True)
            if not options.smoke:
                save(by_size)


def save(by_size: dict) -> None:
    """What there is so far, with its spread."""
    spread = {
        size: {way: results.spread(list(values.values())) for way, values in ways.items()}
        for size, ways in by_size.items()
        if ways
    }
    title = (
        "sst2: accuracy by the number of training examples, MiniLM fine-tuned, frozen, and a bag "
        "of words (sentiment, validation)"
    )
    results.save(NAME, {"accuracy": spread, "by_size": by_size}, title, list(DRAWS))


if __name__ == "__main__":
    main()
