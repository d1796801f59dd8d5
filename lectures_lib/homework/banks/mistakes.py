"""What questions about tensors share: mistakes that show only where a size is 1, in training mode,
or in an object's second call.
"""

import inspect
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
ANEW = "; then the same object with other inputs"
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


def _with_kept(answer: type, argument: str, chosen: Callable[[tuple, Any], Any]) -> type:
    """The right class, which is called with a chosen value of an argument; `chosen` is given those
    of the calls before, none or the last that was chosen, and that of this call.
    """
    signature = inspect.signature(answer.forward)

    class Keeping(answer):
        def forward(self, *args, **kwargs):
            given = signature.bind(self, *args, **kwargs)
            given.apply_defaults()
            earlier = getattr(self, "kept", ())
            given.arguments[argument] = chosen(earlier, given.arguments[argument])
            self.kept = (given.arguments[argument],)
            return super().forward(*given.args[1:], **given.kwargs)

    return Keeping


def keeping(answer: type, argument: str) -> Misconception:
    """The right class, which takes one of its first call's arguments in every later call, too."""
    return Misconception(
        f"keeps_its_first_{argument}",
        f"Right in the first call. In later calls of the same object `{argument}` is still that of "
        "the first: use the argument of each call, and store nothing but the parameters in `self`.",
        _with_kept(answer, argument, lambda earlier, now: earlier[0] if earlier else now),
    )


def keeping_where_none(answer: type, argument: str) -> Misconception:
    """The right class, which takes an argument that is left out from an earlier call."""
    return Misconception(
        f"{argument}_kept_where_none_is_given",
        f"Right where `{argument}` is given. Where it is left out, your object takes that of an "
        "earlier call: it belongs to one call only, so store nothing but the parameters in `self`.",
        _with_kept(
            answer, argument, lambda earlier, now: earlier[0] if now is None and earlier else now
        ),
    )
