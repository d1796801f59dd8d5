"""Homework: the questions, `check` for students, `grade` and `release` for instructors.

In a notebook:

    from lectures_lib.homework import check, example
    check("hw1.causal_mask", causal_mask)  # says "right", or raises WrongAnswer: the mistake
    bad = example("hw1.causal_mask")  # the input on which it showed; bad.expected, bad.got

On the command line:

    lectures-homework grade hw1 submissions/ --out grades/
    lectures-homework release
    lectures-homework release hw8 --sealed --out FOLDER

(or `python -P -m lectures_lib.homework …`: without -P, Python imports what lies in the folder it is
started in.)

The parts, from the ground up:

    questions   what a question is; `banks/` hold them, hw1 to hw7, as data of that kind
    inside/     what runs beside a student's code: values, calls, frames, the driver of the sandbox
    variants    the same questions with other constants, drawn from a seed
    compare     two values: what differs?
    verdict     the judgement of an answer, in words
    diagnosis   what an answer did on every input: right, or which mistake is it?
    careless    answers that overlook one thing: which inputs do not show it?
    question_key  a question as data: what its bank gives on the public inputs, without the bank
    checking    `check`
    example     `example`
    notebook, release     solutions → student notebooks
    text_answers          questions in words: their cells in a notebook, and what was written there
    imports, sealed_release  a student notebook, and one file that checks it without the bank
    grader/     a class: `submissions/` found, `sandbox/` around them, `grading/` in it,
    `marking/` by people, `reports/` on it
"""

from lectures_lib.homework.checking import WrongAnswer, check
from lectures_lib.homework.example import example
from lectures_lib.homework.questions import find, load, names
from lectures_lib.homework.variants import use_variants

__all__ = ["WrongAnswer", "check", "example", "find", "load", "names", "use_variants"]
