"""All submissions of a class, from whatever they came in."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from lectures_lib.homework.grader.submissions import (
    archive,
    canvas,
    folder,
    gradescope,
    moodle,
    plain,
)
from lectures_lib.homework.grader.submissions.entry import Entry
from lectures_lib.homework.grader.submissions.found import Found, Submission, chosen
from lectures_lib.homework.grader.submissions.names import LONGEST, distinct, normal, shown

__all__ = ["KINDS", "Collected", "Submission", "collect"]

KINDS = ("auto", "plain", "folders", "canvas", "moodle", "gradescope")
_CALLED = {
    "plain": "files named after their students",
    "folders": "folders named after their students",
    "canvas": "a Canvas download",
    "moodle": "a Moodle download",
    "gradescope": "a Gradescope export",
}
_Reader = Callable[[list[Entry]], list[Found]]
_KEPT = 20  # so many names of files are kept of a student who handed in more


class Collected(list[Submission]):
    """The submissions, sorted by student, and as what they were read.

    Attributes:
        kind: "plain", "folders", "canvas", "moodle" or "gradescope".
        told: the same in a sentence, for whoever started the command.
    """

    def __init__(self, submissions: list[Submission], kind: str, files: int):
        super().__init__(submissions)
        self.kind = kind
        count = (
            f"{len(self):,} submission{'s' * (len(self) != 1)} in {files:,} "
            f"file{'s' * (files != 1)}"
        )
        self.told = f"{count}, read as {_CALLED[kind]}."


def collect(
    source: Path, kind: str = "auto", homework: str = "", answers: Iterable[str] = ()
) -> Collected:
    """The submissions in a folder or a zip, sorted by student. Nothing is unpacked, and no file is
    read before its submission is, but for several notebooks of one student.

    Of several notebooks of one student the latest counts, see `found.chosen`.

    Args:
        source: a folder, or a zip of one.
        kind: one of KINDS: how it was packed; "auto" recognises it by the names of the files.
        homework: its short name ("hw1"): of several notebooks handed in together, the one that is
            named after it counts.
        answers: the names of its answers ("causal_mask"): a notebook with none of them does not
            count beside one that has some.

    Raises:
        FileNotFoundError: if there is no such folder or file.
        ValueError: if it is neither a folder nor a zip, has nothing in it, too many files, or
            nothing of the kind named.
    """
    if kind not in KINDS:
        raise ValueError(f"there is no kind {kind!r} of submissions; there is {', '.join(KINDS)}")
    if not source.exists():
        raise FileNotFoundError(f"there is no {source}")
    if not source.is_dir() and not source.is_file():
        raise ValueError(f"{source} is neither a folder nor a zip")
    entries = _entries(source)
    if not entries:
        raise ValueError(f"{source} contains no submissions (files named <student>.ipynb)")
    kind = recognised(entries) if kind == "auto" else kind
    by_student: dict[str, list[Found]] = {}
    for found in _readers(homework)[kind](entries, source):
        by_student.setdefault(normal(found.student), []).append(found)
    names, answers = distinct(by_student), tuple(answers)
    submissions = [
        _shown(chosen(theirs, homework, answers), names) for theirs in by_student.values()
    ]
    return Collected(
        sorted(submissions, key=lambda submission: submission.student), kind, len(entries)
    )


def _entries(source: Path) -> list[Entry]:
    """What lies in a folder or a zip. Of a Moodle download, one student's folder may come alone:
    its own name tells whose it is.
    """
    if not source.is_dir():
        return archive.entries(source)
    name = source.resolve().name
    inside = folder.entries(source)
    if not moodle.PREFIX.fullmatch(name):
        return inside
    return [replace(entry, path=(name, *entry.path)) for entry in inside]


def recognised(entries: list[Entry]) -> str:
    """Which kind these files are: what most of them look like."""
    kind, count = Counter(map(_looks_like, entries)).most_common(1)[0]
    return kind if 2 * count > len(entries) else "plain"


def _looks_like(entry: Entry) -> str:
    """The platform that a file's path shows. The outermost folder tells: further inside, names are
    the student's.
    """
    for i, name in enumerate(entry.path):
        if moodle.PREFIX.fullmatch(name):
            return "moodle"
        if gradescope.FOLDER.fullmatch(name) and i < len(entry.path) - 1:
            return "gradescope"
    return "canvas" if canvas.belonging(entry) else "plain"


def _one_by_one(
    belonging: Callable[[Entry], Found | None], looks: str, others: _Reader
) -> Callable[[list[Entry], Path], list[Found]]:
    """A reader that looks at each file by itself. Files that are named otherwise (a latecomer's,
    put beside) are read as plain ones.
    """

    def read(entries: list[Entry], source: Path) -> list[Found]:
        found = [belonging(entry) for entry in entries]
        if not any(found):
            raise ValueError(
                f"nothing in {source} is named like {looks}; the first file is "
                f"{shown(str(entries[0]))}"
            )
        return [one for one in found if one] + others(
            [entry for entry, one in zip(entries, found, strict=True) if not one]
        )

    return read


def _gradescope(entries: list[Entry], source: Path, others: _Reader) -> list[Found]:
    try:
        found, rest = gradescope.read(entries)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None
    return found + others(rest)


def _readers(homework: str) -> dict[str, Callable[[list[Entry], Path], list[Found]]]:
    """How each kind is read."""
    others = plain.reader(homework)
    return {
        "plain": lambda entries, source: others(entries),
        "folders": _one_by_one(plain.by_folder(homework), plain.LOOKS, others),
        "canvas": _one_by_one(canvas.belonging, canvas.LOOKS, others),
        "moodle": _one_by_one(moodle.belonging, moodle.LOOKS, others),
        "gradescope": lambda entries, source: _gradescope(entries, source, others),
    }


def _shown(submission: Submission, names: dict[str, str]) -> Submission:
    """The submission with every text in it harmless to look at: the one place where that
    happens.
    """

    def each(texts: tuple[str, ...]) -> tuple[str, ...]:
        more = (f"and {len(texts) - _KEPT:,} more",) if len(texts) > _KEPT else ()
        return tuple(shown(text, 2 * LONGEST) for text in texts[:_KEPT]) + more

    return replace(
        submission,
        student=names[normal(submission.student)],
        files=each(submission.files),
        name=shown(submission.name),
        ids={key: shown(value) for key, value in submission.ids.items()},
        earlier=each(submission.earlier),
    )
