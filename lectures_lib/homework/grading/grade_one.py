"""Grade one submission: run its cells in the sandbox, put the questions, judge what comes back. Whatever it is, the outcome is a result."""

import hashlib
import json
import re
import time
from dataclasses import dataclass, replace

from lectures_lib.homework.diagnosis import AnswerKey, Verdict
from lectures_lib.homework.grading.execution import Execution
from lectures_lib.homework.grading.records import Result
from lectures_lib.homework.inside.calls import Raised
from lectures_lib.homework.notebook import Unreadable, code_cells
from lectures_lib.homework.questions import Homework
from lectures_lib.homework.sandbox import template
from lectures_lib.homework.sandbox.template import Limits
from lectures_lib.homework.submissions.collect import Submission
from lectures_lib.homework.submissions.mentions import mentions

# Why a cell was cut.
CUT = {
    "time": "It did not come to its end in time: an endless loop?",
    "memory": "It needed more memory than it may have.",
    "ended": "It ended the process: `os._exit`, a crash, or too much memory.",
    "unreached": "It was not run any more: the notebook had used up its time.",
}


@dataclass(frozen=True)
class Job:
    """What is asked of every submission of a class.

    Attributes:
        homework: its questions.
        seed: of the inputs.
        keys: of the questions to put: all of the homework's, or those that are put again.
        limits: what a submission may use.
    """

    homework: Homework
    seed: int
    keys: tuple[AnswerKey, ...]
    limits: Limits

    def fingerprint(self, submission: Submission) -> str:
        """Of the submission's content, the seed and the homework's questions: as long as it is the same, so is the result."""
        try:
            content = submission.read()
        except Unreadable as error:
            content = str(error).encode()
        asked = json.dumps([self.seed, [question.name for question in self.homework.questions]]).encode()
        return hashlib.sha256(hashlib.sha256(asked).digest() + content).hexdigest()

    def unanswered(self) -> tuple[Verdict, ...]:
        """The verdicts on a file that cannot be read."""
        return tuple(Verdict(key.question.name, False, "unread") for key in self.keys)


def grade_one(submission: Submission, job: Job) -> Result:
    """The result of one submission.

    Raises:
        bubblewrap.Refused: if no process could be started for it.
    """
    began = time.monotonic()
    result = replace(facts(submission), fingerprint=job.fingerprint(submission))
    try:
        execution = Execution(code_cells(submission.read()), job.limits)
    except Unreadable as error:
        return replace(result, verdicts=job.unanswered(), problem=str(error))
    outcomes = execution.run(list(job.keys))
    verdicts = tuple(_explained(key.verdict(outcomes[key.question.name]), key, execution) for key in job.keys)
    cells = tuple((i + 1, _told(why)) for i, why in sorted(execution.failures.items()))
    seconds = round(time.monotonic() - began, 2)
    return replace(result, verdicts=verdicts, cells=cells, uses=mentions(execution.cells, job.homework.ready_made), seconds=seconds)


def grade_safely(submission: Submission, job: Job) -> Result:
    """The same; a fault of the grader's own must not stop the class. Such a result has no fingerprint: the next run tries again."""
    try:
        return grade_one(submission, job)
    except template.Ending:
        raise
    except Exception as error:
        problem = f"The grader failed on this file ({type(error).__name__}: {error}). This is a fault of the grader: please report it."
        return replace(facts(submission), verdicts=job.unanswered(), problem=problem[:500])


def facts(submission: Submission) -> Result:
    """What is known of a submission before it is looked at."""
    handed_in = submission.handed_in.isoformat() if submission.handed_in else ""
    return Result(
        submission.student, submission.files, "", name=submission.name, ids=submission.ids, handed_in=handed_in, earlier=submission.earlier
    )


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
