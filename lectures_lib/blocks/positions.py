"""Where a token stands: sinusoidal and learned position vectors (chapter 4; Vaswani et al. 2017,
section 3.5).
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lectures_lib.checks.door import at_the_door
from lectures_lib.checks.sizes import check_size
from lectures_lib.checks.tokens import check_fits_positions

# The paper's 10000: the slowest hand of the clock turns once in 2π · 10000 positions.
BASE = 10_000.0


def frequencies(d_model: int, base: float = BASE) -> Float[Tensor, " pairs"]:
    """ω_i = base^(-2i / d_model) in radians a position, one for each pair of dimensions, in
    float64.

    Raises:
        ValueError: for a d_model below 1 or a base that is not positive.
    """
    if d_model < 1 or base <= 0:
        raise ValueError(
            f"d_model must be at least 1 and base positive, got d_model = {d_model}, base = {base}"
        )
    return base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)


def sinusoidal_positions(n: int, d_model: int, base: float = BASE) -> Float[Tensor, "n d_model"]:
    """PE[pos, 2i] = sin(pos · ω_i) and PE[pos, 2i + 1] = cos(pos · ω_i), for pos = 0 … n - 1.

    With an odd d_model the last sine has no cosine beside it. Angles are computed in float64 (a
    float32 angle of 10,000 radians is already off by a thousandth) and returned in torch's default
    type.

    Raises:
        TypeError, ValueError: for n or d_model that is no whole number of at least 1.
    """
    check_size("n", n)
    check_size("d_model", d_model)
    angles = torch.arange(n, dtype=torch.float64)[:, None] * frequencies(d_model, base)
    positions = torch.empty(n, d_model, dtype=torch.float64)
    positions[:, 0::2] = angles.sin()
    positions[:, 1::2] = angles[:, : d_model // 2].cos()
    return positions.to(torch.get_default_dtype())


def shift_matrix(k: int, d_model: int, base: float = BASE) -> Float[Tensor, "d_model d_model"]:
    """The matrix M_k with PE[pos + k] = M_k PE[pos] for *every* pos: each pair (sin, cos) turned by
    the angle k · ω_i.

    Raises:
        ValueError: for an odd d_model, whose last sine cannot be turned without its cosine.
    """
    if d_model % 2:
        raise ValueError(f"a shift turns pairs (sin, cos), so d_model must be even, got {d_model}")
    angles = k * frequencies(d_model, base)
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64)
    sines, cosines = torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)
    matrix[sines, sines] = matrix[cosines, cosines] = angles.cos()
    matrix[sines, cosines] = angles.sin()  # sin(a + b) = sin a cos b + cos a sin b
    matrix[cosines, sines] = -angles.sin()  # cos(a + b) = cos a cos b - sin a sin b
    return matrix.to(torch.get_default_dtype())


class SinusoidalPositions(nn.Module):
    """Adds the sinusoids to its input. Nothing is learned, and any length up to `max_len` is
    prepared once.

    Args:
        d_model: width of the vectors.  max_len: how many positions.

    Raises:
        ValueError: for a sequence longer than max_len, or vectors of another width.
    """

    def __init__(self, d_model: int, max_len: int = 5000):
        super().__init__()
        table = sinusoidal_positions(max_len, d_model)
        self.register_buffer("positions", table, persistent=False)

    @at_the_door(check_fits_positions)
    def forward(self, x: Float[Tensor, "batch n d_model"]) -> Float[Tensor, "batch n d_model"]:
        """x plus the position vectors 0 … n - 1."""
        return x + self.positions[: x.shape[1]]

    def _apply(self, *args, **options):
        """What `to` and `to_empty` call. A model made without memory (device "meta") has no
        sinusoids yet: they are computed.
        """
        was_empty = self.positions.is_meta
        super()._apply(*args, **options)
        if was_empty and not self.positions.is_meta:
            self.positions = self.computed(*self.positions.shape).to(self.positions)
        return self

    computed = staticmethod(sinusoidal_positions)


class LearnedPositions(nn.Module):
    """Adds a vector that is learned for each position, as BERT and GPT do. There is none beyond
    `max_len`.

    Raises:
        ValueError: for a sequence longer than max_len, or vectors of another width.
    """

    def __init__(self, d_model: int, max_len: int):
        super().__init__()
        self.positions = nn.Parameter(torch.empty(max_len, d_model))
        nn.init.normal_(self.positions, std=0.02)  # BERT's initialisation

    @at_the_door(check_fits_positions)
    def forward(self, x: Float[Tensor, "batch n d_model"]) -> Float[Tensor, "batch n d_model"]:
        """x plus the position vectors 0 … n - 1."""
        return x + self.positions[: x.shape[1]]
