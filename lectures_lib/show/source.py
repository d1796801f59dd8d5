"""Shows the library's own source on the page, so that the text and the code cannot drift apart."""

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import metadata
from pathlib import Path


@dataclass(frozen=True)
class Source:
    """A piece of source code that a notebook displays with colours and a link to the file it stands
    in.
    """

    code: str
    file: str

    def _repr_markdown_(self) -> str:
        # No line number: one more line of comment above would leave every stored page pointing at
        # the wrong place.
        return f"```python\n{self.code}```\n\n[`{self.file}`]({repository()}/blob/main/{self.file})"

    def __repr__(self) -> str:
        return f"# {self.file}\n{self.code}"


def show(thing: Callable, docstring: bool = True) -> Source:
    """The source of a function or class of this library.

    Args:
        thing: the function or class.
        docstring: whether to keep the docstrings; without them the page shows the few lines that do
            the work.

    Raises:
        ValueError: for something that is not defined in lectures_lib: only what the reader can look
            up there is shown.
    """
    path = Path(inspect.getsourcefile(inspect.unwrap(thing)) or "").resolve()
    root = Path(__file__).resolve().parents[2]
    if root / "lectures_lib" not in path.parents:
        raise ValueError(f"{thing!r} is defined in {path.name}, not in lectures_lib")
    lines, _ = inspect.getsourcelines(inspect.unwrap(thing))
    code = without_doors(inspect.cleandoc("\n" + "".join(lines)) + "\n")
    return Source(
        code if docstring else without_docstrings(code), path.relative_to(root).as_posix()
    )


def without_doors(code: str) -> str:
    """The same code without its `@at_the_door(…)` lines: what is refused there is no part of what
    the function teaches.
    """
    lines = code.splitlines(keepends=True)
    for node in ast.walk(ast.parse(code)):
        for decorator in getattr(node, "decorator_list", []):
            if (
                isinstance(decorator, ast.Call)
                and getattr(decorator.func, "id", None) == "at_the_door"
            ):
                for i in range(decorator.lineno - 1, decorator.end_lineno):
                    lines[i] = ""
    return "".join(lines)


def without_docstrings(code: str) -> str:
    """The same code with every docstring removed, comments and layout untouched."""
    lines = code.splitlines(keepends=True)
    for node in ast.walk(ast.parse(code)):
        documented = (
            isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module)
            and ast.get_docstring(node) is not None
        )
        if documented:
            doc = node.body[0]
            for i in range(doc.lineno - 1, doc.end_lineno):
                lines[i] = ""
            if doc.end_lineno < len(lines) and not lines[doc.end_lineno].strip():
                lines[doc.end_lineno] = ""  # the blank line that set the docstring apart
    return "".join(lines)


def repository() -> str:
    """The address of the repository this package was made from (pyproject.toml's Repository, which
    `make fork` changes).
    """
    urls = metadata("lectures-lib").get_all("Project-URL") or []
    return next(url.split(", ", 1)[1] for url in urls if url.startswith("Repository, "))
