"""What a homework question is: data that two callers read, `check` in the student's notebook and
`grade` for a class.

A misconception is kept as a wrong answer that makes it. An answer that behaves like one, on inputs
where that differs from the reference, has that mistake: nobody's code is read, only what it
returns.
"""

import importlib
import importlib.util
import inspect
import math
import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

# How numbers are dropped at random: nn.Dropout's work, and that of the library's attention.
DROPPING = ("F.dropout(p, training)", "F.scaled_dot_product_attention(dropout_p)")


class Demand(NamedTuple):
    """One of several things that a question's text asks for, each worth points of its own.

    Attributes:
        says: what it is, in words a student reads: "a query with no allowed key gets zeros".
        points: what an answer earns that does this, and is not right in all.
    """

    says: str
    points: float


@dataclass(frozen=True)
class Case:
    """One call of the student's answer.

    Attributes:
        args: positional arguments: tensors, numbers, booleans, strings, None, and lists of them.
        kwargs: keyword arguments of the same kinds.
        init: for a question that asks for a class: keyword arguments of its constructor.
        state: for a class: the parameters loaded into it before the call, so that its random
            initialisation does not matter.
        shows: what this input is, in words a student reads ("a batch of 2 sentences, 5 tokens
            each").
        train: whether a class's object is called in training mode.
        again: positional arguments of further calls of the same object (or function): their results
            count too.
        gradients: "values" compares how the result depends on each parameter and each floating
            tensor among the inputs, "reach" only whether it does, "none" does not look. Left out,
            it is "values" for a class that is given parameters. A parameter registered as a buffer,
            without gradient, used through `.data` or below `no_grad` gives the right result and the
            wrong gradient.
        gradients_of: the only names whose gradients are compared: a parameter's, a keyword's, or
            "argument 1" for the first positional one. Left out, all are.
        draws: call the object so often, each time with other random numbers, and compare mean and
            standard deviation of every entry, and which of them vary together: what dropout does in
            training mode, its rate and its place. Takes the place of the result itself, of
            gradients and `again`.
        watch: functions whose calls are noted; filled in from the question (`forbidden`,
            `required`, and `DROPPING` where a misconception is told by it).
        remark: whether what is found on it costs nothing and is only said to who is right.
        without_scores: whether of a list of pairs, such as a beam's hypotheses and their scores,
            the second of each may be any number.
        part: of a pair, or of more, the number of the only value that counts, where a demand is
            about that one; None: all of them.
        demands: the demands of the question that it tests, by what they say; left out, it is the
            first. Where it tests several, what is wrong on it is put down to those that fail by
            themselves on other inputs; where none does, to the last one named here.
    """

    args: tuple = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    init: dict[str, Any] | None = None
    state: dict[str, Tensor] | None = None
    shows: str = ""
    train: bool = False
    again: tuple[tuple, ...] = ()
    gradients: str = ""
    gradients_of: tuple[str, ...] = ()
    draws: int = 0
    watch: tuple[str, ...] = ()
    remark: bool = False
    without_scores: bool = False
    part: int | None = None
    demands: tuple[str, ...] = ()

    def __post_init__(self):
        if self.gradients not in ("", "values", "reach", "none"):
            raise ValueError(f'gradients is "values", "reach" or "none", not {self.gradients!r}')
        if self.without_scores and (self.again or self.looks_at_gradients != "none"):
            raise ValueError("without_scores is for a result alone, without gradients or `again`")

    @property
    def looks_at_gradients(self) -> str:
        """ "values", "reach" or "none"."""
        return self.gradients or ("values" if self.state and not self.draws else "none")

    def request(self) -> dict[str, Any]:
        """What `inside.calls.call` is asked: the one place where a case becomes a call, in this
        process or in the sandbox.
        """
        return {
            "args": self.args,
            "kwargs": self.kwargs,
            "init": self.init,
            "state": self.state,
            "train": self.train,
            "again": self.again,
            "gradients": self.looks_at_gradients != "none",
            "draws": self.draws,
            "watch": self.watch,
        }


@dataclass(frozen=True)
class Misconception:
    """A mistake students really make.

    Attributes:
        name: stable, snake_case; the class report counts by it.
        diagnosis: one or two sentences to the student: what the answer does, and what to do
            instead.
        answer: a wrong answer (function or class, same signature as the reference) that makes
            exactly this mistake.
        by_exception: whether an exception tells it, though its message names no sizes: raised with
            the same words on the same inputs, while the other inputs go well. For mistakes that
            show in nothing else, and a diagnosis that stays true if others raise it.
        by_dropout: whether dropping numbers at random tells it (`DROPPING`): whoever does so on the
            inputs on which `answer` does, and is right on all others, makes it, at whatever place
            and rate.
    """

    name: str
    diagnosis: str
    answer: Callable
    by_exception: bool = False
    by_dropout: bool = False


@dataclass(frozen=True)
class Varied:
    """What a question may draw for a course or a student: see `variants`.

    Attributes:
        name: the keyword-only argument by which `cases`, the reference, and the mistakes' answers
            take it; its default is the first of the values. What does not take it does not vary.
        values: the course's own, then two or more others.
        says: a value in words that end the sentence "In yours, …".
        wording: for a value, what to write in the notebook's part on this question instead of what;
            each text must stand there, and all of its places are replaced.
        told: the same for the mistakes' diagnoses, of which each may hold any or none.
    """

    name: str
    values: tuple
    says: Callable[[Any], str]
    wording: Callable[[Any], dict[str, str]]
    told: Callable[[Any], dict[str, str]] = lambda value: {}

    def __post_init__(self):
        if len(self.values) < 3:
            raise ValueError("the course's own value and two others, so that one year differs")


@dataclass(frozen=True)
class Question:
    """One question of a homework.

    Attributes:
        name: "<homework>.<name of the function or class that answers it>", such as
            "hw1.causal_mask".
        title: a few words for feedback pages.
        points, minutes: what it is worth and how long it may take.
        difficulty: 1 (a line or two) to 3.
        chapter: where the idea is taught, as "<notebook>#<section anchor>", such as
            "02_self_attention#masks".
        cases: makes the inputs from a seeded generator. Seed 0 is the public one that `check` uses;
            `grade` draws fresh ones. Sizes vary with the generator too, so that an answer that is
            right for one size only is caught.
        reference: the right answer.
        misconceptions: in the order in which they are tried; the first that behaves like the
            student's answer is named.
        rtol, atol: how far numbers may lie from the reference's.
        share: how many of the entries of the list or tensor that is returned must be right; below 1
            for a question that trains.
        below: what to tell where fewer are right and no mistake is recognised: the usual causes.
        seconds: how long all its calls together may take when a class is graded.
        forbidden: functions that the question's text rules out, such as "F.layer_norm"
            (nn.LayerNorm calls it), "Tensor.unfold" or "F.cross_entropy(label_smoothing)", a call
            with this keyword.
        required: functions of which the text demands one.
        trained: whether a model is trained through the result, of which the text says nothing: an
            answer that lets no gradient through is right, and told so.
        varied: what it may draw; None: it is the same in every course.
        variant: which of `varied.values` this is.
        arguments: the names of its positional arguments, for messages; left out, the reference's.
        demands: what an answer that is not right in all may earn points for; their points add up to
            the question's. The first is the ordinary case: where it does not hold, the others do
            not count, so that nothing is earned by returning zeros. None: right, or not.
    """

    name: str
    title: str
    points: int
    minutes: int
    difficulty: int
    chapter: str
    cases: Callable[[torch.Generator], list[Case]]
    reference: Callable
    misconceptions: tuple[Misconception, ...]
    rtol: float = 1e-4
    atol: float = 1e-5
    share: float = 1.0
    below: str = ""
    seconds: float = 10.0
    forbidden: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    trained: bool = False
    varied: Varied | None = None
    variant: int = 0
    arguments: tuple[str, ...] = ()
    demands: tuple[Demand, ...] = ()

    def __post_init__(self):
        if not self.arguments:
            object.__setattr__(self, "arguments", _arguments(self.reference))
        total = sum(demand.points for demand in self.demands)
        if self.demands and not math.isclose(total, self.points):
            raise ValueError(f"{self.name}: its demands' points must add up to {self.points}")

    @property
    def homework(self) -> str:
        """The part of the name before the dot, such as "hw1"."""
        return self.name.split(".")[0]

    def inputs(self, g: torch.Generator) -> list[Case]:
        """The cases with what holds for all of them, and one on which gradients are looked at where
        a model is trained through the result.
        """
        watch = self.forbidden + self.required
        watch += DROPPING * any(mistake.by_dropout for mistake in self.misconceptions)
        cases = [replace(case, watch=watch) for case in self.cases(g)]
        if self.demands:
            cases = self._with_demands(cases)
        if self.trained:
            cases.append(replace(cases[0], gradients="reach", remark=True, part=None))
        return cases

    def _with_demands(self, cases: list[Case]) -> list[Case]:
        """The cases, each with the demands that it tests.

        Raises:
            ValueError: if one names a demand that there is not, or no case tests one by itself.
        """
        there_are = [demand.says for demand in self.demands]
        cases = [replace(case, demands=case.demands or (there_are[0],)) for case in cases]
        named = {says for case in cases for says in case.demands}
        tested = {case.demands[0] for case in cases if len(case.demands) == 1}
        if named - {*there_are} or {*there_are} - tested:
            wrong = [*sorted(named - {*there_are}), *sorted({*there_are} - tested)]
            raise ValueError(f"{self.name}: no demand, or none that is tested alone: {wrong}")
        return cases

    @property
    def answer_name(self) -> str:
        """The name that the student's function or class must have."""
        return self.name.split(".")[1]


def _arguments(answer: Callable) -> tuple[str, ...]:
    """The names of the positional arguments that a function takes, or a class's object when it is
    called; () where they have none.
    """
    called = getattr(answer, "forward", answer.__call__) if isinstance(answer, type) else answer
    taken = list(inspect.signature(called).parameters.values())[isinstance(answer, type) :]
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(each.name for each in taken if each.kind in by_place)


@dataclass(frozen=True)
class Homework:
    """A homework.

    Attributes:
        name: short, "hw1".
        title: a word or two.
        questions: in the order of the notebook.
        ready_made: names such as "MultiheadAttention" of what students are to build themselves. The
            grade book's remarks tell where code mentions one; whether that costs points, a person
            decides.
        notebook: what its notebook is called, without ".ipynb"; "" where the file's name does not
            matter.
    """

    name: str
    title: str
    questions: tuple[Question, ...]
    ready_made: tuple[str, ...] = ()
    notebook: str = ""

    def __getitem__(self, name: str) -> Question:
        """The question of that full name ("hw1.causal_mask")."""
        for question in self.questions:
            if question.name == name:
                return question
        raise KeyError(
            f"{self.name} has no question {name!r}; it has "
            f"{', '.join(q.name for q in self.questions)}"
        )

    @property
    def answer_names(self) -> tuple[str, ...]:
        """The names that the student's functions and classes must have."""
        return tuple(question.answer_name for question in self.questions)

    def heading(self, question: Question) -> str:
        """A question as the notebook heads it, and as every report calls it: "Question 3: Not
        looking ahead".
        """
        return f"Question {self.questions.index(question) + 1}: {question.title}"


def names() -> list[str]:
    """The homework there is: ["hw1", …]; none in a sealed package, which holds no banks."""
    if importlib.util.find_spec("lectures_lib.homework.banks") is None:
        return []
    folder = importlib.import_module("lectures_lib.homework.banks").__path__
    return sorted(
        module.name
        for module in pkgutil.iter_modules(folder)
        if re.fullmatch(r"hw\d+", module.name)
    )


def load(name: str) -> Homework:
    """The homework of that short name, its bank imported now and not before.

    Raises:
        KeyError: if there is none; the message lists those that there are.
    """
    if name not in names():
        raise KeyError(
            f"there is no homework {name!r}; there is {', '.join(names()) or 'none here'}"
        )
    return importlib.import_module(f"lectures_lib.homework.banks.{name}").HOMEWORK


def find(name: str) -> Question:
    """The question of that full name, such as "hw1.causal_mask".

    Raises:
        KeyError: if there is none; the message lists those that there are, or names the question
            whose homework was left out.
    """
    homework, dot, _ = str(name).partition(".")
    if not dot:
        everything = [question.name for short in names() for question in load(short).questions]
        meant = [full for full in everything if full.split(".")[1] == name]
        if meant:
            raise KeyError(f"{name!r} is {' or '.join(map(repr, meant))}: name its homework, too")
    return load(homework)[name]
