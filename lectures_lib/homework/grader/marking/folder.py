"""The folder that the sheets lie in, and what it remembers: the secret that the ids are made with,
and which answer went to whom. No names: who an id belongs to, only the submissions and the secret
tell together.
"""

import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass, field, replace
from pathlib import Path

from lectures_lib.files import written_whole

FILE = "marking.json"
# consonants: an id is no word, no number, no month, and no formula in any spreadsheet
LETTERS = "bcdfghjkmnpqrstvwxyz"
LENGTH = 10


@dataclass(frozen=True)
class Handed:
    """An answer that was handed out.

    Attributes:
        question: its full name.
        markers: who marks it, one or two.
        round: on which sheets: 1 for the first ones, 2 for those of latecomers, …
    """

    question: str
    markers: tuple[str, ...]
    round: int


@dataclass(frozen=True)
class Folder:
    """What a folder of sheets remembers.

    Attributes:
        path: where it is.
        homework: its short name.
        secret: that the ids are made with.
        markers: in the order in which they were named.
        twice_percent: so many of the answers go to two markers.
        handed_out: by id.
    """

    path: Path
    homework: str
    secret: str
    markers: tuple[str, ...]
    twice_percent: float | int
    handed_out: dict[str, Handed] = field(default_factory=dict)

    @property
    def rounds(self) -> int:
        """How often sheets were made."""
        return max((handed.round for handed in self.handed_out.values()), default=0)

    def name_of(self, question: str, student: str, text: str) -> str:
        """The id of one answer: the same for the same answer of the same student, another one when
        it has changed.
        """
        content = json.dumps([question, student, text]).encode()
        digest = hmac.digest(self.secret.encode(), content, hashlib.sha256)
        number, letters = int.from_bytes(digest), ""
        while len(letters) < LENGTH:
            number, letter = divmod(number, len(LETTERS))
            letters += LETTERS[letter]
        return f"{letters[: LENGTH // 2]}-{letters[LENGTH // 2 :]}"

    def with_more(self, handed_out: dict[str, Handed]) -> "Folder":
        """The folder after more answers were handed out."""
        return replace(self, handed_out={**self.handed_out, **handed_out})

    def keep(self) -> None:
        """Write it down, for its owner alone: with the secret the ids are names again."""
        handed_out = {
            name: {"question": each.question, "markers": each.markers, "round": each.round}
            for name, each in sorted(self.handed_out.items())
        }
        record = {
            "homework": self.homework,
            "secret": self.secret,
            "markers": self.markers,
            "twice_percent": self.twice_percent,
            "handed_out": handed_out,
        }
        with written_whole(self.path / FILE) as draft:
            draft.touch(mode=0o600)
            draft.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def read(path: Path) -> Folder:
    """What a folder remembers.

    Raises:
        FileNotFoundError: if no sheets were made there.
        ValueError: if its record is damaged.
    """
    try:
        record = json.loads((path / FILE).read_text(encoding="utf-8"))
        handed_out = {
            name: Handed(each["question"], tuple(each["markers"]), int(each["round"]))
            for name, each in record["handed_out"].items()
        }
        return Folder(
            path,
            str(record["homework"]),
            str(record["secret"]),
            tuple(record["markers"]),
            float(record["twice_percent"]),
            handed_out,
        )
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{path} has no {FILE}, which knows the ids: filled sheets must lie in the folder that "
            f"`lectures-homework marking` made them in"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{path / FILE} is damaged ({type(error).__name__}: {error}): without it nobody knows "
            f"whose answers were marked. Restore it"
        ) from None


def begun(
    path: Path, homework: str, markers: tuple[str, ...], twice_percent: float | int
) -> Folder:
    """The folder as it was left, or a new one.

    Raises:
        ValueError: if it is another homework's, or was shared out otherwise.
    """
    if not (path / FILE).exists():
        return Folder(path, homework, secrets.token_hex(32), markers, twice_percent)
    there = read(path)
    if there.homework != homework:
        raise ValueError(f"{path} holds sheets of {there.homework}: choose another folder")
    if (there.markers, there.twice_percent) != (markers, twice_percent):
        raise ValueError(
            f"{path} was shared out among {', '.join(there.markers)}, {there.twice_percent:g} % "
            f"twice: name the same again, or choose another folder"
        )
    return there
