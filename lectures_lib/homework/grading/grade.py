"""Grade a class: every submission through the sandbox, every result remembered, the grade book and feedback pages written."""

import hashlib
import json
import platform
import re
import secrets
import shlex
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import torch

import lectures_lib
from lectures_lib.homework.diagnosis import AnswerKey, Verdict, answer_keys
from lectures_lib.homework.grading.execution import Execution
from lectures_lib.homework.grading.records import Records, Result, write_whole
from lectures_lib.homework.inside.calls import Raised
from lectures_lib.homework.notebook import Unreadable, code_cells
from lectures_lib.homework.questions import Homework
from lectures_lib.homework.reports import feedback, gradebook
from lectures_lib.homework.sandbox import bubblewrap, doors
from lectures_lib.homework.sandbox.template import Limits
from lectures_lib.homework.submissions.collect import Submission, collect

# Why a cell was cut.
CUT = {
    "time": "It did not come to its end in time: an endless loop?",
    "memory": "It needed more memory than it may have.",
    "ended": "It ended the process: `os._exit`, a crash, or too much memory.",
    "unreached": "It was not run any more: the notebook had used up its time.",
}


def grade(
    homework: Homework,
    source: Path,
    out: Path,
    workers: int = 1,
    seed: int | None = None,
    limits: Limits | None = None,
    progress: Callable[[Iterable[Result], int], Iterable[Result]] = lambda results, total: results,
) -> list[Result]:
    """Grade every submission in `source`; write grades.csv, feedback pages and a record of the run to `out`.

    Run again after an interruption, it goes on with the same seed and grades only what is new or has changed.

    Args:
        homework: the questions.
        source: a folder of notebooks, or a zip of them; a notebook's name is the student's.
        out: the folder for the results; made if it is not there.
        workers: how many submissions run at the same time.
        seed: of the inputs, the same for the whole class; None: a new one that nobody knew before.
        limits: what each submission may use.
        progress: wraps the results as they come in, to show that they do; it is also told how many there will be.

    Raises:
        bubblewrap.Refused: if student code cannot be shut in here. Nothing has been run then.
        FileNotFoundError, ValueError: if there is nothing to grade, or `out` holds another run.
    """
    submissions = collect(source)
    if out.resolve().is_relative_to(source.resolve()):
        raise ValueError(f"{out} lies in the folder of submissions {source}; choose another place for the results")
    limits = limits or Limits()
    doors.require(hidden=[source, out] if out.exists() else [source])
    out.mkdir(parents=True, exist_ok=True)
    seed = _begin(homework, out, seed)
    keys = list(answer_keys(homework, seed).values())
    _rehearse(keys, limits)
    records = Records(out / "results")
    results = []
    pool = ThreadPoolExecutor(workers)
    try:
        futures = [pool.submit(_graded_once, submission, homework, keys, seed, limits, records) for submission in submissions]
        for result in progress((future.result() for future in as_completed(futures)), len(futures)):
            results.append(result)
    finally:
        pool.shutdown(cancel_futures=True)
    results.sort(key=lambda result: result.student)
    write_whole(out / "grades.csv", gradebook.table(homework, results))
    feedback.write_all(homework, results, out / "feedback")
    return results


def grade_one(submission: Submission, homework: Homework, keys: list[AnswerKey], limits: Limits) -> Result:
    """Grade one submission. Whatever it is, the outcome is a result."""
    began = time.monotonic()
    result = _ungraded(submission)
    try:
        execution = Execution(code_cells(submission.read()), limits)
    except Unreadable as error:
        return replace(result, verdicts=_none(keys), problem=str(error))
    outcomes = execution.run(keys)
    verdicts = tuple(_explained(key.verdict(outcomes[key.question.name]), key, execution) for key in keys)
    cells = tuple((i + 1, _told(why)) for i, why in sorted(execution.failures.items()))
    seconds = round(time.monotonic() - began, 2)
    return replace(result, verdicts=verdicts, cells=cells, uses=_ready_made(homework, execution.cells), seconds=seconds)


def _graded_once(submission: Submission, homework: Homework, keys: list[AnswerKey], seed: int, limits: Limits, records: Records) -> Result:
    """The submission's result: the remembered one if it still holds, else a new one."""
    fingerprint = _fingerprint(submission, keys, seed)
    if result := records.get(submission.student, fingerprint):
        return result
    try:
        result = replace(grade_one(submission, homework, keys, limits), fingerprint=fingerprint)
    except Exception as error:  # a fault of the grader's own must not stop the class; not remembered, so the next run tries again
        problem = f"The grader failed on this file ({type(error).__name__}: {error}). This is a fault of the grader: please report it."
        return replace(_ungraded(submission), fingerprint=fingerprint, verdicts=_none(keys), problem=problem[:500])
    records.put(result)
    return result


def _ungraded(submission: Submission) -> Result:
    """What is known of a submission before it is looked at."""
    handed_in = submission.handed_in.isoformat() if submission.handed_in else ""
    return Result(
        submission.student, submission.files, "", name=submission.name, ids=submission.ids, handed_in=handed_in, earlier=submission.earlier
    )


def _none(keys: list[AnswerKey]) -> tuple[Verdict, ...]:
    return tuple(Verdict(key.question.name, False, "unread") for key in keys)


def _fingerprint(submission: Submission, keys: list[AnswerKey], seed: int) -> str:
    try:
        content = submission.read()
    except Unreadable as error:
        content = str(error).encode()
    asked = json.dumps([seed, [(key.question.name, key.question.points) for key in keys]]).encode()
    return hashlib.sha256(hashlib.sha256(asked).digest() + content).hexdigest()


def _ready_made(homework: Homework, cells: list[str]) -> tuple[str, ...]:
    """The ready-made things that the code mentions though its author was to build them. Instructors are told; no points are taken."""
    code = "\n".join(line for cell in cells for line in cell.splitlines() if not line.lstrip().startswith("#"))
    return tuple(name for name in homework.ready_made if re.search(rf"\b{re.escape(name)}\b", code))


def _explained(verdict: Verdict, key: AnswerKey, execution: Execution) -> Verdict:
    """A missing answer, with the reason if a cell that defines it failed."""
    if verdict.kind != "missing":
        return verdict
    name = re.escape(key.question.answer_name)
    defines = re.compile(rf"^\s*(?:(?:def|class)\s+{name}\b|{name}\s*=)", re.MULTILINE)
    for i, why in sorted(execution.failures.items()):
        if defines.search(execution.cells[i]):
            return replace(verdict, message=f"It is defined in code cell {i + 1}, and that cell did not come to its end. {_told(why)}")
    return verdict


def _told(why: Raised | str) -> str:
    """Why a cell stopped."""
    if isinstance(why, Raised):
        where = f" in line {why.line}, `{why.source}`" if why.source else ""
        return f"{why.kind}{where}: {why.message}" if why.message else f"{why.kind}{where}."
    return CUT.get(why, "What became of it is not known.")


def _begin(homework: Homework, out: Path, seed: int | None) -> int:
    """Start the run's record, or take it up again; the seed of the run.

    Raises:
        ValueError: if the folder holds the grades of another homework, or of another seed.
    """
    path = out / "grading.json"
    if path.exists():
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["homework"] != homework.name or seed not in (None, record["seed"]):
            raise ValueError(f"{out} holds grades of {record['homework']} with seed {record['seed']}; choose another folder")
        return record["seed"]
    seed = secrets.randbits(32) if seed is None else seed
    versions = {"lectures_lib": lectures_lib.__version__, "torch": torch.__version__, "python": platform.python_version()}
    begun = datetime.now(UTC).isoformat(timespec="seconds")
    record = {"homework": homework.name, "seed": seed, "begun": begun, "command": shlex.join(sys.argv), "versions": versions}
    write_whole(path, json.dumps(record, indent=1) + "\n")
    return seed


def _rehearse(keys: list[AnswerKey], limits: Limits) -> None:
    """Make sure that an answer reaches the questions at all, before a whole class gets 0 for a broken installation."""
    name = keys[0].question.answer_name
    outcomes = Execution([f"def {name}(*args, **kwargs):\n    raise NotImplementedError"], limits).run(keys[:1])[keys[0].question.name]
    heard = keys[0].question.cases and all(outcome.raised for outcome in outcomes)
    if not heard:
        raise bubblewrap.Refused(f"The sandbox starts, but answers do not come back from it ({outcomes[0].lost or 'a value instead'}).")
