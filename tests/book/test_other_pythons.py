"""What a chapter says of Python's manual must hold with the manual of another Python: every
notebook that reads it, with other texts in its place.

python -m pytest tests/book/test_other_pythons.py -m long -k "3.13 and 07b"

An interpreter that is not on the PATH is named in OTHER_PYTHONS (several: with colons between).
"""

import json
import os
import re
import subprocess
import sys
import zlib
from functools import cache
from pathlib import Path

import nbformat
import pytest

from lectures_lib.data import manual

ROOT = Path(__file__).resolve().parents[2]
TWINS = sorted([*ROOT.glob("notebooks/[0-9]*.py"), *ROOT.glob("solutions/hw*.py")])
READS = re.compile(r'python_manual|manual_documents|load\("(?:pretraining|language_model)"')
READERS = [twin for twin in TWINS if READS.search(twin.read_text(encoding="utf-8"))]
VERSIONS = ("3.11", "3.12", "3.13")
# Other texts of the interpreter's, which nothing here could exchange.
OWN_TEXT = re.compile(r"pydoc|__doc__|getdoc|\bhelp\(|sysconfig|sys\.version")
# The module of the library alone: the package's own imports need torch, which another interpreter
# need not have.
TELL = """
import json, sys, types
for name in ("lectures_lib", "lectures_lib.data"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [name.replace(".", "/")]
from lectures_lib.data.manual import _without_repetition
version = ".".join(map(str, sys.version_info[:2]))
print(json.dumps([version, [_without_repetition(False), _without_repetition(True)]]))
"""
# At the end of the set-up cell, which may run twice.
EXCHANGE = """
import json, pathlib
from lectures_lib.data import manual
texts = json.loads(pathlib.Path({path!r}).read_text(encoding="utf-8"))
manual._without_repetition = lambda docstrings: texts[docstrings]
"""


def ours() -> list[dict[str, str]]:
    """The manual of this interpreter by the name of its texts, without docstrings and with them."""
    return [manual._without_repetition(docstrings) for docstrings in (False, True)]


def shortened(texts: dict[str, str], rest: int) -> dict[str, str]:
    """Without every tenth paragraph: versions differ by about as much."""
    kept = {
        name: "\n\n".join(p for p in text.split("\n\n") if zlib.crc32(p.encode()) % 10 != rest)
        for name, text in texts.items()
    }
    return {name: text for name, text in kept.items() if text}


@cache
def others() -> dict[str, list[dict[str, str]]]:
    """The manuals of the other interpreters that are here, by version."""
    named = [path for path in os.environ.get("OTHER_PYTHONS", "").split(os.pathsep) if path]
    names = ("python3", *(f"python{version}" for version in VERSIONS))
    found = [str(Path(folder, name)) for folder in os.get_exec_path() for name in names]
    told = {}
    for python in [*named, *filter(os.path.exists, found)]:
        done = subprocess.run([python, "-c", TELL], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0 or python not in named, f"{python}: {done.stderr}"
        if done.returncode == 0:
            version, texts = json.loads(done.stdout)
            if texts != ours():
                told.setdefault(version, texts)
    return told


def with_manual(notebook: Path, texts: list[dict[str, str]], folder: Path) -> Path:
    """A copy of a notebook whose set-up cell puts these texts in the manual's place."""
    path = folder / "texts.json"
    path.write_text(json.dumps(texts), encoding="utf-8")
    changed = nbformat.read(notebook, as_version=4)
    setup = next(cell for cell in changed.cells if "setup" in cell.metadata.get("tags", []))
    setup.source += EXCHANGE.format(path=str(path))
    nbformat.write(changed, folder / notebook.name)
    return folder / notebook.name


def run(notebook: Path) -> subprocess.CompletedProcess:
    """The notebook as `make test` runs it."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n0"]
    command += ["-c", "pyproject.toml", f"--rootdir={ROOT}", "--nbval", "--nbval-current-env"]
    return subprocess.run([*command, str(notebook)], cwd=ROOT, capture_output=True, text=True)


def told_of(other: str) -> list[dict[str, str]]:
    """The texts that go by this name; a version whose interpreter is not here is skipped."""
    if other not in VERSIONS:
        return [shortened(texts, int(other[-1])) for texts in ours()]
    if other not in others():
        pytest.skip(f"no Python {other} with another manual than this one's: see OTHER_PYTHONS")
    return others()[other]


def holds(twin: Path, other: str, folder: Path) -> None:
    done = run(with_manual(twin.with_suffix(".ipynb"), told_of(other), folder))
    assert done.returncode == 0, f"with the manual {other}:\n{done.stdout[-5000:]}"


@pytest.mark.long
@pytest.mark.parametrize("twin", READERS, ids=lambda path: path.stem)
@pytest.mark.parametrize("other", ["shortened-0", "shortened-5", *VERSIONS])
def test_chapters_hold(other, twin, tmp_path):
    holds(twin, other, tmp_path)


def test_the_chapter_of_single_merges_holds(tmp_path):
    """The quickest of them, and the one that shows single words: tried at every change."""
    holds(ROOT / "notebooks" / "07b_wordpiece.py", "shortened-5", tmp_path)


def test_the_texts_reach_a_notebook(tmp_path):
    """Texts that did not would leave every chapter as it is, and the tests above could not fail."""
    texts = [{"a": "One text."}, {"a": "One text.", "b": "And another."}]
    printed = nbformat.v4.new_output("stream", name="stdout", text="One text. And another.\n")
    setup = nbformat.v4.new_code_cell(
        "import lectures_lib", execution_count=1, metadata={"tags": ["setup"]}
    )
    ask = nbformat.v4.new_code_cell(
        "from lectures_lib import data\n"
        "found = {t: None for s in data.SPLITS for t in data.load('language_model', s)}\n"
        "print(*sorted(found, reverse=True))",
        execution_count=2,
        outputs=[printed],
    )
    path = tmp_path / "made_up.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[setup, ask]), path)
    done = run(with_manual(path, texts, tmp_path))
    assert done.returncode == 0, done.stdout


def test_chapters_read_no_other_text_of_the_interpreters():
    assert {twin.stem[:3].rstrip("_") for twin in READERS} >= {"07", "07b", "09", "10", "13", "15"}
    for twin in TWINS:
        notebook = nbformat.read(twin.with_suffix(".ipynb"), as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "code" and "setup" not in cell.metadata.get("tags", []):
                assert not OWN_TEXT.search(cell.source), f"{twin.stem}:\n{cell.source}"
