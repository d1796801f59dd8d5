"""One page of feedback a student: a single HTML file that needs nothing else."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from lectures_lib.files import write_whole
from lectures_lib.homework.grader.grading.own_code import Excerpt
from lectures_lib.homework.grader.grading.records import Result, file_stem
from lectures_lib.homework.grader.grading.rules import Rules
from lectures_lib.homework.grader.grading.score import InWords, Score
from lectures_lib.homework.grader.reports import told
from lectures_lib.homework.grader.reports.page import marked, rendered
from lectures_lib.homework.questions import Homework, Question
from lectures_lib.homework.verdict import Verdict

_STATUS = {"right": "✓ Right", "open": "○ No answer", "wrong": "✗ Not right yet"}
_PARTLY = "✗ Partly right"
_LOOK = {"right": "right", "open": "open"}  # all else looks wrong


@dataclass(frozen=True)
class Card:
    """What is said of one question.

    Attributes:
        title: the question's, with its number in the notebook where the notebook gives it one.
        name: the answer's in the notebook.
        look: "right", "open" or "wrong".
        status: the same in words.
        mistake: a recognised mistake's name.
        message: what to tell the student.
        worth: the points in words: "1 of 2", "does not count".
        given: how the sentence on the points begins where the course's rules or a person's decision
            set them; nothing where the verdict did.
        comments: what that person says about it, or those who marked it.
        details: names and what they stand for: the input, what differs, what to reread.
        code: the student's own lines that this is about.
        parts: for a partly right answer, each demand of the question, and what it earns.
        written: the student's answer in words.
    """

    title: str
    name: str
    look: str
    status: str
    points: float
    worth: str
    mistake: str
    message: str
    given: str
    comments: list[str]
    details: list[tuple[str, Markup]]
    code: tuple[Excerpt, ...] = ()
    parts: Sequence[tuple[str, str]] = ()
    written: str = ""


def write_all(
    homework: Homework, results: Iterable[Result], folder: Path, rules: Rules | None = None
) -> None:
    """Write every student's page into `folder`; a page that is there already stays as it is.

    Raises:
        ValueError: if two students' pages would have one name. None is written then.
    """
    folder.mkdir(exist_ok=True)
    results = list(results)
    alike = Counter(result.student.casefold() for result in results)
    stems = [file_stem(each.student, alike[each.student.casefold()] > 1) for each in results]
    names = Counter(stem.casefold() for stem in stems)
    if twice := [stem for stem in stems if names[stem.casefold()] > 1]:
        raise ValueError(
            f"the pages of {len(twice)} students would be called {twice[0]}.html: somebody has "
            f"chosen a file name that aims at another's page. Rename one of the files handed in."
        )
    for result, stem in zip(results, stems, strict=True):
        text = page(homework, result, rules)
        # before another one came, or after that one went, it had the other of these names
        for other in {file_stem(result.student, one) for one in (True, False)} - {stem}:
            (folder / f"{other}.html").unlink(missing_ok=True)
        path = folder / f"{stem}.html"
        if not _holds(path, text):
            write_whole(path, text)


def _holds(path: Path, text: str) -> bool:
    """Whether the file has this text: a new one waits for the disk, which for a thousand of them
    takes seconds.
    """
    try:
        return path.read_bytes() == text.encode("utf-8", "backslashreplace")
    except OSError:
        return False


def page(homework: Homework, result: Result, rules: Rules | None = None) -> str:
    """The text of a student's page. Whatever comes from the student is escaped."""
    rules = rules or Rules()
    score = rules.score(homework, result)
    possible = score.out_of
    return rendered(
        "feedback.html",
        title=told.title(homework),
        who=result.name or result.student,
        result=result,
        score=score,
        possible=possible,
        excuse=told.excuse(score) if score.excused else "",
        share=f"{100 * min(max(score.total / possible, 0), 1):.0f}" if possible else "0",
        decided=[
            (rules.title(homework, name), score.points[name], comment)
            for name, comment in score.decided.items()
        ],
        waiting=told.waiting(score),
        cards=[]
        if result.problem
        else [_card(homework, verdict, score, result) for verdict in result.verdicts]
        + [
            _card_in_words(name, answer, score, result.texts.get(name, ""))
            for name, answer in score.in_words.items()
        ],
    )


def _card(homework: Homework, verdict: Verdict, score: Score, result: Result) -> Card:
    """What became of one question."""
    question = homework[verdict.question]
    look = _LOOK.get(told.state(verdict), "wrong")
    details = []
    if not verdict.right:
        details += [("On", marked(verdict.on))] if verdict.on else []
        details += [("Differs", marked(verdict.differs))] if verdict.differs else []
        details += _reread(question)
    points, parts = score.points.get(question.name, 0.0), told.parts(score, question)
    by_demands = sum(part.earned for part in score.parts.get(question.name, ()))
    return Card(
        title=homework.heading(question),
        name=question.answer_name,
        look=look,
        status=_PARTLY if parts else _STATUS[look],
        points=points,
        worth=told.worth(score, question.name),
        mistake=told.mistake(verdict),
        message=verdict.message,
        given=_given(question.name in score.decided, not verdict.right and points > by_demands),
        comments=[*filter(None, [score.decided.get(question.name)])],
        details=details,
        code=result.code.get(question.name, ()),
        parts=parts,
    )


def _given(by_a_person: bool, by_a_rule: bool) -> str:
    """How the sentence on points begins that no right answer earned."""
    if by_a_person:
        return "Your instructor counts this question with"
    return "All the same, this question counts with" if by_a_rule else ""


def _card_in_words(name: str, answer: InWords, score: Score, written: str) -> Card:
    """What became of a question that people mark, and what was marked."""
    given = name in score.decided
    full = score.points.get(name, 0.0) >= score.possible[name]
    look = "right" if answer.state == "marked" and full else "open"
    return Card(
        title=answer.title,
        name=name.split(".")[1],
        look=look,
        status="Decided" if given else told.IN_WORDS[answer.state],
        points=score.points.get(name, 0.0),
        worth=told.worth(score, name),
        mistake="",
        message="" if given or answer.comments else " ".join(told.in_words(answer)),
        given=_given(given, False),
        comments=[*filter(None, [score.decided.get(name)])] if given else [*answer.comments],
        details=[],
        written=written,
    )


def _reread(question: Question) -> list[tuple[str, Markup]]:
    """The section that teaches the idea, as a link where the book's address is known."""
    where = told.section(question)
    if where is None:
        return []
    return [
        (
            "Reread",
            Markup('<a href="{}">{}</a>').format(where.link, where.words)
            if where.link
            else Markup("{}").format(where.words),
        )
    ]
