"""From the bank to a sheet: choose questions, draw their numbers, write it."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

from lectures_lib.data.book import book_sections
from lectures_lib.exam import paper
from lectures_lib.exam.bank import QUESTIONS
from lectures_lib.exam.question import Drawn, Question
from lectures_lib.exam.writing import asked, head, solved
from lectures_lib.files import write_whole

TRIES = 50  # orders of the questions; the one that fills the sheet best is taken
INTRODUCTION = """# Questions for an exam

{n} questions for paper, pencil and a pocket calculator, {pictures} of them about a picture;
{points} points in all, about one for each minute. They are here for practice: work one out before
you unfold the solution. Below it stands what earns the points, and an answer that is often given
and wrong, with what it shows.

<details class="for-teachers"><summary><strong>For teachers.</strong> Draw an exam</summary>

Other numbers are drawn for it. With the course installed and its environment active
(`source .venv/bin/activate`),

```bash
python -m lectures_lib.exam --seed 59021437 --points 60 --out exam
```

writes `exam/questions.html` and `exam/solutions.html`, to be printed from a browser, and both as
Markdown (`.md`) for who wants to change a wording first. `--chapters 2 3 4` keeps to what was
taught (a chapter's second page, such as 8b, belongs to its number). The same seed gives the same
sheet, and every solution is computed from its numbers. Keep the seed to yourself: who knows it has
the solutions. All questions are public, and most have only a few sets of numbers: an exam drawn
from here tests who has practised. Take a large seed, and add a question of your own.

</details>
"""


def draw(question: Question, seed: int) -> Drawn:
    """The question with the numbers of a seed; the same ones whatever else is on the sheet."""
    return question.draw(Random(f"{seed} {question.name}"))


def choose(points: int, seed: int, chapters: Sequence[int] = ()) -> list[Question]:
    """Questions worth so many points, or a few less where no choice brings more together;
    in the order of the chapters.

    Args:
        points: of the whole sheet, at least those of the smallest question.
        seed: of the choice.
        chapters: only about these; empty: about all.

    Raises:
        ValueError: when no question is about these chapters, or none is worth so little.
    """
    open_ = [one for one in QUESTIONS if not chapters or one.chapter in chapters]
    if not open_:
        raise ValueError(
            f"no question is about chapters {list(chapters)}; "
            f"there are some about {sorted({one.chapter for one in QUESTIONS})}"
        )
    least = min(one.points for one in open_)
    if points < least:
        raise ValueError(f"{points} points are too few: the smallest question is worth {least}")
    chance = Random(f"{seed} choice")
    tried = (_filled(chance.sample(open_, len(open_)), points) for _ in range(TRIES))
    chosen = max(tried, key=_worth)  # of those that are worth as much, the first
    return sorted(chosen, key=QUESTIONS.index)


def _filled(questions: Sequence[Question], points: int) -> list[Question]:
    """The questions in this order, each that still fits."""
    chosen: list[Question] = []
    for one in questions:
        if _worth(chosen) + one.points <= points:
            chosen.append(one)
    return chosen


def _worth(questions: Sequence[Question]) -> int:
    return sum(one.points for one in questions)


def text(questions: Sequence[Question], seed: int, solutions: bool) -> str:
    """A sheet as Markdown."""
    total, minutes = _worth(questions), sum(one.minutes for one in questions)
    kind = "solutions" if solutions else "questions"
    parts = [f"# From Attention to BERT: {kind}\n\n{total} points, about {minutes} minutes.\n"]
    for number, one in enumerate(questions, 1):
        drawn = draw(one, seed)
        parts.append(f"## {number}. {one.title}\n\n{head(one)}\n\n{asked(drawn)}\n")
        if solutions:
            parts.append(f"**Solution.** {solved(drawn)}\n")
    return "\n".join(parts)


def heading(chapter: int) -> str:
    """A chapter's, as Markdown; if it has more pages, "Chapters 7 and 7b" or "16, 16b and 16c",
    with a label, since other pages link to #chapter-7.
    """
    first, *more = dict.fromkeys(
        one.chapter.split(".")[0] for one in book_sections() if one.number == chapter
    )
    if not more:
        return f"## Chapter {chapter}\n"
    pages = ", ".join([first, *more[:-1]])
    return f"(chapter-{chapter})=\n## Chapters {pages} and {more[-1]}\n"


def page(seed: int = 0) -> str:
    """The whole bank as a page of the site, solutions folded."""
    total, pictures = _worth(QUESTIONS), [one.name for one in QUESTIONS if draw(one, seed).picture]
    parts = [INTRODUCTION.format(n=len(QUESTIONS), points=total, pictures=len(pictures))]
    chapter = 0
    for one in QUESTIONS:
        drawn = draw(one, seed)
        if one.chapter != chapter:
            chapter = one.chapter
            parts.append(heading(chapter))
        parts.append(
            f"### {one.title}\n\n*{one.points} points, {one.minutes} minutes · {one.kind}*\n\n"
            f"{asked(drawn)}\n\n"
            f"<details><summary>Solution</summary>\n\n{solved(drawn)}\n\n</details>\n"
        )
    return "\n".join(parts)


def write(out: Path | str, points: int, seed: int, chapters: Sequence[int] = ()) -> list[Path]:
    """`questions` and `solutions` in a folder, each as `.html` to print and as `.md` to change.

    Raises:
        ValueError: as in `choose`.
    """
    chosen, written = choose(points, seed, chapters), []
    for name, solutions in (("questions", False), ("solutions", True)):
        sheet = text(chosen, seed, solutions)
        for ending, made in ((".md", sheet), (".html", paper.page(sheet, whole=not solutions))):
            path = Path(out) / (name + ending)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, made)
            written.append(path)
    return written
