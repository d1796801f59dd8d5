"""The instructor's commands: `grade` a class, `release` the student notebooks."""

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from lectures_lib.homework import load, names
from lectures_lib.homework import release as releasing
from lectures_lib.homework.grading import grade as grading
from lectures_lib.homework.reports.gradebook import points
from lectures_lib.homework.sandbox import bubblewrap
from lectures_lib.homework.sandbox.template import Limits

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__)
console = Console(stderr=True)


@app.command()
def grade(
    homework: Annotated[str, typer.Argument(help='Which homework, such as "hw1".')],
    submissions: Annotated[Path, typer.Argument(help="A folder of notebooks named after their students, or a zip of them.")],
    out: Annotated[Path, typer.Option(help="Folder for grades.csv, the feedback pages and the record of the run.")],
    workers: Annotated[int, typer.Option(min=1, help="How many submissions to run at the same time.")] = os.cpu_count() or 1,
    seed: Annotated[int | None, typer.Option(help="Of the inputs. Left out, a fresh one is drawn; it is kept in grading.json.")] = None,
    cell_seconds: Annotated[float, typer.Option(help="Limit for each code cell.")] = Limits.cell,
    total_seconds: Annotated[float, typer.Option(help="Limit for each submission.")] = Limits.total,
    memory_gb: Annotated[float, typer.Option(help="Limit for each submission, beyond what torch takes.")] = Limits.memory / 2**30,
) -> None:
    """Grade submissions in a sandbox. Run again after an interruption, it goes on where it stopped."""
    limits = Limits(cell=cell_seconds, total=total_seconds, memory=int(memory_gb * 2**30))
    try:
        bank = load(homework)
        results = grading.grade(bank, submissions, out, workers, seed, limits, progress=_show)
    except (bubblewrap.Refused, KeyError, OSError, ValueError) as error:
        _refuse(error)
    totals = [sum(points(bank, result).values()) for result in results]
    possible = sum(question.points for question in bank.questions)
    console.print(f"{len(results)} graded, {sum(totals) / len(totals):.1f} of {possible} points on average; see {out / 'grades.csv'}")


@app.command()
def release(
    homework: Annotated[list[str] | None, typer.Argument(help='Which ones, such as "hw1"; all, if none is named.')] = None,
    solutions: Annotated[Path, typer.Option(help="Folder of the executed notebooks with answers.")] = Path("solutions"),
    out: Annotated[Path, typer.Option(help="Folder for the student notebooks.")] = Path("exercises"),
) -> None:
    """Make the student notebooks from the solutions: answers taken out, checks left in."""
    try:
        for name in homework or names():
            console.print(f"wrote {releasing.release(load(name), solutions, out)}")
    except (releasing.Unreleasable, KeyError, OSError) as error:
        _refuse(error)


def _show(results, total):
    return track(results, total=total, description="grading", console=console)


def _refuse(error: Exception) -> None:
    """Say what is wrong, without a traceback, and end with status 2."""
    console.print(str(error.args[0] if isinstance(error, KeyError) else error), style="red", markup=False, highlight=False)
    raise typer.Exit(2)


if __name__ == "__main__":
    app()
