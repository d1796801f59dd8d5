"""What questions about tensors share: mistakes that show only where a size is 1, in training mode,
or in an object's second call.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from torch.nn.functional import dropout

from lectures_lib.homework.questions import Misconception


def squeezing(answer: Callable) -> Misconception:
    """The right function with a bare squeeze() at its end; or the right class, so treated."""
    if isinstance(answer, type):

        class Squeezed(answer):
            def forward(self, *args, **kwargs):
                return super().forward(*args, **kwargs).squeeze()

        wrong = Squeezed
    else:

        @wraps(answer)  # with its keywords: one may be a variant's value
        def wrong(*args, **kwargs):
            return answer(*args, **kwargs).squeeze()

    return Misconception(
        "axis_of_size_1_lost",
        "Right, but for sizes of 1: a bare squeeze() takes away every axis of that size, the "
        "batch's too where there is one example in it. Name the axis that is meant: squeeze(-1).",
        wrong,
    )


TWICE = "; then the same object on another batch"
TRAINING = ", in training mode"


def _dropped(result: Any, rate: float, training: bool) -> Any:
    """A result with dropout; of several things, the first."""
    if isinstance(result, tuple):
        return dropout(result[0], rate, training), *result[1:]
    return dropout(result, rate, training)


def dropping(answer: type) -> Misconception:
    """The right class with dropout behind it, where the question has none."""

    class Dropping(answer):
        def forward(self, *args, **kwargs):
            return _dropped(super().forward(*args, **kwargs), 0.1, self.training)

    return Misconception(
        "dropout_added",
        "Right when the model is asked. In training mode you drop numbers; this question has no "
        "dropout.",
        Dropping,
        by_dropout=True,
    )


def always_dropping(answer: type, rate: float = 0.1) -> Misconception:
    """The right class with a dropout behind it that does not know of evaluation mode."""

    class Dropping(answer):
        def forward(self, *args, **kwargs):
            return _dropped(super().forward(*args, **kwargs), rate, True)

    return Misconception(
        "dropout_always",
        "You drop numbers at random, and in evaluation mode too: F.dropout(x, p) does so unless it "
        "is told training=self.training. This question has no dropout.",
        Dropping,
        by_dropout=True,
    )


def remembering(answer: type) -> Misconception:
    """The right class, which hands out its first result again."""

    class Remembering(answer):
        def forward(self, *args, **kwargs):
            if not hasattr(self, "kept"):
                self.kept = super().forward(*args, **kwargs)
            return self.kept

    return Misconception(
        "first_call_kept",
        "Right in the first call. The second call of the same object depends on what you kept from "
        "the first: nothing but the parameters may be kept in `self`.",
        Remembering,
    )
