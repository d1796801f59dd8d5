"""What a notebook's text tells about answers that were not found or not right. Read with patterns
alone: it may be no Python at all.
"""

import difflib
import re
from collections.abc import Container

from lectures_lib.homework.inside.cells import TRANSPARENT

_DEFINES = r"^(?:(?:async[ \t]+)?def|class)[ \t]+{}\b"
_ASSIGNS = r"^{}[ \t]*=(?!=)"
# Whatever may bind a name; an argument of a call that is called so, too.
_BINDS = (
    r"\b{0}\b[ \t,)\w]{{0,100}}(?:[-+*/|&:]?=(?!=))|^[ \t]*{0}[ \t]*:"
    r"|\b(?:def|class|for|as|import|global)\b[^\n]{{0,200}}\b{0}\b|\bimport[ \t]+\*"
)
_UNDEFINED = re.compile(r"NameError\b.*\bname '(\w{1,100})' is not defined", re.DOTALL)
_FUNCTION = re.compile(r"^def[ \t]+(\w{1,100})[ \t]*\(([^()]{0,500})\)", re.MULTILINE)
_TOP = re.compile(r"^(?:(?:async[ \t]+)?def[ \t]+|class[ \t]+)(\w{1,100})", re.MULTILINE)
_CHECKED = re.compile(r"""\bcheck\(\s*["'](\w{1,20})\.\w""")
# bounded throughout: a line may hold a million of `check(,`
_CHECK_OF = r"\bcheck\([^\n()]{{0,200}},\s{{0,50}}(?:\w{{1,50}}\s{{0,9}}=\s{{0,9}})?{}\s{{0,50}}\)"
_RAISE = re.compile(
    r"^([ \t]+)raise NotImplementedError\b[^\n]*\n((?:[ \t]*(?:#[^\n]*)?\n)*)\1(?![ \t#\n])\S",
    re.MULTILINE,
)


def defining(cells: list[str], name: str) -> list[int]:
    """The indices of the cells that define a function or class of this name, or assign to it."""
    return sorted({*_with(_DEFINES, cells, name), *_with(_ASSIGNS, cells, name)})


def _with(pattern: str, cells: list[str], name: str) -> list[int]:
    """The indices of the cells in which the pattern is found for this name."""
    sought = re.compile(pattern.format(re.escape(name)), re.MULTILINE)
    return [i for i, cell in enumerate(cells) if sought.search(cell)]


def of_definitions(
    cells: list[str],
    name: str,
    unfinished: bool,
    checked: int = 0,
    stopped: Container[int] = (),
) -> str:
    """What is odd about an answer's definitions, in a sentence or two; "" if nothing is.

    Args:
        cells: the sources of the code cells.
        name: the answer's.
        unfinished: whether it did nothing but raise NotImplementedError.
        checked: the number of the cell whose `check` saw the answer that was judged; 0 where that
            is what stood there after the last cell.
        stopped: the indices of the cells that did not come to their end.
    """
    found = defining(cells, name)
    which = judged(cells, name, checked, stopped)
    told = []
    if len(found) > 1:
        told.append(f"It is {_places(cells, name, found)}{_counts(found, which, checked)}.")
    if unfinished and which is not None and _RAISE.search(cells[which] + "\n"):
        told.append(
            f"In code cell {which + 1} `raise NotImplementedError` still stands above your "
            f"lines, which are never reached."
        )
    return " ".join(told)


def of_a_template_below(cells: list[str], name: str) -> str:
    """A word for an answer that the untouched template follows in the same cell; "" where none is
    followed so. Only for an answer that is unfinished.
    """
    found = defining(cells, name)
    if not found:
        return ""
    parts = re.split(_DEFINES.format(re.escape(name)), cells[found[-1]], flags=re.MULTILINE)
    above = [part for part in parts[1:-1] if "raise NotImplementedError" not in part]
    if not above:
        return ""
    return (
        f"In code cell {found[-1] + 1} the untouched template stands below your answer and takes "
        f"its place: delete the template."
    )


def judged(
    cells: list[str], name: str, checked: int = 0, stopped: Container[int] = ()
) -> int | None:
    """The index of the cell with the definition that was judged; None where the text does not tell
    it. The arguments are those of `of_definitions`.
    """
    found = defining(cells, name)
    if not checked:
        return found[-1] if found and found[-1] not in stopped else None
    of_it = re.compile(_CHECK_OF.format(re.escape(name)))
    call = of_it.search(cells[checked - 1])
    if not call:
        return None
    above = [*cells[: checked - 1], cells[checked - 1][: call.start()]]
    seen = defining(above, name)
    return seen[-1] if seen else None


def _counts(found: list[int], which: int | None, checked: int) -> str:
    """Which of several definitions counts."""
    if checked and which is not None:
        return f"; that of code cell {which + 1} counts, which the check in cell {checked} saw"
    if checked:
        return f"; what the check in code cell {checked} was given counts"
    return "; the last counts" if which == found[-1] else ""


def _places(cells: list[str], name: str, found: list[int]) -> str:
    """Where it is defined, and where it is assigned to."""
    defined = _with(_DEFINES, cells, name)
    assigned = [i for i in found if i not in defined]
    told = [
        f"{what} in {_numbered(where)}"
        for what, where in (("defined", defined), ("assigned to", assigned))
        if where
    ]
    return " and ".join(told)


def _numbered(found: list[int]) -> str:
    """ "code cells 1, 2 and 3", the first ten and the last of them."""
    if not found[1:]:
        return f"code cell {found[0] + 1}"
    return f"code cells {', '.join(str(i + 1) for i in found[:-1][:10])} and {found[-1] + 1}"


def of_text_cells(texts: list[str], name: str) -> str:
    """A word for an answer that stands where nothing is run; "" if none does.

    Args:
        texts: the sources of the cells that are no code cells.
        name: the answer's.
    """
    if not defining(texts, name):
        return ""
    return (
        "It stands in a cell of text (Markdown or raw), which is not run: make a code cell of that."
    )


def of_an_undefined_name(cells: list[str], message: str) -> str:
    """A word for an answer that needs something that no cell defines any more; "" where the text
    does not tell.

    Args:
        cells: the sources of the code cells.
        message: what the verdict says of the answer.
    """
    undefined = _UNDEFINED.search(message)
    if not undefined:
        return ""
    name = undefined[1]
    if _with(_BINDS, cells, name):
        return ""
    return (
        f"No cell defines `{name}`. Did one that you have deleted or changed? Restart and run all "
        f"cells: then you see what the grader sees."
    )


def of_a_missing_name(
    cells: list[str], name: str, others: Container[str] = (), arguments: tuple[str, ...] = ()
) -> str:
    """Where an answer stands that was not found, or what is called nearly so; "" if nothing is.

    Args:
        cells: the sources of the code cells.
        name: the answer's.
        others: names of other questions' answers, which are none of this one.
        arguments: the names of those that it takes; one alone is nothing to know it by.
    """
    commented = _with(r"^[ \t]*#[# \t]*(?:def|class)[ \t]+{}\b", cells, name)
    if commented:
        return f"In code cell {commented[-1] + 1} it stands in a comment, which is not run."
    for i in _with(_DEFINES, cells, name):
        above = re.split(
            _DEFINES.format(re.escape(name)), cells[i], maxsplit=1, flags=re.MULTILINE
        )[0]
        if (magic := re.match(r"\s*(%%\w+)", cells[i])) and magic[1] not in TRANSPARENT:
            return f"It stands in code cell {i + 1} below `{magic[1]}`, which does not define it."
        if any(above.count(quotes) % 2 for quotes in ('"""', "'''")):
            return f"In code cell {i + 1} it stands in a text between quotes, which is not run."
    if inside := _with(r"^[ \t]+(?:def|class)[ \t]+{}\b", cells, name):
        return (
            f"In code cell {inside[-1] + 1} it is defined inside of something else: begin it at "
            f"the left margin."
        )
    lower = {each.lower(): each for cell in cells for each in _TOP.findall(cell)[:1000]}
    found = [
        lower[each]
        for each in difflib.get_close_matches(name.lower(), list(lower)[:1000], 3, cutoff=0.8)
        if lower[each] not in others
    ]
    if found:
        return f"There is `{found[0]}`: did you mean this?"
    same = [
        function
        for cell in cells
        for function, taken in _FUNCTION.findall(cell)
        if function not in others and arguments[1:] and _names_of(taken) == arguments
    ]
    if not same:
        return ""
    return f"There is `{same[-1]}`, which takes the same arguments: did you mean this?"


def _names_of(taken: str) -> tuple[str, ...]:
    """The names of a function's arguments, of the text between its brackets."""
    return tuple(re.split(r"[:=]", each)[0].strip() for each in taken.strip(" ,\n").split(","))


def of_no_code(cells: list[str]) -> tuple[str, ...]:
    """A word for a notebook without a line of code."""
    if any(cell.strip() for cell in cells):
        return ()
    return (
        "There is no code in the notebook, so there was nothing to run. Was it saved before it was "
        "handed in?",
    )


def of_no_imports(cells: list[str]) -> tuple[str, ...]:
    """A word for a notebook with checks that nothing was imported for."""
    if any("lectures_lib" in cell for cell in cells) or not any(map(_CHECKED.search, cells)):
        return ()
    return (
        "No cell imports `check`: the homework's first cells, with the set-up and the imports, are "
        "missing. Take them from the notebook as it was given to you.",
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
