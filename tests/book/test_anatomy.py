"""What every chapter does with its reader: it asks her to predict before it shows, and gives her
something to build at the end.
"""

import re
import sys
from pathlib import Path

import jupytext
import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book" / "_ext"))
import chapters  # noqa: E402

CHAPTERS = sorted((ROOT / "notebooks").glob("[0-9]*.py"))
PREDICTION = re.compile(
    r"\*\*Predict\.\*\* .+\n\n<details><summary>Answer</summary>\n\n(.+?)\n\n</details>", re.DOTALL
)


def cells(path):
    return jupytext.read(path).cells


def predictions(path):
    """(the question's cell, the cell behind it)."""
    found = cells(path)
    return [
        (cell, after)
        for cell, after in zip(found, [*found[1:], None], strict=True)
        if "**Predict.**" in cell.source
    ]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_at_least_four_results_are_predicted_before_they_are_seen(chapter):
    asked = predictions(chapter)
    assert len(asked) >= 4
    for cell, after in asked:
        assert cell.cell_type == "markdown" and PREDICTION.fullmatch(cell.source), cell.source[:200]
        assert after is not None and after.cell_type == "code", (
            f"no result follows: {cell.source[:100]}"
        )


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_details_are_written_so_that_colab_and_the_site_read_what_is_in_them(chapter):
    """A blank line behind the opening tag and before the closing one: else formulas and emphasis
    stay as typed.
    """
    for cell in cells(chapter):
        if cell.cell_type == "markdown" and "<details" in cell.source:
            opened, closed = (cell.source.count(tag) for tag in ("<details", "</details>"))
            assert opened == len(
                re.findall(r"<details><summary>[^<\n]+</summary>\n\n", cell.source)
            )
            assert closed == opened == len(re.findall(r"\n\n</details>(?:\n|$)", cell.source))


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_the_chapters_that_one_needs_are_one_list(chapter):
    """The line below the title quotes it: of "5, 8 for the loop and 12" it would take "5, 8"."""
    prose = " ".join(c.source for c in cells(chapter) if c.cell_type == "markdown")
    words = " ".join(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", prose.replace("**", "")).split())
    found = chapters.NEEDS.search(words)
    assert not found or "," not in found[1] or " and " in found[1]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_exercises_have_solutions_that_run(chapter):
    found = cells(chapter)
    (start,) = [
        i for i, cell in enumerate(found) if re.search(r"^## Exercises$", cell.source, re.MULTILINE)
    ]
    end = next(
        i for i in range(start + 1, len(found)) if re.search(r"^## ", found[i].source, re.MULTILINE)
    )
    solutions = [cell for cell in found[start:end] if cell.cell_type == "code"]
    assert 3 <= len(solutions) <= 5
    for number, cell in enumerate(solutions, start=1):
        assert cell.source.startswith(f"# Solution {number}"), cell.source[:60]
        assert "hide-cell" in cell.metadata["tags"]


FOLDED = {"hide-input", "hide-cell", "remove-input", "remove-cell"}
FOR_THE_PAGE = re.compile(
    r"^\s*assert\b|\bplt\.|\bplots\.|\bsource\.show\(|\bAttentionViewer\(", re.M
)


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_code_that_is_shown_is_about_the_subject(chapter):
    """What checks, draws or lists stands in cells that are folded."""
    shown = [
        cell.source
        for cell in cells(chapter)
        if cell.cell_type == "code" and not FOLDED & set(cell.metadata.get("tags", []))
    ]
    assert shown
    assert [code for code in shown if FOR_THE_PAGE.search(code)] == []


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_what_a_page_shows_of_the_library_fits_the_page(chapter):
    """88 columns, as the cells have; the library itself has 100."""
    notebook = nbformat.read(chapter.with_suffix(".ipynb"), 4)
    shown = [
        output.data["text/markdown"]
        for cell in notebook.cells
        if cell.cell_type == "code" and "source.show(" in cell.source
        for output in cell.outputs
        if "text/markdown" in output.get("data", {})
    ]
    lines = [line for text in shown for line in text.split("\n") if not line.startswith("[")]
    assert [line for line in lines if len(line) > 88] == []


# Visible cells that are longer than a screen, by what they define first: each is what its chapter is
# about. What only makes data, measures or sets a training up is folded (`hide-input`).
LONG = {
    *("MultiHeadAttention", "count_pairs", "next_token_loss", "ViT", "class_loss", "Probe"),
    "small_cnn",
}


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_a_cell_longer_than_a_screen_is_about_the_subject(chapter):
    for cell in cells(chapter):
        tags = {"setup"} | FOLDED
        if cell.cell_type != "code" or tags & set(cell.metadata.get("tags", [])):
            continue
        if cell.source.count("\n") >= 40:
            first = re.search(r"^(?:class|def) (\w+)", cell.source, re.M)
            assert first and first[1] in LONG, cell.source[:80]
