"""The sheets: for each marker a page with the answers, question by question and without names, and
a table to fill in.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lectures_lib.files import write_whole
from lectures_lib.homework.grader.grading.records import Result
from lectures_lib.homework.grader.grading.rules import Rules
from lectures_lib.homework.grader.grading.settings import TextQuestion
from lectures_lib.homework.grader.marking import folder
from lectures_lib.homework.grader.marking.folder import Folder, Handed
from lectures_lib.homework.grader.marking.marks import HEAD
from lectures_lib.homework.grader.marking.sharing import shared_out
from lectures_lib.homework.grader.reports import spreadsheet, told
from lectures_lib.homework.grader.reports.page import rendered
from lectures_lib.homework.questions import Homework

ALONE = "marks"  # a marker without a name
MARKER = re.compile(r"[^\W\d_]\w{0,30}")
BLACK = "█████"  # in the place of the author's name
_BETWEEN = r"(?:, ?|\s{1,3}|[_.@-])"  # the parts of a name
_MIN_NAME = 4  # characters: a shorter name is a word as well


@dataclass(frozen=True)
class Answer:
    """An answer on a sheet: its id, and what is written."""

    id: str
    text: str


@dataclass(frozen=True)
class Part:
    """A question on a sheet, with the answers to it."""

    name: str
    question: TextQuestion
    answers: list[Answer]


def write(
    homework: Homework,
    results: Iterable[Result],
    rules: Rules,
    out: Path,
    markers: tuple[str, ...] = (ALONE,),
    twice_percent: float | int = 0.0,
) -> list[str]:
    """Write the sheets of all answers that were not handed out before, for each marker a page and a
    table: `anna.html` and `anna.csv`; `anna-2.html` and `anna-2.csv` for what came later.

    Args:
        homework, rules: what is asked.
        results: who handed in what; they need not be graded.
        out: the folder; made if it is not there.
        markers: among whom the answers are shared out.
        twice_percent: so many answers are marked by two of them.

    Returns:
        What an instructor should be told.

    Raises:
        ValueError: if nothing is to be marked by people, a marker's name is no name, or the folder
            holds something else.
        OSError: if a file cannot be written.
    """
    _demand_sense(rules, homework, markers, twice_percent)
    out.mkdir(parents=True, exist_ok=True)
    kept = folder.begun(out, homework.name, markers, twice_percent)
    kept.keep()  # first of all: with another secret, what follows would be of no use
    results = list(results)
    unseen = _unseen(homework, results, rules)
    found = _new_answers(homework, results, rules, kept)
    handed_out = {
        answer.id: Handed(name, who, kept.rounds + 1)
        for name, answers in found.items()
        for answer, who in _shared(answers, markers, twice_percent)
    }
    if not handed_out:
        return [*unseen, "Nothing new to mark."]
    said = []
    for marker in markers:
        parts = [
            Part(name, question, [a for a in answers if marker in handed_out[a.id].markers])
            for name, question in _asked(rules, homework)
            if (answers := found.get(name, []))
        ]
        said.append(_write_one(homework, out, marker, kept.rounds + 1, parts))
    kept.with_more(handed_out).keep()
    return [*unseen, *filter(None, said), _told(handed_out)]


def _demand_sense(
    rules: Rules, homework: Homework, markers: tuple[str, ...], twice_percent: float | int
) -> None:
    if not rules.by_hand:
        raise ValueError(
            f"the rules of {homework.name} have no by_hand: nothing is marked by people"
        )
    for marker in markers:
        if not MARKER.fullmatch(marker):
            raise ValueError(
                f"{marker!r} cannot be a marker's name, which is part of a file's: letters, digits "
                f"and _"
            )
    if not markers or len({marker.casefold() for marker in markers}) < len(markers):
        raise ValueError("name each marker once")
    if not 0 <= twice_percent <= 100:
        raise ValueError(f"from 0 to 100 % can be marked twice, not {twice_percent:g} %")
    if twice_percent and len(markers) < 2:
        raise ValueError("it takes two markers to mark an answer twice")


def _asked(rules: Rules, homework: Homework) -> list[tuple[str, TextQuestion]]:
    return [(f"{homework.name}.{name}", question) for name, question in rules.by_hand.items()]


def _unseen(homework: Homework, results: list[Result], rules: Rules) -> list[str]:
    """What to tell of questions that no submission answers: their cells may not be there."""
    answered = {name for result in results for name in result.texts}
    return [
        f"{name}: no answer in {len(results)} submissions. Was the notebook released with the "
        f"rules that ask it (release --rules)?"
        for name, _ in _asked(rules, homework)
        if results and name not in answered
    ]


def _new_answers(
    homework: Homework, results: Iterable[Result], rules: Rules, kept: Folder
) -> dict[str, list[Answer]]:
    """The answers that nobody has been given yet, by question, in the order of their ids, which
    tells nothing.
    """
    found: dict[str, list[Answer]] = {}
    for result in results:
        for name, text in rules.for_marking(homework, result).items():
            answer = Answer(kept.name_of(name, result.student, text), without_name(text, result))
            if answer.id not in kept.handed_out:
                found.setdefault(name, []).append(answer)
    return {name: sorted(answers, key=lambda a: a.id) for name, answers in found.items()}


def _shared(
    answers: list[Answer], markers: tuple[str, ...], twice_percent: float | int
) -> Iterable[tuple[Answer, tuple[str, ...]]]:
    chosen = shared_out([answer.id for answer in answers], markers, twice_percent)
    return [(answer, chosen[answer.id]) for answer in answers]


def _write_one(homework: Homework, out: Path, marker: str, round_: int, parts: list[Part]) -> str:
    """Write one marker's sheets, if there is anything on them; say what."""
    parts = [part for part in parts if part.answers]
    if not parts:
        return ""
    name = marker if round_ == 1 else f"{marker}-{round_}"
    page = rendered(
        "marking_sheet.html",
        title=told.title(homework),
        name=name,
        parts=parts,
        count=sum(len(part.answers) for part in parts),
    )
    rows = [[a.id, part.name.split(".")[1], "", ""] for part in parts for a in part.answers]
    table, text = out / f"{name}.csv", spreadsheet.table([HEAD, *rows])
    if table.exists() and table.read_text(encoding="utf-8") != text:
        raise ValueError(f"{table} is there and says something else: it is not overwritten")
    write_whole(out / f"{name}.html", page)
    write_whole(table, text)
    return f"{table}: {_answers(len(rows))}, to be read in {name}.html"


def _told(handed_out: dict[str, Handed]) -> str:
    both = sum(len(handed.markers) > 1 for handed in handed_out.values())
    return (
        f"{_answers(len(handed_out))} to mark, {both} of them twice. Keep {folder.FILE} to "
        f"yourself: it leads from ids to names."
    )


def _answers(count: int) -> str:
    return "1 answer" if count == 1 else f"{count} answers"


def without_name(text: str, result: Result) -> str:
    """The text without its author's name, address and numbers, as far as they are known: whole, in
    either order, whatever stands between the parts. A part of a name, or a short one, may be a word
    as well: it goes where it has a line to itself.
    """
    known = {result.name, result.student, *result.ids.values()}
    short = set()
    for name in list(known):
        parts = re.findall(r"[^\W_]+", name)
        short |= {part for part in parts if len(part) > 1}
        if len(parts) > 1:
            known |= {" ".join(parts), " ".join([parts[-1], *parts[:-1]])}
    for name in sorted(known, key=lambda name: (-len(name), name)):
        parts = re.findall(r"[^\W_]+", name)
        if len("".join(parts)) >= _MIN_NAME:
            whole = _BETWEEN.join(map(re.escape, parts))
            text = re.sub(rf"(?<![^\W_]){whole}(?![^\W_])", BLACK, text, flags=re.IGNORECASE)
    lines = {name.casefold() for name in short}
    return "\n".join(
        BLACK if line.strip(" \t\r.,:*_-").casefold() in lines else line
        for line in text.split("\n")
    )
