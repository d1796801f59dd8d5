"""The attention lab's first picture, and what it refuses."""

import json
import re

import pytest
import torch

from lectures_lib.blocks.attention import causal_mask, scaled_dot_product_attention
from lectures_lib.show.attention_lab import AttentionLab

WORDS = ["the", "cat", "<sleeps>"]


@pytest.fixture
def numbers():
    torch.manual_seed(0)
    return [torch.randn(3, 2) for _ in range(3)]


@pytest.mark.parametrize("causal", [False, True])
def test_the_first_picture_is_the_library_s_attention(numbers, causal):
    lab = AttentionLab(*numbers, WORDS, causal=causal)
    Q, K, V = (matrix.double().round(decimals=2) for matrix in numbers)
    expected = scaled_dot_product_attention(Q, K, V, causal_mask(3) if causal else None)
    assert torch.allclose(lab.weights() @ lab.V, expected)
    shown = [float(cell) for cell in re.findall(r"<td>(-?[\d.]+)</td>", lab._repr_html_())]
    assert shown == [
        float(f"{x:.2f}") for x in [*lab.weights().flatten().tolist(), *expected.flatten().tolist()]
    ]


def test_words_are_escaped_and_the_same_input_gives_the_same_bytes(numbers):
    one, other = (AttentionLab(*numbers, WORDS)._repr_html_() for _ in range(2))
    assert one == other
    assert "<sleeps>" not in one and "&lt;sleeps&gt;" in one
    assert json.dumps("<sleeps>")[1:-1] not in one


def test_columns_have_the_names_that_they_are_given(numbers):
    page = AttentionLab(*numbers, WORDS, asked=["noun", "verb"], told=["<a>", "b"])._repr_html_()
    assert re.findall(r'<th scope="col">(.+?)</th>', page)[-2:] == ["&lt;a&gt;", "b"]
    assert "&quot;asked&quot;:[&quot;noun&quot;,&quot;verb&quot;]" in page
    with pytest.raises(ValueError, match=r"V have 2 columns, but 3 have names"):
        AttentionLab(*numbers, WORDS, told=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"Q and K have 2 columns, but 1 have names"):
        AttentionLab(*numbers, WORDS, asked=["a"])


@pytest.mark.usefixtures("shapes_unchecked")
def test_sizes_that_do_not_fit_are_refused(numbers):
    Q, K, V = numbers
    with pytest.raises(ValueError, match=r"2 tokens need as many rows .*'Q': \(3, 2\)"):
        AttentionLab(Q, K, V, WORDS[:2])
    with pytest.raises(ValueError, match=r"Q and K the same columns"):
        AttentionLab(Q, K[:, :1], V, WORDS)
    with pytest.raises(ValueError, match=r"from 1 to 6 rows and columns"):
        AttentionLab(*(torch.zeros(3, 7) for _ in range(3)), WORDS)


@pytest.fixture
def made():
    """X, W_Q, W_K, W_V."""
    torch.manual_seed(1)
    return torch.randn(3, 4), torch.randn(4, 2), torch.randn(4, 2), torch.randn(4, 3)


def test_queries_keys_and_values_follow_from_words_and_matrices(made):
    lab = AttentionLab.of_words(*made, WORDS, features=["a", "b", "c", "<d>"])
    X, *matrices = (matrix.double().round(decimals=2) for matrix in made)
    expected = scaled_dot_product_attention(*(X @ matrix for matrix in matrices))
    assert torch.allclose(lab.weights() @ lab.V, expected, rtol=0, atol=1e-12)
    page = lab._repr_html_()
    assert "&quot;features&quot;:[&quot;a&quot;,&quot;b&quot;,&quot;c&quot;," in page
    assert "<d>" not in page
    assert (
        page == AttentionLab.of_words(*made, WORDS, features=["a", "b", "c", "<d>"])._repr_html_()
    )


@pytest.mark.usefixtures("shapes_unchecked")
def test_matrices_that_do_not_fit_the_words_are_refused(made):
    X, W_Q, W_K, W_V = made
    with pytest.raises(ValueError, match=r"a row for each column of X; got .*'W_K': \(3, 2\)"):
        AttentionLab.of_words(X, W_Q, W_K[:3], W_V, WORDS)
    with pytest.raises(ValueError, match=r"up to 6 columns of X can be shown, got 7"):
        AttentionLab.of_words(torch.zeros(3, 7), *(torch.zeros(7, 2) for _ in range(3)), WORDS)
    with pytest.raises(ValueError, match=r"Q and K the same columns; got .*'K': \(3, 1\)"):
        AttentionLab.of_words(X, W_Q, W_K[:, :1], W_V, WORDS)
    with pytest.raises(ValueError, match=r"the rows of X have 4 columns, but 1 have names"):
        AttentionLab.of_words(*made, WORDS, features=["a"])
