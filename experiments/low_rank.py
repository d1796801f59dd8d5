"""MiniLM fine-tuned by low-rank differences, on real data: the small models that come with the book
(chapter 14).

    LECTURES_DATA=<mirror> python experiments/low_rank.py --task sst2
        three seeds, ten minutes to half an hour of two cores each; writes
        book/results/low_rank_sst2.json, which says what seeds are in so far, and the model of seed
        0, lectures_lib/stored/sentiment.safetensors
    … the same command once more
        goes on with the seeds that are missing; a file of another rate, rank or number of examples
        is refused
    python experiments/low_rank.py --task sst2 --rates 5e-4 1e-3 2e-3
        which rate? Learned from some training examples, asked on others; writes nothing
    python experiments/low_rank.py --task sst2 --smoke
        a minute, writes nothing

Tasks: sst2 (praise or complaint), stsb (how similar), wnut (names), squad (answers). Examples,
epochs and batches are those of `fine_tuning.py`, which trains all 22.7 million numbers; here 0.4
million learn, beside a body that stays as it is. For SQuAD more questions are read here than there.

The stored model is that of seed 0, not the best one: the best of three on the examples asked would
look better than it is. It is asked once more as it is stored, in half precision: how well it does
then, and how often it says what it said before.
"""

import argparse
import os
import time
from dataclasses import replace
from pathlib import Path

import torch
from fine_tuning_tasks import TASKS, Setting, measured_before, prepare
from safetensors.torch import load_file

from lectures_lib import metrics, results, stored
from lectures_lib.tasks import fine_tuning, low_rank
from lectures_lib.tasks.task_heads import Head

RANK = 8
RATES = {"sst2": 2e-3, "wnut": 2e-3, "squad": 1e-3, "stsb": 2e-3}
NAMES = {"sst2": "sentiment", "wnut": "entities", "squad": "answers", "stsb": "similarity"}
QUESTIONS = 12_000  # of SQuAD's 87,599
N_RATE, N_RATE_ASKED = 8_000, 1_000


def adapted(setting: Setting, seed: int, rate: float, runs: Path | None = None) -> Head:
    """A model of which only the low-rank differences and the head were trained."""
    torch.manual_seed(seed)
    model = setting.head()
    low_rank.adapt(model, RANK)
    cut = fine_tuning.batches(
        setting.examples(setting.train), batch_size=setting.task.batch_size, seed=seed
    )
    file = kept_at(setting, seed, rate, runs)
    fine_tuning.fine_tune(
        model,
        cut,
        epochs=setting.epochs,
        rate=rate,
        weight_decay=0.0,
        checkpoint=file,
        save_every=100,
        resume=file is not None,
    )
    return model


def kept_at(setting: Setting, seed: int, rate: float, runs: Path | None) -> Path | None:
    """Where an interrupted run goes on from: one of another rate, or another number of examples,
    does not.
    """
    run = f"{NAMES_OF[setting.task.data]}_{len(setting.train)}_{rate:g}_{seed}"
    return None if runs is None else runs / f"low_rank_{run}.pt"


def taken_up(setting: Setting, seed: int, rate: float, runs: Path | None) -> bool:
    """Whether there is a run to go on with."""
    file = kept_at(setting, seed, rate, runs)
    return file is not None and file.exists()


NAMES_OF = {TASKS[task].data: name for task, name in NAMES.items()}


def measured(setting: Setting, model: Head) -> dict[str, float]:
    """The task's measures on the examples that are asked."""
    return setting.task.measure(setting.said(model), setting.asked)


def tried_rates(setting: Setting, rates: list[float]) -> None:
    """Which rate: learned from a part of the training examples, asked on another part."""
    held = 600 if setting.task.kind == "words" else N_RATE_ASKED
    train, asked = setting.train[:-held][:N_RATE], setting.train[-held:]
    part = replace(setting, train=train, asked=asked)
    for rate in rates:
        began = time.perf_counter()
        print(rate, measured(part, adapted(part, 0, rate)), f"{time.perf_counter() - began:.0f} s")


def equal(setting: Setting, trained: Head, kept: Head) -> dict[str, float]:
    """What rounding changes: the share of the examples asked of which both say the same; of scores,
    which are never the same, the largest difference.
    """
    before, after = setting.said(trained), setting.said(kept)
    if setting.task.kind == "score":
        pairs = zip(before, after, strict=True)
        return {"largest_difference": max(abs(a - b) for a, b in pairs)}
    return {"equal": metrics.exact_match(after, before)}


def store(setting: Setting, model: Head) -> dict[str, float]:
    """Write the model, and measure what was written."""
    path = stored.FOLDER / f"{NAMES_OF[setting.task.data]}.safetensors"
    stored.save_adapted(model, path)
    kept = stored.load_adapted(path).to(setting.device)
    return {
        "bytes": path.stat().st_size,
        "numbers": sum(tensor.numel() for tensor in load_file(path).values()),
        **measured(setting, kept),
        **equal(setting, model, kept),
    }


def main() -> None:
    """Every seed; seed 0 is stored."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--task", choices=NAMES, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--rates", type=float, nargs="+", help="try these, write nothing")
    parser.add_argument(
        "--runs",
        type=Path,
        help="a folder for what an interrupted run goes on from; a smoke run keeps nothing",
    )
    parser.add_argument("--smoke", action="store_true", help="a hundred examples, nothing written")
    options = parser.parse_args()
    runs = None if options.smoke else options.runs
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1)))
    if options.task == "squad" and not options.smoke:
        TASKS["squad"] = replace(TASKS["squad"], cpu=(1, 192, QUESTIONS, 1_000))
    setting = prepare(options.task, smoke=options.smoke)
    if options.rates:
        return tried_rates(setting, options.rates)
    name, rate = f"low_rank_{options.task}", RATES[options.task]
    settings = {"rank": RANK, **setting.sizes(), "rate": rate}
    found = ({} if options.smoke else measured_before(name, settings)) | settings
    by_seed, seconds = found.setdefault("by_seed", {}), found.setdefault("seconds", {})
    for seed in options.seeds:
        if str(seed) in by_seed:
            continue
        began, whole = time.perf_counter(), not taken_up(setting, seed, rate, runs)
        model = adapted(setting, seed, rate, runs)
        took = time.perf_counter() - began
        if whole:  # of a run that was taken up again nobody knows
            seconds[str(seed)] = took
        found["n_learned"] = sum(p.numel() for p in model.parameters() if p.requires_grad)
        found["n_all"] = sum(p.numel() for p in model.parameters())
        by_seed[str(seed)] = measured(setting, model)
        print(seed, by_seed[str(seed)], f"{took:.0f} s", flush=True)
        if options.smoke:
            return None
        if seed == 0:
            found["stored"] = store(setting, model)
        found["by_seed"] = by_seed = dict(sorted(by_seed.items()))
        measures = results.spreads(list(by_seed.values()))
        title = f"{options.task}: MiniLM fine-tuned by differences of rank {RANK}"
        results.save(name, found | {"low_rank": measures}, title, [int(seed) for seed in by_seed])
    return None


if __name__ == "__main__":
    main()
