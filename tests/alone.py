"""A notebook as Colab runs it: the .ipynb alone in an empty folder, the package installed from the repository.

The tests are in several files because a file is what one of two processes takes.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS, SOLUTIONS = (sorted(ROOT.glob(f"{folder}/*.ipynb")) for folder in ("notebooks", "solutions"))
GIGABYTES = 2
REPORT = """
import resource, sys
print("library:", lectures_lib.__file__)
print("peak:", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, "MB")
"""


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """A folder with the package as pip installs it from the repository's tracked files, package data included."""
    copy, site = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("site")
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, copy / name)
    shutil.copytree(ROOT / "lectures_lib", copy / "lectures_lib", ignore=shutil.ignore_patterns("__pycache__"))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target", site, copy]
    subprocess.run(pip, check=True, capture_output=True)
    return site


def alone(notebook: Path, folder: Path) -> Path:
    """The notebook copied into a folder, its set-up cell doubled, with a last cell that reports."""
    copy = nbformat.read(notebook, as_version=4)
    setup = next(i for i, cell in enumerate(copy.cells) if "setup" in cell.metadata.get("tags", []))
    copy.cells.insert(setup + 1, nbformat.v4.new_code_cell(copy.cells[setup].source))
    copy.cells.append(nbformat.v4.new_code_cell(REPORT))
    nbformat.write(copy, folder / notebook.name)
    return folder / notebook.name


def each(notebooks: list[Path]) -> pytest.MarkDecorator:
    """The test, once for each of these."""
    return pytest.mark.parametrize("notebook", notebooks, ids=lambda path: path.stem)


def run_alone(notebook: Path, installed: Path, tmp_path: Path) -> None:
    """Run it to its end, within its memory."""
    copy = alone(notebook, tmp_path)
    env = {**os.environ, "PYTHONPATH": str(installed)}
    run = [sys.executable, "-m", "jupyter", "execute", "--inplace", "--timeout=300", copy.name]
    done = subprocess.run(run, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    # What an earlier cell's threads still have to say may come first.
    report = "".join(output.get("text", "") for output in nbformat.read(copy, as_version=4).cells[-1].outputs)
    assert str(installed) in report, "the notebook used another copy of the library"
    peak = int(report.split("peak:")[1].split()[0])
    print(f"{notebook.stem}: peak {peak} MB")
    assert peak < GIGABYTES * 1024
    assert [path.name for path in tmp_path.iterdir()] == [copy.name], "a notebook leaves nothing behind"
