"""What "Export Submissions" of a Gradescope assignment gives: submission_1234567/hw1.ipynb, beside
submission_metadata.yml.

The metadata is written by a program in Ruby: {submission_1234567: {:submitters: [{:name:, :sid:,
:email:}], :created_at:, …}}. The export holds the submission that counts there; its `:history:`
only tells that there were others.
"""

import re
from collections.abc import Hashable
from datetime import UTC, datetime

import yaml

from lectures_lib.homework.grader.submissions.entry import Entry, refused
from lectures_lib.homework.grader.submissions.found import Found
from lectures_lib.homework.notebook import MAX_BYTES, Unreadable

LOOKS = "submission_1234567/hw1.ipynb beside submission_metadata.yml"
METADATA = "submission_metadata.yml"
FOLDER = re.compile(r"submission_\d{1,20}")
_NO_FILE = "Gradescope's export has no file of this submission. Hand in the .ipynb file."


def read(entries: list[Entry]) -> tuple[list[Found], list[Entry]]:
    """The files with their owners, one for each of those who submitted together, and the files that
    are in no submission.

    Raises:
        ValueError: if there is no metadata, or it cannot be read.
    """
    described = metadata(entries)
    if described is None:
        raise ValueError(
            f"there is no {METADATA}, so nobody knows whose the submissions are; export them again "
            f"from Gradescope"
        )
    place, submissions = described
    by_folder: dict[str, list[Entry]] = {}
    rest = []
    for entry in entries:
        inside = entry.path[len(place) :] if entry.path[: len(place)] == place else ()
        if len(inside) > 1 and (inside[0] in submissions or FOLDER.fullmatch(inside[0])):
            by_folder.setdefault(inside[0], []).append(entry)
        elif inside != (METADATA,):
            rest.append(entry)
    found = []
    for folder in {**submissions, **by_folder}:
        files = by_folder.get(folder) or [refused((*place, folder), _NO_FILE)]
        found += [
            owned for file in files for owned in _owned(folder, file, submissions.get(folder))
        ]
    return found, rest


def metadata(entries: list[Entry]) -> tuple[tuple[str, ...], dict[str, dict]] | None:
    """Where the export lies, and what it says of each submission; None if there is no metadata.

    Only the outermost file of that name is looked at: a student may have handed in another.
    """
    files = sorted(
        (entry for entry in entries if entry.name == METADATA),
        key=lambda entry: (len(entry.path), entry.path),
    )
    if not files or len(files[0].path) > 2 or any(map(FOLDER.fullmatch, files[0].path)):
        return None
    try:
        text = files[0].read()
    except Unreadable as error:
        raise ValueError(f"{files[0]}: {error}") from None
    if len(text) > MAX_BYTES:
        raise ValueError(
            f"{files[0]} is larger than the {MAX_BYTES >> 20} MB that are read; take the :results: "
            f"out of it"
        )
    try:
        _not_too_deep(text)
        content = yaml.load(text, Loader=_Ruby)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(
            f"{files[0]} cannot be read: {' '.join(str(error).split())[:300]}. Export it again "
            f"from Gradescope."
        ) from None
    if not isinstance(content, dict):
        raise ValueError(
            f"{files[0]} must list the submissions, and holds {type(content).__name__}; export it "
            f"again from Gradescope"
        )
    return files[0].path[:-1], {
        str(folder): told if isinstance(told, dict) else {} for folder, told in content.items()
    }


def _not_too_deep(text: bytes) -> None:
    """Refuse what is nested so deep that building it would overrun the stack, which ends the
    process when the builder is written in C.
    """
    depth = 0
    for event in yaml.parse(text, Loader=_Ruby):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(
            event, yaml.CollectionEndEvent
        )
        if depth > 100:
            raise ValueError("it is nested more than 100 levels deep")


def _owned(folder: str, file: Entry, told: dict | None) -> list[Found]:
    """The file, once for each of its owners."""
    told = told or {}
    people = _get(told, "submitters")
    people = (
        [person for person in people if isinstance(person, dict)]
        if isinstance(people, list)
        else []
    )
    when = _time(_get(told, "created_at"))
    return [_belonging(folder, file, person, when) for person in people or [{}]]


def _belonging(folder: str, file: Entry, person: dict, when: datetime | None) -> Found:
    name, email, sid = (str(_get(person, key) or "").strip() for key in ("name", "email", "sid"))
    ids = {"gradescope": folder} | {
        key: value for key, value in (("email", email), ("sid", sid)) if value
    }
    student = email or sid or (f"{name}_{folder}" if name else folder)
    return Found(student, file, file.name, when.timestamp() if when else None, name, ids, when)


def _get(told: dict, key: str) -> object:
    return told.get(f":{key}", told.get(key))


def _time(value: object) -> datetime | None:
    """A time of the metadata, which is in UTC where it names no zone."""
    if isinstance(value, dict):  # a Ruby object that keeps the same moment in several ways
        value = _get(value, "utc")
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)


class _Ruby(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """YAML in which Ruby's own types are read as the plain mappings, lists and texts that they are
    written with.
    """


def _plain(loader: _Ruby, suffix: str, node: yaml.Node) -> Hashable | dict | list:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    return (
        loader.construct_sequence(node, deep=True)
        if isinstance(node, yaml.SequenceNode)
        else loader.construct_scalar(node)
    )


_Ruby.add_multi_constructor("!ruby/", _plain)
# Student numbers are text: 0123 is no octal number, and 1_2 no 12.
_Ruby.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag not in ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
    ]
    for first, resolvers in _Ruby.yaml_implicit_resolvers.items()
}
