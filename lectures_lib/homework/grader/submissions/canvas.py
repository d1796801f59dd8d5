"""What "Download Submissions" of a Canvas assignment gives:
lovelaceada_LATE_12345_67890_hw1-1.ipynb.

That is the student's name in sorting order and lower case, LATE where Canvas counts it so, the
number of the student, the number of the file, and the file's name (Canvas, lib/content_zipper.rb:
`get_filename`, `add_upload_submission`). Files are numbered as they are uploaded, so the highest
number is the latest. When that was is not in the download: the dates in the zip are those of the
zip. An assignment graded anonymously has "anon_xYz12" in place of name and number; what was typed
in or linked ends in _text.html or _link.html.
"""

import re

from lectures_lib.homework.grader.submissions.entry import Entry, refused
from lectures_lib.homework.grader.submissions.found import Found

LOOKS = "lovelaceada_12345_67890_hw1.ipynb"
_FILE = re.compile(
    r"(?P<name>[^/]+?)(?P<late>_LATE)?_(?P<user>\d{1,20})_(?P<file>\d{1,20})_(?P<own_name>.+)",
    re.DOTALL,
)
_ANONYMOUS = re.compile(
    r"(?P<late>LATE_)?(?P<name>anon)_(?P<user>[A-Za-z0-9]{1,10})_(?P<file>\d{1,20})_(?P<own_name>.+)",
    re.DOTALL,
)
_TYPED = re.compile(
    r"(?P<name>[^/]+?)(?P<late>_LATE)?_(?P<user>\d{1,20})_(?P<own_name>text\.html|link\.html)"
)
_NO_FILE = "There is no file, only what was typed in or linked. Hand in the .ipynb file."


def belonging(entry: Entry) -> Found | None:
    """The file with its owner; None if it is not named in Canvas' way."""
    match = (
        _ANONYMOUS.fullmatch(entry.name)
        or _FILE.fullmatch(entry.name)
        or _TYPED.fullmatch(entry.name)
    )
    if match is None:
        return None
    parts = match.groupdict()
    ids = {} if parts["name"] == "anon" else {"canvas": parts["user"]}
    if parts["late"]:
        ids["canvas_late"] = "LATE"
    if "file" not in parts:
        entry = refused(entry.path, _NO_FILE)
    return Found(
        f"{parts['name']}_{parts['user']}",
        entry,
        parts["own_name"],
        float(parts.get("file", 0)),
        ids=ids,
    )
