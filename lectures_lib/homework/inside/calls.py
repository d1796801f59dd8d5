"""One call of a student's answer, and all that can come of it."""

import copy
import inspect
import linecache
import random
import sysconfig
import traceback
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from dis import get_instructions
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import lectures_lib

from .values import plain
from .watch import Watch

TEMPLATE_SAYS = "your answer here"  # in the line that stands where an answer belongs
_COURSE = str(Path(lectures_lib.__file__).parent)
_LIBRARIES = (
    _COURSE,
    "<frozen",
    *(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")),
)


@dataclass(frozen=True)
class Raised:
    """An exception that came out of an answer.

    Attributes:
        kind: its class's name.
        kinds: the names of that class and of those it inherits from.
        message: what it says, shortened.
        line: the number of the student's own line where it happened; 0 where there is none.
        source: that line.
    """

    kind: str
    kinds: tuple[str, ...] = ()
    message: str = ""
    line: int = 0
    source: str = ""


@dataclass(frozen=True)
class Outcome:
    """What one call did: it returned a value, or raised, or never came back.

    Attributes:
        value: what was returned, as plain values.
        raised: the exception, if there was one.
        changed: names of the inputs that the call changed in place.
        lost: why there is neither value nor exception (see `lectures_lib.homework.diagnosis`); ""
            where there is.
    """

    value: Any = None
    raised: Raised | None = None
    changed: tuple[str, ...] = ()
    lost: str = ""


class WrongParameters(Exception):
    """The class's parameters are not those that the question names."""


class NotAClass(Exception):
    """The question asks for a class and the answer is something else."""


class Unanswered(NotImplementedError):
    """Nothing is written yet where the answer belongs: the template, or an empty body."""


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
    given = copy.deepcopy([(args, kwargs or {}), *((more, {}) for more in again)])
    before = copy.deepcopy(given)
    python_random = random.getstate()
    try:
        with torch.random.fork_rng(devices=[]), torch.set_grad_enabled(gradients or init is None):
            _seed(0)
            random.seed(0)
            _demand_a_body(answer)
            function = answer if init is None else build(answer, copy.deepcopy(init), state, train)
            # what a class draws to begin with changes nothing that it draws when it is called
            _seed(0)
            if gradients or again or draws or watch:
                value = looked_at(
                    function, given, tuple(state or ()) if gradients else None, draws, watch
                )
            else:
                value = plain(_written(function(*given[0][0], **given[0][1])))
        changed = (
            name for now, then in zip(given, before, strict=True) for name in _changed(now, then)
        )
        return Outcome(value=value, changed=tuple(dict.fromkeys(changed)))
    except NotImplementedError as error:
        return Outcome(raised=_not_implemented(error, answer))
    except (Exception, SystemExit) as error:
        return Outcome(raised=describe(error))
    finally:
        random.setstate(python_random)


def looked_at(
    function: Callable,
    given: list[tuple[tuple, dict]],
    parameters: tuple[str, ...] | None,
    draws: int,
    watch: tuple[str, ...],
) -> dict:
    """The result of a call and what else was asked for, as plain values.

    Args:
        function: the answer, or the object that was built from it.
        given: positional and keyword arguments of each call, one after the other.
        parameters: names of those whose gradients are asked for, with those of the floating inputs;
            None: no gradients are.
        draws, watch: as in `questions.Case`.

    Returns:
        "result", and where it was asked for "again" (a list of the later calls' results),
        "gradients" ({name: gradient of a weighted sum of the first result}, or why there is none),
        "mean", "spread" and "together" (of each tensor in the result, over the draws), "used".
    """
    found: dict[str, Any] = {}
    watched = Watch(watch)
    if draws:
        with watched.on():
            return _spread(function, given[0], draws)
    leaves: dict[str, Tensor] = {}
    first = given[0]
    if parameters is not None:
        given[0] = first = (
            to_differentiate(first[0], "argument ", leaves, 1),
            to_differentiate(first[1], "", leaves),
        )
    with watched.on():
        result = _written(function(*first[0], **first[1]))
    found["result"] = plain(result)
    if parameters is not None:
        theirs = dict(function.named_parameters(remove_duplicate=False)) if parameters else {}
        leaves = {**{name: theirs[name] for name in parameters}, **leaves}
        found["gradients"] = _gradients(result, leaves)
    if len(given) > 1:
        with watched.on():
            found["again"] = [plain(function(*more[0], **more[1])) for more in given[1:]]
    if watch:
        found["used"] = watched.used()
    return found


def _demand_a_body(answer: Any) -> None:
    """Raise Unanswered if there is nothing in a function, or in what a class is built and
    called by: `...`, `pass`, or a text alone.
    """
    inside = [answer]
    if isinstance(answer, type):
        inside = [vars(answer).get(name) for name in ("__init__", "forward", "__call__")]
    for function in inside:
        code = function.__code__ if isinstance(function, types.FunctionType) else None
        if code and all(
            step.opname in ("RESUME", "NOP", "RETURN_VALUE")
            or (step.opname in ("LOAD_CONST", "RETURN_CONST") and step.argval in (None, ...))
            for step in get_instructions(code)
        ):
            raise Unanswered


def _written(result: Any) -> Any:
    """A result, if it is not the `...` that stands for what is still to be written."""
    if result is ...:
        raise Unanswered
    return result


def _not_implemented(error: NotImplementedError, answer: Any) -> Raised:
    """A NotImplementedError: `Unanswered` where it is the template's own; told with the line that
    called it where it is another answer's; any other as it is.
    """
    if isinstance(error, Unanswered):
        return describe(error)
    last = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)][-1]
    if last.co_filename.startswith(_LIBRARIES) or not (
        error.args == (TEMPLATE_SAYS,) or _only_raises(last)
    ):
        return describe(error)
    if last in _own_code(answer):
        return replace(describe(error), kind=Unanswered.__name__)
    text = f"`{last.co_qualname}`, which is called here, is not written yet."
    return replace(describe(error, last), message=text)


def _only_raises(code: types.CodeType) -> bool:
    """Whether a function's first and only step is to raise NotImplementedError."""
    steps = [s for s in get_instructions(code) if s.opname not in ("RESUME", "NOP", "CACHE")]
    return bool(steps) and all(
        step.argval == "NotImplementedError"
        if step.opname == "LOAD_GLOBAL"
        else step.opname in ("LOAD_CONST", "PUSH_NULL", "PRECALL", "CALL", "RAISE_VARARGS")
        for step in steps
    )


def _own_code(answer: Any) -> set[types.CodeType]:
    """The code of a function or of a class's methods, with what is defined inside of them."""
    answer = inspect.unwrap(answer) if callable(answer) else answer
    values = [answer]
    if isinstance(answer, type):
        values = [value for kind in answer.__mro__ for value in vars(kind).values()]
    inside = (inspect.unwrap(getattr(v, "__func__", v)) for v in values if callable(v))
    waiting = [v.__code__ for v in inside if isinstance(v, types.FunctionType)]
    found: set[types.CodeType] = set()
    while waiting:
        code = waiting.pop()
        found.add(code)
        waiting += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]
    return found


def to_differentiate(value: Any, name: str, leaves: dict[str, Tensor], start: int = 0) -> Any:
    """`value` with its floating tensors replaced by copies through which gradients flow back to
    `leaves`.
    """
    if isinstance(value, Tensor) and value.is_floating_point():
        leaves[name] = value.detach().requires_grad_()
        return leaves[name].clone()  # no leaf: an answer may work in place, and is then told so
    if isinstance(value, list | tuple):
        top = name == "argument "
        items = (
            to_differentiate(item, f"{name}{i}" if top else f"{name}[{i}]", leaves)
            for i, item in enumerate(value, start=start)
        )
        return type(value)(items)
    if isinstance(value, dict):
        return {
            k: to_differentiate(v, f"{name}[{k!r}]" if name else str(k), leaves)
            for k, v in value.items()
        }
    return value


def _gradients(result: Any, leaves: dict[str, Tensor]) -> dict[str, Tensor] | str:
    """The gradient of a fixed weighted sum of all numbers in the result, by name; 0 where none
    arrives. A text where it cannot be had.
    """
    total = sum(
        (t * torch.arange(1, t.numel() + 1).cos().view(t.shape)).sum()
        for t in _tensors(result)
        if t.requires_grad
    )
    trained = {name: leaf for name, leaf in leaves.items() if leaf.requires_grad}
    found: dict[str, Tensor | None] = {}
    if trained and isinstance(total, Tensor):
        try:
            found = dict(
                zip(
                    trained,
                    torch.autograd.grad(total, list(trained.values()), allow_unused=True),
                    strict=True,
                )
            )
        except RuntimeError as error:
            return f"{type(error).__name__}: {error}"[:500]
    return {
        name: plain(torch.zeros_like(leaf) if found.get(name) is None else found[name])
        for name, leaf in leaves.items()
    }


def _tensors(value: Any) -> list[Tensor]:
    """The floating tensors in a result, in order."""
    if isinstance(value, Tensor):
        return [value] if value.is_floating_point() else []
    if isinstance(value, dict):
        value = list(value.values())
    return (
        [tensor for item in value for tensor in _tensors(item)]
        if isinstance(value, list | tuple)
        else []
    )


def _seed(number: int) -> None:
    """torch.manual_seed, which without a GPU writes down the call stack three times, for later: a
    hundred times slower, and never freed.
    """
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(number)


def _spread(function: Callable, given: tuple[tuple, dict], draws: int) -> dict[str, list]:
    """Mean and standard deviation of each tensor in the result over so many calls, each with random
    numbers of its own; "together" is the standard deviation of its sum, which is larger where its
    entries vary together.
    """
    results = []
    for seed in range(draws):
        _seed(seed)
        args, kwargs = copy.deepcopy(given)
        results.append([tensor.detach() for tensor in _tensors(function(*args, **kwargs))])
    stacked = [torch.stack(tensors).double() for tensors in zip(*results, strict=True)]
    return {
        "mean": [plain(t.mean(dim=0)) for t in stacked],
        "spread": [plain(t.std(dim=0)) for t in stacked],
        "together": [plain(t.flatten(1).sum(dim=1).std(dim=0)) for t in stacked],
    }


def build(answer: Any, init: dict[str, Any], state: dict[str, Tensor] | None, train: bool) -> Any:
    """An instance of the student's class that holds the given parameters."""
    if not isinstance(answer, type):
        raise NotAClass(f"a class is asked for, and this is a {type(answer).__name__}")
    model = answer(**init)
    if state is not None:
        _load(model, state)
    return model.train(train) if isinstance(model, nn.Module) else model


def _load(model: Any, state: dict[str, Tensor]) -> None:
    """Copy the given parameters into those of the same names. Buffers, and further names of a
    parameter, are the student's own affair.

    Raises:
        WrongParameters: if a parameter is missing, not asked for, of another shape, or stands under
            two of the names asked for.
    """
    if not isinstance(model, nn.Module):
        raise WrongParameters("the class is not an nn.Module")
    theirs = dict(model.named_parameters(remove_duplicate=False))
    asked = {id(theirs[name]) for name in state if name in theirs}
    own = {
        name: tuple(tensor.shape)
        for name, tensor in theirs.items()
        if name in state or id(tensor) not in asked
    }
    shapes = {name: tuple(tensor.shape) for name, tensor in state.items()}
    if own != shapes:
        buffers = dict(model.named_buffers(remove_duplicate=False))
        raise WrongParameters(
            _parameters_differ(own, shapes, {name for name in shapes if name in buffers})
        )
    if len(asked) < len(state):
        names = [
            name for name in state if sum(theirs[name] is theirs[other] for other in state) > 1
        ]
        raise WrongParameters(
            f"one and the same parameter stands under several names: {', '.join(names)}"
        )
    with torch.no_grad():
        for name, tensor in state.items():
            theirs[name].copy_(tensor)


def _parameters_differ(theirs: dict[str, tuple], asked: dict[str, tuple], buffers: set[str]) -> str:
    """Which parameters are missing, not asked for, or of another shape."""
    missing = [
        f"{name} {asked[name]}" for name in asked if name not in theirs and name not in buffers
    ]
    fixed = [name for name in asked if name not in theirs and name in buffers]
    extra = [f"{name} {theirs[name]}" for name in theirs if name not in asked]
    other = [
        f"{name} is {theirs[name]} instead of {asked[name]}"
        for name in asked
        if name in theirs and theirs[name] != asked[name]
    ]
    parts = [
        f"missing: {', '.join(missing)}" if missing else "",
        f"a buffer, which training does not change, and no nn.Parameter: {', '.join(fixed)}"
        if fixed
        else "",
        f"not asked for: {', '.join(extra)}" if extra else "",
        f"of another shape: {', '.join(other)}" if other else "",
    ]
    return "; ".join(filter(None, parts))


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


def describe(error: BaseException, above: types.CodeType | None = None) -> Raised:
    """An exception as plain text, with the student's own line: the deepest one that is in no
    library, or the one that called `above`.
    """
    line, source = 0, ""
    for frame, number in traceback.walk_tb(error.__traceback__):
        if frame.f_code is above:
            break
        if not frame.f_code.co_filename.startswith(_LIBRARIES):
            line, source = (
                number or 0,
                linecache.getline(frame.f_code.co_filename, number or 0).strip(),
            )
    if isinstance(error, SyntaxError):
        line, source = error.lineno or 0, str(error.text or "").strip()
    try:
        message = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:  # a class of the student's own, and its __str__ fails
        message = ""
    kinds = tuple(kind.__name__ for kind in type(error).__mro__ if kind is not object)
    return Raised(type(error).__name__, kinds, str(message)[:500], line, source[:200])
