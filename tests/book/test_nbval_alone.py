"""What stands between a stored output and the reader: the plugin that runs the notebooks can fail,
and for the right reason.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tools.nbval_alone import REPORT, same, tolerance

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("stored", "fresh", "alike"),
    [
        ("accuracy 0.93", "accuracy 0.95", True),
        ("accuracy 0.93", "accuracy 0.99", False),
        ("accuracy 0.93", "accuracy 0.93 of 10", False),
        ("accuracy 0.93 0.94", "accuracy 0.93", False),
        ("accuracy 0.93", "precision 0.93", False),
        ("accuracy 0.93", "", False),
        ("loss  9.98\nloss 10.02", "loss 10.01\nloss 10.00", True),
        ("-0.50", "0.50", False),
        ("− 0.50", "-0.51", True),
        ("1,234.5 steps", "1,250 steps", True),
        ("1,234.5 steps", "1,350 steps", False),
        ("loss nan", "loss 0.5", False),
        ("loss 0.5", "loss nan", False),
        ("3e-4", "3.1e-4", True),
        ("3e-4", "3e-3", False),
        ("ViT-B16 0.9", "ViT-B32 0.9", False),
        ("conv2d 1.0", "conv3d 1.0", False),
        ("1234ms", "1234ms", True),
        ("1234ms", "1244ms", False),
        ("the 10th of 3.5", "the 10th of 3.6", True),
        ("1,234ms", "1,244ms", False),
        ("100.5s", "101.5s", False),
        ("torch 2.10.0", "torch 2.11.0", False),
        ("It falls to 3.52.", "It falls to 3.55.", True),
        ("(1,2,3.0)", "(1,2,3.1)", True),
    ],
)
def test_words_equal_and_numbers_close(stored, fresh, alike):
    assert same(stored, fresh, rtol=0.05, atol=0.0) is alike


def test_a_tolerance_is_declared_by_tags():
    assert tolerance(["hide-input"]) is None
    assert tolerance(["rtol=0.05", "hide-input"]) == {"rtol": 0.05, "atol": 0.0}
    assert tolerance(["atol=2", "rtol=1e-3"]) == {"rtol": 1e-3, "atol": 2.0}
    for tag in ("rtol=much", "atol=-1", "rtol=nan", "atol=0", "rtol=inf"):
        with pytest.raises(ValueError, match=tag):
            tolerance([tag])


SVG = "<svg><g/></svg>"  # stored as a picture
# Name: source, what is stored, the cell's tags, whether it must pass.
CELLS = {
    "the set-up runs twice": ("n = globals().get('n', 0) + 1", "", ["setup"], True),
    "and did": ("print(n)", "2\n", [], True),
    "equal": ("print('loss', 0.5)", "loss 0.5\n", [], True),
    "close, but no tolerance": ("print('loss', 0.5)", "loss 0.51\n", [], False),
    "close enough": ("print('loss', 0.5)", "loss 0.51\n", ["rtol=0.05"], True),
    "beyond its tolerance": ("print('loss', 0.5)", "loss 0.6\n", ["rtol=0.05"], False),
    "a number missing": ("print('loss')", "loss 0.5\n", ["rtol=0.05"], False),
    "another word": ("print('lose', 0.5)", "loss 0.5\n", ["rtol=0.05"], False),
    "no output any more": ("0;", "loss 0.5\n", ["rtol=0.05"], False),
    "a value, not a print": ("0.5", None, ["atol=0.2"], True),
    "stripped": ("print('loss', 0.5)", "stripped", [], False),
    "another picture": ("from IPython.display import SVG; display(SVG('<svg/>'))", SVG, [], True),
    "no picture any more": ("0;", SVG, [], False),
    "an error": ("1 / 0", "", [], False),
    "a warning": ("import sys; print('no such font', file=sys.stderr)", "", [], False),
}


def _cell(source: str, stored: str | None, tags: list[str]) -> nbformat.NotebookNode:
    cell = nbformat.v4.new_code_cell(source, metadata={"tags": tags}, execution_count=1)
    if stored == SVG:
        data = {"image/svg+xml": SVG, "text/plain": "<IPython.core.display.SVG object>"}
        cell.outputs = [nbformat.v4.new_output("display_data", data=data)]
    elif stored is None:
        cell.outputs = [
            nbformat.v4.new_output("execute_result", data={"text/plain": "0.4"}, execution_count=1)
        ]
    elif stored == "stripped":
        cell.execution_count = None
    elif stored:
        cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=stored)]
    return cell


# What a notebook's only cell leaves behind, and what is said of it.
LEAVE = {
    "a_file": (
        "open('weights.bin', 'w').close()",
        "left files behind: ['a_file.ipynb', 'weights.bin']",
    ),
    "memory": ("import torch; x = torch.ones(3 * 2**28); del x", "MB"),
    "another_copy": (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})",
        "another copy of the library",
    ),
}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What pytest prints of one run over all of these notebooks."""
    folder = tmp_path_factory.mktemp("notebooks")
    notebooks = {name: [_cell(source, "", [])] for name, (source, _) in LEAVE.items()}
    notebooks["cells"] = [_cell(*cell[:3]) for cell in CELLS.values()]
    for name, cells in notebooks.items():
        nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / f"{name}.ipynb")
    here = [
        f"--rootdir={ROOT}",
        f"--config-file={ROOT / 'pyproject.toml'}",
        "-p",
        "no:cacheprovider",
        "--color=no",
        "-rA",
        "-q",
    ]
    run = [sys.executable, "-m", "pytest", *here, "--nbval", "--nbval-current-env", str(folder)]
    env = {**os.environ, "COLUMNS": "1000"}  # nothing is cut off
    return subprocess.run(run, cwd=ROOT, env=env, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def verdicts(said):
    """{notebook: {item: (PASSED or FAILED, what is said of it)}}."""
    found = {name: {} for name in [*LEAVE, "cells"]}
    line = re.compile(
        r"^(PASSED|FAILED) (?:\S*/)?(\w+)\.ipynb::(Cell \d+|leaves nothing behind)(.*)",
        re.MULTILINE,
    )
    for verdict, name, item, words in line.findall(said):
        found[name][item] = verdict, words
    assert all(found.values()), said[-3000:]
    return found


def test_a_cell_is_red_where_it_should_be(verdicts):
    wanted = {
        f"Cell {i}": "PASSED" if passes else "FAILED"
        for i, (*_, passes) in enumerate(CELLS.values())
    }
    found = {item: verdict for item, (verdict, _) in verdicts["cells"].items()}
    assert found == {**wanted, "leaves nothing behind": "PASSED"}, verdicts["cells"]


def test_a_warning_is_told_in_its_own_words(said):
    assert "\nstderr: no such font\n" in said


@pytest.mark.parametrize("name", LEAVE)
def test_what_is_left_behind_is_seen(name, verdicts):
    assert verdicts[name]["Cell 0"][0] == "PASSED"
    verdict, words = verdicts[name]["leaves nothing behind"]
    assert verdict == "FAILED"
    assert LEAVE[name][1] in words


def test_the_memory_is_the_notebooks_own_not_that_of_who_started_it(tmp_path):
    """pytest, which starts the kernels, had 2109 MB one day, and ten small notebooks were red."""
    starter = (
        "import subprocess, sys; held = b'x' * (6 << 28);"
        f"print(subprocess.check_output([sys.executable, '-c', {REPORT!r}], text=True))"
    )
    said = subprocess.check_output([sys.executable, "-c", starter], cwd=tmp_path, text=True)
    _, megabytes, _ = json.loads(said)
    assert 50 < megabytes < 1024  # not 1.5 GB
