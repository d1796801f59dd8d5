"""What the page between chapters 13 and 14 says, held against the files of results and against the
chapters that it speaks of.
"""

import ast
import re
from pathlib import Path

import jupytext
import nbformat
import numpy as np
import pytest
from scipy import stats

from lectures_lib import results
from lectures_lib.metrics import sign_test

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "notebooks" / "13b_how_sure.py"
CELLS = jupytext.read(PAGE).cells
PROSE = re.sub(r"\s+", " ", " ".join(c.source for c in CELLS if c.cell_type == "markdown"))


def written(name):
    """What a cell of the page assigns to this name: a plain value."""
    for cell in CELLS:
        if cell.cell_type == "code" and f"{name} = " in cell.source:
            for node in ast.parse(cell.source).body:
                if isinstance(node, ast.Assign) and node.targets[0].id == name:
                    return ast.literal_eval(node.value)
    raise LookupError(name)


@pytest.mark.parametrize(
    ("task", "name", "key"),
    [
        ("SST-2", "fine_tuning_sst2", "fine_tuned"),
        ("RTE", "fine_tuning_rte", "fine_tuned"),
        ("our sentiment", "fine_tuning_small", "sentiment/test"),
    ],
)
def test_seeds_are_those_of_the_results(task, name, key):
    record = results.load(name)["results"]
    values, asked = written("SEEDS")[task]
    held = record
    for step in (*key.split("/"), "accuracy", "values"):
        held = held[step]
    assert values == [round(value, 4) for value in held]
    assert asked == record.get("n_asked", 80)


def test_cola_is_that_of_the_results():
    names = ["majority", "bag_of_words", "frozen", "fine_tuned"]
    for (accuracy, matthews), name in zip(written("COLA").values(), names, strict=True):
        mean = "/mean" if name == "fine_tuned" else ""
        for said, measure, digits in ((accuracy, "accuracy", 3), (matthews, "matthews", 2)):
            held = results.value("fine_tuning_cola", f"{name}/{measure}{mean}")
            assert said == round(held, digits)


def test_the_search_of_one_edition_adds_up():
    """34 of 46 against 26, and 13 against 5 where only one is right, can be true together; the
    chapter's own counts change with the book.
    """
    assert "for 34 of 46 questions and a search by words for 26" in PROSE
    assert "Thirteen questions only the first got right, five only the second: pair B" in PROSE
    assert "found 34 of 46, words 26. Of 18 disagreements it won 13" in PROSE
    assert 34 - 13 == 26 - 5
    assert f"{sign_test(13, 5):.1f}" == "0.1" and "coins are as uneven one time in ten" in PROSE


def test_chapter_17b_still_counts_so():
    notebook = nbformat.read(ROOT / "notebooks" / "17b_searching.ipynb", 4)
    text = "".join(o.get("text", "") for c in notebook.cells for o in c.get("outputs", []))
    asked, alone = (
        re.search(r"of (\d+) questions, a right chapter comes", text)[1],
        re.search(
            r"only all of MiniLM is right: (\d+) questions, only counted words: (\d+)", text
        ).groups(),
    )
    assert asked == "46" and int(alone[0]) > int(alone[1])


def test_the_best_of_five_and_of_ten():
    """Means of the largest of five and of ten draws, in standard deviations."""
    x = np.linspace(-8, 8, 20_001)
    for k, said in ((5, "1.2"), (10, "1.5")):
        density = k * stats.norm.cdf(x) ** (k - 1) * stats.norm.pdf(x)
        assert f"{(x * density).sum() * (x[1] - x[0]):.1f}" == said
    assert "the best of five is on average 1.2 standard deviations above" in PROSE.lower()
    assert "the best of ten 1.5" in PROSE
