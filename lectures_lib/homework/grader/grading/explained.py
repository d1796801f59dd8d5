"""What a notebook's text adds to a verdict: why an answer is missing or unfinished, which of
several definitions counts, why a cell stopped.
"""

import types
from collections.abc import Container, Mapping
from dataclasses import replace

from lectures_lib.homework.diagnosis import AnswerKey
from lectures_lib.homework.grader.grading import hints
from lectures_lib.homework.grader.grading.execution import Execution
from lectures_lib.homework.inside.outcomes import Raised
from lectures_lib.homework.inside.unanswered import TEMPLATE_SAYS
from lectures_lib.homework.verdict import Verdict

# Why a cell was cut.
CUT = {
    "time": "It did not come to its end in time: an endless loop?",
    "memory": "It needed more memory than it may have.",
    "ended": "It ended the process: `os._exit`, a crash, or too much memory.",
    "unreached": "It was not run any more: the notebook had used up its time.",
}


def explained(
    verdict: Verdict,
    key: AnswerKey,
    execution: Execution,
    texts: list[str],
    number: int | None = None,
    needed: Mapping[int, list[int]] = types.MappingProxyType({}),
    others: Container[str] = (),
) -> Verdict:
    """A verdict, with what the notebook's text (of its code cells and of the others, `texts`) tells
    of a missing or unfinished answer, or of one that is defined more than once.

    Args:
        number: the question's, where there is no answer to it.
        needed: the numbers of the open questions that stopped a cell, by the cell's index.
        others: the names of all answers that are asked for.
    """
    if verdict.right or verdict.question in execution.above_a_template:
        return verdict
    name = key.question.answer_name
    not_yet = f"Question {number} is not answered yet." if number else ""
    below = hints.of_a_template_below(execution.cells, name)
    if verdict.kind == "unfinished" and below:
        return replace(verdict, message=below)
    if verdict.kind == "missing":
        for i, why in sorted(execution.failures.items()):
            if i in hints.defining(execution.cells, name):
                return replace(verdict, message=_never_defined(i, why, needed.get(i, []), number))
        lead = hints.of_a_missing_name(execution.cells, name, others, key.question.arguments)
        told = f"{verdict.message} {lead}" if lead else f"{not_yet} {verdict.message}".strip()
        verdict = replace(verdict, message=hints.of_text_cells(texts, name) or told)
    if verdict.kind == "unfinished" and number:
        verdict = replace(verdict, message=not_yet)
    undefined = hints.of_an_undefined_name(execution.cells, verdict.message)
    if verdict.kind == "raised" and undefined:
        verdict = replace(verdict, message=f"{verdict.message}. {undefined}")
    hint = hints.of_definitions(
        execution.cells,
        name,
        unfinished=verdict.kind == "unfinished",
        checked=execution.seen.get(verdict.question, 0),
        stopped=execution.failures,
    )
    return replace(verdict, message=f"{verdict.message} {hint}".strip()) if hint else verdict


def _never_defined(cell: int, why: Raised | str, needed: list[int], number: int | None) -> str:
    """Why the cell that would have defined an answer did not: by itself, or because it needs
    answers to other questions.
    """
    others = [str(other) for other in needed if other != number]
    if not others:
        return (
            f"It is defined in code cell {cell + 1}, and that cell did not come to its end. "
            f"{why_it_stopped(why)}{_of_the_template(why)}"
        )
    those = f"question {others[0]}, which is"
    if others[1:]:
        those = f"questions {' and '.join(others)}, which are"
    return (
        f"It stands below lines that need {those} not answered yet: they stopped, and it was never "
        f"defined."
    )


def why_it_stopped(why: Raised | str) -> str:
    """Why a cell stopped."""
    if isinstance(why, Raised):
        # a line with backticks cannot be set between backticks
        line = f", `{why.source}`" * ("`" not in why.source)
        where = f" in line {why.line}{line}" if why.source else ""
        told = f"{why.kind}{where}: {why.message}" if why.message else f"{why.kind}{where}."
        return told + _of_a_copy(why)
    return CUT.get(why, "What became of it is not known.")


def _of_the_template(why: Raised | str) -> str:
    """What to do about the template's line where it is no part of a function."""
    if isinstance(why, Raised) and (why.kind, why.message) == (
        "NotImplementedError",
        TEMPLATE_SAYS,
    ):
        return ". This is the template's line, and it stands outside of your functions: delete it."
    return ""


def _of_a_copy(why: Raised) -> str:
    """What to do about characters that came with a copy and are no Python."""
    if why.kind != "SyntaxError":
        return ""
    if why.source.startswith("```"):
        return ". The three backticks belong to Markdown: delete the lines with them."
    if "non-printable character" in why.message:
        return ". It came with a copy from a page and looks like a space: type the spaces anew."
    return ""
