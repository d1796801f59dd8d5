"""How long each chapter takes on a CPU, and how much memory: the budget is 60 seconds and 2 GB.

    python benchmarks/chapters.py
        every chapter once, on a machine that does nothing else; writes book/results/chapters.json
    python benchmarks/chapters.py --only 14
        one chapter again; the others stay as they were measured

A chapter is run as `jupyter execute` runs it, from a folder of its own: the seconds are those from
the start of the kernel to the last cell, imports included, and the memory is that of all processes
below it.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from peak_memory import Peak

from lectures_lib import results

ROOT = Path(__file__).resolve().parents[1]
NAME = "chapters"


def run(chapter: Path) -> dict[str, float]:
    """Seconds, and the most memory held, in 10^9 bytes."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(chapter, folder)
        start = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyter", "execute", "--timeout=600", chapter.name], cwd=folder
        )
        peak = Peak(process.pid)
        if process.wait():
            raise SystemExit(f"{chapter.name} failed, see above")
        seconds = time.perf_counter() - start
        peak.join()
    return {"seconds": seconds, "peak_gb": peak.megabytes / 1000}


def main() -> None:
    """Every chapter, one after the other; the file is written after each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=[""], help="the chapters' numbers, such as 14")
    options = parser.parse_args()
    try:
        measured = results.load(NAME)["results"]["by_chapter"]
    except FileNotFoundError:
        measured = {}
    there = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
    measured = {name: one for name, one in measured.items() if name in there}
    for chapter in sorted(
        path for number in options.only for path in (ROOT / "notebooks").glob(f"{number}*.ipynb")
    ):
        measured[chapter.stem] = run(chapter)
        print(
            f"{chapter.stem:26} {measured[chapter.stem]['seconds']:5.1f} s "
            f"{measured[chapter.stem]['peak_gb']:5.2f} GB",
            flush=True,
        )
        found = {
            "by_chapter": dict(sorted(measured.items())),
            "most_seconds": max(chapter["seconds"] for chapter in measured.values()),
            "most_gb": max(chapter["peak_gb"] for chapter in measured.values()),
        }
        results.save(
            NAME,
            found,
            "What each chapter takes: seconds from start to end, and the most memory (10^9 bytes) "
            "of its processes",
            [],
        )


if __name__ == "__main__":
    main()
