"""A class of 1,000 with known grades, graded: killed three times at random and gone on with, then
by a Dask cluster that loses a worker.

    python benchmarks/class_of_1000.py            writes book/results/class_of_1000.json
    python benchmarks/class_of_1000.py --size 50  a few minutes, writes nothing

The submissions are those of tests/homework/synthetic_class.py: right, wrong, unanswered, hostile
and corrupt answers to homework 2. Every grade and every named mistake in grades.csv must be the
known one. Seconds are on the clock; CPU seconds are those of the commands and of all sandboxes;
memory is what the command and everything it started held together (proportional set size), looked
at twice a second.
"""

import argparse
import csv
import json
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from lectures_lib import results
from lectures_lib.homework.grader.grading.records import Records

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]
from peak_memory import Peak  # noqa: E402

from tests.homework.cluster import cluster  # noqa: E402
from tests.homework.synthetic_class import build, misgraded  # noqa: E402

KILLS = 3
WORKERS = 2
SEED = 20261121
CELL_SECONDS = 3


def command(folder: Path, out: Path, *more: str) -> list[str]:
    """The command that grades the class."""
    line = [
        sys.executable,
        "-m",
        "lectures_lib.homework",
        "grade",
        "hw2",
        folder,
        "--out",
        out,
        "--seed",
        SEED,
    ]
    return list(map(str, [*line, "--cell-seconds", CELL_SECONDS, *more]))


def count(out: Path) -> int:
    """How many results are kept."""
    if not (out / "results.sqlite").exists():
        return 0
    with Records(out) as records:
        return len(records.written())


def run(line: list[str], out: Path, until: int | None = None) -> dict:
    """Run the command, and kill it when so many results are kept; what it took."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with subprocess.Popen(
        line, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        peak = Peak(process.pid)
        while until is not None and process.poll() is None and count(out) < until:
            time.sleep(0.2)
        if until is not None and process.poll() is None:
            process.send_signal(signal.SIGKILL)
        said = process.communicate()[1]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode not in (0, -signal.SIGKILL):
        raise RuntimeError(said[-3000:])
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "seconds": time.monotonic() - began,
        "cpu_seconds_outside": cpu,
        "peak_megabytes": peak.megabytes,
        "kept": count(out),
    }


def checked(known: dict, out: Path) -> dict[str, int]:
    """How many grades are not the known ones, and how many results were written more than once."""
    with (out / "grades.csv").open(newline="", encoding="utf-8") as file:
        wrong = misgraded(known, {row["student"]: row for row in csv.DictReader(file)})
    print("\n".join(wrong[:20]) or "every grade is the known one", flush=True)
    with Records(out) as records:
        written = [student for student, _ in records.written()]
    return {
        "misgraded": len(wrong),
        "written_twice": len(written) - len(set(written)),
        "submissions": len(set(written)),
    }


def main() -> None:
    """Both ways; write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=1000)
    size = parser.parse_args().size
    chance = random.Random(SEED)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "class").mkdir()
        known = build(folder / "class", size, seed=SEED)
        kills = sorted(chance.sample(range(size // 20, size * 9 // 10), KILLS))
        line = command(folder / "class", folder / "killed", "--workers", str(WORKERS))
        runs = [run(line, folder / "killed", until) for until in (*kills, None)]
        inside = json.loads((folder / "killed" / "grading.json").read_text())["runs"][-1]
        killed = {
            "workers": WORKERS,
            "killed_after": kills,
            **checked(known, folder / "killed"),
            "seconds": sum(each["seconds"] for each in runs),
            "peak_megabytes": max(each["peak_megabytes"] for each in runs),
            "runs": runs,
            "last_run": inside,
            "cpu_seconds_each_in_the_last_run": (
                inside["sandbox_cpu_seconds"] + runs[-1]["cpu_seconds_outside"]
            )
            / max(inside["graded"], 1),
        }
        print(killed, flush=True)
        with cluster(folder, WORKERS) as (address, workers):
            line = command(
                folder / "class", folder / "dask", "--executor", "dask", "--scheduler", address
            )

            def lose_a_worker() -> None:
                while count(folder / "dask") < size // 2:
                    time.sleep(0.2)
                workers[0].kill()

            threading.Thread(target=lose_a_worker, daemon=True).start()
            taken = run(line, folder / "dask")
        dask = {
            "workers": WORKERS,
            "one_killed_after": size // 2,
            **checked(known, folder / "dask"),
            "seconds": taken["seconds"],
        }
        print(dask, flush=True)
    if size == 1000:
        title = (
            "A class of 1,000 submissions of homework 2 (right, wrong, hostile, corrupt) with "
            "known grades, graded with interruptions"
        )
        results.save(
            "class_of_1000", {"killed_and_resumed": killed, "dask": dask}, title, seeds=[SEED]
        )


if __name__ == "__main__":
    main()
