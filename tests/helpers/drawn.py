"""What a drawing shows, read from its SVG; what a chapter says in so many words."""

import ast
import math
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import torch

SVG = "{http://www.w3.org/2000/svg}"
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def texts(svg: str) -> list[str]:
    """All texts of a drawing, in the order in which they were drawn."""
    return ["".join(text.itertext()) for text in ET.fromstring(svg).iter(f"{SVG}text")]


def holds_in_order(shown: list[str], wanted: list[str]) -> bool:
    """Whether `wanted` stands in `shown` without a gap, as the cells of one matrix do."""
    return any(shown[i : i + len(wanted)] == wanted for i in range(len(shown)))


def written(matrix: torch.Tensor, spec: str = "g") -> list[str]:
    """A matrix's numbers, row by row, as a drawing writes them."""
    return [
        "−∞" if number == -math.inf else f"{number:{spec}}".replace("-", "−")
        for number in matrix.flatten().tolist()
    ]


def constants(chapter: str) -> dict[str, Any]:
    """What a chapter gives a name to in so many words, the first time; tensors as lists."""
    tree = ast.parse((NOTEBOOKS / f"{chapter}.py").read_text(encoding="utf-8"))
    found: dict[str, Any] = {}
    for node in tree.body:
        if not isinstance(node, ast.Assign):
            continue
        names = node.targets[0]
        value: ast.expr = node.value
        if isinstance(value, ast.Call) and getattr(value.func, "attr", "") == "tensor":
            value = value.args[0]
        pairs = (
            zip(names.elts, value.elts, strict=True)
            if isinstance(names, ast.Tuple) and isinstance(value, ast.Tuple)
            else [(names, value)]
        )
        for name, one in pairs:
            if isinstance(one, ast.Call) and getattr(one.func, "attr", "") == "tensor":
                one = one.args[0]
            try:
                found.setdefault(getattr(name, "id", ""), ast.literal_eval(one))
            except ValueError:
                continue
    return found
