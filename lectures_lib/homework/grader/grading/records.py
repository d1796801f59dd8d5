"""What has been graded so far, in a SQLite file, so that a run that was cut off goes on where it
stopped.
"""

import fcntl
import hashlib
import json
import re
import sqlite3
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from lectures_lib.homework.grader.grading.own_code import Excerpt
from lectures_lib.homework.verdict import Verdict

_TABLES = """
CREATE TABLE IF NOT EXISTS results (
    -- A later result of the same student stands instead of an earlier one; both are kept.
    number INTEGER PRIMARY KEY,
    student TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    written TEXT NOT NULL,
    result TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS by_student ON results (student, number);
"""


@dataclass(frozen=True)
class Result:
    """A graded submission.

    Attributes:
        student: who handed it in.
        files: what it was read from.
        fingerprint: of its content, the seed and the questions; a result with another one is out of
            date.
        verdicts: one for each question, in order.
        problem: why the file could not be read; "" if it could.
        cells: cells that did not come to their end: number, and why.
        uses: ready-made things that it mentions, which students were to build.
        seconds: how long it took.
        name: the student's name as people write it; "" where only `student` is known.
        ids: what a learning platform calls this submission: {"canvas": "4711"}, {"moodle":
            "Participant 12"}.
        handed_in: when, in ISO 8601 with a time zone; "" where nobody knows.
        earlier: files of the same student that do not count, because a later one does.
        notes: what the student and the instructor should know of the notebook as a whole: "This is
            Homework 3."
        texts: answers in words, by the question's full name; see `text_answers`.
        code: the lines that each answer consists of, by the question's full name: the answer first,
            then its helpers.
        bank: of the questions, the way they are judged, and the limits; a result with another one
            is out of date, too.
        fault: the grader failed, and `problem` says how: this is no grade, counts nowhere, and is
            tried again in the next run.
        doubtful: something was cut that a neighbour or a busy machine might have caused: to be run
            once more before it is believed.
    """

    student: str
    files: tuple[str, ...]
    fingerprint: str
    verdicts: tuple[Verdict, ...] = ()
    problem: str = ""
    cells: tuple[tuple[int, str], ...] = ()
    uses: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)
    name: str = ""
    ids: dict[str, str] = field(default_factory=dict)
    handed_in: str = ""
    earlier: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)
    code: dict[str, tuple[Excerpt, ...]] = field(default_factory=dict)
    bank: str = ""
    fault: bool = False
    doubtful: bool = field(default=False, compare=False)


class Records:
    """The results in a folder's `results.sqlite`. A result is there completely or not at all,
    whenever the run is cut off.

    Nothing is ever overwritten: a new result of a student is written below the old one, and the
    last one counts.

    Raises:
        ValueError: if the file is there and is no such record.
    """

    def __init__(self, folder: Path):
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "results.sqlite"
        self._lock = threading.Lock()
        try:
            self._file = _opened(self.path)
        except sqlite3.DatabaseError as error:
            raise ValueError(
                f"{self.path} cannot be read as the record of a run ({error}). Put it aside, and "
                f"everything is graded anew."
            ) from None

    def __enter__(self) -> "Records":
        """The records themselves."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()

    def get(self, student: str) -> Result | None:
        """The student's last result; None if there is none that can be read."""
        with self._lock:
            row = self._file.execute(
                "SELECT result FROM results WHERE student = ? ORDER BY number DESC LIMIT 1",
                (_storable(student),),
            ).fetchone()
        try:
            return _read(row[0]) if row else None
        except (ValueError, TypeError, KeyError):
            return None

    def put(self, result: Result) -> None:
        """Remember a result.

        Raises:
            OSError: if there is no room for it. What was written before is safe.
        """
        text = json.dumps(asdict(result))
        row = (
            _storable(result.student),
            result.fingerprint,
            datetime.now(UTC).isoformat(timespec="seconds"),
            text,
        )
        with self._lock:
            try:
                with self._file:
                    self._file.execute(
                        "INSERT INTO results (student, fingerprint, written, result) VALUES (?, ?, "
                        "?, ?)",
                        row,
                    )
                    count = self._file.execute(
                        "SELECT count(DISTINCT student) FROM results"
                    ).fetchone()[0]
            except sqlite3.OperationalError as error:
                count = self._file.execute(
                    "SELECT count(DISTINCT student) FROM results"
                ).fetchone()[0]
                raise OSError(
                    f"{self.path} could not be written ({error}). The {count} results before are "
                    f"safe: make room and run the same command."
                ) from None

    def written(self) -> list[tuple[str, str]]:
        """(student, time) of every result ever written, in order."""
        with self._lock:
            return self._file.execute(
                "SELECT student, written FROM results ORDER BY number"
            ).fetchall()


def _opened(path: Path) -> sqlite3.Connection:
    file = sqlite3.connect(path, check_same_thread=False, timeout=30)
    try:
        file.execute("PRAGMA journal_mode=WAL")
        file.execute("PRAGMA synchronous=FULL")
        file.executescript(_TABLES)
    except sqlite3.DatabaseError:
        file.close()
        raise
    return file


def _read(text: str) -> Result:
    kept = json.loads(text)
    for verdict in kept["verdicts"]:
        verdict["demands"] = tuple((says, holds) for says, holds in verdict.get("demands", ()))
    kept["verdicts"] = tuple(Verdict(**verdict) for verdict in kept["verdicts"])
    for listed in ("files", "uses", "earlier", "notes"):
        kept[listed] = tuple(kept.get(listed, ()))
    kept["code"] = {
        name: tuple(Excerpt(**{**each, "lines": tuple(each["lines"])}) for each in excerpts)
        for name, excerpts in kept.get("code", {}).items()
    }
    kept["cells"] = tuple((number, why) for number, why in kept["cells"])
    return Result(**kept)


def _storable(student: str) -> str:
    """A file's name need not be text that a database takes."""
    return student.encode("utf-8", "backslashreplace").decode()


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Keep a second grader away from this folder.

    Raises:
        ValueError: if one is at work there.
    """
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ValueError(
                f"another grader is at work on {folder}; wait for it, or choose another folder"
            ) from None
        yield


# What every disk can hold as it is; and what some cannot, or what looks like a name with a hash.
_HELD = re.compile(r"[A-Za-z0-9_]|[A-Za-z0-9_](?:[A-Za-z0-9_@ -]|\.(?!\.)){0,56}[A-Za-z0-9_]")
_NOT_HELD = re.compile(
    r"(?:con|prn|aux|nul|com\d|lpt\d) *(?:\..*)?|.*-[0-9a-f]{16}", re.IGNORECASE | re.DOTALL
)


def file_stem(student: str, shared: bool = False) -> str:
    """A file name for a student, whatever their name consists of: that name where any disk can hold
    it; else what is harmless of it, and a hash that keeps it unique.

    Args:
        student: the name; no two are alike.
        shared: whether somebody else's differs in its capitals alone, which some disks overlook.
    """
    if not shared and _HELD.fullmatch(student) and not _NOT_HELD.fullmatch(student):
        return student
    letters = unicodedata.normalize("NFKD", student)  # ü is u with a sign above it
    letters = "".join(letter for letter in letters if not unicodedata.combining(letter))
    readable = re.sub(r"[^\w-]+", "_", letters, flags=re.ASCII).strip("_")[:40]
    own = hashlib.sha256(student.encode("utf-8", "backslashreplace")).hexdigest()[:16]
    return f"{readable or 'student'}-{own}"
