"""Gradescope: one submission's results.json, and the zip that makes this grader an autograder
there.

The format is the one of gradescope-autograders.readthedocs.io (Autograder Specifications).
"""

import json
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import lectures_lib
from lectures_lib.files import written_whole
from lectures_lib.homework.grader.grading import course_file
from lectures_lib.homework.grader.grading.records import Result
from lectures_lib.homework.grader.grading.rules import Rules
from lectures_lib.homework.grader.grading.score import InWords, Score
from lectures_lib.homework.grader.reports import told
from lectures_lib.homework.grader.submissions.entry import notebook_ending
from lectures_lib.homework.questions import Homework
from lectures_lib.homework.verdict import Verdict

PACKAGE = Path(lectures_lib.__file__).parent
# what installing the package takes, besides the package
COURSE = ("pyproject.toml", "constraints.txt", "README.md", "LICENSE")
SHIPPED = (".py", ".js", ".css", ".html", ".json", ".jsonl")
NOT_GRADED = Path(__file__).with_name("not_graded.py")

SETUP = """\
#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the autograder's image (choose a base image with Ubuntu 24.04 or newer).
set -euo pipefail
umask 022
export DEBIAN_FRONTEND=noninteractive PIP_DISABLE_PIP_VERSION_CHECK=1
apt-get update
apt-get install -y --no-install-recommends bubblewrap python3 python3-venv
refuse() { echo "$1 is needed; this image has $2. Choose a newer base image." >&2; exit 1; }
python3 -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' || refuse "Python 3.11 to 3.13" "$(python3 --version)"
dpkg --compare-versions "$(bwrap --version | cut -d' ' -f2)" ge 0.8 || refuse "bubblewrap 0.8" "$(bwrap --version)"
cd /autograder/source
# Not below /autograder: the sandbox shows student code the folder of this environment.
python3 -m venv /opt/grader
torch="$(grep '^torch==' constraints.txt)"
# uv knows where the builds of torch for CPUs are kept; the usual one brings gigabytes for GPUs.
/opt/grader/bin/pip install --quiet uv
/opt/grader/bin/uv pip install --quiet --python /opt/grader/bin/python --torch-backend=cpu "$torch" || /opt/grader/bin/pip install "$torch"
/opt/grader/bin/pip install --constraint constraints.txt ".[grading]"
cd / && /opt/grader/bin/python -m lectures_lib.homework grade --help >/dev/null  # better now than with the first submission
"""

RUN = """\
#!/usr/bin/env bash
# Gradescope runs this for each submission, in a container of its own. Where that allows no sandbox, --container has student code run
# behind weaker walls, and results.json says so to instructors; without it, nothing is run then.
set -u
root=/autograder
python=/opt/grader/bin/python
results="$root/results/results.json"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$root/results"
rm -f "$results"
cd "$work"  # not the submission: Python would import what lies there
chmod go-rwx "$root/source" "$root/submission" "$root/results"  # student code runs as another user
options=(--kind plain --workers 1 --container)
if [ -f "$root/source/rules.yaml" ]; then options+=(--rules "$root/source/rules.yaml"); fi
"$python" -m lectures_lib.homework grade @HOMEWORK@ "$root/submission" --out "$work/grades" "${options[@]}" \\
  --gradescope "$work/results.json" >"$work/said" 2>&1 && [ -s "$work/results.json" ] && mv "$work/results.json" "$results"
graded=$?
cat "$work/said"  # instructors see it, students do not
if [ "$graded" -ne 0 ]; then python3 "$root/source/not_graded.py" "$results" "$work/said" @HOMEWORK@; fi
"""


def results(homework: Homework, result: Result, rules: Rules | None = None) -> str:
    """The text of results.json: the score, and one test a question."""
    score = (rules or Rules()).score(homework, result)
    if result.problem:
        tests = [
            _test(
                homework.heading(question),
                score.points.get(question.name, 0.0),
                _most(score, question.name),
                False,
                score.decided.get(question.name, ""),
            )
            for question in homework.questions
        ]
        return _text(
            score.total, f"The file could not be graded. {told.plain(result.problem)}", tests
        )
    tests = [_asked(homework, verdict, score) for verdict in result.verdicts]
    tests += [_in_words(name, answer, score) for name, answer in score.in_words.items()]
    said = [
        f"Code cell {cell} stopped, the rest went on. {told.plain(why)}"
        for cell, why in result.cells
    ]
    said = [*map(told.plain, result.notes), *said]
    said = (
        [told.excuse(score)] * bool(score.excused)
        + [told.waiting(score)] * bool(score.unmarked)
        + [f"Late: {score.deducted:g} points less."] * bool(score.deducted)
        + [score.note] * bool(score.note)
        + said
    )
    return _text(score.total, "\n".join(said), tests)


def for_one_student(
    homework: Homework, found: Sequence[Result], rules: Rules | None = None, remark: str = ""
) -> str:
    """The text of results.json for all that one student handed in, of which one file must be a
    notebook.

    Args:
        homework, found, rules: what to report.
        remark: what only instructors are shown.

    Raises:
        ValueError: if there is nothing.
    """
    if not found:
        raise ValueError("there is no submission")
    notebooks = [
        result for result in found if result.files and notebook_ending(result.files[0])
    ] or list(found[:1])
    if len(notebooks) == 1:
        return _remarked(results(homework, notebooks[0], rules), remark)
    names = ", ".join(result.files[0] for result in notebooks[:20])
    problem = f"There are {len(notebooks)} notebooks: {names}. Hand in the one that counts, alone."
    none = Result(notebooks[0].student, notebooks[0].files, "", problem=problem)
    return _remarked(results(homework, none, rules), remark)


def _remarked(text: str, remark: str) -> str:
    """results.json with one more test, worth nothing, that only instructors see."""
    if not remark:
        return text
    content = json.loads(text)
    shown = _test("For the instructor: how this was graded", 0.0, 0.0, True, remark)
    content["tests"].append({**shown, "visibility": "hidden"})
    return json.dumps(content, indent=1) + "\n"


def autograder_zip(homework: Homework, out: Path, rules: Path | None = None) -> Path:
    """Write the zip to upload as this homework's autograder; return where it is. The same course
    makes the same zip.

    It holds the package with its question banks, nothing of solutions/ or tests/, and the versions
    to install.

    Args:
        homework: which one it grades.
        out: the file; its folder must be there.
        rules: a YAML file with the course's rules; what it says of single students stays out.

    Raises:
        FileNotFoundError: if this package is not in a checkout of the course, which has the
            versions; or there are no such rules.
    """
    missing = [name for name in COURSE if not (PACKAGE.parent / name).is_file()]
    if missing:
        raise FileNotFoundError(
            f"{PACKAGE.parent} has no {' and no '.join(missing)}: make the autograder from a "
            f"checkout of the course"
        )
    files = {name: (PACKAGE.parent / name).read_bytes() for name in COURSE}
    for path in _package():
        files[path.relative_to(PACKAGE.parent).as_posix()] = path.read_bytes()
    files["setup.sh"] = SETUP.encode()
    files["run_autograder"] = RUN.replace("@HOMEWORK@", homework.name).encode()
    files["not_graded.py"] = NOT_GRADED.read_bytes()
    if rules is not None:
        files["rules.yaml"] = course_file.without_students(rules, homework).encode()
    with written_whole(out) as draft, zipfile.ZipFile(draft, "w") as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (
                0o100755 if name in ("setup.sh", "run_autograder") else 0o100644
            ) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return out


def _package() -> Iterable[Path]:
    """The package's files, without what Python and editors leave beside them."""
    for path in PACKAGE.rglob("*"):
        parts = path.relative_to(PACKAGE).parts
        if (
            path.is_file()
            and path.suffix in SHIPPED
            and not any(part.startswith(".") or part == "__pycache__" for part in parts)
        ):
            yield path


def _asked(homework: Homework, verdict: Verdict, score: Score) -> dict:
    """One question as a test."""
    question = homework[verdict.question]
    points, possible = score.points.get(question.name, 0.0), _most(score, question.name)
    name = homework.heading(question)
    name += f" – {told.mistake(verdict)}" if verdict.mistake else ""
    name += " (excused)" if question.name in score.excused else ""
    name += " (extra credit)" if question.name in score.extra else ""
    parts = [f"{says} ({worth})" for says, worth in told.parts(score, question)]
    lines = [
        *told.lines(question, verdict),
        *parts,
        *filter(None, [score.decided.get(question.name)]),
    ]
    return _test(name, points, possible, verdict.right, "\n".join(lines))


def _in_words(name: str, answer: InWords, score: Score) -> dict:
    """A question that people mark as a test; not marked yet, it adds nothing to what is possible."""
    said = [*told.in_words(answer), *filter(None, [score.decided.get(name)])]
    if name in score.unmarked:
        return _test(f"{answer.title}: not marked yet", 0.0, 0.0, True, "")
    title = f"{answer.title} (extra credit)" if name in score.extra else answer.title
    points = score.points[name]
    return _test(title, points, _most(score, name), points > 0, "\n".join(map(told.plain, said)))


def _most(score: Score, name: str) -> float:
    """What a question adds to what is possible: nothing, where its points are extra."""
    return 0.0 if name in score.extra else score.possible.get(name, 0.0)


def _test(name: str, points: float, possible: float, right: bool, output: str) -> dict:
    status = "passed" if right else "failed"
    return {
        "name": name,
        "score": points,
        "max_score": possible,
        "status": status,
        "output": output,
        "output_format": "text",
    }


def _text(score: float, output: str, tests: list[dict]) -> str:
    whole = {
        "score": score,
        "output": output,
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
    }
    for test in tests:
        test["visibility"] = "visible"
    return json.dumps({**whole, "tests": tests}, indent=1) + "\n"
