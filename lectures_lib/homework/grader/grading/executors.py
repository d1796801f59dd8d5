"""Who does the work: threads of this machine, or the workers of a Dask cluster. Both give results
as they come.
"""

import functools
import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from queue import SimpleQueue
from typing import Any, Protocol, runtime_checkable

from lectures_lib.homework.diagnosis import AnswerKey
from lectures_lib.homework.grader.grading.grade_one import Job, better, facts, grade_safely
from lectures_lib.homework.grader.grading.records import Result
from lectures_lib.homework.grader.sandbox import bubblewrap, doors, template
from lectures_lib.homework.grader.sandbox.template import Limits
from lectures_lib.homework.grader.submissions.collect import Submission
from lectures_lib.homework.notebook import Unreadable
from lectures_lib.homework.questions import load
from lectures_lib.homework.variants import Draw

PATIENCE = 20  # seconds for a scheduler to answer
# submissions that a cluster is given for each of its threads: enough that none waits, and little
# that travels in vain
AHEAD = 3


@runtime_checkable
class Executor(Protocol):
    """Grades submissions somewhere."""

    def results(self, submissions: list[Submission], job: Job) -> Iterator[Result]:
        """The result of each submission, in the order in which they come in."""


def settled(
    first: Iterable[tuple[Submission, Result]], alone: Callable[[Submission], Result]
) -> Iterator[Result]:
    """The results as they come; those in doubt at the end, each after a second run with nothing
    else beside it.

    Args:
        first: submissions and their results.
        alone: grades one submission, and comes back when that is done.
    """
    doubtful = []
    for submission, result in first:
        if result.doubtful:
            doubtful.append((submission, result))
        else:
            yield result
    for submission, result in doubtful:
        yield better(result, alone(submission))


class Threads:
    """Threads of this process; each has one sandbox at a time.

    Args:
        workers: how many.
    """

    def __init__(self, workers: int = 1):
        self._workers = workers

    def results(self, submissions: list[Submission], job: Job) -> Iterator[Result]:
        """The result of each submission. When nobody wants more of them (Ctrl-C), what is running
        is ended at once.
        """
        # the thread that has tried the doors waits from now on: its sandbox is the first worker's
        pool = ThreadPoolExecutor(
            self._workers, initializer=template.take, initargs=(template.spared(),)
        )
        # A queue, because `as_completed` hands out what is already done in no order: faults "in a
        # row" would mean nothing.
        done = SimpleQueue()
        try:
            for submission in submissions:
                pool.submit(grade_safely, submission, job).add_done_callback(
                    lambda future, graded=submission: done.put((graded, future))
                )
            first = (
                (graded, future.result()) for graded, future in (done.get() for _ in submissions)
            )
            alone = replace(job, alone=True)
            yield from settled(
                first, lambda submission: pool.submit(grade_safely, submission, alone).result()
            )
        finally:
            with template.ended():
                pool.shutdown(cancel_futures=True)


class Dask:
    """The workers of a Dask cluster. Each needs the same version of the course, and a sandbox that
    works.

    Args:
        scheduler: its address, such as "tcp://10.0.0.5:8786".

    Raises:
        ValueError: if dask.distributed is not installed, or no scheduler answers.
    """

    def __init__(self, scheduler: str):
        try:
            import distributed
        except ImportError:
            raise ValueError(
                "grading on a cluster needs dask.distributed: pip install 'lectures-lib[cluster]'"
            ) from None
        self._distributed = distributed
        try:
            self._client = distributed.Client(scheduler, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise ValueError(f"no Dask scheduler answers at {scheduler} ({error})") from None

    def results(self, submissions: list[Submission], job: Job) -> Iterator[Result]:
        """The result of each submission. One whose worker dies is given to another; after three
        deaths it is left for the next run.

        Raises:
            bubblewrap.Refused: if a worker cannot grade, with the reason.
        """
        order = (
            job.homework.name,
            job.seed,
            tuple(key.question.name for key in job.keys),
            job.limits,
            bank_fingerprint(),
            job.draw,
        )
        threads = sum(self._client.nthreads().values())
        if not threads:
            raise bubblewrap.Refused(
                f"the scheduler at {self._client.scheduler.address} has no workers; start some "
                f"with `dask worker`"
            )
        waiting = iter(submissions)
        asked: dict[Any, Submission] = {}
        done = self._distributed.as_completed(loop=self._client.loop)

        def ask(submission: Submission, alone: bool = False) -> Any:
            packed = _packed(submission)
            future = self._client.submit(_graded_there, order, packed, alone, pure=False)
            asked[future] = submission
            return future

        def first() -> Iterator[tuple[Submission, Result]]:
            for submission in islice(waiting, AHEAD * threads):
                done.add(ask(submission))
            for future in done:
                submission = asked.pop(future)
                for more in islice(waiting, 1):
                    done.add(ask(more))
                yield submission, self._received(future, submission, job)

        try:
            yield from settled(
                first(), lambda submission: self._received(ask(submission, True), submission, job)
            )
        finally:
            self._client.cancel(list(asked))
            self._client.close()

    def _received(self, future: Any, submission: Submission, job: Job) -> Result:
        """What came of it; a death that was not the student's doing is no result to remember."""
        try:
            return future.result()
        except bubblewrap.Refused:
            raise
        except Exception as error:
            problem = (
                f"The workers failed on this file ({type(error).__name__}: {error}). Run the same "
                f"command again, or look at their logs."
            )
            return replace(
                facts(submission), verdicts=job.unanswered(), problem=problem[:500], fault=True
            )


@functools.cache
def bank_fingerprint() -> str:
    """Of all that decides about a grade: two machines with the same one judge alike."""
    digest = hashlib.sha256()
    for path in sorted((bubblewrap.PACKAGE / "homework").rglob("*.py")):
        digest.update(path.relative_to(bubblewrap.PACKAGE).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def _packed(submission: Submission) -> tuple[Submission, bytes, str]:
    """A submission as it can travel: without the way to its file, with what is in it."""
    try:
        content, problem = submission.read(), ""
    except Unreadable as error:
        content, problem = b"", str(error)
    return replace(submission, read=None), content, problem


def _unpacked(submission: Submission, content: bytes, problem: str) -> Submission:
    def read() -> bytes:
        if problem:
            raise Unreadable(problem)
        return content

    return replace(submission, read=read)


def _graded_there(order: tuple, packed: tuple[Submission, bytes, str], alone: bool) -> Result:
    """On a worker: the result."""
    job = _job(order)
    return grade_safely(_unpacked(*packed), replace(job, alone=True) if alone else job)


_one_at_a_time = threading.Lock()


def _job(order: tuple) -> Job:
    """The job on a worker. Its doors are tried and its keys are made once.

    Raises:
        bubblewrap.Refused: if this worker cannot grade.
    """
    with _one_at_a_time:
        return _made(*order)


@functools.lru_cache(maxsize=4)
def _made(
    name: str,
    seed: int,
    questions: tuple[str, ...],
    limits: Limits,
    fingerprint: str,
    draw: Draw | None = None,
) -> Job:
    if fingerprint != bank_fingerprint():
        raise bubblewrap.Refused(
            f"the worker's lectures_lib at {bubblewrap.PACKAGE} is not the grader's: install the "
            f"same version on both"
        )
    doors.require_own_imports()
    doors.require()
    homework = load(name)
    keys = tuple(AnswerKey(homework[question], seed) for question in questions)
    return Job(homework, seed, keys, limits, draw)
