"""What has been graded so far, so that an interrupted run goes on where it stopped. One small file a student."""

import hashlib
import json
import os
import re
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

from lectures_lib.homework.diagnosis import Verdict


@dataclass(frozen=True)
class Result:
    """A graded submission.

    Attributes:
        student: who handed it in.
        files: what it was read from.
        fingerprint: of its content, the seed and the questions; a result with another one is out of date.
        verdicts: one for each question, in order.
        problem: why the file could not be read; "" if it could.
        cells: cells that did not come to their end: number, and why.
        uses: ready-made things that it mentions, which students were to build.
        seconds: how long it took.
        name: the student's name as people write it; "" where only `student` is known.
        ids: what a learning platform calls this submission: {"canvas": "4711"}, {"moodle": "Participant 12"}.
        handed_in: when, in ISO 8601 with a time zone; "" where nobody knows.
        earlier: files of the same student that do not count, because a later one does.
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


class Records:
    """The results in a folder. A student's file is there completely or not at all, whenever the run is cut off."""

    def __init__(self, folder: Path):
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def get(self, student: str, fingerprint: str) -> Result | None:
        """The student's result, if there is one that still holds."""
        try:
            kept = json.loads(self._path(student).read_text(encoding="utf-8"))
            kept["verdicts"] = tuple(Verdict(**verdict) for verdict in kept["verdicts"])
            for listed in ("files", "uses", "earlier"):
                kept[listed] = tuple(kept[listed])
            kept["cells"] = tuple((number, why) for number, why in kept["cells"])
            result = Result(**kept)
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return result if result.student == student and result.fingerprint == fingerprint else None

    def put(self, result: Result) -> None:
        """Remember a result."""
        write_whole(self._path(result.student), json.dumps(asdict(result), indent=1))

    def _path(self, student: str) -> Path:
        return self._folder / f"{file_stem(student)}.json"


def file_stem(student: str) -> str:
    """A file name for a student, whatever their name consists of: what is harmless of it, and a hash that keeps it unique."""
    readable = re.sub(r"[^\w-]+", "_", student, flags=re.ASCII).strip("_")[:40]
    return f"{readable or 'student'}-{hashlib.sha256(student.encode()).hexdigest()[:8]}"


def write_whole(path: Path, text: str) -> None:
    """Write a file so that nobody ever sees half of it."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.chmod(temporary, 0o644)
    os.replace(temporary, path)
