"""What an exam question is."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from torch import Tensor


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


def asked_in(questions: list[Question], chapter: int) -> Callable:
    """A decorator that puts a function that draws into this list, under its own name."""

    def asked(title: str, points: int) -> Callable:
        def listed(draw: Callable[[Random], Drawn]) -> Callable[[Random], Drawn]:
            questions.append(Question(draw.__name__, title, chapter, points, draw))
            return draw

        return listed

    return asked


def row(numbers: Tensor, digits: int = 2) -> str:
    """A vector as text, "(0.50, 1.00)"."""
    return "(" + ", ".join(f"{x:.{digits}f}" for x in numbers.tolist()) + ")"
