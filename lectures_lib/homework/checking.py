"""`check`: a student's answer against its question, on the spot."""

from lectures_lib.homework.diagnosis import run
from lectures_lib.homework.example import remember
from lectures_lib.homework.question_key import public_key
from lectures_lib.homework.questions import Question
from lectures_lib.homework.verdict import Verdict

BY_HAND = """
  To try it by hand: from lectures_lib.homework import example; bad = example("{}")"""


class WrongAnswer(Exception):
    """An answer is not right yet. The message says what is wrong with it; notebooks show it without
    a traceback.
    """

    def __init__(self, verdict: Verdict):
        super().__init__(told(verdict) + BY_HAND.format(verdict.question) * bool(verdict.on))
        self.verdict = verdict

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a traceback."""
        return str(self).splitlines()


def check(name: str | Question, answer: object) -> None:
    """Try an answer on the question's public inputs: print that it is right or not written yet, or
    raise with the mistake's name. The input on which it showed is then given by `example`.

    A question that is still open raises nothing, so that "Run all" goes on to the next.

    Args:
        name: of the question, such as "hw1.causal_mask"; or the question itself.
        answer: your function or class itself, not what it returns.

    Raises:
        WrongAnswer: if there is an answer and it is not right.
        KeyError: if there is no such question; the message lists those that there are.
    """
    key = public_key(name)
    question = key.question
    worth = f"{question.points} point{'s' * (question.points != 1)}"
    if not callable(answer):
        raise WrongAnswer(_uncallable(question, answer)) from None
    if key.graded_later:
        print(f"… {question.name}: no check here, it is graded later ({worth})")
        return
    outcomes = [run(answer, case) for case in key.cases]
    verdict = key.verdict(outcomes)
    remember(key, outcomes)
    if verdict.kind == "unfinished":
        print(told(verdict))
        return
    if not verdict.right:
        raise WrongAnswer(verdict) from None
    print(f"✓ {question.name}: right ({worth})" + f"\n  {verdict.message}" * bool(verdict.message))


def told(verdict: Verdict) -> str:
    """A verdict in a few lines: the mistake's name or what differs, on which input, and for a named
    mistake what differs there; of a partly right answer, which of the question's demands it meets.
    """
    if verdict.kind == "unfinished":
        return f"… {verdict.question}: not answered yet"
    on = f"\n  on: {verdict.on}" if verdict.on else ""
    differs = f"\n  {verdict.differs}" if verdict.differs else ""
    demands = "".join(f"\n  {'✓' if holds else '✗'} {says}" for says, holds in verdict.demands)
    return f"✗ {verdict.question}: {verdict.message}{on}{differs}{demands}"


def _uncallable(question: Question, answer: object) -> Verdict:
    text = (
        f"Hand over `{question.answer_name}` itself, without calling it; this is "
        f"{type(answer).__name__!r}, which cannot be called."
    )
    return Verdict(question.name, False, "uncallable", text)
