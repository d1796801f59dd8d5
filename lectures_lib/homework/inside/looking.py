"""What is looked at beside a call's result: gradients, later calls, the spread over many draws, and
the functions that were called.
"""

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .unanswered import written
from .values import plain
from .watch import Watch

MOST = 64  # numbers of a result that are compared in pairs


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
        "mean", "spread", "together" and "pairs" (of each tensor in the result, over the draws),
        "used".
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
        result = written(function(*first[0], **first[1]))
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


def _spread(function: Callable, given: tuple[tuple, dict], draws: int) -> dict[str, list]:
    """Mean and standard deviation of each tensor in the result over so many calls, each with random
    numbers of its own; "together" is the standard deviation of its sum, which is larger where its
    entries vary together; "pairs" are the correlations of its entries, which tell it of any two,
    also of two that cancel in the sum.
    """
    results = []
    copied = _clones if _lie_by_themselves(given, set()) else copy.deepcopy
    for number in range(draws):
        seed(number)
        args, kwargs = copied(given)
        results.append([tensor.detach() for tensor in _tensors(function(*args, **kwargs))])
    stacked = [torch.stack(tensors).double() for tensors in zip(*results, strict=True)]
    return {
        "mean": [plain(t.mean(dim=0)) for t in stacked],
        "spread": [plain(t.std(dim=0)) for t in stacked],
        "together": [plain(t.flatten(1).sum(dim=1).std(dim=0)) for t in stacked],
        "pairs": [plain(_correlations(t.flatten(1))) for t in stacked],
    }


def _lie_by_themselves(value: Any, seen: set[int]) -> bool:
    """Whether these are numbers, texts and whole tensors, none of them given twice: then `_clones`
    copies them as `copy.deepcopy` does, which takes longer than most answers.
    """
    if value is None or type(value) in (bool, int, float, str):
        return True
    if id(value) in seen:
        return False
    seen.add(id(value))
    if type(value) is Tensor:
        memory = value.untyped_storage()
        alone = memory.data_ptr() not in seen and memory.nbytes() == value.nbytes
        seen.add(memory.data_ptr())
        return alone and value.is_contiguous() and value.is_leaf and not value.requires_grad
    if type(value) is dict:
        return all(_lie_by_themselves(each, seen) for pair in value.items() for each in pair)
    return type(value) in (list, tuple) and all(_lie_by_themselves(each, seen) for each in value)


def _clones(value: Any) -> Any:
    """A copy of what passes `_lie_by_themselves`."""
    if type(value) is Tensor:
        return value.clone()
    if type(value) is dict:
        return {key: _clones(each) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_clones, value))
    return value


def _correlations(drawn: Tensor) -> Tensor:
    """(draws, entries) → (k, k): those of k entries from the first to the last, all if they are no
    more than `MOST`; 0 where one of the two does not vary.
    """
    n = drawn.shape[1]
    if n > MOST:
        drawn = drawn[:, torch.linspace(0, n - 1, MOST).long()]
    spread = drawn.std(dim=0)
    scaled = torch.where(spread > 1e-6, (drawn - drawn.mean(dim=0)) / spread, 0.0)
    return scaled.T @ scaled / (len(drawn) - 1)


def seed(number: int) -> None:
    """torch.manual_seed, which without a GPU writes down the call stack three times, for later: a
    hundred times slower, and never freed.
    """
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(number)
