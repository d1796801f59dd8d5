"""What an exam question is."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True)
class Drawn:
    """A question with its numbers: what is asked, and the solution, both as Markdown."""

    asks: str
    solution: str


@dataclass(frozen=True)
class Question:
    """A question that can be asked again with other numbers.

    Attributes:
        name: for the command line and the seed.
        title: its heading.
        chapter: the number of the chapter that it is about.
        points: about one for each minute.
        draw: from a source of chance to the question with its numbers.
    """

    name: str
    title: str
    chapter: int
    points: int
    draw: Callable[[Random], Drawn]
