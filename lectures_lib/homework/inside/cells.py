"""Run a notebook's code cells without Jupyter: one after the other, in one namespace."""

import __future__

import ast
import asyncio
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import linecache
import os
import runpy
import sys
import types
from collections.abc import Callable
from typing import Any, ClassVar

import IPython
from IPython.core.inputtransformer2 import TransformerManager

# cell magics whose cell is Python all the same
TRANSPARENT = ("%%time", "%%timeit", "%%capture", "%%prun")

_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


def namespace() -> dict[str, Any]:
    """The `__main__` that the cells share, with what Jupyter would have put there."""
    main = types.ModuleType("__main__")
    main.__dict__.update(display=_nothing, get_ipython=_Shell, input=_refuse_input)
    main.__dict__.update(_="", __="", ___="", In=[""], Out={})
    IPython.get_ipython = _ImportedShell
    sys.modules["__main__"] = main
    sys.meta_path.append(_Colab())
    return main.__dict__


def run(
    source: str,
    names: dict[str, Any],
    title: str,
    only_definitions: bool = False,
    between: Callable[[], None] | None = None,
) -> None:
    """Execute one cell, as it is or, where it is no Python as it stands, without its magics.

    Args:
        source: the cell.
        names: the namespace it runs in.
        title: stands for the file's name in tracebacks, such as "<cell 3>".
        only_definitions: run only its imports, functions and classes; for a cell that had to be cut
            the last time.
        between: called before a function or class of the cell takes the name of another one above
            it in the same cell.

    Raises:
        BaseException: whatever the cell raises.
    """
    try:
        tree = _parsed(source, title)
    except SyntaxError:
        source = as_python(source)
        tree = _parsed(source, title)
    if only_definitions:
        kept = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        tree.body = [node for node in tree.body if isinstance(node, kept)]
    linecache.cache[title] = (len(source), None, source.splitlines(keepends=True), title)
    pieces = _pieces(tree) if between else [tree]
    flags = 0
    for i, piece in enumerate(pieces):
        code = compile(piece, title, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | flags)
        flags |= code.co_flags & _FUTURE  # `from __future__ import …` holds for the whole cell
        if i:
            between()
        if code.co_flags & inspect.CO_COROUTINE:  # there is an `await` outside of functions
            asyncio.run(eval(code, names))
        else:
            exec(code, names)


def _pieces(tree: ast.Module) -> list[ast.Module]:
    """A cell, cut before each function or class that has the name of one above it."""
    bodies, seen = [[]], set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if node.name in seen:
                bodies.append([])
            seen.add(node.name)
        bodies[-1].append(node)
    return [ast.Module(body, tree.type_ignores) for body in bodies]


def _parsed(source: str, title: str) -> ast.Module:
    return compile(source, title, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def as_python(source: str) -> str:
    """`source` as Jupyter would make Python of it: its commands become calls of a shell, which does
    nothing here.
    """
    lines = source.splitlines()
    first = next((line for line in lines if line.strip()), "")
    if first.startswith(TRANSPARENT):
        lines[lines.index(first)] = ""
    return TransformerManager().transform_cell("\n".join(lines))


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Stands for functions whose effect nobody sees here."""


def _write_file(line: str, text: str) -> None:
    """`%%writefile helpers.py`: written where the cells run, and found there by `import`."""
    *options, name = line.split() or [""]
    if name:
        mode = "a" if "-a" in options else "w"
        with open(name.strip("\"'"), mode, encoding="utf-8") as file:
            file.write(text)
        if "" not in sys.path:
            sys.path.insert(0, "")
        importlib.invalidate_caches()


def _run_file(line: str) -> None:
    """`%run helpers.py`: run by itself; what it defines is then the notebook's. A file that was not
    handed in is left out.
    """
    words = [word for word in line.split() if not word.startswith("-")]
    path = words[0].strip("\"'") if words else ""
    if path.endswith(".py") and os.path.isfile(path):
        found = runpy.run_path(path, run_name="__main__")
        names = sys.modules["__main__"].__dict__
        names.update((name, found[name]) for name in found if not name.startswith("__"))


class _Shell:
    """Stands for IPython's shell: takes every call and does nothing, but for a file that is written
    by a cell or run.
    """

    def run_cell_magic(self, name: str, line: str, cell: str) -> None:
        """`%%writefile helpers.py`, and nothing else."""
        if name in ("writefile", "file"):
            _write_file(line, cell)

    def run_line_magic(self, name: str, line: str = "", *_: Any) -> None:
        """`%run helpers.py`, and nothing else."""
        if name == "run":
            _run_file(line)

    def __getattr__(self, name: str) -> Any:
        return _nothing

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Also what is called itself: `cv2_imshow(image)`."""


class _ImportedShell(_Shell):
    """What `from IPython import get_ipython` gives. Libraries ask it whether this is a
    notebook, so it is false and configured with nothing.
    """

    config: ClassVar[dict] = {}

    def __bool__(self) -> bool:
        return False


class _Colab(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Lets notebooks import what only Colab has; it does nothing here. Found last, so what is
    really there comes first.
    """

    def find_spec(
        self, name: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name == "google" or f"{name}.".startswith("google.colab."):
            return importlib.util.spec_from_loader(name, self, is_package=True)
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        if module.__name__ != "google":
            module.__getattr__ = _what_colab_has


def _what_colab_has(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _Shell()


def _refuse_input(*args: Any) -> str:
    raise EOFError("input() has nobody to answer it: a graded notebook runs by itself")
