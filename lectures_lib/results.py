"""Measured numbers: every one that the text quotes stands in a file of book/results, written by a
script anyone can run again.

The page quotes it with its key behind it in a comment that readers do not see, and a test compares
the two: `1.9<!-- attention_speed: explicit_over_fused/512/median .1f -->`.
"""

import datetime
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

import torch

from lectures_lib.files import write_whole

FOLDER = Path(__file__).resolve().parent.parent / "book" / "results"
QUOTE = re.compile(
    r"(?P<number>[-\d.,]*\d)(?P<unit>\s?[%×]?)\s*<!--\s+(?P<file>\w+):\s+(?P<key>\S+)\s+(?P<spec>\S+)\s+-->"
)


def spread(values: list[float]) -> dict[str, Any]:
    """Mean, median, standard deviation, extremes and number of repeated measurements, and the
    measurements themselves.
    """
    if not values:
        raise ValueError("no measurements: at least one is needed")
    deviation = stdev(values) if len(values) > 1 else 0.0
    return {
        "mean": fmean(values),
        "median": median(values),
        "sd": deviation,
        "min": min(values),
        "max": max(values),
        "n": len(values),
        "values": values,
    }


def in_all(clock: list[float]) -> float:
    """The time that a run took which was stopped and taken up again.

    Args:
        clock: the time at each look, oldest first; the clock began at 0 whenever the run went on.
            That it did is only seen where a time is less than the one before: a first look that
            comes later than the last before the stop counts as the same run's.
    """
    return sum(now - last if now >= last else now for last, now in pairwise([0.0, *clock]))


def peak_memory(forget: bool = False) -> int:
    """The most bytes that this process has held; `forget`: count from now on, beginning with what
    is in use. Where Linux is not, 0.
    """
    try:
        if forget:
            Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM")), 0)


def spreads(runs: list[dict], common: bool = False) -> dict[str, Any]:
    """The same numbers of several runs, each with its `spread`.

    Args:
        runs: one dictionary for each run, nested alike, with numbers at its leaves.
        common: keep what all runs have; without it they must have the same.

    Raises:
        ValueError: for no runs, or runs that differ in what they have.
    """
    if not runs:
        raise ValueError("no runs: at least one is needed")
    shared = set.intersection(*(set(run) for run in runs))
    lacking = {key for run in runs for key in run} - shared
    if lacking and not common:
        raise ValueError(f"not all {len(runs)} runs have {', '.join(sorted(map(str, lacking)))}")
    return {
        key: spreads([run[key] for run in runs], common)
        if isinstance(first, dict)
        else spread([float(run[key]) for run in runs])
        for key, first in runs[0].items()
        if key in shared
    }


def runs_of(spread_out: dict[str, Any], seeds: list[int]) -> dict[int, dict[str, Any]]:
    """The runs that `spreads` put together, by their seeds: the way back.

    Args:
        spread_out: what `spreads` gave.
        seeds: of its runs, in their order; of more seeds than runs the first are meant.

    Raises:
        ValueError: for more runs than seeds, or numbers that not all runs have.
    """
    counts = {found["n"] for found in _each_spread(spread_out)}
    if len(counts) > 1 or max(counts, default=0) > len(seeds):
        raise ValueError(f"spreads of {sorted(counts)} runs are none of the seeds {seeds}")
    n = counts.pop() if counts else 0
    return {seed: _run(spread_out, i) for i, seed in enumerate(seeds[:n])}


def together(
    runs: dict[int, dict[str, Any]], earlier: dict[str, Any] | None, seeds: list[int]
) -> tuple[dict[str, Any], list[int]]:
    """The runs of some seeds, added to those that a file holds: their spreads, and all seeds.

    Args:
        runs: by their seeds; they take the place of earlier ones of the same seeds.
        earlier: spreads that the file holds; None: there are none.  seeds: of those.

    Raises:
        ValueError: where the runs differ in what they have.
    """
    both = (runs_of(earlier, seeds) if earlier else {}) | runs
    both = dict(sorted(both.items()))
    return spreads(list(both.values())), list(both)


def _each_spread(found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "values" in found:
        yield found
        return
    for below in found.values():
        yield from _each_spread(below)


def _run(found: dict[str, Any], i: int) -> Any:
    if "values" in found:
        return found["values"][i]
    return {key: _run(below, i) for key, below in found.items()}


def kept_run(path: Path, settings: dict[str, Any]) -> dict[str, Any] | None:
    """What was measured in a run that is over; None where there is no file of it.

    Args:
        path: the file, in which the run's settings stand under "size".
        settings: what the run depends on, as it is asked for now.

    Raises:
        ValueError: where a run of other settings has that name.
    """
    if not path.exists():
        return None
    found = json.loads(path.read_text(encoding="utf-8"))
    kept, settings = found.get("size", {}), json.loads(json.dumps(settings))
    if other := {name: kept.get(name) for name in settings if kept.get(name) != settings[name]}:
        asked = {name: settings[name] for name in other}
        raise ValueError(
            f"{path} is a run of another size, {other} where {asked} is asked for: name another "
            f"folder"
        )
    return found


def folder_of_runs(runs: Path | None, size: str) -> Path:
    """Where an experiment keeps its runs of one size, made where it is missing. Each size has a
    folder of its own, so that a run of another size is never taken for one of this.

    Args:
        runs: what the command line names; None: a folder that nobody will look for again.
        size: the size's name.
    """
    folder = (Path(tempfile.mkdtemp()) if runs is None else runs) / size
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def save(
    name: str,
    results: dict[str, Any],
    title: str,
    seeds: list[int],
    folder: Path = FOLDER,
    **more: Any,
) -> Path:
    """Write `<name>.json` with how, when, where and from which commit it was measured. All of it or
    nothing is written.

    Args:
        name: the file's name without ending.
        results: the numbers, as nested dictionaries whose leaves are numbers, lists or what
            `spread` gives.
        title: one line that says what was measured, shown above the table on the results page.
        seeds: the seeds of the repetitions; empty for a measurement of time.
        folder: where to write.
        more: what a script wants to find again, and no page shows: `settings`, which `to_add_to`
            compares; `seeds_of` parts of the results, where not all have the same; or which
            examples are shown.
    """
    record = {
        "title": title,
        "command": " ".join(["python", _program(folder), *sys.argv[1:]]),
        "date": datetime.date.today().isoformat(),
        "commit": _commit(),
        "device": device(),
        "versions": {
            "python": platform.python_version(),
            **{package: _version(package) for package in ("torch", "numpy", "transformers")},
        },
        "seeds": seeds,
        **more,
        "results": results,
    }
    path = folder / f"{name}.json"
    write_whole(path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    return path


def load(name: str, folder: Path = FOLDER) -> dict[str, Any]:
    """The record that `save` wrote.

    Raises:
        FileNotFoundError: where there is none; the message lists those there are.
    """
    path = folder / f"{name}.json"
    if not path.exists():
        raise FileNotFoundError(
            f"no results named {name!r}; there are: "
            f"{', '.join(sorted(p.stem for p in folder.glob('*.json')))}"
        )
    return json.loads(path.read_text(encoding="utf-8"))


def to_add_to(
    name: str, title: str, settings: dict[str, Any], folder: Path = FOLDER
) -> dict[str, Any] | None:
    """The record to which runs of more seeds are added; None where there is none.

    Args:
        name: the file's name without ending.
        title: as `save` will be given it: it says the most important sizes.
        settings: as `save` will be given them; older files have none, and only their titles are
            compared.

    Raises:
        ValueError: for a record of another title or other settings.
    """
    if not (folder / f"{name}.json").exists():
        return None
    record = load(name, folder)
    asked = {"title": title, **json.loads(json.dumps(settings))}
    held = {"title": record["title"], **record.get("settings", {})}
    compared = asked if "settings" in record else ["title"]
    if other := {key: held.get(key) for key in compared if held.get(key) != asked[key]}:
        now = {key: asked[key] for key in other}
        raise ValueError(
            f"{name}.json was measured with {other}, and now {now} is asked for: move the file "
            f"away first"
        )
    return record


def value(name: str, key: str, folder: Path = FOLDER) -> float:
    """One number of a results file; key is the path to it, such as "accuracy/sinusoidal/mean", or
    "accuracy/sinusoidal/values/0", the first of a list.

    Raises:
        KeyError: for a path that leads nowhere; the message says what can be found at the last step
            that exists.
    """
    found = load(name, folder)["results"]
    for step in key.split("/"):
        if isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
            continue
        if not isinstance(found, dict) or step not in found:
            raise KeyError(
                f"{name}: {key!r} ends at {step!r}; there is "
                f"{list(found) if isinstance(found, dict) else found}"
            )
        found = found[step]
    return float(found)


def wrong_quotes(text: str, folder: Path = FOLDER) -> list[str]:
    """What is wrong with the measured numbers that a text quotes: one sentence for each that its
    file does not hold.
    """
    wrong = []
    for quote in QUOTE.finditer(text):
        held = value(quote["file"], quote["key"], folder) * (
            100 if quote["unit"].strip() == "%" else 1
        )
        expected = f"{held:{quote['spec']}}"
        if quote["number"] != expected:
            wrong.append(
                f"the text says {quote['number']}, {quote['file']}.json holds {expected} at "
                f"{quote['key']}"
            )
    return wrong


def device() -> str:
    """What the numbers were measured on, in words."""
    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    return (
        f"CPU, {os.cpu_count()} cores, {torch.get_num_threads()} torch threads, "
        f"{platform.machine()}"
    )


# What cannot be told must not cost a measurement that is finished.


def _program(folder: Path) -> str:
    try:
        return os.path.relpath(sys.argv[0], folder.parent.parent)
    except ValueError:  # on Windows, from one drive to another
        return sys.argv[0]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def _commit() -> str:
    try:
        found = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            capture_output=True,
            text=True,
            cwd=FOLDER.parent.parent,
        )
    except OSError:  # no git here
        return "unknown"
    return found.stdout.strip() or "unknown"
