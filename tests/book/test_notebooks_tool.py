"""What keeps notebooks and their outputs up to date, without running them."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
import torch
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from lectures_lib.show import plots
from lectures_lib.show.attention_lab import AttentionLab
from lectures_lib.show.dial import SoftmaxDial
from lectures_lib.show.error_table import ErrorTable
from lectures_lib.show.stepper import Stepper, line
from lectures_lib.show.viewer import AttentionViewer
from tools import notebooks

SHOWN = {
    "viewer": lambda: AttentionViewer(["a", "b"], [[0.5, 0.5], [0.1, 0.9]]),
    "stepper": lambda: Stepper([line("one"), "<script>\n</script>"], "Two"),
    "lab": lambda: AttentionLab(*(torch.eye(2) for _ in "QKV"), ["a", "b"]),
    "dial": lambda: SoftmaxDial(torch.tensor([1.0, 2.0]), ["a", "b"]),
    "table": lambda: ErrorTable("Errors", {"text": ["<style>\n</style>"]}, [True]),
}


@pytest.mark.parametrize("kind", SHOWN)
def test_a_stored_picture_gets_today_s_style_and_script_and_nothing_else_changes(kind):
    today = SHOWN[kind]()._repr_html_()
    stale = re.sub(r"(?<=<style>\n).*?(?=</style>)", "a {}\n", today, flags=re.DOTALL)
    stale = re.sub(r"(?<=<script>\n).*?(?=</script>)", "start()\n", stale, flags=re.DOTALL)
    assert "a {}" in stale and "start()" in stale
    assert notebooks.up_to_date(f"{stale}\n<p>{today}") == f"{today}\n<p>{today}"
    assert notebooks.up_to_date("<style>\np {}</style>") == "<style>\np {}</style>"


def test_stored_outputs_get_it_and_nothing_else_changes(tmp_path):
    cell = nbformat.v4.new_code_cell("show()", execution_count=3, id="cell-00")
    today = SHOWN["stepper"]()._repr_html_()
    stale = today.replace("--c-", "--old-")
    cell.outputs = [
        nbformat.v4.new_output("stream", text=stale),
        nbformat.v4.new_output("display_data", data={"text/html": stale, "text/plain": stale}),
    ]
    twin = tmp_path / "02_name.py"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), twin.with_suffix(".ipynb"))
    assert notebooks.scripts(twin) == 1
    stored = nbformat.read(twin.with_suffix(".ipynb"), as_version=4).cells[0]
    assert stored.outputs[0].text == stale
    assert stored.outputs[1].data == {"text/html": today, "text/plain": stale}
    assert (stored.source, stored.execution_count) == ("show()", 3)
    assert notebooks.scripts(twin) == 0


def outputs(kind: str) -> Iterator[tuple[str, str]]:
    """What notebooks have stored of one kind, each with the notebook's name."""
    for twin in notebooks.twins():
        for cell in nbformat.read(twin.with_suffix(".ipynb"), as_version=4).cells:
            for output in cell.get("outputs", []):
                if kind in output.get("data", {}):
                    yield twin.name, output.data[kind]


def test_stored_pictures_have_today_s_scripts_and_styles():
    """And stand on a card: their divs and frames are as the library makes them."""
    found = list(outputs("text/html"))
    stale = {name for name, html in found if notebooks.up_to_date(html) != html}
    assert not stale, "`python tools/notebooks.py scripts` brings them"
    kinds = [match[2] for _, html in found for match in notebooks.WIDGET.finditer(html)]
    assert set(kinds) == {"attention-viewer", "stepper", "attention-lab", "dial", "error-table"}
    begun = sum(len(BEGIN.findall(html)) for _, html in found)
    assert begun == len(kinds) > 20
    without = {
        name for name, html in found if notebooks.WIDGET.search(html) and NO_CARD.search(html)
    }
    assert not without


BEGIN = re.compile(r'<div class="(?:attention-viewer|stepper|attention-lab|dial|error-table)[" ]')
# a frame in what stands there without scripts, or a picture, that has no card
NO_CARD = re.compile(r'class="(?:\w\w-box|error-table)"|<img (?!class="figure-card")')


def test_stored_plots_have_the_colours_of_today():
    """Cells that draw print no numbers: nbval alone would not see a stale colour. Black and white are
    those of numbers and joints.
    """
    known = {*plots.DARK, *plots.WRITTEN, plots.WHITE, plots.BLACK}
    drawn = [(name, svg) for name, svg in outputs("image/svg+xml") if plots.PAPER in svg]
    assert len(drawn) > 70
    foreign = {
        (name, colour)
        for name, svg in drawn
        for colour in plots.COLOUR.findall(svg)
        if colour not in known
    }
    assert not foreign


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
