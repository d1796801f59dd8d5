"""What a chapter's page defines, for tests that compare something else with it."""

import ast
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def defined(file: str, *names: str) -> dict[str, Any]:
    """The functions and simple values that "NN_name" defines under these names; where it does so
    several times, the first.
    """
    tree = ast.parse((NOTEBOOKS / f"{file}.py").read_text("utf-8"))
    nodes: dict[str, ast.stmt] = {}
    for node in tree.body:
        name = node.targets[0] if isinstance(node, ast.Assign) else node
        nodes.setdefault(getattr(name, "name", getattr(name, "id", "")), node)
    found: dict[str, Any] = {"Counter": Counter, "pairwise": pairwise}
    exec("\n".join(ast.unparse(nodes[name]) for name in names), found)
    return {name: found[name] for name in names}
