"""A plugin for pytest: nbval runs each notebook once, as Colab would, and compares numbers within
what their cell declares.

    python -m pytest --nbval --nbval-current-env notebooks/04_order.ipynb

*As Colab would*: a copy of the .ipynb alone in an empty folder, the package as pip installs it, the
set-up cell twice in a row. A last item looks at what is left: less than 2 GB of memory used, no
file written, no other copy of the library imported.

*Within what their cell declares*: outputs are compared character by character, unless the cell has
a tag `rtol=0.05` or `atol=0.02` (or both). Then its words must be the same, and as many numbers
must stand between them, each within atol + rtol · |stored number|.
"""

import copy
import functools
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbval.plugin
import pytest
from nbformat import NotebookNode
from nbval.kernel import RunningKernel, start_new_kernel

ROOT = Path(__file__).resolve().parent.parent
GIGABYTES = 2
SECONDS_PER_CELL = 800  # against a cell that hangs, not one on a busy machine
SECONDS_FOR_A_MESSAGE = 120
# "1,234.5", "-3e-4" and "− 0.2" hold one number each; the digits of "conv2d", "B16", "10th" and
# "1234ms" belong to a word. What was taken is not given back (++): 123 would be left of 1234ms.
NUMBER = re.compile(
    r"(?<![\w.])(?:[-−+] ?)?\d++(?:,\d{3}(?!\d))*+(?:\.\d+)?+(?:e[-+]?\d+)?+(?![A-Za-z_]|\.?\d)"
)
# The process's own peak: getrusage's ru_maxrss begins with that of the process that started it.
REPORT = """
import json, pathlib, lectures_lib
from lectures_lib.results import peak_memory
print(json.dumps([lectures_lib.__file__, peak_memory() >> 20, sorted(path.name for path in pathlib.Path().iterdir())]))
"""


def same(stored: str, fresh: str, rtol: float, atol: float) -> bool:
    """Whether two texts have the same words and, between them, numbers that are close.

    Numbers of another width push columns aside, so that any white space equals any other.
    """
    words, other_words = (NUMBER.sub("#", text).split() for text in (stored, fresh))
    numbers, others = (
        [_value(found) for found in NUMBER.findall(text)] for text in (stored, fresh)
    )
    close = all(
        math.isclose(a, b, rel_tol=0.0, abs_tol=atol + rtol * abs(a))
        for a, b in zip(numbers, others, strict=False)
    )
    return words == other_words and len(numbers) == len(others) and close


def _value(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-").replace(" ", ""))


def tolerance(tags: list[str]) -> dict[str, float] | None:
    """{"rtol": …, "atol": …} as a cell's tags declare it, None if they do not.

    Raises:
        ValueError: if a tag looks like a tolerance and is none.
    """
    declared = {
        name: text
        for name, _, text in (tag.partition("=") for tag in tags)
        if name in ("rtol", "atol")
    }
    found = {}
    for name, text in declared.items():
        try:
            found[name] = float(text)
        except ValueError:
            raise ValueError(
                f'the tag "{name}={text}" should be a number, such as {name}=0.05'
            ) from None
        if not 0 < found[name] < math.inf:
            raise ValueError(f'the tag "{name}={text}" should be a number above 0')
    return {"rtol": 0.0, "atol": 0.0, **found} if found else None


@functools.cache
def installed() -> Path:
    """A folder with the package as pip installs it from the working tree, package data included."""
    folder = Path(tempfile.mkdtemp(prefix="as-colab-"))
    source, site = folder / "source", folder / "site"
    source.mkdir()
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, source / name)
    shutil.copytree(
        ROOT / "lectures_lib", source / "lectures_lib", ignore=shutil.ignore_patterns("__pycache__")
    )
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--target",
        site,
        source,
    ]
    subprocess.run(pip, check=True, capture_output=True)
    return site


class KernelAlone(RunningKernel):
    """A kernel in a folder that holds the notebook and nothing else."""

    def __init__(self, kernel_name: str, notebook: Path, startup_timeout: float):
        self.folder = Path(tempfile.mkdtemp(prefix="alone-"))
        shutil.copy(notebook, self.folder)
        env = {**os.environ, "PYTHONPATH": str(installed())}
        self.km, self.kc = start_new_kernel(
            startup_timeout, kernel_name, stderr=subprocess.DEVNULL, cwd=str(self.folder), env=env
        )
        self._ensure_iopub_up()

    def stop(self) -> None:
        """End the kernel and remove its folder."""
        super().stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class Notebook(nbval.plugin.IPyNbFile):
    """A notebook; its items are its code cells and, last, what it leaves behind."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        # As nbval does with PNG: a picture is drawn of numbers, and numbers are compared where they
        # are printed, within the tolerance that a cell declares.
        self.skip_compare = (*self.skip_compare, "image/svg+xml")

    def setup(self) -> None:
        """Start the kernel."""
        name = (
            nbval.plugin.CURRENT_ENV_KERNEL_NAME
            if self.config.option.nbval_current_env
            else "python3"
        )
        self.kernel = KernelAlone(name, self.path, SECONDS_FOR_A_MESSAGE)
        self.setup_sanitize_files()

    def collect(self) -> Iterator[pytest.Item]:
        """The code cells, and the look at what is left."""
        for cell in super().collect():
            yield Cell.from_parent(
                self, name=cell.name, cell_num=cell.cell_num, cell=cell.cell, options=cell.options
            )
        yield LeftBehind.from_parent(self, name="leaves nothing behind")


class Cell(nbval.plugin.IPyNbCell):
    """A code cell; its fresh outputs must be those that are stored."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.output_timeout = SECONDS_FOR_A_MESSAGE
        self.config.option.nbval_cell_timeout = SECONDS_PER_CELL

    def runtest(self) -> None:
        """Run the cell; the set-up cell again, as readers do."""
        if self.cell.source.strip() and self.cell.execution_count is None:
            self.raise_cell_error(
                "This cell was never executed, there is nothing to compare with: `make notebooks`"
            )
        super().runtest()
        if "setup" in self.cell.metadata.get("tags", []):
            super().runtest()

    def compare_outputs(
        self, test: list[NotebookNode], ref: list[NotebookNode], skip_compare=None
    ) -> bool:
        """nbval's comparison; before it, texts that are the same within the cell's tolerance are
        made the same.
        """
        within = tolerance(self.cell.metadata.get("tags", []))
        if within and len(test) == len(ref):
            test = [
                _settled(fresh, stored, within) for fresh, stored in zip(test, ref, strict=True)
            ]
        same_outputs = super().compare_outputs(test, ref, skip_compare)
        if not same_outputs:  # nbval says that something was on stderr, and not what
            self.comparison_traceback.extend(_complaints(test))
        return same_outputs


def _settled(fresh: NotebookNode, stored: NotebookNode, within: dict[str, float]) -> NotebookNode:
    """The fresh output, with the stored text wherever that is the same within the tolerance."""
    fresh = copy.deepcopy(fresh)
    for new, old in ((fresh, stored), (fresh.get("data", {}), stored.get("data", {}))):
        for key in ("text", "text/plain", "text/html", "text/markdown"):
            if key in new and key in old and same(old[key], new[key], **within):
                new[key] = old[key]
    return fresh


def _complaints(outputs: list[NotebookNode]) -> list[str]:
    """What the cell wrote to stderr, line by line."""
    said = [o["text"] for o in outputs if o["output_type"] == "stream" and o["name"] == "stderr"]
    return [f"stderr: {line}" for text in said for line in text.splitlines()]


class LeftBehind(pytest.Item):
    """After the last cell: the memory, the folder, the library that was imported."""

    def runtest(self) -> None:
        """Ask the kernel."""
        kernel = self.parent.kernel
        if not kernel.is_alive():
            pytest.fail("the kernel died before the end", pytrace=False)
        said = []
        kernel.kc.execute_interactive(
            REPORT,
            store_history=False,
            allow_stdin=False,
            timeout=SECONDS_FOR_A_MESSAGE,
            output_hook=lambda m: said.append(m["content"]),
        )
        text = "".join(content.get("text", "") for content in said)
        path, megabytes, names = _reported(text)
        assert Path(path).is_relative_to(installed()), (
            f"the notebook imported another copy of the library: {path}"
        )
        assert megabytes < GIGABYTES * 1024, f"the notebook took {megabytes} MB"
        assert names == [self.path.name], f"the notebook left files behind: {names}"

    def reportinfo(self):
        """Where it is, for pytest's report."""
        return self.path, 0, f"{self.path.name}::{self.name}"


def _reported(text: str) -> tuple[str, int, list[str]]:
    """What the report printed; what an earlier cell's threads still had to say may come first."""
    return json.loads(text.strip().splitlines()[-1])


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Iterator[None]:
    """Wherever nbval finds a notebook, it is ours."""
    found = yield
    return [
        Notebook.from_parent(parent, path=file_path)
        if isinstance(one, nbval.plugin.IPyNbFile)
        else one
        for one in found
    ]


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the installed package."""
    if installed.cache_info().currsize:
        shutil.rmtree(installed().parent, ignore_errors=True)
