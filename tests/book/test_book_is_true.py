"""What the book says of itself: quoted numbers, twins, set-up cells, one repository address, titles
of the chapters' modules.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
import pytest

from lectures_lib import results
from lectures_lib.show import source

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import fork  # noqa: E402

import notebooks  # noqa: E402

TWINS = notebooks.twins()
PAGES = sorted(
    [
        *(*TWINS, ROOT / "README.md"),
        *(page for room in ("", "results/", "your_own/") for page in ROOT.glob(f"book/{room}*.md")),
    ]
)
PUBLISHED_RESULTS = sorted((ROOT / "book" / "results").glob("*.json"))


def prose(page):
    """The text of a page, or of a notebook's text cells."""
    if page.suffix == ".md":
        return page.read_text(encoding="utf-8")
    return "\n\n".join(
        cell.source for cell in jupytext.read(page).cells if cell.cell_type == "markdown"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_quoted_numbers_are_those_of_the_results_files(page):
    assert results.wrong_quotes(prose(page)) == []
    markers = re.findall(r"<!--\s+\w+:\s", prose(page))
    assert len(markers) == len(results.QUOTE.findall(prose(page))), (
        "a marker has no number before it, or is misspelt"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_no_line_of_prose_begins_with_a_percent_sign(page):
    """Markdown on the site takes such a line for a comment and leaves it out."""
    assert [line for line in prose(page).splitlines() if line.startswith("%")] == []


def test_numbers_are_quoted_at_all():
    assert sum(len(results.QUOTE.findall(prose(page))) for page in PAGES) >= 10


@pytest.mark.parametrize("path", PUBLISHED_RESULTS, ids=lambda path: path.stem)
def test_results_say_how_they_were_measured(path):
    record = results.load(path.stem)
    assert {
        "title",
        "command",
        "date",
        "commit",
        "device",
        "versions",
        "seeds",
        "results",
    } <= record.keys()
    script = record["command"].split()[1]
    assert (ROOT / script).exists(), f"{path.name} was written by {script}, which is not there"


def test_every_chapter_was_measured_and_none_that_is_gone():
    """benchmarks/chapters.py: a page that was divided in two is two rows."""
    measured = results.load("chapters")["results"]["by_chapter"]
    chapters = [twin.stem for twin in TWINS if twin.parent.name == "notebooks"]
    assert sorted(measured) == sorted(chapters)


@pytest.mark.parametrize("twin", TWINS, ids=lambda path: path.stem)
def test_a_notebook_equals_its_twin(twin):
    assert notebooks.differences(twin) == []


@pytest.mark.parametrize("twin", TWINS, ids=lambda path: path.stem)
def test_every_output_is_stored(twin):
    """nbval compares what is stored; a notebook stripped of its outputs would have nothing to
    compare.
    """
    notebook = nbformat.read(twin.with_suffix(".ipynb"), as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    silent = [
        cell for cell in code if not cell.outputs and "setup" not in cell.metadata.get("tags", [])
    ]
    assert len(silent) <= len(code) / 2
    assert not [cell for cell in code for output in cell.outputs if output.output_type == "error"]


@pytest.fixture
def chapter_copy(tmp_path):
    """The first chapter and its twin in a folder of their own, to be broken."""
    folder = tmp_path / "notebooks"
    folder.mkdir()
    for suffix in (".py", ".ipynb"):
        shutil.copy(TWINS[0].with_suffix(suffix), folder)
    return folder / TWINS[0].name


def test_an_edited_twin_is_noticed(chapter_copy, monkeypatch):
    monkeypatch.setattr(notebooks, "ROOT", chapter_copy.parent.parent)
    monkeypatch.setattr(notebooks, "repository", source.repository)
    assert notebooks.differences(chapter_copy) == []
    chapter_copy.write_text(chapter_copy.read_text().replace("import math", "import math as m"))
    assert len(notebooks.differences(chapter_copy)) == 1
    notebook = jupytext.read(chapter_copy)
    notebook.cells.pop()
    jupytext.write(notebook, chapter_copy, fmt="py:percent")
    assert any("cells, the notebook" in line for line in notebooks.differences(chapter_copy))


def test_an_edited_setup_cell_is_noticed(chapter_copy, monkeypatch):
    monkeypatch.setattr(notebooks, "ROOT", chapter_copy.parent.parent)
    monkeypatch.setattr(notebooks, "repository", lambda: "https://github.com/somebody/else")
    assert any("set-up cell" in line for line in notebooks.differences(chapter_copy))


def test_the_package_names_the_repository_that_the_configuration_names():
    assert source.repository() == notebooks.repository()


@pytest.mark.parametrize(
    ("old", "new", "becomes"),
    [
        ("ann/book", "Bob/notes", "bob.github.io/notes https://github.com/Bob/notes"),
        ("ann/book", "bob/bob.github.io", "bob.github.io https://github.com/bob/bob.github.io"),
        ("ann/ann.github.io", "bob/notes", "bob.github.io/notes https://github.com/bob/notes"),
        (
            "ann/Ann.github.io",
            "Bob/Bob.github.io",
            "bob.github.io https://github.com/Bob/Bob.github.io",
        ),
    ],
)
def test_a_site_of_ones_own_stands_at_the_top(tmp_path, old, new, becomes):
    """GitHub publishes owner/owner.github.io at owner.github.io itself."""
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    page = tmp_path / "page.md"
    page.write_text(f"{fork.pages(old)} https://github.com/{old}", encoding="utf-8")
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    assert fork.rewrite(tmp_path, old, new) == ["page.md"]
    assert page.read_text(encoding="utf-8") == becomes


def test_a_longer_name_is_anothers(tmp_path):
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    page = tmp_path / "page.md"
    page.write_text(
        "ann/book-data, ann/books, (ann/book), ann/book.git. ann/book", encoding="utf-8"
    )
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    fork.rewrite(tmp_path, "ann/book", "bob/notes")
    becomes = "ann/book-data, ann/books, (bob/notes), bob/notes.git. bob/notes"
    assert page.read_text(encoding="utf-8") == becomes


def test_words_are_taken_over_without_running_and_code_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    twin = tmp_path / "notebooks" / TWINS[1].name
    twin.parent.mkdir()
    for path in (TWINS[1], TWINS[1].with_suffix(".ipynb")):
        shutil.copy(path, twin.parent)
    shutil.copy(ROOT / "_config.yml", tmp_path)
    before = nbformat.read(twin.with_suffix(".ipynb"), as_version=4)
    text = twin.read_text(encoding="utf-8")
    twin.write_text(text + "\n# %% [markdown]\n# One more thought.\n", encoding="utf-8")
    assert notebooks.differences(twin) and "nothing was executed" in notebooks.prose(twin)
    assert not notebooks.differences(twin)
    after = nbformat.read(twin.with_suffix(".ipynb"), as_version=4)
    assert after.cells[-1].source == "One more thought."
    assert [cell.get("outputs") for cell in after.cells[:-1]] == [
        cell.get("outputs") for cell in before.cells
    ]
    twin.write_text(text + "\n# %%\n1 + 1\n", encoding="utf-8")
    assert "must run it" in notebooks.prose(twin)
    assert nbformat.read(twin.with_suffix(".ipynb"), as_version=4) == after


def test_a_fork_needs_one_command(tmp_path):
    """In a copy of the tracked files, every address becomes the fork's, and the twins stay
    twins.
    """
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    for name in filter(None, tracked):
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
    old, new = fork.current(tmp_path), "jane-doe/" + "nlp-2027"  # not in this file as a whole
    changed = fork.rewrite(tmp_path, old, new)
    assert {"_config.yml", "pyproject.toml", "README.md"} <= set(changed)
    assert fork.current(tmp_path) == new
    clone = re.search(r"git clone \S+ (\S+) && cd (\S+)", (tmp_path / "README.md").read_text())
    assert clone and clone[1] == clone[2], "the README's commands lead into no folder"
    left = subprocess.run(
        ["git", "grep", "-lI", old], cwd=tmp_path, capture_output=True, text=True
    ).stdout
    assert left == ""
    check = subprocess.run(
        [sys.executable, "tools/notebooks.py", "check"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert check.returncode == 0, check.stderr
    rule = re.search(r"^fork:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    assert re.search(r"fork\.py.*\n.*\bsetup\b", rule), (
        "the installed package keeps the old address"
    )
    fork.rewrite(tmp_path, new, old)
    back = subprocess.run(["git", "diff", "--stat"], cwd=tmp_path, capture_output=True, text=True)
    assert back.stdout == "", (
        "with its old addresses a fork is not what it was: it cannot be merged"
    )
