"""Grade one submission: run its cells in the sandbox, put the questions, judge what comes back.
Whatever it is, the outcome is a result.
"""

import functools
import hashlib
import json
import sys
import threading
import time
import types
from dataclasses import dataclass, replace
from pathlib import Path

import lectures_lib
from lectures_lib.homework import text_answers
from lectures_lib.homework.diagnosis import AnswerKey
from lectures_lib.homework.grader.grading import hints, unanswered
from lectures_lib.homework.grader.grading.execution import Execution
from lectures_lib.homework.grader.grading.explained import explained, why_it_stopped
from lectures_lib.homework.grader.grading.names import names_of
from lectures_lib.homework.grader.grading.own_code import Definitions, Excerpt
from lectures_lib.homework.grader.grading.records import Result
from lectures_lib.homework.grader.sandbox import template
from lectures_lib.homework.grader.sandbox.template import Limits
from lectures_lib.homework.grader.submissions.collect import Submission
from lectures_lib.homework.grader.submissions.mentions import mentions
from lectures_lib.homework.notebook import Unreadable, code_cells, text_cells
from lectures_lib.homework.questions import Homework, Question
from lectures_lib.homework.variants import Draw
from lectures_lib.homework.verdict import Verdict

_one_at_a_time = threading.RLock()  # a key is made once, whichever thread asks first
HOMEWORK = Path(lectures_lib.__file__).parent / "homework"
JUDGES = (
    "compare/*.py",
    "diagnosis.py",
    "questions.py",
    "verdict.py",
    "inside/*.py",
    "grader/grading/execution.py",
    "grader/sandbox/clock.py",
    "grader/sandbox/line.py",
    "grader/sandbox/memory.py",
    "grader/sandbox/process.py",
    "grader/sandbox/proc_stat.py",
)
# How code reaches the part of the grader that runs beside it; no homework needs any of them.
WAYS_AROUND = ("sys.modules", "sys._getframe", "gc.get_objects", "gc.get_referrers", "ctypes")
SEALED_SET_UP = '"google.colab" in sys.modules'  # the one such place in a set-up cell


@dataclass(frozen=True)
class Job:
    """What is asked of every submission of a class.

    Attributes:
        homework: its questions.
        seed: of the inputs.
        keys: of the questions to put: all of the homework's, or those that are put again.
        limits: what a submission may use.
        draw: which variants of the questions are asked; None: the course's own.
        alone: whether nothing else is graded beside it; see `Execution`.
    """

    homework: Homework
    seed: int
    keys: tuple[AnswerKey, ...]
    limits: Limits
    draw: Draw | None = None
    alone: bool = False

    def of(self, submission: Submission) -> "Job":
        """What is asked of this submission's author: by the course's file, whatever the notebook
        says.
        """
        if self.draw is None:
            return self
        homework = self.draw.homework(self.homework, names_of(submission))
        keys = tuple(self._key(homework[key.question.name]) for key in self.keys)
        return replace(self, homework=homework, keys=keys, draw=None)

    def _key(self, question: Question) -> AnswerKey:
        """The key of a question in one of its variants, made once."""
        with _one_at_a_time:
            found = self._made.get((question.name, question.variant))
            if found is None:
                found = AnswerKey(question, self.seed)
                self._made[question.name, question.variant] = found
            return found

    @functools.cached_property
    def _made(self) -> dict[tuple[str, int], AnswerKey]:
        return {(key.question.name, key.question.variant): key for key in self.keys}

    def fingerprint(self, submission: Submission) -> str:
        """Of the submission's content, the seed and the homework's questions: as long as it is the
        same, so is the result.
        """
        try:
            content = submission.read()
        except Unreadable as error:
            content = str(error).encode()
        asked = json.dumps([self.seed, self._asked(submission)]).encode()
        return hashlib.sha256(hashlib.sha256(asked).digest() + content).hexdigest()

    def _asked(self, submission: Submission) -> list[str]:
        """The questions' names; of one that varies also the variant."""
        draw = self.draw
        homework = draw.homework(self.homework, names_of(submission)) if draw else self.homework
        return [q.name + f"#{q.variant}" * bool(q.variant) for q in homework.questions]

    @functools.cached_property
    def bank(self) -> str:
        """Of the questions, the code that judges answers, and the limits: as long as it is the
        same, so is the verdict.
        """
        digest = hashlib.sha256(repr(self.limits).encode())
        # what all homework shares stands beside them
        banks = (f"banks/{self.homework.name}/*.py", "banks/*.py")
        paths = {
            path for pattern in (*banks, *JUDGES) for path in HOMEWORK.glob(pattern)
        } | _modules_behind(self.homework.name)
        for path in sorted(paths):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
        for question in self.homework.questions:
            settings = (
                question.name,
                question.rtol,
                question.atol,
                question.share,
                question.seconds,
                question.below,
                question.demands,
            )
            answers = [
                question.cases,
                question.reference,
                *(mistake.answer for mistake in question.misconceptions),
            ]
            told = [(mistake.name, mistake.diagnosis) for mistake in question.misconceptions]
            digest.update(
                repr(
                    (
                        settings,
                        told,
                        [_code(getattr(answer, "__code__", None)) for answer in answers],
                    )
                ).encode()
            )
        return digest.hexdigest()

    def unanswered(self) -> tuple[Verdict, ...]:
        """The verdicts on a file that cannot be read."""
        return tuple(Verdict(key.question.name, False, "unread") for key in self.keys)


def _modules_behind(homework: str) -> set[Path]:
    """The library's modules, outside of the homework, that its questions take something from, such
    as the reference of hw1's last one.
    """
    found = set()
    for name, module in list(sys.modules.items()):
        if module is not None and f"{name}.".startswith(f"lectures_lib.homework.banks.{homework}."):
            sources = {getattr(value, "__module__", None) or "" for value in vars(module).values()}
            behind = [
                source
                for source in sources
                if source.startswith("lectures_lib.") and ".homework" not in source
            ]
            found |= {
                Path(sys.modules[source].__file__) for source in behind if source in sys.modules
            }
    return found


def _code(code: types.CodeType | None) -> object:
    """What a function does, as far as its own code tells."""
    if code is None:
        return None
    return (
        code.co_code,
        code.co_names,
        [
            _code(each) if isinstance(each, types.CodeType) else _written(each)
            for each in code.co_consts
        ],
    )


def _written(constant: object) -> str:
    """A constant as text, in every process the same; the order of `x in {"a", "b"}` changes with
    each.
    """
    if isinstance(constant, frozenset):
        return f"{{{', '.join(sorted(map(repr, constant)))}}}"
    return repr(constant)


def grade_one(submission: Submission, job: Job) -> Result:
    """The result of one submission.

    Raises:
        bubblewrap.Refused: if no process could be started for it.
    """
    began = time.monotonic()
    result = replace(facts(submission), fingerprint=job.fingerprint(submission))
    job = job.of(submission)
    try:
        data = submission.read()
        execution = Execution(code_cells(data), job.limits, alone=job.alone)
    except Unreadable as error:
        return replace(result, verdicts=job.unanswered(), problem=str(error))
    found = execution.verdicts(list(job.keys))
    open_ = {
        question.answer_name: i
        for i, question in enumerate(job.homework.questions, start=1)
        if question.name in found and found[question.name].kind in ("unfinished", "missing")
    }
    stopped = unanswered.stopped_by(execution.cells, execution.failures, open_)
    needed = {i: [open_[name] for name in names] for i, names in stopped.items()}
    texts = text_cells(data)
    verdicts = tuple(
        explained(
            found[key.question.name],
            key,
            execution,
            texts,
            open_.get(key.question.answer_name),
            needed,
            [question.answer_name for question in job.homework.questions],
        )
        for key in job.keys
    )
    cells = tuple(
        (i + 1, why_it_stopped(why))
        for i, why in sorted(execution.failures.items())
        if i not in needed
    )
    seconds = round(time.monotonic() - began, 2)
    return replace(
        result,
        verdicts=verdicts,
        cells=cells,
        uses=uses(execution.cells, job.homework),
        seconds=seconds,
        notes=hints.of_no_code(execution.cells)
        + hints.of_no_imports(execution.cells)
        + hints.of_another_homework(execution.cells, job.homework.name),
        code=_own_code(execution, job.homework, verdicts),
        doubtful=execution.doubtful,
    )


def _own_code(
    execution: Execution, homework: Homework, verdicts: tuple[Verdict, ...]
) -> dict[str, tuple[Excerpt, ...]]:
    """The lines of the definition that each verdict is about; none for an untouched template."""
    definitions = Definitions.read(execution.cells)
    answers = {question.answer_name for question in homework.questions}
    shown = {}
    for verdict in verdicts:
        name = homework[verdict.question].answer_name
        if verdict.kind == "unfinished" and definitions.is_a_template(name):
            continue
        if verdict.question in execution.above_a_template:
            found = definitions.without_templates(name).excerpts(name, None, answers)
        else:
            checked = execution.seen.get(verdict.question, 0)
            cell = hints.judged(execution.cells, name, checked, execution.failures)
            found = definitions.excerpts(name, None if cell is None else cell + 1, answers)
        if found:
            shown[verdict.question] = tuple(
                each.with_the_line_of(f"{verdict.message} {verdict.differs}") for each in found
            )
    return shown


def uses(cells: list[str], homework: Homework) -> tuple[str, ...]:
    """What a person should look at: ready-made things, and ways to reach what runs beside the
    answers. What only that can tell (a function that is ruled out was called, an input changed in
    place) it can be made to keep to itself.
    """
    written = [cell.replace(SEALED_SET_UP, "True") for cell in cells]
    return mentions(written, (*homework.ready_made, *WAYS_AROUND))


def grade_safely(submission: Submission, job: Job) -> Result:
    """The same; a fault of the grader's own must not stop the class. Its `fault` says that it is no
    grade: the next run tries again.
    """
    try:
        return grade_one(submission, job)
    except template.Ending:
        raise
    except Exception as error:
        problem = (
            f"The grader failed on this file ({type(error).__name__}: {error}). This is a fault of "
            f"the grader: please report it."
        )
        return replace(
            facts(submission, texts=False),  # reading it may be what failed
            verdicts=job.unanswered(),
            problem=problem[:500],
            fault=True,
        )


def better(first: Result, second: Result) -> Result:
    """Of a doubtful result and the one of a second run, alone: the second, with what was right in
    the first, or right in more of the question's demands.
    """
    before = {verdict.question: verdict for verdict in first.verdicts}
    kept = {}
    for verdict in () if second.fault else second.verdicts:
        earlier = before.get(verdict.question, verdict)
        if not verdict.right and (earlier.right or earlier.holding > verdict.holding):
            kept[verdict.question] = earlier
    verdicts = tuple(kept.get(verdict.question, verdict) for verdict in second.verdicts)
    code = {name: first.code[name] for name in kept if name in first.code}
    return replace(
        second,
        verdicts=verdicts,
        code=second.code | code,
        seconds=round(first.seconds + second.seconds, 2),
        doubtful=False,
    )


def facts(submission: Submission, texts: bool = True) -> Result:
    """What is known of a submission before it is looked at; with its answers in words, or without:
    for those its file is read.
    """
    handed_in = submission.handed_in.isoformat() if submission.handed_in else ""
    return Result(
        submission.student,
        submission.files,
        "",
        name=submission.name,
        ids=submission.ids,
        handed_in=handed_in,
        earlier=submission.earlier,
        texts=_texts(submission) if texts else {},
    )


def _texts(submission: Submission) -> dict[str, str]:
    """The answers in words: read, and never run."""
    try:
        return text_answers.answers(submission.read())
    except Unreadable:
        return {}
