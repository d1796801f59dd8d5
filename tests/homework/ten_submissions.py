"""Submissions of homework 1 as they come: right in two ways, and each with one thing wrong."""

from pathlib import Path

import nbformat

from tests.homework.right_answers_hw1 import RIGHT_ANSWERS
from tests.homework.toy import notebook

ROOT = Path(__file__).resolve().parents[2]
(SOLUTION,) = (ROOT / "solutions").glob("hw1_*.ipynb")

# student: (what stands in their notebook instead of what is right, the questions that it costs,
# what the remarks must say)
MISTAKES = {
    "softmax": (
        "return scores.softmax(dim=-1) @ V",
        "return scores.softmax(dim=-2) @ V",
        "scaled_dot_product_attention: softmax_over_queries",
    ),
    "inverted": (
        "weights = scores.masked_fill(~mask,",
        "weights = scores.masked_fill(mask,",
        "masked_softmax: mask_inverted",
    ),
    "off_by_one": (
        ".tril(diagonal=n_past)",
        ".tril(diagonal=n_past + 1)",
        "causal_mask: sees_the_next_token",
    ),
    "padding": (
        "words[:, None, None, :]",
        "words",
        "padding_mask: no_dimensions_for_heads_and_queries",
    ),
    "base": ("10_000 **", "1_000 **", "sinusoidal_positions: base_1000"),
    "seats": (
        "shuffled[permutation.argsort()] - in_order",
        "shuffled - in_order",
        "order_effect: shuffle_not_undone",
    ),
}


def changed(old: str, new: str) -> bytes:
    """The solution with one thing wrong."""
    text = nbformat.read(SOLUTION, as_version=4)
    cells = [cell for cell in text.cells if cell.cell_type == "code" and old in cell.source]
    assert len(cells) == 1, f"{old!r} must stand in one cell"
    cells[0].source = cells[0].source.replace(old, new)
    return nbformat.writes(text).encode()


def in_other_words() -> bytes:
    """Every question answered in another right way."""
    source = (ROOT / "tests" / "homework" / "right_answers_hw1.py").read_text(encoding="utf-8")
    names = "\n".join(
        f"{name.split('.')[1]} = {answers[0].__name__}" for name, answers in RIGHT_ANSWERS.items()
    )
    return notebook(source, names)
