"""The library's annotations enforced at every call, quickly.

`jaxtyping.jaxtyped` binds each call's arguments to the signature once more, to have them at hand
for an error's message: three quarters of what it cost to judge an answer. Here beartype's wrapper
alone checks the values, in a context of axis sizes where the annotations speak of axes.
"""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import beartype
import jaxtyping
from beartype.roar import BeartypeCallHintViolation
from jaxtyping import AbstractArray, TypeCheckError, config

_context = jaxtyping.jaxtyped
# of a frame in a traceback, as beartype's own files: no student's (`inside.outcomes.describe`)
_FILE = str(Path(beartype.__file__).with_name("wrapper"))


def enforce(package: str) -> None:
    """From here on, every call into this package checks its values against the annotations."""
    jaxtyping.install_import_hook(package, "beartype.beartype")
    jaxtyping.jaxtyped = checked  # the decorator that the hook writes above functions and classes


def checked(thing: Any = None, *, typechecker: Any = None) -> Any:
    """A function, or a dataclass's constructor, that raises `TypeCheckError` where a value is not
    what its annotation says. A function whose annotations say nothing stays as it is.
    """
    if thing is None:
        return checked
    if isinstance(thing, type):
        if dataclasses.is_dataclass(thing) and "__init__" in vars(thing):
            thing.__init__ = checked(thing.__init__)
        return thing
    inner = beartype.beartype(thing)
    return thing if inner is thing else _told(thing, inner)


def _told(function: Callable, inner: Callable) -> Callable:
    """`inner`, which checks: of tensors also that sizes of the same name are the same."""
    sized = any(map(_names_axes, inspect.get_annotations(function).values()))

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if config.jaxtyping_disable:
            return function(*args, **kwargs)
        try:
            if sized:
                with _context("context"):
                    return inner(*args, **kwargs)
            return inner(*args, **kwargs)
        except BeartypeCallHintViolation as violation:
            raise TypeCheckError(str(violation)) from None

    for each in (inner, wrapper):
        each.__code__ = each.__code__.replace(co_filename=_FILE)
    return wrapper


def _names_axes(annotation: Any) -> bool:
    """Whether an annotation speaks of a tensor's axes; one that is a text may."""
    return (
        isinstance(annotation, str)
        or (isinstance(annotation, type) and issubclass(annotation, AbstractArray))
        or any(map(_names_axes, get_args(annotation)))
    )
