"""The quizzes at the end of the chapters: three questions each, every choice explained, none that
gives itself away.
"""

import re
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book" / "_ext"))
import end_card  # noqa: E402
import quizzes  # noqa: E402

CHAPTERS = sorted(path.stem.split("_")[0] for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"))
THERE = quizzes.there()
WHY = "This is a sentence that explains why it is so."


def good() -> list[dict]:
    """A quiz that keeps every rule."""
    return [
        {
            "question": "What?",
            "choices": [
                {"text": "wrong answer 0", "why": WHY},
                {"text": "wrong answer 1", "why": WHY},
                {"text": "right", "right": True, "why": WHY},
            ],
        }
        for _ in range(3)
    ]


def written(quiz: object, folder: Path) -> Path:
    """A folder with this as chapter 1's quiz."""
    (folder / "01.yml").write_text(yaml.safe_dump(quiz), encoding="utf-8")
    return folder


def test_every_chapter_has_its_quiz():
    assert THERE == CHAPTERS
    assert [name for name in THERE if name.isdigit()] == [f"{n:02}" for n in range(1, 19)]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_quiz_keeps_the_rules(chapter):
    assert len(quizzes.load(chapter)) == 3


def test_the_right_choice_stands_in_every_place():
    """Not so that one place wins: of all right choices at most 45 % stand in the same."""
    places = Counter(
        [c.right for c in q.choices].index(True) for n in THERE for q in quizzes.load(n)
    )
    assert max(places.values()) <= 0.45 * sum(places.values()), places


REASON = re.compile(r"\b(since|because)\b|, (as|for|so) ", re.IGNORECASE)


def giving_away() -> dict[str, float]:
    """What whoever has not read a question finds by the form of its choices: in which share of all
    questions the right one is the shortest, the longest, or the shortest without a reason; and how
    many right and wrong choices give a reason.
    """
    found, every = Counter(), Counter()
    for q in (q for name in THERE for q in quizzes.load(name)):
        right = next(c for c in q.choices if c.right)
        lengths = [len(c.text) for c in q.choices]
        plain = [c for c in q.choices if not REASON.search(c.text)] or q.choices
        found["shortest"] += len(right.text) == min(lengths)
        found["longest"] += len(right.text) == max(lengths)
        found["guessed"] += right is min(plain, key=lambda c: len(c.text))
        every.update(("shortest", "longest", "guessed"))
        for c in q.choices:
            found["reasons, right" if c.right else "reasons, wrong"] += bool(REASON.search(c.text))
            every["reasons, right" if c.right else "reasons, wrong"] += 1
    return {name: found[name] / n for name, n in every.items()}


def test_no_form_tells_the_right_choice():
    """By chance it is the shortest, the longest or guessed in three or four of ten."""
    shares = giving_away()
    assert max(shares["shortest"], shares["longest"], shares["guessed"]) <= 0.4, shares
    assert min(shares["shortest"], shares["longest"]) >= 0.15, shares
    assert abs(shares["reasons, right"] - shares["reasons, wrong"]) <= 0.12, shares


def test_no_text_is_cut_off_by_a_comment():
    """Without quotes, YAML ends a text at " #"."""
    lost = [
        (file.name, line)
        for file in quizzes.FOLDER.glob("**/*.yml")
        for line in file.read_text(encoding="utf-8").splitlines()
        if re.match(r"\s*(- )?(question|text|why): [^\"'>|].* #", line)
    ]
    assert not lost


def test_a_good_quiz_is_read(tmp_path):
    first = quizzes.load("01", written(good(), tmp_path))[0]
    assert [c.right for c in first.choices] == [False, False, True]


BREAKS = {
    "a list of 3 questions": lambda quiz: quiz.pop(),
    "0 right choices": lambda quiz: quiz[1]["choices"][2].pop("right"),
    "2 right choices": lambda quiz: quiz[1]["choices"][0].update(right=True),
    '"right" is true or left out': lambda quiz: quiz[1]["choices"][0].update(right=False),
    "choice 1: it has text, why": lambda quiz: quiz[1]["choices"][0].pop("why"),
    "it has choices, question": lambda quiz: quiz[1].update(hint="none"),
    "explains nothing": lambda quiz: quiz[1]["choices"][0].update(why="Wrong."),
    "2 choices, not 3 to 4": lambda quiz: quiz[1]["choices"].pop(0),
    "say the same": lambda quiz: quiz[1]["choices"][0].update(text="wrong answer 1"),
    "the right choice is much longer": lambda quiz: quiz[1]["choices"][2].update(text="r" * 20),
    "is no text": lambda quiz: quiz[1]["choices"][0].update(text=4),
    "more than 150": lambda quiz: quiz[1]["choices"][0].update(text="w" * 151),
    "more than 420": lambda quiz: quiz[1].update(question="w" * 421),
    "code without an end": lambda quiz: quiz[1]["choices"][0].update(text="a `b"),
}


@pytest.mark.parametrize("told", BREAKS)
def test_a_broken_rule_is_named_with_its_place(told, tmp_path):
    quiz = good()
    BREAKS[told](quiz)
    with pytest.raises(ValueError, match=told) as error:
        quizzes.load("01", written(quiz, tmp_path))
    assert "01.yml" in str(error.value)
    assert len(quiz) < 3 or "question 2" in str(error.value)


def test_marks_become_html_and_nothing_else_does():
    shown = end_card.marked_up('a *b* and `x*y*z_1`, √d_k by W^Q: "<i>"')
    assert "a <em>b</em> and" in shown
    assert '<code class="literal">x*y*z_1</code>' in shown
    assert "√<i>d</i><sub>k</sub> by <i>W</i><sup>Q</sup>" in shown
    assert "“&lt;i&gt;”" in shown


def test_every_chapter_but_the_last_has_its_homework():
    """As the chapters themselves say it: each links the homework that the card names. (13b, between
    two, has none.)
    """
    for number in set(CHAPTERS) - {"13b"}:
        text = next((ROOT / "notebooks").glob(f"{number}_*.py")).read_text(encoding="utf-8")
        work = end_card.homework_of(number)
        if work is None:
            assert "There is no homework for this chapter" in text
        else:
            assert f"](../exercises/hw{work}_" in text
