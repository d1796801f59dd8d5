"""What every measure asks of its input: something predicted, and something right for each."""

from collections.abc import Sequence
from typing import Any


def check_pairs(hypotheses: Sequence[Any], references: Sequence[Any]) -> None:
    """Refuse a string in place of a list, lists of different lengths, and empty ones.

    Raises:
        ValueError: the message gives both lengths.
    """
    if isinstance(hypotheses, str) or isinstance(references, str):
        raise ValueError("lists of sentences are needed, not one string")
    if len(hypotheses) != len(references) or len(references) == 0:
        raise ValueError(f"one reference for each hypothesis, and at least one, got {len(hypotheses)} and {len(references)}")
