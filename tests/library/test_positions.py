"""Sinusoids and learned positions: the formula by hand, the rotation property, odd widths,
lengths.
"""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from lectures_lib.blocks.positions import (
    LearnedPositions,
    SinusoidalPositions,
    frequencies,
    shift_matrix,
    sinusoidal_positions,
)


def test_the_formula_by_hand():
    positions = sinusoidal_positions(50, 6)
    for pos in (0, 1, 7, 49):
        for i in range(3):
            angle = pos / 10000 ** (2 * i / 6)
            assert positions[pos, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert positions[pos, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


@pytest.mark.parametrize("d_model", [1, 3, 7])
def test_odd_width_ends_on_a_sine(d_model):
    positions = sinusoidal_positions(20, d_model)
    assert positions.shape == (20, d_model)
    assert_close(
        positions[:, -1], torch.sin(torch.arange(20.0) * 10000 ** (-(d_model - 1) / d_model))
    )


@given(pos=st.integers(0, 5000), k=st.integers(-500, 500), half=st.integers(1, 32))
@settings(max_examples=60, deadline=None)
def test_a_shift_is_the_same_rotation_everywhere(pos, k, half):
    if pos + k < 0:
        return
    torch.set_default_dtype(torch.float64)
    try:
        positions = sinusoidal_positions(max(pos, pos + k) + 1, 2 * half)
        assert_close(
            shift_matrix(k, 2 * half) @ positions[pos], positions[pos + k], rtol=0, atol=1e-9
        )
    finally:
        torch.set_default_dtype(torch.float32)


def test_dot_products_depend_on_the_distance_only():
    positions = sinusoidal_positions(200, 64)
    products = positions @ positions.T
    for distance in (0, 1, 10, 50):
        diagonal = products.diagonal(distance)
        assert_close(diagonal, diagonal[:1].expand_as(diagonal), rtol=0, atol=1e-4)
    assert_close(products.diagonal(), torch.full((200,), 32.0))


def test_far_positions_keep_their_precision():
    exact = math.sin(100_000.0)
    assert sinusoidal_positions(100_001, 2)[-1, 0].item() == pytest.approx(exact, abs=1e-6)


def test_frequencies_fall_from_one_to_nearly_one_over_base():
    omega = frequencies(512)
    assert omega[0] == 1.0
    assert (omega.diff() < 0).all()
    assert omega[-1].item() == pytest.approx(10000 ** (-510 / 512))


def test_modules_add_their_positions():
    x = torch.randn(2, 5, 8)
    assert_close(
        SinusoidalPositions(8)(x) - x, sinusoidal_positions(5, 8).expand(2, 5, 8), rtol=0, atol=1e-6
    )
    learned = LearnedPositions(8, max_len=5)
    learned(x).sum().backward()
    assert_close(learned.positions.grad, torch.full((5, 8), 2.0))
    assert not dict(SinusoidalPositions(8).named_parameters())
    assert not SinusoidalPositions(8).state_dict()


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sinusoidal_positions(0, 4), "n = 0"),
        (lambda: sinusoidal_positions(4, 0), "d_model = 0"),
        (lambda: frequencies(4, base=-1), "base = -1"),
        (lambda: shift_matrix(1, 5), "even, got 5"),
        (
            lambda: LearnedPositions(4, max_len=3)(torch.zeros(1, 4, 4)),
            "sequence of 4 tokens, but positions for only 3",
        ),
        (
            lambda: SinusoidalPositions(4, max_len=3)(torch.zeros(1, 4, 4)),
            "sequence of 4 tokens, but positions for only 3",
        ),
    ],
)
def test_bad_input_is_refused_with_its_numbers(call, message):
    with pytest.raises(ValueError, match=message):
        call()
