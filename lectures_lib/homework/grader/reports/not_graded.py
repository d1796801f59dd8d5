"""results.json for a submission that Gradescope's container could not grade. A script by itself: it
must run where nothing else does.

python not_graded.py RESULTS REASON      REASON: a file with what the grader said
"""

import json
import sys

STUDENT = (
    "This submission was not graded: the autograder could not start. It says nothing about your "
    "work, and 0 of 0 points are no grade. Your instructor sees the reason here."
)
INSTRUCTOR = (
    "Student code runs in a sandbox or not at all, and the grader stopped before it ran any. It "
    "said:\n\n{reason}\n\nThe sandbox (bubblewrap) needs user namespaces, which many containers "
    "forbid; a setting of the grader cannot change that. Grade on a Linux machine of your own "
    "instead: in Gradescope, export the submissions, then run\n\n    lectures-homework grade "
    "HOMEWORK EXPORT.zip --out DIR"
)


def not_graded(reason: str) -> dict:
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
                "output": INSTRUCTOR.format(reason=reason),
                "visibility": "hidden",
            },
        ],
    }


def main(results: str, reason: str) -> None:
    """Write `results`; `reason` is the file with what the grader said."""
    with open(reason, encoding="utf-8", errors="replace") as file:
        said = file.read()[-4000:].strip() or "(nothing)"
    with open(results, "w", encoding="utf-8") as file:
        json.dump(not_graded(said), file, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
