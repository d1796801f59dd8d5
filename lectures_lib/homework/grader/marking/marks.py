"""Filled sheets: the points and comments in them, and whatever is wrong with them."""

import csv
import io
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from lectures_lib.homework.grader.marking.folder import Folder, read
from lectures_lib.homework.grader.submissions.names import shown

HEAD = ("id", "question", "points", "comment")
MAX_BYTES = 5 << 20
LONGEST_COMMENT = 2_000
TOLD = 30  # mistakes that are told at once
_NUMBER = re.compile(r"[0-9]{1,6}(?:[.,][0-9]{0,10})?")
_AGAIN = re.compile(r"-\d+$")  # anna-2.csv holds what came later


@dataclass(frozen=True)
class Mark:
    """What people gave an answer.

    Attributes:
        points: where two marked it, the mean.
        comments: their words; none where there are none.
    """

    points: float
    comments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Agreement:
    """How far two markers agree on what both marked.

    Attributes:
        question: its full name.
        first, second: who.
        count: of answers that both marked.
        mean: of the first one's points minus the second one's.
        spread: standard deviation of these differences; None where there is one alone.
        equal: how many got the same points from both.
    """

    question: str
    first: str
    second: str
    count: int
    mean: float
    spread: float | None
    equal: int

    @property
    def told(self) -> str:
        """The same in words."""
        spread = "" if self.spread is None else f", standard deviation {self.spread:.2f}"
        return (
            f"{self.question}: {self.first} and {self.second} both marked {self.count}, "
            f"{self.equal} of them alike; mean difference {self.mean:+.2f} points{spread}"
        )


@dataclass(frozen=True)
class _Row:
    """A filled row: where it stands, who filled it in, and what it says."""

    file: str
    line: int
    marker: str
    points: float
    comment: str

    @property
    def place(self) -> str:
        return f"{self.file}, line {self.line}"


@dataclass(frozen=True)
class Marks:
    """What the filled sheets say.

    Attributes:
        folders: that they lie in.
        by_id: the marks.
        agreement: of every two markers on every question that both marked something of.
    """

    folders: tuple[Folder, ...] = ()
    by_id: Mapping[str, Mark] = field(default_factory=dict)
    agreement: tuple[Agreement, ...] = ()

    def of(self, question: str, student: str, text: str) -> Mark | None:
        """The mark of an answer; None where nobody has marked it, as it is now."""
        for folder in self.folders:
            if mark := self.by_id.get(folder.name_of(question, student, text)):
                return mark
        return None

    def unused(self, answers: Iterable[tuple[str, str, str]]) -> int:
        """How many marks belong to none of these answers (question, student, text): they were
        changed since, or taken back.
        """
        known = {folder.name_of(*answer) for answer in answers for folder in self.folders}
        return len(set(self.by_id) - known)


def filled(paths: Iterable[Path], homework: str, possible: Mapping[str, float]) -> Marks:
    """The marks in filled sheets.

    Args:
        paths: of the CSV files, each in the folder that it was made in.
        homework: its short name.
        possible: the points of each question that people mark, by its full name.

    Raises:
        OSError: if a file cannot be opened, or does not lie where sheets are.
        ValueError: with everything that is wrong with them: file, line, and numbers.
    """
    paths = list(dict.fromkeys(path.resolve() for path in paths))
    folders = {path.parent: read(path.parent) for path in paths}
    for folder in folders.values():
        if folder.homework != homework:
            raise ValueError(f"{folder.path} holds sheets of {folder.homework}, not of {homework}")
    rows: dict[str, list[_Row]] = {}
    wrong: list[str] = []
    for path in paths:
        for name, row in _rows(path, folders[path.parent], possible, wrong):
            rows.setdefault(name, []).append(row)
    handed_out = {
        name: handed for folder in folders.values() for name, handed in folder.handed_out.items()
    }
    merged = {
        name: _merged(name, theirs, len(handed_out[name].markers), wrong)
        for name, theirs in rows.items()
    }
    if wrong:
        more = [f"and {len(wrong) - TOLD} more"] if len(wrong) > TOLD else []
        raise ValueError("the marks cannot be used:\n  " + "\n  ".join(wrong[:TOLD] + more))
    by_id = {
        name: Mark(
            round(statistics.fmean(row.points for row in theirs), 2),
            tuple(dict.fromkeys(row.comment for row in theirs if row.comment)),
        )
        for name, theirs in merged.items()
    }
    both = [(handed_out[name].question, theirs) for name, theirs in merged.items()]
    return Marks(tuple(folders.values()), by_id, _agreement(both))


def _rows(
    path: Path, folder: Folder, possible: Mapping[str, float], wrong: list[str]
) -> Iterable[tuple[str, _Row]]:
    """The filled rows of a sheet, by id; what is wrong with the others is added to `wrong`."""
    file = shown(path.name)
    try:
        table = _table(path)
    except ValueError as error:
        wrong.append(f"{file}: {error}")
        return
    for line, row in table:
        name, question, points, comment = (row.get(column, "").strip() for column in HEAD)
        if not any((name, points, comment)):
            continue
        try:
            full = _question(name, question, folder, possible)
            value = _points(points, possible[full]) if points else None
            if len(comment) > LONGEST_COMMENT:
                raise ValueError(
                    f"the comment has {len(comment):,} characters; up to {LONGEST_COMMENT:,} are "
                    f"kept"
                )
        except ValueError as error:
            wrong.append(f"{file}, line {line}: {error}")
            continue
        if value is not None:
            yield name, _Row(file, line, _AGAIN.sub("", path.stem), value, comment)


def _table(path: Path) -> list[tuple[int, dict[str, str]]]:
    """The rows of a CSV file with their lines, as spreadsheets write it: commas, semicolons or tabs
    between the cells.
    """
    with path.open("rb") as opened:
        data = opened.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(f"is larger than the {MAX_BYTES >> 20} MB that are read")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError('is no text in UTF-8: save it as "CSV UTF-8"') from None
    first = text.partition("\n")[0]
    between = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=between)
    lines, before = [], 0
    try:
        for cells in reader:
            lines.append((before + 1, cells))
            before = reader.line_num
    except csv.Error as error:
        raise ValueError(f"is no CSV, in line {reader.line_num}: {error}") from None
    head = [cell.strip().lower() for cell in lines[0][1]] if lines else []
    if missing := [column for column in HEAD if head.count(column) != 1]:
        raise ValueError(f"its first line must name {', '.join(HEAD)}: {', '.join(missing)} is not")
    return [(line, dict(zip(head, cells, strict=False))) for line, cells in lines[1:]]


def _question(name: str, question: str, folder: Folder, possible: Mapping[str, float]) -> str:
    """The full name of the question that an id belongs to.

    Raises:
        ValueError: if the id was never handed out, or the row or the rules say otherwise.
    """
    handed = folder.handed_out.get(name)
    if handed is None:
        raise ValueError(f"no answer has the id {shown(name)!r}")
    short = handed.question.split(".")[1]
    if question not in (short, handed.question):
        raise ValueError(f"{name} is an answer to {short}, not to {shown(question)!r}")
    if handed.question not in possible:
        raise ValueError(f"by_hand in the rules has no question {short} any more")
    return handed.question


def _points(text: str, most: float) -> float:
    """A number of points as people write it, with a point or a comma.

    Raises:
        ValueError: if it is none that the question can give.
    """
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"points must be a number from 0 to {most:g}, and are {shown(text)!r}")
    value = float(text.replace(",", "."))
    if value > most:
        raise ValueError(f"{value:g} points, where at most {most:g} are possible")
    if round(value, 2) != value:
        raise ValueError(f"points have at most two decimals, and are {shown(text)!r}")
    return value


def _merged(name: str, rows: list[_Row], markers: int, wrong: list[str]) -> list[_Row]:
    """One row of each marker of an answer. Whoever says two things about one answer contradicts
    himself, and so do two, if it was one alone who was to mark it.
    """
    by_marker: dict[str, _Row] = {}
    for row in rows:
        first = by_marker.setdefault(row.marker, row)
        if (first.points, first.comment) != (row.points, row.comment):
            wrong.append(_contradiction(name, first, row))
    kept = list(by_marker.values())
    if len(kept) > markers:
        if markers == 1 and len({row.points for row in kept}) == 1:
            return kept[:1]
        told = "; ".join(f"{row.points:g} points in {row.place}" for row in kept)
        who = "one marker" if markers == 1 else "two markers"
        wrong.append(f"{name} was handed to {who}, and is marked by {len(kept)}: {told}")
    return sorted(kept, key=lambda row: row.marker)


def _contradiction(name: str, first: _Row, second: _Row) -> str:
    if first.points == second.points:
        return f"{second.place}: {name} has another comment in {first.place}"
    return (
        f"{second.place}: {name} gets {second.points:g} points, and {first.points:g} in "
        f"{first.place}"
    )


def _agreement(both: Iterable[tuple[str, list[_Row]]]) -> tuple[Agreement, ...]:
    """What every two markers made of the answers that both marked, question by question."""
    differences: dict[tuple[str, str, str], list[float]] = {}
    for question, rows in both:
        for first, second in combinations(rows, 2):
            key = question, first.marker, second.marker
            differences.setdefault(key, []).append(first.points - second.points)
    return tuple(
        Agreement(
            *key,
            len(values),
            statistics.fmean(values),
            statistics.stdev(values) if len(values) > 1 else None,
            Counter(values)[0.0],
        )
        for key, values in sorted(differences.items())
    )
