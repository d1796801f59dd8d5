"""What every measure asks of its input: something predicted, and something right for each; in
whatever holds them.
"""

from collections.abc import Collection, Mapping, Sequence, Set
from typing import Any


def plain(values: Any) -> Any:
    """Tensors and arrays, also inside of lists and tuples, as Python's own lists and numbers: those
    compare by what they hold.
    """
    if hasattr(values, "tolist"):  # a tensor, an array, one of NumPy's numbers
        return values.tolist()
    return [plain(value) for value in values] if isinstance(values, (list, tuple)) else values


def listed(hypotheses: Any, references: Any) -> tuple[list[Any], list[Any]]:
    """Both as lists of Python's own values.

    Raises:
        TypeError: for what is no row of things, such as one number or a set.
        ValueError: as `check_pairs` does.
    """
    lists = tuple(_row(plain(values)) for values in (hypotheses, references))
    check_pairs(*lists)
    return lists


def check_pairs(hypotheses: Sequence[Any], references: Sequence[Any]) -> None:
    """Refuse a string in place of a list, lists of different lengths, and empty ones.

    Raises:
        ValueError: the message gives both lengths.
    """
    if isinstance(hypotheses, str) or isinstance(references, str):
        raise ValueError("lists of sentences are needed, not one string")
    if len(hypotheses) != len(references) or len(references) == 0:
        raise ValueError(
            f"one reference for each hypothesis, and at least one, got {len(hypotheses)} and "
            f"{len(references)}"
        )


def check_texts(texts: Sequence[Any], what: str) -> None:
    """Refuse what is no text, such as a sentence in words or in numbers.

    Raises:
        TypeError: the message says which and what came.
    """
    if wrong := next(
        ((i, text) for i, text in enumerate(texts) if not isinstance(text, str)), None
    ):
        raise TypeError(
            f"{what} {wrong[0]} must be text, got a {type(wrong[1]).__name__}: {wrong[1]!r:.60}"
        )


def _row(values: Any) -> Any:
    if isinstance(values, (str, list)):
        return values
    if not isinstance(values, Collection) or isinstance(values, (Set, Mapping)):
        raise TypeError(
            f"one thing for each example, in a row, is needed (list, tuple, array, tensor); got a "
            f"{type(values).__name__}"
        )
    return [plain(value) for value in values]
