"""What "Download all submissions" of a Moodle assignment gives: Ada
Lovelace_4711_assignsubmission_file/hw1.ipynb.

That is the student's name, the number that Moodle's grading worksheet calls "Participant 4711", and
the kind of submission (Moodle, mod/assign/classes/downloader.php; earlier versions end the folder's
name in "_", and without "Download submissions in folders" all of it is one file name). Under blind
marking everybody is called "Participant". In group work the number is the group's. When something
was handed in is not in the download: the dates in the zip are those of the zip.
"""

import re

from lectures_lib.homework.grader.submissions.entry import Entry, refused
from lectures_lib.homework.grader.submissions.found import Found

LOOKS = "Ada Lovelace_4711_assignsubmission_file/hw1.ipynb"
PREFIX = re.compile(
    r"(?P<name>[^_]+)_(?P<number>\d{1,20})_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<rest>.+)|_?)",
    re.DOTALL,
)
_NO_FILE = "There is no file, only what was typed in. Hand in the .ipynb file."


def belonging(entry: Entry) -> Found | None:
    """The file with its owner; None if it does not lie where Moodle puts files."""
    match = next(filter(None, map(PREFIX.fullmatch, entry.path)), None)
    if match is None:
        return None
    name, number = match["name"], match["number"]
    # "onlinetext": a page; it does not matter where there is a notebook too
    if match["kind"] != "file":
        entry = refused(entry.path, _NO_FILE)
    own_name = match["rest"] if entry.path[-1] == match.string and match["rest"] else entry.name
    return Found(
        f"{name}_{number}",
        entry,
        own_name,
        name="" if name == "Participant" else name,
        ids={"moodle": f"Participant {number}"},
    )
