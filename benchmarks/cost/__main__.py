"""What saves time and memory when a BERT is trained, and what does not: packing, bfloat16,
torch.compile and more (chapter 18b).

    LECTURES_DATA=<mirror> python benchmarks/cost
        everything; writes book/results/cost.json (on a GPU: cost_gpu.json)
    LECTURES_DATA=<mirror> python benchmarks/cost --smoke
        a round of each, to see that it runs; writes nothing

MiniLM's weights, no dropout, AdamW. What is compared takes turns in one process, and each ratio is
that of two neighbouring turns; only memory and the number of processes need processes of their own.
Useful tokens are those that are no padding.
"""

import argparse
import time
from collections.abc import Iterator
from typing import Any

import torch
from batch_sizes import batch_sizes
from batching import batching
from checkpointing import checkpointing
from compiling import compiling
from precision import precision
from processes import processes
from turns import BATCH, DEVICE, N

from lectures_lib import results


def main() -> None:
    """Measure everything and write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--smoke", action="store_true", help="one round of each; nothing is written"
    )
    parser.add_argument("--only", help="one part alone; nothing is written")
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # whatever else runs on this machine then disturbs least
    many = (lambda n: 1) if arguments.smoke else (lambda n: n)
    parts = {
        "batching": lambda: batching(many(20)),
        "precision": lambda: precision(many(15)),
        "compile": lambda: compiling(many(15)),
        "batch_size": lambda: batch_sizes(many(6)),
        "checkpointing": lambda: checkpointing(many(12), many(3)),
        "processes": lambda: processes(many(4), many(8)),
    }
    if arguments.only is not None:
        parts = {arguments.only: parts[arguments.only]}
    found = {}
    for name, measure in parts.items():
        start = time.perf_counter()
        found[name] = measure()
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
        for key, value in flat(found[name]):
            print(f"    {key}: {value}", flush=True)
    if not (arguments.smoke or arguments.only):
        title = (
            f"What saves time and memory in training MiniLM (float32, no dropout; real sentences "
            f"of SST-2, else {BATCH} × {N} tokens)"
        )
        results.save("cost" if DEVICE == "cpu" else "cost_gpu", found, title, seeds=[])


def flat(found: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Nested results as lines to read."""
    for name, value in found.items():
        if isinstance(value, dict) and "median" in value:
            yield (
                f"{path}{name}",
                f"{value['median']:.2f} ({value['min']:.2f} to {value['max']:.2f})",
            )
        elif isinstance(value, dict):
            yield from flat(value, f"{path}{name}/")
        else:
            yield f"{path}{name}", f"{value:.3f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
