"""A notebook as it was handed in: bytes that claim to be one."""

import json
import warnings
from contextlib import suppress

import nbformat

_CONFLICT = ("\n<<<<<<< ", "\n>>>>>>> ")  # at the beginning of a line: what git leaves of a merge
MAX_BYTES = 20 << 20
MAX_CELLS = 1000
MAX_CELL_BYTES = 3 << 20  # of a cell's source as it is sent to the sandbox


class Unreadable(Exception):
    """The file is no notebook that could be graded. The message tells its author why."""


def code_cells(data: bytes) -> list[str]:
    """The sources of a notebook's code cells, in order. Metadata, outputs and kernel do not matter.

    Args:
        data: the file, of nbformat 4 or of an older one.

    Raises:
        Unreadable: if it is anything else, however strange.
    """
    sources = [source(cell) for cell in cells(data) if cell.get("cell_type") == "code"]
    for number, text in enumerate(sources, start=1):
        # a character takes 12 bytes at most
        if len(text) * 12 > MAX_CELL_BYTES and len(json.dumps(text)) > MAX_CELL_BYTES:
            raise Unreadable(
                f"Code cell {number} has {len(text):,} characters, more than can be run. Keep "
                f"data out of cells."
            )
    return sources


def text_cells(data: bytes) -> list[str]:
    """The sources of all other cells, in order. What has none that is text is left out.

    Raises:
        Unreadable: if these bytes are no notebook.
    """
    found = []
    for cell in cells(data):
        if cell.get("cell_type") != "code":
            with suppress(Unreadable):
                found.append(source(cell))
    return found


def cells(data: bytes) -> list[dict]:
    """A notebook's cells of all kinds, in order, as they came.

    Raises:
        Unreadable: if these bytes are no notebook.
    """
    if len(data) > MAX_BYTES:
        raise Unreadable(
            f"The file is larger than the {MAX_BYTES >> 20} MB that are read. Clear the outputs "
            f"and hand it in again."
        )
    if not data.strip():
        raise Unreadable("The file is empty.")
    notebook = _parsed(data)
    if not isinstance(notebook, dict) or "nbformat" not in notebook:
        raise Unreadable("The file is JSON, but no notebook.")
    found = notebook.get("cells") if notebook["nbformat"] == 4 else _upgraded(notebook)
    if not isinstance(found, list) or not all(isinstance(cell, dict) for cell in found):
        raise Unreadable("The notebook has no list of cells.")
    if len(found) > MAX_CELLS:
        raise Unreadable(f"The notebook has {len(found):,} cells; up to {MAX_CELLS:,} are run.")
    return found


def decoded(data: bytes) -> str:
    """The text of a file of JSON: UTF-8, or UTF-16 or 32, which some editors on Windows write.

    Raises:
        UnicodeDecodeError: if it is none.
    """
    return data.decode(json.detect_encoding(data))


def _parsed(data: bytes) -> object:
    try:
        text = decoded(data)
    except UnicodeDecodeError:
        raise Unreadable("The file is not text, so it is no notebook.") from None
    try:
        return json.loads(text)
    except RecursionError:
        raise Unreadable("The file is JSON, nested far too deep to be a notebook.") from None
    except ValueError:
        start = text.lstrip()[:1]
        if all(mark in f"\n{text}" for mark in _CONFLICT):
            what = "It holds the marks of a merge (<<<<<<<): settle the merge in git first."
        elif start in "{[":
            what = "It is damaged or cut short."
        else:
            what = "Is it a program, or a page? Download the notebook itself, as .ipynb."
        raise Unreadable(f"The file is no notebook. {what}") from None


def _upgraded(notebook: dict) -> object:
    """The cells of a notebook in an older format."""
    if notebook["nbformat"] not in (1, 2, 3):
        raise Unreadable(
            f"The notebook's format is {str(notebook['nbformat'])[:20]!r}; 4 is what Jupyter "
            f"writes today."
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(nbformat.convert(nbformat.from_dict(notebook), 4).cells)
    # whatever nbformat trips over in a file that only claims to be of that format
    except Exception as error:
        raise Unreadable(
            f"The notebook is in an old format and could not be converted ({type(error).__name__})."
        ) from None


def source(cell: dict) -> str:
    """A cell's source: a text, or a list of its lines.

    Raises:
        Unreadable: if it is neither.
    """
    text = cell.get("source", "")
    lines = text if isinstance(text, list) else [text]
    if not all(isinstance(line, str) for line in lines):
        raise Unreadable("A code cell's source is not text.")
    return "".join(lines)
