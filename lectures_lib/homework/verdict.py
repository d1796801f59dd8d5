"""A verdict on an answer, and the words for it that no question brings along: why a call came to
nothing, what an exception says, and the mistakes that tell themselves.
"""

import re
from dataclasses import dataclass

from lectures_lib.homework.inside.outcomes import Raised

# Why a call gave neither a value nor an exception.
LOST = {
    "missing": "Nothing in the notebook has this name when all its cells have run.",
    "uncallable": "This name stands for something that cannot be called; "
    "a function or a class is asked for.",
    "time": "The call did not come back in time: an endless loop, or far too much work? Printing "
    "counts, too.",
    "memory": "The call needed more memory than it may have.",
    "ended": "The process ended during the call: `os._exit`, a crash, or too much memory.",
    "garbled": "What came back is not an answer that could be read, or is too large.",
    "unreached": "Not asked any more: the notebook had used up its time.",
}
# What to do about an exception whose own words do not say it, by a pattern of these words; and the
# mistake's name.
HINTS = {
    r"before Module\.__init__\(\) call": (
        "no_super_init",
        "Call `super().__init__()` in the first line of `__init__`.",
    ),
    r"not compiled with CUDA|NVIDIA driver|No CUDA GPUs": (
        "needs_a_gpu",
        "There is no GPU here. Where a device has to be named, take that of an input: `x.device`.",
    ),
    r"call numpy\(\) on Tensor that requires grad": (
        "by_numpy",
        "A model is trained through this answer, and NumPy knows no gradients: use torch's "
        "functions.",
    ),
    r'missing the required "forward"': (
        "no_forward",
        "There is no `forward` in that class: is it misspelt, or indented into another method?",
    ),
    r"can't allocate memory": ("", "It asked for more memory than it may have."),
}
# Mistakes that any question may meet: what was found tells them by itself.
EVERYWHERE = (
    "input_changed",
    "nothing_returned",
    "other_parameters",
    "no_gradient",
    "written_over",
    "scores_returned",
    *(name for name, _ in HINTS.values() if name),
)
REMARK = "A remark, which costs nothing: a model cannot be trained through this answer."


@dataclass(frozen=True)
class Verdict:
    """The judgement of one answer.

    Attributes:
        question: its full name.
        right: whether it earns the points.
        kind: "right", "misconception", "unfinished", "raised", "changed", "forbidden", a kind of
            `compare.values.Difference`, or one of `LOST`.
        message: what to tell its author; "" where it is right.
        mistake: the misconception's name, where one was recognised; or one of `EVERYWHERE`.
        on: the input on which it shows, in words.
        differs: for a recognised misconception, what differs on that input: the message names the
            mistake instead.
        demands: for a wrong answer to a question with several demands, of which it meets the first:
            what each says, and whether it holds. Else nothing.
    """

    question: str
    right: bool
    kind: str
    message: str = ""
    mistake: str = ""
    on: str = ""
    differs: str = ""
    demands: tuple[tuple[str, bool], ...] = ()

    @property
    def holding(self) -> int:
        """How many of its question's demands an answer meets that is not right in all."""
        return sum(holds for _, holds in self.demands)


def exception_told(raised: Raised) -> str:
    """An exception in a sentence."""
    where = f" in line {raised.line}, `{raised.source}`" if raised.source else ""
    if raised.kind == "WrongParameters":
        return f"The class's parameters are not the ones the question names: {raised.message}."
    if raised.kind == "NotAClass":
        return f"Here {raised.message}."
    if raised.kind == "BdbQuit":
        return f"It stops in the debugger{where}: take `breakpoint()` or `set_trace()` out."
    if not raised.message:
        return f"It raised {raised.kind}{where}."
    _, hint = _hint(raised)
    told = f"It raised {raised.kind}{where}: {raised.message}"
    return f"{told.removesuffix('.')}. {hint}" if hint else told


def _hint(raised: Raised) -> tuple[str, str]:
    """The name and the text of `HINTS` that an exception's words call for, or twice ""."""
    found = (hint for words, hint in HINTS.items() if re.search(words, raised.message))
    return next(found, ("", ""))


def mistake_told(raised: Raised) -> str:
    """Which mistake an exception tells by itself: one of `EVERYWHERE`, or ""."""
    return "other_parameters" if raised.kind == "WrongParameters" else _hint(raised)[0]
