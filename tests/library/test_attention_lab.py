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
