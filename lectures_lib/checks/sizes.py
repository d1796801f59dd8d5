"""Sizes, shares and names, one by one or in a configuration; one text in place of several."""

from collections.abc import Iterable
from dataclasses import fields
from numbers import Integral, Real
from typing import Any

SHARES = ("dropout", "attention_dropout")
POSITIVE = ("eps", "init_std")


def check_config(config: Any, activations: Any = ()) -> None:
    """Refuse a configuration that no model can have: fields annotated `int` are sizes of 1 or more,
    dropouts shares, d_model fits n_heads.

    Args:
        config: a dataclass.
        activations: the names that its `activation` may have.

    Raises:
        TypeError: for a size or a share that is no number of its kind.
        ValueError: for one out of range, an unknown activation, or a d_model that n_heads does not
            divide.
    """
    for field in fields(config):
        value = getattr(config, field.name)
        if field.type in (int, "int"):
            check_size(field.name, value)
        elif field.name in SHARES and value is not None:
            check_share(field.name, value)
        elif field.name in POSITIVE and not (isinstance(value, Real) and value > 0):
            raise ValueError(f"{field.name} must be a number above 0, got {value!r}")
    if hasattr(config, "activation"):
        check_name("activation", config.activation, activations)
    if hasattr(config, "n_heads") and config.d_model % config.n_heads:
        raise ValueError(
            f"d_model = {config.d_model} cannot be divided into n_heads = {config.n_heads} equal "
            f"heads"
        )


def check_name(kind: str, name: Any, known: Iterable[str]) -> None:
    """Refuse a name that is not among those known."""
    if name not in known:
        raise ValueError(f"no {kind} named {name!r}; there are: {', '.join(known)}")


class Choices(dict):
    """A dictionary that says what there is when it is asked for something else."""

    def __init__(self, kind: str, entries: dict[str, Any]):
        super().__init__(entries)
        self.kind = kind

    def __missing__(self, name: Any) -> Any:
        check_name(self.kind, name, self)


def check_size(name: str, value: Any) -> None:
    """Refuse what is no whole number of at least 1."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number of at least 1, got {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {name} = {value}")


def check_several_texts(texts: Any) -> None:
    """Refuse one text, which would be read letter by letter."""
    if isinstance(texts, str):
        raise ValueError(
            f"several texts are needed, got one of {len(texts)} characters; write [text]"
        )


def check_numbers(**numbers: int) -> None:
    """Refuse what is no whole number of at least 1, all of it named."""
    whole = {
        name: isinstance(number, Integral) and not isinstance(number, bool)
        for name, number in numbers.items()
    }
    wrong = [
        f"{name} = {number}" + ("" if whole[name] else ", which is no whole number")
        for name, number in numbers.items()
        if not (whole[name] and number >= 1)
    ]
    if wrong:
        raise ValueError(f"must be at least 1: {', '.join(wrong)}")


def check_share(name: str, value: Any) -> None:
    """Refuse what is no share between 0 and 1."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} is a share between 0 and 1, got {value!r}")
    if not 0 <= value <= 1:
        raise ValueError(f"{name} is a share between 0 and 1, got {name} = {value}")


def check_layers(stack: Any, n_layers: int, *others: Any, **options: Any) -> None:
    """Refuse a stack of no layers."""
    check_size("n_layers", n_layers)
