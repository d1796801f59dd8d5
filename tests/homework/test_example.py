"""`example` hands out the input on which a check failed."""

import pytest
import torch

from lectures_lib.homework import WrongAnswer, check, example, find, load, names
from lectures_lib.homework.questions import Case
from tests.homework.toy import DOUBLE, RIGHT_DOUBLE, SCALE, Scale, double, graded, question


def wrong_on_five(x):
    return 2 * x if len(x) == 3 else x


def test_the_input_on_which_the_last_check_failed():
    with pytest.raises(WrongAnswer, match=r'bad = example\("toy\.double"\)'):
        check(DOUBLE, wrong_on_five)
    bad = example(DOUBLE)
    assert bad.shows == "a vector of 5 numbers"
    assert torch.equal(bad.expected, 2 * bad.args[0]) and torch.equal(bad.got, bad.args[0])
    assert torch.equal(bad.run(wrong_on_five), bad.got)
    check(DOUBLE, double)
    assert example(DOUBLE).got is None  # nothing is wrong any more


def test_an_answer_handed_over():
    assert example(DOUBLE, wrong_on_five).shows == "a vector of 5 numbers"
    right = example(DOUBLE, double)
    assert right.shows == "a vector of 3 numbers" and torch.equal(right.got, right.expected)


def test_a_class_is_built_as_the_check_builds_it():
    class Shifted(Scale):
        def forward(self, x):
            return super().forward(x) + 1

    bad = example(SCALE, Shifted)
    assert bad.init == {"n": 3}
    assert torch.equal(bad.expected, torch.tensor([0.0, 3.0, 10.0]))
    assert torch.equal(bad.run(Shifted), bad.got) and torch.equal(bad.got, bad.expected + 1)
    assert bad.gradients["expected"].keys() == {"weight", "argument 1"}


def test_an_exception_is_told_and_raised_again():
    def stumbles(x):
        raise ValueError(f"{len(x)} are too many")

    bad = example(DOUBLE, stumbles)
    assert bad.got == "ValueError: 3 are too many"
    with pytest.raises(ValueError, match="3 are too many"):
        bad.run(stumbles)

    def refuses(n):
        raise ValueError("no")

    asked = question("refuses", refuses, [Case((1,))])
    assert example(asked, lambda n: n).expected == "ValueError: no"


def test_what_is_done_to_an_example_changes_nothing():
    bad = example(DOUBLE, wrong_on_five)
    bad.run(lambda x: x.zero_())
    assert torch.equal(example(DOUBLE, wrong_on_five).args[0], bad.args[0])
    assert bad.args[0].abs().sum() > 0


def test_it_is_shown_in_words():
    shown = repr(example(DOUBLE, wrong_on_five))
    assert shown.startswith("toy.double, a vector of 5 numbers\nx:\n  tensor([")
    assert "\nexpected:\n" in shown and "\ngot:\n" in shown
    assert "its parameters" not in shown


@pytest.mark.parametrize("homework", names())
def test_every_question_has_one(homework):
    """What `run` gives on the reference's first input is what is expected there."""
    for asked in load(homework).questions:
        first = example(asked)
        assert repr(first)
        if isinstance(first.expected, torch.Tensor) and not first.train:
            got = first.run(asked.reference)
            assert isinstance(got, torch.Tensor), asked.name
            torch.testing.assert_close(got.detach(), first.expected, rtol=1e-5, atol=1e-6)


def test_a_wrong_name_is_answered_with_the_right_ones():
    with pytest.raises(KeyError, match=r"hw1\.causal_mask"):
        example("hw1.mask")
    with pytest.raises(KeyError, match=r"'pair_input' is 'hw5\.pair_input': name its homework"):
        example("pair_input")


def test_in_the_sandbox_it_stops_no_cell_and_tells_nothing():
    """A student looked for a mistake and left that in: the answer in the same cell counts."""
    cell = f"""\
from lectures_lib.homework import WrongAnswer, check, example
bad = example("toy.double")
print(bad.expected - bad.got, bad, bad.args[0])
{RIGHT_DOUBLE}
leaked = bad.run(double)
"""
    verdicts, execution = graded([cell], DOUBLE)
    assert verdicts["double"].right
    assert not execution.failures, execution.failures


def test_gradients_are_shown_where_only_they_differ():
    asked = question("double", double, [Case((torch.ones(3),), gradients="reach")])
    cut = example(asked, lambda x: (2 * x).detach())
    assert "gradient of x, expected" in repr(cut) and "gradient of x, got" in repr(cut)
    assert cut.run(lambda x: x.requires_grad)  # as the check calls it
    assert "gradient" not in repr(example(asked, lambda x: (3 * x).detach()))


class Padded(find("hw5.Embeddings").reference):
    def __init__(self, vocab_size, d_model, max_len, n_segments=2):
        super().__init__(vocab_size, d_model, max_len, n_segments)
        self.tokens = torch.nn.Embedding(vocab_size, d_model, padding_idx=0)


def test_of_a_table_s_gradient_the_rows_that_differ_are_shown():
    shown = repr(example("hw5.Embeddings", Padded))
    assert "gradient of tokens.weight, rows [0], expected:" in shown
    assert "its parameters" not in shown and "positions.weight" not in shown
    assert len(shown.splitlines()) < 30


def test_gradients_that_cannot_be_had_are_shown_in_words():
    asked = question("double", double, [Case((torch.ones(3),), gradients="values")])

    def written_over(x):
        grown = (2 * x).exp()
        result = grown.log()
        grown.zero_()
        return result

    assert "gradients, got:\n  'RuntimeError" in repr(example(asked, written_over))
