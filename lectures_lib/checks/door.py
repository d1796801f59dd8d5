"""Where a check stands: before a function or a layer, so that the body is what the course teaches
and nothing else.

A model that is being compiled or exported is not checked at all: a check that compares sizes would
fix them.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import Tensor


def at_the_door(check: Callable[..., None]) -> Callable[[Callable], Callable]:
    """Decorator: call `check` with the same arguments first; what it raises, the caller sees. While
    compiling, nothing is checked.
    """

    def behind(function: Callable) -> Callable:
        @wraps(function)
        def checked(*args: Any, **options: Any) -> Any:
            if not torch.compiler.is_compiling():
                check(*args, **options)
            return function(*args, **options)

        return checked

    return behind


def can_be_read(tensor: Tensor) -> bool:
    """Whether a tensor's values can be looked at without waiting for another device. Within
    `torch.func`'s transforms (vmap, say) one tensor stands for many.
    """
    wrapped = torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    return tensor.device.type == "cpu" and not wrapped
