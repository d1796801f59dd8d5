"""A small made-up homework, and notebooks that answer it, for tests of the engine."""

import json
from collections.abc import Callable

import torch
from torch import nn

from lectures_lib.homework.diagnosis import AnswerKey, run
from lectures_lib.homework.grader.grading.execution import Execution
from lectures_lib.homework.grader.sandbox.template import Limits
from lectures_lib.homework.questions import Case, Homework, Misconception, Question
from lectures_lib.homework.verdict import Verdict

QUICK = Limits(cell=1.0, total=120.0)


def question(
    name: str, reference: Callable, cases: list[Case] | None = None, mistakes: tuple = (), **more
) -> Question:
    """A question called toy.<name>; on two random vectors of different lengths, if no cases are
    given.
    """
    misconceptions = tuple(
        Misconception(mistake, f"You made the mistake {mistake}.", answer)
        for mistake, answer in mistakes
    )
    settings = {
        "title": name.capitalize(),
        "points": 2,
        "minutes": 5,
        "difficulty": 1,
        "chapter": "02_self_attention#masks",
        **more,
    }
    return Question(
        f"toy.{name}",
        cases=lambda g: cases or vectors(g),
        reference=reference,
        misconceptions=misconceptions,
        **settings,
    )


def vectors(g: torch.Generator) -> list[Case]:
    return [Case((torch.randn(n, generator=g),), shows=f"a vector of {n} numbers") for n in (3, 5)]


def double(x):
    return 2 * x


class Scale(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))

    def forward(self, x):
        return self.weight * x


DOUBLE = question(
    "double",
    double,
    mistakes=(("squares", lambda x: x**2), ("reversed", lambda x: 2 * x.flip(0))),
    seconds=1.0,
)
SCALE = question(
    "Scale",
    Scale,
    [Case((torch.arange(3.0),), init={"n": 3}, state={"weight": torch.tensor([2.0, 3.0, 5.0])})],
    points=1,
)
TOY = Homework("toy", "A toy", (DOUBLE, SCALE))

RIGHT_DOUBLE = "def double(x):\n    return x + x"
RIGHT_SCALE = """\
import torch
class Scale(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(n))
    def forward(self, x):
        return x * self.weight
"""


def judged(question: Question, answer, seed: int = 0) -> Verdict:
    """The verdict on an answer, in this process."""
    key = AnswerKey(question, seed)
    return key.verdict([run(answer, case) for case in key.cases])


def graded(
    cells: list[str], *questions: Question, limits: Limits = QUICK
) -> tuple[dict[str, Verdict], Execution]:
    """The verdicts on a notebook run in the sandbox, by the questions' own names, and what became
    of its cells.
    """
    keys = [AnswerKey(question, seed=1) for question in questions]
    execution = Execution(cells, limits)
    verdicts = execution.verdicts(keys)
    return {key.question.answer_name: verdicts[key.question.name] for key in keys}, execution


def notebook(*cells: str) -> bytes:
    """A notebook file with these code cells."""
    code = [
        {
            "cell_type": "code",
            "source": cell,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        for cell in cells
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": code}).encode()
