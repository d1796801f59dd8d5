"""Which variant's notebook is given to whom."""

from collections.abc import Iterator
from pathlib import Path

from lectures_lib.homework.grader.reports.spreadsheet import harmless, table
from lectures_lib.homework.questions import Homework
from lectures_lib.homework.variants import Draw


def variants_of(
    homework: Homework, draw: Draw | None, out: Path
) -> Iterator[tuple[Path, Homework]]:
    """(folder, homework) for each notebook to write: `out` itself for those who share one, and a
    folder in it for each different set of variants that students of the list have.
    """
    if draw is None:
        yield out, homework
        return
    yield out, draw.homework(homework)
    own = [draw.homework(homework, [student]) for student in draw.students]
    for name, each in sorted({_folder(each): each for each in own}.items()):
        yield out / name, each


def listed(homework: Homework, draw: Draw) -> str:
    """CSV: each student of the list, the folder with his or her notebook, and the variants."""
    rows = [["student", "folder", "variants"]]
    for student in draw.students:
        own = draw.homework(homework, [student])
        told = "; ".join(
            f"{q.answer_name}: {q.varied.says(q.varied.values[q.variant])}"
            for q in own.questions
            if q.variant
        )
        rows.append([harmless(student), _folder(own), harmless(told)])
    return table(rows)


def _folder(homework: Homework) -> str:
    """A name for a set of variants: "hw1-2-3"."""
    return "-".join([homework.name, *(str(q.variant) for q in homework.questions if q.varied)])
