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
  neighbouring words; for two sentences on the words of each and those of both, for tagging on the
  word, its neighbours, their spelling. For SQuAD: the sentence of the text that shares most words
  with the question, cut to nothing else.
- frozen: the body stays as it came; the same regressions on the mean of its last vectors (for two
  sentences u, v, |u - v| and u * v; for tagging the vector of a word's first piece). For SQuAD: a
  span head trained on the frozen body.
- fine_tuned: head and body are trained, from each seed with another fresh head and another order of
  the examples.
"""

import argparse
import os
import time
from collections.abc import Callable

import torch
from fine_tuning_tasks import TASKS, Setting, measured_before, prepare
from fine_tuning_ways import bag_of_words, fine_tuned, frozen, majority

from lectures_lib import results

SEEDS = [0, 1, 2]


def file_name(task: str, model: str, size: str) -> str:
    """The results' file, without its ending."""
    parts = ["fine_tuning", task]
    parts += [model.split("/")[-1].replace("-", "_")] if model != "minilm" else []
    return "_".join([*parts, size] if size != "cpu" else parts)


def add_way(measured: dict, way: Callable[[Setting], list], setting: Setting) -> None:
    """Measure a way that has no seed."""
    start, name = time.perf_counter(), way.__name__
    measured[name] = setting.task.measure(way(setting), setting.asked)
    seconds = measured.setdefault("seconds", {})
    seconds[name] = time.perf_counter() - start
    print(f"{name}: {measured[name]}, {seconds[name]:.0f} s", flush=True)


def add_seed(measured: dict, seed: int, setting: Setting) -> None:
    """Fine-tune with one more seed."""
    start, key = time.perf_counter(), str(seed)
    results.peak_memory(forget=True)
    by_seed = measured.setdefault("by_seed", {})
    by_seed[key] = setting.task.measure(fine_tuned(setting, seed), setting.asked)
    measured["fine_tuned"] = results.spreads(list(by_seed.values()))
    peaks = measured.setdefault("peak_memory_gb", {})
    seconds = measured.setdefault("seconds", {}).setdefault("fine_tuned", {})
    peaks[key], seconds[key] = results.peak_memory() / 1e9, time.perf_counter() - start
    print(
        f"fine_tuned, seed {seed}: {by_seed[key]}, {seconds[key]:.0f} s, peak {peaks[key]:.2f} GB",
        flush=True,
    )


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
    setting = prepare(options.task, options.model, options.size, options.smoke)
    name = file_name(options.task, options.model, options.size)
    settings = setting.sizes()
    measured = ({} if options.smoke else measured_before(name, settings)) | settings
    title = (
        f"{options.task}: {options.model} fine-tuned on {len(setting.train):,} examples, frozen, "
        f"and a bag of words ({setting.task.data}, {setting.task.asked})"
    )

    def keep() -> None:
        if not options.smoke:
            results.save(name, measured, title, [int(seed) for seed in measured.get("by_seed", {})])

    for way in (majority, bag_of_words, frozen):
        if way.__name__ not in measured:
            add_way(measured, way, setting)
            keep()
    for seed in options.seeds[:1] if options.smoke else options.seeds:
        if str(seed) not in measured.get("by_seed", {}):
            add_seed(measured, seed, setting)
            keep()


if __name__ == "__main__":
    main()
