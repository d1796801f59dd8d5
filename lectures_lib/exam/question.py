"""What an exam question is."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from torch import Tensor

from lectures_lib.show.drawings.canvas import Canvas

KINDS = ("compute by hand", "predict", "find the bug", "explain", "choose and justify")


def power_of_ten(number: float, digits: int) -> str:
    """As one writes it by hand: 9.5 · 10<sup>−7</sup>."""
    factor, exponent = f"{number:.{digits}e}".split("e")
    return f"{factor} · 10<sup>{int(exponent)}</sup>".replace("-", "−")


@dataclass(frozen=True)
class Drawn:
    """A question with its numbers. Texts are Markdown.

    Attributes:
        asks: what is asked.
        solution: the answer.
        marks: what earns how many points.
        wrong: a typical wrong answer.
        reveals: what it shows about who gives it.
        picture: stands below what is asked.
        solved: stands below the solution.
        options: to choose from, named (a), (b), …; empty: the answer is written freely.
        right: the index of the right option.
        code: Python with a mistake in it, without a line break at its end.
        line: the number of the wrong line, counted from 1.
        mended: that line as it should be.
    """

    asks: str
    solution: str
    marks: tuple[tuple[int, str], ...] = ()
    wrong: str = ""
    reveals: str = ""
    picture: Canvas | None = None
    solved: Canvas | None = None
    options: tuple[str, ...] = ()
    right: int = 0
    code: str = ""
    line: int = 0
    mended: str = ""


@dataclass(frozen=True)
class Question:
    """A question that can be asked again with other numbers.

    Attributes:
        name: for the command line and the seed.
        title: its heading.
        chapter: the number of the chapter that it is about.
        points: what it is worth.
        minutes: what it takes, about one for each point.
        kind: one of KINDS.
        draw: from a source of chance to the question with its numbers.
    """

    name: str
    title: str
    chapter: int
    points: int
    minutes: int
    kind: str
    draw: Callable[[Random], Drawn]


def asked_in(questions: list[Question], chapter: int) -> Callable:
    """A decorator that puts a function that draws into this list, under its own name."""

    def asked(title: str, points: int, kind: str = "compute by hand", minutes: int = 0) -> Callable:
        """Minutes: as many as points, unless they are given.

        Raises:
            ValueError: for a kind that is none.
        """
        if kind not in KINDS:
            raise ValueError(f"no kind of question is called {kind!r}; there are {KINDS}")

        def listed(draw: Callable[[Random], Drawn]) -> Callable[[Random], Drawn]:
            questions.append(
                Question(draw.__name__, title, chapter, points, minutes or points, kind, draw)
            )
            return draw

        return listed

    return asked


def shuffled(chance: Random, right: str, *others: str) -> dict:
    """Options in an order of chance, as Drawn wants them: `Drawn(..., **shuffled(...))`."""
    options = chance.sample([right, *others], 1 + len(others))
    return {"options": tuple(options), "right": options.index(right)}


def row(numbers: Tensor, digits: int = 2) -> str:
    """A vector as text, "(0.50, 1.00)"."""
    return "(" + ", ".join(f"{x:.{digits}f}" for x in numbers.tolist()) + ")"
