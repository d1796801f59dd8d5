"""A chapter's three questions, read from `book/quizzes/NN.yml` (or `NNb.yml`) and held against their rules.
Those of a page between two chapters, which has no number, lie in `book/quizzes/between`.

A file is a list of questions; each has a "question" and three or four "choices" with "text" and
"why", one of them with "right: true". In all texts `code` and *emphasis* are the only marks.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[1] / "quizzes"
QUESTIONS, CHOICES = 3, (3, 4)
LONGEST = {"question": 420, "text": 150, "why": 340}  # characters
SHORTEST_WHY = 40  # one sentence that says something
MUCH_LONGER = 1.25  # times the longest wrong choice


@dataclass(frozen=True)
class Choice:
    """One answer that a reader may choose, and why it is right or is not."""

    text: str
    why: str
    right: bool = False


@dataclass(frozen=True)
class Question:
    """A question and its choices, one of them right."""

    question: str
    choices: tuple[Choice, ...]


def there(folder: Path = FOLDER) -> list[str]:
    """The chapters, and the pages between two, that have a quiz, in order."""
    return sorted(file.stem for file in folder.glob("**/*.yml"))


def load(chapter: str, folder: Path = FOLDER) -> tuple[Question, ...]:
    """The quiz of a chapter, "08" or "08b". ValueError says which rule it breaks, and where."""
    file = folder / f"{chapter}.yml"
    if not file.exists():
        file = folder / "between" / file.name
    found = yaml.safe_load(file.read_text(encoding="utf-8"))
    if not isinstance(found, list) or len(found) != QUESTIONS:
        raise ValueError(f"{file.name}: a quiz is a list of {QUESTIONS} questions")
    return tuple(question(row, f"{file.name}, question {i}") for i, row in enumerate(found, 1))


def question(row: Any, place: str) -> Question:
    """One question, checked."""
    only_keys(row, {"question", "choices"}, set(), place)
    if not isinstance(row["choices"], list):
        raise ValueError(f"{place}: the choices are no list")
    text = short(row, "question", place)
    choices = tuple(choice(c, f"{place}, choice {i}") for i, c in enumerate(row["choices"], 1))
    if not CHOICES[0] <= len(choices) <= CHOICES[1]:
        raise ValueError(f"{place}: {len(choices)} choices, not {CHOICES[0]} to {CHOICES[1]}")
    right = sum(c.right for c in choices)
    if right != 1:
        raise ValueError(f"{place}: {right} right choices, not one")
    if len({c.text for c in choices}) < len(choices):
        raise ValueError(f"{place}: two choices say the same")
    given_away(choices, place)
    return Question(text, choices)


def given_away(choices: tuple[Choice, ...], place: str) -> None:
    """Refuse a right choice that one can tell by its length. (That it is neither the longest nor the
    shortest more often than by chance is a rule for all quizzes together: tests/book/test_quizzes.py.)
    """
    right = next(len(c.text) for c in choices if c.right)
    if right > MUCH_LONGER * max(len(c.text) for c in choices if not c.right):
        raise ValueError(f"{place}: the right choice is much longer than all others")


def choice(row: Any, place: str) -> Choice:
    """One choice, checked."""
    only_keys(row, {"text", "why"}, {"right"}, place)
    if row.get("right", True) is not True:
        raise ValueError(f'{place}: "right" is true or left out')
    why = short(row, "why", place)
    if len(why) < SHORTEST_WHY:
        raise ValueError(f"{place}: its reason explains nothing")
    return Choice(short(row, "text", place), why, "right" in row)


def only_keys(row: Any, needed: set[str], optional: set[str], place: str) -> None:
    """Refuse what is no dictionary with these keys."""
    if not isinstance(row, dict) or not needed <= row.keys() <= needed | optional:
        raise ValueError(f"{place}: it has {', '.join(sorted(needed))} and nothing else")


def short(row: dict, key: str, place: str) -> str:
    """A text on one line, neither empty nor too long."""
    text = row[key]
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{place}: {key} is no text (put a number in quotes)")
    text = " ".join(text.split())
    if len(text) > LONGEST[key]:
        raise ValueError(f"{place}: {key} has {len(text)} characters, more than {LONGEST[key]}")
    if text.count("`") % 2:
        raise ValueError(f"{place}: {key} has code without an end")
    return text
