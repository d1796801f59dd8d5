"""The instructor's commands: `grade` a class, `release` the student notebooks, write the sheets for
`marking` by hand, look for what is `similar`. Installed, they are called `lectures-homework`.
"""

import math
import os
import re
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated

# A student installs the check of an answer without these.
missing = []
for package in ("jinja2", "nbformat", "pydantic", "yaml", "rich", "typer"):
    try:
        import_module(package)
    except ImportError:
        missing.append(package)
if missing:
    raise SystemExit(
        f"grading needs {', '.join(missing)}, not installed here: pip install "
        f"'lectures-lib[grading]'"
    )

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from lectures_lib.files import write_whole
from lectures_lib.homework import load, names, sealed_release
from lectures_lib.homework import release as releasing
from lectures_lib.homework.grader.alike import compared as alike
from lectures_lib.homework.grader.grading import course_file, grade_class
from lectures_lib.homework.grader.grading.executors import Dask, Threads
from lectures_lib.homework.grader.grading.grade_one import facts
from lectures_lib.homework.grader.grading.records import Result
from lectures_lib.homework.grader.grading.rules import Rules
from lectures_lib.homework.grader.grading.variants_given import listed, variants_of
from lectures_lib.homework.grader.marking import sheets
from lectures_lib.homework.grader.marking.marks import filled as filled_sheets
from lectures_lib.homework.grader.reports import gradescope as for_gradescope
from lectures_lib.homework.grader.sandbox import bubblewrap, guest, template
from lectures_lib.homework.grader.sandbox.template import Limits
from lectures_lib.homework.grader.submissions.collect import collect
from lectures_lib.homework.questions import Homework

app = typer.Typer(
    add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__
)
console = Console(stderr=True)
NOT_ALL_GRADED = 3  # exit status; 2 is for what was refused


class Kind(StrEnum):
    """How submissions are packed."""

    auto = "auto"
    plain = "plain"
    folders = "folders"
    canvas = "canvas"
    moodle = "moodle"
    gradescope = "gradescope"


class Where(StrEnum):
    """Who does the work."""

    threads = "threads"
    dask = "dask"


@app.command()
def grade(
    homework: Annotated[str, typer.Argument(help='Which homework, such as "hw1".')],
    submissions: Annotated[
        Path, typer.Argument(help="A folder of what was handed in, or a zip of one: see --kind.")
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for grades.csv, the feedback pages, the class report, the run's record."
        ),
    ],
    kind: Annotated[
        Kind,
        typer.Option(
            help="A download of Canvas, Moodle or Gradescope, or files or folders named after "
            "students."
        ),
    ] = Kind.auto,
    rules: Annotated[
        Path | None, typer.Option(help="A YAML file with points, deadlines, late policy.")
    ] = None,
    marks: Annotated[
        list[Path] | None,
        typer.Option(help="A filled marking sheet (CSV), besides those that the rules name."),
    ] = None,
    again: Annotated[
        list[str] | None,
        typer.Option(help='Put this question again to everybody ("hw1.causal_mask").'),
    ] = None,
    workers: Annotated[
        int, typer.Option(min=1, help="How many submissions to run at the same time.")
    ] = os.cpu_count() or 1,
    executor: Annotated[
        Where, typer.Option(help="Threads of this machine, or a Dask cluster.")
    ] = Where.threads,
    scheduler: Annotated[
        str, typer.Option(help='Of the Dask cluster: its address, such as "tcp://10.0.0.5:8786".')
    ] = "",
    seed: Annotated[
        int | None,
        typer.Option(
            help="Of the inputs. Left out, a fresh one is drawn; it is kept in grading.json."
        ),
    ] = None,
    cell_seconds: Annotated[
        float, typer.Option(min=0.1, max=1e6, help="Limit for each code cell.")
    ] = Limits.cell,
    total_seconds: Annotated[
        float, typer.Option(min=0.1, max=1e6, help="Limit for each submission.")
    ] = Limits.total,
    memory_gb: Annotated[
        float,
        typer.Option(min=0.1, max=1e4, help="Limit for each submission, beyond what torch takes."),
    ] = Limits.memory / 2**30,
    gradescope: Annotated[
        Path | None,
        typer.Option(help="Write the only submission's result here, as Gradescope reads it."),
    ] = None,
    container: Annotated[
        bool,
        typer.Option(
            "--container",
            help="With --gradescope: this is a container for one student's files, thrown away "
            "afterwards. Where it allows no sandbox, use weaker walls.",
        ),
    ] = False,
) -> None:
    """Grade submissions in a sandbox. Run again after an interruption, it goes on where it
    stopped.
    """
    if _lies_in(Path.cwd(), submissions):
        _refuse(
            ValueError(
                f"you are in the folder of submissions {submissions.resolve()}: programs read what "
                f"lies where they start. Leave it."
            )
        )
    if not container and hasattr(os, "geteuid") and os.geteuid() == 0:
        _tell(
            "You are root. The grader needs no root rights, and whatever is wrong in it would have "
            "them: better run it as an ordinary user."
        )
    try:
        limits_given = {
            "--cell-seconds": cell_seconds,
            "--total-seconds": total_seconds,
            "--memory-gb": memory_gb,
        }
        for name, limit in limits_given.items():
            if not math.isfinite(limit):  # "nan" is in no range and outside of none
                raise ValueError(f"{name} is a number, got {limit}")
        limits = Limits(cell=cell_seconds, total=total_seconds, memory=int(memory_gb * 2**30))
        if (executor is Where.dask) != bool(scheduler):
            raise ValueError("--executor dask and --scheduler ADDRESS belong together")
        if container and not gradescope:
            raise ValueError(
                "--container belongs to --gradescope: it is for one student's files in a container "
                "of their own, not for a class"
            )
        bank = load(homework)
        decided = course_file.load(rules, bank) if rules else Rules()
        if not gradescope:  # there the course's file travels alone
            decided = _with_marks(decided, bank, marks or [])
        somewhere = Dask(scheduler) if scheduler else Threads(1 if container else workers)
        results = grade_class.grade(
            bank,
            submissions,
            out,
            somewhere,
            seed,
            limits,
            decided,
            kind.value,
            tuple(again or ()),
            progress=_show,
            tell=_tell,
            container=container,
        )
        if gradescope and not any(result.fault for result in results):
            remark = guest.WEAKER * template.as_guest()
            write_whole(gradescope, for_gradescope.for_one_student(bank, results, decided, remark))
    except (bubblewrap.Refused, KeyError, OSError, ValueError) as error:
        _refuse(error)
    except KeyboardInterrupt:
        console.print(f"Stopped. What was graded is kept in {out}: run the same command to go on.")
        raise typer.Exit(130) from None
    scores = [decided.score(bank, result) for result in results if not result.fault]
    if counting := [score for score in scores if not score.exempt]:
        whole = decided.score(bank, Result("", (), "")).out_of
        mean = sum(score.beside(whole) for score in counting) / len(counting)
        console.print(
            f"{len(scores)} graded, {mean:.1f} of {whole:g} points on average; see "
            f"{out / 'class_report.html'}"
        )
    if faults := [result.problem for result in results if result.fault]:
        _tell(
            f"{len(faults)} NOT graded, through a fault of the grader: no points, no row in import "
            f"files. The same command tries again. The first: {faults[0]}"
        )
        raise typer.Exit(NOT_ALL_GRADED)


@app.command()
def autograder(
    homework: Annotated[str, typer.Argument(help='Which homework, such as "hw1".')],
    out: Annotated[Path, typer.Argument(help="The zip to write.")],
    rules: Annotated[
        Path | None,
        typer.Option(
            help="A YAML file with points, deadlines, late policy; what holds for everybody "
            "travels in the zip."
        ),
    ] = None,
) -> None:
    """Make the zip that turns this grader into an autograder on Gradescope."""
    try:
        bank = load(homework)
        if rules:
            course_file.load(rules, bank)
        console.print(f"wrote {for_gradescope.autograder_zip(bank, out, rules)}")
    except (KeyError, OSError, ValueError) as error:
        _refuse(error)


@app.command()
def release(
    homework: Annotated[
        list[str] | None, typer.Argument(help='Which ones, such as "hw1"; all, if none is named.')
    ] = None,
    solutions: Annotated[
        Path, typer.Option(help="Folder of the executed notebooks with answers.")
    ] = Path("solutions"),
    out: Annotated[
        Path | None,
        typer.Option(help='Folder for the student notebooks; "exercises", unless they are sealed.'),
    ] = None,
    seal: Annotated[
        bool,
        typer.Option(
            "--sealed",
            help="Without the bank: a notebook, and one file beside it that checks its answers.",
        ),
    ] = False,
    graded_later: Annotated[
        list[str] | None,
        typer.Option(help='With --sealed: release this question without a check ("hw8.probe").'),
    ] = None,
    address: Annotated[
        str,
        typer.Option(
            help="With --sealed: where the second file will be published, an address that ends in "
            "its name; the notebook then fetches it, and students need the notebook alone."
        ),
    ] = "",
    rules: Annotated[
        Path | None,
        typer.Option(
            help="A YAML file: by_hand has further questions, variant draws values of their own."
        ),
    ] = None,
) -> None:
    """Make the student notebooks from the solutions: answers taken out, checks left in."""
    try:
        if seal and out is None:
            raise ValueError("--sealed needs --out FOLDER: exercises/ is for those with the bank")
        if graded_later and not seal:
            raise ValueError("--graded-later belongs to --sealed")
        if address and not seal:
            raise ValueError("--address belongs to --sealed")
        if address and len(homework or names()) > 1:
            raise ValueError("--address is of one homework's file: name one homework")
        if rules and out is None:
            raise ValueError("--rules needs --out FOLDER: exercises/ is for the course's own")
        for name in graded_later or ():
            if name.split(".")[0] not in (homework or names()):
                raise KeyError(f"--graded-later {name}: that homework is not released here")
        for name in homework or names():
            bank = load(name)
            decided = course_file.load(rules, bank) if rules else Rules()
            asked = decided.asked(bank)
            if address and decided.draw and decided.draw.students:
                raise ValueError("--address is of one file: here each student has a file")
            later = [each for each in graded_later or () if each.startswith(f"{name}.")]
            folder, made = out or Path("exercises"), {}
            for place, drawn in variants_of(bank, decided.draw, folder):
                if seal:
                    paths = sealed_release.release_sealed(
                        drawn, solutions, place, later, asked, made, address
                    )
                    _tell(f"wrote {paths[0]} and {paths[1]}")
                else:
                    _tell(f"wrote {releasing.release(drawn, solutions, place, asked)}")
            if decided.draw and decided.draw.students:
                table = folder / f"{name}_variants.csv"
                write_whole(table, listed(bank, decided.draw))
                _tell(f"wrote {table}: which folder is whose")
    except (
        releasing.Unreleasable,
        sealed_release.Unsealable,
        KeyError,
        OSError,
        SyntaxError,
        ValueError,
    ) as error:
        _refuse(error)


@app.command()
def marking(
    homework: Annotated[str, typer.Argument(help='Which homework, such as "hw1".')],
    submissions: Annotated[
        Path, typer.Argument(help="A folder of what was handed in, or a zip of one.")
    ],
    rules: Annotated[
        Path, typer.Option(help="The YAML file whose by_hand has the questions to mark.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for the sheets.")],
    kind: Annotated[Kind, typer.Option(help="How submissions are packed.")] = Kind.auto,
    markers: Annotated[
        str, typer.Option(help='Among whom the answers are shared out: "anna,ben".')
    ] = sheets.ALONE,
    twice: Annotated[
        str, typer.Option(help='So many answers are marked by two of them: "10%".')
    ] = "0%",
) -> None:
    """Write sheets for marking answers in words: without names, shared out among the markers.
    Nothing that was handed in is run. Run again, it makes sheets of what is new.
    """
    try:
        bank = load(homework)
        decided = course_file.load(rules, bank)
        found = collect(submissions, kind.value, homework, bank.answer_names)
        _tell(found.told)
        if _lies_in(out, submissions):
            raise ValueError(f"{out} lies in the folder of submissions: choose another place")
        names = tuple(name.strip() for name in markers.split(","))
        percent = re.fullmatch(r"\s*([0-9]{1,3}(?:\.[0-9]{1,3})?)\s*%?\s*", twice)
        if not percent:
            raise ValueError(f'--twice takes a percentage, such as "10%", not {twice!r}')
        results = [facts(submission) for submission in found]
        for line in sheets.write(bank, results, decided, out, names, float(percent[1])):
            _tell(line)
    except (KeyError, OSError, ValueError) as error:
        _refuse(error)


@app.command()
def similar(
    homework: Annotated[str, typer.Argument(help='Which homework, such as "hw1".')],
    submissions: Annotated[
        Path, typer.Argument(help="A folder of what was handed in, or a zip of one.")
    ],
    out: Annotated[Path, typer.Option(help="The page to write, such as similar.html.")],
    kind: Annotated[Kind, typer.Option(help="How submissions are packed.")] = Kind.auto,
    beside: Annotated[
        list[Path] | None,
        typer.Option(help="A folder to compare with, too: last year's, or the solutions."),
    ] = None,
) -> None:
    """Find submissions whose code is alike in what few others have: a page for a person to read,
    and no grade. Nothing that was handed in is run.
    """
    try:
        bank = load(homework)
        if _lies_in(out.parent, submissions):
            raise ValueError(f"{out} lies in the folder of submissions: choose another place")
        found = alike.similar(bank, submissions, out, kind.value, tuple(beside or ()))
        _tell(f"wrote {out}: {len(found)} pair{'s' * (len(found) != 1)} to look at")
    except (KeyError, OSError, ValueError) as error:
        _refuse(error)


def _with_marks(rules: Rules, bank: Homework, more: list[Path]) -> Rules:
    """The rules, with what the filled sheets say that they and the command name."""
    paths = [*map(Path, rules.marks), *more]
    if not paths:
        return rules
    return rules.marked(filled_sheets(paths, bank.name, rules.points_by_hand(bank)))


def _lies_in(folder: Path, submissions: Path) -> bool:
    """Whether a folder is that of the submissions or one in it."""
    return submissions.is_dir() and folder.resolve().is_relative_to(submissions.resolve())


def _show(results, total):
    """A bar with the time that is left."""
    columns = (
        TextColumn("grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        yield from bar.track(results, total=total)


def _tell(text: str) -> None:
    console.print(text, markup=False, highlight=False)


def _refuse(error: Exception) -> None:
    """Say what is wrong, without a traceback, and end with status 2."""
    console.print(
        str(error.args[0] if isinstance(error, KeyError) else error),
        style="red",
        markup=False,
        highlight=False,
    )
    raise typer.Exit(2)


if __name__ == "__main__":
    app()
