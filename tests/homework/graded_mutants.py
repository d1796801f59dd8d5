"""Every mutant of the notebooks' answers, graded: which are caught, and which of those get the name
of a mistake.
"""

import contextlib
import functools
import gc
import resource
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import yaml

from lectures_lib.homework import find
from lectures_lib.homework.diagnosis import AnswerKey, run
from lectures_lib.homework.inside.outcomes import Outcome
from lectures_lib.homework.verdict import Verdict
from tests.homework.bank import ROOT, answer_cells, key, questions
from tests.homework.mutants import Mutant, mutants

JUDGED = ROOT / "tests" / "homework" / "equivalent_mutants.yml"
SEEDS = (1, 2, 3)
# their mutants often loop
SLOW = ("hw3.byte_pairs", "hw3.beam_search", "hw6.fit_pair", "hw6.best_answer", "hw7.best_tree")
SAMPLED = {"hw3.train_and_predict": 4}  # one mutant in so many is tried
MEMORY = 4 << 30  # bytes that a mutant may add to this process


@dataclass(frozen=True)
class Tried:
    """A mutant and the verdicts on it, one a seed."""

    mutant: Mutant
    verdicts: tuple[Verdict, ...]

    @property
    def survives(self) -> bool:
        """Whether any of the seeds lets it pass: a class is graded with one."""
        return any(verdict.right for verdict in self.verdicts)

    @property
    def raised(self) -> bool:
        """Whether it fails by itself, so that no comparison is needed to catch it."""
        return all(verdict.kind in ("raised", "time") for verdict in self.verdicts)

    @property
    def named(self) -> bool:
        """Whether its author is told a mistake's name."""
        return all(verdict.mistake for verdict in self.verdicts)


def is_quick(name: str) -> bool:
    """Whether all its mutants take seconds and not minutes."""
    return name not in SLOW and find(name).seconds <= 10


def sample(name: str) -> int:
    """One in so many of its mutants is tried."""
    return SAMPLED.get(name, 1)


class TooLong(BaseException):
    """A mutant loops."""


def tried(
    name: str, seeds: tuple[int, ...], one_in: int = 1, judge: Callable | None = None
) -> Iterator[Tried]:
    """The mutants of a question's answer, each graded with these seeds, by `judged` or another; of
    many, one in so many.
    """
    judge = judge or judged
    given, answer = dict(
        zip(questions(find(name).homework), answer_cells(find(name).homework), strict=True)
    )[name]
    space: dict = {}
    exec(given, space)
    keys = [key(name, seed) for seed in seeds]
    right = _seconds(_answer(answer, space, name), keys[0])
    # of CPU that a mutant may take: many times what the right answer does
    seconds = 0.3 + min(20 * right, 2 + 3 * right)
    for mutant in mutants(answer)[::one_in]:
        yield Tried(mutant, tuple(judge(mutant, space, key, seconds) for key in keys))


def judged(mutant: Mutant, given: dict, key: AnswerKey, seconds: float) -> Verdict:
    """The verdict on a mutant, which may take so many seconds of CPU."""
    try:
        with limited(seconds):
            function = _answer(mutant.source, given, key.question.name)
            outcomes = [run(function, case) for case in key.cases]
    except TooLong:
        outcomes = [Outcome(lost="time")]
    except Exception as error:  # the cell itself fails
        return Verdict(key.question.name, False, "raised", repr(error))
    return key.verdict(outcomes)


def passed(mutant: Mutant, given: dict, key: AnswerKey, seconds: float) -> Verdict:
    """As `judged`, of which only "right" counts: it is called no further than its first mistake,
    and nobody looks for that one's name.
    """
    try:
        with limited(seconds):
            right = key.accepts(_answer(mutant.source, given, key.question.name))
    except (TooLong, Exception):  # the last: the cell itself fails
        right = False
    return Verdict(key.question.name, right, "right" if right else "values")


def survivors(name: str, seeds: tuple[int, ...], one_in: int = 1) -> list[Mutant]:
    """The mutants that at least one of these seeds lets pass."""
    return [found.mutant for found in tried(name, seeds, one_in, passed) if found.survives]


@functools.cache
def equivalent(name: str) -> dict[str, str]:
    """The mutants of a question that were looked at and found right, by name; and why each is."""
    listed = yaml.safe_load(JUDGED.read_text(encoding="utf-8")).get(name, {})
    return {mutant: why for why, found in listed.items() for mutant in found}


def _answer(source: str, given: dict, name: str) -> object:
    space = dict(given)
    exec(source, space)
    return space[find(name).answer_name]


def _seconds(answer: object, key: AnswerKey) -> float:
    """CPU seconds that the right answer takes."""
    began = time.process_time()
    for case in key.cases:
        run(answer, case)
    return time.process_time() - began


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Cut what takes more CPU seconds (a busy machine does not count), or more memory.

    The garbage of other tests waits meanwhile: what is raised in a finalizer is dropped, and the
    alarm would be lost in it.
    """

    def ring(*_):
        raise TooLong

    before = signal.signal(signal.SIGPROF, ring)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as statm:
        resource.setrlimit(
            resource.RLIMIT_AS,
            (int(statm.read().split()[0]) * resource.getpagesize() + MEMORY, hard),
        )
    collects = gc.isenabled()
    gc.disable()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        if collects:
            gc.enable()
        signal.signal(signal.SIGPROF, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
