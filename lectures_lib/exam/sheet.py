"""From the bank to a sheet: choose questions, draw their numbers, write two files."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

from lectures_lib.exam.bank import QUESTIONS
from lectures_lib.exam.question import Drawn, Question
from lectures_lib.files import write_whole

TRIES = 50  # orders of the questions; the one that fills the sheet best is taken
INTRODUCTION = """# Questions for an exam

{n} questions for paper, pencil and a pocket calculator, {points} points in all, about one for each
minute. They are here for practice: work one out before you unfold the solution.

For an exam, other numbers are drawn. With the course installed,

```bash
python -m lectures_lib.exam --seed 7 --points 60 --out exam
```

writes `exam/questions.md` and `exam/solutions.md`; `--chapters 2 3 4` keeps to what was taught. The
same seed gives the same sheet, and every solution is computed from its numbers.
Keep the seed to yourself: who knows it has the solutions.
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
    total = _worth(questions)
    kind = "solutions" if solutions else "questions"
    parts = [f"# From Attention to BERT: {kind}\n\n{total} points, about {total} minutes.\n"]
    for number, one in enumerate(questions, 1):
        drawn = draw(one, seed)
        parts.append(f"## {number}. {one.title} ({one.points} points)\n\n{drawn.asks}\n")
        if solutions:
            parts.append(f"**Solution.** {drawn.solution} (Chapter {one.chapter})\n")
    return "\n".join(parts)


def page(seed: int = 0) -> str:
    """The whole bank as a page of the site, solutions folded."""
    total = _worth(QUESTIONS)
    parts = [INTRODUCTION.format(n=len(QUESTIONS), points=total)]
    chapter = 0
    for one in QUESTIONS:
        drawn = draw(one, seed)
        if one.chapter != chapter:
            chapter = one.chapter
            parts.append(f"## Chapter {chapter}\n")
        parts.append(
            f"### {one.title}\n\n*{one.points} points · `{one.name}`*\n\n{drawn.asks}\n\n"
            f"<details><summary>Solution</summary>\n\n{drawn.solution}\n\n</details>\n"
        )
    return "\n".join(parts)


def write(out: Path | str, points: int, seed: int, chapters: Sequence[int] = ()) -> list[Path]:
    """`questions.md` and `solutions.md` in a folder.

    Raises:
        ValueError: as in `choose`.
    """
    chosen, written = choose(points, seed, chapters), []
    for name, solutions in (("questions.md", False), ("solutions.md", True)):
        path = Path(out) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text(chosen, seed, solutions))
        written.append(path)
    return written
