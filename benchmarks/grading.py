"""Our grader against otter-grader's `otter run`: CPU seconds a submission, in the same run, on the
same answers to homework 1.

    python benchmarks/grading.py --otter VENV            writes book/results/grading_speed.json
    python benchmarks/grading.py                         without the peer: its rows stay empty

VENV is a virtual environment with otter-grader (`pip install otter-grader`) in which torch and this
package can be imported too. Otter grades one notebook a command, in a Jupyter kernel, with tests in
the student's process: one a question, which calls the same `check` as students do. Ours grades
classes of 5, 20 and 40 by one command, two workers, other inputs, and the sandbox. The two take
turns; CPU seconds are those of the command and of everything it started. From the classes of
different size comes what the command costs by itself, and each submission more. (What runs behind
bubblewrap is not waited for by the command's process: the grader is told by its sandboxes what they
have used, and keeps it in grading.json.)
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from lectures_lib import results
from lectures_lib.homework import load

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]
from peak_memory import Peak  # noqa: E402

from tests.homework.ten_submissions import MISTAKES, SOLUTION, changed, in_other_words  # noqa: E402

SIZES = (5, 20, 40)
ROUNDS = 3


def submissions() -> list[bytes]:
    """Right in two ways, and wrong in six: the notebooks, to be repeated."""
    return [
        SOLUTION.read_bytes(),
        in_other_words(),
        *(changed(old, new) for old, new, _ in MISTAKES.values()),
    ]


def otter_tests(folder: Path) -> None:
    """A test a question, in otter's own format."""
    folder.mkdir()
    for question in load("hw1").questions:
        code = (
            f">>> from lectures_lib.homework import check\n>>> check({question.name!r}, "
            f"{question.answer_name})"
        )
        suite = {
            "cases": [{"code": code, "hidden": False, "locked": False}],
            "scored": True,
            "setup": "",
            "teardown": "",
            "type": "doctest",
        }
        test = {"name": question.answer_name, "points": question.points, "suites": [suite]}
        (folder / f"{question.answer_name}.py").write_text(f"OK_FORMAT = True\ntest = {test!r}\n")


def cost(command: list, cwd: Path) -> tuple[float, float]:
    """CPU seconds of a command with all that it starts and waits for, and seconds on the clock.

    Raises:
        RuntimeError: if it fails.
    """
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True)
    after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    if done.returncode:
        raise RuntimeError(f"{command[:4]} failed:\n{done.stdout[-1000:]}\n{done.stderr[-2000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, ended - began


def ours(folder: Path, size: int, number: int) -> tuple[float, float]:
    """One class of that size, graded."""
    handed_in = folder / f"class_{size}"
    handed_in.mkdir(exist_ok=True)
    notebooks = submissions()
    for i in range(size):
        (handed_in / f"student_{i}.ipynb").write_bytes(notebooks[i % len(notebooks)])
    command = [
        sys.executable,
        "-m",
        "lectures_lib.homework",
        "grade",
        "hw1",
        handed_in,
        "--out",
        folder / f"out_{size}_{number}",
    ]
    cpu, seconds = cost([*command, "--workers", "2", "--seed", number], ROOT)
    record = json.loads((folder / f"out_{size}_{number}" / "grading.json").read_text())
    return cpu + record["runs"][0]["sandbox_cpu_seconds"], seconds


def memory(folder: Path, size: int, workers: int) -> float:
    """The most megabytes that grading a class of that size with so many workers held."""
    command = [
        sys.executable,
        "-m",
        "lectures_lib.homework",
        "grade",
        "hw1",
        folder / f"class_{size}",
        "--seed",
        0,
    ]
    command += ["--workers", workers, "--out", folder / f"memory_{size}_{workers}"]
    with subprocess.Popen(
        list(map(str, command)), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        peak = Peak(process.pid)
    return peak.megabytes


def otters(folder: Path, venv: Path, number: int) -> list[tuple[float, float]]:
    """Each of the different notebooks, graded by a command."""
    found = []
    for i, data in enumerate(submissions()):
        path = folder / f"otter_{i}.ipynb"
        path.write_bytes(data)
        command = [
            venv / "bin" / "otter",
            "run",
            path,
            "-a",
            folder / "autograder.zip",
            "-o",
            folder / f"otter_out_{i}",
        ]
        (folder / f"otter_out_{i}").mkdir(exist_ok=True)
        found.append(cost([*command, "--no-logo"], folder))
    return found


def main() -> None:
    """Take turns, and write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--otter", type=Path, help="a virtual environment with otter-grader")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    classes: dict[int, list[float]] = {size: [] for size in SIZES}
    peer: list[float] = []
    clock: dict[str, list[float]] = {"ours_40": [], "otter_run": []}
    each, alone = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.otter:
            otter_tests(folder / "tests")
            generate = [
                arguments.otter / "bin" / "otter",
                "generate",
                "-t",
                folder / "tests",
                "-o",
                folder / "autograder.zip",
            ]
            cost([*generate, "--no-config", "--no-requirements", "--no-environment"], folder)
        for number in range(arguments.rounds):
            for size in SIZES:
                cpu, seconds = ours(folder, size, number)
                classes[size].append(cpu)
                if size == max(SIZES):
                    clock["ours_40"].append(seconds)
            slope, start = np.polyfit(SIZES, [classes[size][-1] for size in SIZES], 1)
            each.append(float(slope))
            alone.append(float(start))
            if arguments.otter:
                for cpu, seconds in otters(folder, arguments.otter, number):
                    peer.append(cpu)
                    clock["otter_run"].append(seconds)
            print(
                f"round {number}: ours {each[-1]:.3f} CPU s each and {alone[-1]:.1f} for the "
                f"command",
                peer[-8:],
                flush=True,
            )
        megabytes = {str(n): memory(folder, max(SIZES), n) for n in (1, 2, 4)}
        smaller = memory(folder, SIZES[1], 2)
    found = {
        "peak_megabytes_of_a_class_of_40_by_workers": megabytes,
        "peak_megabytes_of_a_class_of_20_two_workers": smaller,
        "ours_cpu_seconds_each": results.spread(each),
        "ours_cpu_seconds_for_the_command": results.spread(alone),
        "ours_cpu_seconds_by_class_size": {
            str(size): results.spread(values) for size, values in classes.items()
        },
        "ours_seconds_on_the_clock_of_a_class_of_40": results.spread(clock["ours_40"]),
    }
    if peer:
        found["otter_cpu_seconds_each"] = results.spread(peer)
        found["otter_seconds_on_the_clock_each"] = results.spread(clock["otter_run"])
        found["otter_over_ours_each"] = float(np.median(peer) / np.median(each))
        in_a_class = np.median(classes[max(SIZES)]) / max(SIZES)
        found["otter_over_ours_in_a_class_of_40"] = float(np.median(peer) / in_a_class)
        print({name: ratio for name, ratio in found.items() if "over_ours" in name})
    title = (
        "Grading homework 1: CPU seconds a submission, by this course's grader (sandboxed, two "
        "workers) and by `otter run`"
    )
    results.save("grading_speed", found, title, seeds=list(range(arguments.rounds)))


if __name__ == "__main__":
    main()
