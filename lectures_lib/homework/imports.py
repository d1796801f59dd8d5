"""What code imports, read from its text: the library's own modules, and packages from elsewhere."""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import lectures_lib

PACKAGE = Path(lectures_lib.__file__).parent
_MAGIC = re.compile(r"^([ \t]*)[%!][^\n]*$", re.MULTILINE)


@dataclass
class Imported:
    """What some code imports, directly or by way of the library.

    Attributes:
        modules: the library's modules by their full names.
        packages: what they import from elsewhere at the left margin: without it they cannot be
            imported. What is imported within a function, a `try` or an `if` may be missing.
    """

    modules: dict[str, Path] = field(default_factory=dict)
    packages: set[str] = field(default_factory=set)


def behind(sources: Iterable[str]) -> Imported:
    """What these pieces of code import, and what is imported by that.

    Raises:
        SyntaxError: if one is no Python, apart from lines of magic.
    """
    found = Imported()
    waiting = [("", source) for source in sources]
    while waiting:
        module, source = waiting.pop()
        tree = ast.parse(without_magic(source))
        outside = {id(node) for node in tree.body}
        for node in ast.walk(tree):
            for name in _names(node, module):
                if name.partition(".")[0] == PACKAGE.name:
                    new = {m: p for m, p in _modules(name) if m not in found.modules}
                    found.modules |= new
                    waiting += [(m, p.read_text(encoding="utf-8")) for m, p in new.items()]
                elif id(node) in outside:
                    found.packages.add(name.partition(".")[0])
    found.packages -= sys.stdlib_module_names
    return found


def without_magic(source: str) -> str:
    """A cell's code with `pass` for each line of magic ("%matplotlib inline", "!pip …"), which is
    no Python.
    """
    return _MAGIC.sub(r"\1pass", source)


def _names(node: ast.AST, module: str) -> list[str]:
    """The full names that a statement of this module imports; of `from a import b` also a.b, which
    may be a module.
    """
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    base = node.module or ""
    if node.level:
        inside = [*module.split("."), "__init__"] if _is_package(module) else module.split(".")
        base = ".".join(filter(None, [*inside[: -node.level], base]))
    return [base, *(f"{base}.{alias.name}" for alias in node.names)]


def _modules(name: str) -> Iterator[tuple[str, Path]]:
    """The modules that importing this name loads: `a.b.c` loads a, a.b and, if it is a module,
    a.b.c.
    """
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        path = PACKAGE.parent.joinpath(*parts[:count])
        for file in (path / "__init__.py", path.with_suffix(".py")):
            if file.is_file():
                yield ".".join(parts[:count]), file
                break


def _is_package(module: str) -> bool:
    return (PACKAGE.parent.joinpath(*module.split(".")) / "__init__.py").is_file()
