"""What is said of other seeds is measured, and what a page asserts holds with another seed: the
script that runs chapters again, the report of their assertions, and every notebook with one.

python -m pytest tests/book/test_other_seeds.py -m long -k 09b
"""

import sys
from pathlib import Path

import jupytext
import pytest

from lectures_lib import results

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "experiments")]
import margins  # noqa: E402
import other_seeds  # noqa: E402

TWINS = sorted([*ROOT.glob("notebooks/[0-9]*.py"), *ROOT.glob("solutions/*.py")])
ANOTHER = "here:1:2"  # instruction set, threads, seed
TWO_CELLS = """# %%
import torch

torch.manual_seed(0)
drawn = torch.randint(1000, (3,))

# %%
doubled = 2 * drawn
"""


@pytest.fixture
def chapter(tmp_path):
    """A function that writes a chapter of the given text, in the percent format."""

    def written(text=TWO_CELLS):
        path = tmp_path / "99_made_up.py"
        path.write_text(text, encoding="utf-8")
        return path

    return written


def drawn(seed):
    import torch

    return torch.randint(1000, (3,), generator=torch.Generator().manual_seed(seed)).tolist()


def test_a_chapter_is_measured_with_other_seeds_and_not_again(chapter, tmp_path, monkeypatch):
    twin, folder = chapter(), tmp_path / "kept"
    asked = {"sum": "doubled.sum()", "all": "drawn.tolist()"}
    told = {"until": "doubled =", "seeds": [1, 2], "asked": asked}
    found = other_seeds.of_chapter(twin, told, folder)
    assert found["all"]["values"] == drawn(1000) + drawn(2000) and found["all"]["n"] == 6
    assert found["sum"]["values"] == [2 * sum(drawn(1000)), 2 * sum(drawn(2000))]
    assert found["sum"]["min"] == min(found["sum"]["values"])
    # an interrupted round goes on: what is there is not run again, one more seed is
    ran = []
    monkeypatch.setattr(
        other_seeds, "measure", lambda *a: ran.append(a[-1]) or {"sum": [0.0], "all": [0.0]}
    )
    other_seeds.of_chapter(twin, told | {"seeds": [1, 2, 3]}, folder)
    assert ran == [3]
    # other words change nothing, other code does
    twin = chapter(TWO_CELLS + "\n# %% [markdown]\n# Words.\n")
    other_seeds.of_chapter(twin, told, folder)
    assert ran == [3]
    other_seeds.of_chapter(chapter(TWO_CELLS.replace("2 *", "3 *")), told, folder)
    assert ran == [3, 1, 2]


def test_cells_behind_the_last_that_is_needed_do_not_run(chapter):
    twin = chapter(TWO_CELLS + "\n# %%\nraise SystemError('not needed')\n")
    asked = {"n": "len(doubled)", "its own seed": "seed"}
    assert other_seeds.measure(twin, "doubled =", asked, 1) == {"n": [3.0], "its own seed": [1.0]}
    with pytest.raises(RuntimeError, match="seed 1: SystemError: not needed"):
        other_seeds.measure(twin, "not needed", {"n": "len(doubled)"}, 1)


def test_an_expression_that_no_longer_evaluates_is_said(chapter):
    with pytest.raises(RuntimeError, match=r"99_made_up.py, seed 1 .*total: tripled.sum\(\): Name"):
        other_seeds.measure(chapter(), "doubled =", {"total": "tripled.sum()"}, 1)


@pytest.mark.parametrize(("until", "n"), [("tripled", 0), ("drawn", 2)])
def test_the_last_cell_is_found_by_a_text_that_it_alone_has(chapter, until, n):
    with pytest.raises(ValueError, match=f"99_made_up.py: {n} code cells have '{until}', one"):
        other_seeds.code_until(chapter(), until)


@pytest.mark.parametrize("name", other_seeds.listed())
def test_what_is_listed_fits_the_chapter_and_the_results(name):
    told = other_seeds.listed()[name]
    other_seeds.code_until(ROOT / "notebooks" / f"{name}.py", told["until"])
    for expression in told["asked"].values():
        compile(expression, name, "eval")
    measured = results.load(other_seeds.NAME)["results"]
    assert list(measured) == [other_seeds.key(chapter) for chapter in other_seeds.listed()]
    of_this = measured[other_seeds.key(name)]
    assert of_this.keys() == told["asked"].keys()
    assert 0 not in told["seeds"], "the chapter's own seed is no other one"
    assert all(one["n"] % len(told["seeds"]) == 0 for one in of_this.values())


ASSERTIONS = """# %%
shares = [0.9, 0.2, 0.8]

# %%
assert any(share > 0.85 for share in shares)
assert sum(share > 0.5 for share in shares) >= 2
assert shares[0] < 0.5 or shares[1] < 0.5
assert [share for share in shares if share < 0.5]

# %%
assert all(share > 0.5 for share in shares)
assert shares[1] > 0.3
assert shares[3] > 0.3
assert 0.1 < shares[1] < 0.4
"""


def test_one_of_many_comparisons_is_false_only_with_its_assertion(chapter, tmp_path):
    run = margins.run(chapter(ASSERTIONS), "here:1:1", tmp_path / "kept")
    said = margins.table({"here:1:1": run})
    assert "[1:" not in said, "these assertions hold as a whole"
    assert "FALSE under here:1:1: [2:1 #1] share > 0.5  0.2 > 0.5" in said
    assert "FALSE under here:1:1: [2:2 #0] shares[1] > 0.3  0.2 > 0.3" in said
    assert "IndexError" in said and "[2:4" not in said
    assert [line[:5] for line in margins.failed(run)] == ["[2:1]"] * 2 + ["[2:2]"] * 2 + ["[2:3]"]


def test_room_is_not_measured_where_one_of_many_may_be_false(chapter, tmp_path):
    """The distance of a comparison that need not be true says nothing."""
    twin = chapter(TWO_CELLS + "assert not any(one > 1e9 for one in drawn.tolist())\n")
    names = ("here:1:1", "here:1:2")
    runs = {name: margins.run(twin, name, tmp_path / "kept") for name in names}
    assert [len(run["rows"]) for run in runs.values()] == [4, 4]
    assert margins.table(runs).split("\n\n")[1:] == []


@pytest.mark.long
@pytest.mark.parametrize("twin", TWINS, ids=lambda path: path.stem)
def test_assertions_hold_with_another_seed(twin, tmp_path):
    assert margins.failed(margins.run(twin, ANOTHER, tmp_path)) == []


def test_another_seed_reaches_every_chapter_that_trains():
    """A chapter that seeds torch in a way that is not known here would run as it is."""
    for twin in TWINS:
        cells = [c.source for c in jupytext.read(twin).cells if c.cell_type == "code"]
        changed = [margins.seeded(cell, 1, 2) for cell in cells]
        assert sum(a != b for a, b in zip(cells, changed, strict=True)) >= 1, twin.name
        assert not any("setup(seed=0)" in cell for cell in changed), twin.name
