"""The bottleneck (chapter 1)."""

from random import Random

from lectures_lib.exam.question import Drawn, Question, asked_in

QUESTIONS: list[Question] = []
_asked = asked_in(QUESTIONS, chapter=1)


@_asked("A chain, or a look", points=4)
def chain_or_look(chance: Random) -> Drawn:
    """Steps one after another: n against one."""
    n = chance.choice([20, 50, 128])
    return Drawn(
        f"A sentence has {n} words. How many steps must a GRU layer take one after the other, and "
        f"how many a self-attention layer, if a machine can do everything at once that does not "
        f"wait for something else? How many scores does the attention layer compute? When is the "
        f"GRU the cheaper one all the same?",
        f"{n} steps against one (score, softmax, average: a fixed number that does not grow with "
        f"the sentence). Scores: {n} · {n} = {n * n}. The GRU's work grows with n, the "
        f"attention's with n²: for long texts on a machine that cannot do much at once the GRU "
        f"has less to compute.",
    )
