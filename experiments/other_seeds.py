"""What a chapter says of other seeds than its own: its cells, run again with each of them.

    python experiments/other_seeds.py
        every chapter of experiments/other_seeds.yml, an hour on one core; writes
        book/results/other_seeds.json
    python experiments/other_seeds.py 05 09b
        these chapters alone; what the file holds of the others stays

For each chapter other_seeds.yml names what is measured: an expression, evaluated in the notebook's
kernel after the last cell that it needs, for one number or a list of them. Another seed is set by
the first cell, and wherever the chapter seeds torch; the expression may name it, as `seed`. Each
run is kept in _build/other_seeds, and not repeated as long as the code of those cells is the same,
so that an interrupted round goes on. One thread.
"""

import hashlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import torch
import yaml
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from margins import seeded  # noqa: E402

from lectures_lib import results  # noqa: E402
from lectures_lib.files import write_whole  # noqa: E402

LISTED = ROOT / "experiments" / "other_seeds.yml"
KEPT = ROOT / "_build" / "other_seeds"
NAME = "other_seeds"
Numbers = dict[str, list[float]]
# What is evaluated at the end: numbers by their names, or what went wrong with one of them.
ASK = """
import json as _json
_found = {{}}
for _name, _expression in {asked!r}.items():
    try:
        _value = eval(_expression, globals(), {{"seed": {seed}}})
        _several = isinstance(_value, list)
        _found[_name] = [float(_one) for _one in (_value if _several else [_value])]
    except Exception as _error:
        _found = {{"error": f"{{_name}}: {{_expression}}: {{type(_error).__name__}}: {{_error}}"}}
        break
print(_json.dumps(_found))
"""


def listed(path: Path = LISTED) -> dict[str, dict[str, Any]]:
    """For each chapter (its file's name without ending) `until`, `seeds` and `asked`."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def key(chapter: str) -> str:
    """A chapter's name in the results: 09b_cache becomes chapter_9b."""
    return "chapter_" + chapter.partition("_")[0].lstrip("0")


def code_until(twin: Path, until: str) -> list[str]:
    """A chapter's code cells up to the one that has the text `until`.

    Raises:
        ValueError: if no code cell has it, or more than one.
    """
    cells = [cell.source for cell in jupytext.read(twin).cells if cell.cell_type == "code"]
    places = [i for i, source in enumerate(cells) if until in source]
    if len(places) != 1:
        raise ValueError(f"{twin.name}: {len(places)} code cells have {until!r}, one should")
    return cells[: places[0] + 1]


def measure(twin: Path, until: str, asked: dict[str, str], seed: int) -> Numbers:
    """The numbers asked for, of one run of the chapter.

    Raises:
        RuntimeError: if a cell ends in an error, or an expression cannot be evaluated.
    """
    cells = [seeded(source, 1, seed) for source in code_until(twin, until)]
    cells.append(ASK.format(asked=asked, seed=seed))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = NotebookClient(notebook, timeout=3000, kernel_name="python3", allow_errors=True)
    client.execute(cwd=str(twin.parent), env={**os.environ, "HF_HUB_OFFLINE": "1"})
    for cell in notebook.cells:
        for error in (output for output in cell.outputs if output.output_type == "error"):
            said = f"{twin.name}, seed {seed}: {error.ename}: {error.evalue}\n{cell.source}"
            if error.ename != "AssertionError":
                raise RuntimeError(said)
            print(said, file=sys.stderr)  # the page's own seed is another: tools/margins.py
    found = json.loads(notebook.cells[-1].outputs[0].text)
    if "error" in found:
        raise RuntimeError(f"{twin.name}, seed {seed} cannot evaluate {found['error']}")
    return found


def kept(twin: Path, until: str, asked: dict[str, str], seed: int, folder: Path) -> Numbers:
    """The numbers of one run: those that are kept, if they are of the same code, else new ones."""
    text = json.dumps([code_until(twin, until), asked])
    fingerprint = hashlib.sha256(text.encode()).hexdigest()[:16]
    path = folder / twin.stem / f"{seed}.json"
    if path.exists():
        old = json.loads(path.read_text(encoding="utf-8"))
        if old["fingerprint"] == fingerprint:
            return old["found"]
    begun = time.perf_counter()
    found = measure(twin, until, asked, seed)
    seconds = round(time.perf_counter() - begun)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps({"fingerprint": fingerprint, "found": found}))
    for name, numbers in found.items():
        said = " ".join(f"{number:.3g}" for number in numbers)
        print(f"{twin.stem}, seed {seed}, {seconds} s: {name} {said}", flush=True)
    return found


def of_chapter(twin: Path, told: dict[str, Any], folder: Path = KEPT) -> dict[str, dict]:
    """Each number that is asked for, over the seeds."""
    runs = [kept(twin, told["until"], told["asked"], seed, folder) for seed in told["seeds"]]
    return {
        name: results.spread([number for run in runs for number in run[name]])
        for name in told["asked"]
    }


def main() -> None:
    """The command line: see the module's first lines."""
    torch.set_num_threads(1)  # as the kernels are told
    chapters, only = listed(), sys.argv[1:]
    there = (results.FOLDER / f"{NAME}.json").exists()
    measured = results.load(NAME)["results"] if there else {}
    for chapter, told in chapters.items():
        if not only or chapter.partition("_")[0] in only:
            twin = ROOT / "notebooks" / f"{chapter}.py"
            measured[key(chapter)] = of_chapter(twin, told)
    measured = {name: measured[name] for name in map(key, chapters) if name in measured}
    seeds = sorted({seed for told in chapters.values() for seed in told["seeds"]})
    title = "What chapters say of other seeds than their own: their cells, run with each of these"
    sys.argv[1:] = []  # the command that makes the whole file
    results.save(NAME, measured, title, seeds=seeds)


if __name__ == "__main__":
    main()
