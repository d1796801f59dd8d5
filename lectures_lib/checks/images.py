"""Batches of images."""

from typing import Any

from torch import Tensor


def check_images(images: Any, n_channels: int | None = None) -> None:
    """Refuse what is no batch of images, with this many channels if it is said how many.

    Raises:
        TypeError: for what is no tensor.
        ValueError: for another shape, or pixels that are no floating-point numbers. The message
            gives them.
    """
    if not isinstance(images, Tensor):
        raise TypeError(
            f"images must be a tensor (batch, channels, height, width), got a "
            f"{type(images).__name__}"
        )
    if images.dim() != 4:
        hint = "; for a single image write image[None]" if images.dim() == 3 else ""
        raise ValueError(
            f"images must be (batch, channels, height, width), got a tensor of shape "
            f"{tuple(images.shape)}{hint}"
        )
    if n_channels is not None and images.shape[1] != n_channels:
        raise ValueError(
            f"this model reads images of {n_channels} channels, got {images.shape[1]}: "
            f"{tuple(images.shape)}"
        )
    if n_channels is not None and not images.is_floating_point():
        raise ValueError(f"pixels must be floating-point numbers, from 0 to 1; got {images.dtype}")
