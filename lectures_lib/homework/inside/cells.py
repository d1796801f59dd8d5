"""Run a notebook's code cells without Jupyter: one after the other, in one namespace."""

import ast
import linecache
import re
import sys
import types
from typing import Any

_COMMAND = re.compile(r"^(\s*)(?:[%!?].*|.*\?|[\w\s,.]*=\s*[%!].*)$")  # %magic, !shell, ?help, help?, files = !ls
_TRANSPARENT = ("%%time", "%%timeit", "%%capture", "%%prun")  # cell magics whose cell is Python all the same


def namespace() -> dict[str, Any]:
    """The `__main__` that the cells share, with what Jupyter would have put there."""
    main = types.ModuleType("__main__")
    main.__dict__.update(display=_nothing, get_ipython=_Shell, input=_refuse_input)
    sys.modules["__main__"] = main
    return main.__dict__


def run(source: str, names: dict[str, Any], title: str, only_definitions: bool = False) -> None:
    """Execute one cell, as it is or, where it is no Python as it stands, without its magics.

    Args:
        source: the cell.
        names: the namespace it runs in.
        title: stands for the file's name in tracebacks, such as "<cell 3>".
        only_definitions: run only its imports, functions and classes; for a cell that had to be cut the last time.

    Raises:
        BaseException: whatever the cell raises.
    """
    try:
        tree = ast.parse(source, title)
    except SyntaxError:
        source = without_magics(source)
        tree = ast.parse(source, title)
    if only_definitions:
        kept = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        tree.body = [node for node in tree.body if isinstance(node, kept)]
    linecache.cache[title] = (len(source), None, source.splitlines(keepends=True), title)
    exec(compile(tree, title, "exec"), names)


def without_magics(source: str) -> str:
    """`source` with IPython's commands replaced by `pass`; nothing is left of a cell in another language (`%%bash`)."""
    lines = source.splitlines()
    first = next((line for line in lines if line.strip()), "")
    if first.startswith("%%"):
        if not first.startswith(_TRANSPARENT):
            return ""
        lines[lines.index(first)] = ""
    return "\n".join(_COMMAND.sub(r"\1pass", line) for line in lines)


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Stands for functions whose effect nobody sees here."""


class _Shell:
    """Stands for IPython's shell: takes every call and does nothing."""

    def __getattr__(self, name: str) -> Any:
        return _nothing


def _refuse_input(*args: Any) -> str:
    raise EOFError("input() has nobody to answer it: a graded notebook runs by itself")
