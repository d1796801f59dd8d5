"""Pictures that follow a slider: the first picture's numbers, the same bytes every time, and what is
refused.
"""

import pytest
import torch

from lectures_lib.blocks.positions import sinusoidal_positions
from lectures_lib.show.dial import ClockDial, SoftmaxDial

SCORES, NAMES = torch.tensor([2.0, 1.0, -1.0]), ["a <b>", "c", "d"]


def test_shares_are_a_softmax():
    by_factor = SoftmaxDial(SCORES, NAMES)
    assert torch.allclose(by_factor.shares(0.0), torch.full((3,), 1 / 3, dtype=torch.float64))
    assert torch.allclose(by_factor.shares(4.0), (4 * SCORES.double()).softmax(dim=-1))
    heated = SoftmaxDial(SCORES, NAMES, by="temperature", least=0.1, most=4.0)
    assert torch.allclose(heated.shares(0.5), (SCORES.double() / 0.5).softmax(dim=-1))


def test_hands_are_the_positions():
    table = sinusoidal_positions(8, 8)
    assert torch.equal(ClockDial(8).hands(7), table[7].view(-1, 2))


@pytest.mark.parametrize("dial", [SoftmaxDial(SCORES, NAMES), ClockDial(8)], ids=["bars", "clocks"])
def test_the_same_dial_gives_the_same_bytes_and_a_table_without_scripts(dial):
    page = dial._repr_html_()
    assert page == dial._repr_html_()
    assert "<table>" in page.split("<script>")[0]
    assert "<b>" not in page.split("<script>")[0]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: SoftmaxDial(SCORES, ["a"]), "3,.* and 1 names"),
        (lambda: SoftmaxDial(torch.zeros(13), ["x"] * 13), "from 2 to 12"),
        (lambda: SoftmaxDial(SCORES, NAMES, by="heat"), "'factor', 'temperature'"),
        (lambda: SoftmaxDial(SCORES, NAMES, by="temperature"), "from 0.0 to 16.0"),
        (lambda: SoftmaxDial(SCORES, NAMES, start=17.0), "begins at 17.0"),
        (lambda: ClockDial(7), "even and from 2 to 16.* got 7"),
        (lambda: ClockDial(18), "got 18"),
        (lambda: ClockDial(8, start=201), "cannot begin at 201"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(make, said):
    with pytest.raises(ValueError, match=said):
        make()


@pytest.mark.parametrize(
    "dial",
    [SoftmaxDial(SCORES, NAMES, title="1 < 2 & <i>"), ClockDial(8, title="1 < 2 & <i>")],
    ids=["bars", "clocks"],
)
def test_a_title_is_text(dial):
    page = dial._repr_html_()
    assert "1 &lt; 2 &amp; &lt;i&gt;" in page and "<i>" not in page
