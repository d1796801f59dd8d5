"""Thin matrices beside a model's layers."""

from typing import Any

from torch import nn

from lectures_lib.checks.sizes import check_size


def check_low_rank(layer: Any, linear: Any, r: int, alpha: float | None = None) -> None:
    """Refuse a rank that no product beside this layer can have."""
    if not isinstance(linear, nn.Linear):
        raise TypeError(f"a LowRank stands beside an nn.Linear, got {type(linear).__name__}")
    check_size("r", r)
    if r > min(linear.weight.shape):
        raise ValueError(
            f"a layer from {linear.in_features} to {linear.out_features} numbers has a rank of at "
            f"most {min(linear.weight.shape)}, got r = {r}"
        )


def check_not_adapted(model: Any, r: int = 8, alpha: float | None = None) -> None:
    """Refuse a model whose layers have thin matrices beside them already."""
    adapted = [name for name, _ in model.bert.named_parameters() if name.endswith((".A", ".B"))]
    if adapted:
        raise ValueError(
            f"this model was adapted before ({len(adapted) // 2} layers): merge it first"
        )
