"""Questions for a written exam with paper, pencil and a pocket calculator. Each draws its numbers
from a seed and computes its solution.

    python -m lectures_lib.exam --seed 59021437 --points 60 --out exam

writes a sheet for students and one with solutions. `bank/` has the questions, `sheet.py` puts
them together, `writing.py` and `paper.py` write them.
"""

from lectures_lib.exam import paper
from lectures_lib.exam.bank import QUESTIONS
from lectures_lib.exam.question import Drawn, Question
from lectures_lib.exam.sheet import choose, draw, write

__all__ = ["QUESTIONS", "Drawn", "Question", "choose", "draw", "paper", "write"]
