"""Which functions an answer calls, for questions that rule some out or ask for one.

A function can be called by many names and in many ways, and no one place in torch sees all of them.
Three are watched: what is announced to a `TorchFunctionMode` (nearly every function of torch, by
whatever alias; not what `torch.ops` or TorchScript call); the operators that arrive at a
`TorchDispatchMode`, whoever called them; and the engine that walks a graph backwards, which
`Tensor.backward`, `torch.autograd`, `torch.func` and compiled code all end in. Threads that an
answer starts are watched like itself.
"""

import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from operator import attrgetter
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Variable
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

# The operators in which a function ends.
_OPERATORS = {
    "F.layer_norm": "native_layer_norm",
    "torch.layer_norm": "native_layer_norm",
    "torch.native_layer_norm": "native_layer_norm",
    "F.unfold": "im2col",
    "Tensor.unfold": "unfold",
    **{f"{room}.conv{n}d": f"convolution of {n}" for room in ("F", "torch") for n in (1, 2, 3)},
}
# What the engine is asked for by a function: to add to `.grad`, or to return gradients.
_ENGINE = {
    "Tensor.backward": "to add",
    "torch.autograd.backward": "to add",
    "torch.autograd.grad": "to return",
}


class Watch:
    """Notes which of the functions of these names are called while `on`.

    One that is seen in an operator or in the engine alone is noted by the first of the names that
    end there.

    Args:
        names: such as "F.layer_norm", "torch.autograd.grad", "Tensor.unfold"; with keywords in
            brackets, "F.cross_entropy(label_smoothing)", calls that give each of these something.
    """

    def __init__(self, names: tuple[str, ...]):
        self._names = names
        # by function and keywords: the name
        self._watched: dict[Callable, dict[tuple[str, ...], str]] = {}
        for name in names:
            function, *keywords = re.findall(r"[\w.]+", name)
            self._watched.setdefault(_function(function), {})[(*keywords,)] = name
        self._seen: set[str] = set()

    @contextmanager
    def on(self) -> Iterator[None]:
        """Watch what is called in this thread, and in those that are started in the meantime."""
        with ExitStack() as stack:
            if self._names:
                self._enter(stack)
                stack.enter_context(_in_new_threads(lambda: self._enter(ExitStack())))
            if any(name in _ENGINE for name in self._names):
                stack.enter_context(_engine_tells(self.end))
            yield

    def _enter(self, stack: ExitStack) -> None:
        """Watch functions and operators in the thread that calls this."""
        stack.enter_context(_Functions(self.function))
        if any(name in _OPERATORS for name in self._names):
            stack.enter_context(_Operators(self.end))

    def used(self) -> list[str]:
        """The names of those that were called, in the order in which they were given."""
        return [name for name in self._names if name in self._seen]

    def function(self, function: Callable, kwargs: dict[str, Any]) -> None:
        """A function was announced, with these keywords."""
        for keywords, name in self._watched.get(function, {}).items():
            if all(kwargs.get(keyword) for keyword in keywords):
                self._seen.add(name)

    def end(self, end: str) -> None:
        """An operator was called, or the engine: by one of the functions seen, or otherwise?"""
        names = [n for n in self._names if end in (_OPERATORS.get(n), _ENGINE.get(n))]
        if names and not self._seen.intersection(names):
            self._seen.add(names[0])


def _function(name: str) -> Callable:
    """What torch announces where the function of that name is called."""
    if name == "torch.autograd.forward_ad.make_dual":
        return torch._make_dual
    room, _, rest = name.partition(".")
    return attrgetter(rest)({"F": nn.functional, "torch": torch, "Tensor": Tensor}[room])


class _Functions(TorchFunctionMode):
    """Tells of every function that torch announces."""

    def __init__(self, tell: Callable[[Callable, dict[str, Any]], None]):
        super().__init__()
        self._tell = tell

    def __torch_function__(
        self, function: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        self._tell(function, kwargs or {})
        return function(*args, **(kwargs or {}))


class _Operators(TorchDispatchMode):
    """Tells of every operator: "im2col", or "convolution of 2" axes."""

    def __init__(self, tell: Callable[[str], None]):
        super().__init__()
        self._tell = tell

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """No: torch would import its compiler to skip what follows, more than a second's work."""
        return False

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        name = function.overloadpacket.__name__
        if name in ("convolution", "mkldnn_convolution"):
            name = f"convolution of {args[1].dim() - 2}"
        self._tell(name)
        return function(*args, **(kwargs or {}))


class _Engine:
    """Stands for torch's engine, and tells what it is asked for."""

    def __init__(self, engine: Any, told: list[Callable[[str], None]]):
        self._engine, self._told = engine, told

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def run_backward(self, *args: Any, **kwargs: Any) -> Any:
        for tell in [*self._told]:
            tell("to add" if kwargs.get("accumulate_grad") else "to return")
        return self._engine.run_backward(*args, **kwargs)


@contextmanager
def _in_new_threads(do: Callable[[], None]) -> Iterator[None]:
    """Have each thread that is started do this first; what it enters ends with the thread."""
    before = threading.getprofile()
    threading.setprofile(partial(_first, do, before))
    try:
        yield
    finally:
        threading.setprofile(before)


def _first(do: Callable[[], None], profile: Callable | None, *event: Any) -> None:
    """What a new thread's first event calls: it does this, and the profile is what it was."""
    sys.setprofile(profile)
    do()


_told: list[Callable[[str], None]] = []
_lock = threading.Lock()


@contextmanager
def _engine_tells(tell: Callable[[str], None]) -> Iterator[None]:
    """Have the engine's double in its place, as long as anybody wants to be told."""
    with _lock:
        if not _told:
            Variable._execution_engine = _Engine(Variable._execution_engine, _told)
        _told.append(tell)
    try:
        yield
    finally:
        with _lock:
            _told.remove(tell)
            if not _told:
                Variable._execution_engine = Variable._execution_engine._engine
