"""Keeps each notebook and its text twin one thing: `NN_name.py` is what one edits, `NN_name.ipynb`
the same, executed. (`NNb_name` stands between two chapters.)

    python tools/notebooks.py run [ONLY]
        run every notebook (or chapter ONLY, or those whose name starts with it) and store the
        outputs
    python tools/notebooks.py prose [ONLY]
        the same where only words, captions or tags have changed: no cell is executed, the outputs
        stay
    python tools/notebooks.py scripts
        the same where a script, a style sheet or a colour of lectures_lib/show has changed: every
        stored viewer, stepper, lab, dial and table gets today's
    python tools/notebooks.py drawings [ONLY]
        the same where a drawing (lectures_lib/show/drawings) has changed: it is drawn again where
        it is all that a cell shows; no cell is executed, the other outputs stay
    python tools/notebooks.py check
        say where a notebook and its twin differ; exit 1 if they do
"""

import os
import re
import sys
import time
from pathlib import Path

import jupytext
import nbformat
import yaml
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from lectures_lib.files import written_whole
from lectures_lib.homework.set_up import install_and_tell

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("notebooks", "solutions")
# Of a picture that runs (`lectures_lib.show.widget`): its kind, its name, its style, what stands
# between, and its script.
WIDGET = re.compile(
    r'(<div class="(attention-viewer|stepper|attention-lab|dial|error-table)[" ][^>]*?'
    r'="([0-9a-f]{12})"[^>]*>\n<style>\n)(.*?)(</style>\n.*?<script>\n)(.*?)(?=</script>)',
    re.DOTALL,
)
TEMPLATE = re.compile("(?<=<template>).*?(?=</template>)", re.DOTALL)
DRAWN = re.compile(r'(?:drawings\.)?draw\("(\w+)"\)')

# The first code cell of every notebook. Colab opens the notebook alone, so the address must stand
# in it.
SETUP = """\
# Set-up: run this cell first. Where the course's library is missing (on Colab, say), it
# is installed; running the cell twice is harmless.
import importlib.util
import subprocess
import sys

REPOSITORY = "{repository}"
if importlib.util.find_spec("lectures_lib") is None:
{install}

import lectures_lib

device = lectures_lib.setup(seed=0)"""
INSTALL = """\
    pip = [sys.executable, "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, f"lectures-lib[chapters] @ git+{REPOSITORY}"], check=True)"""
INSTALL_AND_TELL = install_and_tell(
    packages='f"lectures-lib @ git+{REPOSITORY}"',
    what="the course's library from {REPOSITORY}",
    who="It",
    network="It needs a network and git.",
    page="that address",
)
SETUP_TAGS = ["setup", "nbval-ignore-output"]


def repository() -> str:
    """The one setting that names the repository."""
    return yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]


def setup_cell(folder: str) -> str:
    """The set-up cell: chapters need the peers and the real weights too, homework only the
    library.
    """
    install = INSTALL if folder == "notebooks" else INSTALL_AND_TELL
    return SETUP.format(repository=repository(), install=install)


def twins(only: str = "") -> list[Path]:
    """The text twins, in the order of the book: all, that of chapter `only`, or those whose names
    start so.
    """
    found = [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.py"))]
    return [path for path in found if path.stem.split("_")[0] == only] or [
        path for path in found if path.name.startswith(only)
    ]


def differences(twin: Path) -> list[str]:
    """In words, how a notebook differs from its twin, or from what every notebook must have."""
    notebook = twin.with_suffix(".ipynb")
    name = twin.relative_to(ROOT)
    if not notebook.exists():
        return [f"{name} has no notebook beside it"]
    text, executed = _inputs(jupytext.read(twin)), _inputs(nbformat.read(notebook, as_version=4))
    found = [
        f"{name}: cell {i} differs from the notebook's"
        for i, (a, b) in enumerate(zip(text, executed, strict=False))
        if a != b
    ]
    if len(text) != len(executed):
        found.append(f"{name} has {len(text)} cells, the notebook {len(executed)}")
    code = [(source, metadata) for kind, source, metadata in text if kind == "code"]
    if (
        not code
        or code[0][0] != setup_cell(twin.parent.name)
        or code[0][1].get("tags") != SETUP_TAGS
    ):
        found.append(
            f"{name}: the first code cell is not the set-up cell (`make notebooks` writes it)"
        )
    return found


def run(twin: Path) -> None:
    """Write the set-up cell into the twin, execute it, and store notebook and outputs; a failing
    cell leaves the old one in place.
    """
    notebook = jupytext.read(twin)
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    first.source, first.metadata["tags"] = setup_cell(twin.parent.name), SETUP_TAGS
    jupytext.write(notebook, twin, fmt="py:percent")
    notebook = jupytext.read(twin)
    for i, cell in enumerate(notebook.cells):
        # jupytext draws them at random, which would make every run a change
        cell["id"] = f"cell-{i:02}"
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        store_widget_state=False,
        record_timing=False,
        coalesce_streams=True,
    )
    start = time.perf_counter()
    client.execute(cwd=str(twin.parent))
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    _store(notebook, twin)
    print(f"{twin.relative_to(ROOT)}: {time.perf_counter() - start:.0f} s", flush=True)


def prose(twin: Path) -> str:
    """Take the twin's words into the notebook, whose outputs stay; what was done, or why nothing
    was.
    """
    notebook, executed = (
        jupytext.read(twin),
        nbformat.read(twin.with_suffix(".ipynb"), as_version=4),
    )
    codes, old = (
        [cell for cell in either.cells if cell.cell_type == "code"]
        for either in (notebook, executed)
    )
    name = twin.relative_to(ROOT)
    if [cell.source for cell in codes] != [cell.source for cell in old]:
        return (
            f"{name}: code has changed, `make notebooks ONLY={twin.stem.split('_')[0]}` must run it"
        )
    for cell, run_before in zip(codes, old, strict=True):
        cell.outputs, cell.execution_count = run_before.outputs, run_before.execution_count
    for i, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{i:02}"
    _store(notebook, twin)
    return f"{name}: written, nothing was executed"


def up_to_date(html: str) -> str:
    """A stored output whose pictures have the style and the script that the library has today."""
    from lectures_lib.show import attention_lab, dial, error_table, stepper, viewer
    from lectures_lib.show.widget import source

    modules = {
        "attention-viewer": (viewer, "viewer/viewer.js"),
        "stepper": (stepper, "stepper.js"),
        "attention-lab": (attention_lab, "attention_lab.js"),
        "dial": (dial, "dial.js"),
        "error-table": (error_table, "error_table.js"),
    }

    def fresh(found: re.Match) -> str:
        begin, kind, name, _, between, _ = found.groups()
        module, script = modules[kind]
        if kind == "attention-viewer":
            between = TEMPLATE.sub(lambda _: viewer.template(), between)
        return begin + module.style() + between + source(script).replace("WIDGET_ID", name)

    return WIDGET.sub(fresh, html)


def scripts(twin: Path) -> int:
    """Bring today's scripts and styles into a notebook's stored outputs; how many have changed."""
    notebook, count = nbformat.read(twin.with_suffix(".ipynb"), as_version=4), 0
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            written = output.get("data", {}).get("text/html", "")
            if (fresh := up_to_date(written)) != written:
                output["data"]["text/html"] = fresh
                count += 1
    if count:
        _store(notebook, twin)
    return count


def drawings(twin: Path) -> int:
    """Draw the drawings in a notebook's stored outputs again; how many have changed. A cell counts
    whose last line is `draw("name")`, with no output but that.
    """
    from IPython.core.formatters import DisplayFormatter

    from lectures_lib.show.drawings import draw

    notebook, count = nbformat.read(twin.with_suffix(".ipynb"), as_version=4), 0
    for cell in notebook.cells:
        called = DRAWN.fullmatch(cell.source.strip().rpartition("\n")[2])
        if cell.cell_type != "code" or called is None or len(cell.outputs) != 1:
            continue
        (output,) = cell.outputs
        fresh, _ = DisplayFormatter().format(draw(called[1]))
        if fresh != output.data:
            output.data = nbformat.from_dict(fresh)
            count += 1
    if count:
        _store(notebook, twin)
    return count


def _store(notebook: nbformat.NotebookNode, twin: Path) -> None:
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    with written_whole(twin.with_suffix(".ipynb")) as draft:
        nbformat.write(notebook, draft)


def _inputs(notebook: nbformat.NotebookNode) -> list[tuple]:
    return [(cell.cell_type, cell.source, _kept(cell.metadata)) for cell in notebook.cells]


def _kept(metadata: dict) -> dict:
    return {key: metadata[key] for key in ("tags", "mystnb") if key in metadata}


def main() -> None:
    """The command line: see the module's first lines."""
    command, only = [*sys.argv[1:], "", ""][:2]
    if command == "check":
        found = [line for twin in twins() for line in differences(twin)]
        sys.exit(
            "\n".join(
                [*found, "The twin (.py) counts: `make notebooks` makes the notebook from it."]
            )
            if found
            else 0
        )
    if command == "scripts":
        for twin in twins():
            if count := scripts(twin):
                print(f"{twin.relative_to(ROOT)}: {count}")
        return
    if command == "drawings":
        for twin in twins(only):
            if count := drawings(twin):
                print(f"{twin.relative_to(ROOT)}: {count}")
        return
    if command not in ("run", "prose"):
        sys.exit(__doc__)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    chosen = twins(only)
    if not chosen:
        sys.exit(
            f"no notebook's name starts with {only!r}; there are: "
            f"{', '.join(t.stem for t in twins())}"
        )
    if command == "prose":
        said = [prose(twin) for twin in chosen if differences(twin)]
        print("\n".join(line for line in said if "code has changed" not in line))
        sys.exit("\n".join(line for line in said if "code has changed" in line) or 0)
    failed = []
    for twin in chosen:
        try:
            run(twin)
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            failed.append(f"{twin.relative_to(ROOT)}: {error}")
    sys.exit("\n\n".join([*failed, "The notebooks above were left as they were."]) if failed else 0)


if __name__ == "__main__":
    main()
