"""One call of a student's answer, from the same state every time."""

import copy
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from .building import build
from .looking import looked_at, seed
from .outcomes import Outcome, describe
from .unanswered import demand_a_body, not_implemented, written
from .values import plain


def call(
    answer: Any,
    args: tuple = (),
    kwargs: dict[str, Any] | None = None,
    init: dict[str, Any] | None = None,
    state: dict[str, Tensor] | None = None,
    train: bool = False,
    again: tuple[tuple, ...] = (),
    gradients: bool = False,
    draws: int = 0,
    watch: tuple[str, ...] = (),
) -> Outcome:
    """Call `answer` on copies of the inputs, from the same random state every time.

    With `init` the answer is a class: it is built with these arguments, given the parameters
    `state`, and then called, in evaluation mode unless `train`. What the other arguments ask for is
    said at `questions.Case`; where one of them is given, the outcome's value is a dictionary with
    the result and what else was looked at (see `looked_at`).
    """
    with usual_dtype():
        return _called(answer, args, kwargs, init, state, train, again, gradients, draws, watch)


@contextmanager
def usual_dtype() -> Iterator[None]:
    """float32 for tensors that nothing else is said of, whatever a notebook has set: questions are
    drawn with it, and an answer that builds a layer must fit its inputs, here and in `check`.
    """
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _called(
    answer: Any,
    args: tuple,
    kwargs: dict[str, Any] | None,
    init: dict[str, Any] | None,
    state: dict[str, Tensor] | None,
    train: bool,
    again: tuple[tuple, ...],
    gradients: bool,
    draws: int,
    watch: tuple[str, ...],
) -> Outcome:
    """`call`, with the default dtype as it is."""
    before = [(args, kwargs or {}), *((more, {}) for more in again)]
    given = [copy.deepcopy(each) for each in before]  # what one call changes, no other finds
    python_random = random.getstate()
    try:
        with torch.random.fork_rng(devices=[]), torch.set_grad_enabled(gradients or init is None):
            seed(0)
            random.seed(0)
            demand_a_body(answer)
            function = answer if init is None else build(answer, copy.deepcopy(init), state, train)
            # what a class draws to begin with changes nothing that it draws when it is called
            seed(0)
            if gradients or again or draws or watch:
                value = looked_at(
                    function, given, tuple(state or ()) if gradients else None, draws, watch
                )
            else:
                value = plain(written(function(*given[0][0], **given[0][1])))
        changed = (
            name for now, then in zip(given, before, strict=True) for name in _changed(now, then)
        )
        return Outcome(value=value, changed=tuple(dict.fromkeys(changed)))
    except NotImplementedError as error:
        return Outcome(raised=not_implemented(error, answer))
    except (Exception, SystemExit) as error:
        return Outcome(raised=describe(error))
    finally:
        random.setstate(python_random)


def _changed(now: tuple[tuple, dict], before: tuple[tuple, dict]) -> tuple[str, ...]:
    """Names of the arguments ("argument 1", or the keyword) whose tensors are not what they
    were.
    """
    named_now = [*enumerate(now[0], start=1), *now[1].items()]
    named_before = [*enumerate(before[0], start=1), *before[1].items()]
    return tuple(
        f"argument {name}" if isinstance(name, int) else name
        for (name, new), (_, old) in zip(named_now, named_before, strict=True)
        if not _identical(new, old)
    )


def _identical(a: Any, b: Any) -> bool:
    if isinstance(b, Tensor):
        return (
            isinstance(a, Tensor)
            and a.shape == b.shape
            and a.dtype == b.dtype
            and torch.allclose(a, b, rtol=0, atol=0, equal_nan=True)
        )
    if isinstance(b, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(_identical, a, b))
    if isinstance(b, dict):
        return (
            isinstance(a, dict) and a.keys() == b.keys() and all(_identical(a[k], b[k]) for k in b)
        )
    return type(a) is type(b) and (a == b or a != a)  # the last: NaN
