"""The part of the grader that runs beside a student's code.

In the sandbox this folder is mounted in place of `lectures_lib.homework`: what a submission imports
under that name is this file. It has no questions, no right answers and no tests, because they are
not there. Imports of it stay cheap: torch only.
"""

from collections.abc import Callable
from typing import Any

_recorder: list[Callable[[object, object], None]] = []  # the driver's, where there is one


def check(name: str, answer: object) -> None:
    """In the sandbox: accept anything and say nothing. The grader asks the questions itself, once
    all cells have run.

    It asks them in the state in which this was called: see `checks`.
    """
    for seen in _recorder:
        seen(name, answer)


def example(name: str, answer: object = None) -> Any:
    """In the sandbox: something that can be looked at, called and counted with, and tells nothing,
    so that a cell in which a student looked for a mistake does not stop.
    """
    from unittest.mock import MagicMock  # here, for hardly any submission asks for it

    return MagicMock()


def use_variants(numbers: object) -> None:
    """In the sandbox: nothing. The grader takes the variant from the course's file."""


class WrongAnswer(Exception):
    """In the sandbox: never raised."""
