"""The rooms of the library: one may import another, but nowhere does the way lead back."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import lectures_lib

LIBRARY = Path(lectures_lib.__file__).parent


def imported(tree: ast.AST) -> Iterator[str]:
    """The library's modules that a file imports, anywhere in it, by their full names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)


def rooms(library: Path) -> dict[str, set[str]]:
    """Each room (a folder of the library, or a module beside them), and those that it imports."""
    found: dict[str, set[str]] = {}
    for file in library.rglob("*.py"):
        room = file.relative_to(library).with_suffix("").parts[0]
        parts = [name.split(".") for name in imported(ast.parse(file.read_text("utf-8")))]
        others = {part[1] for part in parts if part[0] == "lectures_lib" and part[1:]}
        found.setdefault(room, set()).update(others - {room})
    return found


def circle(found: dict[str, set[str]]) -> list[str]:
    """The rooms along a way that leads back to where it began; none: []."""
    try:
        TopologicalSorter(found).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_room_is_reached_from_itself():
    found = rooms(LIBRARY)
    assert {"blocks", "decoding", "models", "tasks"} <= found.keys()
    assert "models" in found["decoding"] and "blocks" in found["models"]
    assert circle(found) == []


def test_a_circle_is_found(tmp_path):
    for file, text in {
        "a/one.py": "from lectures_lib.b import two",
        "b/two.py": "def late():\n    import lectures_lib.c",
        "c.py": "from lectures_lib import a, d",
        "d.py": "from lectures_lib.d import other\nimport torch",
    }.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text)
    assert set(circle(rooms(tmp_path))) == {"a", "b", "c"}
