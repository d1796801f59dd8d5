"""Grade a class: every submission through the sandbox, every result remembered, the grade book and
all reports written.
"""

import json
import platform
import secrets
import shlex
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import torch

import lectures_lib
from lectures_lib.files import write_whole
from lectures_lib.homework.careless import by_chance
from lectures_lib.homework.diagnosis import AnswerKey
from lectures_lib.homework.grader.grading.execution import Execution
from lectures_lib.homework.grader.grading.executors import Executor, Threads
from lectures_lib.homework.grader.grading.grade_one import Job, facts
from lectures_lib.homework.grader.grading.records import Records, Result, only_one
from lectures_lib.homework.grader.grading.rules import Rules
from lectures_lib.homework.grader.reports.everything import write_all
from lectures_lib.homework.grader.sandbox import bubblewrap, doors, guest, template
from lectures_lib.homework.grader.sandbox.template import Limits
from lectures_lib.homework.grader.submissions.collect import Submission, collect
from lectures_lib.homework.questions import Homework, Question
from lectures_lib.homework.variants import Draw

DRAWS = 20  # seeds that are looked at before a question bank is given up
COMPARED = 3  # seeds that each is compared with
FAULTS = 5  # of the grader's own, one after the other, before the run stops


def grade(
    homework: Homework,
    source: Path,
    out: Path,
    executor: Executor | None = None,
    seed: int | None = None,
    limits: Limits | None = None,
    rules: Rules | None = None,
    kind: str = "auto",
    again: tuple[str, ...] = (),
    progress: Callable[[Iterable[Result], int], Iterable[Result]] = lambda results, total: results,
    tell: Callable[[str], None] = lambda text: None,
    container: bool = False,
) -> list[Result]:
    """Grade every submission in `source`; write all reports and a record of the run to `out`.

    Run again after an interruption, it goes on with the same seed and grades only what is new or
    has changed.

    Args:
        homework: the questions.
        source: what was handed in, see `submissions.collect`.
        out: the folder for the results; made if it is not there.
        executor: who does the work; None: one thread.
        seed: of the inputs, the same for the whole class; None: a new one that nobody knew before.
        limits: what each submission may use.
        rules: points, deadline and late policy; None: the points of the question bank.
        kind: how the submissions are packed; "auto" looks.
        again: full names of questions that are put again to everybody, whose other verdicts stay.
        progress: wraps the results as they come in, to show that they do; it is also told how many
            there will be.
        tell: is given what an instructor should know: what was found, what could not be written.
        container: whether this is a container for one student's files, thrown away afterwards:
            weaker walls are enough where the sandbox does not start (see `sandbox.guest`).

    A result with `fault` is no grade: the grader failed on that file, and tries again in the next
    run.

    Raises:
        bubblewrap.Refused: if student code cannot be shut in here: nothing has been run then. Or if
            the grader failed on several submissions in a row: what was graded before is safe.
        FileNotFoundError, ValueError: if there is nothing to grade, or `out` holds another run.
        OSError: if there is no room for the results. What was written before is safe.
    """
    submissions = collect(source, kind, homework.name, homework.answer_names)
    tell(submissions.told)
    if out.resolve().is_relative_to(source.resolve()):
        raise ValueError(
            f"{out} lies in the folder of submissions {source}; choose another place for the "
            f"results"
        )
    questions = [homework[name] for name in again] or list(homework.questions)
    limits = limits or Limits()
    warm = doors.require([source, out] if out.exists() else [source], container)
    if template.as_guest():
        tell(guest.WEAKER)
    elif not warm:
        tell(
            "This machine allows no spaces within spaces: each submission imports torch anew, "
            "about a second more."
        )
    out.mkdir(parents=True, exist_ok=True)
    with only_one(out), Records(out) as records:
        draw = rules.draw if rules else None
        seed = _begin(homework, out, seed, draw)
        keys = tuple(AnswerKey(question, seed) for question in questions)
        job = Job(homework, seed, keys, limits, draw)
        _rehearse(job)
        known, unknown, outdated = _sorted_out(submissions, job, records, again)
        if outdated:
            tell(
                f"{outdated} results were worked out with another version of the questions, or "
                f"under other limits: {AGAIN[bool(again)]}."
            )
        began, used = time.monotonic(), template.cpu_seconds()
        results = list(
            progress(
                _all(known, unknown, job, records, executor or Threads(), again), len(submissions)
            )
        )
        spent = {
            "graded": len(unknown),
            "seconds": time.monotonic() - began,
            "sandbox_cpu_seconds": template.cpu_seconds() - used,
        }
        _note(out, {name: round(value, 2) for name, value in spent.items()})
    results.sort(key=lambda result: result.student)
    for warning in write_all(homework, results, out, rules or Rules()):
        tell(warning)
    return results


AGAIN = {False: "they are worked out anew", True: "only what is asked for is worked out anew"}


def _sorted_out(
    submissions: list[Submission], job: Job, records: Records, again: tuple[str, ...]
) -> tuple[list[Result], dict[str, tuple[Submission, Result | None]], int]:
    """The results that still hold; what is to be graded: {student: (submission, its result up to
    now if only some questions are)}; and how many results are of another bank, or of other limits.
    Where only some questions are put again, the others' verdicts stay.
    """
    known, unknown, outdated = [], {}, 0
    for submission in submissions:
        kept = records.get(submission.student)
        holds = kept is not None and kept.fingerprint == _fingerprint(submission, job)
        if holds and kept.bank != job.bank:
            outdated += 1
            holds = bool(again)
        if holds and not again:
            known.append(_brought_up_to_date(kept, submission))
        else:
            unknown[submission.student] = submission, kept if holds else None
    return known, unknown, outdated


def _fingerprint(submission: Submission, job: Job) -> str:
    """Its fingerprint; "" where that fails: whoever grades it then tells the fault."""
    try:
        return job.fingerprint(submission)
    except Exception:
        return ""


def _all(
    known: list[Result],
    unknown: dict[str, tuple[Submission, Result | None]],
    job: Job,
    records: Records,
    executor: Executor,
    again: tuple,
) -> Iterator[Result]:
    """The known results, then the new ones, each written down before it is handed on."""
    yield from known
    whole = job
    # new files are asked everything
    if again and any(kept is None for _, kept in unknown.values()):
        whole = replace(
            job, keys=tuple(AnswerKey(question, job.seed) for question in job.homework.questions)
        )
    for some, asked in ((True, job), (False, whole)):
        part = [submission for submission, kept in unknown.values() if (kept is not None) == some]
        if not part:
            continue
        faults = 0
        for result in executor.results(part, asked):
            faults = faults + 1 if result.fault else 0
            if faults >= FAULTS:
                raise bubblewrap.Refused(
                    f"The grader failed on {faults} submissions in a row, so the run stops. The "
                    f"last: {result.problem} "
                    "What was graded before is safe; the same command goes on there."
                )
            if kept := unknown[result.student][1]:
                result = _merged(kept, result)
            if not result.fault:
                result = replace(result, bank=job.bank)
                records.put(result)
            yield result


def _merged(kept: Result, new: Result) -> Result:
    """A result of which some questions were put again."""
    if new.fault:
        return new
    verdicts = {verdict.question: verdict for verdict in new.verdicts}
    return replace(
        new, verdicts=tuple(verdicts.get(verdict.question, verdict) for verdict in kept.verdicts)
    )


def _brought_up_to_date(kept: Result, submission: Submission) -> Result:
    """A remembered result, with what is known of the submission today: the same file may have been
    handed in again, later.
    """
    now = facts(submission)
    return replace(
        kept,
        files=now.files,
        name=now.name,
        ids=now.ids,
        handed_in=now.handed_in,
        earlier=now.earlier,
        texts=now.texts,
    )


def _begin(homework: Homework, out: Path, seed: int | None, draw: Draw | None) -> int:
    """Start the run's record, or take it up again; the seed of the run.

    Raises:
        ValueError: if the folder holds the grades of another homework, or of another seed.
    """
    path = out / "grading.json"
    if path.exists():
        name, seed_there = _recorded(path)
        if name != homework.name or seed not in (None, seed_there):
            raise ValueError(
                f"{out} holds grades of {name} with seed {seed_there}; choose another folder"
            )
        return seed_there
    if seed is None:
        seed = drawn(homework, draw.all(homework) if draw else homework.questions)
    versions = {
        "lectures_lib": lectures_lib.__version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
    begun = datetime.now(UTC).isoformat(timespec="seconds")
    record = {
        "homework": homework.name,
        "seed": seed,
        "begun": begun,
        "command": shlex.join(sys.argv),
        "versions": versions,
    }
    write_whole(path, json.dumps(record, indent=1) + "\n")
    return seed


def _recorded(path: Path) -> tuple[str, int]:
    """Homework and seed of the run that this file records.

    Raises:
        ValueError: if it is damaged.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        name, seed = record["homework"], record["seed"]
        if not isinstance(name, str) or type(seed) is not int:
            raise TypeError("no homework and seed")
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path} is damaged ({type(error).__name__}: {error}): it holds the run's seed, "
            f"without which nothing can go on. "
            "Restore it, or choose another folder."
        ) from None
    return name, seed


def _note(out: Path, spent: dict[str, float | int]) -> None:
    """Keep what this run has cost, below the runs before it."""
    record = json.loads((out / "grading.json").read_text(encoding="utf-8"))
    record.setdefault("runs", []).append(spent)
    write_whole(out / "grading.json", json.dumps(record, indent=1) + "\n")


def drawn(homework: Homework, asked: Iterable[Question] = ()) -> int:
    """A seed that nobody knew before, with whose inputs every mistake shows that shows with others,
    and each known one gets its name; of the homework's questions, or of those `asked`.

    Raises:
        ValueError: if there is none among many: a question's inputs do not do what they are for.
    """
    for _ in range(DRAWS):
        seed = secrets.randbits(32)
        faults = [
            fault
            for question in asked or homework.questions
            if question.seconds <= 10
            for fault in _faults(question, seed)
        ]
        if not faults:
            return seed
    raise ValueError(
        f"{homework.name}: of {DRAWS} seeds none tells all mistakes apart. With the last: "
        f"{'; '.join(faults[:3])}"
    )


def _faults(question: Question, seed: int) -> list[str]:
    """What the inputs of this seed fail to do."""
    key, *others = (AnswerKey(question, seed + i) for i in range(1 + COMPARED))
    # careless answers, and known mistakes, divide by nothing and make layers without weights
    with warnings.catch_warnings(action="ignore"):
        mistaken, overlooked = key.faults(), by_chance(key, others)
    return [
        *mistaken,
        *(f"{question.name}: an answer with {told} is judged right" for told in overlooked),
    ]


def _rehearse(job: Job) -> None:
    """Make sure that an answer reaches the questions at all, before a whole class gets 0 for a
    broken installation.
    """
    key = job.keys[0]
    source = f"def {key.question.answer_name}(*args, **kwargs):\n    raise NotImplementedError"
    outcomes = Execution([source], job.limits).run([key])[key.question.name]
    heard = key.question.cases and all(outcome.raised for outcome in outcomes)
    if not heard:
        raise bubblewrap.Refused(
            f"The sandbox starts, but answers do not come back from it "
            f"({outcomes[0].lost or 'a value instead'})."
        )
