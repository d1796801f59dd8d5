"""Notebooks as editors save them and as students leave them: what has nothing to do with an answer
costs it nothing.
"""

import json

import nbformat
import pytest

from lectures_lib.homework.grader.sandbox.template import Limits
from lectures_lib.homework.notebook import code_cells
from tests.homework.toy import DOUBLE, RIGHT_DOUBLE, RIGHT_SCALE, SCALE, graded

pytestmark = pytest.mark.sandbox

SET_UP = (
    "import lectures_lib\ndevice = lectures_lib.setup(seed=0)\nfrom lectures_lib.homework import "
    "check"
)
CHECK = "check('toy.double', double)"
LIMITS = Limits(cell=5.0, total=120.0)


def saved(
    cells: list,
    metadata: dict | None = None,
    minor: int = 5,
    cell_metadata: dict | None = None,
    as_lines: bool = True,
) -> bytes:
    """A notebook file: its cells' sources as lists of lines, or texts; (kind, source) for a cell
    that is no code.
    """
    kept = []
    for i, cell in enumerate(cells):
        kind, source = cell if isinstance(cell, tuple) else ("code", cell)
        of_code = {"outputs": [], "execution_count": None} if kind == "code" else {}
        text = source.splitlines(keepends=True) if as_lines else source
        identity = {"id": f"c{i}"} if minor >= 5 else {}
        kept.append(
            {
                "cell_type": kind,
                **identity,
                "metadata": cell_metadata or {},
                "source": text,
                **of_code,
            }
        )
    return json.dumps(
        {"nbformat": 4, "nbformat_minor": minor, "metadata": metadata or {}, "cells": kept},
        indent=1,
    ).encode()


def colab() -> bytes:
    widgets = {
        "application/vnd.jupyter.widget-state+json": {
            "a1": {"model_module": "@jupyter-widgets/controls", "state": {"value": 7}}
        }
    }
    metadata = {
        "colab": {
            "provenance": [],
            "gpuType": "T4",
            "collapsed_sections": ["x"],
            "toc_visible": True,
        },
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "accelerator": "GPU",
        "widgets": widgets,
    }
    cells = [
        ("markdown", '<a href="https://colab.research.google.com/">Open</a>'),
        "!nvidia-smi\n%pip install -q lectures-lib",
        "from google.colab import drive\ndrive.mount('/content/drive')",
        SET_UP,
        '#@title Double { display-mode: "form" }\nn = 3 #@param {type:"slider", min:0, max:10, '
        'step:1}\nname = "x" #@param ["x", "y"]',
        f"# @title\n{RIGHT_DOUBLE}",
        "from google.colab import files\nfiles.download('hw.ipynb')",
        RIGHT_SCALE,
        CHECK,
    ]
    return saved(
        cells,
        metadata,
        minor=0,
        cell_metadata={
            "id": "Zq0",
            "cellView": "form",
            "colab": {"base_uri": "https://localhost:8080/"},
        },
    )


def vs_code() -> bytes:
    metadata = {
        "kernelspec": {"display_name": ".venv (3.12.3)", "language": "python", "name": "python3"},
        "language_info": {
            "codemirror_mode": {"name": "ipython", "version": 3},
            "name": "python",
            "version": "3.12.3",
        },
        "vscode": {"interpreter": {"hash": "0" * 64}},
    }
    cells = [SET_UP, "# %%\n" + RIGHT_DOUBLE, RIGHT_SCALE, CHECK]
    return saved(
        cells,
        metadata,
        minor=2,
        cell_metadata={
            "vscode": {"languageId": "python"},
            "notebookRunGroups": {"groupValue": "1"},
        },
    )


def jupyterlab() -> bytes:
    metadata = {
        "toc-autonumbering": True,
        "language_info": {"name": "python"},
        "kernelspec": {"name": "python3", "display_name": "Python"},
    }
    cells = [
        ("raw", "---\ntitle: my homework\n---"),
        ("markdown", "# Homework\n![](attachment:a.png)"),
        SET_UP,
        RIGHT_DOUBLE,
        RIGHT_SCALE,
        "double??",
        CHECK,
    ]
    hidden = {
        "jupyter": {"source_hidden": True, "outputs_hidden": True},
        "tags": ["hide-input"],
        "scrolled": True,
        "trusted": False,
    }
    return saved(cells, metadata, cell_metadata=hidden)


def windows(line_end: str = "\r\n") -> bytes:
    """Line ends of Windows, in the file and in the cells."""
    cells = [
        f"%matplotlib inline\n{SET_UP}",
        RIGHT_DOUBLE,
        '"""A text\nof lines."""\n' + RIGHT_SCALE,
        CHECK,
    ]
    text = saved([cell.replace("\n", line_end) for cell in cells], as_lines=False).decode()
    return text.replace("\n", line_end).encode() if line_end == "\r\n" else text.encode()


def with_commands() -> bytes:
    """Shell commands and magics of all kinds, also in the cells of the answers."""
    cells = [
        "%load_ext autoreload\n%autoreload 2\n%config InlineBackend.figure_format = 'retina'",
        "!pip install -q transformers datasets\n!ls -la",
        "%%bash\nfor i in 1 2 3; do echo $i; done",
        "%%javascript\nalert('hello')",
        "%%html\n<b>bold</b>",
        "%%writefile helper.py\ndef f(:",
        "%pip install torch\n%env CUDA_VISIBLE_DEVICES=0\nlisting = !ls\n%cd ..",
        SET_UP,
        f"!pip install rich\n{RIGHT_DOUBLE}\n%timeit double(3)\ndouble?",
        f"%%time\n{RIGHT_SCALE}",
        "?double",
        CHECK,
    ]
    return saved(cells)


def with_widgets() -> bytes:
    cells = [
        SET_UP,
        "import ipywidgets as widgets\nfrom IPython.display import HTML, clear_output, display",
        "slider = widgets.IntSlider(value=3, min=0, max=10)\ndisplay(slider)\nslider",
        "@widgets.interact(n=(0, 10))\ndef show(n=3):\n    print(n)",
        "box = widgets.Button(description='grade me')\nbox.on_click(lambda _: "
        "print('clicked'))\nbox",
        "from tqdm.notebook import tqdm\nfor _ in tqdm(range(3)):\n    pass",
        "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()",
        "clear_output()\nHTML('<script>alert(1)</script>')",
        RIGHT_DOUBLE,
        RIGHT_SCALE,
        CHECK,
    ]
    state = {f"m{i}": {"model_name": "IntSliderModel", "state": {"value": i}} for i in range(50)}
    metadata = {
        "widgets": {
            "application/vnd.jupyter.widget-state+json": {
                "state": state,
                "version_major": 2,
                "version_minor": 0,
            }
        }
    }
    return saved(cells, metadata)


def wrong_kernel() -> bytes:
    return saved(
        [SET_UP, RIGHT_DOUBLE, RIGHT_SCALE, CHECK],
        {"kernelspec": {"name": "julia-1.9", "language": "julia", "display_name": "R"}},
    )


def stripped() -> bytes:
    """Nothing left but what no reader can do without."""
    cells = [{"cell_type": "code", "source": cell} for cell in (RIGHT_DOUBLE, RIGHT_SCALE)]
    return json.dumps({"nbformat": 4, "cells": cells}).encode()


def broken_metadata() -> bytes:
    """Kinds of values that belong nowhere."""
    cells = [
        {
            "cell_type": "code",
            "source": cell,
            "metadata": [1],
            "outputs": "none",
            "execution_count": "x",
        }
        for cell in (RIGHT_DOUBLE, RIGHT_SCALE)
    ]
    return json.dumps(
        {"nbformat": 4, "nbformat_minor": "five", "metadata": None, "cells": cells}
    ).encode()


def checks_deleted() -> bytes:
    return saved([SET_UP, RIGHT_DOUBLE, RIGHT_SCALE])


def checks_duplicated() -> bytes:
    return saved(
        [SET_UP, CHECK, RIGHT_DOUBLE, *[CHECK] * 40, RIGHT_DOUBLE, RIGHT_SCALE, CHECK, RIGHT_SCALE]
    )


def checks_edited() -> bytes:
    cells = [
        "check('toy.scale', double, points=100)",
        "check = None\ncheck('toy.double')",
        "assert check('toy.double', double) == 'right'",
    ]
    return saved([SET_UP, RIGHT_DOUBLE, RIGHT_SCALE, *cells])


def in_other_order() -> bytes:
    """Answers before the set-up, checks before the answers, and everything twice."""
    return saved([CHECK, RIGHT_SCALE, RIGHT_DOUBLE, SET_UP, CHECK, RIGHT_DOUBLE, SET_UP])


def later_cells_crash() -> bytes:
    crashes = [
        "1 / 0",
        "double(None)",
        "import ctypes\nctypes.string_at(0)",
        "def f():\n    return f()\nf()",
        "x = [\n",
        "raise SystemExit(3)",
    ]
    return saved([SET_UP, RIGHT_DOUBLE, RIGHT_SCALE, *crashes])


def cells_dropped_by_transformers() -> bytes:
    """Input transformers make Jupyter leave cells out, or replace them. Here every cell counts as
    it is written.
    """
    drop = """\
ip = get_ipython()
for name in ("input_transformers_cleanup", "input_transformers_post", "ast_transformers"):
    try:
        getattr(ip, name).append(lambda lines: [])
    except AttributeError:
        pass
ip.events.register("pre_run_cell", lambda info: None)
"""
    return saved([SET_UP, drop, RIGHT_DOUBLE, RIGHT_SCALE, CHECK])


# name: (the file, and the code cells that may fail: they are about other things than the answers)
FILES = {
    "colab": (colab, {"from google.colab import drive", "from google.colab import files"}),
    "vs_code": (vs_code, set()),
    "jupyterlab": (jupyterlab, set()),
    "windows": (windows, set()),
    "old_mac": (lambda: windows("\r"), set()),
    "commands": (with_commands, set()),
    "widgets": (with_widgets, {"import ipywidgets", "slider =", "@widgets", "box =", "from tqdm"}),
    "wrong_kernel": (wrong_kernel, set()),
    "stripped": (stripped, set()),
    "broken_metadata": (broken_metadata, set()),
    "checks_deleted": (checks_deleted, set()),
    "checks_duplicated": (checks_duplicated, {"check("}),
    "checks_edited": (checks_edited, {"check(", "check =", "assert check"}),
    "in_other_order": (in_other_order, {"check("}),
    "later_cells_crash": (
        later_cells_crash,
        {"1 /", "double(", "import ctypes", "def f", "x = [", "raise"},
    ),
    "cells_dropped": (cells_dropped_by_transformers, {"ip ="}),
}


@pytest.mark.parametrize("name", FILES)
def test_hostile_or_odd_notebooks_keep_their_right_answers(name):
    make, may_fail = FILES[name]
    cells = code_cells(make())
    verdicts, execution = graded(cells, DOUBLE, SCALE, limits=LIMITS)
    assert {name: verdict.kind for name, verdict in verdicts.items()} == {
        "double": "right",
        "Scale": "right",
    }
    for i, why in execution.failures.items():
        assert cells[i].startswith(tuple(may_fail)), (cells[i], why)


# Cells that run in Jupyter or Colab, though they are no Python.
ONLY_THERE = {
    "colab_and_the_answer": f"from google.colab import drive\n{RIGHT_DOUBLE}",
    "command_over_two_lines": f"!pip install -q \\\n    transformers\n{RIGHT_DOUBLE}",
    "question_in_a_comment": f"x = [1,\n     2,  # right?\n]\n!ls\n{RIGHT_DOUBLE}",
    "remainder_on_its_own_line": f"x = (7\n% 3)\n!ls\n{RIGHT_DOUBLE}",
    "await": f"import asyncio\nawait asyncio.sleep(0)\n{RIGHT_DOUBLE}",
    "prompts": ">>> def double(x):\n...     return x + x",
    "numbered_prompts": "In [1]: def double(x):\n   ...:     return x + x",
    "indented": "    def double(x):\n        return x + x",
}


@pytest.mark.parametrize("name", ONLY_THERE)
def test_hostile_or_odd_cells_that_jupyter_runs(name):
    verdicts, execution = graded([ONLY_THERE[name]], DOUBLE)
    assert verdicts["double"].right, execution.failures


@pytest.mark.parametrize("name", ["colab", "vs_code", "jupyterlab"])
def test_the_made_up_files_are_notebooks(name):
    """As the format's own reader sees it."""
    nbformat.validate(nbformat.reads(FILES[name][0]().decode(), as_version=4))
