"""Cells run without Jupyter: its magics do nothing, everything else is Python."""

import IPython
import pytest

from lectures_lib.homework.inside import cells


@pytest.fixture
def names(monkeypatch):
    import sys

    monkeypatch.setattr(IPython, "get_ipython", IPython.get_ipython)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    return cells.namespace()


@pytest.mark.parametrize(
    "source",
    [
        "%matplotlib inline\nx = 1",
        "!pip install torch\nx = 1",
        "%%time\nx = 1",
        "\n%%capture out\nx = 1",
        "print?\nx = 1",
        "?print\nx = 1",
        "files = !ls\nx = 1",
        "if True:\n    %time 1\n    x = 1",
        "x = 1\nt = '''\n%not magic'''",
        "get_ipython().run_line_magic('matplotlib', 'inline')\nx = 1",
        "display('picture')\nx = 1",
        "from IPython import get_ipython\nget_ipython().run_line_magic('a', 'b')\nx = 1",
        "import IPython\nx = 0 if IPython.get_ipython() else 1",
        "import IPython\nx = 'IPKernelApp' not in IPython.get_ipython().config",
        "if __name__ == '__main__':\n    x = 1",
        "_\n___\nx = len(In) if not Out else 0",
    ],
)
def test_python_runs_and_magics_do_not(names, source):
    cells.run(source, names, "<cell 1>")
    assert names["x"] == 1


def test_text_that_looks_like_magic_stays(names):
    cells.run("t = '''\n%d ?\n'''", names, "<cell 1>")
    assert names["t"] == "\n%d ?\n"


def test_other_languages_are_left_out(names):
    cells.run("%%bash\nrm -rf x", names, "<cell 1>")


WRITTEN = "import math\n\n\ndef round_trip(x):\n    return math.sqrt(x) ** 2\n"


@pytest.mark.parametrize("used", ["from written_by_a_cell import round_trip", "%run {}"])
def test_a_file_that_a_cell_writes_can_be_imported_and_run(names, tmp_path, monkeypatch, used):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [path for path in cells.sys.path if path])
    monkeypatch.delitem(cells.sys.modules, "written_by_a_cell", raising=False)
    cells.run(f"%%writefile written_by_a_cell.py\n{WRITTEN}", names, "<cell 1>")
    assert (tmp_path / "written_by_a_cell.py").read_text() == WRITTEN
    assert "round_trip" not in names
    cells.run(used.format("written_by_a_cell.py") + "\nx = round_trip(9)", names, "<cell 2>")
    assert names["x"] == 9
    cells.run("%%writefile -a written_by_a_cell.py\ny = 3", names, "<cell 3>")
    cells.run("%run -i written_by_a_cell.py\n%run not_handed_in.py\nz = y", names, "<cell 4>")
    assert names["z"] == 3


def test_input_is_refused(names):
    with pytest.raises(EOFError, match="nobody to answer"):
        cells.run("name = input('Your name? ')", names, "<cell 1>")


def test_definitions_only(names):
    cells.run(
        "import math\nx = 1\ndef f():\n    return math.pi\nwhile True: pass",
        names,
        "<cell 1>",
        only_definitions=True,
    )
    assert names["f"]() > 3
    assert "x" not in names


def test_what_a_definition_takes_the_place_of_can_be_seen_before_it(names):
    cell = (
        "from __future__ import annotations\ndef f(): return 1\nx = 1\ndef f(y: nowhere): return 2"
    )
    seen = []
    cells.run(cell, names, "<cell 1>", between=lambda: seen.append((names["f"](), names["x"])))
    assert seen == [(1, 1)]
    assert names["f"](0) == 2
    cells.run("def g(): return 1\ndef h(): return g", names, "<cell 2>", between=seen.clear)
    assert seen


def test_cells_share_names_and_errors_know_their_line(names):
    cells.run("a = 1\ndef f():\n    return 1 / 0", names, "<cell 1>")
    with pytest.raises(ZeroDivisionError) as caught:
        cells.run("a += 1\nf()", names, "<cell 2>")
    from lectures_lib.homework.inside.outcomes import describe

    told = describe(caught.value)
    assert (told.line, told.source) == (3, "return 1 / 0")
    assert names["a"] == 2
