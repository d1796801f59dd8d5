"""What keeps notebooks and their outputs up to date, without running them."""

import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from lectures_lib.show.widget import embedded, source
from tools import notebooks

OLD, NEW = 'find("[data-name=WIDGET_ID]"); \\d $& done("WIDGET_ID");', 'other("WIDGET_ID") \\1 $&'


def picture(script: str, data: int) -> str:
    """A picture's HTML."""
    parts = {"style": "<style>a {}</style>", "fallback": "<p>…</p>", "script": script}
    return embedded("picture", "name", "data", {"value": data}, **parts)


def test_a_changed_script_takes_the_old_one_s_place():
    before, after = (f"{picture(one, 1)}\n{picture(one, 2)}" for one in (OLD, NEW))
    assert notebooks.exchange(before, OLD, NEW) == after
    assert notebooks.exchange(before, OLD + " ", NEW) == before
    assert notebooks.exchange(picture(OLD, 1), "a {}", "b {}") == picture(OLD, 1).replace(
        "a {}", "b {}"
    )


def test_stored_outputs_get_it_and_nothing_else_changes(tmp_path):
    cell = nbformat.v4.new_code_cell("show()", execution_count=3, id="cell-00")
    shown = {"text/html": picture(OLD, 1), "text/plain": OLD}
    cell.outputs = [
        nbformat.v4.new_output("stream", text=OLD),
        nbformat.v4.new_output("display_data", data=shown),
    ]
    twin = tmp_path / "02_name.py"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), twin.with_suffix(".ipynb"))
    assert notebooks.scripts(twin, [(OLD, NEW)]) == 1
    stored = nbformat.read(twin.with_suffix(".ipynb"), as_version=4).cells[0]
    assert stored.outputs[0].text == OLD
    assert stored.outputs[1].data == {"text/html": picture(NEW, 1), "text/plain": OLD}
    assert (stored.source, stored.execution_count) == ("show()", 3)
    assert notebooks.scripts(twin, [(OLD, NEW)]) == 0


@pytest.mark.parametrize("name", ["viewer/viewer.js", "stepper.js", "attention_lab.js", "dial.js"])
def test_the_book_s_own_scripts_are_found_in_what_is_stored(name):
    script = source(name)
    changed = script.replace("WIDGET_ID", "WIDGET_ID_", 1)
    assert notebooks.exchange(picture(script, 1), script, changed) == picture(changed, 1)


@pytest.mark.parametrize("chapter", ["14_fine_tuning", "14b_words_and_spans"])
@pytest.mark.parametrize("kind", ["js", "css"])
def test_a_changed_table_of_errors_reaches_what_is_stored(chapter, kind):
    """All of it: the stored outputs hold today's script and style."""
    part = source(f"error_table.{kind}")
    stored = nbformat.read(notebooks.ROOT / "notebooks" / f"{chapter}.ipynb", as_version=4)
    found = [
        output.data["text/html"]
        for cell in stored.cells
        for output in cell.get("outputs", [])
        if "error-table" in output.get("data", {}).get("text/html", "")
    ]
    assert found
    for html in found:
        assert notebooks.exchange(html, part, f"/* new */ {part}").count("/* new */") == 1


def test_what_has_changed_is_told_by_git(monkeypatch, tmp_path):
    def git(*words):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True, capture_output=True)

    folder = tmp_path / "lectures_lib" / "show"
    folder.mkdir(parents=True)
    for name in ("a.js", "b.css", "c.py", "d.js"):
        (folder / name).write_text("old ä")
    git("init")
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-m", "all")
    for name in ("a.js", "b.css", "c.py"):
        (folder / name).write_text(f"new {name}")
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    assert notebooks.changed_scripts() == [("old ä", "new a.js"), ("old ä", "new b.css")]


def test_a_chapter_s_number_means_that_chapter():
    assert [twin.stem for twin in notebooks.twins("16")] == ["16_what_bert_learns"]
    assert [twin.stem for twin in notebooks.twins("16c")] == ["16c_trees"]
    assert {twin.stem[:3] for twin in notebooks.twins("16_w")} == {"16_"}
    assert len(notebooks.twins("1")) > 9 and not notebooks.twins("99")
    assert notebooks.twins("") == notebooks.twins()


def test_one_notebook_that_fails_stops_none_of_the_others(monkeypatch):
    """Whether a cell raises, takes too long or takes its kernel with it."""
    ways = [
        CellExecutionError("", "NameError", "x"),
        CellTimeoutError("too long"),
        DeadKernelError("dead"),
    ]
    twins = [notebooks.ROOT / "notebooks" / f"{name}.py" for name in "abcd"]

    def run(twin):
        if ways:
            raise ways.pop(0)

    monkeypatch.setattr(notebooks, "twins", lambda only: twins)
    monkeypatch.setattr(notebooks, "run", run)
    monkeypatch.setattr("sys.argv", ["notebooks.py", "run"])
    with pytest.raises(SystemExit) as ended:
        notebooks.main()
    failed = [line for line in str(ended.value).splitlines() if line.startswith("notebooks/")]
    assert [line[:14] for line in failed] == ["notebooks/a.py", "notebooks/b.py", "notebooks/c.py"]


def test_stored_drawings_are_as_the_library_draws_them(tmp_path):
    """Cells that show a drawing print no numbers: nbval alone would not see a stale one."""
    stale = {}
    for twin in notebooks.twins():
        copy = shutil.copy(twin.with_suffix(".ipynb"), tmp_path)
        if count := notebooks.drawings(Path(copy).with_suffix(".py")):
            stale[twin.name] = count
    assert stale == {}, "`python tools/notebooks.py drawings` draws them again"


def test_a_stale_drawing_is_drawn_again_and_nothing_else(tmp_path):
    shown = nbformat.v4.new_output("display_data", {"text/plain": "Drawing", "text/html": "old"})
    told = nbformat.v4.new_output("display_data", {"text/plain": "1"})
    cells = [
        nbformat.v4.new_code_cell('from x import draw\n\ndraw("gate")', outputs=[shown]),
        nbformat.v4.new_code_cell('draw("gate").svg()', outputs=[told]),
    ]
    path = tmp_path / "01_one.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    assert notebooks.drawings(path.with_suffix(".py")) == 1
    first, second = nbformat.read(path, as_version=4).cells
    assert "<svg" in first.outputs[0].data["text/html"] and second.outputs == [told]
    assert notebooks.drawings(path.with_suffix(".py")) == 0
