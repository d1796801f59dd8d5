"""results.json for a submission that Gradescope's container could not grade. A script by itself: it
must run where nothing else does.

python not_graded.py RESULTS REASON HOMEWORK

REASON is a file with what the grader said, HOMEWORK what it should have graded ("hw1").
"""

import json
import sys

STUDENT = (
    "Your file has arrived, and it was not graded: the autograder stopped before it ran any of "
    "your code. That is not your fault, and the 0 points are no grade. Please tell your "
    "instructor, who finds the reason on this page. Handing in once more does not help until it is "
    "removed; this file stays handed in."
)
INSTRUCTOR = """\
No student code was run. The same will happen to every submission until the reason is removed. \
The grader's last words:

{reason}

If bubblewrap, the sandbox, could not be started: it needs user namespaces, which many \
containers forbid, and the weaker walls that take its place need root. No setting of the \
autograder changes that. Let students hand in here all the same. Then choose "Export \
Submissions" on "Review Grades", and grade the zip on a Linux machine that has the course \
installed:

    lectures-homework grade {homework} submissions.zip --out grades

If it is anything else (the rules, the memory, a file that is missing): put it right, make the zip \
anew

    lectures-homework autograder {homework} {homework}_autograder.zip

(with the same --rules as before), upload it on "Configure Autograder", and choose "Regrade \
All Submissions"."""


def not_graded(reason: str, homework: str) -> dict:
    """What results.json holds: an explanation that students see, and the reason, which only
    instructors see. No points either way.
    """
    none = {"score": 0.0, "max_score": 0.0, "status": "failed", "output_format": "text"}
    return {
        "output": STUDENT,
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [
            {**none, "name": "Not graded", "output": STUDENT, "visibility": "visible"},
            {
                **none,
                "name": "For the instructor",
                "output": INSTRUCTOR.format(reason=reason, homework=homework),
                "visibility": "hidden",
            },
        ],
    }


def main(results: str, reason: str, homework: str) -> None:
    """Write `results`; `reason` is the file with what the grader said."""
    with open(reason, encoding="utf-8", errors="replace") as file:
        said = file.read()[-4000:].strip() or "(nothing)"
    with open(results, "w", encoding="utf-8") as file:
        json.dump(not_graded(said, homework), file, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
