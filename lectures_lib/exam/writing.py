"""A question and its solution as Markdown."""

from lectures_lib.exam.question import Drawn, Question
from lectures_lib.show.drawings.canvas import Canvas

LEAST = 8  # pixels: as a measured figure, a drawing shrinks with the page until its words have them


def head(question: Question) -> str:
    """What a question is worth: "*6 points, 6 minutes · compute by hand · Chapter 3*"."""
    return (
        f"*{question.points} points, {question.minutes} minutes · {question.kind} · "
        f"Chapter {question.chapter}*"
    )


def asked(drawn: Drawn) -> str:
    """What is asked: text, code, picture, options."""
    parts = [drawn.asks]
    if drawn.code:
        parts.append(f"```python\n{drawn.code}\n```")
    if drawn.picture:
        parts.append(figure(drawn.picture))
    if drawn.options:
        parts.append("\n".join(f"- ({letter(i)}) {o}" for i, o in enumerate(drawn.options)))
    return "\n\n".join(parts)


def solved(drawn: Drawn) -> str:
    """The solution, what earns points, and what a wrong answer shows."""
    begin = ""
    if drawn.options:
        begin = f"({letter(drawn.right)}). "
    if drawn.code:
        begin = f"Line {drawn.line} should be `{drawn.mended.strip()}`. "
    parts = [begin + drawn.solution]
    if drawn.solved:
        parts.append(figure(drawn.solved))
    if drawn.marks:
        parts.append("**Marks**")
        parts.append("\n".join(f"- {n}: {what}" for n, what in drawn.marks))
    if drawn.wrong:
        parts.append(f"**Often answered:** {drawn.wrong} {drawn.reveals}")
    return "\n\n".join(parts)


def letter(index: int) -> str:
    """The name of an option: a, b, c, …"""
    return "abcdefgh"[index]


def figure(drawing: Canvas) -> str:
    """A drawing as a block of HTML without an empty line, so that Markdown leaves it alone. Here it
    has one layout, which a telephone shows small.
    """
    drawing.least = LEAST
    narrow = f' style="max-width:{drawing.width + 2:g}px">'  # many are: no wider a card than they
    return drawing._repr_html_().replace(">", narrow, 1)
