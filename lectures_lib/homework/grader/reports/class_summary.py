"""What a class did, counted: the numbers behind the report for the instructor."""

import re
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lectures_lib.homework.grader.grading.records import Result
from lectures_lib.homework.grader.grading.rules import Rules
from lectures_lib.homework.grader.grading.score import Score
from lectures_lib.homework.grader.marking.marks import Agreement
from lectures_lib.homework.grader.reports import told
from lectures_lib.homework.grader.reports.spreadsheet import number
from lectures_lib.homework.questions import Homework, Question
from lectures_lib.homework.verdict import Verdict

BINS = 12  # bars in the distribution of totals, at most, besides the one for full marks
STATES = ("right", "mistake", "wrong", "open", "cut")


@dataclass(frozen=True)
class Counted:
    """What became of one question: how many submissions lie in each drawer (see `told.state`), of
    those that are not excused from it.
    """

    question: Question
    counts: dict[str, int]

    @property
    def asked(self) -> int:
        """How many were asked."""
        return sum(self.counts.values())


@dataclass(frozen=True)
class Marked:
    """What became of a question that people mark: how many answers are marked, not marked yet, or
    not there; and the mean of the points that were given, None where none were.
    """

    title: str
    possible: float
    marked: int
    waiting: int
    without: int
    mean: float | None


@dataclass(frozen=True)
class Shared:
    """Something that several submissions have in common.

    Attributes:
        name: what it is.
        message: what its authors are told; "" where there is nothing to say.
        students: whose submissions they are.
        question: which one it concerns, if it concerns one.
    """

    name: str
    message: str
    students: list[str]
    question: Question | None = None


@dataclass(frozen=True)
class Bin:
    """A bar of the distribution: how many totals lie in it."""

    label: str
    count: int


@dataclass(frozen=True)
class Class:
    """A class.

    Attributes:
        handed_in: number of submissions; `read` of them could be read, and all that follows is
            about those.
        excused: who is excused from the homework; their answers are counted nowhere.
        partly: who is excused from some questions; their totals are taken as the same share of what
            is possible for the others.
        possible, mean, median: points; the mean and the median are None where nothing could be
            read.
        full: submissions with all points.
        late: submissions with points deducted for lateness.
        bins: the distribution of totals.
        withdrawn: titles of questions that do not count.
        extra: titles of questions whose points are extra credit.
        questions: in the homework's order.
        in_words: those that people mark.
        agreement: how far those agree who marked the same answers.
        waiting: students with an answer that is not marked yet; their totals are taken as the same
            share of what is possible for the others.
        mistakes: the recognised ones, the most frequent first.
        others: wrong answers that are in no catalogue, alike ones together, the most frequent
            first.
        stopped: why cells did not come to their end, alike reasons together.
        uses: ready-made things, and who mentions them.
        unread: files that could not be read, by reason.
        ungraded: files that the grader failed on, by reason.
        seconds: what grading took, added up over all submissions; `typical` is the median.
        slowest: students and seconds.
    """

    handed_in: int
    read: int
    excused: list[str]
    partly: list[str]
    possible: float
    mean: float | None
    median: float | None
    full: int
    late: int
    bins: list[Bin]
    withdrawn: list[str]
    extra: list[str]
    questions: list[Counted]
    in_words: list[Marked]
    agreement: tuple[Agreement, ...]
    waiting: int
    mistakes: list[Shared]
    others: list[Shared]
    stopped: list[Shared]
    uses: list[Shared]
    unread: list[Shared]
    ungraded: list[Shared]
    seconds: float
    typical: float
    slowest: list[tuple[str, float]]

    @property
    def by_everybody(self) -> list[Question]:
        """The questions that every submission answers rightly."""
        return [
            counted.question
            for counted in self.questions
            if counted.asked and counted.counts["right"] == counted.asked
        ]

    @property
    def by_nobody(self) -> list[Question]:
        """The questions that no submission answers rightly."""
        return [
            counted.question
            for counted in self.questions
            if counted.asked and not counted.counts["right"]
        ]


def summary(homework: Homework, results: Iterable[Result], rules: Rules | None = None) -> Class:
    """Count what a class did."""
    results, rules = list(results), rules or Rules()
    scored = [(result, rules.score(homework, result)) for result in results]
    counting = [
        (result, score) for result, score in scored if not result.problem and not score.exempt
    ]
    read, scores = [result for result, _ in counting], [score for _, score in counting]
    nothing = rules.score(homework, Result("", (), ""))
    possible = float(nothing.out_of)
    totals = [float(score.beside(possible)) for score in scores]
    seconds = [float(result.seconds) for result in results]
    return Class(
        handed_in=len(results),
        read=len(read),
        excused=[_who(result) for result, score in scored if score.exempt],
        partly=[_who(result) for result, score in counting if score.excused],
        possible=possible,
        mean=statistics.fmean(totals) if totals else None,
        median=float(statistics.median(totals)) if totals else None,
        full=sum(total >= possible for total in totals),
        late=sum(score.deducted > 0 for score in scores),
        bins=distribution(totals, possible),
        withdrawn=[rules.title(homework, name) for name in nothing.withdrawn],
        extra=[rules.title(homework, name) for name in nothing.extra],
        questions=[
            _counted(question, [r for r, score in counting if question.name not in score.excused])
            for question in homework.questions
        ],
        in_words=[
            _marked(name, rules.title(homework, name), scores)
            for name in rules.points_by_hand(homework)
        ],
        agreement=rules.agreement,
        waiting=sum(bool(score.unmarked) for score in scores),
        mistakes=_alike(
            homework, read, "mistake", lambda verdict: (verdict.question, verdict.mistake)
        ),
        others=_alike(
            homework,
            read,
            "wrong",
            lambda verdict: (verdict.question, re.sub(r"-?\d+(\.\d+)?", "#", verdict.message)),
        ),
        stopped=_together(
            (*_origin(cell, why), result) for result in read for cell, why in result.cells
        ),
        uses=_together((name, "", result) for result in read for name in result.uses),
        unread=_together(
            (result.problem, "", result)
            for result in results
            if result.problem and not result.fault
        ),
        ungraded=_together((result.problem, "", result) for result in results if result.fault),
        seconds=float(sum(seconds)),
        typical=float(statistics.median(seconds)) if seconds else 0.0,
        slowest=sorted(
            ((_who(result), float(result.seconds)) for result in results), key=lambda pair: -pair[1]
        )[:5],
    )


def distribution(totals: Sequence[float], possible: float) -> list[Bin]:
    """How many totals lie in each of a dozen bins at most, full marks in one of their own.

    A bin reaches up to the next one's first number. Where all totals are whole, its label names the
    last that lies in it: "6–7".
    """
    width = next(
        step * power
        for power in (1, 10, 100, 1000, 10_000)
        for step in (1, 2, 5)
        if possible <= BINS * step * power
    )
    whole = all(total == int(total) for total in totals)
    bins, start = [], 0
    while start < possible:
        end = min(start + width, possible)
        inside = sum((total >= start or start == 0) and total < end for total in totals)
        last = end - 1 if whole and end == int(end) else end
        bins.append(
            Bin(number(start) if last == start else f"{number(start)}–{number(last)}", inside)
        )
        start += width
    above = any(total > possible for total in totals)
    return [
        *bins,
        Bin(
            f"{number(possible)}{' and more' if above else ''}",
            sum(total >= possible for total in totals),
        ),
    ]


def _counted(question: Question, read: list[Result]) -> Counted:
    counts = dict.fromkeys(STATES, 0)
    for result in read:
        verdict = next(
            (verdict for verdict in result.verdicts if verdict.question == question.name), None
        )
        counts[told.state(verdict) if verdict else "open"] += 1
    return Counted(question, counts)


def _marked(name: str, title: str, scores: list[Score]) -> Marked:
    answers = [(score, score.in_words[name]) for score in scores if name in score.in_words]
    given = [score.points[name] for score, answer in answers if answer.state == "marked"]
    return Marked(
        title,
        next((score.possible[name] for score, _ in answers), 0.0),
        len(given),
        sum(name in score.unmarked for score, _ in answers),
        sum(answer.state in ("empty", "missing") for _, answer in answers),
        statistics.fmean(given) if given else None,
    )


def _alike(homework: Homework, read: list[Result], state: str, key) -> list[Shared]:
    """The verdicts of one drawer, those with the same key together, the most frequent first."""
    found: dict[tuple, list[tuple[Verdict, str]]] = {}
    for result in read:
        for verdict in result.verdicts:
            if told.state(verdict) == state:
                found.setdefault(key(verdict), []).append((verdict, _who(result)))
    shared = [
        Shared(
            told.mistake(theirs[0][0]),
            theirs[0][0].message,
            [who for _, who in theirs],
            homework[theirs[0][0].question],
        )
        for theirs in found.values()
    ]
    return sorted(shared, key=lambda one: -len(one.students))


def _together(found: Iterable[tuple[str, str, Result]]) -> list[Shared]:
    """Names, messages and whose they are: those of the same name together, with the first one's
    message, the most frequent first.
    """
    groups: dict[str, tuple[str, dict[str, str]]] = {}
    for name, message, result in found:  # two students may have one name
        groups.setdefault(name, (message, {}))[1][result.student] = _who(result)
    shared = [Shared(name, said, list(who.values())) for name, (said, who) in groups.items()]
    return sorted(shared, key=lambda one: -len(one.students))


def _origin(cell: int, why: str) -> tuple[str, str]:
    """Why a cell stopped: the exception's class and the rest of it, or the sentence that tells of
    another end.
    """
    raised = re.match(r"(\w{1,60})(?= in line |: |\.$)", why)
    return (raised[1], f"cell {cell}: {why}") if raised else (why, "")


def _who(result: Result) -> str:
    return result.name or result.student
