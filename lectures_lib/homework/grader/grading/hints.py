"""What a notebook's text tells about answers that were not found or not right. Read with patterns
alone: it may be no Python at all.
"""

import re

_CHECKED = re.compile(r"""\bcheck\(\s*["'](\w{1,20})\.\w""")
_RAISE = re.compile(
    r"^([ \t]+)raise NotImplementedError\b[^\n]*\n((?:[ \t]*(?:#[^\n]*)?\n)*)\1(?![ \t#\n])\S",
    re.MULTILINE,
)


def defining(cells: list[str], name: str) -> list[int]:
    """The indices of the cells that define a function or class of this name, or assign to it."""
    name = re.escape(name)
    defines = re.compile(
        rf"^(?:(?:async[ \t]+)?def|class)[ \t]+{name}\b|^{name}[ \t]*=(?!=)", re.MULTILINE
    )
    return [i for i, cell in enumerate(cells) if defines.search(cell)]


def of_definitions(cells: list[str], name: str, unfinished: bool) -> str:
    """What is odd about an answer's definitions, in a sentence or two; "" if nothing is.

    Args:
        cells: the sources of the code cells.
        name: the answer's.
        unfinished: whether it did nothing but raise NotImplementedError.
    """
    found = defining(cells, name)
    told = []
    if len(found) > 1:
        numbers = ", ".join(str(i + 1) for i in found[:-1][:10])
        told.append(f"It is defined in code cells {numbers} and {found[-1] + 1}; the last counts.")
    if unfinished and found and _RAISE.search(cells[found[-1]] + "\n"):
        told.append(
            f"In code cell {found[-1] + 1} `raise NotImplementedError` still stands above your "
            f"lines, which are never reached."
        )
    return " ".join(told)


def of_text_cells(texts: list[str], name: str) -> str:
    """A word for an answer that stands where nothing is run; "" if none does.

    Args:
        texts: the sources of the cells that are no code cells.
        name: the answer's.
    """
    if not defining(texts, name):
        return ""
    return "It stands in a text cell, which is not run: make a code cell of that."


def of_no_code(cells: list[str]) -> tuple[str, ...]:
    """A word for a notebook without a line of code."""
    if any(cell.strip() for cell in cells):
        return ()
    return (
        "There is no code in the notebook, so there was nothing to run. Was it saved before it was "
        "handed in?",
    )


def of_another_homework(cells: list[str], homework: str) -> tuple[str, ...]:
    """A word for a notebook whose checks are all of another homework than the one that is graded
    ("hw1").
    """
    checked = [name for cell in cells for name in _CHECKED.findall(cell)]
    others = sorted({name for name in checked if re.fullmatch(r"hw\d{1,3}", name)} - {homework})
    if homework in checked or not others:
        return ()
    said = " and ".join(f"Homework {name[2:]}" for name in others[:5])
    mine = f"Homework {homework[2:]}" if homework.startswith("hw") else homework
    return (
        f"This is {said}: its checks say so, and none is of {mine}, which is graded here. Was the "
        f"wrong file handed in?",
    )
